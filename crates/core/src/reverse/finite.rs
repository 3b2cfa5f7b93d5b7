//! Where the reverse sweep checks that adjoints are finite, if the user asks for that.

use super::gradient::Gradient;
use crate::derivative::Key;
use crate::diagnostic::Result;
use crate::finite::{About, array_checker, check, message, name};
use crate::ir::{
    Access, Builder, Constant, FloatKind, InstData, Loc, Symbol, Type, Value, ValueDef,
};
use crate::rules::{Partial, Rule};
use crate::support::Callable;

/// Why something in a shadow is not finite that no operation has put there.
pub(super) const GIVEN: &str =
    "as its shadow was given; are the seeds finite, and is the memory initialized?";

/// An operand in words.
pub(super) fn operand_name(data: &InstData, position: usize) -> String {
    match data.args.len() {
        1 => "the operand".to_string(),
        _ => format!("operand {}", position + 1),
    }
}

/// A check of the arrays of derivatives that a call is given, if there is one.
pub(super) struct ArrayCheck(Option<(Callable, Vec<Value>, String)>);

impl ArrayCheck {
    /// Checks them.
    pub(super) fn emit(&self, gradient: &mut Gradient<'_>, why: &'static str) {
        let Some(((func, sig), args, callee)) = &self.0 else {
            return;
        };
        let about = About {
            what: format!("an adjoint behind the arguments of `{callee}`"),
            loc: gradient.loc,
            function: &gradient.primal.function.name,
            why,
            numbers: Vec::new(),
        };
        let text = message(&mut gradient.synthesis.module, &about);
        let text = Constant::Address(Symbol::Global(text), 0);
        let mut args = args.clone();
        args.push(gradient.func.constant(Type::ptr(), text));
        gradient.builder().call(*func, sig.clone(), args);
    }
}

impl Gradient<'_> {
    /// The check of what a call with these arguments is given.
    pub(super) fn array_check(&mut self, key: &Key, args: Vec<Value>) -> Result<ArrayCheck> {
        if self.tape.is_none() {
            return Ok(ArrayCheck(None));
        }
        let check = self.synthesis.array_check(key)?;
        let callee = self.synthesis.module.funcs[key.func].name.clone();
        Ok(ArrayCheck(check.map(|check| (check, args, callee))))
    }

    fn check_finite(
        &mut self,
        adjoint: Value,
        what: String,
        why: &'static str,
        numbers: Vec<(String, Value)>,
    ) {
        // Nothing is recorded twice: the first time, needs are looked for.
        if !self.synthesis.options.check_finite || self.tape.is_none() {
            return;
        }
        let about = About {
            what,
            loc: self.loc,
            function: &self.primal.function.name,
            why,
            numbers,
        };
        let mut builder = Builder::new(&mut self.func, self.block);
        builder.loc = self.loc;
        check(&mut self.synthesis.module, &mut builder, adjoint, &about);
    }

    /// What an operation contributes to the adjoint of an operand, where it can spoil it.
    pub(super) fn check_contribution(
        &mut self,
        data: &InstData,
        rule: &Rule,
        operand: usize,
        term: Value,
        adjoint: Value,
        numbers: &[(String, Value)],
    ) {
        let computed = matches!(rule.partial(operand), Partial::Factor(_));
        if !computed && !matches!(rule, Rule::Cast) {
            return;
        }
        let operand = operand_name(data, operand);
        let what = format!("the adjoint of {operand} of {}", name(&data.op));
        let mut all = vec![("the adjoint of the result".to_string(), adjoint)];
        all.extend_from_slice(numbers);
        self.check_finite(term, what, "", all);
    }

    /// The adjoints of a value, to which all of its uses have contributed.
    pub(super) fn check_adjoints(&mut self, value: Value, adjoints: &[Value]) {
        let function = &self.primal.function;
        let (what, loc) = match *function.def(value) {
            ValueDef::Result(inst) => {
                let data = function.inst(inst);
                (format!("the adjoint of {}", name(&data.op)), data.loc)
            }
            ValueDef::Param(block, position) if block == function.entry() => {
                (format!("the adjoint of argument {}", position + 1), None)
            }
            ValueDef::Param(block, _) => {
                let mut insts = function.block_insts(block).iter();
                let loc = insts.find_map(|&inst| function.inst(inst).loc);
                ("the adjoint of a variable".to_string(), loc)
            }
            ValueDef::Const(_) => return,
        };
        let here = std::mem::replace(&mut self.loc, loc);
        for &adjoint in adjoints {
            let why = "the sum of what its uses contribute";
            self.check_finite(adjoint, what.clone(), why, Vec::new());
        }
        self.loc = here;
    }

    /// What is about to be added to the shadow of what is read.
    pub(super) fn check_sum(&mut self, shadow: Value, adjoint: Value, access: &Access) {
        let ty = self.func.ty(adjoint);
        if !self.synthesis.options.check_finite || !ty.is_float_like() {
            return;
        }
        let mut builder = self.builder();
        let old = builder.load(ty, shadow, access.clone());
        let sum = builder.fadd(old, adjoint);
        let numbers = vec![
            ("its shadow".to_string(), old),
            ("what is added".to_string(), adjoint),
        ];
        let what = "the adjoint of what is read".to_string();
        self.check_finite(sum, what, "", numbers);
    }

    /// What is found in a shadow. What operations add there is checked, so it is not their fault.
    pub(super) fn check_shadow(&mut self, what: &str, adjoint: Value) {
        self.check_finite(adjoint, what.to_string(), GIVEN, Vec::new());
    }

    /// The adjoints of both sides of a copy: those that are about to be moved, and the sums that
    /// come of it.
    pub(super) fn check_copied(
        &mut self,
        kind: FloatKind,
        (memory, bytes, period): (Value, Value, Value),
        why: &'static str,
    ) {
        if !self.synthesis.options.check_finite || self.tape.is_none() {
            return;
        }
        let about = About {
            what: "the adjoint of what is copied".to_string(),
            loc: self.loc,
            function: &self.primal.function.name,
            why,
            numbers: Vec::new(),
        };
        let module = &mut self.synthesis.module;
        let text = Constant::Address(Symbol::Global(message(module, &about)), 0);
        let (check, sig) = array_checker(module, kind);
        let text = self.func.constant(Type::ptr(), text);
        let args = vec![memory, bytes, period, text];
        self.builder().call(check, sig, args);
    }

    /// The derivative by the result that the caller gives.
    pub(super) fn check_seed(&mut self, loc: Option<Loc>, seed: Value) {
        let here = std::mem::replace(&mut self.loc, loc);
        let what = format!("the seed of the result of `{}`", self.primal.function.name);
        self.check_finite(seed, what, "given by the caller", Vec::new());
        self.loc = here;
    }

    /// What the reverse of a call gives for an argument that was passed by value.
    pub(super) fn check_argument(
        &mut self,
        key: &Key,
        argument: Value,
        data: &InstData,
        adjoint: Value,
    ) {
        let callee = &self.synthesis.module.funcs[key.func].name;
        let position = data.args.iter().position(|&v| v == argument).unwrap_or(0);
        let what = format!("the adjoint of argument {} of `{callee}`", position + 1);
        self.check_finite(adjoint, what, "by its derivative", Vec::new());
    }
}
