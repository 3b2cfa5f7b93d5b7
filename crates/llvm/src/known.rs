//! Library functions and intrinsics that are known by name.

use zymase_core::ir::{AllocInfo, AllocKind, FloatKind, MathFn};

/// LLVM's float intrinsics, by the word after `llvm.`.
const INTRINSICS: &[(&str, MathFn)] = &[
    ("sqrt", MathFn::Sqrt),
    ("sin", MathFn::Sin),
    ("cos", MathFn::Cos),
    ("tan", MathFn::Tan),
    ("asin", MathFn::Asin),
    ("acos", MathFn::Acos),
    ("atan", MathFn::Atan),
    ("atan2", MathFn::Atan2),
    ("sinh", MathFn::Sinh),
    ("cosh", MathFn::Cosh),
    ("tanh", MathFn::Tanh),
    ("exp", MathFn::Exp),
    ("exp2", MathFn::Exp2),
    ("exp10", MathFn::Exp10),
    ("log", MathFn::Log),
    ("log2", MathFn::Log2),
    ("log10", MathFn::Log10),
    ("pow", MathFn::Pow),
    ("powi", MathFn::Powi),
    ("fabs", MathFn::Fabs),
    ("copysign", MathFn::Copysign),
    ("fma", MathFn::Fma),
    ("fmuladd", MathFn::Fmuladd),
    ("minnum", MathFn::Fmin),
    ("maxnum", MathFn::Fmax),
    ("minimum", MathFn::Minimum),
    ("maximum", MathFn::Maximum),
    ("minimumnum", MathFn::MinimumNum),
    ("maximumnum", MathFn::MaximumNum),
    ("floor", MathFn::Floor),
    ("ceil", MathFn::Ceil),
    ("trunc", MathFn::Trunc),
    ("round", MathFn::Round),
    ("roundeven", MathFn::RoundEven),
    ("rint", MathFn::Rint),
    ("nearbyint", MathFn::Nearbyint),
    ("ldexp", MathFn::Ldexp),
];

/// The mathematical function that an intrinsic is: `llvm.sin.f64` is the sine.
pub fn math_intrinsic(name: &str) -> Option<MathFn> {
    let base = name.strip_prefix("llvm.")?.split('.').next()?;
    let found = INTRINSICS.iter().find(|(word, _)| *word == base);
    found.map(|(_, function)| *function)
}

/// The intrinsic for a mathematical function, without the types: `llvm.sin`.
pub fn intrinsic_of(function: MathFn) -> Option<String> {
    let found = INTRINSICS.iter().find(|(_, known)| *known == function);
    found.map(|(word, _)| format!("llvm.{word}"))
}

/// The mathematical function that a C function of this name and result is.
pub fn math_function(name: &str, result: FloatKind) -> Option<MathFn> {
    let base = match result {
        FloatKind::F32 => name.strip_suffix('f')?,
        FloatKind::X86Fp80 => name.strip_suffix('l')?,
        FloatKind::F128 => name.strip_suffix("f128").or(name.strip_suffix('l'))?,
        FloatKind::F64 => name,
        FloatKind::F16 | FloatKind::Bf16 => return None,
    };
    match base {
        "scalbn" => Some(MathFn::Ldexp),
        _ => MathFn::from_name(base).filter(|function| is_in_c(*function)),
    }
}

/// The C function for a mathematical function at a precision that C has.
pub fn c_name(function: MathFn, kind: FloatKind) -> Option<String> {
    let suffix = match kind {
        FloatKind::F32 => "f",
        FloatKind::F64 => "",
        FloatKind::X86Fp80 => "l",
        // The suffix `l` would be another format on some machines.
        FloatKind::F128 => "f128",
        FloatKind::F16 | FloatKind::Bf16 => return None,
    };
    is_in_c(function).then(|| format!("{}{suffix}", function.name()))
}

fn is_in_c(function: MathFn) -> bool {
    !matches!(
        function,
        MathFn::Powi | MathFn::Fmuladd | MathFn::Digamma | MathFn::Significand
    )
}

/// What a C or C++ allocation function of this name does, and how many parameters it has.
pub fn allocation(name: &str) -> Option<(AllocInfo, usize)> {
    use AllocKind::{Alloc, Free, Realloc};
    let (kind, family, size_args, ptr_arg, params): (_, _, &[u32], _, _) = match name {
        "malloc" | "valloc" => (Alloc, "malloc", &[0], None, 1),
        "calloc" => (Alloc, "malloc", &[0, 1], None, 2),
        "aligned_alloc" | "memalign" => (Alloc, "malloc", &[1], None, 2),
        "realloc" => (Realloc, "malloc", &[1], Some(0), 2),
        "reallocarray" => (Realloc, "malloc", &[1, 2], Some(0), 3),
        "free" => (Free, "malloc", &[], Some(0), 1),
        "_Znwm" => (Alloc, "_Znwm", &[0], None, 1),
        "_Znam" => (Alloc, "_Znam", &[0], None, 1),
        "_ZnwmSt11align_val_t" | "_ZnwmRKSt9nothrow_t" => (Alloc, "_Znwm", &[0], None, 2),
        "_ZnamSt11align_val_t" | "_ZnamRKSt9nothrow_t" => (Alloc, "_Znam", &[0], None, 2),
        "_ZdlPv" => (Free, "_Znwm", &[], Some(0), 1),
        "_ZdaPv" => (Free, "_Znam", &[], Some(0), 1),
        "_ZdlPvm" | "_ZdlPvSt11align_val_t" => (Free, "_Znwm", &[], Some(0), 2),
        "_ZdaPvm" | "_ZdaPvSt11align_val_t" => (Free, "_Znam", &[], Some(0), 2),
        "_ZdlPvmSt11align_val_t" => (Free, "_Znwm", &[], Some(0), 3),
        "_ZdaPvmSt11align_val_t" => (Free, "_Znam", &[], Some(0), 3),
        _ => return None,
    };
    let info = AllocInfo {
        kind,
        zeroed: name == "calloc",
        family: family.to_string(),
        size_args: size_args.to_vec(),
        ptr_arg,
        freed: None,
    };
    Some((info, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_function_and_precision() {
        for (name, kind, expected) in [
            ("sin", FloatKind::F64, Some(MathFn::Sin)),
            ("sinf", FloatKind::F32, Some(MathFn::Sin)),
            ("sinl", FloatKind::X86Fp80, Some(MathFn::Sin)),
            ("sinf128", FloatKind::F128, Some(MathFn::Sin)),
            ("sinl", FloatKind::F128, Some(MathFn::Sin)),
            ("sin", FloatKind::F32, None),
            ("erf", FloatKind::F64, Some(MathFn::Erf)),
            ("erff", FloatKind::F32, Some(MathFn::Erf)),
            ("erf", FloatKind::F32, None),
            ("powi", FloatKind::F64, None),
            ("scalbn", FloatKind::F64, Some(MathFn::Ldexp)),
        ] {
            assert_eq!(math_function(name, kind), expected, "{name}");
        }
        assert_eq!(math_intrinsic("llvm.minnum.v4f32"), Some(MathFn::Fmin));
        assert_eq!(math_intrinsic("llvm.memcpy.p0.p0.i64"), None);
    }

    #[test]
    fn names_come_back() {
        for &function in MathFn::ALL {
            if let Some(name) = intrinsic_of(function) {
                assert_eq!(math_intrinsic(&format!("{name}.f64")), Some(function));
            }
            if let Some(name) = c_name(function, FloatKind::F32) {
                assert_eq!(math_function(&name, FloatKind::F32), Some(function));
            }
        }
    }
}
