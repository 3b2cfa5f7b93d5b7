//! Writes code on vectors as text of LLVM, from arithmetic as it is written in Rust.
//!
//! There are no branches, and no flags but `contract`, on polynomials and on products that are exact
//! anyway: what is computed means what it says.

use std::cell::RefCell;
use std::fmt::Write;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// What the lanes of a vector are.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Lane {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Integers as wide as single precision.
    I32,
    /// Integers as wide as double precision.
    I64,
    /// Truth.
    Bool,
}

impl Lane {
    /// The type in LLVM.
    pub fn name(self) -> &'static str {
        match self {
            Lane::F32 => "float",
            Lane::F64 => "double",
            Lane::I32 => "i32",
            Lane::I64 => "i64",
            Lane::Bool => "i1",
        }
    }

    /// Integers of the same size.
    fn integer(self) -> Lane {
        match self {
            Lane::F32 => Lane::I32,
            _ => Lane::I64,
        }
    }

    /// Floats of the same size.
    fn float(self) -> Lane {
        match self {
            Lane::I32 => Lane::F32,
            _ => Lane::F64,
        }
    }
}

/// The code of a function, as far as it is written.
pub struct Code {
    width: u32,
    text: RefCell<String>,
    /// How each value is written as an operand.
    operands: RefCell<Vec<String>>,
}

impl Code {
    /// For vectors of this many lanes.
    pub fn new(width: u32) -> Code {
        Code {
            width,
            text: RefCell::new(String::new()),
            operands: RefCell::new(Vec::new()),
        }
    }

    /// The type of vectors.
    pub fn vector(&self, lane: Lane) -> String {
        format!("<{} x {}>", self.width, lane.name())
    }

    /// The parameter of a number.
    pub fn parameter(&self, lane: Lane, number: usize) -> V<'_> {
        self.operand(lane, format!("%p{number}"))
    }

    /// The instructions so far.
    pub fn text(&self) -> String {
        self.text.borrow().clone()
    }

    fn operand(&self, lane: Lane, text: String) -> V<'_> {
        let mut operands = self.operands.borrow_mut();
        operands.push(text);
        V {
            code: self,
            lane,
            index: operands.len() - 1,
        }
    }

    fn constant(&self, lane: Lane, value: f64) -> V<'_> {
        let value = match lane {
            Lane::F32 => f64::from(value as f32),
            _ => value,
        };
        let text = format!("splat ({} 0x{:016X})", lane.name(), value.to_bits());
        self.operand(lane, text)
    }

    fn integer(&self, lane: Lane, value: i64) -> V<'_> {
        self.operand(lane, format!("splat ({} {value})", lane.name()))
    }

    fn emit(&self, lane: Lane, instruction: &str) -> V<'_> {
        let made = self.operand(lane, String::new());
        let name = format!("%v{}", made.index);
        let _ = writeln!(self.text.borrow_mut(), "  {name} = {instruction}");
        self.operands.borrow_mut()[made.index] = name;
        made
    }
}

/// A vector.
#[derive(Copy, Clone)]
pub struct V<'c> {
    code: &'c Code,
    /// What its lanes are.
    pub lane: Lane,
    index: usize,
}

impl<'c> V<'c> {
    /// As an operand.
    pub fn written(self) -> String {
        self.code.operands.borrow()[self.index].clone()
    }

