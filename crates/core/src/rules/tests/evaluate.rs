//! Evaluates expressions in `f64`, with the derivative along one direction.

use super::super::{Arith, Compare, Expr, Primal, Rule, rule_for};
use crate::ir::{MathFn, Op};

/// A number and its derivative.
#[derive(Copy, Clone, Debug)]
pub struct Dual {
    pub value: f64,
    pub tangent: f64,
}

impl Dual {
    pub fn constant(value: f64) -> Dual {
        let tangent = 0.0;
        Dual { value, tangent }
    }
}

/// The value of an expression; conditions are 1 and 0.
pub fn value(expr: &Expr, operands: &[f64], result: f64) -> f64 {
    let operands: Vec<Dual> = operands.iter().map(|&x| Dual::constant(x)).collect();
    dual(expr, &operands, Dual::constant(result)).value
}

/// The value of an expression and its derivative, from those of the primal values.
pub fn dual(expr: &Expr, operands: &[Dual], result: Dual) -> Dual {
    let eval = |x: &Expr| dual(x, operands, result);
    let truth = |holds: bool| Dual::constant(f64::from(holds));
    match expr {
        Expr::Number(x) => Dual::constant(*x),
        Expr::Named(constant) => Dual::constant(constant.parts()[0]),
        Expr::Float(Primal::Result) => result,
        Expr::Float(Primal::Computed(_)) => unreachable!("the table knows no values"),
        Expr::Float(Primal::Operand(index)) | Expr::Int(index) => operands[*index],
        Expr::Neg(x) => {
            let x = eval(x);
            Dual {
                value: -x.value,
                tangent: -x.tangent,
            }
        }
        Expr::Arith(arith, x, y) => {
            let (x, y) = (eval(x), eval(y));
            let (a, b) = (x.value, y.value);
            let (value, by_x, by_y) = match arith {
                Arith::Add => (a + b, 1.0, 1.0),
                Arith::Sub => (a - b, 1.0, -1.0),
                Arith::Mul => (a * b, b, a),
                Arith::Div => (a / b, 1.0 / b, -a / b / b),
                Arith::Rem => (a % b, 1.0, -(a / b).trunc()),
            };
            let tangent = x.tangent * by_x + y.tangent * by_y;
            Dual { value, tangent }
        }
        Expr::Compare(compare, x, y) => {
            let (x, y) = (eval(x).value, eval(y).value);
            truth(match compare {
                Compare::Eq => x == y,
                Compare::Ne => x != y,
                Compare::Lt => x < y,
                Compare::Le => x <= y,
                Compare::Gt => x > y,
                Compare::Ge => x >= y,
            })
        }
        Expr::And(x, y) => truth(eval(x).value != 0.0 && eval(y).value != 0.0),
        Expr::Or(x, y) => truth(eval(x).value != 0.0 || eval(y).value != 0.0),
        Expr::Select(c, x, y) => {
            if eval(c).value != 0.0 {
                eval(x)
            } else {
                eval(y)
            }
        }
        Expr::Call(function, args) => call(*function, args.iter().map(eval).collect()),
    }
}

fn call(function: MathFn, args: Vec<Dual>) -> Dual {
    let values: Vec<f64> = args.iter().map(|arg| arg.value).collect();
    let value = math(function, &values);
    let mut tangent = 0.0;
    for (index, arg) in args
        .iter()
        .enumerate()
        .filter(|(_, arg)| arg.tangent != 0.0)
    {
        tangent += arg.tangent * partial(&Op::Math(function), index, &values, value);
    }
    Dual { value, tangent }
}

/// The partial derivative of an operation as its rule gives it.
pub fn partial(op: &Op, operand: usize, operands: &[f64], result: f64) -> f64 {
    use super::super::Partial;
    let Some(rule) = rule_for(op) else {
        // The one function without a rule.
        assert_eq!(*op, Op::Math(MathFn::Digamma));
        let h = 1e-5;
        return (digamma(operands[0] + h) - digamma(operands[0] - h)) / (2.0 * h);
    };
    match (rule, rule.partial(operand)) {
        (Rule::Cast, _) => panic!("a conversion is no function"),
        (_, Partial::Zero) => 0.0,
        (_, Partial::One) => 1.0,
        (_, Partial::MinusOne) => -1.0,
        (_, Partial::Factor(factor)) => value(&factor.expr, operands, result),
    }
}

