//! The functions that keep memory of tapes from one derivative for the next.
//!
//! They stand in C in `tape_memory/`, because they are shared by threads and need atomic operations,
//! which core's IR does not have. Core declares them
//! ([`support::tape_memory`]).
//!
//! Before: derivatives are optimized, and may call them. After: those that are called are defined.

use crate::ll;
use crate::module::Module;
use zymase_core::diagnostic::Result;
use zymase_core::support;

const LINUX: &str = include_str!("tape_memory/linux.ll");
const OTHER: &str = include_str!("tape_memory/other.ll");

/// Whether derivatives for a program may use kept memory. One that looks for accesses to freed memory
/// would not find any there.
pub fn is_wanted(program: &Module) -> bool {
    !crate::sanitizer::is_wanted(program)
}

/// Defines what is declared.
pub fn define(module: &Module) -> Result<()> {
    let called = |name: &&str| module.function(name).is_some_and(ll::is_declaration);
    if !support::TAPE_MEMORY.iter().any(called) {
        return Ok(());
    }
    let triple = module.triple();
    let text = match triple.contains("linux") && !triple.contains("android") {
        true => LINUX,
        false => OTHER,
    };
    module.link(Module::parse(
        module.context(),
        text.as_bytes(),
        "tape_memory.ll",
    )?)
}
