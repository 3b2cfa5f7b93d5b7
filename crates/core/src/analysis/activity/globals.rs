//! Which global variables a function and all that it calls may touch.
//!
//! Derivatives flow through global variables from one callee to another without any argument, so
//! the caller has to know which ones its callees read and write. A variable counts as read only
//! if its address goes nowhere but into loads, directly or by a known distance. What constants hold
//! the addresses of counts as written along with them.

use crate::analysis::known;
use crate::analysis::targets::targets_of;
use crate::ir::{
    Callee, Constant, FnFlags, Func, Function, Global, Inst, InstData, ModRef, Module, Op, Symbol,
    Value, ValueDef,
};
use cranelift_entity::EntitySet;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The global variables that a function and its callees touch.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Globals {
    /// All of them.
    pub touched: BTreeSet<Global>,
    /// Those that may be written.
    pub written: BTreeSet<Global>,
    /// The first function found without a body that may use variables on its own account.
    pub stranger: Option<Func>,
    /// Whether some call goes through a pointer, perhaps to code that is not part of the program.
    pub by_pointer: bool,
    /// Whether pointers are loaded from variables.
    pub finds_pointers: bool,
    /// Whether floats are loaded, stored or copied.
    pub uses_floats: bool,
}

/// What functions themselves do, as long as none of them changes. Each function asks for all that it
/// reaches, so in a chain of calls each is asked for by all above it.
#[derive(Clone, Default, Debug)]
pub struct KnownBodies {
    known: RefCell<HashMap<Func, Rc<Body>>>,
}

#[derive(Clone, Default, Debug, PartialEq)]
struct Body {
    globals: Globals,
    /// Whether it is a [`stranger`].
    strange: bool,
    callees: Vec<(Func, Called)>,
}

/// What a callee is to those who follow calls.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Called {
    /// A function that the user calls inactive.
    Inactive,
    /// One that makes or frees memory.
    Allocator,
    /// Any other.
    Other,
}

impl KnownBodies {
    fn get(&self, module: &Module, func: Func) -> Rc<Body> {
        if let Some(body) = self.known.borrow().get(&func) {
            debug_assert_eq!(**body, Body::new(module, func), "a function has changed");
            return body.clone();
        }
        let body = Rc::new(Body::new(module, func));
        // Where pointers lead changes with functions that are added to the module.
        if !body.globals.by_pointer {
            self.known.borrow_mut().insert(func, body.clone());
        }
        body
    }
}

impl Body {
    fn new(module: &Module, func: Func) -> Body {
        let mut globals = Globals::default();
        let callees = globals.function(module, func);
        let classify = |&callee: &Func| {
            let function = &module.funcs[callee];
            match known::is_inactive(function) {
                true => (callee, Called::Inactive),
                false if known::allocation(function).is_some() => (callee, Called::Allocator),
                false => (callee, Called::Other),
            }
        };
        Body {
            globals,
            strange: stranger(module, func).is_some(),
            callees: callees.iter().map(classify).collect(),
        }
    }
}

impl Globals {
    /// Follows the calls from a function.
    pub fn new(module: &Module, func: Func) -> Globals {
        Globals::with_bodies(module, func, &KnownBodies::default())
    }

    /// Follows the calls from a function, whose bodies may be known.
    pub fn with_bodies(module: &Module, func: Func, bodies: &KnownBodies) -> Globals {
        let mut globals = Globals::default();
        let mut found = EntitySet::new();
        found.insert(func);
        let (mut open, mut inactive) = (vec![func], Vec::new());
        while let Some(func) = open.pop() {
            let body = bodies.get(module, func);
            globals.stranger = globals.stranger.or(body.strange.then_some(func));
            globals.merge(&body.globals);
            for &(callee, called) in &body.callees {
                if !found.insert(callee) {
                    continue;
                }
                match called {
                    Called::Inactive => inactive.push(callee),
                    // What an allocator keeps in variables is its own.
                    Called::Allocator => {}
                    Called::Other => open.push(callee),
                }
            }
        }
        // What functions do that the user calls inactive is his affair; but the variables count, for
        // there may be derivatives among what they call.
        let known = globals.clone();
        while let Some(func) = inactive.pop() {
            let body = bodies.get(module, func);
            globals.merge(&body.globals);
            let callees = body.callees.iter().map(|&(callee, _)| callee);
            inactive.extend(callees.filter(|&callee| found.insert(callee)));
        }
        globals.by_pointer = known.by_pointer;
        globals.finds_pointers = known.finds_pointers;
        globals.uses_floats = known.uses_floats;
        globals.follow_constants(module);
        globals
            .written
            .retain(|&global| !module.globals[global].constant);
        globals
    }

