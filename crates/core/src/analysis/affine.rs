//! Integers and addresses as `base + constant + Σ coefficient · product of symbols`.
//!
//! Symbols are the counters of loops and values that are not looked into. Every equation holds
//! modulo 2⁶⁴. For integers of fewer bits it holds exactly: sums and products are looked through
//! only where the program promises that they do not wrap (a value that breaks the promise is
//! poison, and nothing is claimed about it). Sums of 64-bit integers and of addresses need no
//! promise, because they and the equation wrap in the same way.
//!
//! A parameter of a loop header that changes by the same amount in each iteration is
//! `start + amount · counter`. Parameters that every edge gives the same value are that value.

use super::cfg::Cfg;
use super::loops::{Loop, Loops};
use crate::ir::{
    BinaryOp, Block, Builder, CastOp, Constant, Flags, Function, Inst, Op, Symbol, Type, Value,
    ValueDef,
};
use cranelift_entity::SecondaryMap;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

/// How many instructions one question may look through, which bounds its cost.
const BUDGET: u32 = 400;
/// The largest number of terms worth keeping.
const MAX_TERMS: usize = 12;
/// The largest number of factors of one term worth keeping.
const MAX_FACTORS: usize = 5;

/// `base + constant + Σ coefficient · product of factors`, modulo 2⁶⁴.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Affine {
    /// For an address, what it is relative to.
    pub base: Option<Base>,
    /// The constant part.
    pub constant: i128,
    /// Coefficients, none of them zero, by the product that they scale (factors in order).
    pub terms: BTreeMap<Vec<Factor>, i128>,
}

/// What an address is relative to.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Base {
    /// A pointer that is not looked into.
    Value(Value),
    /// A global variable or function.
    Symbol(Symbol),
}

/// A symbol of an [`Affine`].
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Factor {
    /// How many times the back edge of a loop was taken since the loop was entered.
    Counter(Loop),
    /// An integer read as signed. All 64-bit integers are.
    Signed(Value),
    /// An integer of fewer than 64 bits read as unsigned.
    Unsigned(Value),
}

/// What must be promised of the sums that are looked through.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Wrap {
    /// Nothing; only for addresses and 64-bit integers.
    Modular,
    /// That they do not wrap, read as signed.
    Signed,
    /// That they do not wrap, read as unsigned.
    Unsigned,
}

/// Answers questions about the values of one function.
pub struct AffineValues<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    loops: &'a Loops,
    inst_blocks: SecondaryMap<Inst, Option<Block>>,
    in_progress: RefCell<Vec<Value>>,
    budget: Cell<u32>,
}

