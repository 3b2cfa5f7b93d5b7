//! Finds the LLVM library that the driver needs.
//!
//! The driver asks the loader for one file name, the library it was linked with. Any library of
//! the same LLVM version does as well, but it may have another name (each Rust release has its
//! own); a link with the expected name, in the user's cache folder, brings the two together.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the library lay when Zymase was built.
const BUILD_FOLDER: &str = env!("ZYMASE_BUILD_LLVM_FOLDER");
/// The file name the driver asks for.
const FILE: &str = env!("ZYMASE_BUILD_LLVM_FILE");
/// The version that is needed; the C interface changes between versions.
const VERSION: &str = env!("ZYMASE_BUILD_LLVM_VERSION");

/// The variable that the loader reads.
const SEARCH_PATH: &str = if cfg!(target_os = "macos") {
    "DYLD_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// A folder in which the loader finds the library under the name the driver asks for.
pub fn find() -> Result<PathBuf, String> {
    if let Some(prefix) = std::env::var_os("ZYMASE_LLVM_PREFIX") {
        let folder = Path::new(&prefix).join("lib");
        return fitting(&folder)?.ok_or(format!(
            "ZYMASE_LLVM_PREFIX is {}, but there is no LLVM {VERSION} library in {}",
            Path::new(&prefix).display(),
            folder.display()
        ));
    }
    if let Some(folder) = fitting(Path::new(BUILD_FOLDER))? {
        return Ok(folder);
    }
    if let Some(folder) = sysroot()
        && let Some(folder) = fitting(&folder.join("lib"))?
    {
        return Ok(folder);
    }
    Err(format!(
        "no LLVM {VERSION} library found: it was in {BUILD_FOLDER} when Zymase was built, and the \
         Rust toolchain in use has none; install Zymase again with `cargo install zymase-cli`, or set \
         ZYMASE_LLVM_PREFIX to a folder with lib/libLLVM.so.{VERSION}"
    ))
}

/// The message for a library that was found but that the loader refused.
pub fn unfit(folder: &Path) -> String {
    format!(
        "the LLVM library in {} does not fit this build of Zymase; install Zymase again with \
         `cargo install zymase-cli`",
        folder.display()
    )
}

/// Makes the loader of a command look into the folder first. What the variable was before goes
/// along, because the programs that the driver starts must not see our folder.
pub fn prepend_search_path(command: &mut Command, folder: &Path) {
    let mut value = OsString::from(folder);
    match std::env::var_os(SEARCH_PATH) {
        Some(old) => {
            value.push(":");
            value.push(&old);
            command.env("ZYMASE_OUTER_LIBRARY_PATH", old);
        }
        None => {
            command.env_remove("ZYMASE_OUTER_LIBRARY_PATH");
        }
    }
    command.env(SEARCH_PATH, value);
}

/// The folder itself if it has the expected file, a folder with a link if it has another library
/// of the same version, nothing if it has none.
fn fitting(folder: &Path) -> Result<Option<PathBuf>, String> {
    if !FILE.is_empty() && folder.join(FILE).is_file() {
        return Ok(Some(folder.to_path_buf()));
    }
    let Some(library) = same_version(folder) else {
        return Ok(None);
    };
    link(&library).map(Some).map_err(|e| {
        format!(
            "cannot make a link to {} in the cache folder: {e}",
            library.display()
        )
    })
}

/// A library of the needed version in a folder.
fn same_version(folder: &Path) -> Option<PathBuf> {
    let prefix = format!("libLLVM.so.{VERSION}");
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| fits(&entry.file_name().to_string_lossy(), &prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.into_iter().next()
}

/// `libLLVM.so.22.1` and `libLLVM.so.22.1-rust-…` fit, `libLLVM.so.22.10` does not.
fn fits(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A folder in the user's cache with a link of the expected name to a library.
fn link(library: &Path) -> std::io::Result<PathBuf> {
    let folder = cache_folder()?.join(library.to_string_lossy().replace('/', "%"));
    std::fs::create_dir_all(&folder)?;
    let name = folder.join(FILE);
    if std::fs::read_link(&name).is_ok_and(|target| target == library) {
        return Ok(folder);
    }
    // Another launcher may do the same at this moment: make the link aside, then move it.
    let aside = folder.join(format!("{FILE}.{}", std::process::id()));
    symlink(library, &aside)?;
    std::fs::rename(&aside, &name)?;
    Ok(folder)
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn symlink(target: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::copy(target, link).map(|_| ())
}

fn cache_folder() -> std::io::Result<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
    base.map(|base| base.join("zymase").join("llvm"))
        .ok_or(std::io::Error::other("there is no home folder"))
}

/// The folder of the Rust toolchain in use.
fn sysroot() -> Option<PathBuf> {
    let output = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let path = text.trim();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn library_names() {
        let check = |name: &str, expected: bool| {
            assert_eq!(fits(name, "libLLVM.so.22.1"), expected, "{name}");
        };
        check("libLLVM.so.22.1", true);
        check("libLLVM.so.22.1-rust-1.95.0-stable", true);
        check("libLLVM.so.22.10", false);
        check("libLLVM.so.21.1", false);
        check("libLLVM-22.so", false);
    }
}
