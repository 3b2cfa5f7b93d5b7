//! One function for derivatives that have come out equal.
//!
//! What is asked of the derivative of a function differs from call to call: which operands are active,
//! what may be overwritten before the reverse sweep. Often the answers are equal all the same. Whoever
//! calls one of several equal functions then calls the first of them, and the optimizer has only that
//! to work on.
//!
//! Before: nothing is differentiated any more, so what is known of types in memory no longer tells
//! functions apart. After: no two local functions that are only called are equal, recursive ones apart;
//! what had an equal is an empty shell that nobody calls.

use crate::ir::text::function_text;
use crate::ir::{
    Builder, Callee, Constant, Func, Function, Inst, Module, Op, Symbol, Value, ValueDef,
};
use std::collections::{HashMap, HashSet};

/// Merges those of these functions that are equal.
pub fn run(module: &mut Module, funcs: &[Func]) {
    let named = addresses(module);
    let is_free = |&func: &Func| {
        let function = &module.funcs[func];
        function.local && !function.is_declaration() && !named.contains(&func)
    };
    let mut open: Vec<Func> = funcs.iter().copied().filter(is_free).collect();
    // Callers of functions that were different may be equal now.
    loop {
        let mut first: HashMap<String, Func> = HashMap::new();
        let mut equal: HashMap<Func, Func> = HashMap::new();
        for &func in &open {
            match first.entry(content(module, func)) {
                std::collections::hash_map::Entry::Occupied(known) => {
                    equal.insert(func, *known.get());
                }
                std::collections::hash_map::Entry::Vacant(new) => _ = new.insert(func),
            }
        }
        if equal.is_empty() {
            return;
        }
        for function in module.funcs.values_mut() {
            redirect(function, &equal);
        }
        for &func in equal.keys() {
            empty(&mut module.funcs[func]);
        }
        open.retain(|func| !equal.contains_key(func));
    }
}

/// The functions of which there are addresses other than in calls.
fn addresses(module: &Module) -> HashSet<Func> {
    let of_symbol = |symbol: &Symbol| match symbol {
        Symbol::Func(func) => Some(*func),
        Symbol::Global(_) => None,
    };
    let in_code = module.funcs.values().flat_map(|function| {
        let constant = |value: Value| match function.def(value) {
            ValueDef::Const(Constant::Address(symbol, _)) => of_symbol(symbol),
            _ => None,
        };
        function.values().filter_map(constant)
    });
    let initializers = module
        .globals
        .values()
        .filter_map(|global| global.init.as_ref());
    let in_data = initializers.flat_map(|init| &init.relocations);
    let in_data = in_data.filter_map(|(_, symbol, _)| of_symbol(symbol));
    in_code.chain(in_data).collect()
}

/// All of a function but its name and what was declared of memory.
fn content(module: &Module, func: Func) -> String {
    let mut function = module.funcs[func].clone();
    function.name.clear();
    function.declared.clear();
    function_text(module, &function)
}

fn redirect(function: &mut Function, equal: &HashMap<Func, Func>) {
    let insts: Vec<Inst> = function
        .blocks()
        .iter()
        .flat_map(|&block| function.block_insts(block))
        .copied()
        .collect();
    for inst in insts {
        if let Op::Call(call) = &mut function.inst_mut(inst).op
            && let Callee::Direct(callee) = &mut call.callee
            && let Some(first) = equal.get(callee)
        {
            *callee = *first;
        }
    }
}

fn empty(function: &mut Function) {
    let mut shell = Function::with_entry("", function.sig.clone());
    shell.local = true;
    shell.name.clone_from(&function.name);
    let entry = shell.entry();
    Builder::new(&mut shell, entry).effect(Op::Unreachable, Vec::new());
    *function = shell;
}
