//! Records where the LLVM library of this build lies, so that the launcher finds it again, and makes
//! the object with the kernels that the driver carries.

use object::elf::{STB_GLOBAL, STB_WEAK, STV_HIDDEN};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of LLVM that is needed; the C interface changes between versions.
const LLVM: &str = "22.1";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = std::env::var("DEP_ZYMASE_LLVM_DIR").unwrap_or_default();
    let library = shared_library(Path::new(&folder)).unwrap_or_default();
    println!("cargo::rustc-env=ZYMASE_BUILD_LLVM_VERSION={LLVM}");
    println!("cargo::rustc-env=ZYMASE_BUILD_LLVM_FOLDER={folder}");
    println!("cargo::rustc-env=ZYMASE_BUILD_LLVM_FILE={library}");
    if let Err(message) = make_kernels() {
        println!("cargo::error={message}");
    }
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

/// Writes `kernels.o`: the crate `zymase-rt` and all that it uses, as one object. Where there is no
/// POSIX it is empty, and programs have loops instead.
fn make_kernels() -> Result<(), String> {
    let output = PathBuf::from(variable("OUT_DIR")?);
    let kernels = match std::env::var_os("CARGO_CFG_UNIX") {
        Some(_) => {
            let archive = std::fs::read(build_archive(&output)?).map_err(|e| e.to_string())?;
            let mut kernels = own_member(&archive)?;
            yield_symbols(&mut kernels);
            kernels
        }
        None => Vec::new(),
    };
    std::fs::write(output.join("kernels.o"), kernels).map_err(|e| e.to_string())
}

/// Lets cargo build the crate as a static library, and gives its path. It is optimized as a whole,
/// whatever this build is for, so everything of the core library that it uses is in one object, and
/// local to it.
fn build_archive(output: &Path) -> Result<PathBuf, String> {
    let package = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../rt");
    for source in ["src", "Cargo.toml", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", package.join(source).display());
    }
    let (target, folder) = (variable("TARGET")?, output.join("kernels"));
    let mut command = Command::new(variable("CARGO")?);
    command
        .args(["rustc", "--quiet", "--lib", "--crate-type", "staticlib"])
        .args(["--release", "--target", &target, "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&folder)
        .args(["--config", "profile.release.panic=\"abort\""])
        .args(["--config", "profile.release.lto=\"fat\""])
        .args(["--config", "profile.release.codegen-units=1"])
        .args(["--config", "profile.release.opt-level=3"])
        .args(["--config", "profile.release.debug=false"])
        .args(["--config", "profile.release.strip=\"debuginfo\""])
        .env("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fzymase_object");
    // What is wrapped around the compiler, or asked of it, is meant for the program that is built:
    // clippy, coverage, sanitizers.
    let unwanted = [
        "RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_TARGET",
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_BUILD_BUILD_DIR",
    ];
    for name in unwanted {
        command.env_remove(name);
    }
    let result = command.output();
    let result = result.map_err(|e| format!("cannot run cargo for the kernels: {e}"))?;
    if !result.status.success() {
        let said = String::from_utf8_lossy(&result.stderr);
        // A message is one line.
        let said = said.trim().replace('\n', "; ");
        return Err(format!("cannot build the kernels: {said}"));
    }
    Ok(folder.join(target).join("release/libzymase_rt.a"))
}

/// The object of the crate in an archive. The others are helpers of the compiler, of which every
/// linker driver has its own.
fn own_member(archive: &[u8]) -> Result<Vec<u8>, String> {
    let file = ArchiveFile::parse(archive).map_err(|e| e.to_string())?;
    let mut own = Vec::new();
    for member in file.members() {
        let member = member.map_err(|e| e.to_string())?;
        if member.name().starts_with(b"zymase_rt") {
            own.push(member.data(archive).map_err(|e| e.to_string())?.to_vec());
        }
    }
    match (own.pop(), own.is_empty()) {
        (Some(object), true) => Ok(object),
        _ => Err("the kernels are not one object".to_string()),
    }
}

/// Lets definitions of the program come before those of the object: a program in Rust may have the
/// same crates in it, and some of these define symbols in assembly that nothing makes local. The
/// variable with the number of threads is meant to be replaced. All but that one are hidden, so
/// shared libraries do not offer them.
fn yield_symbols(object: &mut [u8]) {
    let mut changes = Vec::new();
    if let Ok(object::File::Elf64(file)) = object::File::parse(&*object) {
        let tables = file.sections();
        let table = tables.filter(|section| section.name() == Ok(".symtab"));
        let start = table.filter_map(|section| section.file_range()).next();
        for symbol in file.symbols() {
            let Some((start, _)) = start else { break };
            if symbol.is_undefined() || symbol.is_local() {
                continue;
            }
            let name = symbol.name().unwrap_or_default();
            let raw = symbol.elf_symbol();
            let binding = match name {
                "__zymase_product_f32" | "__zymase_product_f64" | "__zymase_threads" => STB_GLOBAL,
                _ => STB_WEAK,
            };
            let visibility = match name {
                "__zymase_threads_chosen" => raw.st_other,
                _ => STV_HIDDEN,
            };
            // An entry has 24 bytes: the name, then what it is, and who sees it.
            let entry = start as usize + symbol.index().0 * 24;
            changes.push((entry + 4, binding << 4 | raw.st_info & 0xf));
            changes.push((entry + 5, visibility));
        }
    }
    for (place, byte) in changes {
        object[place] = byte;
    }
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|e| format!("{name}: {e}"))
}
