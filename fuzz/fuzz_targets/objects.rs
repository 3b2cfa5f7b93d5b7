//! Objects and archives, as inputs of a link.
#![no_main]
#![allow(dead_code, unused_imports)] // Most of the driver, of which only readers run.

include!("../src/driver.rs");

#[path = "../src/objects.rs"]
mod readers;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| readers::read(bytes));