/// The functions of the IR.
pub fn math(function: MathFn, args: &[f64]) -> f64 {
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(f64::NAN);
    match function {
        MathFn::Sqrt => libm::sqrt(x),
        MathFn::Cbrt => libm::cbrt(x),
        MathFn::Hypot => libm::hypot(x, y),
        MathFn::Exp => libm::exp(x),
        MathFn::Exp2 => libm::exp2(x),
        MathFn::Exp10 => libm::exp10(x),
        MathFn::Expm1 => libm::expm1(x),
        MathFn::Log => libm::log(x),
        MathFn::Log2 => libm::log2(x),
        MathFn::Log10 => libm::log10(x),
        MathFn::Log1p => libm::log1p(x),
        MathFn::Logb => f64::from(libm::ilogb(x)),
        MathFn::Pow => libm::pow(x, y),
        MathFn::Powi => x.powi(y as i32),
        MathFn::Fabs => libm::fabs(x),
        MathFn::Copysign => libm::copysign(x, y),
        MathFn::Fma | MathFn::Fmuladd => libm::fma(x, y, args[2]),
        MathFn::Fmin => libm::fmin(x, y),
        MathFn::Fmax => libm::fmax(x, y),
        MathFn::Minimum => libm::fminimum(x, y),
        MathFn::Maximum => libm::fmaximum(x, y),
        MathFn::MinimumNum => libm::fminimum_num(x, y),
        MathFn::MaximumNum => libm::fmaximum_num(x, y),
        MathFn::Fdim => libm::fdim(x, y),
        MathFn::Floor => libm::floor(x),
        MathFn::Ceil => libm::ceil(x),
        MathFn::Trunc => libm::trunc(x),
        MathFn::Round => libm::round(x),
        MathFn::RoundEven | MathFn::Rint | MathFn::Nearbyint => libm::roundeven(x),
        MathFn::Fmod => libm::fmod(x, y),
        MathFn::Remainder => libm::remainder(x, y),
        MathFn::Ldexp => libm::ldexp(x, y as i32),
        MathFn::Significand => libm::frexp(x).0,
        MathFn::Sin => libm::sin(x),
        MathFn::Cos => libm::cos(x),
        MathFn::Tan => libm::tan(x),
        MathFn::Asin => libm::asin(x),
        MathFn::Acos => libm::acos(x),
        MathFn::Atan => libm::atan(x),
        MathFn::Atan2 => libm::atan2(x, y),
        MathFn::Sinh => libm::sinh(x),
        MathFn::Cosh => libm::cosh(x),
        MathFn::Tanh => libm::tanh(x),
        MathFn::Asinh => libm::asinh(x),
        MathFn::Acosh => libm::acosh(x),
        MathFn::Atanh => libm::atanh(x),
        MathFn::Erf => libm::erf(x),
        MathFn::Erfc => libm::erfc(x),
        MathFn::Tgamma => libm::tgamma(x),
        MathFn::Lgamma => libm::lgamma(x),
        MathFn::Digamma => digamma(x),
        MathFn::J0 => libm::j0(x),
        MathFn::J1 => libm::j1(x),
        MathFn::Jn => libm::jn(x as i32, y),
        MathFn::Y0 => libm::y0(x),
        MathFn::Y1 => libm::y1(x),
        MathFn::Yn => libm::yn(x as i32, y),
    }
}

/// The logarithmic derivative of Γ, from its recurrence and its asymptotic series.
pub fn digamma(x: f64) -> f64 {
    if x < 0.5 {
        return digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * x).tan();
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 20.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series = z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z / 240.0)));
    sum + x.ln() - 0.5 / x - series
}
