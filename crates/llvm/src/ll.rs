//! LLVM's C API with short names and without `unsafe` at each call, for import and export.
//!
//! Handles have no lifetimes, so the compiler cannot check these calls. What makes them sound is
//! one invariant: every handle that import and export hold comes from the module they work on,
//! which they keep alive, and nothing is deleted while a handle to it is in use. Calls that need
//! more than live handles of the right kind say so here.

use crate::raw;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
pub use llvm_sys::prelude::{
    LLVMAttributeRef as Attr, LLVMBasicBlockRef as Bb, LLVMBuilderRef as Bld,
    LLVMContextRef as Ctx, LLVMDbgRecordRef as Rec, LLVMMetadataRef as Md, LLVMModuleRef as Mdl,
    LLVMTypeRef as Ty, LLVMUseRef as Use, LLVMValueRef as Val,
};
pub use llvm_sys::target::LLVMTargetDataRef as Data;
use llvm_sys::target::*;
pub use llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMDbgRecordKind, LLVMIntPredicate, LLVMLinkage,
    LLVMOpcode as Opcode, LLVMRealPredicate, LLVMTailCallKind, LLVMTypeKind, LLVMValueKind as Kind,
};
use std::path::Path;

macro_rules! wrap {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? = $foreign:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: the handles are live and of the right kind, as the module says.
            unsafe { $foreign($($arg),*) }
        }
    )*};
}

macro_rules! wrap_bool {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) = $foreign:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $ty),*) -> bool {
            // SAFETY: the handles are live and of the right kind, as the module says.
            unsafe { $foreign($($arg),*) != 0 }
        }
    )*};
}

macro_rules! wrap_is_a {
    ($(fn $name:ident = $foreign:ident;)*) => {$(
        #[inline]
        pub fn $name(v: Val) -> bool {
            // SAFETY: any live value may be asked what it is.
            unsafe { !$foreign(v).is_null() }
        }
    )*};
}

