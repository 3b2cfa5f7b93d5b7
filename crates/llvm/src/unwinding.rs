//! Exceptions that leave a derivative end the program, and panics of Rust go on.
//!
//! The functions that are differentiated have no landing pads left (see
//! [`prepare`](crate::pipelines::prepare)), so nothing in a derivative catches an exception, and
//! nothing frees its tape. Were it to go on, the program might take what is in the shadows for
//! derivatives. So a derivative that something may be thrown out of gets a guard: a function of its
//! name that calls it, and says what happened if it does not return.
//!
//! A panic of Rust may leave any function, and whoever catches one must expect that what was being
//! written is half done; the language asks for that by `UnwindSafe`. So a program in Rust gets the
//! panic of its function from the derivative too. What destructors on the way would have done is
//! not done, and the tape is lost.
//!
//! Before: the functions that stand for requests are defined and optimized. After: none of them
//! unwinds, unless a program in Rust asks.

use crate::ll;
use crate::module::Module;
use crate::raw::{c_string, value_name};
use crate::requests::Pins;
use llvm_sys::LLVMLinkage::{LLVMExternalLinkage, LLVMInternalLinkage, LLVMPrivateLinkage};
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// The C library's personality: it knows nothing of languages, and stops at every guard.
const PERSONALITY: &str = "__gcc_personality_v0";
const MESSAGE: &str = "zymase: an exception left a derivative: it was thrown in code that is \
                       differentiated, where no handler can catch it\n";

/// Guards every derivative for a program that something may be thrown out of.
pub fn guard(module: &Module, program: &Module, pins: &Pins) {
    if is_rust(program) {
        return;
    }
    for request in &pins.requests {
        // SAFETY: the functions of a live module are live, and new ones have the same type.
        unsafe {
            if let Some(function) = module.function(&request.symbol)
                && LLVMIsDeclaration(function) == 0
                && !has_attribute(function, "nounwind")
            {
                guard_function(module, function);
            }
        }
    }
}

/// Whether the compiler of Rust made a module, which it notes in each.
fn is_rust(module: &Module) -> bool {
    let notes = module.named_metadata("llvm.ident").into_iter();
    let words = notes
        .flat_map(ll::node_operands)
        .filter_map(ll::metadata_string);
    words.into_iter().any(|ident| ident.starts_with("rustc "))
}

/// Puts a guard in the place of a function.
unsafe fn guard_function(module: &Module, function: LLVMValueRef) {
    // SAFETY: the builder writes into new blocks of a new function of the same type; the caller
    // gives a live definition.
    unsafe {
        let context = module.context().raw();
        let ty = LLVMGlobalGetValueType(function);
        let name = value_name(function);
        let inner = format!("{name}.unguarded");
        LLVMSetValueName2(function, inner.as_ptr().cast(), inner.len());
        let guard = LLVMAddFunction(module.raw(), c_string(&name).as_ptr(), ty);
        LLVMSetLinkage(guard, LLVMGetLinkage(function));
        LLVMSetVisibility(guard, LLVMGetVisibility(function));
        LLVMReplaceAllUsesWith(function, guard);
        LLVMSetLinkage(function, LLVMInternalLinkage);
        LLVMSetPersonalityFn(guard, personality(module));
        let nounwind = ll::attribute_kind_id("nounwind");
        ll::add_function_attribute(
            guard,
            ll::FUNCTION_INDEX,
            ll::enum_attribute(context, nounwind, 0),
        );
        let [entry, done, thrown] = ["", "done", "thrown"]
            .map(|name| LLVMAppendBasicBlockInContext(context, guard, c_string(name).as_ptr()));
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, entry);
        let count = LLVMCountParams(function);
        let mut args: Vec<_> = (0..count).map(|i| LLVMGetParam(guard, i)).collect();
        let empty = c"".as_ptr();
        let result = LLVMBuildInvoke2(
            builder,
            ty,
            function,
            args.as_mut_ptr(),
            count,
            done,
            thrown,
            empty,
        );
        // The attributes of the result (index 0) and of the parameters say how they are passed.
        for index in 0..=count {
            for attribute in ll::attributes(function, index) {
                LLVMAddAttributeAtIndex(guard, index, attribute);
                LLVMAddCallSiteAttribute(result, index, attribute);
            }
        }
        LLVMPositionBuilderAtEnd(builder, done);
        let void = LLVMGetReturnType(ty) == LLVMVoidTypeInContext(context);
        match void {
            true => LLVMBuildRetVoid(builder),
            false => LLVMBuildRet(builder, result),
        };
        LLVMPositionBuilderAtEnd(builder, thrown);
        let mut parts = [
            LLVMPointerTypeInContext(context, 0),
            LLVMInt32TypeInContext(context),
        ];
        let pair = LLVMStructTypeInContext(context, parts.as_mut_ptr(), 2, 0);
        let pad = LLVMBuildLandingPad(builder, pair, std::ptr::null_mut(), 0, empty);
        LLVMSetCleanup(pad, 1);
        say_and_abort(module, builder);
        LLVMBuildUnreachable(builder);
        LLVMDisposeBuilder(builder);
    }
}

