//! Commands of the file tests that print which nests there are.

use super::derivatives::derived;
use super::rewritten;
use std::fmt::Write as _;
use zymase_core::analysis::effects::Effects;
use zymase_core::ir::text::print_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Func, Function, Mode, Module, Op};
use zymase_core::raise::describe::describe;
use zymase_core::raise::{self, Raise};
use zymase_core::simplify::{self, expand_nests};

/// What the loops of every function are as nests, and what stood in the way of others; with `always`,
/// of all loops and not only where it is worth it; with `text`, the module with these nests.
pub fn raise(module: &Module, arguments: &[&str]) -> String {
    let when = match arguments.contains(&"always") {
        true => Raise::Always,
        false => Raise::Worthwhile,
    };
    let mut module = module.clone();
    let effects = Effects::new(&module);
    let mut out = String::new();
    let defined = |func: &Func| !module.funcs[*func].is_declaration();
    let funcs: Vec<Func> = module.funcs.keys().filter(defined).collect();
    for func in funcs {
        let raised = raise::run(&mut module, func, &effects, &|_| when, None);
        out.push_str(&nests_of(&module.funcs[func]));
        for refused in &raised.refused {
            let _ = writeln!(out, "  not raised: {}", refused.reason);
        }
    }
    if let Err(errors) = verify_module(&module) {
        out.extend(errors.iter().map(|error| format!("{error}\n")));
    }
    if arguments.contains(&"text") {
        out.push_str(&print_module(&module));
    }
    out
}

/// Raises all loops that can be, then runs a function as `run` does.
pub fn run_raised(module: &Module, words: &[&str]) -> String {
    let mut module = module.clone();
    let effects = Effects::new(&module);
    let funcs: Vec<Func> = module.funcs.keys().collect();
    for func in funcs {
        if module.funcs[func].is_declaration() {
            continue;
        }
        raise::run(&mut module, func, &effects, &|_| Raise::Always, None);
    }
    crate::run::run(&module, words)
}

/// The nests of the reverse of a function, as a program gets them that may call kernels.
pub fn nests(module: &Module, words: &[&str]) -> String {
    let words = [words, &["kernels"]].concat();
    match derived(module, &words, Mode::Combined) {
        Ok((module, outcome)) => {
            let functions = outcome.added.iter().map(|&func| &module.funcs[func]);
            let defined = functions.filter(|function| !function.is_declaration());
            defined.map(nests_of).collect()
        }
        Err(error) => error,
    }
}

/// The module with every nest expanded to loops, and what the verifier says of it.
pub fn expand(module: &Module, _: &[&str]) -> String {
    rewritten(module, expand_nests::run)
}

/// The module with triangles cut into rectangles; a number says how many iterations are taken together.
pub fn split_triangles(module: &Module, arguments: &[&str]) -> String {
    rewritten(module, |function| split(function, arguments.first()))
}

/// Cuts triangles, so many iterations at a time, then runs a function as `run` does.
pub fn run_split(module: &Module, arguments: &[&str]) -> String {
    let Some((block, words)) = arguments.split_first() else {
        return "run-split: how many iterations at a time?".to_string();
    };
    let mut module = module.clone();
    for function in module.funcs.values_mut().filter(|f| !f.is_declaration()) {
        split(function, Some(block));
    }
    crate::run::run(&module, words)
}

fn split(function: &mut Function, block: Option<&&str>) -> bool {
    let block = block.map(|block| block.parse().expect("a number of iterations"));
    simplify::split_triangles::run(function, block)
}

/// The name of a function, and what each of its nests is.
fn nests_of(function: &Function) -> String {
    let mut out = format!("@{}\n", function.name);
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            if let Op::Nest(nest) = &data.op {
                let shape = describe(function, nest, data);
                let _ = writeln!(out, "  {block}: {shape}, {} loops", nest.depth);
            }
        }
    }
    out
}
