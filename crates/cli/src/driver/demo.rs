//! `zymase demo`: a derivative of a small built-in program, run and checked.
//!
//! The program is LLVM text that is part of this binary, and runs in this process; so the demo
//! needs neither a compiler nor a linker.

use crate::args::{CompileOptions, DemoArgs};
use crate::compile::{codegen_level, differentiate, no_library};
use crate::{explain, journal, output};
use std::fmt::Write;
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_llvm::{Context, Jit, Module, TargetMachine};

const PROGRAM: &str = include_str!("demo.ll");
const INPUT: [f64; 4] = [0.5, 1.0, 1.5, 2.0];
/// The step of the finite differences.
const STEP: f64 = 1e-6;
/// How far the two may be apart, relative to their size.
const TOLERANCE: f64 = 1e-6;

type Energy = unsafe extern "C" fn(*const f64, i64) -> f64;
type Gradient = unsafe extern "C" fn(*const f64, *mut f64, i64);

/// Runs the command.
pub fn run(args: &DemoArgs) -> Result<()> {
    if args.source {
        output::print(PROGRAM.as_bytes())?;
    }
    let options = CompileOptions::default();
    let context = Context::new();
    let program = Module::parse(&context, PROGRAM.as_bytes(), "demo.ll")?;
    let done = differentiate(&program, "demo.ll", &options, &mut no_library)?;
    let machine = TargetMachine::host(codegen_level(&options))?;
    let object = machine.emit_object(&program)?;
    journal::step("running the demo");
    let jit = Jit::load(&object)?;
    // SAFETY: demo.ll defines the two functions with these types.
    let (energy, gradient) = unsafe {
        let energy: Energy = jit.function("energy")?;
        let gradient: Gradient = jit.function("gradient")?;
        (energy, gradient)
    };
    // SAFETY: the pointers lead to as many numbers as the length says.
    let value = |x: &[f64; 4]| unsafe { energy(x.as_ptr(), x.len() as i64) };
    let mut derivative = [0.0; 4];
    // SAFETY: as above, and the two arrays are distinct.
    unsafe { gradient(INPUT.as_ptr(), derivative.as_mut_ptr(), INPUT.len() as i64) };

    let mut text = String::from("energy(x) = sum of x[i] * sin(x[i])\n\n");
    let _ = writeln!(text, "energy({INPUT:?}) = {:.6}\n", value(&INPUT));
    let _ = writeln!(text, "     x     gradient   finite difference");
    let mut agrees = true;
    for (i, x) in INPUT.iter().enumerate() {
        let (mut above, mut below) = (INPUT, INPUT);
        above[i] += STEP;
        below[i] -= STEP;
        let difference = (value(&above) - value(&below)) / (2.0 * STEP);
        let distance = (derivative[i] - difference).abs();
        // Written so that a NaN does not agree.
        agrees &= distance <= TOLERANCE * difference.abs().max(1.0);
        let _ = writeln!(text, "{x:6.2} {:12.6} {difference:19.6}", derivative[i]);
    }
    text.push('\n');
    text.push_str(&explain::requests("demo.ll", &done));
    for report in &done.reports {
        let _ = write!(text, "\n{report}");
    }
    output::print(text.as_bytes())?;
    match agrees {
        true => Ok(()),
        false => Err(Diagnostic::defect(
            "the gradient and the finite differences disagree",
            "they differ by more than rounding explains",
        )),
    }
}
