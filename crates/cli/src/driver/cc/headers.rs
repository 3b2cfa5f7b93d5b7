//! The headers of Zymase, which `zymase cc` puts on the include path.
//!
//! They are part of the compiler, so that installing it needs no other step. On disk they lie in
//! the user's cache folder, because files with dependencies (`-MD`) name them.

use crate::output;
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::Result;

/// The headers, by the names under which programs include them.
const HEADERS: &[(&str, &str)] = &[
    (
        "zymase/autodiff.h",
        include_str!("../../../../../include/zymase/autodiff.h"),
    ),
    (
        "zymase/autodiff",
        include_str!("../../../../../include/zymase/autodiff"),
    ),
    (
        "enzyme/enzyme",
        include_str!("../../../../../include/enzyme/enzyme"),
    ),
];

/// A folder with the headers; `scratch` serves where the cache folder cannot be written.
pub fn folder(scratch: &Path) -> Result<PathBuf> {
    if let Some(cache) = cache_folder()
        && fill(&cache).is_ok()
    {
        return Ok(cache);
    }
    let folder = scratch.join("include");
    fill(&folder)?;
    Ok(folder)
}

/// Writes what is missing or of another version.
fn fill(folder: &Path) -> Result<()> {
    for (name, text) in HEADERS {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| output::cannot_write(parent, &e))?;
        }
        output::write(&path, text.as_bytes())?;
    }
    Ok(())
}

fn cache_folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::home_dir().map(|home| home.join(".cache")))?;
    let version = concat!("include-", env!("CARGO_PKG_VERSION"));
    Some(base.join("zymase").join(version))
}
