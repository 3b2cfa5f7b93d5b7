//! What is known of memory that is made: how large it is, and that its size is an integer.

use super::Cell;
use super::solver::Solver;
use crate::analysis::known;
use crate::ir::{AllocKind, Callee, Function, Module, Op, Value};
use std::collections::HashMap;

impl Solver<'_> {
    /// Besides addresses, allocators are given sizes and alignments.
    pub(super) fn sizes(&mut self, args: &[Value]) {
        let function = self.function;
        for &size in args.iter().filter(|&&arg| function.ty(arg).is_int()) {
            self.learn_bytes(size, &Cell::Int);
        }
    }
}

/// The sizes of frame memory and of new memory, where they are constant.
pub(super) fn extents(module: &Module, function: &Function) -> HashMap<Value, i64> {
    let mut extents = HashMap::new();
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            let size = match &data.op {
                Op::Alloca { ty, .. } => {
                    let count = function.as_int(data.args[0]);
                    count.and_then(|count| count.checked_mul(module.layout.size(*ty).into()))
                }
                Op::Call(call) => match call.callee {
                    Callee::Direct(func) => allocated(&module.funcs[func], function, &data.args),
                    _ => None,
                },
                _ => None,
            };
            let size = size.and_then(|size| i64::try_from(size).ok());
            if let (Some(result), Some(size)) = (function.result(inst), size) {
                extents.insert(result, size);
            }
        }
    }
    extents
}

/// How many bytes a call of a function allocates, where that is constant.
fn allocated(callee: &Function, function: &Function, args: &[Value]) -> Option<i128> {
    let info = known::allocation(callee).filter(|info| info.kind == AllocKind::Alloc)?;
    let sizes = info.size_args.iter();
    let mut sizes = sizes.map(|&at| function.as_int(*args.get(at as usize)?));
    match info.size_args.is_empty() {
        true => None,
        false => sizes.try_fold(1i128, |all, size| all.checked_mul(size?)),
    }
}
