//! Makes calls of functions without a body call the [library body](crate::rules::library) that
//! stands for them in derivatives.
//!
//! Only for functions that are about to be differentiated: a body agrees with the function of the
//! runtime wherever the result is finite, and is not meant to replace it in other code.
//!
//! Before: any function. After: calls and invokes of complex arithmetic and functions lead to functions
//! that the module defines, unless they are marked as no builtins.

use crate::analysis::known;
use crate::ir::{Callee, Func, Function, Inst, Module, Op};
use crate::rules::library;

/// Redirects the calls in one function; whether anything changed.
pub fn run(module: &mut Module, func: Func) -> bool {
    let function = &module.funcs[func];
    let insts = function
        .blocks()
        .iter()
        .flat_map(|&b| function.block_insts(b));
    let insts: Vec<Inst> = insts.copied().collect();
    let mut changed = false;
    for inst in insts {
        let Some(body) = body_for(module, func, inst) else {
            continue;
        };
        let callee = Callee::Direct(module.declare(body));
        let data = module.funcs[func].inst_mut(inst);
        if let Op::Call(call) | Op::Invoke { call, .. } = &mut data.op {
            call.callee = callee;
            data.origin = None;
            changed = true;
        }
    }
    changed
}

fn body_for(module: &Module, func: Func, inst: Inst) -> Option<Function> {
    let call = module.funcs[func].inst(inst).op.call()?;
    let callee = known::library_callee(module, call)?;
    library::body_of(&callee.name, &call.sig)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Signature, Type};

    fn redirected(name: &str) -> Option<String> {
        let part = Type::f64();
        let ret = Type::structure(vec![part, part]);
        let sig = Signature::new(vec![part; 4], ret);
        let mut module = Module::new();
        let callee = module.declare(Function::new(name, sig.clone()));
        let mut function = Function::with_entry("f", sig.clone());
        let (entry, arguments) = (function.entry(), function.arguments().to_vec());
        let mut builder = Builder::new(&mut function, entry);
        let result = builder.call(callee, sig, arguments);
        builder.ret(result);
        let func = module.funcs.push(function);
        if !run(&mut module, func) {
            return None;
        }
        assert!(!run(&mut module, func), "bodies are not redirected again");
        let function = &module.funcs[func];
        let inst = function.block_insts(entry)[0];
        match function.inst(inst).op.call()?.callee {
            Callee::Direct(callee) if !module.funcs[callee].is_declaration() => {
                Some(module.funcs[callee].name.clone())
            }
            _ => None,
        }
    }

    #[test]
    fn complex_arithmetic_is_redirected_and_nothing_else() {
        let expected = Some("zymase.__muldc3".to_string());
        assert_eq!(redirected("__muldc3"), expected);
        assert_eq!(redirected("__mulsc3"), None);
        assert_eq!(redirected("other"), None);
    }
}