impl<'a> AffineValues<'a> {
    /// Ready to answer questions about a function in canonical form. (On other functions fewer
    /// values are seen to be affine.)
    pub fn new(func: &'a Function, cfg: &'a Cfg, loops: &'a Loops) -> AffineValues<'a> {
        AffineValues {
            func,
            cfg,
            loops,
            inst_blocks: func.inst_blocks(),
            in_progress: RefCell::default(),
            budget: Cell::new(0),
        }
    }

    /// A pointer, as seen in a block: only counters of loops around the block occur.
    pub fn address(&self, pointer: Value, at: Block) -> Affine {
        self.budget.set(BUDGET);
        let answer = self.expand(pointer, Wrap::Modular);
        match self.is_seen_from(&answer, at) {
            true => answer,
            false => Affine::leaf_pointer(self.func, pointer),
        }
    }

    /// An integer, as seen in a block.
    pub fn integer(&self, value: Value, wrap: Wrap, at: Block) -> Affine {
        self.budget.set(BUDGET);
        let answer = self.expand(value, wrap);
        match self.is_seen_from(&answer, at) {
            true => answer,
            false => self.leaf(value, wrap),
        }
    }

    /// Whether every part of a form has one value during all iterations of a loop.
    pub fn is_invariant(&self, form: &Affine, l: Loop) -> bool {
        let fixed = |value: Value| match self.def_block(value) {
            Some(block) => !self.loops.contains(l, block),
            None => true,
        };
        let base_fixed = match form.base {
            Some(Base::Value(value)) => fixed(value),
            _ => true,
        };
        base_fixed
            && form.factors().all(|factor| match factor {
                Factor::Counter(inner) => !self.loops.is_inside(inner, l),
                Factor::Signed(value) | Factor::Unsigned(value) => fixed(value),
            })
    }

    /// Whether every part of a form is known when the function is entered.
    pub fn is_known_at_entry(&self, form: &Affine) -> bool {
        let entry = self.cfg.entry();
        let known = |value: Value| match *self.func.def(value) {
            ValueDef::Const(_) => true,
            ValueDef::Param(block, _) => block == entry,
            ValueDef::Result(_) => false,
        };
        let base_known = match form.base {
            Some(Base::Value(value)) => known(value),
            _ => true,
        };
        base_known
            && form.factors().all(|factor| match factor {
                Factor::Counter(_) => false,
                Factor::Signed(value) | Factor::Unsigned(value) => known(value),
            })
    }

    /// The block that defines a value; none for constants.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match *self.func.def(value) {
            ValueDef::Const(_) => None,
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Result(inst) => self.inst_blocks[inst],
        }
    }

    fn is_seen_from(&self, form: &Affine, at: Block) -> bool {
        form.factors().all(|factor| match factor {
            Factor::Counter(l) => self.loops.contains(l, at),
            _ => true,
        })
    }

    fn leaf(&self, value: Value, wrap: Wrap) -> Affine {
        if self.func.ty(value).is_ptr() {
            return Affine::leaf_pointer(self.func, value);
        }
        let narrow = self.func.ty(value).int_bits().is_some_and(|bits| bits < 64);
        let factor = match wrap {
            Wrap::Unsigned if narrow => Factor::Unsigned(value),
            _ => Factor::Signed(value),
        };
        Affine::product(vec![factor], 1)
    }

    fn spend(&self) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(1));
        left > 0
    }

    fn expand(&self, value: Value, wrap: Wrap) -> Affine {
        let is_usable = |form: &Affine| {
            let at = self.def_block(value);
            form.is_small() && at.is_none_or(|at| self.is_seen_from(form, at))
        };
        self.try_expand(value, wrap)
            .filter(is_usable)
            .unwrap_or_else(|| self.leaf(value, wrap))
    }

    fn try_expand(&self, value: Value, wrap: Wrap) -> Option<Affine> {
        let ty = self.func.ty(value);
        if !self.spend() || !(ty.is_ptr() || ty.is_int()) {
            return None;
        }
        // Integers of fewer bits have exact forms only, and there is no form of wider ones.
        let wrap = match ty.int_bits() {
            Some(bits) if bits > 64 => return None,
            Some(bits) if bits < 64 && wrap == Wrap::Modular => Wrap::Signed,
            _ => wrap,
        };
        match self.func.def(value) {
            ValueDef::Const(Constant::Int(n)) => {
                let signed = self.func.as_int(value)?;
                let n = match wrap {
                    Wrap::Unsigned if ty != Type::i64() => i128::try_from(*n).ok()?,
                    _ => signed,
                };
                Some(Affine::number(n))
            }
            ValueDef::Const(Constant::Address(symbol, offset)) => Some(Affine {
                base: Some(Base::Symbol(*symbol)),
                ..Affine::number(i128::from(*offset))
            }),
            ValueDef::Const(_) => None,
            ValueDef::Param(block, position) => self.param(value, *block, *position, wrap),
            ValueDef::Result(inst) => self.result(*inst, wrap),
        }
    }

    fn result(&self, inst: Inst, wrap: Wrap) -> Option<Affine> {
        let data = self.func.inst(inst);
        let args = &data.args;
        let promised = match wrap {
            Wrap::Modular => true,
            _ if matches!(data.op, Op::Address { .. }) => {
                data.flags.intersects(Flags::INBOUNDS | Flags::NUSW)
            }
            Wrap::Signed => data.flags.contains(Flags::NSW),
            Wrap::Unsigned => data.flags.contains(Flags::NUW),
        };
        match &data.op {
            Op::Binary(BinaryOp::Add) if promised => {
                self.expand(args[0], wrap).plus(&self.expand(args[1], wrap))
            }
            Op::Binary(BinaryOp::Or) if data.flags.contains(Flags::DISJOINT) => {
                self.expand(args[0], wrap).plus(&self.expand(args[1], wrap))
            }
            Op::Binary(BinaryOp::Sub) if promised => self
                .expand(args[0], wrap)
                .minus(&self.expand(args[1], wrap)),
            Op::Binary(BinaryOp::Mul) if promised => self
                .expand(args[0], wrap)
                .times(&self.expand(args[1], wrap)),
            Op::Binary(BinaryOp::Shl) if promised => {
                let bits = u32::try_from(self.func.as_int(args[1])?).ok()?;
                let factor = Affine::number(1i128.checked_shl(bits.min(100))?);
                self.expand(args[0], wrap).times(&factor)
            }
            // An extension to fewer than 64 bits is exact as well, so it says the same of the
            // wider integer as of its operand, if that is read with the same sign.
            Op::Cast(CastOp::SExt) if wrap != Wrap::Unsigned => {
                Some(self.expand(args[0], Wrap::Signed))
            }
            Op::Cast(CastOp::ZExt) if data.flags.contains(Flags::NNEG) => {
                Some(self.expand(args[0], Wrap::Signed))
            }
            Op::Cast(CastOp::ZExt) => Some(self.expand(args[0], Wrap::Unsigned)),
            Op::Address { offset, scales } if promised => {
                let mut sum = self
                    .expand(args[0], wrap)
                    .plus(&Affine::number(i128::from(*offset)))?;
                for (&index, &scale) in args[1..].iter().zip(scales) {
                    let scale = Affine::number(i128::from(scale));
                    let part = self.expand(index, Wrap::Modular).times(&scale)?;
                    sum = sum.plus(&part)?;
                }
                Some(sum)
            }
            _ => None,
        }
    }

    fn param(&self, value: Value, block: Block, position: usize, wrap: Wrap) -> Option<Affine> {
        if self.in_progress.borrow().contains(&value) {
            return None;
        }
        let incoming = |(pred, edge): (Block, usize)| self.func.edges(pred)[edge].args[position];
        let preds = self.cfg.predecessors(block);
        let (&first, rest) = preds.split_first()?;
        let given = incoming(first);
        if rest.iter().all(|&edge| incoming(edge) == given) {
            return Some(self.expand(given, wrap));
        }
        let l = self.loops.headed_by(block)?;
        let (mut start, mut next) = (None, None);
        for &edge in preds {
            let slot = match self.loops.contains(l, edge.0) {
                true => &mut next,
                false => &mut start,
            };
            match slot {
                Some(known) if *known != incoming(edge) => return None,
                _ => *slot = Some(incoming(edge)),
            }
        }
        self.in_progress.borrow_mut().push(value);
        let next = self.expand(next?, wrap);
        self.in_progress.borrow_mut().pop();
        let step = next.minus(&self.leaf(value, wrap))?;
        // The step may mention neither the parameter nor anything else that changes.
        if step.base.is_some() || !self.is_invariant(&step, l) {
            return None;
        }
        let counter = Affine::product(vec![Factor::Counter(l)], 1);
        let start = start?;
        let from = Some(self.expand(start, wrap)).filter(|form| self.is_seen_from(form, block));
        let from = from.unwrap_or_else(|| self.leaf(start, wrap));
        from.plus(&step.times(&counter)?)
    }
}

