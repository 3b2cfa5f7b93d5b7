//! What reads modules of LLVM: requests, the private clone, import, differentiation and export.

use zymase_core::diagnostic::Result;
use zymase_core::ir::verify::verify_module;
use zymase_core::pipeline;
use zymase_llvm::reachable::isolate;
use zymase_llvm::requests::{Pins, lower, pin};
use zymase_llvm::{Context, Module, export, import};

/// Reads a module. What LLVM accepts is imported as it stands, and its requests are served.
pub fn read(bytes: &[u8]) {
    let context = Context::new();
    let Ok(module) = Module::parse(&context, bytes, "input") else {
        return;
    };
    if module.verify().is_err() {
        return;
    }
    if let Ok(imported) = import::import(&module.duplicate()) {
        let errors = verify_module(&imported.module);
        let errors = errors.map_err(|errors| errors[0].to_string());
        assert_eq!(errors, Ok(()));
    }
    // A refusal is a good answer.
    _ = serve(&module);
}

/// Serves the requests of a module, without the optimizer.
fn serve(program: &Module) -> Result<()> {
    let mut pins = Pins::default();
    pin(program, &mut pins)?;
    if pins.requests.is_empty() {
        return Ok(());
    }
    let mut isolated = isolate(program, &mut pins, &mut |_| Ok(Vec::new()))?;
    let mut imported = import::import(&isolated.private)?;
    isolated.reveal();
    let mut added = lower(&mut imported.module, &pins, true)?;
    let outcome = pipeline::differentiate(&mut imported.module, &pipeline::Options::default())?;
    added.extend(&outcome.added);
    for func in added {
        export::export_function(&mut imported, func)?;
    }
    drop(imported);
    isolated.restore_addresses(program);
    let verified = isolated.private.verify().map_err(|error| error.to_string());
    assert_eq!(verified, Ok(()));
    Ok(())
}
