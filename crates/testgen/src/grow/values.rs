//! Values at random: integers, conditions, floats.

use super::Grower;
use crate::tree::{Cond, Expr, Fun, Fun2, Index, Int, Kind, Near, Place, Via};

const SMOOTH: &[&str] = &[
    "sin", "cos", "tanh", "atan", "asinh", "erf", "expm1_", "sin", "tanh",
];
const POSITIVE: &[&str] = &[
    "sqrt", "log", "log2", "log10", "log1p", "cbrt", "lgamma", "acosh",
];
const UNIT: &[&str] = &["asin", "acos", "atanh", "tan"];
const TAMED: &[&str] = &["exp", "exp2", "expm1", "sinh", "cosh", "exp10", "erfc"];
/// Functions where they have large derivatives, or lose digits, but are still smooth.
const EDGES: &[(&str, Near)] = &[
    ("asin", Near::Sine(0.9995)),
    ("acos", Near::Sine(0.9995)),
    ("atanh", Near::Sine(0.999)),
    ("tan", Near::Tanh(1.55)),
    ("log", Near::Square(1e-3)),
    ("log2", Near::Square(1e-3)),
    ("sqrt", Near::Square(1e-4)),
    ("cbrt", Near::Square(1e-3)),
    ("log1p", Near::Tanh(0.999)),
    ("acosh", Near::Square(1.0001)),
    ("exp", Near::Tanh(6.0)),
    ("sinh", Near::Tanh(6.0)),
    ("erfc", Near::Tanh(5.0)),
    ("expm1", Near::Times(1e-7)),
    ("log1p", Near::Square(1e-9)),
    ("tanh", Near::Times(30.0)),
    ("atan", Near::Times(200.0)),
    ("lgamma", Near::Square(1e-2)),
];
const MATH2: &[&str] = &["atan2", "hypot", "fmax", "fmin", "copysign", "fmod", "fdim"];
const FLOAT_PREDS: &[&str] = &["ogt", "olt", "oge", "ole", "ugt", "ult", "une", "oeq"];
const INT_PREDS: &[&str] = &["eq", "ne", "slt", "sgt", "ult", "uge", "sle"];

impl Grower {
    pub(super) fn index(&mut self) -> Index {
        match self.rng.u8(..3) {
            0 => Index::Int(self.int(1)),
            _ => Index::Const(self.rng.u8(..8)),
        }
    }

    pub(super) fn place(&mut self, write: bool) -> Place {
        Place {
            base: if write {
                self.writable()
            } else {
                self.readable()
            },
            index: self.index(),
        }
    }

    pub(super) fn int(&mut self, depth: usize) -> Int {
        if depth > 0 && self.features.casts && self.rng.u8(..3) == 0 {
            return Int::Narrow(Box::new(self.int(depth - 1)), self.rng.u8(..3));
        }
        match self.rng.u8(..10) {
            0..=1 => Int::Const(self.rng.i8(-3..6)),
            2..=4 => Int::Slot(self.slot(Kind::Int)),
            5 => Int::Argument,
            6 if depth > 0 => {
                Int::Add(Box::new(self.int(depth - 1)), Box::new(self.int(depth - 1)))
            }
            7 if depth > 0 => {
                Int::Mul(Box::new(self.int(depth - 1)), Box::new(self.int(depth - 1)))
            }
            8 if self.features.data_dependent => Int::Rounded(Box::new(self.expr(0))),
            9 if self.features.structures => Int::OfRecord(self.slot(Kind::Record)),
            8 if self.features.records => Int::OfField(self.rng.u8(..4)),
            _ => Int::Slot(self.slot(Kind::Int)),
        }
    }

    /// A number that no computation is likely to hit.
    fn odd_number(&mut self) -> f64 {
        (self.rng.f64() * 2.0 - 0.8) + 0.000_137
    }

    pub(super) fn cond(&mut self) -> Cond {
        if self.features.ties && self.rng.u8(..3) == 0 {
            let pred = self.pick(&["oge", "ogt", "oeq", "une"]);
            return Cond::Tie(pred, self.expr(2));
        }
        match self.rng.bool() {
            true => {
                let pred = self.pick(FLOAT_PREDS);
                let number = self.odd_number();
                Cond::Float(pred, self.expr(1), number)
            }
            false => {
                let pred = self.pick(INT_PREDS);
                let number = self.rng.i8(-1..4);
                Cond::Int(pred, self.int(1), number)
            }
        }
    }

    /// A float that does not grow without bound. In nested loops even repeated squares must not,
    /// because derivatives of products make no promise for infinite operands.
    pub(super) fn bounded(&mut self) -> Expr {
        let inner = Box::new(self.expr(2));
        match self.rng.u8(..4) {
            0 | 2 if self.inside.loops > 1 => Expr::Fun(Fun::Smooth("atan"), inner),
            0 => Expr::Fun2(Fun2::Op("fmul"), inner, Box::new(Expr::Const(0.5))),
            1 => Expr::Fun(Fun::Smooth("tanh"), inner),
            2 => *inner,
            _ => Expr::Fun(Fun::Smooth("sin"), inner),
        }
    }

