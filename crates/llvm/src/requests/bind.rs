//! Binds functions that a request passes as arguments.
//!
//! A request for the derivative of `integrate(f, a, b)` often says which function `f` is. Then the
//! derivative is that of a new function, in which `f` is a constant: it is called by its name, and
//! the optimizer may inline it. Likewise for a function of a library that is only declared, but
//! whose derivative is known: what is differentiated is a new function that calls it.

use super::operands;
use super::parse::{Parsed, Source};
use crate::known::math_function;
use crate::ll;
use crate::module::Module;
use crate::raw::{c_string, value_name};
use llvm_sys::LLVMLinkage::LLVMInternalLinkage;
use llvm_sys::LLVMTypeKind::LLVMVoidTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use zymase_core::analysis::known::is_linear_algebra;
use zymase_core::ir::{Activity, FloatKind};

/// The beginning of the names of functions with bound arguments.
const PREFIX: &str = "__zymase_bound_";

/// The function to differentiate once those arguments are bound that are functions; they leave
/// `parsed`. `args` is what follows the function among the arguments of the request.
///
/// # Safety
/// `target` is a function of `module`, and `args` are live values.
pub unsafe fn bind_functions(
    module: &Module,
    target: LLVMValueRef,
    parsed: &mut Parsed,
    args: &[LLVMValueRef],
) -> LLVMValueRef {
    // SAFETY: as the caller promises.
    unsafe {
        let bound: Vec<Option<LLVMValueRef>> = parsed
            .args
            .iter()
            .map(|argument| match (argument.activity, argument.primal) {
                (Activity::Const, Source::Operand(word)) => operands::function(args[word]),
                _ => None,
            })
            .collect();
        if bound.iter().all(Option::is_none) && !has_known_derivative(target) {
            return target;
        }
        let mut kept = bound.iter().map(Option::is_none);
        parsed.args.retain(|_| kept.next().unwrap_or(true));
        let name = bound_name(target, &bound);
        let existing = LLVMGetNamedFunction(module.raw(), c_string(&name).as_ptr());
        match existing.is_null() {
            true => write(module, &name, target, &bound),
            false => existing,
        }
    }
}

/// Whether a function has no body, but a derivative by its name.
unsafe fn has_known_derivative(function: LLVMValueRef) -> bool {
    // SAFETY: the caller gives a live function.
    let (declared, name) = unsafe { (LLVMIsDeclaration(function) != 0, value_name(function)) };
    let mathematical = || {
        FloatKind::ALL
            .iter()
            .any(|&kind| math_function(&name, kind).is_some())
    };
    declared && (is_linear_algebra(&name) || mathematical())
}

/// Removes the functions that were made for requests; derivatives are taken of clones.
pub fn erase_bound(module: &Module) {
    // SAFETY: the functions of a live module are live, and those without uses may go.
    unsafe {
        for function in module.functions().collect::<Vec<_>>() {
            if value_name(function).starts_with(PREFIX) && LLVMGetFirstUse(function).is_null() {
                LLVMDeleteFunction(function);
            }
        }
    }
}

/// Equal bindings have equal names, so that the two halves of split mode are about one function.
unsafe fn bound_name(target: LLVMValueRef, bound: &[Option<LLVMValueRef>]) -> String {
    // SAFETY: the functions are live.
    let (target, bound): (String, Vec<String>) = unsafe {
        let names = bound
            .iter()
            .map(|f| f.map_or(String::new(), |f| value_name(f)));
        (value_name(target), names.collect())
    };
    format!("{PREFIX}{target}({})", bound.join(","))
}

/// A function that calls `target` with the bound arguments and its own.
unsafe fn write(
    module: &Module,
    name: &str,
    target: LLVMValueRef,
    bound: &[Option<LLVMValueRef>],
) -> LLVMValueRef {
    // SAFETY: the new function's parameters are those of the target that are not bound, and the
    // builder writes into its only block.
    unsafe {
        let context = module.context().raw();
        let ty = LLVMGlobalGetValueType(target);
        let ret = LLVMGetReturnType(ty);
        let mut types = vec![std::ptr::null_mut(); bound.len()];
        LLVMGetParamTypes(ty, types.as_mut_ptr());
        let free: Vec<usize> = (0..bound.len()).filter(|&i| bound[i].is_none()).collect();
        let mut params: Vec<LLVMTypeRef> = free.iter().map(|&i| types[i]).collect();
        let own = LLVMFunctionType(ret, params.as_mut_ptr(), params.len() as u32, 0);
        let function = LLVMAddFunction(module.raw(), c_string(name).as_ptr(), own);
        LLVMSetLinkage(function, LLVMInternalLinkage);
        // What is known of the result, of parameters and of the function itself stays known; without
        // the features of the target, it could not be inlined.
        let params = free.iter().map(|&i| i as u32 + 1).zip(1..);
        let others = [0, ll::FUNCTION_INDEX].map(|index| (index, index));
        for (theirs, mine) in params.chain(others) {
            for attribute in ll::attributes(target, theirs) {
                LLVMAddAttributeAtIndex(function, mine, attribute);
            }
        }
        let block = LLVMAppendBasicBlockInContext(context, function, c"".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, block);
        let mut next = (0..).map(|i| LLVMGetParam(function, i));
        let mut passed: Vec<LLVMValueRef> = bound
            .iter()
            .map(|argument| argument.or_else(|| next.next()).unwrap_or_default())
            .collect();
        let count = passed.len() as u32;
        let empty = c"".as_ptr();
        let result = LLVMBuildCall2(builder, ty, target, passed.as_mut_ptr(), count, empty);
        LLVMSetInstructionCallConv(result, LLVMGetFunctionCallConv(target));
        // Only where the target is inlined does it see the constant.
        let word = "alwaysinline";
        let always = LLVMGetEnumAttributeKindForName(word.as_ptr().cast(), word.len());
        let always = LLVMCreateEnumAttribute(context, always, 0);
        LLVMAddCallSiteAttribute(result, llvm_sys::LLVMAttributeFunctionIndex, always);
        match LLVMGetTypeKind(ret) {
            LLVMVoidTypeKind => LLVMBuildRetVoid(builder),
            _ => LLVMBuildRet(builder, result),
        };
        LLVMDisposeBuilder(builder);
        function
    }
}
