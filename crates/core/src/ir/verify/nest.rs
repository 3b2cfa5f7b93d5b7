//! Nests: their operands, and a body that computes numbers from numbers.

use super::rules::{Check, is_ptr, no_result, same};
use super::{Verifier, counted};
use crate::ir::{Constant, Inst, InstData, Nest, Type, Value, may_stand_in_body};

impl Verifier<'_> {
    pub(super) fn nest(
        &mut self,
        nest: &Nest,
        data: &InstData,
        types: &[Type],
        result: Type,
    ) -> Check {
        no_result(result)?;
        if nest.depth == 0 || nest.outputs.is_empty() {
            return Err("a nest has at least one loop and one output".to_string());
        }
        let (body, params) = (&nest.body.func, nest.body.params());
        let before = nest.depth + nest.inputs.len();
        let wanted = nest.outside() + params.len().saturating_sub(before);
        if params.len() < before || types.len() != wanted {
            return Err(format!(
                "{}, {wanted} expected",
                counted(types.len(), "operand")
            ));
        }
        for level in 0..nest.depth {
            for &ty in &types[nest.bound(level)] {
                same("a bound", ty, Type::i64())?;
            }
            same("a counter", body.ty(nest.counter(level)), Type::i64())?;
        }
        for view in 0..nest.inputs.len() + nest.outputs.len() {
            let operands = &types[nest.view(view)];
            is_ptr("the address of a view", operands[0])?;
            for &ty in &operands[1..] {
                same("a distance in a view", ty, Type::i64())?;
            }
        }
        if nest.accesses().any(|a| a.volatile || a.atomic.is_some()) {
            return Err("a nest with a volatile or atomic access".to_string());
        }
        for input in 0..nest.inputs.len() {
            scalar("an input", body.ty(nest.element(input)))?;
        }
        for (&param, &ty) in nest.taken().iter().zip(&types[nest.outside()..]) {
            scalar("a value from outside", ty)?;
            same("a value from outside", ty, body.ty(param))?;
        }
        if body.blocks().len() != 1 || body.terminator(nest.body.block()).is_none() {
            return Err("the body is not one block that returns".to_string());
        }
        let mut inside = Verifier::new(self.module, body);
        for &inst in nest.body.insts() {
            inside.body_inst(inst)?;
        }
        let results = nest.body.results();
        if results.len() != nest.outputs.len() {
            let given = counted(results.len(), "result");
            let wanted = counted(nest.outputs.len(), "output");
            return Err(format!("{given} of the body for {wanted}"));
        }
        for &value in results {
            inside.body_operand(value)?;
            if body.ty(value).float_kind().is_none() {
                return Err(format!(
                    "an output has the type {}, a float expected",
                    body.ty(value)
                ));
            }
        }
        for input in 0..nest.inputs.len() {
            for (output, &result) in results.iter().enumerate() {
                let same_view = data.args[nest.view(input)] == data.args[nest.output_view(output)];
                if same_view && body.ty(nest.element(input)) != body.ty(result) {
                    return Err("an input and an output share a view, not a type".to_string());
                }
            }
        }
        inside.uses();
        match inside.errors.first() {
            Some(error) => Err(format!("in the body, {}", error.message)),
            None => self.locations(data, nest),
        }
    }

    /// An instruction of a body.
    fn body_inst(&mut self, inst: Inst) -> Check {
        let func = self.func;
        let data = func.inst(inst);
        for &arg in &data.args {
            self.body_operand(arg)?;
        }
        let result = func.result(inst).map_or(Type::void(), |v| func.ty(v));
        scalar("a result in the body", result)?;
        if !may_stand_in_body(&data.op) {
            return Err("the body has an instruction that is no arithmetic".to_string());
        }
        let types: Vec<Type> = data.args.iter().map(|&v| func.ty(v)).collect();
        let checked = self.operation(data, &types, result);
        checked.map_err(|message| format!("in the body, {message}"))
    }

    fn body_operand(&mut self, value: Value) -> Check {
        self.operand(value)?;
        scalar("an operand in the body", self.func.ty(value))?;
        match self.func.as_const(value) {
            None | Some(Constant::Int(_) | Constant::Float(_)) => Ok(()),
            Some(_) => Err("the body has a constant that is no number".to_string()),
        }
    }

    fn locations(&self, data: &InstData, nest: &Nest) -> Check {
        let insts = nest.body.insts().iter().map(|&i| nest.body.func.inst(i));
        let mut all = insts.chain([data]);
        match all.all(|inst| inst.loc.is_none_or(|loc| self.module.locs.is_valid(loc))) {
            true => Ok(()),
            false => Err("its location is not there".to_string()),
        }
    }
}

fn scalar(what: &str, ty: Type) -> Check {
    match ty.is_int() || ty.float_kind().is_some() {
        true => Ok(()),
        false => Err(format!("{what} has the type {ty}, a number expected")),
    }
}