wrap! {
    fn type_of(v: Val) -> Ty = LLVMTypeOf;
    fn type_kind(t: Ty) -> LLVMTypeKind = LLVMGetTypeKind;
    fn int_width(t: Ty) -> u32 = LLVMGetIntTypeWidth;
    fn address_space(t: Ty) -> u32 = LLVMGetPointerAddressSpace;
    fn element_type(t: Ty) -> Ty = LLVMGetElementType;
    fn vector_size(t: Ty) -> u32 = LLVMGetVectorSize;
    fn array_length(t: Ty) -> u64 = LLVMGetArrayLength2;
    fn field_count(t: Ty) -> u32 = LLVMCountStructElementTypes;
    fn field_type(t: Ty, i: u32) -> Ty = LLVMStructGetTypeAtIndex;
    fn return_type(t: Ty) -> Ty = LLVMGetReturnType;
    fn value_kind(v: Val) -> Kind = LLVMGetValueKind;
    fn operand(v: Val, i: u32) -> Val = LLVMGetOperand;
    fn operand_use(v: Val, i: u32) -> Use = LLVMGetOperandUse;
    fn set_operand(v: Val, i: u32, x: Val) = LLVMSetOperand;
    fn first_use(v: Val) -> Use = LLVMGetFirstUse;
    fn next_use(u: Use) -> Use = LLVMGetNextUse;
    fn user(u: Use) -> Val = LLVMGetUser;
    fn replace_uses(v: Val, by: Val) = LLVMReplaceAllUsesWith;
    fn opcode(v: Val) -> Opcode = LLVMGetInstructionOpcode;
    fn constant_opcode(v: Val) -> Opcode = LLVMGetConstOpcode;
    fn constant_bitcast(v: Val, t: Ty) -> Val = LLVMConstBitCast;
    fn aggregate_element(v: Val, i: u32) -> Val = LLVMGetAggregateElement;
    fn int_zext(v: Val) -> u64 = LLVMConstIntGetZExtValue;
    fn int_sext(v: Val) -> i64 = LLVMConstIntGetSExtValue;
    fn linkage(v: Val) -> LLVMLinkage = LLVMGetLinkage;
    fn value_type(v: Val) -> Ty = LLVMGlobalGetValueType;
    fn initializer(v: Val) -> Val = LLVMGetInitializer;
    fn aliasee(v: Val) -> Val = LLVMAliasGetAliasee;
    fn alignment(v: Val) -> u32 = LLVMGetAlignment;
    fn set_alignment(v: Val, n: u32) = LLVMSetAlignment;
    fn param(f: Val, i: u32) -> Val = LLVMGetParam;
    fn intrinsic_id(f: Val) -> u32 = LLVMGetIntrinsicID;
    fn called_value(v: Val) -> Val = LLVMGetCalledValue;
    fn called_type(v: Val) -> Ty = LLVMGetCalledFunctionType;
    fn arg_count(v: Val) -> u32 = LLVMGetNumArgOperands;
    fn bundle_count(v: Val) -> u32 = LLVMGetNumOperandBundles;
    fn call_convention(v: Val) -> u32 = LLVMGetInstructionCallConv;
    fn set_call_convention(v: Val, c: u32) = LLVMSetInstructionCallConv;
    fn set_tail_kind(v: Val, k: LLVMTailCallKind) = LLVMSetTailCallKind;
    fn successor_count(v: Val) -> u32 = LLVMGetNumSuccessors;
    fn successor(v: Val, i: u32) -> Bb = LLVMGetSuccessor;
    fn set_successor(v: Val, i: u32, b: Bb) = LLVMSetSuccessor;
    fn condition(v: Val) -> Val = LLVMGetCondition;
    /// The value of the case whose successor has this number, from 1.
    fn case_value(v: Val, i: u32) -> Val = LLVMGetSwitchCaseValue;
    fn terminator(b: Bb) -> Val = LLVMGetBasicBlockTerminator;
    fn first_block(f: Val) -> Bb = LLVMGetFirstBasicBlock;
    fn block_as_value(b: Bb) -> Val = LLVMBasicBlockAsValue;
    fn parent_block(v: Val) -> Bb = LLVMGetInstructionParent;
    fn parent_function(b: Bb) -> Val = LLVMGetBasicBlockParent;
    fn block_address(f: Val, b: Bb) -> Val = LLVMBlockAddress;
    fn incoming_count(v: Val) -> u32 = LLVMCountIncoming;
    fn incoming_value(v: Val, i: u32) -> Val = LLVMGetIncomingValue;
    fn incoming_block(v: Val, i: u32) -> Bb = LLVMGetIncomingBlock;
    fn int_predicate(v: Val) -> LLVMIntPredicate = LLVMGetICmpPredicate;
    fn float_predicate(v: Val) -> LLVMRealPredicate = LLVMGetFCmpPredicate;
    fn allocated_type(v: Val) -> Ty = LLVMGetAllocatedType;
    fn gep_type(v: Val) -> Ty = LLVMGetGEPSourceElementType;
    fn gep_flags(v: Val) -> u32 = LLVMGEPGetNoWrapFlags;
    fn fast_math(v: Val) -> u32 = LLVMGetFastMathFlags;
    fn set_fast_math(v: Val, flags: u32) = LLVMSetFastMathFlags;
    fn ordering(v: Val) -> LLVMAtomicOrdering = LLVMGetOrdering;
    fn set_ordering(v: Val, o: LLVMAtomicOrdering) = LLVMSetOrdering;
    fn success_ordering(v: Val) -> LLVMAtomicOrdering = LLVMGetCmpXchgSuccessOrdering;
    fn failure_ordering(v: Val) -> LLVMAtomicOrdering = LLVMGetCmpXchgFailureOrdering;
    fn sync_scope(v: Val) -> u32 = LLVMGetAtomicSyncScopeID;
    fn set_sync_scope(v: Val, s: u32) = LLVMSetAtomicSyncScopeID;
    fn rmw_operation(v: Val) -> LLVMAtomicRMWBinOp = LLVMGetAtomicRMWBinOp;
    fn mask_length(v: Val) -> u32 = LLVMGetNumMaskElements;
    fn mask_value(v: Val, i: u32) -> i32 = LLVMGetMaskValue;
    fn clone_instruction(v: Val) -> Val = LLVMInstructionClone;
    fn erase_instruction(v: Val) = LLVMInstructionEraseFromParent;
    fn delete_block(b: Bb) = LLVMDeleteBasicBlock;
    fn metadata(v: Val, kind: u32) -> Val = LLVMGetMetadata;
    fn set_metadata(v: Val, kind: u32, node: Val) = LLVMSetMetadata;
    fn as_metadata(v: Val) -> Md = LLVMValueAsMetadata;
    fn metadata_as_value(c: Ctx, m: Md) -> Val = LLVMMetadataAsValue;
    fn debug_location(v: Val) -> Md = LLVMInstructionGetDebugLoc;
    fn set_debug_location(v: Val, m: Md) = LLVMInstructionSetDebugLoc;
    fn location_line(m: Md) -> u32 = LLVMDILocationGetLine;
    fn location_column(m: Md) -> u32 = LLVMDILocationGetColumn;
    fn location_scope(m: Md) -> Md = LLVMDILocationGetScope;
    fn location_inlined_at(m: Md) -> Md = LLVMDILocationGetInlinedAt;
    fn make_location(c: Ctx, line: u32, column: u32, scope: Md, at: Md) -> Md = LLVMDIBuilderCreateDebugLocation;
    fn scope_file(m: Md) -> Md = LLVMDIScopeGetFile;
    fn subprogram(f: Val) -> Md = LLVMGetSubprogram;
    fn set_subprogram(f: Val, m: Md) = LLVMSetSubprogram;
    fn metadata_kind(m: Md) -> LLVMMetadataKind = LLVMGetMetadataKind;
    fn first_record(v: Val) -> Rec = LLVMGetFirstDbgRecord;
    fn next_record(r: Rec) -> Rec = LLVMGetNextDbgRecord;
    fn record_kind(r: Rec) -> LLVMDbgRecordKind = LLVMDbgRecordGetKind;
    fn record_value(r: Rec, i: u32) -> Val = LLVMDbgVariableRecordGetValue;
    fn record_variable(r: Rec) -> Md = LLVMDbgVariableRecordGetVariable;
    fn record_expression(r: Rec) -> Md = LLVMDbgVariableRecordGetExpression;
    fn variable_of_expression(m: Md) -> Md = LLVMDIGlobalVariableExpressionGetVariable;
    fn tag(m: Md) -> u16 = LLVMGetDINodeTag;
    fn type_size(m: Md) -> u64 = LLVMDITypeGetSizeInBits;
    fn type_offset(m: Md) -> u64 = LLVMDITypeGetOffsetInBits;
    fn type_flags(m: Md) -> LLVMDIFlags = LLVMDITypeGetFlags;
    fn module_layout(m: Mdl) -> Data = LLVMGetModuleDataLayout;
    fn pointer_size(d: Data) -> u32 = LLVMPointerSize;
    fn byte_order(d: Data) -> LLVMByteOrdering = LLVMByteOrder;
    fn abi_size(d: Data, t: Ty) -> u64 = LLVMABISizeOfType;
    fn store_size(d: Data, t: Ty) -> u64 = LLVMStoreSizeOfType;
    fn abi_align(d: Data, t: Ty) -> u32 = LLVMABIAlignmentOfType;
    fn field_offset(d: Data, t: Ty, i: u32) -> u64 = LLVMOffsetOfElement;
    fn global_align(d: Data, g: Val) -> u32 = LLVMPreferredAlignmentOfGlobal;
    fn attribute_kind(a: Attr) -> u32 = LLVMGetEnumAttributeKind;
    fn attribute_value(a: Attr) -> u64 = LLVMGetEnumAttributeValue;
    fn attribute_type(a: Attr) -> Ty = LLVMGetTypeAttributeValue;
    fn int_type(c: Ctx, bits: u32) -> Ty = LLVMIntTypeInContext;
    fn half_type(c: Ctx) -> Ty = LLVMHalfTypeInContext;
    fn bfloat_type(c: Ctx) -> Ty = LLVMBFloatTypeInContext;
    fn float_type(c: Ctx) -> Ty = LLVMFloatTypeInContext;
    fn double_type(c: Ctx) -> Ty = LLVMDoubleTypeInContext;
    fn x87_type(c: Ctx) -> Ty = LLVMX86FP80TypeInContext;
    fn quad_type(c: Ctx) -> Ty = LLVMFP128TypeInContext;
    fn void_type(c: Ctx) -> Ty = LLVMVoidTypeInContext;
    fn pointer_type(c: Ctx, space: u32) -> Ty = LLVMPointerTypeInContext;
    fn vector_type(t: Ty, n: u32) -> Ty = LLVMVectorType;
    fn array_type(t: Ty, n: u64) -> Ty = LLVMArrayType2;
    fn null(t: Ty) -> Val = LLVMConstNull;
    fn undef(t: Ty) -> Val = LLVMGetUndef;
    fn poison(t: Ty) -> Val = LLVMGetPoison;
    fn personality(f: Val) -> Val = LLVMGetPersonalityFn;
    fn set_personality(f: Val, p: Val) = LLVMSetPersonalityFn;
    fn set_linkage(v: Val, l: LLVMLinkage) = LLVMSetLinkage;
    fn add_call_attribute(v: Val, i: u32, a: Attr) = LLVMAddCallSiteAttribute;
    fn add_function_attribute(v: Val, i: u32, a: Attr) = LLVMAddAttributeAtIndex;
    fn enum_attribute(c: Ctx, kind: u32, value: u64) -> Attr = LLVMCreateEnumAttribute;
    fn type_attribute(c: Ctx, kind: u32, t: Ty) -> Attr = LLVMCreateTypeAttribute;
    fn function_attribute(f: Val, i: u32, kind: u32) -> Attr = LLVMGetEnumAttributeAtIndex;
}

