//! Code of the program that Rust's formatting runs.
//!
//! No derivative flows through formatting, so `println!` and `format!` are left to run as they are.
//! But what is formatted may have an implementation of its own, which the library calls through a
//! pointer, and that may change numbers, in a `Cell` say. Where one does, a derivative would be lost.

use super::globals_of_callees;
use super::objects::{Object, Objects};
use crate::analysis::Callees;
use crate::analysis::effects::{Effects, call_args};
use crate::analysis::known::{self, rust};
use crate::analysis::targets::targets_of;
use crate::analysis::types::{Kinds, Piece, Types};
use crate::ir::{Callee, Func, Function, Inst, InstData, Module, Op, Value};
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeSet, HashSet};

/// Whether an instruction calls a function of Rust's library that may format something.
pub fn may_format(module: &Module, data: &InstData) -> bool {
    let Some(Callee::Direct(callee)) = data.op.call().map(|call| call.callee) else {
        return false;
    };
    let callee = &module.funcs[callee];
    known::has_no_body_to_look_into(callee) && rust::inactive(&callee.name).is_some()
}

/// A function that formatting may run and that changes numbers in memory that is not its own.
///
/// Implementations of the formatting traits, and of what they write to, return whether they failed.
/// The former are known by their names, since `to_string` calls them directly; the latter are called
/// through pointers.
pub fn changes_numbers(module: &Module, effects: &Effects, callees: &mut Callees) -> Option<Func> {
    let is_run = |function: &Function| {
        let params = &function.sig.params;
        (function.address_taken || rust::formatting(&function.name).is_some())
            && !function.is_declaration()
            && function.sig.ret.int_bits() == Some(1)
            && params.len() > 1
            && params[0].is_ptr()
    };
    let run: Vec<Func> = {
        let run = module.funcs.iter();
        run.filter(|(_, function)| is_run(function))
            .map(|(func, _)| func)
            .collect()
    };
    let changed = changes(module, effects, callees, &run);
    run.into_iter().find(|&func| {
        let formatter = (module.funcs[func].sig.params.len() == 2).then_some(1);
        let mut args = changed[func].args.iter();
        changed[func].other || args.any(|&index| Some(index) != formatter)
    })
}

/// Where a function changes numbers.
#[derive(Clone, Default, PartialEq)]
struct Changes {
    /// Behind these arguments.
    args: HashSet<usize>,
    /// Elsewhere.
    other: bool,
}

impl Changes {
    /// Numbers in one of these objects are changed.
    fn note(&mut self, objects: &BTreeSet<Object>) {
        for object in objects {
            match *object {
                Object::Argument(index) => _ = self.args.insert(index),
                Object::Local(_) | Object::Code => {}
                Object::Global(_) | Object::Held(_) | Object::Foreign => self.other = true,
            }
        }
    }
}

/// What functions and all that they call change, callees known where there is no recursion.
fn changes(
    module: &Module,
    effects: &Effects,
    callees: &mut Callees,
    roots: &[Func],
) -> SecondaryMap<Func, Changes> {
    let (mut found, mut seen) = (roots.to_vec(), HashSet::<Func>::from_iter(roots.to_vec()));
    let mut bodies = Vec::new();
    while let Some(func) = found.pop() {
        let body = Body::new(module, func, effects, callees);
        let callees = body.calls.iter().flat_map(|(_, callees)| callees);
        found.extend(callees.filter(|&&callee| seen.insert(callee)));
        bodies.push((func, body));
    }
    let mut changes = SecondaryMap::<Func, Changes>::new();
    for (func, body) in &bodies {
        changes[*func] = body.own.clone();
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (func, body) in bodies.iter().rev() {
            let mut all = changes[*func].clone();
            for (inst, callees) in &body.calls {
                let data = module.funcs[*func].inst(*inst);
                let Some(call) = data.op.call() else { continue };
                let args = call_args(call, data);
                for callee in callees.iter().map(|&callee| &changes[callee]) {
                    all.other |= callee.other;
                    for &index in &callee.args {
                        match args.get(index) {
                            Some(&arg) => all.note(&body.objects.reached_from(arg)),
                            None => all.other = true,
                        }
                    }
                }
            }
            if all != changes[*func] {
                changes[*func] = all;
                changed = true;
            }
        }
    }
    changes
}

/// What is known of one function.
struct Body {
    objects: Objects,
    own: Changes,
    calls: Vec<(Inst, Vec<Func>)>,
}

impl Body {
    fn new(module: &Module, func: Func, effects: &Effects, callees: &mut Callees) -> Body {
        let function = &module.funcs[func];
        let types = Types::new(module, function, &[], &[], &mut callees.types);
        let places = &mut callees.places;
        places.learn(module, function, effects, &mut callees.types);
        let touched = globals_of_callees(module, function, &effects.bodies);
        let mut body = Body {
            objects: Objects::new(module, function, &types, effects, &touched, places),
            own: Changes::default(),
            calls: Vec::new(),
        };
        let is_number = |value: Value| {
            let pieces = types.pieces(module, function, value);
            let float = |(_, piece): &(i64, Piece)| matches!(piece, Piece::Float(_));
            let bytes = module.layout.store_size(function.ty(value)) as i64;
            let kinds = types.shape(value).kinds(0, bytes);
            pieces.iter().any(float)
                || (!function.ty(value).is_ptr() && kinds.intersects(Kinds::FLOATS))
        };
        let blocks = function.blocks().iter();
        for &inst in blocks.flat_map(|&block| function.block_insts(block)) {
            let data = function.inst(inst);
            let args = &data.args;
            match &data.op {
                Op::Store(_) | Op::AtomicRmw(..) | Op::CmpXchg { .. } => {
                    let (value, pointer) = match data.op {
                        Op::Store(_) => (args[0], args[1]),
                        _ => (args[args.len() - 1], args[0]),
                    };
                    if is_number(value) {
                        body.own.note(body.objects.of(pointer));
                    }
                }
                Op::MemCopy { .. } => {
                    let len = function.as_int(args[2]).and_then(|len| len.try_into().ok());
                    let holds = |pointer: Value| {
                        let kinds = types.shape(pointer).kinds(0, len.unwrap_or(8));
                        kinds.intersects(Kinds::FLOATS)
                    };
                    if holds(args[0]) || holds(args[1]) {
                        body.own.note(body.objects.of(args[0]));
                    }
                }
                op => {
                    let Some(call) = op.call() else { continue };
                    let has_body = |&callee: &Func| !module.funcs[callee].is_declaration();
                    let callees = targets_of(module, call).into_iter().filter(has_body);
                    body.calls.push((inst, callees.collect()));
                }
            }
        }
        body
    }
}
