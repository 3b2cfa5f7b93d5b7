//! Records where the LLVM library of this build lies, so that the launcher finds it again.

use std::path::Path;

/// The version of LLVM that is needed; the C interface changes between versions.
const LLVM: &str = "22.1";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = std::env::var("DEP_ZYMASE_LLVM_DIR").unwrap_or_default();
    let library = shared_library(Path::new(&folder)).unwrap_or_default();
    println!("cargo:rustc-env=ZYMASE_BUILD_LLVM_VERSION={LLVM}");
    println!("cargo:rustc-env=ZYMASE_BUILD_LLVM_FOLDER={folder}");
    println!("cargo:rustc-env=ZYMASE_BUILD_LLVM_FILE={library}");
}

/// The name of the LLVM library in a folder, which is the name programs ask the loader for.
fn shared_library(folder: &Path) -> Option<String> {
    let fits = |name: &String| {
        name.starts_with("libLLVM.so.22")
            || name.starts_with("libLLVM-22") && name.ends_with(".dylib")
    };
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(fits)
        .collect();
    names.sort();
    names.into_iter().next()
}
