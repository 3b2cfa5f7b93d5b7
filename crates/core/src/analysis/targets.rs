//! Which functions a call through a pointer may reach.
//!
//! A pointer holds the address of a function only if something took that address, so these are
//! the functions of the call's type whose address is taken anywhere in the program. Whoever makes
//! the module sees to it that they are all in it.

use crate::analysis::known;
use crate::ir::{Call, Callee, FnFlags, Func, Module};

/// The functions that a call may run: the one it names, or those that its pointer may lead to.
pub fn targets_of(module: &Module, call: &Call) -> Vec<Func> {
    match call.callee {
        Callee::Direct(func) => vec![func],
        Callee::Indirect => {
            let fits = |&func: &Func| module.funcs[func].sig == call.sig;
            address_taken(module).filter(fits).collect()
        }
    }
}

/// Whether a function that some pointer leads to can have a derivative. One that allocates, frees
/// or never returns is not dispatched to: destructors and clean-up functions have the types of many
/// others.
pub fn is_dispatched(module: &Module, func: Func) -> bool {
    let function = &module.funcs[func];
    known::allocation(function).is_none() && !function.attrs.flags.contains(FnFlags::NORETURN)
}

fn address_taken(module: &Module) -> impl Iterator<Item = Func> + '_ {
    let funcs = module.funcs.iter();
    funcs
        // Functions of our own are called from code of our own.
        .filter(|(_, function)| function.address_taken && !function.name.starts_with("zymase."))
        .map(|(func, _)| func)
}
