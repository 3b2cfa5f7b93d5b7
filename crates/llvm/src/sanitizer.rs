//! AddressSanitizer for programs with derivatives.
//!
//! Clang's passes do not run on files with requests (see `zymase cc`), so what `-fsanitize=address`
//! asks for is only an attribute of their functions. The instructions that check every access are
//! added when the derivatives exist, and derivatives get them too.

use crate::ll;
use crate::module::Module;
use crate::passes::PassOptions;
use crate::target::TargetMachine;
use zymase_core::diagnostic::Result;

const ATTRIBUTE: &str = "sanitize_address";

/// Whether a function of a module asks for the checks of AddressSanitizer.
pub fn is_wanted(module: &Module) -> bool {
    let kind = ll::attribute_kind_id(ATTRIBUTE);
    let asks = |function| !ll::function_attribute(function, ll::FUNCTION_INDEX, kind).is_null();
    module.functions().any(asks)
}

/// Adds the checks of AddressSanitizer to a module that asks for them.
pub fn instrument(module: &Module, machine: &TargetMachine) -> Result<()> {
    if !is_wanted(module) {
        return Ok(());
    }
    let kind = ll::attribute_kind_id(ATTRIBUTE);
    let attribute = ll::enum_attribute(module.context().raw(), kind, 0);
    for function in module.functions().filter(|&f| !ll::is_declaration(f)) {
        ll::add_function_attribute(function, ll::FUNCTION_INDEX, attribute);
    }
    module.run_passes("asan", Some(machine), PassOptions::ALL)
}