impl Affine {
    /// A constant.
    pub fn number(n: i128) -> Affine {
        Affine {
            constant: n,
            ..Affine::default()
        }
    }

    /// A product of factors with a coefficient.
    pub fn product(mut factors: Vec<Factor>, coefficient: i128) -> Affine {
        factors.sort_unstable();
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(factors, coefficient);
        }
        Affine {
            terms,
            ..Affine::default()
        }
    }

    fn leaf_pointer(func: &Function, value: Value) -> Affine {
        match func.as_const(value) {
            Some(Constant::Address(symbol, offset)) => Affine {
                base: Some(Base::Symbol(*symbol)),
                ..Affine::number(i128::from(*offset))
            },
            _ => Affine {
                base: Some(Base::Value(value)),
                ..Affine::default()
            },
        }
    }

    /// The constant that this is, if it is one.
    pub fn as_number(&self) -> Option<i128> {
        (self.base.is_none() && self.terms.is_empty()).then_some(self.constant)
    }

    /// Every factor of every term.
    pub fn factors(&self) -> impl Iterator<Item = Factor> + '_ {
        self.terms.keys().flatten().copied()
    }

    /// The sum; none if both have a base or a number gets too large.
    pub fn plus(&self, other: &Affine) -> Option<Affine> {
        let base = match (self.base, other.base) {
            (Some(_), Some(_)) => return None,
            (a, b) => a.or(b),
        };
        let mut sum = self.clone();
        sum.base = base;
        sum.constant = in_range(sum.constant.checked_add(other.constant)?)?;
        for (product, &coefficient) in &other.terms {
            sum.add_term(product, coefficient)?;
        }
        Some(sum)
    }

    /// The difference; equal bases cancel. None if the bases differ or a number gets too large.
    pub fn minus(&self, other: &Affine) -> Option<Affine> {
        let mut negated = other.scaled(-1)?;
        let mut minuend = self.clone();
        if other.base.is_some() {
            if self.base != other.base {
                return None;
            }
            minuend.base = None;
            negated.base = None;
        }
        minuend.plus(&negated)
    }

    /// The product; none for addresses or if it gets too large.
    pub fn times(&self, other: &Affine) -> Option<Affine> {
        if self.base.is_some() || other.base.is_some() {
            return None;
        }
        let mut result = self.scaled(other.constant)?;
        for (product, &coefficient) in &other.terms {
            if self.constant != 0 {
                result.add_term(product, self.constant.checked_mul(coefficient)?)?;
            }
            for (own, &c) in &self.terms {
                let mut factors = [own.as_slice(), product].concat();
                factors.sort_unstable();
                result.add_term(&factors, c.checked_mul(coefficient)?)?;
            }
        }
        Some(result)
    }

    /// This without its base, times a number.
    pub fn scaled(&self, factor: i128) -> Option<Affine> {
        let mut result = Affine {
            base: self.base,
            ..Affine::default()
        };
        if factor == 0 {
            result.base = None;
            return Some(result);
        }
        result.constant = in_range(self.constant.checked_mul(factor)?)?;
        for (product, &coefficient) in &self.terms {
            result.add_term(product, coefficient.checked_mul(factor)?)?;
        }
        Some(result)
    }

    /// This as `coefficient · counter + rest`, where neither mentions the counter of the loop.
    pub fn split(&self, l: Loop) -> Option<(Affine, Affine)> {
        let counter = Factor::Counter(l);
        let mut coefficient = Affine::default();
        let mut rest = Affine {
            terms: BTreeMap::new(),
            ..self.clone()
        };
        for (product, &c) in &self.terms {
            match product.iter().filter(|&&factor| factor == counter).count() {
                0 => rest.add_term(product, c)?,
                1 => {
                    let others: Vec<Factor> =
                        product.iter().copied().filter(|&f| f != counter).collect();
                    match others.is_empty() {
                        true => coefficient.constant += c,
                        false => coefficient.add_term(&others, c)?,
                    }
                }
                _ => return None,
            }
        }
        Some((coefficient, rest))
    }

    /// Code that computes this as an `i64` (an address as its number). `counter` gives the value
    /// of a loop's counter.
    pub fn materialize(&self, b: &mut Builder, counter: &dyn Fn(Loop) -> Value) -> Value {
        let i64 = Type::i64();
        let mut sum = match self.base {
            None => None,
            Some(base) => {
                let pointer = match base {
                    Base::Value(value) => value,
                    Base::Symbol(symbol) => {
                        b.func.constant(Type::ptr(), Constant::Address(symbol, 0))
                    }
                };
                Some(b.cast(CastOp::PtrToInt, pointer, i64))
            }
        };
        for (product, &coefficient) in &self.terms {
            let mut term = match coefficient {
                1 => None,
                c => Some(b.func.iconst(i64, c)),
            };
            for &factor in product {
                let factor = match factor {
                    Factor::Counter(l) => counter(l),
                    Factor::Signed(value) => widened(b, CastOp::SExt, value),
                    Factor::Unsigned(value) => widened(b, CastOp::ZExt, value),
                };
                term = Some(term.map_or(factor, |term| b.mul(term, factor)));
            }
            sum = match (sum, term) {
                (Some(sum), Some(term)) => Some(b.add(sum, term)),
                (sum, term) => sum.or(term),
            };
        }
        let constant = b.func.iconst(i64, self.constant);
        match sum {
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => b.add(sum, constant),
            None => constant,
        }
    }

    fn add_term(&mut self, product: &[Factor], coefficient: i128) -> Option<()> {
        let old = self.terms.get(product).copied().unwrap_or(0);
        match in_range(old.checked_add(coefficient)?)? {
            0 => self.terms.remove(product),
            new => self.terms.insert(product.to_vec(), new),
        };
        Some(())
    }

    fn is_small(&self) -> bool {
        self.terms.len() <= MAX_TERMS && self.terms.keys().all(|p| p.len() <= MAX_FACTORS)
    }
}

