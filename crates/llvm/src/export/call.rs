//! Calls and invokes.

use super::attributes::set_call_attributes;
use super::constants::NO_NAME;
use super::{Exporter, Mode};
use crate::ll::{self, LLVMTailCallKind, Ty, Val};
use llvm_sys::core::*;
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_core::ir::{Call, Callee, Edge, Inst};

impl Exporter<'_> {
    /// Writes a call. One that was read from a call keeps the attributes of that call site.
    pub(super) fn call(&mut self, inst: Inst, call: &Call, args: &[Val]) -> Result<Val> {
        let (callee, args) = self.callee(call, args)?;
        if let Some(origin) = self.call_like(inst, args.len(), ll::is_call) {
            let made = self.clone_call(origin, callee, &args);
            // SAFETY: the clone stands in no block yet.
            unsafe { LLVMInsertIntoBuilder(self.builder.0, made) };
            if self.mode == Mode::New {
                // Whether a callee may reuse the caller's frame is another question here.
                ll::set_tail_kind(made, LLVMTailCallKind::LLVMTailCallKindNone);
            }
            return Ok(made);
        }
        let ty = self.origins.function_type(&call.sig);
        let mut args = self.adapt_arguments(args, ty);
        let made = self.build(|b| unsafe {
            LLVMBuildCall2(b, ty, callee, args.as_mut_ptr(), args.len() as u32, NO_NAME)
        });
        self.describe(call, callee, made);
        Ok(made)
    }

    /// Writes an invoke.
    pub(super) fn invoke(
        &mut self,
        inst: Inst,
        call: &Call,
        args: &[Val],
        normal: &Edge,
        unwind: &Edge,
    ) -> Result<Val> {
        let (callee, args) = self.callee(call, args)?;
        if let Some(origin) = self.call_like(inst, args.len(), ll::is_invoke) {
            let made = self.clone_call(origin, callee, &args);
            let then = self.target_of(normal, &[]);
            let catch = self.target_of(unwind, &[normal]);
            ll::set_successor(made, 0, then);
            ll::set_successor(made, 1, catch);
            // SAFETY: the clone stands in no block yet.
            unsafe { LLVMInsertIntoBuilder(self.builder.0, made) };
            return Ok(made);
        }
        let ty = self.origins.function_type(&call.sig);
        let mut args = self.adapt_arguments(args, ty);
        let then = self.target_of(normal, &[]);
        let catch = self.target_of(unwind, &[normal]);
        let made = self.build(|b| unsafe {
            LLVMBuildInvoke2(
                b,
                ty,
                callee,
                args.as_mut_ptr(),
                args.len() as u32,
                then,
                catch,
                NO_NAME,
            )
        });
        self.describe(call, callee, made);
        Ok(made)
    }

    /// The callee and the arguments.
    fn callee(&mut self, call: &Call, args: &[Val]) -> Result<(Val, Vec<Val>)> {
        match (call.callee, args.split_first()) {
            (Callee::Direct(func), _) => Ok((self.callees[&func], args.to_vec())),
            (Callee::Indirect, Some((&callee, rest))) => Ok((callee, rest.to_vec())),
            (Callee::Indirect, None) => Err(Diagnostic::defect(
                "cannot export an indirect call without a callee",
                "it has no operands",
            )),
        }
    }

    /// The call that an instruction was read from, if it still has that shape.
    fn call_like(&self, inst: Inst, args: usize, is_kind: fn(Val) -> bool) -> Option<Val> {
        let origin = self.origin_of(inst)?;
        (is_kind(origin) && ll::arg_count(origin) as usize == args).then_some(origin)
    }

    fn clone_call(&mut self, origin: Val, callee: Val, args: &[Val]) -> Val {
        let wanted: Vec<Ty> = (0..args.len() as u32)
            .map(|i| ll::type_of(ll::operand(origin, i)))
            .collect();
        let args: Vec<Val> = args
            .iter()
            .zip(wanted)
            .map(|(&arg, ty)| self.adapt_to(arg, ty))
            .collect();
        let made = ll::clone_instruction(origin);
        for (i, arg) in args.into_iter().enumerate() {
            ll::set_operand(made, i as u32, arg);
        }
        if ll::called_value(origin) != callee {
            ll::set_operand(made, ll::operand_count(made) - 1, callee);
        }
        made
    }

    /// Clones the call of a mathematical function.
    pub(super) fn clone_math_call(&mut self, inst: Inst, args: &[Val]) -> Option<Val> {
        let origin = self.call_like(inst, args.len(), ll::is_call)?;
        let callee = ll::called_value(origin);
        let made = self.clone_call(origin, callee, args);
        // SAFETY: the clone stands in no block yet.
        unsafe { LLVMInsertIntoBuilder(self.builder.0, made) };
        Some(made)
    }

    fn adapt_arguments(&mut self, args: Vec<Val>, ty: Ty) -> Vec<Val> {
        let wanted = ll::param_types(ty);
        let adapt = |(i, arg): (usize, Val)| match wanted.get(i) {
            Some(&ty) => self.adapt_to(arg, ty),
            None => arg,
        };
        args.into_iter().enumerate().map(adapt).collect()
    }

    /// Gives a new call site its attributes and its calling convention.
    fn describe(&mut self, call: &Call, callee: Val, made: Val) {
        let declared = match call.callee {
            Callee::Direct(func) => Some(&self.module.funcs[func]),
            Callee::Indirect => None,
        };
        set_call_attributes(self.origins, call, declared, made);
        let convention = match (call.convention, ll::is_function(callee)) {
            // SAFETY: the callee is a function.
            (0, true) => unsafe { LLVMGetFunctionCallConv(callee) },
            (convention, _) => convention,
        };
        ll::set_call_convention(made, convention);
    }
}
