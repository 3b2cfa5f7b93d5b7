//! Tells the launcher what is going on, in case that LLVM ends the process.
//!
//! One line for each step and for each file begun; see the launcher's `journal.rs` for the reader.
//! With `ZYMASE_TIMES` set, each step is also printed when it begins, with the time since the start.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

/// Notes what is about to happen; the text follows the word "while".
pub fn step(what: &str) {
    if std::env::var_os("ZYMASE_TIMES").is_some() {
        static START: OnceLock<Instant> = OnceLock::new();
        let since = START.get_or_init(Instant::now).elapsed();
        eprintln!("{:8.3} s: {what}", since.as_secs_f64());
    }
    append("step", what);
}

/// Notes a file or folder that is to go if the process dies.
pub fn temporary(path: &Path) {
    append("temp", &path.to_string_lossy());
}

/// Without a journal (the driver was started by hand) nothing is noted.
fn append(kind: &str, text: &str) {
    let Some(path) = std::env::var_os("ZYMASE_JOURNAL") else {
        return;
    };
    let line = format!("{kind}\t{}\n", text.replace('\n', " "));
    if let Ok(mut file) = OpenOptions::new().append(true).open(path) {
        // A journal that cannot be written only makes a message less precise.
        let _ = file.write_all(line.as_bytes());
    }
}