wrap_bool! {
    fn is_packed(t: Ty) = LLVMIsPackedStruct;
    fn is_opaque_struct(t: Ty) = LLVMIsOpaqueStruct;
    fn is_sized(t: Ty) = LLVMTypeIsSized;
    fn is_variadic(t: Ty) = LLVMIsFunctionVarArg;
    fn is_declaration(v: Val) = LLVMIsDeclaration;
    fn is_thread_local(v: Val) = LLVMIsThreadLocal;
    fn is_constant_global(v: Val) = LLVMIsGlobalConstant;
    fn is_externally_initialized(v: Val) = LLVMIsExternallyInitialized;
    fn is_conditional(v: Val) = LLVMIsConditional;
    fn has_personality(v: Val) = LLVMHasPersonalityFn;
    fn nsw(v: Val) = LLVMGetNSW;
    fn nuw(v: Val) = LLVMGetNUW;
    fn exact(v: Val) = LLVMGetExact;
    fn nneg(v: Val) = LLVMGetNNeg;
    fn disjoint(v: Val) = LLVMGetIsDisjoint;
    fn same_sign(v: Val) = LLVMGetICmpSameSign;
    fn may_have_fast_math(v: Val) = LLVMCanValueUseFastMathFlags;
    fn is_volatile(v: Val) = LLVMGetVolatile;
    fn is_weak(v: Val) = LLVMGetWeak;
    fn is_enum_attribute(a: Attr) = LLVMIsEnumAttribute;
    fn is_string_attribute(a: Attr) = LLVMIsStringAttribute;
}

