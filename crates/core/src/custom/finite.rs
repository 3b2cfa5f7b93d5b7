//! Checks that what rules write to memory is finite, if the user asks for that.
//!
//! How many derivatives a rule writes, and where, only the rule knows. So a copy of its function is
//! called that checks what it stores: through the shadows that it is given, and through what is
//! computed from these, also in the functions that it passes them to. What functions without a body
//! write, and what is copied as bytes, is not seen.

use crate::finite::{About, check};
use crate::ir::{
    BinaryOp, Block, Builder, Callee, Func, Function, Inst, Module, Op, Type, UnaryOp, Value,
    ValueDef,
};
use crate::simplify::expand_nests;
use std::collections::{BTreeSet, HashSet};

/// Lets a derivative call a copy of a rule's function that checks what it writes.
pub(super) fn check_writes(module: &mut Module, derivative: &mut Function, rule: Rule<'_>) {
    let copy = checked(module, rule.func, &rule.shadows, rule.what);
    for block in derivative.blocks().to_vec() {
        for inst in derivative.block_insts(block).to_vec() {
            if let Op::Call(call) = &mut derivative.inst_mut(inst).op
                && call.callee == Callee::Direct(rule.func)
            {
                call.callee = Callee::Direct(copy);
            }
        }
    }
}

/// A function of a rule.
pub(super) struct Rule<'w> {
    /// The function.
    pub func: Func,
    /// Which of its parameters are shadows.
    pub shadows: BTreeSet<usize>,
    /// What it writes there, in words.
    pub what: &'w str,
}

/// Where the shadows are among the parameters of a rule's function, after so many hidden ones.
pub(super) fn shadow_positions(
    primal: &[Type],
    hidden: usize,
    shadowed: impl Fn(Type) -> bool,
) -> BTreeSet<usize> {
    let mut position = hidden;
    let mut found = BTreeSet::new();
    for &ty in primal {
        position += 1;
        if shadowed(ty) {
            if ty.is_ptr() {
                found.insert(position);
            }
            position += 1;
        }
    }
    found
}

/// A copy of a function that checks what it stores through these parameters.
fn checked(module: &mut Module, func: Func, shadows: &BTreeSet<usize>, what: &str) -> Func {
    let positions: Vec<String> = shadows.iter().map(ToString::to_string).collect();
    let original = &module.funcs[func];
    let name = format!("{}.check_finite_{}", original.name, positions.join("_"));
    if original.is_declaration() || shadows.is_empty() {
        return func;
    }
    if let Some(known) = module.func_by_name(&name) {
        return known;
    }
    let mut function = original.clone();
    // How it takes its arguments stays as it is, and what it does does not.
    let (params, ret) = (function.params.clone(), function.ret.clone());
    function.become_derivative(function.sig.clone());
    (function.params, function.ret) = (params, ret);
    function.name = name;
    expand_nests::run(&mut function);
    // The function may call itself.
    let copy = module.funcs.push(function.clone());
    let own = module.funcs[func].name.clone();
    let derived = derived(&function, shadows);
    for block in function.blocks().to_vec() {
        for inst in function.take_block_insts(block) {
            check_store(module, &mut function, block, inst, &derived, (&own, what));
            function.attach_inst(block, inst);
            let args = function.inst(inst).args.clone();
            let passed = args.iter().enumerate();
            let passed = passed.filter(|(_, value)| derived.contains(value));
            let passed: BTreeSet<usize> = passed.map(|(position, _)| position).collect();
            if let Op::Call(call) | Op::Invoke { call, .. } = &mut function.inst_mut(inst).op
                && let Callee::Direct(callee) = &mut call.callee
            {
                *callee = checked(module, *callee, &passed, what);
            }
        }
    }
    module.funcs[copy] = function;
    copy
}

fn check_store(
    module: &mut Module,
    function: &mut Function,
    block: Block,
    inst: Inst,
    derived: &HashSet<Value>,
    (name, what): (&str, &str),
) {
    let data = function.inst(inst).clone();
    let value = match data.op {
        Op::Store(_) if derived.contains(&data.args[1]) => data.args[0],
        Op::Accumulate(_) if derived.contains(&data.args[0]) => data.args[1],
        _ => return,
    };
    let sum = function.def_inst(value).map(|inst| function.inst(inst));
    let numbers = match sum {
        Some(sum) if sum.op == Op::Binary(BinaryOp::FAdd) => {
            let names = ["the first term", "the second"].map(str::to_string);
            names.into_iter().zip(sum.args.clone()).collect()
        }
        _ => Vec::new(),
    };
    let about = About {
        what: format!("{what} that `{name}` writes"),
        loc: data.loc,
        function: name,
        why: "a derivative of the program's own",
        numbers,
    };
    let mut builder = Builder::new(function, block);
    builder.loc = data.loc;
    check(module, &mut builder, value, &about);
}

/// The pointers that lead into the memory behind some parameters for sure.
fn derived(function: &Function, shadows: &BTreeSet<usize>) -> HashSet<Value> {
    let arguments = function.arguments();
    let mut found: HashSet<Value> = shadows.iter().map(|&i| arguments[i]).collect();
    let mut sources: Vec<(Value, Vec<Value>)> = Vec::new();
    for value in function.values().filter(|&v| function.ty(v).is_ptr()) {
        match *function.def(value) {
            ValueDef::Result(inst) => {
                let data = function.inst(inst);
                match &data.op {
                    Op::Address { .. } | Op::Unary(UnaryOp::Freeze) => {
                        sources.push((value, vec![data.args[0]]));
                    }
                    Op::Select => sources.push((value, data.args[1..].to_vec())),
                    _ => {}
                }
            }
            ValueDef::Param(block, position) if block != function.entry() => {
                let edges = function
                    .blocks()
                    .iter()
                    .flat_map(|&from| function.edges(from));
                let edges = edges.filter(|edge| edge.block == block);
                let incoming = edges.map(|edge| edge.args[position]);
                sources.push((value, incoming.collect()));
            }
            _ => {}
        }
    }
    // All that may be, less what comes from elsewhere: so pointers that run along in loops stay.
    found.extend(sources.iter().map(|(value, _)| *value));
    loop {
        let before = found.len();
        for (value, from) in &sources {
            if from.is_empty() || from.iter().any(|v| !found.contains(v)) {
                found.remove(value);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
