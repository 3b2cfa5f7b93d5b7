//! Chaos on LLVM's side: by chance, calls stay calls that the optimizer would inline.
//!
//! Core makes its own choices by chance, see [`zymase_core::chaos`].

use crate::ll;
use crate::module::Module;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Keeps the optimizer from inlining about half of the functions, each time others.
pub fn keep_calls(module: &Module, seed: u64) {
    let context = module.context().raw();
    let [no_inline, always] = ["noinline", "alwaysinline"].map(ll::attribute_kind_id);
    let has =
        |function, kind| !ll::function_attribute(function, ll::FUNCTION_INDEX, kind).is_null();
    for function in module.functions().filter(|&f| !ll::is_declaration(f)) {
        let mut hasher = DefaultHasher::new();
        (seed, ll::name(function)).hash(&mut hasher);
        if hasher.finish() % 2 == 1 && !has(function, always) {
            let attribute = ll::enum_attribute(context, no_inline, 0);
            ll::add_function_attribute(function, ll::FUNCTION_INDEX, attribute);
        }
    }
}
