//! Where forward mode checks that tangents are finite, if the user asks for that.

use super::{Sweep, Walk};
use crate::derivative::Key;
use crate::diagnostic::Result;
use crate::finite::{About, check, message, name};
use crate::ir::{Block, Builder, Constant, Func, Inst, InstData, Loc, Op, Symbol, Type, Value};

impl Walk<'_> {
    fn check_finite(
        &mut self,
        block: Block,
        loc: Option<Loc>,
        tangent: Value,
        what: String,
        why: &'static str,
        numbers: Vec<(String, Value)>,
    ) {
        if !self.synthesis.options.check_finite || self.sweep != Sweep::Tangents {
            return;
        }
        let about = About {
            what,
            loc,
            function: &self.primal.function.name,
            why,
            numbers,
        };
        let mut builder = Builder::new(&mut self.func, block);
        builder.loc = loc;
        check(&mut self.synthesis.module, &mut builder, tangent, &about);
    }

    /// The tangents of the result of an operation.
    pub(super) fn check_tangents(&mut self, data: &InstData, tangents: &[Value]) {
        let operands = data.args.iter().enumerate();
        let floats = operands.filter(|&(_, &v)| self.func.ty(v).is_float_like());
        let numbers: Vec<(String, Value)> = floats
            .map(|(position, &value)| match data.args.len() {
                1 => ("the operand".to_string(), value),
                _ => (format!("operand {}", position + 1), value),
            })
            .collect();
        for &tangent in tangents {
            let what = format!("the tangent of {}", name(&data.op));
            self.check_finite(self.block, data.loc, tangent, what, "", numbers.clone());
        }
    }

    /// Tangents that are read from shadow memory. What operations write there is checked.
    pub(super) fn check_read(&mut self, data: &InstData, tangents: &[Value]) {
        if !matches!(data.op, Op::Load(_)) {
            return;
        }
        for &tangent in tangents {
            let what = "the tangent of what is read".to_string();
            let why = "as its shadow was given; are the tangents finite, and is the memory \
                       initialized?";
            self.check_finite(self.block, data.loc, tangent, what, why, Vec::new());
        }
    }

    /// The tangents of the arguments that are passed by value.
    pub(super) fn check_given(&mut self, entry: Block) {
        for (position, &argument) in self.primal.function.arguments().iter().enumerate() {
            for tangent in self.shadows.get(&argument).cloned().unwrap_or_default() {
                let function = &self.primal.function.name;
                let what = format!("the tangent of argument {} of `{function}`", position + 1);
                let why = "given by the caller";
                self.check_finite(entry, None, tangent, what, why, Vec::new());
            }
        }
    }

    /// The arrays of tangents that a subprogram of linear algebra leaves.
    pub(super) fn check_arrays(
        &mut self,
        data: &InstData,
        key: &Key,
        mut args: Vec<Value>,
    ) -> Result<()> {
        let Some((check, sig)) = self.synthesis.array_check(key)? else {
            return Ok(());
        };
        let callee = &self.callee(key.func).name;
        let about = About {
            what: format!("a tangent behind the arguments of `{callee}`"),
            loc: data.loc,
            function: &self.primal.function.name,
            why: "after the call",
            numbers: Vec::new(),
        };
        let text = message(&mut self.synthesis.module, &about);
        let text = Constant::Address(Symbol::Global(text), 0);
        args.push(self.func.constant(Type::ptr(), text));
        let mut builder = Builder::new(&mut self.func, self.block);
        builder.loc = data.loc;
        builder.call(check, sig, args);
        Ok(())
    }

    /// The tangents of the result of a call.
    pub(super) fn check_called(&mut self, inst: Inst, data: &InstData, func: Func) {
        let result = self.func.result(inst);
        let tangents = result.and_then(|result| self.shadows.get(&result).cloned());
        for tangent in tangents.unwrap_or_default() {
            let what = format!("the tangent of the call of `{}`", self.callee(func).name);
            let why = "by its derivative";
            self.check_finite(self.block, data.loc, tangent, what, why, Vec::new());
        }
    }
}
