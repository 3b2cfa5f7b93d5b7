//! The derivative rules, as data.
//!
//! `table.rs` holds one line for each float operation: the equation, and for each
//! operand the partial derivative as an expression over the operands and the result. This file
//! answers which rule an operation has; [`body`] differentiates straight-line code; [`emit`] instantiates expressions as
//! instructions; [`library`] has bodies for functions that are differentiated
//! through their bodies rather than by a rule.
//!
//! Forward mode multiplies tangents by partials, reverse mode multiplies adjoints by them, so both
//! call [`Partial::contributions`]. Everything works lane by lane and in every float format;
//! `f16` and `bf16` expressions are computed in `f32` and rounded once.
//!
//! # A zero derivative contributes zero
//!
//! After optimization `b != 0 ? 1/b : 0` is a division and a select, and the division runs for
//! `b = 0` as well. Its partial is then infinite and the derivative that flows in is zero;
//! 0·∞ = NaN would spoil the gradient. So the contribution of a derivative `d` is
//! `select(d == 0 and d·partial is NaN, 0, d·partial)`, unless the rule is declared *finite*:
//! finite operands give finite partials. Products, sums, sin, cos, tanh and their like are finite
//! and pay nothing. Division, sqrt, log, pow, and all that can overflow (exp, sinh, gamma) are
//! not. An operand that is itself infinite is guarded only where the reverse sweep finds that the
//! result may be dropped (`reverse/dropped.rs`), because a guard on every product would cost every
//! matrix product its fused multiply-add; a request with *strong zero* asks for exactly that and
//! gets it.
//!
//! `d == 0` alone would be a cheaper guard and a wrong one: where an adjoint happens to be zero,
//! its own derivative is not. The second derivative of (log x)² at 1 is 2, and the adjoint of the
//! logarithm is zero there.
//!
//! # Choices
//!
//! Where mathematics leaves a choice, the rules follow JAX; the comment above the rule says so.
//! Outside of the domain of a function its value is NaN already, and so may its derivative be.

pub mod body;
mod complex;
pub mod emit;
mod expr;
pub mod library;
mod parse;
mod table;

pub use expr::{Arith, Compare, Expr, NamedConstant, Needs, Primal};

use crate::ir::{BinaryOp, CastOp, Constant, Function, InstData, MathFn, Op, UnaryOp, Value, soft};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The rule of an operation, or `None` if the table has nothing to say about it.
///
/// `None` is the answer for operations that move values without computing floats (select, loads,
/// shuffles, freeze, bitcast), for calls, for integer arithmetic (an integer may carry the bits of
/// a float), and for [`MathFn::Digamma`], which is lowered to a
/// [library function](library) before it is differentiated.
pub fn rule_for(op: &Op) -> Option<&'static Rule> {
    match op {
        Op::Unary(UnaryOp::FNeg) => RULES.get(&Key::Neg),
        Op::Binary(op) => RULES.get(&Key::Binary(*op)),
        Op::Math(function) => RULES.get(&Key::Math(*function)),
        Op::Cast(CastOp::FpTrunc | CastOp::FpExt) => Some(&Rule::Cast),
        Op::ICmp(_)
        | Op::FCmp(_)
        | Op::Cast(CastOp::FpToSi | CastOp::FpToUi | CastOp::SiToFp | CastOp::UiToFp) => {
            Some(&Rule::Zero)
        }
        _ => None,
    }
}

/// The rule of an instruction: that of its operation, or a cheaper one where an operand is a known
/// constant. The derivative of a reciprocal is a product of the result with itself, which takes no
/// second division and does not ask for the operand.
pub fn rule_of(function: &Function, data: &InstData) -> Option<&'static Rule> {
    if data.op == Op::Binary(BinaryOp::FDiv) {
        if is_constant(function, data.args[0], 1.0) {
            return Some(&RECIPROCAL);
        }
        if is_constant(function, data.args[0], -1.0) {
            return Some(&MINUS_RECIPROCAL);
        }
    }
    rule_for(&data.op)
}

