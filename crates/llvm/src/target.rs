//! A target machine: generates code for a processor.

use crate::long_blocks;
use crate::module::Module;
use crate::raw::{Buffer, c_string, take_message};
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Once;
use zymase_core::diagnostic::{Code, Diagnostic, Result};

/// How hard the code generator tries.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OptLevel {
    /// Fast compilation.
    None,
    /// A little.
    Less,
    /// What `-O2` does.
    Default,
    /// What `-O3` does.
    Aggressive,
}

/// A target machine. Code is position-independent.
pub struct TargetMachine(LLVMTargetMachineRef);

static TARGETS: Once = Once::new();

/// Registers the targets that Zymase knows.
fn initialize_targets() {
    // SAFETY: registration has no precondition; `Once` keeps it from running twice at a time.
    TARGETS.call_once(|| unsafe {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
        LLVMInitializeAArch64AsmParser();
    });
}

impl TargetMachine {
    /// The machine that a module is for, with the baseline features of its architecture; functions
    /// carry the features that their compiler was asked for. A module without a triple is for the
    /// host.
    pub fn for_module(module: &Module, level: OptLevel) -> Result<TargetMachine> {
        let triple = module.triple();
        match triple.is_empty() {
            true => TargetMachine::new(&host_triple(), "", "", level),
            false => TargetMachine::new(&triple, "", "", level),
        }
    }

    /// The machine this process runs on, with all its features.
    pub fn host(level: OptLevel) -> Result<TargetMachine> {
        // SAFETY: both strings become ours.
        let (cpu, features) = unsafe {
            (
                take_message(LLVMGetHostCPUName()),
                take_message(LLVMGetHostCPUFeatures()),
            )
        };
        TargetMachine::new(&host_triple(), &cpu, &features, level)
    }

    /// The machine of a triple, processor and list of features; empty means the baseline.
    pub fn new(triple: &str, cpu: &str, features: &str, level: OptLevel) -> Result<TargetMachine> {
        initialize_targets();
        let refuse = |reason: String| {
            Diagnostic::new(
                Code::Target,
                format!("cannot generate code for the target {triple}"),
                reason,
                "Zymase generates code for x86-64 and AArch64",
            )
        };
        let level = match level {
            OptLevel::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            OptLevel::Less => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            OptLevel::Default => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            OptLevel::Aggressive => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
        };
        let c_triple = c_string(triple);
        let (mut target, mut message) = (null_mut(), null_mut());
        // SAFETY: out parameters are written on the paths they are read on.
        let machine = unsafe {
            if LLVMGetTargetFromTriple(c_triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(refuse(take_message(message)));
            }
            LLVMCreateTargetMachine(
                target,
                c_triple.as_ptr(),
                c_string(cpu).as_ptr(),
                c_string(features).as_ptr(),
                level,
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelDefault,
            )
        };
        if machine.is_null() {
            return Err(refuse("LLVM knows no such machine".into()));
        }
        Ok(TargetMachine(machine))
    }

    /// The handle of LLVM's C API.
    pub fn raw(&self) -> LLVMTargetMachineRef {
        self.0
    }

    /// Compiles a module to an object file in memory.
    pub fn emit_object(&self, module: &Module) -> Result<Vec<u8>> {
        self.emit(module, LLVMCodeGenFileType::LLVMObjectFile)
    }

    /// Compiles a module to assembly.
    pub fn emit_assembly(&self, module: &Module) -> Result<String> {
        let bytes = self.emit(module, LLVMCodeGenFileType::LLVMAssemblyFile)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Compiles a module to an object file on disk.
    pub fn emit_object_file(&self, module: &Module, path: &Path) -> Result<()> {
        let bytes = self.emit_object(module)?;
        std::fs::write(path, bytes).map_err(|error| {
            Diagnostic::new(
                Code::CannotWrite,
                format!("cannot write {}", path.display()),
                error.to_string(),
                "give a path that can be written",
            )
        })
    }

    fn emit(&self, module: &Module, kind: LLVMCodeGenFileType) -> Result<Vec<u8>> {
        long_blocks::cut(module);
        let (mut buffer, mut message) = (null_mut(), null_mut());
        // SAFETY: the buffer is written on success, the message on failure; both become ours.
        let (buffer, message) = unsafe {
            let failed = LLVMTargetMachineEmitToMemoryBuffer(
                self.0,
                module.raw(),
                kind,
                &mut message,
                &mut buffer,
            ) != 0;
            match failed {
                true => (None, Some(take_message(message))),
                false => (Some(Buffer(buffer)), None),
            }
        };
        // Errors in inline assembly come through the context, with an object that is useless.
        match (buffer, module.context().take_errors().or(message)) {
            (Some(buffer), None) => Ok(buffer.to_vec()),
            (_, reason) => Err(Diagnostic::new(
                Code::CannotGenerate,
                "cannot generate code",
                reason.unwrap_or_default().trim_end().to_string(),
                "the inline assembly of the program must fit the machine that it is compiled for",
            )),
        }
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        // SAFETY: this is the only owner.
        unsafe { LLVMDisposeTargetMachine(self.0) }
    }
}

fn host_triple() -> String {
    // SAFETY: the string becomes ours.
    unsafe { take_message(LLVMGetDefaultTargetTriple()) }
}
