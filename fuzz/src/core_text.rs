//! What reads the text of core's IR: nothing of it may panic, hang or take memory without end.

use zymase_core::interp::{Machine, Val};
use zymase_core::ir::text::{parse_module, print_module};
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Func, Mode, Module, Type};
use zymase_core::pipeline::{Options, differentiate};
use zymase_testgen::referee::{Arg, wrapper};

/// The longest program that is differentiated and run.
const LONGEST: usize = 20_000;

/// Reads a text. A module that the verifier accepts is printed and read again, run for a while and
/// differentiated.
pub fn read(text: &str) {
    let Ok(module) = parse_module(text) else {
        return;
    };
    let printed = print_module(&module);
    let verified = verify_module(&module).is_ok();
    let again = parse_module(&printed);
    if !verified || text.len() > LONGEST {
        return;
    }
    let again = again.map(|module| print_module(&module));
    assert_eq!(again.as_ref().ok(), Some(&printed), "{again:?}");
    for func in module.funcs.keys() {
        if module.funcs[func].is_declaration() {
            continue;
        }
        run(&module, func);
        for mode in [Mode::Forward, Mode::Combined] {
            derive(&module, func, mode);
        }
    }
}

/// Runs a function for a while. It may end with a trap.
fn run(module: &Module, func: Func) {
    let machine = Machine::new(module).map(|machine| {
        let machine = machine.with_step_limit(2_000).with_depth_limit(50);
        machine.with_memory_limit(1 << 22)
    });
    let Ok(mut machine) = machine else { return };
    let mut args = Vec::new();
    for &ty in &module.funcs[func].sig.params {
        args.push(match ty {
            ty if ty.is_ptr() => match machine.memory.new_f64s(&[0.5; 8]) {
                Ok(memory) => Val::from(memory),
                Err(_) => return,
            },
            ty if ty == Type::f64() => Val::f64(0.5),
            ty if ty == Type::i64() => Val::i64(2),
            _ => return,
        });
    }
    _ = machine.call(func, &args);
}

/// Differentiates a function. What comes of it is well formed, or a refusal.
fn derive(module: &Module, func: Func, mode: Mode) {
    let mut module = module.clone();
    let args = module.funcs[func].sig.params.iter();
    let args: Vec<Arg> = args
        .map(|ty| match ty {
            ty if ty.is_ptr() => Arg::Dup(Vec::new()),
            ty if ty.is_float_like() => Arg::Out(0.0),
            _ => Arg::Int(0),
        })
        .collect();
    wrapper(&mut module, func, &args, mode);
    if verify_module(&module).is_ok() && differentiate(&mut module, &Options::default()).is_ok() {
        let errors = verify_module(&module).map_err(|errors| errors[0].to_string());
        assert_eq!(errors, Ok(()));
    }
}
