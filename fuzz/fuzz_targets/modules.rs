//! Modules of LLVM, as text and as bitcode.
//!
//! LLVM's own reader of bitcode ends the process on some damaged files; the launcher makes a
//! message of that. Here the changes are made to texts, which LLVM reads or refuses.
#![no_main]

#[path = "../src/modules.rs"]
mod modules;
#[path = "../src/mutate.rs"]
mod mutate;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|bytes: &[u8]| modules::read(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut rng = fastrand::Rng::with_seed(seed.into());
    let text = String::from_utf8_lossy(&data[..size]);
    let text = mutate::mutated(&text, &[], &mut rng);
    let size = text.len().min(max_size);
    data[..size].copy_from_slice(&text.as_bytes()[..size]);
    size
});
