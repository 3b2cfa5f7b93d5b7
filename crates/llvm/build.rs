//! Finds and links LLVM: the one that comes with the Rust toolchain, or the system one whose
//! prefix `ZYMASE_LLVM_PREFIX` names.
//!
//! Tells dependents the folder (`DEP_ZYMASE_LLVM_DIR`) so that their binaries can have a run path
//! during development, and this crate the file name, which a launcher looks up at run time.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=ZYMASE_LLVM_PREFIX");
    println!("cargo::rerun-if-env-changed=RUSTC");
    println!("cargo::rerun-if-changed=build.rs");
    match link() {
        Ok(()) => {}
        Err(message) => println!("cargo::error={message}"),
    }
}

fn link() -> Result<(), String> {
    let dir = library_dir()?;
    let names = library_names(&dir)?;
    let linked = pick(&names).ok_or(format!(
        "no shared library of LLVM 22 in {}; set ZYMASE_LLVM_PREFIX to the prefix of one",
        dir.display()
    ))?;
    let stem = linked.trim_start_matches("lib");
    let stem = stem.strip_suffix(".so").or(stem.strip_suffix(".dylib"));
    let Some(stem) = stem else {
        return Err(format!("{linked} has a name that no linker looks for"));
    };
    println!("cargo::rustc-link-search=native={}", dir.display());
    println!("cargo::rustc-link-lib=dylib={stem}");
    println!("cargo::rustc-link-arg=-Wl,-rpath,{}", dir.display());
    println!("cargo::metadata=DIR={}", dir.display());
    println!("cargo::rustc-env=ZYMASE_LLVM_DIR={}", dir.display());
    println!(
        "cargo::rustc-env=ZYMASE_LLVM_FILE={}",
        loaded(&dir, &names, &linked)
    );
    Ok(())
}

/// The folder that the library is in.
fn library_dir() -> Result<PathBuf, String> {
    if let Some(prefix) = std::env::var_os("ZYMASE_LLVM_PREFIX") {
        return Ok(PathBuf::from(prefix).join("lib"));
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let output = Command::new(&rustc)
        .args(["--print", "sysroot"])
        .output()
        .map_err(|e| format!("cannot run {}: {e}", rustc.display()))?;
    let sysroot = String::from_utf8_lossy(&output.stdout);
    Ok(Path::new(sysroot.trim()).join("lib"))
}

fn library_names(dir: &Path) -> Result<Vec<String>, String> {
    let entries =
        std::fs::read_dir(dir).map_err(|e| format!("cannot read {}: {e}", dir.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("libLLVM"))
        .collect();
    names.sort();
    Ok(names)
}

/// The file to link: the one with the version in its name if there is one.
fn pick(names: &[String]) -> Option<String> {
    let linkable = |name: &&String| name.ends_with(".so") || name.ends_with(".dylib");
    let versioned = names
        .iter()
        .filter(linkable)
        .find(|name| name.starts_with("libLLVM-22"));
    let plain = || {
        let is_22 = names.iter().any(|name| name.contains("22"));
        names.iter().filter(linkable).find(|name| {
            is_22 && (name.as_str() == "libLLVM.so" || name.as_str() == "libLLVM.dylib")
        })
    };
    versioned.or_else(plain).cloned()
}

/// The name that the loader will look for. The file that is linked may be a linker script or a
/// link to the library proper, whose name has the version after `.so`.
fn loaded(dir: &Path, names: &[String], linked: &str) -> String {
    if let Some(proper) = names.iter().find(|name| name.starts_with("libLLVM.so.22")) {
        return proper.clone();
    }
    let target = std::fs::canonicalize(dir.join(linked)).ok();
    target
        .and_then(|path| Some(path.file_name()?.to_str()?.to_string()))
        .unwrap_or(linked.to_string())
}
