//! Derivatives of derivatives, one round for each level.
//!
//! What is differentiated should be optimized first, and a derivative is no exception: its frame is
//! memory, its callees are functions, and the derivative of all that keeps what an optimizer would
//! have removed. So who has an optimizer makes the innermost derivatives in a round of their own,
//! optimizes the program with them in it, and reads it again. They are functions of the program then.
//!
//! Not all that core knows of a derivative survives that way: which memory it has made itself, of
//! which types a tape is, which variables are shadows and which functions have no derivative. So a
//! round makes only derivatives that are *ordinary*: they ask for no memory but their frames, and use
//! no variables and no functions that derivatives alone have. The others wait for the last round,
//! where derivatives are differentiated as they were made.

use crate::analysis::activity::globals::Globals;
use crate::analysis::effects::callees;
use crate::analysis::known;
use crate::ir::{Callee, FnFlags, Func, Function, Inst, Mode, Module, Request};
use crate::pipeline::{self, Options, Outcome, requests_of};
use std::collections::{BTreeMap, BTreeSet};

/// A program in which the innermost derivatives are made.
pub struct Round {
    /// The program.
    pub module: Module,
    /// What was done.
    pub outcome: Outcome,
}

/// Makes the derivatives that others are taken of, those that ask for none themselves; nothing if
/// there are none, or none that are ordinary.
pub fn innermost(module: &Module, options: &Options) -> Option<Round> {
    let asking = asking_innermost(module);
    let round = serve(module, options, &asking)?;
    let ordinary = |&func: &Func| is_ordinary(module, &round.module, func);
    let kept: Vec<Func> = asking.iter().copied().filter(ordinary).collect();
    match kept.len() == asking.len() {
        true => Some(round),
        false => serve(module, options, &kept),
    }
}

/// Serves the requests of some functions. One that is refused is told of in the last round.
fn serve(module: &Module, options: &Options, asking: &[Func]) -> Option<Round> {
    if asking.is_empty() {
        return None;
    }
    let mut module = module.clone();
    let outcome = pipeline::serve(&mut module, options, asking).ok()?;
    Some(Round { module, outcome })
}

/// The functions with requests that derivatives are taken of, as long as what they ask for asks for
/// nothing. The halves of a derivative hand on a tape, which is not ordinary.
fn asking_innermost(module: &Module) -> Vec<Func> {
    let asking = module.funcs.iter();
    let asking = asking.map(|(func, function)| (func, requests_of(function)));
    let asking: BTreeMap<Func, Vec<(Inst, Request)>> = asking
        .filter(|(_, requests)| !requests.is_empty())
        .collect();
    let reached = |requests: &[(Inst, Request)]| -> BTreeSet<Func> {
        let reached = requests.iter();
        let reached = reached.flat_map(|(_, request)| callees(module, request.func));
        reached.filter(|func| asking.contains_key(func)).collect()
    };
    let reached: BTreeMap<Func, BTreeSet<Func>> = asking
        .iter()
        .map(|(&func, requests)| (func, reached(requests)))
        .collect();
    let inner: BTreeSet<Func> = reached.values().flatten().copied().collect();
    let whole =
        |(_, request): &(Inst, Request)| matches!(request.mode, Mode::Forward | Mode::Combined);
    let innermost = inner
        .into_iter()
        .filter(|func| reached[func].is_empty() && asking[func].iter().all(whole));
    innermost.collect()
}

/// Whether an optimizer can be given the derivatives that a function calls and nothing is lost.
fn is_ordinary(before: &Module, module: &Module, asking: Func) -> bool {
    let globals = Globals::new(module, asking).touched;
    let new_global = globals.iter().any(|&g| !before.globals.is_valid(g));
    let reached = callees(module, asking);
    let made = reached
        .iter()
        .filter(|&&func| func == asking || !before.funcs.is_valid(func));
    let mut made = made.map(|&func| &module.funcs[func]);
    !new_global && made.all(|function| is_ordinary_code(module, function))
}

fn is_ordinary_code(module: &Module, function: &Function) -> bool {
    let blocks = function.blocks().iter();
    let insts = blocks.flat_map(|&block| function.block_insts(block));
    let mut calls = insts.filter_map(|&inst| function.inst(inst).op.call());
    let manages_memory = calls.any(|call| match call.callee {
        Callee::Direct(callee) => known::allocation(&module.funcs[callee]).is_some(),
        _ => false,
    });
    !manages_memory && !function.attrs.flags.contains(FnFlags::INACTIVE)
}
