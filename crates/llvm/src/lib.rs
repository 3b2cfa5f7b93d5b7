//! The border between Zymase and LLVM.
//!
//! This is the only crate with foreign functions. It reads LLVM modules into the IR of
//! [`zymase_core`] ([`import`]), adds functions that core made to LLVM modules ([`export`]), runs
//! LLVM's passes ([`pipelines`]) and generates code ([`TargetMachine`]).
//!
//! LLVM reports errors in bitcode, text and code generation as values here. What LLVM considers an
//! internal error ends the process, so a driver should do its work in a child process; nothing in
//! this crate passes on what could trigger that without checking it first.

pub mod chaos;
mod context;
pub mod export;
pub mod import;
mod jit;
mod known;
mod library;
mod ll;
mod long_blocks;
mod module;
mod moved_sizes;
mod opcodes;
mod origin;
mod passes;
pub mod permission;
pub mod pipelines;
mod raw;
pub mod reachable;
pub mod requests;
pub mod sanitizer;
mod sunk_stores;
pub mod tape_memory;
mod target;
pub mod unwinding;
pub mod vector_math;

pub use context::Context;
pub use jit::Jit;
pub use library::{LIBRARY_DIR, LIBRARY_FILE, version};
pub use llvm_sys;
pub use module::{Module, blocks_of, instructions_of};
pub use origin::{Foreign, Imported, Origins};
pub use passes::PassOptions;
pub use target::{OptLevel, TargetMachine};

/// Core's flags in the order of LLVM's fast-math bits.
const FAST_MATH_BITS: [zymase_core::ir::Flags; 7] = {
    use zymase_core::ir::Flags;
    [
        Flags::REASSOC,
        Flags::NNAN,
        Flags::NINF,
        Flags::NSZ,
        Flags::ARCP,
        Flags::CONTRACT,
        Flags::AFN,
    ]
};

/// LLVM's fast-math bits for flags of core.
fn fast_math_bits(flags: zymase_core::ir::Flags) -> u32 {
    FAST_MATH_BITS
        .iter()
        .enumerate()
        .filter(|(_, flag)| flags.contains(**flag))
        .fold(0, |bits, (position, _)| bits | 1 << position)
}
