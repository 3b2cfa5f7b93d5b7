//! `zymase ld`.
use std::ffi::OsString;
use zymase_core::diagnostic::Result;
/// Runs the command.
pub fn run(_args: &[OsString]) -> Result<u8> {
    Ok(0)
}