    /// Adds what another function touches.
    pub fn merge(&mut self, other: &Globals) {
        // Most functions touch none, and `extend` has a price even then.
        for (all, more) in [
            (&mut self.touched, &other.touched),
            (&mut self.written, &other.written),
        ] {
            if !more.is_empty() {
                all.extend(more);
            }
        }
        self.stranger = self.stranger.or(other.stranger);
        self.by_pointer |= other.by_pointer;
        self.finds_pointers |= other.finds_pointers;
        self.uses_floats |= other.uses_floats;
    }

    /// Notes what a function itself does, and gives the functions it calls.
    fn function(&mut self, module: &Module, func: Func) -> Vec<Func> {
        let function = &module.funcs[func];
        let mut callees = Vec::new();
        let mut addresses = addresses(function);
        self.touched.extend(addresses.values().copied());
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                self.note_pointers(module, function, inst, &addresses);
                let called = data.op.call().map(|call| {
                    self.by_pointer |= call.callee == Callee::Indirect;
                    targets_of(module, call)
                });
                let called = called.unwrap_or_default();
                // What has no derivative writes none: the guard of a variable, say.
                let inactive = |&callee: &Func| known::is_inactive(&module.funcs[callee]);
                let only_inactive = !called.is_empty() && called.iter().all(inactive);
                callees.extend(called);
                if !only_inactive {
                    self.note(data, function.result(inst), &mut addresses);
                }
            }
        }
        callees
    }

    /// Notes whether an instruction finds a pointer in a variable, or uses floats.
    fn note_pointers(
        &mut self,
        module: &Module,
        function: &Function,
        inst: Inst,
        addresses: &HashMap<Value, Global>,
    ) {
        let data = function.inst(inst);
        match (&data.op, function.result(inst)) {
            (Op::Load(_), Some(result)) if function.ty(result).is_ptr() => {
                let global = addresses.get(&data.args[0]);
                self.finds_pointers |= global.is_some_and(|&g| !module.globals[g].constant);
            }
            (Op::Load(_), Some(result)) => {
                self.uses_floats |= function.ty(result).is_float_like();
            }
            (Op::Store(_), _) => {
                self.uses_floats |= function.ty(data.args[0]).is_float_like();
            }
            (Op::MemCopy { .. } | Op::Nest(_), _) => self.uses_floats = true,
            _ => {}
        }
    }

    /// Adds what can be reached through the addresses in constants.
    fn follow_constants(&mut self, module: &Module) {
        let mut open: Vec<Global> = self.touched.iter().copied().collect();
        while let Some(global) = open.pop() {
            for (_, symbol, _) in module.globals[global].fixed_addresses() {
                if let Symbol::Global(inner) = *symbol {
                    self.written.insert(inner);
                    if self.touched.insert(inner) {
                        open.push(inner);
                    }
                }
            }
        }
    }

    /// Notes what an instruction does with the addresses of globals. Definitions come before uses
    /// except through block parameters, which count as writing.
    fn note(
        &mut self,
        data: &InstData,
        result: Option<Value>,
        addresses: &mut HashMap<Value, Global>,
    ) {
        let mut position = 0;
        data.for_each_operand(|value| {
            let only_read = match &data.op {
                Op::Load(_) | Op::ICmp(_) => true,
                Op::Address { .. } => position == 0,
                Op::MemCopy { .. } => position == 1,
                Op::Nest(nest) => position < nest.output_view(0).start,
                _ => false,
            };
            position += 1;
            let Some(&global) = addresses.get(&value) else {
                return;
            };
            match (&data.op, result) {
                (Op::Address { .. }, Some(result)) if only_read => {
                    addresses.insert(result, global);
                }
                _ if only_read => {}
                _ => {
                    self.written.insert(global);
                }
            }
        });
    }
}

