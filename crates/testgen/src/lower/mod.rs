//! Lowers a statement tree to the text form of the IR.
//!
//! Slots become values in static single assignment form: where paths meet, a slot whose value
//! differs becomes a parameter of the block, all others are used directly. That gives values that
//! live out of loops with and without parameters.
//!
//! Phases: the body is lowered first and notes what memory it touches; the prologue, which makes
//! that memory and the first values of slots, is written afterwards and put in front.

mod contraction;
mod control;
mod expr;
mod nest;
mod points;
mod prologue;
mod stmt;

use crate::tree::{Kind, Program, Returns, Routine, SLOTS, Slot};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text of a program.
pub fn lower(program: &Program) -> String {
    let mut text =
        String::from("declare @malloc(i64) -> ptr alloc(alloc, family \"malloc\", size 0)\n");
    text.push_str(SOURCES);
    text.push_str(GLOBAL);
    text.push_str("declare @free(ptr) alloc(free, family \"malloc\", ptr 0)\n");
    for (number, helper) in program.helpers.iter().enumerate() {
        text.push_str(&Lowering::new(program, helper, Some(number)).run());
    }
    text.push_str(&Lowering::new(program, &program.main, None).run());
    for (name, body) in LIBRARY {
        if text.contains(name) {
            text.push_str(body);
        }
    }
    text
}

/// Functions that some statements call.
const LIBRARY: &[(&str, &str)] = &[
    ("@rotate(", include_str!("library/rotate.zir")),
    ("@update(", include_str!("library/update.zir")),
    ("@choose(", include_str!("library/choose.zir")),
    ("@walk(", include_str!("library/walk.zir")),
    ("@sweep(", include_str!("library/sweep.zir")),
    ("@eliminate(", include_str!("library/eliminate.zir")),
    ("@mix(", include_str!("library/mix.zir")),
    ("@exchange(", include_str!("library/exchange.zir")),
    ("@blend(", include_str!("library/blend.zir")),
];

const SOURCES: &str = "source 0 = size 8 {0: f64}\n\
    source 1 = size 64 {0: f64, 8: f64, 16: f64, 24: f64, 32: f64, 40: f64, 48: f64, 56: f64}\n\
    source 2 = size 32 {0: f64, 8: int 8, 16: ptr to 0, 24: f32, 28: f32}\n\
    source 3 = size 4 {0: f32}\n\
    source 4 = size 8 {0: ptr to 0}\n";

const GLOBAL: &str = "global @g size 64 align 8 source 1 = \
    {f64 0.5, f64 1.5, f64 -0.5, f64 0.25, f64 0.75, f64 -1.0, f64 1.0, f64 0.125}\n";

/// The text of a type.
fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Float | Kind::Fixed => "f64",
        Kind::Int | Kind::Bits | Kind::Pair => "i64",
        Kind::Ptr | Kind::Owner => "ptr",
        Kind::Single => "f32",
        Kind::Vector => "<2 x f64>",
        Kind::Record => "{f64, i64, f64}",
    }
}

/// The values of all slots at a point.
pub(crate) type Env = Vec<String>;

/// An edge that is not written yet.
pub(crate) type EdgeId = usize;

/// Memory that a body touches.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Memory {
    Frame,
    Heap,
    Table,
    Indirect,
    Records,
    Singles,
    Owner,
    Chosen,
}

/// A loop around the current statement.
pub(crate) struct Around {
    pub(crate) breaks: Vec<(EdgeId, Env)>,
    pub(crate) continues: Vec<(EdgeId, Env)>,
    /// How many heap buffers were open at its start.
    pub(crate) buffers: usize,
}

pub(crate) struct Lowering<'a> {
    program: &'a Program,
    routine: &'a Routine,
    number: Option<usize>,
    out: String,
    next: usize,
    env: Env,
    /// Whether control cannot get here.
    dead: bool,
    edges: Vec<(String, Vec<String>)>,
    loops: Vec<Around>,
    /// Buffers around: the value, and whether it is on the heap.
    buffers: Vec<(String, bool)>,
    touched: BTreeSet<Memory>,
}

