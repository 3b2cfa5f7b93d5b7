//! What reads objects and archives.

use crate::embedded;
use crate::ld::inputs::Inputs;
use std::ffi::OsString;

/// Reads an object or an archive as an input of a link.
pub fn read(bytes: &[u8]) {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a folder");
    }
    let file = FOLDER.with(|folder| folder.path().join("input"));
    std::fs::write(&file, bytes).expect("room");
    let words = [OsString::from(&file)];
    if let Ok(arguments) = crate::ld::arguments::Arguments::read(&words) {
        _ = Inputs::read(&arguments);
    }
    let mut object = bytes.to_vec();
    embedded::rename_section(&mut object);
}
