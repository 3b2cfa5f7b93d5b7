//! Copies of functions for integer arguments that are constants.
//!
//! Functions that are called through pointers often take a number that says what to do, and use
//! one piece of memory as this or that, depending on it: the manager of a `std::function` copies
//! what it holds, destroys it, or writes a pointer to it. A copy for one number has one such use
//! left. No optimizer can make it, because no optimizer knows whom the pointer leads to.
//!
//! Before: any function. After: the copy has the signature of the function; choices by the argument
//! are made, and what cannot be reached any more is gone.

use crate::ir::{Edge, FnFlags, Func, Function, Inst, IntPred, Module, Op, Value};
use std::collections::{BTreeSet, HashMap};

/// The function to call instead of one that gets these arguments, of which some are known integers:
/// a copy, if it chooses by one of them, or the function itself.
pub fn run(module: &mut Module, func: Func, arguments: &[Option<i128>]) -> Func {
    let function = &module.funcs[func];
    let has_rule = module.rules.iter().any(|rule| rule.func == func);
    if function.is_declaration() || function.attrs.flags.contains(FnFlags::INACTIVE) || has_rule {
        return func;
    }
    let known = function.arguments().iter().zip(arguments).enumerate();
    let known: Vec<(usize, Value, i128)> = known
        .filter_map(|(i, (&argument, &number))| Some((i, argument, number?)))
        .filter(|&(_, argument, _)| decides(function, argument))
        .collect();
    if known.is_empty() {
        return func;
    }
    let numbers = known.iter().map(|(i, _, number)| format!(".{i}.{number}"));
    let name = format!("zymase.{}{}", function.name, numbers.collect::<String>());
    if let Some(made) = module.func_by_name(&name) {
        return made;
    }
    let mut copy = function.clone();
    copy.name = name;
    copy.origin = None;
    copy.local = true;
    copy.address_taken = false;
    for (_, argument, number) in known {
        let number = copy.iconst(copy.ty(argument), number);
        copy.replace_uses(&HashMap::from([(argument, number)]));
    }
    choose(&mut copy);
    module.funcs.push(copy)
}

/// Whether a function goes one way or another by a value.
fn decides(function: &Function, value: Value) -> bool {
    let blocks = function.blocks().iter();
    let mut insts = blocks.flat_map(|&block| function.block_insts(block));
    insts.any(|&inst| {
        let data = function.inst(inst);
        matches!(data.op, Op::Switch { .. } | Op::ICmp(_)) && data.args.contains(&value)
    })
}

/// Replaces comparisons and choices whose operands are constants, and drops the ways not taken.
fn choose(function: &mut Function) {
    let entry = function.entry();
    let (mut reached, mut open) = (BTreeSet::from([entry]), vec![entry]);
    while let Some(block) = open.pop() {
        for inst in function.block_insts(block).to_vec() {
            let data = function.inst(inst);
            let numbers: Vec<Option<i128>> =
                data.args.iter().map(|&v| function.as_int(v)).collect();
            match (&data.op, numbers.as_slice()) {
                (Op::ICmp(pred), [Some(x), Some(y)]) => {
                    let Some(truth) = equality(*pred, x == y) else {
                        continue;
                    };
                    let Some(result) = function.result(inst) else {
                        continue;
                    };
                    let truth = function.iconst(function.ty(result), i128::from(truth));
                    function.replace_uses(&HashMap::from([(result, truth)]));
                }
                (Op::Branch { then, other }, [Some(condition)]) => {
                    let edge = if *condition == 0 { other } else { then };
                    go(function, inst, edge.clone());
                }
                (Op::Switch { cases, default }, [Some(number)]) => {
                    let bits = function.ty(data.args[0]).int_bits().unwrap_or(128);
                    let mask = u128::MAX >> (128 - bits.clamp(1, 128));
                    let same = |(case, _): &&(u128, Edge)| case & mask == *number as u128 & mask;
                    let edge = cases.iter().find(same).map_or(default, |(_, edge)| edge);
                    go(function, inst, edge.clone());
                }
                _ => {}
            }
        }
        let successors = function.successors(block).into_iter();
        open.extend(successors.filter(|&next| reached.insert(next)));
    }
    let blocks = function.blocks().iter().copied();
    let left = blocks.filter(|block| reached.contains(block)).collect();
    function.set_layout(left);
}

fn go(function: &mut Function, terminator: Inst, edge: Edge) {
    let data = function.inst_mut(terminator);
    data.op = Op::Jump(edge);
    data.args.clear();
}

/// What a comparison for equality gives; other comparisons depend on more than the numbers' values.
fn equality(pred: IntPred, same: bool) -> Option<bool> {
    match pred {
        IntPred::Eq => Some(same),
        IntPred::Ne => Some(!same),
        _ => None,
    }
}