wrap_is_a! {
    fn is_function = LLVMIsAFunction;
    fn is_instruction = LLVMIsAInstruction;
    fn is_call = LLVMIsACallInst;
    fn is_invoke = LLVMIsAInvokeInst;
    fn is_constant = LLVMIsAConstant;
    fn is_inline_assembly = LLVMIsAInlineAsm;
    fn is_block = LLVMIsABasicBlock;
    fn is_block_address = LLVMIsABlockAddress;
    fn is_global_alias = LLVMIsAGlobalAlias;
    fn is_debug_intrinsic = LLVMIsADbgInfoIntrinsic;
    fn is_phi = LLVMIsAPHINode;
    fn is_terminator = LLVMIsATerminatorInst;
    fn is_constant_int = LLVMIsAConstantInt;
    fn is_metadata_node = LLVMIsAMDNode;
    fn is_metadata_string = LLVMIsAMDString;
    fn is_constant_expression = LLVMIsAConstantExpr;
}

/// The number of operands.
pub fn operand_count(v: Val) -> u32 {
    // SAFETY: `v` is a live user.
    unsafe { LLVMGetNumOperands(v).max(0) as u32 }
}

/// The types of a function type's parameters.
pub fn param_types(t: Ty) -> Vec<Ty> {
    // SAFETY: the buffer has room for every parameter.
    unsafe {
        let mut out = vec![std::ptr::null_mut(); LLVMCountParamTypes(t) as usize];
        LLVMGetParamTypes(t, out.as_mut_ptr());
        out
    }
}

