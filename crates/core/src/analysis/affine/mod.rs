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

mod values;

pub use values::{AffineValues, Wrap, known_first};

use super::inequality::Polynomial;
use super::loops::Loop;
use crate::ir::{Builder, CastOp, Constant, Function, Symbol, Type, Value};
use std::collections::BTreeMap;
use std::fmt;

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

    /// The same symbols but for counters. (The numbers have no meaning.)
    pub fn without_counters(&self) -> Affine {
        let products = self.terms.keys().map(|product| {
            let kept = product.iter().copied();
            let kept = kept.filter(|factor| !matches!(factor, Factor::Counter(_)));
            (kept.collect(), 1)
        });
        Affine {
            base: self.base,
            constant: self.constant,
            terms: products.collect(),
        }
    }

    /// This as a polynomial, apart from its base, with something in the place of each symbol.
    pub fn substituted<S: Copy + Ord>(
        &self,
        mut meaning: impl FnMut(Factor) -> Polynomial<S>,
    ) -> Option<Polynomial<S>> {
        let mut sum = Polynomial::number(self.constant);
        for (product, &coefficient) in &self.terms {
            let mut term = Polynomial::number(coefficient);
            for &factor in product {
                term = term.times(&meaning(factor))?;
            }
            sum = sum.plus(&term)?;
        }
        Some(sum)
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