/// The variables in which the allocators of the program keep what they know, each with one of them.
pub fn of_allocators(module: &Module) -> BTreeMap<Global, Func> {
    let mut found = BTreeMap::new();
    for (func, function) in &module.funcs {
        if !function.is_declaration() && known::allocation(function).is_some() {
            let written = Globals::new(module, func).written;
            found.extend(written.into_iter().map(|global| (global, func)));
        }
    }
    found
}

/// The function itself if it has no body and may read or write variables that nobody told it of.
pub fn stranger(module: &Module, func: Func) -> Option<Func> {
    let function = &module.funcs[func];
    let strange = function.is_declaration()
        && !known::is_inactive(function)
        && known::known(function).is_none()
        && known::allocation(function).is_none()
        && !function.attrs.flags.contains(FnFlags::NORETURN)
        && function.attrs.memory.other != ModRef::empty();
    strange.then_some(func)
}

/// What a function with derivatives of the user's touches, of what others use too. Rules have no
/// shadows of variables, so what only the function and its rules know is their affair, and so is
/// what they use as integers, to count calls.
pub fn behind_rules(module: &Module, func: Func) -> Globals {
    let own = Globals::new(module, func);
    let parts = module.rules_of(func).flat_map(|rule| &rule.parts);
    let known = reached(module, parts.copied().chain([func]).collect());
    let others = module
        .funcs
        .iter()
        .filter(|(func, _)| !known.contains(func));
    let used: BTreeSet<Global> = others
        .flat_map(|(_, function)| addresses(function).into_values())
        .collect();
    let floats: BTreeSet<Global> = known
        .iter()
        .flat_map(|&func| not_integers(&module.funcs[func]))
        .collect();
    let counts = |global: &&Global| used.contains(global) && floats.contains(global);
    Globals {
        touched: own.touched.iter().filter(counts).copied().collect(),
        written: own.written.iter().filter(counts).copied().collect(),
        ..Globals::default()
    }
}

/// The globals that a function uses otherwise than to load and store integers.
fn not_integers(function: &Function) -> BTreeSet<Global> {
    let addresses = addresses(function);
    let mut found = BTreeSet::new();
    for &inst in function
        .blocks()
        .iter()
        .flat_map(|&b| function.block_insts(b))
    {
        let data = function.inst(inst);
        let integer = |value: Value| function.ty(value).is_int();
        let (is_integer, address) = match &data.op {
            Op::Load(_) => (function.result(inst).is_some_and(integer), 0),
            Op::Store(_) => (integer(data.args[0]), 1),
            _ => (false, usize::MAX),
        };
        let edges = data.op.edges();
        let passed = edges.iter().flat_map(|edge| edge.args.iter());
        let used = data.args.iter().enumerate();
        let used = used.filter(|(position, _)| !is_integer || *position != address);
        found.extend(
            used.map(|(_, value)| value)
                .chain(passed)
                .filter_map(|value| addresses.get(value)),
        );
    }
    found
}

/// Functions and all that they call.
fn reached(module: &Module, mut open: Vec<Func>) -> BTreeSet<Func> {
    let mut found: BTreeSet<Func> = open.iter().copied().collect();
    while let Some(func) = open.pop() {
        let function = &module.funcs[func];
        for &inst in function
            .blocks()
            .iter()
            .flat_map(|&b| function.block_insts(b))
        {
            if let Some(call) = function.inst(inst).op.call() {
                let callees = targets_of(module, call).into_iter();
                open.extend(callees.filter(|&callee| found.insert(callee)));
            }
        }
    }
    found
}

/// The values of a function that are addresses of globals.
fn addresses(function: &Function) -> HashMap<Value, Global> {
    let mut found = HashMap::new();
    for value in function.values() {
        if let ValueDef::Const(Constant::Address(Symbol::Global(global), _)) = function.def(value) {
            found.insert(value, *global);
        }
    }
    found
}