/// The index path of an extractvalue or insertvalue.
pub fn indices(v: Val) -> Vec<u32> {
    // SAFETY: the pointer is to as many indices as LLVM says.
    unsafe {
        let len = LLVMGetNumIndices(v) as usize;
        match len {
            0 => Vec::new(),
            _ => std::slice::from_raw_parts(LLVMGetIndices(v), len).to_vec(),
        }
    }
}

/// The constraints of inline assembly: its operands and what it clobbers.
pub fn assembly_constraints(v: Val) -> String {
    assembly_string(v, LLVMGetInlineAsmConstraintString)
}

/// The instructions of inline assembly.
pub fn assembly_instructions(v: Val) -> String {
    assembly_string(v, LLVMGetInlineAsmAsmString)
}

fn assembly_string(
    v: Val,
    get: unsafe extern "C" fn(Val, *mut usize) -> *const std::ffi::c_char,
) -> String {
    // SAFETY: the assembly is alive, and LLVM says how long the text is.
    unsafe {
        let mut len = 0;
        let text = get(v, &mut len);
        match text.is_null() {
            true => String::new(),
            false => String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), len)).into(),
        }
    }
}

/// The operands of a metadata node, each as a value; null where there is none.
pub fn node_operands(v: Val) -> Vec<Val> {
    // SAFETY: the buffer has room for every operand.
    unsafe {
        let mut out = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(v) as usize];
        LLVMGetMDNodeOperands(v, out.as_mut_ptr());
        out
    }
}

/// The text of a metadata string; none if the value is null or something else.
pub fn metadata_string(v: Val) -> Option<String> {
    if v.is_null() || !is_metadata_string(v) {
        return None;
    }
    let mut len = 0;
    // SAFETY: the text lives as long as the context.
    unsafe {
        let start = LLVMGetMDString(v, &mut len);
        Some(raw::text(start, len as usize))
    }
}

/// The name of a type in debug information.
pub fn type_name(ty: Md) -> String {
    let mut len = 0;
    // SAFETY: the text lives as long as the context.
    unsafe {
        let start = LLVMDITypeGetName(ty, &mut len);
        raw::text(start, len)
    }
}

/// The expression of debug information that says nothing. There is one in a context.
pub fn empty_expression(m: Mdl) -> Md {
    // SAFETY: an empty list of operations is read; nothing is left to be finalized.
    unsafe {
        let builder = LLVMCreateDIBuilder(m);
        let expression = LLVMDIBuilderCreateExpression(builder, std::ptr::null_mut(), 0);
        LLVMDisposeDIBuilder(builder);
        expression
    }
}

