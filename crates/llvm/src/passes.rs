//! Runs LLVM's optimization passes.

use crate::module::Module;
use crate::raw::c_string;
use crate::target::TargetMachine;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use llvm_sys::transforms::pass_builder::*;
use std::ffi::CStr;
use zymase_core::diagnostic::{Diagnostic, Result};

/// What the passes of a pipeline may do.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PassOptions {
    /// Loops may be vectorized and interleaved. LLVM 22.1 does not always heed a no, see
    /// [`pipelines::prepare`](crate::pipelines::prepare).
    pub vectorize_loops: bool,
    /// Straight-line code may be vectorized.
    pub vectorize_slp: bool,
    /// Loops may be unrolled.
    pub unroll: bool,
    /// Equal functions may become one.
    pub merge_functions: bool,
    /// The module is verified after each pass.
    pub verify_each: bool,
}

impl PassOptions {
    /// Everything that makes code faster.
    pub const ALL: PassOptions = PassOptions {
        vectorize_loops: true,
        vectorize_slp: true,
        unroll: true,
        merge_functions: false,
        verify_each: false,
    };
    /// Nothing that hides the structure of loops.
    pub const STRUCTURE: PassOptions = PassOptions {
        vectorize_loops: false,
        vectorize_slp: false,
        unroll: false,
        merge_functions: false,
        verify_each: false,
    };
}

impl Module {
    /// Runs a pipeline in the syntax of `opt -passes=…` on the module. Handles into the module
    /// that others hold (what was imported from it) are void afterwards.
    pub fn run_passes(
        &self,
        pipeline: &str,
        target: Option<&TargetMachine>,
        options: PassOptions,
    ) -> Result<()> {
        let text = c_string(pipeline);
        let machine = target.map_or(std::ptr::null_mut(), TargetMachine::raw);
        // SAFETY: module, machine and options are alive; the error, if any, is consumed.
        let message = unsafe {
            let raw = LLVMCreatePassBuilderOptions();
            LLVMPassBuilderOptionsSetLoopVectorization(raw, options.vectorize_loops.into());
            LLVMPassBuilderOptionsSetLoopInterleaving(raw, options.vectorize_loops.into());
            LLVMPassBuilderOptionsSetSLPVectorization(raw, options.vectorize_slp.into());
            LLVMPassBuilderOptionsSetLoopUnrolling(raw, options.unroll.into());
            LLVMPassBuilderOptionsSetMergeFunctions(raw, options.merge_functions.into());
            LLVMPassBuilderOptionsSetVerifyEach(raw, options.verify_each.into());
            let error = LLVMRunPasses(self.raw(), text.as_ptr(), machine, raw);
            LLVMDisposePassBuilderOptions(raw);
            (!error.is_null()).then(|| {
                let message = LLVMGetErrorMessage(error);
                let text = CStr::from_ptr(message).to_string_lossy().into_owned();
                LLVMDisposeErrorMessage(message);
                text
            })
        };
        let reported = self.context().take_errors();
        match message.or(reported) {
            None => Ok(()),
            Some(reason) => Err(Diagnostic::defect(
                format!("cannot run the passes {pipeline}"),
                reason,
            )),
        }
    }
}
