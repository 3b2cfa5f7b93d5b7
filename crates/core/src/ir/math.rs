//! The mathematical functions that the IR knows: what LLVM has intrinsics for and what the C
//! library offers, one name for all precisions.

macro_rules! math_functions {
    ($($(#[$doc:meta])* $variant:ident $name:literal ($($param:ident),*);)*) => {
        /// A mathematical function without side effects, on floats or lane by lane on vectors.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum MathFn { $($(#[$doc])* $variant,)* }

        impl MathFn {
            /// Every function.
            pub const ALL: &'static [MathFn] = &[$(MathFn::$variant,)*];

            /// The name: that of the C function for `double`, where there is one.
            pub fn name(self) -> &'static str {
                match self { $(MathFn::$variant => $name,)* }
            }

            /// What each parameter is.
            pub fn params(self) -> &'static [MathParam] {
                match self { $(MathFn::$variant => &[$(MathParam::$param),*],)* }
            }

            /// The function of this name.
            pub fn from_name(name: &str) -> Option<MathFn> {
                match name { $($name => Some(MathFn::$variant),)* _ => None }
            }
        }
    };
}

impl MathFn {
    /// Whether there is one right result, which everybody computes: the function is rounded correctly,
    /// or need not be.
    pub fn is_exact(self) -> bool {
        use MathFn::*;
        matches!(
            self,
            Sqrt | Fma | Fabs | Copysign | Minimum | Maximum | MinimumNum | MaximumNum | Floor
        ) || matches!(self, Ceil | Trunc | Round | RoundEven | Rint | Nearbyint)
            || matches!(self, Fmod | Remainder | Ldexp | Significand | Logb)
    }

    /// Whether the result for two floats beside each other may be far apart, as a comparison's is.
    pub fn jumps(self) -> bool {
        use MathFn::*;
        matches!(
            self,
            Floor | Ceil | Trunc | Round | RoundEven | Rint | Nearbyint | Fmod | Remainder
        ) || matches!(self, Logb | Significand | Copysign | Atan2)
    }
}

/// What a parameter of a [`MathFn`] is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum MathParam {
    /// A float of the type of the result.
    Float,
    /// An integer of any width.
    Int,
}

math_functions! {
    /// Square root.
    Sqrt "sqrt" (Float);
    /// Cube root.
    Cbrt "cbrt" (Float);
    /// √(x² + y²).
    Hypot "hypot" (Float, Float);
    /// eˣ.
    Exp "exp" (Float);
    /// 2ˣ.
    Exp2 "exp2" (Float);
    /// 10ˣ.
    Exp10 "exp10" (Float);
    /// eˣ − 1.
    Expm1 "expm1" (Float);
    /// Natural logarithm.
    Log "log" (Float);
    /// Logarithm to base 2.
    Log2 "log2" (Float);
    /// Logarithm to base 10.
    Log10 "log10" (Float);
    /// log(1 + x).
    Log1p "log1p" (Float);
    /// The exponent of x as a float.
    Logb "logb" (Float);
    /// xʸ.
    Pow "pow" (Float, Float);
    /// xⁿ for an integer n.
    Powi "powi" (Float, Int);
    /// |x|.
    Fabs "fabs" (Float);
    /// |x| with the sign of y.
    Copysign "copysign" (Float, Float);
    /// x·y + z, rounded once.
    Fma "fma" (Float, Float, Float);
    /// x·y + z, rounded once or twice.
    Fmuladd "fmuladd" (Float, Float, Float);
    /// The smaller, ignoring a quiet NaN.
    Fmin "fmin" (Float, Float);
    /// The larger, ignoring a quiet NaN.
    Fmax "fmax" (Float, Float);
    /// The smaller, NaN if either is, −0 below +0.
    Minimum "fminimum" (Float, Float);
    /// The larger, NaN if either is, −0 below +0.
    Maximum "fmaximum" (Float, Float);
    /// The smaller, ignoring NaN, −0 below +0.
    MinimumNum "fminimum_num" (Float, Float);
    /// The larger, ignoring NaN, −0 below +0.
    MaximumNum "fmaximum_num" (Float, Float);
    /// max(x − y, 0).
    Fdim "fdim" (Float, Float);
    /// Rounded down.
    Floor "floor" (Float);
    /// Rounded up.
    Ceil "ceil" (Float);
    /// Rounded towards zero.
    Trunc "trunc" (Float);
    /// Rounded to nearest, ties away from zero.
    Round "round" (Float);
    /// Rounded to nearest, ties to even.
    RoundEven "roundeven" (Float);
    /// Rounded in the current mode, inexact signalled.
    Rint "rint" (Float);
    /// Rounded in the current mode.
    Nearbyint "nearbyint" (Float);
    /// The remainder of the truncated quotient.
    Fmod "fmod" (Float, Float);
    /// The remainder of the quotient rounded to nearest even.
    Remainder "remainder" (Float, Float);
    /// x·2ⁿ.
    Ldexp "ldexp" (Float, Int);
    /// The mantissa of x in [½, 1).
    Significand "frexp_mantissa" (Float);
    /// Sine.
    Sin "sin" (Float);
    /// Cosine.
    Cos "cos" (Float);
    /// Tangent.
    Tan "tan" (Float);
    /// Arc sine.
    Asin "asin" (Float);
    /// Arc cosine.
    Acos "acos" (Float);
    /// Arc tangent.
    Atan "atan" (Float);
    /// The angle of the point (x, y); called with y first.
    Atan2 "atan2" (Float, Float);
    /// Hyperbolic sine.
    Sinh "sinh" (Float);
    /// Hyperbolic cosine.
    Cosh "cosh" (Float);
    /// Hyperbolic tangent.
    Tanh "tanh" (Float);
    /// Inverse hyperbolic sine.
    Asinh "asinh" (Float);
    /// Inverse hyperbolic cosine.
    Acosh "acosh" (Float);
    /// Inverse hyperbolic tangent.
    Atanh "atanh" (Float);
    /// The error function.
    Erf "erf" (Float);
    /// 1 − erf(x).
    Erfc "erfc" (Float);
    /// The gamma function.
    Tgamma "tgamma" (Float);
    /// log |Γ(x)|.
    Lgamma "lgamma" (Float);
    /// The logarithmic derivative of Γ; no C library has it, rules and exporters provide it.
    Digamma "digamma" (Float);
    /// Bessel function of the first kind, order 0.
    J0 "j0" (Float);
    /// Bessel function of the first kind, order 1.
    J1 "j1" (Float);
    /// Bessel function of the first kind, order n (the first argument).
    Jn "jn" (Int, Float);
    /// Bessel function of the second kind, order 0.
    Y0 "y0" (Float);
    /// Bessel function of the second kind, order 1.
    Y1 "y1" (Float);
    /// Bessel function of the second kind, order n (the first argument).
    Yn "yn" (Int, Float);
}