/// The metadata of one kind of a global variable.
pub fn global_metadata(global: Val, kind: u32) -> Option<Md> {
    let mut count = 0;
    // SAFETY: the entries are as many as LLVM says, and disposed of once.
    unsafe {
        let entries = LLVMGlobalCopyAllMetadata(global, &mut count);
        let found = (0..count as u32)
            .find(|&i| LLVMValueMetadataEntriesGetKind(entries, i) == kind)
            .map(|i| LLVMValueMetadataEntriesGetMetadata(entries, i));
        LLVMDisposeValueMetadataEntries(entries);
        found
    }
}

/// The name of a file in debug information, as the compiler was given it; with its folder if it is
/// found there and not here, as those of other packages are.
pub fn file_name(file: Md) -> String {
    if file.is_null() {
        return String::new();
    }
    let mut len = 0;
    // SAFETY: the texts live as long as the context.
    let (name, folder) = unsafe {
        let start = LLVMDIFileGetFilename(file, &mut len);
        let name = raw::text(start, len as usize);
        let start = LLVMDIFileGetDirectory(file, &mut len);
        (name, raw::text(start, len as usize))
    };
    if Path::new(&name).is_absolute() || Path::new(&name).exists() || folder.is_empty() {
        return name;
    }
    let whole = Path::new(&folder).join(&name);
    match whole.exists() {
        true => whole.display().to_string(),
        false => name,
    }
}

/// The raw bytes of a constant array or vector of plain data.
pub fn raw_data<'a>(v: Val) -> &'a [u8] {
    let mut len = 0usize;
    // SAFETY: LLVM keeps the bytes as long as the constant. The binding declares the second
    // parameter as a number; in LLVM's header it is the address that gets the length.
    unsafe {
        let start = LLVMGetRawDataValues(v, (&raw mut len).expose_provenance());
        raw::bytes(start, len)
    }
}

/// The text form of a value.
pub fn print_value(v: Val) -> String {
    // SAFETY: the message becomes ours.
    unsafe { raw::take_message(LLVMPrintValueToString(v)) }
}

/// The text form of a type.
pub fn print_type(t: Ty) -> String {
    // SAFETY: the message becomes ours.
    unsafe { raw::take_message(LLVMPrintTypeToString(t)) }
}

/// The name of a value.
pub fn name(v: Val) -> String {
    // SAFETY: the value is alive.
    unsafe { raw::value_name(v) }
}

/// The number of a metadata kind.
pub fn metadata_kind_id(c: Ctx, name: &str) -> u32 {
    // SAFETY: LLVM reads `len` bytes.
    unsafe { LLVMGetMDKindIDInContext(c, name.as_ptr().cast(), name.len() as u32) }
}

