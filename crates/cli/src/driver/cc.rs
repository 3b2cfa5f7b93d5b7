//! `zymase cc` and `zymase c++`.
use crate::tools::Language;
use std::ffi::OsString;
use zymase_core::diagnostic::Result;
/// Runs the command.
pub fn run(_language: Language, _args: &[OsString]) -> Result<u8> {
    Ok(0)
}
