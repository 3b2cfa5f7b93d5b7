//! Where an instruction is in the source program.

use crate::ll;
use crate::raw::value_name;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use zymase_core::diagnostic::{Diagnostic, Link, Place, without_libraries};

/// The place of an instruction, and of the calls through which it was inlined.
///
/// # Safety
/// `instruction` is a live instruction in a function.
pub unsafe fn places_of(instruction: LLVMValueRef) -> Vec<Place> {
    // SAFETY: a debug location has a scope, and scopes have a file or none.
    unsafe {
        let function = value_name(LLVMGetBasicBlockParent(LLVMGetInstructionParent(
            instruction,
        )));
        let context = LLVMGetTypeContext(LLVMTypeOf(instruction));
        let mut places = Vec::new();
        let mut location = LLVMInstructionGetDebugLoc(instruction);
        while !location.is_null() {
            let inlined_at = LLVMDILocationGetInlinedAt(location);
            places.push(Place {
                file: file_of(LLVMDILocationGetScope(location)),
                line: LLVMDILocationGetLine(location),
                column: LLVMDILocationGetColumn(location),
                function: match inlined_at.is_null() {
                    true => function.clone(),
                    false => subprogram_of(context, LLVMDILocationGetScope(location))
                        .unwrap_or_else(|| "an inlined function".to_string()),
                },
                link: Link::Inlined,
            });
            location = inlined_at;
        }
        without_libraries(places)
    }
}

/// A complaint at an instruction.
///
/// # Safety
/// `instruction` is a live instruction in a function.
pub unsafe fn complain_at(
    mut complaint: Box<Diagnostic>,
    instruction: LLVMValueRef,
) -> Box<Diagnostic> {
    // SAFETY: as the caller promises.
    unsafe {
        complaint.places = places_of(instruction);
        let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
        complaint.in_function(&value_name(function))
    }
}

/// Where a global variable is defined, if that is known.
///
/// # Safety
/// `variable` is a live global variable.
pub unsafe fn place_of_variable(variable: LLVMValueRef) -> Option<Place> {
    // SAFETY: the entries are live until they are given back; a variable has a file or none.
    unsafe {
        let mut count = 0;
        let entries = LLVMGlobalCopyAllMetadata(variable, &mut count);
        let mut place = None;
        for i in 0..count as u32 {
            let node = LLVMValueMetadataEntriesGetMetadata(entries, i);
            let wanted = LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind;
            if ll::metadata_kind(node) as u32 == wanted as u32 {
                let declared = LLVMDIGlobalVariableExpressionGetVariable(node);
                place = Some(Place {
                    file: ll::file_name(LLVMDIVariableGetFile(declared)),
                    line: LLVMDIVariableGetLine(declared),
                    column: 0,
                    function: value_name(variable),
                    link: Link::Inlined,
                });
            }
        }
        LLVMDisposeValueMetadataEntries(entries);
        place
    }
}

/// The name of the function that a scope is in.
fn subprogram_of(context: LLVMContextRef, scope: LLVMMetadataRef) -> Option<String> {
    let mut next = scope;
    // Lexical blocks have their scope at 1, subprograms their name at 2.
    while !next.is_null() {
        let operands = ll::node_operands(ll::metadata_as_value(context, next));
        let kind = ll::metadata_kind(next);
        if matches!(kind, LLVMMetadataKind::LLVMDISubprogramMetadataKind) {
            return operands.get(2).and_then(|&v| ll::metadata_string(v));
        }
        let parent = operands.get(1).copied().filter(|v| !v.is_null())?;
        next = ll::as_metadata(parent);
    }
    None
}

/// The file of a scope.
unsafe fn file_of(scope: LLVMMetadataRef) -> String {
    // SAFETY: scopes have a file or none.
    unsafe {
        match scope.is_null() {
            true => String::new(),
            false => ll::file_name(LLVMDIScopeGetFile(scope)),
        }
    }
}