/// Numbers beyond those of the program are of no use, and would only overflow later.
fn in_range(n: i128) -> Option<i128> {
    (n.unsigned_abs() < 1 << 80).then_some(n)
}

fn widened(b: &mut Builder, op: CastOp, value: Value) -> Value {
    match b.func.ty(value).int_bits() {
        Some(bits) if bits < 64 => b.cast(op, value, Type::i64()),
        _ => value,
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match self.base {
            Some(Base::Value(value)) => parts.push(value.to_string()),
            Some(Base::Symbol(Symbol::Global(global))) => parts.push(global.to_string()),
            Some(Base::Symbol(Symbol::Func(func))) => parts.push(func.to_string()),
            None => {}
        }
        for (product, coefficient) in &self.terms {
            let factors: Vec<String> = product
                .iter()
                .map(|factor| match factor {
                    Factor::Counter(l) => format!("counter({l})"),
                    Factor::Signed(value) => value.to_string(),
                    Factor::Unsigned(value) => format!("unsigned({value})"),
                })
                .collect();
            match coefficient {
                1 => parts.push(factors.join("*")),
                c => parts.push(format!("{c}*{}", factors.join("*"))),
            }
        }
        if self.constant != 0 || parts.is_empty() {
            parts.push(self.constant.to_string());
        }
        write!(f, "{}", parts.join(" + "))
    }
}