    /// A vector of the same lanes that is this number everywhere.
    pub fn constant(self, value: f64) -> V<'c> {
        self.code.constant(self.lane, value)
    }

    fn binary(self, op: &str, other: V<'c>) -> V<'c> {
        let ty = self.code.vector(self.lane);
        let text = format!("{op} {ty} {}, {}", self.written(), other.written());
        self.code.emit(self.lane, &text)
    }

    /// `self * factor + more`, in one step where the machine has that.
    pub fn times_plus(self, factor: V<'c>, more: V<'c>) -> V<'c> {
        let product = self.binary("fmul contract", factor);
        product.binary("fadd contract", more)
    }

    /// `self - factor * constant`, in one step where the machine has that.
    pub fn minus_times(self, factor: V<'c>, constant: f64) -> V<'c> {
        let product = factor.binary("fmul contract", factor.constant(constant));
        self.binary("fsub contract", product)
    }

    /// A polynomial in this number, its constant first. A long one is two in the square, which a
    /// machine computes side by side: each step of one has to wait for the step before.
    pub fn polynomial(self, coefficients: &[f64]) -> V<'c> {
        const LONG: usize = 6;
        if coefficients.len() < LONG {
            return self.steps(coefficients.iter().rev());
        }
        let square = self * self;
        let even = square.steps(coefficients.iter().step_by(2).rev());
        let odd = square.steps(coefficients.iter().skip(1).step_by(2).rev());
        odd.times_plus(self, even)
    }

    /// A polynomial in this number, its constant last.
    fn steps<'a>(self, mut coefficients: impl Iterator<Item = &'a f64>) -> V<'c> {
        let highest = self.constant(*coefficients.next().unwrap_or(&0.0));
        coefficients.fold(highest, |sum, &c| sum.times_plus(self, self.constant(c)))
    }

    /// The nearest integer, and a number whose lowest bits are that integer. For less than a quarter of
    /// what a mantissa holds.
    pub fn round(self) -> (V<'c>, V<'c>) {
        // Adding this leaves no bits behind the point.
        let shift = match self.lane {
            Lane::F32 => 1.5 * f64::from(1 << 23),
            _ => 1.5 * (1u64 << 52) as f64,
        };
        let shifted = self + shift;
        (shifted - shift, shifted)
    }

    /// Two to the power of the integer in the lowest bits of a number from [`round`](V::round).
    pub fn power_of_two(self) -> V<'c> {
        let (mantissa, one) = match self.lane {
            Lane::F32 => (23, 127 << 23),
            _ => (52, 1023 << 52),
        };
        self.bits().shl(mantissa).plus(one).float()
    }

    /// The bits.
    pub fn bits(self) -> V<'c> {
        self.cast("bitcast", self.lane.integer())
    }

    /// The number with these bits.
    pub fn float(self) -> V<'c> {
        self.cast("bitcast", self.lane.float())
    }

    /// In double precision.
    pub fn double(self) -> V<'c> {
        self.cast("fpext", Lane::F64)
    }

    /// In single precision.
    pub fn single(self) -> V<'c> {
        self.cast("fptrunc", Lane::F32)
    }

    /// Small integers in the lowest bits as numbers: those of [`bits`](V::bits), shifted right.
    pub fn small_integer(self) -> V<'c> {
        let lane = self.lane.float();
        // As the mantissa of a number that is the integer plus a power of two.
        let (bits, shift) = match lane {
            Lane::F32 => (0x4B00_0000, f64::from(1 << 23)),
            _ => (0x4330_0000_0000_0000, (1u64 << 52) as f64),
        };
        self.or(bits).float() - shift
    }

    fn cast(self, op: &str, lane: Lane) -> V<'c> {
        let (from, to) = (self.code.vector(self.lane), self.code.vector(lane));
        let text = format!("{op} {from} {} to {to}", self.written());
        self.code.emit(lane, &text)
    }

    /// Integers, shifted left.
    pub fn shl(self, by: i64) -> V<'c> {
        self.binary("shl", self.code.integer(self.lane, by))
    }

    /// Integers, shifted right.
    pub fn shr(self, by: i64) -> V<'c> {
        self.binary("lshr", self.code.integer(self.lane, by))
    }

    /// Integers plus a number.
    pub fn plus(self, more: i64) -> V<'c> {
        self.binary("add", self.code.integer(self.lane, more))
    }

    /// The bits that are set in both.
    pub fn and(self, mask: i64) -> V<'c> {
        self.binary("and", self.code.integer(self.lane, mask))
    }

    /// The bits that are set in one of them.
    pub fn or(self, bits: i64) -> V<'c> {
        self.binary("or", self.code.integer(self.lane, bits))
    }

    /// Whether the lowest bits of integers are not all zero.
    pub fn has(self, bits: i64) -> V<'c> {
        let masked = self.and(bits);
        let ty = self.code.vector(self.lane);
        let text = format!("icmp ne {ty} {}, zeroinitializer", masked.written());
        self.code.emit(Lane::Bool, &text)
    }

    /// Truth of one of them.
    pub fn either(self, other: V<'c>) -> V<'c> {
        self.binary("or", other)
    }

    /// Truth of both of them.
    pub fn both(self, other: V<'c>) -> V<'c> {
        self.binary("and", other)
    }

    fn compare(self, predicate: &str, with: V<'c>) -> V<'c> {
        let ty = self.code.vector(self.lane);
        let text = format!(
            "fcmp {predicate} {ty} {}, {}",
            self.written(),
            with.written()
        );
        self.code.emit(Lane::Bool, &text)
    }

    /// Whether this is less; NaN is not.
    pub fn less(self, than: f64) -> V<'c> {
        self.compare("olt", self.constant(than))
    }

    /// Whether this is greater; NaN is not.
    pub fn greater(self, than: f64) -> V<'c> {
        self.compare("ogt", self.constant(than))
    }

    /// Whether this is the number; NaN is not.
    pub fn equals(self, number: f64) -> V<'c> {
        self.compare("oeq", self.constant(number))
    }

    /// Whether this is not less, or NaN.
    pub fn not_less(self, than: f64) -> V<'c> {
        self.compare("uge", self.constant(than))
    }

    /// Whether this is NaN.
    pub fn is_nan(self) -> V<'c> {
        self.compare("uno", self)
    }

    /// One or the other, by truth.
    pub fn choose(self, yes: V<'c>, no: V<'c>) -> V<'c> {
        let (truth, ty) = (self.code.vector(Lane::Bool), self.code.vector(yes.lane));
        let (condition, yes_text, no_text) = (self.written(), yes.written(), no.written());
        let text = format!("select {truth} {condition}, {ty} {yes_text}, {ty} {no_text}");
        self.code.emit(yes.lane, &text)
    }

    /// At least `low` and at most `high`; NaN stays.
    pub fn clamp(self, low: f64, high: f64) -> V<'c> {
        let above = self.less(low).choose(self.constant(low), self);
        above.greater(high).choose(self.constant(high), above)
    }

    /// The absolute value.
    pub fn abs(self) -> V<'c> {
        let mask = match self.lane {
            Lane::F32 => 0x7FFF_FFFF,
            _ => i64::MAX,
        };
        self.bits().and(mask).float()
    }

    /// The square root.
    pub fn sqrt(self) -> V<'c> {
        let bits = if self.lane == Lane::F32 { 32 } else { 64 };
        let (ty, width) = (self.code.vector(self.lane), self.code.width);
        let text = format!(
            "call {ty} @llvm.sqrt.v{width}f{bits}({ty} {})",
            self.written()
        );
        self.code.emit(self.lane, &text)
    }

    /// The first 26 bits of a number of double precision. Products of two such numbers are exact, and so
    /// is the difference to the number that they are from.
    pub fn high(self) -> V<'c> {
        self.bits().and(-1 << 27).float()
    }

    /// This number, which is not negative, with the sign of another.
    pub fn with_sign_of(self, other: V<'c>) -> V<'c> {
        let mask = match self.lane {
            Lane::F32 => -0x8000_0000,
            _ => i64::MIN,
        };
        let sign = other.bits().and(mask);
        self.bits().binary("or", sign).float()
    }

    /// The sign flipped where the lowest bit of integers of the same size is set.
    pub fn flipped_if_odd(self, integers: V<'c>) -> V<'c> {
        let size = match self.lane {
            Lane::F32 => 31,
            _ => 63,
        };
        let sign = integers.shl(size);
        self.bits().binary("xor", sign).float()
    }

    /// The sum with a number that is not larger, or of zero and any number, and what rounding took
    /// from it.
    pub fn plus_smaller(self, other: V<'c>) -> (V<'c>, V<'c>) {
        let sum = self + other;
        (sum, other - (sum - self))
    }

    /// The sum of two numbers and what rounding took from it.
    pub fn exact_sum(self, other: V<'c>) -> (V<'c>, V<'c>) {
        let sum = self + other;
        let second = sum - self;
        let first = sum - second;
        (sum, (self - first) + (other - second))
    }
}

macro_rules! arithmetic {
    ($($trait:ident $name:ident $op:literal;)*) => {$(
        impl<'c> $trait for V<'c> {
            type Output = V<'c>;
            fn $name(self, other: V<'c>) -> V<'c> {
                self.binary($op, other)
            }
        }
        impl<'c> $trait<f64> for V<'c> {
            type Output = V<'c>;
            fn $name(self, other: f64) -> V<'c> {
                self.binary($op, self.constant(other))
            }
        }
        impl<'c> $trait<V<'c>> for f64 {
            type Output = V<'c>;
            fn $name(self, other: V<'c>) -> V<'c> {
                other.constant(self).binary($op, other)
            }
        }
    )*};
}

arithmetic! {
    Add add "fadd";
    Sub sub "fsub";
    Mul mul "fmul";
    Div div "fdiv";
}

impl<'c> Neg for V<'c> {
    type Output = V<'c>;
    fn neg(self) -> V<'c> {
        let text = format!("fneg {} {}", self.code.vector(self.lane), self.written());
        self.code.emit(self.lane, &text)
    }
}
