//! Where forward mode checks that tangents are finite, if the user asks for that.
//!
//! After optimization `b != 0 ? 1 / b : 0` divides by zero too, and drops what comes of it. So an
//! operation whose result may go unused is not checked; what uses it in the end is.

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
    pub(super) fn check_tangents(&mut self, inst: Inst, data: &InstData, tangents: &[Value]) {
        if self.droppable.contains(inst) {
            return;
        }
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

    /// Tangents that are read from shadow memory, where all that operations write is checked, and
    /// those that are chosen from several.
    pub(super) fn check_moved(&mut self, inst: Inst, data: &InstData, tangents: &[Value]) {
        let (what, why) = match data.op {
            Op::Load(_) => (
                "the tangent of what is read",
                "as its shadow was given; are the tangents finite, and is the memory initialized?",
            ),
            Op::Select if !self.droppable.contains(inst) => (
                "the tangent of what is chosen",
                "as one of its operands was",
            ),
            _ => return,
        };
        for &tangent in tangents {
            self.check_finite(
                self.block,
                data.loc,
                tangent,
                what.to_string(),
                why,
                Vec::new(),
            );
        }
    }

    /// The tangents of what is stored.
    pub(super) fn check_stored(&mut self, data: &InstData) {
        if self.primal.is_active(data.args[0]) {
            let tangents = self.shadows_of(data.args[0]);
            self.check_used(data, &tangents, "the tangent of what is stored");
        }
    }

    /// The tangents of what is returned.
    pub fn check_returned(&mut self, inst: Inst, tangents: &[Value]) {
        let data = self.primal.function.inst(inst).clone();
        let block = self.primal.function.inst_blocks()[inst];
        self.block = block.unwrap_or(self.block);
        self.check_used(&data, tangents, "the tangent of what is returned");
    }

    fn check_used(&mut self, data: &InstData, tangents: &[Value], what: &str) {
        for &tangent in tangents {
            let why = "as what it is computed from";
            self.check_finite(
                self.block,
                data.loc,
                tangent,
                what.to_string(),
                why,
                Vec::new(),
            );
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
