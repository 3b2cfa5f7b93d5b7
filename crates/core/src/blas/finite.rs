//! Checks that the arrays of derivatives around a subprogram are finite.

use super::operands::Operands;
use super::reverse::emitter;
use super::{Role, Routine};
use crate::derivative::Key;
use crate::finite::array_checker;
use crate::ir::{FnFlags, Function, Module, Signature, Type};
use crate::support::Callable;

/// A function that takes what a derivative of the subprogram takes, then a message, and checks the
/// arrays of derivatives among that.
pub fn finite(module: &mut Module, key: &Key, routine: Routine) -> Callable {
    let primal = module.funcs[key.func].sig.clone();
    let mut params = match key.reverse {
        true => key.gradient_signature(&primal).params,
        false => key.forward_signature(&primal).params,
    };
    params.push(Type::ptr());
    let sig = Signature::new(params, Type::void());
    let name = module.fresh_name(&format!("{}.check_finite", module.funcs[key.func].name));
    let mut function = Function::with_entry(name, sig.clone());
    function.local = true;
    function.attrs.flags = FnFlags::INACTIVE;
    let args = function.arguments().to_vec();
    let message = args[args.len() - 1];
    let frame = key.reverse.then(|| args[args.len() - 2]);
    let ops = Operands::new(routine, key, &function, frame);
    let check = array_checker(module, routine.kind);
    let entry = function.entry();
    let mut e = emitter(module, &mut function, entry, &ops);
    for (name, role) in routine.names().zip(routine.roles()) {
        for k in 0..key.width as usize {
            if let Some(shadow) = ops.shadow(name, k).filter(|_| role == Role::Array) {
                let size = i128::from(routine.kind.bytes());
                let size = e.builder.func.iconst(Type::i64(), size);
                if routine.is_strided() {
                    let matrix = ops.strided(&mut e, name, shadow);
                    e.each(matrix, matrix, |e, place, _| {
                        let args = vec![place, size, size, message];
                        e.builder.call(check.0, check.1.clone(), args);
                    });
                    continue;
                }
                let bytes = ops.bytes(&mut e, name);
                let args = vec![shadow, bytes, size, message];
                e.builder.call(check.0, check.1.clone(), args);
            }
        }
    }
    e.builder.ret(None);
    (module.funcs.push(function), sig)
}
