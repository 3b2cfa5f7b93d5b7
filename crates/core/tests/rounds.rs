//! Which inner derivatives get a round of their own, and that the rest is as in one round.

use zymase_core::ir::text::parse_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Func, Module};
use zymase_core::pipeline::{self, Options, asks};
use zymase_core::rounds::innermost;

const FUNCTIONS: &str = "
    declare @malloc(i64) -> ptr alloc(alloc, family \"malloc\", size 0)
    declare @free(ptr) alloc(free, family \"malloc\", ptr 0)
    func @square(%x: f64) -> f64 {
    entry:
        %y = fmul %x, %x
        return %y
    }
    func @slope(%x: f64) -> f64 {
    entry:
        %d = request combined @square(out %x) -> active : f64
        return %d
    }
    func @tangent(%x: f64) -> f64 {
    entry:
        %d = request forward @square(dup %x 1.0) -> active : f64
        return %d
    }
    func @on_heap(%x: f64) -> f64 {
    entry:
        %m = call @malloc(8)
        store %x, %m, align 8
        %v = load f64 %m, align 8
        %y = fmul %v, %v
        call @free(%m)
        return %y
    }
    func @slope_on_heap(%x: f64) -> f64 {
    entry:
        %d = request combined @on_heap(out %x) -> active : f64
        return %d
    }
";

/// A program that asks for derivatives of some functions.
fn asking(of: &[&str]) -> Module {
    let mut text = FUNCTIONS.to_string();
    for (i, name) in of.iter().enumerate() {
        text += &format!(
            "func @ask{i}(%x: f64) -> f64 {{
            entry:
                %d = request combined @{name}(out %x) -> active : f64
                return %d
            }}\n"
        );
    }
    parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The names of the functions with requests that the first round serves.
fn served(module: &Module) -> Vec<String> {
    let Some(round) = innermost(module, &Options::default()) else {
        return Vec::new();
    };
    if let Err(errors) = verify_module(&round.module) {
        panic!("{errors:?}");
    }
    let served = |func: &Func| asks(&module.funcs[*func]) && !asks(&round.module.funcs[*func]);
    let served = module.funcs.keys().filter(served);
    served.map(|func| module.funcs[func].name.clone()).collect()
}

#[test]
fn one_level_needs_no_round() {
    assert!(served(&asking(&["square", "on_heap"])).is_empty());
}

#[test]
fn ordinary_derivatives_come_first() {
    assert_eq!(served(&asking(&["slope"])), ["slope"]);
    assert_eq!(served(&asking(&["slope", "tangent"])), ["slope", "tangent"]);
}

#[test]
fn derivatives_that_make_memory_wait() {
    assert!(served(&asking(&["slope_on_heap"])).is_empty());
    assert_eq!(served(&asking(&["slope_on_heap", "slope"])), ["slope"]);
}

#[test]
fn three_levels_are_three_rounds() {
    let mut module = asking(&["tangent", "ask0"]);
    for expected in ["tangent", "ask0"] {
        assert_eq!(served(&module), [expected]);
        let Some(round) = innermost(&module, &Options::default()) else {
            panic!("no round for {expected}");
        };
        module = round.module;
    }
    assert!(served(&module).is_empty());
    let outcome = pipeline::differentiate(&mut module, &Options::default());
    assert!(outcome.is_ok(), "{:?}", outcome.err());
    assert!(module.funcs.values().all(|function| !asks(function)));
}
