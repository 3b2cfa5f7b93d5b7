//! Output files: complete or not there.

use crate::journal;
use std::io::Write;
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::{Code, Diagnostic, Result};

/// Writes a file under a temporary name beside its place, then moves it there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = |error: std::io::Error| cannot_write(path, &error);
    // A device such as /dev/null cannot be replaced by a file.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, bytes).map_err(failed);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".zymase-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    journal::temporary(file.path());
    file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// Writes to standard output; a reader that has gone away is no error.
pub fn print(bytes: &[u8]) -> Result<()> {
    let mut output = std::io::stdout();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Diagnostic::new(
            Code::CannotWrite,
            "cannot write to standard output",
            error.to_string(),
            "write to a file with -o, or make room where the output goes",
        )),
        _ => Ok(()),
    }
}

/// A folder for intermediate files that goes away by itself.
pub fn scratch_folder() -> Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("zymase-").tempdir();
    let folder = folder.map_err(|error| {
        Diagnostic::new(
            Code::CannotWrite,
            "cannot make a folder for temporary files",
            error.to_string(),
            "set TMPDIR to a folder that can be written",
        )
    })?;
    journal::temporary(folder.path());
    Ok(folder)
}

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| cannot_read(path, &error))
}

/// The message for a file that cannot be read.
pub fn cannot_read(path: &Path, error: &std::io::Error) -> Box<Diagnostic> {
    let name = PathBuf::from(path);
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_string(),
        _ => error.to_string(),
    };
    Diagnostic::new(
        Code::CannotRead,
        format!("cannot read {}", name.display()),
        reason,
        "give the path of a file that can be read",
    )
}

/// The message for a file or folder that cannot be written.
pub fn cannot_write(path: &Path, error: &std::io::Error) -> Box<Diagnostic> {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "its folder does not exist".to_string(),
        _ => error.to_string(),
    };
    Diagnostic::new(
        Code::CannotWrite,
        format!("cannot write {}", path.display()),
        reason,
        "give a path that can be written",
    )
}