/// The number of an attribute; 0 if LLVM has none of this name.
pub fn attribute_kind_id(name: &str) -> u32 {
    // SAFETY: LLVM reads `len` bytes.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// The index that stands for the function itself among attribute indices.
pub const FUNCTION_INDEX: u32 = !0;

/// The attributes of a function at an index.
pub fn attributes(f: Val, index: u32) -> Vec<Attr> {
    // SAFETY: the buffer has room for every attribute.
    unsafe {
        let mut out = vec![std::ptr::null_mut(); LLVMGetAttributeCountAtIndex(f, index) as usize];
        LLVMGetAttributesAtIndex(f, index, out.as_mut_ptr());
        out
    }
}

/// The attributes of a call site at an index.
pub fn call_attributes(v: Val, index: u32) -> Vec<Attr> {
    // SAFETY: the buffer has room for every attribute.
    unsafe {
        let mut out = vec![std::ptr::null_mut(); LLVMGetCallSiteAttributeCount(v, index) as usize];
        LLVMGetCallSiteAttributes(v, index, out.as_mut_ptr());
        out
    }
}

/// The value of a function's string attribute.
pub fn string_attribute(f: Val, key: &str) -> Option<String> {
    // SAFETY: LLVM reads `len` bytes of the key; the text lives as long as the context.
    unsafe {
        let attribute =
            LLVMGetStringAttributeAtIndex(f, FUNCTION_INDEX, key.as_ptr().cast(), key.len() as u32);
        if attribute.is_null() {
            return None;
        }
        let mut len = 0;
        let start = LLVMGetStringAttributeValue(attribute, &mut len);
        Some(raw::text(start, len as usize))
    }
}

/// Removes a string attribute of a function, if it is there.
pub fn remove_string_attribute(f: Val, key: &str) {
    // SAFETY: LLVM reads `len` bytes of the key.
    unsafe {
        LLVMRemoveStringAttributeAtIndex(f, FUNCTION_INDEX, key.as_ptr().cast(), key.len() as u32);
    }
}

/// Gives a function a string attribute.
pub fn set_string_attribute(c: Ctx, f: Val, key: &str, value: &str) {
    // SAFETY: LLVM copies both strings.
    unsafe {
        let attribute = LLVMCreateStringAttribute(
            c,
            key.as_ptr().cast(),
            key.len() as u32,
            value.as_ptr().cast(),
            value.len() as u32,
        );
        LLVMAddAttributeAtIndex(f, FUNCTION_INDEX, attribute);
    }
}

/// A metadata node, as a value.
pub fn make_node(c: Ctx, operands: &[Md]) -> Md {
    // SAFETY: LLVM copies the operands.
    unsafe { LLVMMDNodeInContext2(c, operands.as_ptr().cast_mut(), operands.len()) }
}

/// A node whose first operand is itself, so that it equals no other. There must be more operands:
/// LLVM takes a node of one operand for that operand when it becomes a value.
pub fn make_self_node(c: Ctx, rest: &[Md]) -> Md {
    let mut operands = vec![std::ptr::null_mut()];
    operands.extend(rest);
    let node = make_node(c, &operands);
    // SAFETY: the node is not shared: one with the same operands became distinct when its own
    // first operand was set.
    unsafe { LLVMReplaceMDNodeOperandWith(metadata_as_value(c, node), 0, node) };
    node
}

/// A metadata string.
pub fn make_string(c: Ctx, text: &str) -> Md {
    // SAFETY: LLVM copies the text.
    unsafe { LLVMMDStringInContext2(c, text.as_ptr().cast(), text.len()) }
}

/// Every metadata of an instruction except its location: kind and node.
pub fn all_metadata(v: Val) -> Vec<(u32, Md)> {
    // In spite of its name the function gives the location too, whose kind is always 0.
    const LOCATION: u32 = 0;
    // SAFETY: the entries are read before they are freed.
    unsafe {
        let mut len = 0;
        let entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(v, &mut len);
        let out = (0..len as u32)
            .map(|i| {
                let kind = LLVMValueMetadataEntriesGetKind(entries, i);
                (kind, LLVMValueMetadataEntriesGetMetadata(entries, i))
            })
            .filter(|(kind, _)| *kind != LOCATION)
            .collect();
        LLVMDisposeValueMetadataEntries(entries);
        out
    }
}

/// A structure type without a name.
pub fn struct_type(c: Ctx, fields: &[Ty], packed: bool) -> Ty {
    // SAFETY: LLVM copies the fields.
    unsafe {
        LLVMStructTypeInContext(
            c,
            fields.as_ptr().cast_mut(),
            fields.len() as u32,
            packed.into(),
        )
    }
}

/// A function type.
pub fn function_type(ret: Ty, params: &[Ty], variadic: bool) -> Ty {
    // SAFETY: LLVM copies the parameters.
    unsafe {
        LLVMFunctionType(
            ret,
            params.as_ptr().cast_mut(),
            params.len() as u32,
            variadic.into(),
        )
    }
}

/// An integer constant of up to 128 bits.
pub fn int_constant(t: Ty, n: u128) -> Val {
    let words = [n as u64, (n >> 64) as u64];
    // SAFETY: LLVM reads two words, and cuts them to the width of the type.
    unsafe { LLVMConstIntOfArbitraryPrecision(t, 2, words.as_ptr()) }
}
