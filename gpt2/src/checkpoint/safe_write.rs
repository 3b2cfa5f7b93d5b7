//! Files that are there whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Writes a file by way of a temporary one beside it, which takes its name when all of it is on the
/// disk. If anything fails, the temporary file is removed and what was there before stays.
pub fn write_safely(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let refused = || Error::io(path, "write");
    if path.is_dir() {
        return Err(refused()(io::ErrorKind::IsADirectory.into()));
    }
    let Some(name) = path.file_name() else {
        return Err(refused()(io::ErrorKind::InvalidFilename.into()));
    };
    // One name, not a random one: what a killed process leaves is overwritten by the next save.
    let mut temporary = name.to_os_string();
    temporary.push(".tmp");
    let temporary = Temporary(path.with_file_name(temporary));

    let mut file = File::create(&temporary.0).map_err(refused())?;
    write(&mut file).map_err(refused())?;
    file.sync_all().map_err(refused())?;
    fs::rename(&temporary.0, path).map_err(refused())?;
    // The new name is in the folder, which has to be on the disk as well.
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        let folder = File::open(folder).map_err(refused())?;
        folder.sync_all().map_err(refused())?;
    }
    Ok(())
}

/// Removed when it is dropped; after the rename there is nothing to remove.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
