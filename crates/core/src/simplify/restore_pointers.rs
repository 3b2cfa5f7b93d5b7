//! Makes pointers of addresses that are numbers for a while.
//!
//! A vector of Rust that may be empty has an address that is either that of its memory or a small
//! number, and optimizers choose between the two as numbers. Analyses know what a pointer leads to,
//! but not what a number does.
//!
//! Before: any function. After: a number that is chosen, by edges and selects, among addresses of
//! memory and addresses of nothing, and then seen as a pointer, is chosen as a pointer.

use crate::analysis::points_to::is_below_memory;
use crate::ir::{Block, CastOp, Constant, Function, Inst, InstData, Op, Type, Value, ValueDef};
use crate::simplify::dead_code;
use std::collections::HashMap;

/// Rewrites one function; whether anything changed.
pub fn run(function: &mut Function) -> bool {
    let mut pointers = HashMap::new();
    let mut replaced = HashMap::new();
    for block in function.blocks().to_vec() {
        for inst in function.block_insts(block).to_vec() {
            let Some((number, pointer)) = cast(function, inst, CastOp::IntToPtr) else {
                continue;
            };
            if !is_choice(function, number) {
                continue;
            }
            let Some(numbers) = numbers(function, number) else {
                continue;
            };
            make_pointers(function, &numbers, function.ty(pointer), &mut pointers);
            replaced.insert(pointer, pointers[&number]);
        }
    }
    if replaced.is_empty() {
        return false;
    }
    function.replace_uses(&replaced);
    dead_code::run(function);
    true
}

/// What a cast between whole numbers and pointers is given, and what it gives.
fn cast(function: &Function, inst: Inst, op: CastOp) -> Option<(Value, Value)> {
    let data = function.inst(inst);
    let (from, to) = (data.args.first().copied()?, function.result(inst)?);
    let (number, pointer) = match op {
        CastOp::IntToPtr => (from, to),
        _ => (to, from),
    };
    // Memory of another address space has addresses of its own.
    let whole = function.ty(number).int_bits() == Some(64) && function.ty(pointer) == Type::ptr();
    (data.op == Op::Cast(op) && whole).then_some((from, to))
}

/// The numbers among which one is chosen, itself included, if each is an address.
fn numbers(function: &Function, number: Value) -> Option<Vec<Value>> {
    let mut found = vec![number];
    let mut next = 0;
    while let Some(&value) = found.get(next) {
        next += 1;
        let from = match choices(function, value) {
            Some(from) => from,
            None if is_address(function, value) => continue,
            None => return None,
        };
        for value in from {
            if !found.contains(&value) {
                found.push(value);
            }
        }
    }
    Some(found)
}

fn is_choice(function: &Function, value: Value) -> bool {
    choices(function, value).is_some()
}

/// What a number is chosen from.
fn choices(function: &Function, value: Value) -> Option<Vec<Value>> {
    match *function.def(value) {
        ValueDef::Param(block, position) if block != function.entry() => {
            let mut from = Vec::new();
            for &other in function.blocks() {
                let edges = function.edges(other).into_iter();
                let edges = edges.filter(|edge| edge.block == block);
                from.extend(edges.map(|edge| edge.args.get(position).copied()));
            }
            from.into_iter().collect()
        }
        _ => {
            let data = function.inst(function.def_inst(value)?);
            let one = data.op == Op::Select && function.ty(data.args[0]).is_int();
            one.then(|| data.args[1..].to_vec())
        }
    }
}

fn is_address(function: &Function, value: Value) -> bool {
    let inst = function.def_inst(value);
    is_below_memory(function, value)
        || is_any(function, value)
        || inst.is_some_and(|inst| cast(function, inst, CastOp::PtrToInt).is_some())
}

fn is_any(function: &Function, value: Value) -> bool {
    let constant = function.as_const(value);
    matches!(constant, Some(Constant::Undef | Constant::Poison))
}

/// Makes a pointer of each number that is not a constant.
fn make_pointers(
    function: &mut Function,
    numbers: &[Value],
    ty: Type,
    pointers: &mut HashMap<Value, Value>,
) {
    let mut new = numbers.to_vec();
    new.retain(|&n| function.as_const(n).is_none() && !pointers.contains_key(&n));
    let blocks = function.inst_blocks();
    let mut selects = Vec::new();
    for &number in &new {
        let pointer = match (function.def(number), function.def_inst(number)) {
            (&ValueDef::Param(block, _), _) => function.add_block_param(block, ty),
            (_, Some(inst)) if function.inst(inst).op == Op::Select => {
                let block = blocks[inst].unwrap_or(function.entry());
                selects.push((block, inst));
                let mut data = function.inst(inst).clone();
                let any = function.constant(ty, Constant::Undef);
                data.args[1..].fill(any);
                insert_before(function, block, inst, data, ty)
            }
            (_, Some(inst)) => function.inst(inst).args[0],
            (_, None) => continue,
        };
        pointers.insert(number, pointer);
    }
    for (block, inst) in selects {
        let chosen = function.result(inst).map(|number| pointers[&number]);
        let Some(select) = chosen.and_then(|chosen| function.def_inst(chosen)) else {
            continue;
        };
        for (i, number) in function.inst(inst).args.clone().into_iter().enumerate() {
            if i > 0 {
                let pointer = pointer_at(function, block, select, number, ty, pointers);
                function.inst_mut(select).args[i] = pointer;
            }
        }
    }
    for &number in &new {
        if let ValueDef::Param(block, position) = *function.def(number) {
            pass(function, block, position, ty, pointers);
        }
    }
}

/// Gives the last parameter of a block the pointers of what the one at a position is given.
fn pass(
    function: &mut Function,
    to: Block,
    position: usize,
    ty: Type,
    pointers: &HashMap<Value, Value>,
) {
    for block in function.blocks().to_vec() {
        let Some(terminator) = function.terminator(block) else {
            continue;
        };
        let edges = function.edges(block).into_iter();
        let numbers: Vec<Option<Value>> = edges
            .map(|edge| (edge.block == to).then(|| edge.args[position]))
            .collect();
        for (i, number) in numbers.into_iter().enumerate() {
            if let Some(number) = number {
                let pointer = pointer_at(function, block, terminator, number, ty, pointers);
                let mut edges = function.inst_mut(terminator).op.edges_mut();
                edges[i].args.push(pointer);
            }
        }
    }
}

/// The pointer of a number, before an instruction. Each use of a constant has a pointer of its own, for
/// what such pointers are used for has nothing to do with each other.
fn pointer_at(
    function: &mut Function,
    block: Block,
    before: Inst,
    number: Value,
    ty: Type,
    pointers: &HashMap<Value, Value>,
) -> Value {
    if let Some(&pointer) = pointers.get(&number) {
        return pointer;
    }
    if is_any(function, number) {
        return function.constant(ty, Constant::Undef);
    }
    if function.as_int(number) == Some(0) {
        return function.zero(ty);
    }
    let data = InstData::new(Op::Cast(CastOp::IntToPtr), vec![number]);
    insert_before(function, block, before, data, ty)
}

fn insert_before(
    function: &mut Function,
    block: Block,
    inst: Inst,
    data: InstData,
    ty: Type,
) -> Value {
    let insts = function.block_insts(block);
    let at = insts.iter().position(|&i| i == inst).unwrap_or(0);
    let made = function.insert_inst(block, at, data, ty);
    function.result(made).unwrap_or_else(|| function.zero(ty))
}