    pub(super) fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.rng.u8(..4) == 0 {
            return self.leaf();
        }
        let x = Box::new(self.expr(depth - 1));
        match self.rng.u8(..12) {
            0 => Expr::Fun(self.fun(), x),
            1 => Expr::Fun(self.fun(), x),
            2 => {
                let cond = Box::new(self.cond());
                Expr::Select(cond, x, Box::new(self.expr(depth - 1)))
            }
            3 => match self.via() {
                Some(via) => Expr::Via(via, x),
                None => *x,
            },
            4..=5 => {
                let fun = match self.rng.u8(..8) {
                    0 => Fun2::Pow,
                    1 => Fun2::GuardedDiv,
                    2 => Fun2::Fma,
                    3 => Fun2::Rem,
                    4..=5 => Fun2::SafeDiv,
                    _ => Fun2::Math(self.pick(MATH2)),
                };
                Expr::Fun2(fun, x, Box::new(self.expr(depth - 1)))
            }
            _ => {
                let op = self.pick(&["fadd", "fsub", "fmul", "fmul"]);
                Expr::Fun2(Fun2::Op(op), x, Box::new(self.expr(depth - 1)))
            }
        }
    }

    fn fun(&mut self) -> Fun {
        if self.features.edges && self.rng.u8(..3) == 0 {
            let (name, near) = self.pick(EDGES);
            return Fun::Within(name, near);
        }
        match self.rng.u8(..8) {
            0..=2 => Fun::Smooth(self.pick(SMOOTH).trim_end_matches('_')),
            // Some of them have a kink or a pole at 1.
            3 => Fun::Within(self.pick(POSITIVE), Near::Square(1.125)),
            4 => Fun::Within(self.pick(UNIT), Near::Sine(0.7)),
            5 => Fun::Within(self.pick(TAMED), Near::Tanh(1.0)),
            6 => self.pick(&[Fun::Neg, Fun::Abs]),
            _ => Fun::Powi(self.rng.i8(-2..4)),
        }
    }

    fn via(&mut self) -> Option<Via> {
        let mut all = vec![Via::Freeze];
        if self.features.bits {
            all.extend([Via::Bits, Via::Wide, Via::IntVector]);
        }
        if self.features.singles {
            all.extend([Via::Single, Via::Pair]);
        }
        if self.features.vectors {
            all.push(Via::Vector);
        }
        if self.features.structures {
            all.extend([Via::Structure, Via::Array]);
        }
        Some(self.pick(&all))
    }

    fn leaf(&mut self) -> Expr {
        match self.rng.u8(..16) {
            0 => Expr::Const(0.25 + f64::from(self.rng.u8(..8)) * 0.25),
            1..=5 => Expr::Load(self.place(false)),
            6 if self.features.fixed => Expr::LoadConst(self.index()),
            7 if self.features.fixed => Expr::Slot(self.slot(Kind::Fixed)),
            8 => Expr::OfInt(self.int(1)),
            9 if self.features.vectors => Expr::Lane(self.slot(Kind::Vector), self.index()),
            10 if self.features.structures => {
                Expr::RecordField(self.slot(Kind::Record), self.rng.u8(..2))
            }
            11 if self.features.bits => Expr::OfBits(self.slot(Kind::Bits)),
            12 if self.features.singles => match self.rng.u8(..3) {
                0 => Expr::OfSingle(self.slot(Kind::Single)),
                1 => Expr::OfPair(self.slot(Kind::Pair), self.rng.u8(..2)),
                _ => Expr::LoadSingle(self.rng.u8(..8)),
            },
            13 if self.features.records => match self.features.singles {
                true => Expr::LoadSingle(8 + self.rng.u8(..8)),
                false => Expr::LoadField(self.rng.u8(..4)),
            },
            14 if self.features.records => Expr::LoadField(self.rng.u8(..4)),
            _ => Expr::Slot(self.slot(Kind::Float)),
        }
    }

    pub(super) fn fixed(&mut self) -> Expr {
        let x = match self.rng.u8(..3) {
            0 => Expr::LoadConst(Index::Const(self.rng.u8(..8))),
            1 => Expr::OfInt(Int::Slot(self.slot(Kind::Int))),
            _ => Expr::Slot(self.slot(Kind::Fixed)),
        };
        let y = Expr::Slot(self.slot(Kind::Fixed));
        let product = Expr::Fun2(Fun2::Op("fmul"), Box::new(x), Box::new(y));
        Expr::Fun(Fun::Smooth("sin"), Box::new(product))
    }
}
