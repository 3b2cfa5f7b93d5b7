//! Expressions over primal values: what the partial derivatives in the table are.

use crate::ir::{MathFn, Value};

/// An expression. Its leaves are numbers and the primal values of one operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A number that is exact in every float format.
    Number(f64),
    /// A number that is rounded to the format.
    Named(NamedConstant),
    /// A float operand, or the result.
    Float(Primal),
    /// An integer operand; where a float is expected it is converted.
    Int(usize),
    /// −x.
    Neg(Box<Expr>),
    /// Arithmetic.
    Arith(Arith, Box<Expr>, Box<Expr>),
    /// A condition: a comparison, false if an operand is NaN except `!=`.
    Compare(Compare, Box<Expr>, Box<Expr>),
    /// A condition: both hold.
    And(Box<Expr>, Box<Expr>),
    /// A condition: one holds.
    Or(Box<Expr>, Box<Expr>),
    /// The second if the first holds, otherwise the third.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function of the IR.
    Call(MathFn, Vec<Expr>),
}

/// A primal value of the operation that a rule is about.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Primal {
    /// An operand, by position.
    Operand(usize),
    /// The result.
    Result,
    /// Another value, which [`Expr::with_computed`] has put in the place of a call.
    Computed(Value),
}

/// Arithmetic of expressions.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Arith {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// The remainder of the truncated quotient.
    Rem,
}

/// Comparisons of expressions.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Compare {
    /// Equal.
    Eq,
    /// Different, or NaN.
    Ne,
    /// Below.
    Lt,
    /// Below or equal.
    Le,
    /// Above.
    Gt,
    /// Above or equal.
    Ge,
}

/// Numbers that no float format has exactly.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum NamedConstant {
    /// π.
    Pi,
    /// log 2.
    Ln2,
    /// log 10.
    Ln10,
    /// 2/√π.
    TwoOverSqrtPi,
}

impl NamedConstant {
    /// Every constant.
    pub const ALL: [NamedConstant; 4] = [
        NamedConstant::Pi,
        NamedConstant::Ln2,
        NamedConstant::Ln10,
        NamedConstant::TwoOverSqrtPi,
    ];

    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            NamedConstant::Pi => "pi",
            NamedConstant::Ln2 => "ln2",
            NamedConstant::Ln10 => "ln10",
            NamedConstant::TwoOverSqrtPi => "two_over_sqrt_pi",
        }
    }

    /// The number as a sum: the first part is the nearest `f64`, each further part the nearest
    /// `f64` to what is left, so that all three give more digits than any format holds.
    pub fn parts(self) -> [f64; 3] {
        match self {
            NamedConstant::Pi => PI,
            NamedConstant::Ln2 => LN2,
            NamedConstant::Ln10 => LN10,
            NamedConstant::TwoOverSqrtPi => TWO_OVER_SQRT_PI,
        }
    }
}

/// Primal values that an expression is computed from.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Needs {
    operands: u8,
    /// Whether the result is among them.
    pub result: bool,
}

impl Needs {
    /// Whether an operand is among them.
    pub fn operand(self, index: usize) -> bool {
        index < 8 && self.operands & (1 << index) != 0
    }

    /// The operands among them, by position.
    pub fn operands(self) -> impl Iterator<Item = usize> {
        (0..8).filter(move |&index| self.operand(index))
    }

    /// What either needs.
    pub fn union(self, other: Needs) -> Needs {
        Needs {
            operands: self.operands | other.operands,
            result: self.result | other.result,
        }
    }
}

impl Expr {
    /// The primal values that the expression is computed from.
    pub fn needs(&self) -> Needs {
        match self {
            Expr::Float(Primal::Result) => Needs {
                operands: 0,
                result: true,
            },
            Expr::Float(Primal::Operand(index)) | Expr::Int(index) => Needs {
                operands: 1 << index,
                result: false,
            },
            _ => self
                .parts()
                .into_iter()
                .fold(Needs::default(), |needs, part| needs.union(part.needs())),
        }
    }

    /// The expression in which functions of one operand that are known already, by the position of
    /// that operand, are not computed again.
    pub fn with_computed(&self, known: &dyn Fn(MathFn, usize) -> Option<Value>) -> Expr {
        let of = |x: &Expr| Box::new(x.with_computed(known));
        match self {
            Expr::Call(function, args) => match args[..] {
                [Expr::Float(Primal::Operand(n))] => known(*function, n)
                    .map_or(self.clone(), |value| Expr::Float(Primal::Computed(value))),
                _ => Expr::Call(*function, args.iter().map(|x| *of(x)).collect()),
            },
            Expr::Neg(x) => Expr::Neg(of(x)),
            Expr::Arith(arith, x, y) => Expr::Arith(*arith, of(x), of(y)),
            Expr::Compare(compare, x, y) => Expr::Compare(*compare, of(x), of(y)),
            Expr::And(x, y) => Expr::And(of(x), of(y)),
            Expr::Or(x, y) => Expr::Or(of(x), of(y)),
            Expr::Select(c, x, y) => Expr::Select(of(c), of(x), of(y)),
            Expr::Number(_) | Expr::Named(_) | Expr::Float(_) | Expr::Int(_) => self.clone(),
        }
    }

    /// The values that [`with_computed`](Self::with_computed) has put in.
    pub fn computed(&self) -> Vec<Value> {
        match self {
            Expr::Float(Primal::Computed(value)) => vec![*value],
            _ => self.parts().into_iter().flat_map(Expr::computed).collect(),
        }
    }

    /// The expressions directly inside this one.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Number(_) | Expr::Named(_) | Expr::Float(_) | Expr::Int(_) => Vec::new(),
            Expr::Neg(x) => vec![x],
            Expr::Arith(_, x, y) | Expr::Compare(_, x, y) | Expr::And(x, y) | Expr::Or(x, y) => {
                vec![x, y]
            }
            Expr::Select(c, x, y) => vec![c, x, y],
            Expr::Call(_, args) => args.iter().collect(),
        }
    }

    /// Whether the expression is made of integer operands and whole numbers only, an operand at
    /// least, so that it is computed in integers.
    pub fn is_integer(&self) -> bool {
        fn whole(expr: &Expr) -> bool {
            matches!(expr, Expr::Number(x) if x.fract() == 0.0)
        }
        match self {
            Expr::Int(_) => true,
            Expr::Arith(Arith::Add | Arith::Sub, x, y) => {
                (x.is_integer() && (y.is_integer() || whole(y))) || (whole(x) && y.is_integer())
            }
            _ => false,
        }
    }
}

const PI: [f64; 3] = [
    std::f64::consts::PI,
    1.2246467991473532e-16,
    -2.9947698097183397e-33,
];
const LN2: [f64; 3] = [
    std::f64::consts::LN_2,
    2.3190468138462996e-17,
    5.707708438416212e-34,
];
const LN10: [f64; 3] = [
    std::f64::consts::LN_10,
    -2.1707562233822494e-16,
    -9.984262454465777e-33,
];
const TWO_OVER_SQRT_PI: [f64; 3] = [
    std::f64::consts::FRAC_2_SQRT_PI,
    1.533545961316588e-17,
    -4.765684596693686e-34,
];
