//! Blocks as a whole: their order, and taking old ones out of a function.

use crate::ll::{self, Bb, Val};
use crate::module::instructions_of;
use llvm_sys::core::*;
use std::collections::HashSet;
use zymase_core::ir::{Block, Function};

/// Makes `&&label` point into the new body.
pub(super) fn redirect_block_addresses(function: Val, old: Bb, new: Bb) {
    let mut taken = Vec::new();
    let mut next = ll::first_use(ll::block_as_value(old));
    while !next.is_null() {
        let user = ll::user(next);
        if ll::is_block_address(user) {
            taken.push(user);
        }
        next = ll::next_use(next);
    }
    for address in taken {
        ll::replace_uses(address, ll::block_address(function, new));
    }
}

/// Deletes blocks that may refer to each other.
///
/// A block deletes its own instructions and debug records, but nothing that others refer to may
/// go before those references do: so values become poison and blocks one empty block first.
pub(super) fn remove_blocks(blocks: &[Bb]) {
    let Some(&first) = blocks.first() else {
        return;
    };
    let function = ll::parent_function(first);
    // SAFETY: the function is alive.
    let empty = unsafe {
        let context = LLVMGetTypeContext(ll::type_of(function));
        LLVMAppendBasicBlockInContext(context, function, c"".as_ptr())
    };
    let mut tokens = Vec::new();
    for &block in blocks {
        // SAFETY: nothing is removed during the walk.
        for inst in unsafe { instructions_of(block) } {
            let ty = ll::type_of(inst);
            match ll::type_kind(ty) {
                ll::LLVMTypeKind::LLVMTokenTypeKind => tokens.push(inst),
                ll::LLVMTypeKind::LLVMVoidTypeKind => {}
                _ if ll::first_use(inst).is_null() => {}
                _ => ll::replace_uses(inst, ll::poison(ty)),
            }
        }
    }
    // Tokens have no poison, so those who use them go first.
    let mut erased = HashSet::new();
    for token in tokens {
        if !erased.contains(&token) {
            erase_users(token, &mut erased);
        }
    }
    for &block in blocks {
        ll::replace_uses(ll::block_as_value(block), ll::block_as_value(empty));
    }
    for &block in blocks {
        ll::delete_block(block);
    }
    ll::delete_block(empty);
}

fn erase_users(token: Val, erased: &mut HashSet<Val>) {
    let mut next = ll::first_use(token);
    while !next.is_null() {
        let user = ll::user(next);
        erase_users(user, erased);
        ll::erase_instruction(user);
        erased.insert(user);
        next = ll::first_use(token);
    }
}

/// The blocks that control can reach, each after at least one block that leads to it.
pub(super) fn reverse_postorder(function: &Function) -> Vec<Block> {
    let mut seen = HashSet::from([function.entry()]);
    let mut stack = vec![(function.entry(), function.successors(function.entry()))];
    let mut order = Vec::new();
    while let Some((block, left)) = stack.last_mut() {
        match left.pop() {
            Some(next) if seen.insert(next) => stack.push((next, function.successors(next))),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