/// Whether a value is a constant, in all lanes if it is a vector.
fn is_constant(function: &Function, value: Value, number: f64) -> bool {
    let kind = function.ty(value).scalar().float_kind();
    let Some((constant, kind)) = function.as_const(value).zip(kind) else {
        return false;
    };
    let wanted = Constant::Float(soft::from_f64(kind, number));
    match constant {
        Constant::Aggregate(lanes) => lanes.iter().all(|lane| *lane == wanted),
        scalar => *scalar == wanted,
    }
}

/// How the result of an operation depends on its operands.
#[derive(Clone, PartialEq, Debug)]
pub enum Rule {
    /// The derivative is known to be zero wherever there is one: comparisons, rounding,
    /// conversions from and to integers.
    Zero,
    /// A conversion between float formats: the derivative is converted in the same way, from the
    /// format of the one side to that of the other ([`emit::convert`]).
    Cast,
    /// One partial derivative for each operand.
    Partials(Formula),
}

/// A line of the table.
#[derive(Clone, PartialEq, Debug)]
pub struct Formula {
    /// The operation in readable form, such as `x / y`.
    pub equation: &'static str,
    /// The partial derivative by each operand; integer operands have zero.
    pub partials: Vec<Partial>,
}

/// The partial derivative of an operation by one of its operands.
#[derive(Clone, PartialEq, Debug)]
pub enum Partial {
    /// Always zero: there is no contribution.
    Zero,
    /// Always one: the contribution is the derivative that flows in.
    One,
    /// Always minus one.
    MinusOne,
    /// A factor that depends on primal values.
    Factor(Factor),
}

/// A partial derivative that depends on primal values.
#[derive(Clone, PartialEq, Debug)]
pub struct Factor {
    /// How it is computed.
    pub expr: Expr,
    /// Whether it is finite wherever the operands are, so that no guard is needed.
    pub finite: bool,
}

impl Rule {
    /// The partial derivative by an operand. That of [`Rule::Cast`] is one, up to the conversion.
    pub fn partial(&self, operand: usize) -> &Partial {
        match self {
            Rule::Zero => &Partial::Zero,
            Rule::Cast => &Partial::One,
            Rule::Partials(formula) => &formula.partials[operand],
        }
    }
}

impl Partial {
    /// See [`Expr::with_computed`].
    pub fn with_computed(&self, known: &dyn Fn(MathFn, usize) -> Option<Value>) -> Partial {
        match self {
            Partial::Factor(factor) => Partial::Factor(Factor {
                expr: factor.expr.with_computed(known),
                finite: factor.finite,
            }),
            _ => self.clone(),
        }
    }

    /// See [`Expr::computed`].
    pub fn computed(&self) -> Vec<Value> {
        match self {
            Partial::Factor(factor) => factor.expr.computed(),
            _ => Vec::new(),
        }
    }

    /// The primal values that the partial derivative is computed from.
    pub fn needs(&self) -> Needs {
        match self {
            Partial::Zero | Partial::One | Partial::MinusOne => Needs::default(),
            Partial::Factor(factor) => factor.expr.needs(),
        }
    }
}

/// The operations that the table is about.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Neg,
    Binary(BinaryOp),
    Math(MathFn),
}

static RULES: LazyLock<HashMap<Key, Rule>> =
    LazyLock::new(|| table::TABLE.iter().map(read).collect());

fn read(line: &table::Line) -> (Key, Rule) {
    match parse::rule(line) {
        Ok(entry) => entry,
        Err(message) => panic!("the rule of {}: {message}", line.equation),
    }
}

static RECIPROCAL: LazyLock<Rule> = LazyLock::new(|| read(&table::RECIPROCAL).1);
static MINUS_RECIPROCAL: LazyLock<Rule> = LazyLock::new(|| read(&table::MINUS_RECIPROCAL).1);

#[cfg(test)]
pub(crate) mod tests;
