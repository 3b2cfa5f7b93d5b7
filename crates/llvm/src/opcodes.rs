//! Operations in core and in LLVM, side by side: each table lists LLVM's in the order of core's
//! variants.

use crate::ll::{
    LLVMAtomicOrdering as O, LLVMAtomicRMWBinOp as R, LLVMIntPredicate as I,
    LLVMRealPredicate as F, Opcode as P,
};
use zymase_core::ir::{BinaryOp, CastOp, FloatPred, IntPred, Ordering, RmwOp};

macro_rules! table {
    ($(#[$doc:meta])* $to:ident, $from:ident: $core:ident = $foreign:ident [$($variant:ident)*]) => {
        $(#[$doc])*
        pub fn $to(core: $core) -> $foreign {
            const TABLE: [$foreign; $core::ALL.len()] = [$($foreign::$variant),*];
            TABLE[core as usize]
        }

        /// The way back; none if core does not model it.
        pub fn $from(foreign: $foreign) -> Option<$core> {
            let found = $core::ALL.iter().find(|core| $to(**core) == foreign);
            found.copied()
        }
    };
}

table! {
    /// The opcode of an operation on two values.
    binary_opcode, binary_op: BinaryOp = P [
        LLVMAdd LLVMSub LLVMMul LLVMUDiv LLVMSDiv LLVMURem LLVMSRem LLVMShl LLVMLShr LLVMAShr
        LLVMAnd LLVMOr LLVMXor LLVMFAdd LLVMFSub LLVMFMul LLVMFDiv LLVMFRem
    ]
}

table! {
    /// The opcode of a conversion.
    cast_opcode, cast_op: CastOp = P [
        LLVMTrunc LLVMZExt LLVMSExt LLVMFPTrunc LLVMFPExt LLVMFPToUI LLVMFPToSI LLVMUIToFP
        LLVMSIToFP LLVMPtrToInt LLVMIntToPtr LLVMBitCast LLVMAddrSpaceCast
    ]
}

table! {
    /// The predicate of a comparison of integers.
    int_predicate, int_pred: IntPred = I [
        LLVMIntEQ LLVMIntNE LLVMIntUGT LLVMIntUGE LLVMIntULT LLVMIntULE LLVMIntSGT LLVMIntSGE
        LLVMIntSLT LLVMIntSLE
    ]
}

table! {
    /// The predicate of a comparison of floats.
    float_predicate, float_pred: FloatPred = F [
        LLVMRealPredicateFalse LLVMRealOEQ LLVMRealOGT LLVMRealOGE LLVMRealOLT LLVMRealOLE
        LLVMRealONE LLVMRealORD LLVMRealUEQ LLVMRealUGT LLVMRealUGE LLVMRealULT LLVMRealULE
        LLVMRealUNE LLVMRealUNO LLVMRealPredicateTrue
    ]
}

table! {
    /// The operation of an atomic read-modify-write.
    rmw_operation, rmw_op: RmwOp = R [
        LLVMAtomicRMWBinOpXchg LLVMAtomicRMWBinOpAdd LLVMAtomicRMWBinOpSub LLVMAtomicRMWBinOpAnd
        LLVMAtomicRMWBinOpNand LLVMAtomicRMWBinOpOr LLVMAtomicRMWBinOpXor LLVMAtomicRMWBinOpMax
        LLVMAtomicRMWBinOpMin LLVMAtomicRMWBinOpUMax LLVMAtomicRMWBinOpUMin
        LLVMAtomicRMWBinOpFAdd LLVMAtomicRMWBinOpFSub LLVMAtomicRMWBinOpFMax
        LLVMAtomicRMWBinOpFMin
    ]
}

table! {
    /// An atomic ordering.
    atomic_ordering, ordering: Ordering = O [
        LLVMAtomicOrderingUnordered LLVMAtomicOrderingMonotonic LLVMAtomicOrderingAcquire
        LLVMAtomicOrderingRelease LLVMAtomicOrderingAcquireRelease
        LLVMAtomicOrderingSequentiallyConsistent
    ]
}

/// What messages call an instruction.
pub fn opcode_name(opcode: P) -> String {
    let name = format!("{opcode:?}").to_lowercase();
    name.strip_prefix("llvm").unwrap_or(&name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's name without its prefix must end in core's.
    fn check(core: &str, foreign: &dyn std::fmt::Debug) {
        let foreign = format!("{foreign:?}").to_lowercase();
        let foreign = match foreign.as_str() {
            "llvmatomicorderingacquirerelease" => "acq_rel".to_string(),
            "llvmatomicorderingsequentiallyconsistent" => "seq_cst".to_string(),
            other => other.to_string(),
        };
        assert!(foreign.ends_with(core), "{core} is not {foreign}");
    }

    #[test]
    fn tables_are_in_order() {
        BinaryOp::ALL
            .iter()
            .for_each(|x| check(x.name(), &binary_opcode(*x)));
        CastOp::ALL
            .iter()
            .for_each(|x| check(x.name(), &cast_opcode(*x)));
        IntPred::ALL
            .iter()
            .for_each(|x| check(x.name(), &int_predicate(*x)));
        FloatPred::ALL
            .iter()
            .for_each(|x| check(x.name(), &float_predicate(*x)));
        RmwOp::ALL
            .iter()
            .for_each(|x| check(x.name(), &rmw_operation(*x)));
        Ordering::ALL
            .iter()
            .for_each(|x| check(x.name(), &atomic_ordering(*x)));
        for x in BinaryOp::ALL {
            assert_eq!(binary_op(binary_opcode(*x)), Some(*x));
        }
    }
}