/// Writes a message to the standard error stream and ends the program.
unsafe fn say_and_abort(module: &Module, builder: LLVMBuilderRef) {
    // SAFETY: all types are of the context that the builder is of.
    unsafe {
        let context = module.context().raw();
        let (int, long) = (
            LLVMInt32TypeInContext(context),
            LLVMInt64TypeInContext(context),
        );
        let pointer = LLVMPointerTypeInContext(context, 0);
        let empty = c"".as_ptr();
        let text = LLVMConstStringInContext2(context, MESSAGE.as_ptr().cast(), MESSAGE.len(), 1);
        let message = LLVMAddGlobal(module.raw(), LLVMTypeOf(text), c"zymase.thrown".as_ptr());
        LLVMSetInitializer(message, text);
        LLVMSetGlobalConstant(message, 1);
        LLVMSetLinkage(message, LLVMPrivateLinkage);
        let mut params = [int, pointer, long];
        let ty = LLVMFunctionType(long, params.as_mut_ptr(), 3, 0);
        let write = declared(module, "write", ty);
        let mut args = [
            LLVMConstInt(int, 2, 0),
            message,
            LLVMConstInt(long, MESSAGE.len() as u64, 0),
        ];
        LLVMBuildCall2(builder, ty, write, args.as_mut_ptr(), 3, empty);
        let void = LLVMVoidTypeInContext(context);
        let ty = LLVMFunctionType(void, std::ptr::null_mut(), 0, 0);
        let abort = declared(module, "abort", ty);
        LLVMBuildCall2(builder, ty, abort, std::ptr::null_mut(), 0, empty);
    }
}

unsafe fn personality(module: &Module) -> LLVMValueRef {
    // SAFETY: the type is of the module's context.
    unsafe {
        let int = LLVMInt32TypeInContext(module.context().raw());
        let ty = LLVMFunctionType(int, std::ptr::null_mut(), 0, 1);
        declared(module, PERSONALITY, ty)
    }
}

/// A function of the C library, declared if it is not yet.
unsafe fn declared(module: &Module, name: &str, ty: LLVMTypeRef) -> LLVMValueRef {
    module.function(name).unwrap_or_else(|| {
        // SAFETY: the type is of the module's context.
        unsafe {
            let function = LLVMAddFunction(module.raw(), c_string(name).as_ptr(), ty);
            LLVMSetLinkage(function, LLVMExternalLinkage);
            function
        }
    })
}

fn has_attribute(function: LLVMValueRef, name: &str) -> bool {
    let kind = ll::attribute_kind_id(name);
    !ll::function_attribute(function, ll::FUNCTION_INDEX, kind).is_null()
}
