//! Writes a statement tree in C, as a program that checks its own derivatives.
//!
//! The program is the one that [`lower`](crate::lower) makes of the tree, so that the interpreter
//! on dual numbers says what its derivatives are: they stand in the program as numbers. It compares
//! its results, both modes of derivatives, and what the memory around its arrays holds, and prints
//! `ok`, or what disagrees.
//!
//! Slots are variables. What C leaves undefined is avoided: integers wrap as unsigned ones, and
//! bits move by `memcpy`.

mod contraction;
mod control;
mod expr;
mod harness;
mod points;
mod stmt;

pub use harness::{Expected, program};

use crate::tree::{Kind, OWNER, Program, Returns, Routine, SLOTS, Slot};
use std::fmt::Write as _;

/// The functions of a program.
fn functions(program: &Program) -> String {
    let mut text = String::new();
    for (number, helper) in program.helpers.iter().enumerate() {
        text += &Writer::new(program, helper, Some(number)).run();
    }
    text + &Writer::new(program, &program.main, None).run()
}

/// The text of a type.
fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Float | Kind::Fixed => "double",
        Kind::Int => "long",
        Kind::Bits | Kind::Pair => "unsigned long",
        Kind::Ptr | Kind::Owner => "double *",
        Kind::Single => "float",
        Kind::Vector => "Vector",
        Kind::Record => "Value",
    }
}

/// The text of what a function returns.
fn return_type(returns: Returns) -> &'static str {
    match returns {
        Returns::Nothing => "void",
        Returns::Double => "double",
        Returns::Pointer => "double *",
        Returns::Doubles => "Doubles",
    }
}

/// A buffer around the current statement.
struct Buffer {
    name: String,
    heap: bool,
}

struct Writer<'a> {
    program: &'a Program,
    routine: &'a Routine,
    number: Option<usize>,
    out: String,
    next: usize,
    /// The number of each loop around, and how many buffers were open at its start.
    loops: Vec<(usize, usize)>,
    buffers: Vec<Buffer>,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program, routine: &'a Routine, number: Option<usize>) -> Writer<'a> {
        Writer {
            program,
            routine,
            number,
            out: String::new(),
            next: 0,
            loops: Vec::new(),
            buffers: Vec::new(),
        }
    }

    fn run(mut self) -> String {
        if self.routine.recursive {
            self.line("if (n <= 0) {");
            self.return_now(None);
            self.line("}");
        }
        for stmt in &self.routine.body {
            self.stmt(stmt);
        }
        let result = self.routine.result.clone();
        self.return_now(Some(&result));
        let body = std::mem::take(&mut self.out);
        let prologue = self.prologue(&body);
        let used = |name: &str, text: &'static str| if body.contains(name) { text } else { "" };
        let free = [
            used("heap", "  free(heap);\n"),
            used("owner", "  free(owner);\n"),
        ];
        let body = body.replace("  <free>\n", &free.concat());
        let returns = return_type(self.routine.returns);
        let name = self.name();
        let params = match self.number {
            Some(_) => "double *p, double *q, double u, long n",
            None => "double *p, double *q, double *c, double u, double w, long n",
        };
        // Clang would make one function of most programs.
        let inline = match self.number {
            Some(number) if number.is_multiple_of(2) => "__attribute__((noinline)) ",
            _ => "",
        };
        let mut text =
            format!("\nstatic {inline}{returns} {name}({params}) {{\n{prologue}{body}}}\n");
        if self.number.is_some() {
            let _ = writeln!(
                text,
                "{returns} (*pointer_to_{name})(double *, double *, double, long) = {name};"
            );
        }
        text
    }

    fn name(&self) -> String {
        match self.number {
            Some(number) => format!("helper{number}"),
            None => "f".to_string(),
        }
    }

    fn is_main(&self) -> bool {
        self.number.is_none()
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// The first values of slots, and memory.
    fn prologue(&self, body: &str) -> String {
        let mut text = String::new();
        for (name, lines) in MEMORY {
            let wanted = body.contains(name) || (*name == "table" && body.contains("indirect"));
            if wanted {
                let _ = writeln!(text, "  {}", lines.replace('\n', "\n  "));
            }
        }
        for (slot, &kind) in SLOTS.iter().enumerate().take(OWNER) {
            let (ty, value) = (type_of(kind), self.first_value(slot));
            let _ = writeln!(text, "  {ty} s{slot} = {value};");
        }
        text
    }

    fn first_value(&self, slot: Slot) -> &'static str {
        let ordinal = SLOTS[..slot].iter().filter(|k| **k == SLOTS[slot]).count();
        let main = self.is_main();
        match (SLOTS[slot], ordinal) {
            (Kind::Float, 0) => "u + 0.0",
            (Kind::Float, 1) if main => "w * u",
            (Kind::Float, 1) => "u * 0.5",
            (Kind::Float, 2) => "p[0]",
            (Kind::Float, _) => "0.25 + 0.5",
            (Kind::Fixed, 0) if main => "c[0]",
            (Kind::Fixed, _) => "1.25 + 0.1",
            (Kind::Int, 0) => "n + 1",
            (Kind::Int, _) => "2",
            (Kind::Ptr, 1) if main => "p + 2",
            (Kind::Ptr, _) => "p",
            (Kind::Single, _) => "(float)u",
            (Kind::Vector, _) => "load_vector(p)",
            (Kind::Record, _) => "{0.5, 3, u}",
            (Kind::Bits, _) => "bits(u)",
            (Kind::Owner, _) => "owner",
            (Kind::Pair, _) => "set_half(0x3f00000000000000ul, 0, (float)u)",
        }
    }
}

/// Memory by the name that a body has for it.
const MEMORY: &[(&str, &str)] = &[
    (
        "frame",
        "double frame[8] = {0};\nmemmove(frame, p, 4 * sizeof(double));",
    ),
    (
        "heap",
        "double *heap = malloc(8 * sizeof(double));\nmemmove(heap, q, 4 * sizeof(double));\n\
         memmove(heap + 4, p, 4 * sizeof(double));",
    ),
    ("table", "double *table[4] = {p, p, p, p};"),
    ("indirect", "double **indirect = table;"),
    (
        "records",
        "Record records[4] = {{u, 3, p, 0.25f, 0.75f}, {u, 3, p, 0.25f, 0.75f}};\n\
         memcpy(records + 2, records, 2 * sizeof(Record));",
    ),
    ("singles", "float singles[8] = {(float)u};"),
    ("chosen", "double *chosen;"),
    (
        "owner",
        "double *owner = malloc(8 * sizeof(double));\nmemset(owner, 0, 32), memmove(owner + 4, p, 32);",
    ),
];
