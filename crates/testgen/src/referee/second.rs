//! The second order: a function that asks for a derivative, as a function under test itself.
//!
//! Its derivatives are compared with the oracle on the derivative that was compiled first, and that
//! one with finite differences: all four nestings of the two modes.

use super::arguments::{Arg, wrapper};
use zymase_core::ir::{Builder, Func, Function, Mode, Module, Signature, Type};

/// The name of the function that [`nested`] adds.
pub const NAME: &str = "first_order";

/// A module with a function that takes the derivative of `func` in one mode and returns the sum of
/// what the derivative returns, and the arguments of that function. Shadows are arguments like
/// others.
pub fn nested(module: &Module, func: Func, args: &[Arg], mode: Mode) -> (Module, Vec<Arg>) {
    let mut module = module.clone();
    let inner = wrapper(&mut module, func, args, mode);
    let sig = module.funcs[inner].sig.clone();
    let returned = sig.ret;
    let result = match returned.is_void() {
        true => returned,
        false => Type::f64(),
    };
    let outer = Signature::new(sig.params.clone(), result);
    let mut function = Function::with_entry(NAME.to_string(), outer);
    let entry = function.entry();
    let values = function.arguments().to_vec();
    // The first values of both functions are their arguments.
    function.declared = module.funcs[inner].declared.clone();
    let mut builder = Builder::new(&mut function, entry);
    let value = builder.call(inner, sig, values);
    let sum = value.map(|value| match returned.is_float_like() {
        true => value,
        false => {
            let x = builder.extract(value, vec![0]);
            let y = builder.extract(value, vec![1]);
            builder.fadd(x, y)
        }
    });
    builder.ret(sum);
    module.funcs.push(function);
    (module, with_shadows(args, mode))
}

/// The arguments with shadows beside them.
fn with_shadows(args: &[Arg], mode: Mode) -> Vec<Arg> {
    let mut rng = fastrand::Rng::with_seed(args.len() as u64);
    let mut number = || rng.f64() * 2.0 - 1.0;
    let mut all = Vec::new();
    let mut starts = Vec::new();
    for arg in args {
        starts.push(all.len());
        match (arg, mode) {
            (Arg::Part(of, element), _) => {
                all.push(Arg::Part(starts[*of], *element));
                all.push(Arg::Part(starts[*of] + 1, *element));
                continue;
            }
            _ => all.push(arg.clone()),
        }
        match (arg, mode) {
            (Arg::Dup(numbers), _) => {
                all.push(Arg::Dup(numbers.iter().map(|_| number()).collect()));
            }
            (Arg::Out(_), Mode::Forward) => all.push(Arg::Out(number())),
            _ => {}
        }
    }
    all
}
