//! Copies that relocate memory: is the destination new, and the source freed right afterwards?
//!
//! That is what a reallocation has become. Nobody used the destination before, and nobody uses the
//! source again, so the reverse of such a copy moves the whole shadow back as it is: no adjoint is
//! added to another, and it does not matter which types the bytes are of.

use crate::analysis::known;
use crate::ir::{AllocInfo, AllocKind, Callee, Function, Inst, Module, Op};
use cranelift_entity::EntitySet;

/// The copies of a function that relocate memory.
pub fn relocations(module: &Module, function: &Function) -> EntitySet<Inst> {
    let mut found = EntitySet::new();
    for &block in function.blocks() {
        for insts in function.block_insts(block).windows(3) {
            if is_relocation(module, function, [insts[0], insts[1], insts[2]]) {
                found.insert(insts[1]);
            }
        }
    }
    found
}

/// Whether three instructions in a row make memory, copy to it, and free what was copied.
fn is_relocation(module: &Module, function: &Function, [made, copy, freed]: [Inst; 3]) -> bool {
    let data = function.inst(copy);
    let (Op::MemCopy { .. }, [to, from, _]) = (&data.op, &data.args[..]) else {
        return false;
    };
    let is_freed = |info: AllocInfo| {
        let position = info.ptr_arg.unwrap_or(0) as usize;
        info.kind == AllocKind::Free && function.inst(freed).args.get(position) == Some(from)
    };
    function.result(made) == Some(*to)
        && allocation(module, function, made).is_some_and(|info| info.kind == AllocKind::Alloc)
        && allocation(module, function, freed).is_some_and(is_freed)
}

/// What a call allocates or frees.
fn allocation(module: &Module, function: &Function, inst: Inst) -> Option<AllocInfo> {
    match function.inst(inst).op.call()?.callee {
        Callee::Direct(func) => known::allocation(&module.funcs[func]),
        _ => None,
    }
}
