//! Records where the LLVM library of this build lies, so that the launcher finds it again.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=ZYMASE_LLVM_PREFIX");
    println!("cargo:rerun-if-env-changed=RUSTC");
    let folder = match std::env::var_os("ZYMASE_LLVM_PREFIX") {
        Some(prefix) => Path::new(&prefix).join("lib"),
        None => sysroot().join("lib"),
    };
    let library = shared_library(&folder).unwrap_or_default();
    println!(
        "cargo:rustc-env=ZYMASE_BUILD_LLVM_FOLDER={}",
        folder.display()
    );
    println!("cargo:rustc-env=ZYMASE_BUILD_LLVM_FILE={library}");
}

/// The folder of the toolchain that compiles this crate.
fn sysroot() -> PathBuf {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let text = output.map(|o| o.stdout).unwrap_or_default();
    PathBuf::from(String::from_utf8_lossy(&text).trim())
}

/// The name of the LLVM library in a folder, which is the name programs ask the loader for.
fn shared_library(folder: &Path) -> Option<String> {
    let names = std::fs::read_dir(folder).ok()?.flatten();
    let mut names: Vec<String> = names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            name.starts_with("libLLVM.so.22")
                || name.starts_with("libLLVM-22") && name.ends_with(".dylib")
        })
        .collect();
    names.sort_by_key(String::len);
    names.pop()
}
