//! The round-trip law: import and export of any module changes no result of the program.

mod common;

use common::*;
use zymase_llvm::{Context, Module};

/// Every function of these crates of the standard library comes back from core's IR as something
/// that LLVM accepts.
#[test]
fn the_standard_library_comes_back() {
    let mut bodies = 0;
    for (name, bitcode) in standard_library(&["alloc", "std", "gimli", "addr2line", "core"]) {
        let module = Module::parse(&Context::new(), &bitcode, &name).unwrap();
        bodies += round_trip(&module, &name);
    }
    assert!(bodies > 1000, "only {bodies} functions were found");
}
