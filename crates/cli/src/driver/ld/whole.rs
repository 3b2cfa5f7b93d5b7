//! The parts of a small optimized program that asks for derivatives are compiled as one.
//!
//! rustc compiles a crate in parts, and the linker optimizes them together as rustc would have. It
//! cannot look into native code, which is what a part becomes whose requests are served: functions
//! of that part would no longer be inlined into others, and those of others not into it. A matrix
//! product was seen to take a fifth more instructions, because a function that told how long its
//! arrays are had been in the other part. So all parts are linked here and optimized as one module.
//! Large programs are left to the linker, which works on several parts at a time and keeps what it
//! has done for the next link.

use super::arguments::Arguments;
use super::inputs::Inputs;
use std::collections::{BTreeSet, HashMap};
use zymase_core::diagnostic::Result;
use zymase_llvm::Module;

/// Parts with more bytes of bitcode, debug information included, are not compiled as one.
const LARGEST: usize = 4 << 20;

/// The parts that are compiled as one, if some of them were served; none if there is nothing to gain.
pub fn parts(
    inputs: &Inputs,
    arguments: &Arguments,
    served: &HashMap<usize, Module>,
) -> BTreeSet<usize> {
    let bitcode = |archived: bool| {
        let units = inputs.units.iter().enumerate();
        units.filter(move |(_, unit)| unit.native.is_none() && unit.archived == archived)
    };
    let asks = bitcode(false).any(|(index, _)| served.contains_key(&index));
    let bytes: usize = bitcode(false).map(|(_, unit)| unit.bytes.len()).sum();
    // Libraries that are bitcode take part in what the linker does.
    let alone = bitcode(true).next().is_none();
    match arguments.leaves_bitcode() && asks && alone && bytes <= LARGEST {
        true => bitcode(false).map(|(index, _)| index).collect(),
        false => BTreeSet::new(),
    }
}

/// Moves everything of a module into another.
pub fn add(whole: &Module, part: &Module, name: &str) -> Result<()> {
    whole.link(Module::parse(whole.context(), &part.to_bitcode(), name)?)
}
