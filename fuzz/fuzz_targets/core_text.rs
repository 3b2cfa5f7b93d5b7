//! Texts of core's IR.
#![no_main]

#[path = "../src/core_text.rs"]
mod core_text;
#[path = "../src/mutate.rs"]
mod mutate;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        core_text::read(text);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut rng = fastrand::Rng::with_seed(seed.into());
    match std::str::from_utf8(&data[..size]) {
        Ok(text) if rng.u32(..8) > 0 => {
            let text = mutate::mutated(text, &[], &mut rng);
            let size = text.len().min(max_size);
            data[..size].copy_from_slice(&text.as_bytes()[..size]);
            size
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});
