//! What the round-trip tests share.
#![allow(dead_code)] // Each test file uses its part.

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::path::{Path, PathBuf};
use std::process::Command;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Constant, Function, Op};
use zymase_llvm::export::{export_function, replace_body};
use zymase_llvm::import::import;
use zymase_llvm::llvm_sys::core::{
    LLVMGetFunctionCallConv, LLVMReplaceAllUsesWith, LLVMSetFunctionCallConv,
};
use zymase_llvm::{Context, Module, OptLevel, TargetMachine};

/// Imports a module, verifies what core got, writes every body again from core's IR, and verifies the result. Returns how
/// many bodies there were.
pub fn round_trip(module: &Module, name: &str) -> usize {
    let mut imported = import(module).unwrap_or_else(|d| panic!("{name}: {d}"));
    if let Err(errors) = verify_module(&imported.module) {
        let errors: Vec<String> = errors.iter().take(5).map(ToString::to_string).collect();
        panic!("{name}: {}", errors.join("\n"));
    }
    let bodies: Vec<_> = imported
        .module
        .funcs
        .iter()
        .filter(|(_, function)| !function.is_declaration())
        .map(|(func, _)| func)
        .collect();
    for &func in &bodies {
        replace_body(&mut imported, func).unwrap_or_else(|d| panic!("{name}: {d}"));
    }
    drop(imported);
    module.verify().unwrap_or_else(|d| panic!("{name}: {d}"));
    bodies.len()
}

/// Imports a module and exports a copy of every function but `main` as a new function, which then
/// takes the place of the original. Returns how many there were.
pub fn copy_functions(module: &Module, name: &str) -> usize {
    let mut imported = import(module).unwrap_or_else(|d| panic!("{name}: {d}"));
    let originals: Vec<_> = imported
        .module
        .funcs
        .iter()
        .filter(|(_, f)| !f.is_declaration() && f.name != "main" && is_copyable(f))
        .map(|(func, _)| func)
        .collect();
    let mut pairs = Vec::new();
    for &func in &originals {
        let mut copy = imported.module.funcs[func].clone();
        let original = imported.origins.value(copy.origin.unwrap()).unwrap();
        copy.origin = None;
        copy.name = format!("{}.copy", copy.name);
        let copy = imported.module.funcs.push(copy);
        let made = export_function(&mut imported, copy).unwrap_or_else(|d| panic!("{name}: {d}"));
        pairs.push((original, made));
    }
    drop(imported);
    module.verify().unwrap_or_else(|d| panic!("{name}: {d}"));
    for &(original, copy) in &pairs {
        // SAFETY: both are functions of the module, which is alive.
        unsafe {
            LLVMSetFunctionCallConv(copy, LLVMGetFunctionCallConv(original));
            LLVMReplaceAllUsesWith(original, copy);
        }
    }
    module.verify().unwrap_or_else(|d| panic!("{name}: {d}"));
    pairs.len()
}

/// Computed labels are addresses in the original, and a label's address is an opaque constant.
fn is_copyable(function: &Function) -> bool {
    let is_opaque = |value| matches!(function.as_const(value), Some(Constant::Opaque(_)));
    !function.values().any(is_opaque)
        && !function.blocks().iter().any(|&block| {
            let last = function.terminator(block).map(|t| &function.inst(t).op);
            matches!(last, Some(Op::OpaqueTerminator { opaque, .. }) if opaque.name == "indirectbr")
        })
}

/// Compiles a module without optimizing it further.
pub fn compile(module: &Module, path: &Path) {
    let machine = TargetMachine::for_module(module, OptLevel::Less).unwrap();
    machine.emit_object_file(module, path).unwrap();
}

/// Reads a module from a file.
pub fn read(path: &Path) -> Module {
    Module::parse_file(&Context::new(), path).unwrap_or_else(|d| panic!("{d}"))
}

/// Runs a command that must succeed, and gives what it prints.
pub fn run(command: &mut Command) -> String {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("this test needs {program}, which cannot be run here: {error}"),
    };
    assert!(
        output.status.success(),
        "{command:?} failed with {}:\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The folder of the programs that tests compile.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The bitcode modules inside the archives of the standard library.
pub fn standard_library() -> Vec<(String, Vec<u8>)> {
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".into());
    let libdir = run(Command::new(rustc).args(["--print", "target-libdir"]));
    let mut modules = Vec::new();
    let entries = std::fs::read_dir(libdir.trim()).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".rlib") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let archive = ArchiveFile::parse(&*bytes).unwrap();
        for member in archive.members() {
            let member = member.unwrap();
            let data = member.data(&*bytes).unwrap();
            let Ok(file) = object::File::parse(data) else {
                continue;
            };
            if let Some(section) = file.section_by_name(".llvmbc") {
                let member = String::from_utf8_lossy(member.name()).into_owned();
                modules.push((member, section.data().unwrap().to_vec()));
            }
        }
    }
    modules
}
