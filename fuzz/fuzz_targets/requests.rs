//! Calls of requests, with any words and values after them.
#![no_main]

#[path = "../src/modules.rs"]
mod modules;
#[path = "../src/requests.rs"]
mod requests;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| modules::read(requests::module(bytes).as_bytes()));
