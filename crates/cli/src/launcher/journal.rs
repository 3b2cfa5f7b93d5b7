//! What the driver was doing when it died.
//!
//! The driver appends lines to a file that the launcher made: `step` and what it is about to do,
//! `temp` and a file it is about to write. See the driver's `journal.rs` for the other end.

use std::path::{Path, PathBuf};

/// The file, removed when this is dropped.
pub struct Journal {
    file: tempfile::TempPath,
}

impl Journal {
    /// A new empty journal.
    pub fn create() -> Result<Journal, String> {
        let file = tempfile::Builder::new()
            .prefix("zymase-journal-")
            .tempfile()
            .map_err(|e| format!("cannot write to the folder for temporary files: {e}"))?;
        Ok(Journal {
            file: file.into_temp_path(),
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Removes the files that the driver had not finished, and tells what it was doing.
    pub fn clean_up(&self) -> String {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let mut step = "starting".to_string();
        for line in text.lines() {
            match line.split_once('\t') {
                Some(("step", what)) => step = what.to_string(),
                Some(("temp", path)) => remove(&PathBuf::from(path)),
                _ => {}
            }
        }
        step
    }
}

/// Removes a file or folder; one that is gone already is as good.
fn remove(path: &Path) {
    let _ = match path.is_dir() {
        true => std::fs::remove_dir_all(path),
        false => std::fs::remove_file(path),
    };
}
