//! The table of derivative rules.
//!
//! Each line is an equation and the partial derivative by each of its operands. `r` is the result;
//! it is used where that is cheaper than to compute from the operands. How to read the
//! expressions: [`parse`](super::parse). What `finite` promises: [`rules`](super).

/// A line of the table, as text.
pub(super) struct Line {
    pub equation: &'static str,
    pub kind: Kind,
    pub partials: &'static [&'static str],
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Zero wherever there is a derivative.
    Zero,
    /// Finite operands give finite partials.
    Finite,
    /// Finite operands may give infinite partials or NaN: contributions are guarded.
    Guarded,
}

const fn zero(equation: &'static str) -> Line {
    line(equation, Kind::Zero, &[])
}

const fn finite(equation: &'static str, partials: &'static [&'static str]) -> Line {
    line(equation, Kind::Finite, partials)
}

const fn guarded(equation: &'static str, partials: &'static [&'static str]) -> Line {
    line(equation, Kind::Guarded, partials)
}

const fn line(equation: &'static str, kind: Kind, partials: &'static [&'static str]) -> Line {
    Line {
        equation,
        kind,
        partials,
    }
}

/// The rules of 1/y and −1/y, whose first operand is no variable.
pub(super) const RECIPROCAL: Line = guarded("x / y", &["1 / y", "-(r * r)"]);
pub(super) const MINUS_RECIPROCAL: Line = guarded("x / y", &["1 / y", "r * r"]);

#[rustfmt::skip]
pub(super) const TABLE: &[Line] = &[
    // Arithmetic. The two quotients of a division are one instruction: both start with d / y.
    finite("-x",                 &["-1"]),
    finite("x + y",              &["1", "1"]),
    finite("x - y",              &["1", "-1"]),
    finite("x * y",              &["y", "x"]),
    guarded("x / y",             &["1 / y", "-(1 / y) * r"]),
    finite("fma(x, y, z)",       &["y", "x", "1"]),
    finite("fmuladd(x, y, z)",   &["y", "x", "1"]),

    // The remainders are x − q·y for a whole q, constant where there is a derivative. The quotient
    // (x − r)/y is rounded, because x/y may round to a whole number that q is not.
    guarded("x % y",             &["1", "roundeven((r - x) / y)"]),
    guarded("fmod(x, y)",        &["1", "roundeven((r - x) / y)"]),
    guarded("remainder(x, y)",   &["1", "roundeven((r - x) / y)"]),

    // Powers and roots. The derivative of √x at 0 is +∞, as in JAX. The reciprocal of a root never
    // overflows, and it is one for all derivatives, and for the program if it divides by the root.
    guarded("sqrt(x)",           &["0.5 * (1 / r)"]),
    guarded("cbrt(x)",           &["1 / (3 * r * r)"]),
    // At the origin: 0, the smallest subgradient, as for |x|.
    finite("hypot(x, y)",        &["select(r == 0, 0, x / r)", "select(r == 0, 0, y / r)"]),
    // pow(0, 0) = 1 has the derivative 0 by x, as in JAX; by y at x = 0 it is 0 where pow is 0
    // or 1, as in JAX, and the limit −∞ for y < 0. For x < 0 it is NaN by y, as in JAX.
    guarded("pow(x, y)",         &["select(x == 0 & y == 0, 0, y * pow(x, y - 1))",
                                   "select(x == 0 & y >= 0, 0, r * log(x))"]),
    guarded("powi(x, n)",        &["select(n == 0, 0, n * powi(x, n - 1))", "0"]),

    // Exponentials and logarithms. log(x) for x < 0 has the derivative 1/x, as in JAX.
    guarded("exp(x)",            &["r"]),
    guarded("exp2(x)",           &["r * ln2"]),
    guarded("exp10(x)",          &["r * ln10"]),
    guarded("expm1(x)",          &["r + 1"]),
    guarded("log(x)",            &["1 / x"]),
    guarded("log2(x)",           &["1 / (x * ln2)"]),
    guarded("log10(x)",          &["1 / (x * ln10)"]),
    guarded("log1p(x)",          &["1 / (1 + x)"]),

    // Signs. |x| has the derivative sign(x), which is 0 at 0, as in JAX.
    finite("fabs(x)",            &["select(x == 0, 0, copysign(1, x))"]),
    finite("copysign(x, y)",     &["select(x == 0, 0, copysign(1, x) * copysign(1, y))", "0"]),

    // Extrema. At a tie each operand gets half, as in JAX. The functions that ignore a NaN give
    // all to the other operand; those that do not give nothing to either, as in JAX.
    finite("fmin(x, y)",         &["select(x == y, 0.5, select(x < y | y != y, 1, 0))",
                                   "select(x == y, 0.5, select(y < x | x != x, 1, 0))"]),
    finite("fmax(x, y)",         &["select(x == y, 0.5, select(x > y | y != y, 1, 0))",
                                   "select(x == y, 0.5, select(y > x | x != x, 1, 0))"]),
    finite("fminimum_num(x, y)", &["select(x == y, 0.5, select(x < y | y != y, 1, 0))",
                                   "select(x == y, 0.5, select(y < x | x != x, 1, 0))"]),
    finite("fmaximum_num(x, y)", &["select(x == y, 0.5, select(x > y | y != y, 1, 0))",
                                   "select(x == y, 0.5, select(y > x | x != x, 1, 0))"]),
    finite("fminimum(x, y)",     &["select(x == y, 0.5, select(x < y, 1, 0))",
                                   "select(x == y, 0.5, select(y < x, 1, 0))"]),
    finite("fmaximum(x, y)",     &["select(x == y, 0.5, select(x > y, 1, 0))",
                                   "select(x == y, 0.5, select(y > x, 1, 0))"]),
    // max(x − y, 0), so half at the tie.
    finite("fdim(x, y)",         &["select(x == y, 0.5, select(x > y, 1, 0))",
                                   "select(x == y, -0.5, select(x > y, -1, 0))"]),

    // Steps.
    zero("floor(x)"),
    zero("ceil(x)"),
    zero("trunc(x)"),
    zero("round(x)"),
    zero("roundeven(x)"),
    zero("rint(x)"),
    zero("nearbyint(x)"),
    zero("logb(x)"),

    // Scaling by a power of two.
    guarded("ldexp(x, n)",       &["ldexp(1, n)", "0"]),
    // x·2⁻ᵉ where the exponent e of x is constant; that of 0 is 0.
    guarded("frexp_mantissa(x)", &["select(x == 0, 1, r / x)"]),

    // Circular functions. The derivative of the arc functions at ±1 is infinite, as in JAX; the
    // angle of the origin has none, and NaN says so, as in JAX.
    finite("sin(x)",             &["cos(x)"]),
    finite("cos(x)",             &["-sin(x)"]),
    guarded("tan(x)",            &["1 + r * r"]),
    guarded("asin(x)",           &["1 / sqrt((1 - x) * (1 + x))"]),
    guarded("acos(x)",           &["-1 / sqrt((1 - x) * (1 + x))"]),
    finite("atan(x)",            &["1 / (1 + x * x)"]),
    guarded("atan2(y, x)",       &["x / hypot(x, y) / hypot(x, y)",
                                   "-y / hypot(x, y) / hypot(x, y)"]),

    // Hyperbolic functions. acosh is written so that it is NaN below 1.
    guarded("sinh(x)",           &["cosh(x)"]),
    guarded("cosh(x)",           &["sinh(x)"]),
    finite("tanh(x)",            &["1 - r * r"]),
    finite("asinh(x)",           &["1 / sqrt(1 + x * x)"]),
    guarded("acosh(x)",          &["1 / (sqrt(x - 1) * sqrt(x + 1))"]),
    guarded("atanh(x)",          &["1 / ((1 - x) * (1 + x))"]),

    // Error function and gamma.
    finite("erf(x)",             &["two_over_sqrt_pi * exp(-(x * x))"]),
    finite("erfc(x)",            &["-two_over_sqrt_pi * exp(-(x * x))"]),
    guarded("tgamma(x)",         &["r * digamma(x)"]),
    guarded("lgamma(x)",         &["digamma(x)"]),

    // Bessel functions, from the recurrence of neighbouring orders.
    finite("j0(x)",              &["-j1(x)"]),
    finite("j1(x)",              &["0.5 * (j0(x) - jn(2, x))"]),
    finite("jn(n, x)",           &["0", "0.5 * (jn(n - 1, x) - jn(n + 1, x))"]),
    guarded("y0(x)",             &["-y1(x)"]),
    guarded("y1(x)",             &["0.5 * (y0(x) - yn(2, x))"]),
    guarded("yn(n, x)",          &["0", "0.5 * (yn(n - 1, x) - yn(n + 1, x))"]),
];