impl<'a> Lowering<'a> {
    fn new(program: &'a Program, routine: &'a Routine, number: Option<usize>) -> Lowering<'a> {
        Lowering {
            program,
            routine,
            number,
            out: String::new(),
            next: 0,
            env: (0..SLOTS.len()).map(|slot| format!("%s{slot}")).collect(),
            dead: false,
            edges: Vec::new(),
            loops: Vec::new(),
            buffers: Vec::new(),
            touched: BTreeSet::new(),
        }
    }

    fn run(mut self) -> String {
        if self.routine.recursive {
            let enough = self.value("icmp sle %n, 0");
            let stop = self.block_name();
            let go = self.block_name();
            self.line(&format!("branch {enough}, {stop}, {go}"));
            self.start(&stop);
            self.return_now(None);
            self.start(&go);
        }
        for stmt in &self.routine.body {
            self.stmt(stmt);
        }
        if !self.dead {
            let result = self.routine.result.clone();
            self.return_now(Some(&result));
        }
        let body = self.write_edges();
        let prologue = self.prologue(&body);
        let head = self.head();
        let declared = self.declared(&prologue, &body);
        format!("{head} {{\n{declared}entry:\n{prologue}    jump body\nbody:\n{body}}}\n")
    }

    /// What debug information would say of arguments and arrays.
    fn declared(&self, prologue: &str, body: &str) -> String {
        let mut names = vec!["%p".to_string(), "%q".to_string()];
        names.extend(self.is_main().then(|| "%c".to_string()));
        let made = |line: &&str| {
            let line = line.trim_end();
            line.ends_with("= call @malloc(64)") || line.ends_with("= alloca [8 x f64], align 8")
        };
        let lines = prologue.lines().chain(body.lines()).filter(made);
        let arrays = lines.filter_map(|line| line.split_whitespace().next());
        names.extend(arrays.map(ToString::to_string));
        let mut lines: Vec<String> = names
            .iter()
            .map(|name| format!("    declared {name} element 0\n"))
            .collect();
        let others = [
            (Memory::Records, "%records", 2),
            (Memory::Singles, "%singles", 3),
            (Memory::Table, "%table", 4),
        ];
        for (memory, name, source) in others {
            if self.touched.contains(&memory) {
                lines.push(format!("    declared {name} element {source}\n"));
            }
        }
        lines.concat()
    }

    fn head(&self) -> String {
        let params = match self.number {
            Some(_) => "%p: ptr, %q: ptr, %u: f64, %n: i64",
            None => "%p: ptr, %q: ptr, %c: ptr, %u: f64, %w: f64, %n: i64",
        };
        let name = match self.number {
            Some(number) => format!("helper{number}"),
            None => "f".to_string(),
        };
        let result = return_type(self.routine.returns);
        let taken = match self.number {
            Some(_) => "address_taken ",
            None => "",
        };
        format!("func {taken}@{name}({params}){result}")
    }

    /// Whether this is the function that is differentiated.
    pub(crate) fn is_main(&self) -> bool {
        self.number.is_none()
    }

    pub(crate) fn line(&mut self, text: &str) {
        if !self.dead {
            let _ = writeln!(self.out, "    {text}");
        }
    }

    pub(crate) fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%t{}", self.next)
    }

    pub(crate) fn block_name(&mut self) -> String {
        self.next += 1;
        format!("b{}", self.next)
    }

    /// Appends an instruction with a result.
    pub(crate) fn value(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {text}"));
        name
    }

    pub(crate) fn touch(&mut self, memory: Memory) {
        self.touched.insert(memory);
    }

    /// The value of a slot.
    pub(crate) fn get(&self, slot: Slot) -> String {
        self.env[slot].clone()
    }

    pub(crate) fn set(&mut self, slot: Slot, value: String) {
        self.env[slot] = value;
    }

    /// Begins a block that control reaches by edges that are written already.
    pub(crate) fn start(&mut self, block: &str) {
        self.dead = false;
        let _ = writeln!(self.out, "{block}:");
    }

    /// An edge whose target and arguments come later.
    pub(crate) fn open_edge(&mut self) -> (EdgeId, String) {
        self.edges.push((String::new(), Vec::new()));
        let id = self.edges.len() - 1;
        (id, format!("<edge {id}>"))
    }

    /// Goes on where edges meet. Slots that differ become parameters.
    pub(crate) fn merge(&mut self, edges: Vec<(EdgeId, Env)>) {
        let Some((_, first)) = edges.first() else {
            self.dead = true;
            return;
        };
        let block = self.block_name();
        let mut env = first.clone();
        let mut params = Vec::new();
        for slot in 0..SLOTS.len() {
            if edges.iter().all(|(_, other)| other[slot] == env[slot]) {
                continue;
            }
            let param = self.fresh();
            params.push(format!("{param}: {}", type_of(SLOTS[slot])));
            for (id, other) in &edges {
                self.edges[*id].1.push(other[slot].clone());
            }
            env[slot] = param;
        }
        for (id, _) in &edges {
            self.edges[*id].0 = block.clone();
        }
        self.dead = false;
        let params = match params.is_empty() {
            true => String::new(),
            false => format!("({})", params.join(", ")),
        };
        let _ = writeln!(self.out, "{block}{params}:");
        self.env = env;
    }

    /// Goes on at `block`, whose parameters are a counter and the slots of `carried`.
    pub(crate) fn enter_header(&mut self, block: &str, counter: &str, carried: &BTreeSet<Slot>) {
        let mut params = vec![counter.to_string()];
        for &slot in carried {
            let param = self.fresh();
            params.push(format!("{param}: {}", type_of(SLOTS[slot])));
            self.env[slot] = param;
        }
        let _ = writeln!(self.out, "{block}({}):", params.join(", "));
        self.dead = false;
    }

    fn write_edges(&mut self) -> String {
        let mut text = std::mem::take(&mut self.out);
        for (id, (block, args)) in self.edges.iter().enumerate() {
            let args = match args.is_empty() {
                true => String::new(),
                false => format!("({})", args.join(", ")),
            };
            text = text.replace(&format!("<edge {id}>"), &format!("{block}{args}"));
        }
        let free = match self.touched.contains(&Memory::Heap) {
            true => "    call @free(%heap)\n",
            false => "",
        };
        let text = text.replace("    <free heap>\n", free);
        let owns = self.touched.contains(&Memory::Owner);
        let lines = text.lines().filter_map(|line| {
            let owned = line
                .trim_start()
                .strip_prefix("<free owned ")
                .and_then(|rest| rest.strip_suffix('>'));
            match owned {
                Some(value) => owns.then(|| format!("    call @free({value})\n")),
                None => Some(format!("{line}\n")),
            }
        });
        lines.collect()
    }
}

/// The clause of a head that says what a function returns.
fn return_type(returns: Returns) -> &'static str {
    match returns {
        Returns::Nothing => "",
        Returns::Double => " -> f64",
        Returns::Pointer => " -> ptr",
        Returns::Doubles => " -> {f64, f64}",
    }
}
