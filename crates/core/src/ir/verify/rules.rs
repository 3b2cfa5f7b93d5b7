//! What the types of single operations must be.

use super::counted;
use crate::ir::{
    Access, BinaryOp, CastOp, FloatKind, MathFn, MathParam, Ordering, RmwOp, Type, TypeKind,
};

/// Nothing, or what is wrong.
pub(super) type Check = Result<(), String>;

/// The types of exactly this many operands.
pub(super) fn operands<const N: usize>(types: &[Type]) -> Result<[Type; N], String> {
    types
        .try_into()
        .map_err(|_| format!("{}, {N} expected", counted(types.len(), "operand")))
}

pub(super) fn same(what: &str, given: Type, wanted: Type) -> Check {
    match given == wanted {
        true => Ok(()),
        false => Err(format!("{what} has the type {given}, {wanted} expected")),
    }
}

pub(super) fn no_result(result: Type) -> Check {
    same("the result", result, Type::void())
}

pub(super) fn float_like(what: &str, ty: Type) -> Check {
    match ty.is_float_like() {
        true => Ok(()),
        false => Err(format!("{what} has the type {ty}, a float expected")),
    }
}

pub(super) fn is_int(what: &str, ty: Type) -> Check {
    match ty.is_int() {
        true => Ok(()),
        false => Err(format!("{what} has the type {ty}, an integer expected")),
    }
}

pub(super) fn is_ptr(what: &str, ty: Type) -> Check {
    match ty.is_ptr() {
        true => Ok(()),
        false => Err(format!("{what} has the type {ty}, a pointer expected")),
    }
}

pub(super) fn is_vector(what: &str, ty: Type) -> Check {
    match ty.lanes() {
        Some(_) => Ok(()),
        None => Err(format!("{what} has the type {ty}, a vector expected")),
    }
}

pub(super) fn binary_operand(op: BinaryOp, ty: Type) -> Check {
    if op.is_float() {
        return float_like("the first operand", ty);
    }
    match ty.is_int_like() {
        true => Ok(()),
        false => Err(format!(
            "the first operand has the type {ty}, an integer expected"
        )),
    }
}

pub(super) fn part_of(whole: Type, path: &[u32]) -> Result<Type, String> {
    let part = whole.at_path(path);
    part.ok_or_else(|| format!("there is no part {path:?} in {whole}"))
}

/// Whether a value of the type can have a derivative by itself.
pub(super) fn may_hold_floats(ty: Type) -> bool {
    match ty.kind() {
        TypeKind::Int(_) | TypeKind::Ptr(_) | TypeKind::Void => false,
        TypeKind::Float(_) | TypeKind::Opaque(_) => true,
        TypeKind::Vector(element, _) | TypeKind::Array(element, _) => may_hold_floats(*element),
        TypeKind::Struct { fields, .. } => fields.iter().any(|&field| may_hold_floats(field)),
    }
}

pub(super) fn check_cast(cast: CastOp, from: Type, to: Type) -> Check {
    let (x, y) = (from.scalar(), to.scalar());
    let ints = x.int_bits().zip(y.int_bits());
    let floats = x.float_kind().zip(y.float_kind());
    let wider = |(x, y): (FloatKind, FloatKind)| x.bits() < y.bits();
    let narrower = |(x, y): (FloatKind, FloatKind)| x.bits() > y.bits();
    let is_float = |ty: Type| ty.float_kind().is_some();
    let fits = match cast {
        CastOp::Trunc => ints.is_some_and(|(x, y)| x > y),
        CastOp::ZExt | CastOp::SExt => ints.is_some_and(|(x, y)| x < y),
        CastOp::FpTrunc => floats.is_some_and(narrower),
        CastOp::FpExt => floats.is_some_and(wider),
        CastOp::FpToUi | CastOp::FpToSi => is_float(x) && y.is_int(),
        CastOp::UiToFp | CastOp::SiToFp => x.is_int() && is_float(y),
        CastOp::PtrToInt => x.is_ptr() && y.is_int(),
        CastOp::IntToPtr => x.is_int() && y.is_ptr(),
        CastOp::AddrSpaceCast => x.is_ptr() && y.is_ptr() && x != y,
        CastOp::Bitcast => from == to || bits(from).is_some_and(|n| bits(to) == Some(n)),
    };
    let lanes = cast == CastOp::Bitcast || from.lanes() == to.lanes();
    match fits && lanes {
        true => Ok(()),
        false => Err(format!("{} cannot turn {from} into {to}", cast.name())),
    }
}

/// The width of integers, floats and vectors of them.
fn bits(ty: Type) -> Option<u64> {
    let scalar = ty.scalar();
    let float = scalar.float_kind().map(FloatKind::bits);
    let lanes = u64::from(ty.lanes().unwrap_or(1));
    Some(u64::from(scalar.int_bits().or(float)?) * lanes)
}

pub(super) fn check_math(function: MathFn, types: &[Type], result: Type) -> Check {
    let params = function.params();
    if params.len() != types.len() {
        let given = counted(types.len(), "operand");
        return Err(format!("{given}, {} expected", params.len()));
    }
    float_like("the result", result)?;
    for (i, (param, &ty)) in params.iter().zip(types).enumerate() {
        match param {
            MathParam::Float => same(&format!("operand {i}"), ty, result)?,
            MathParam::Int if ty.is_int() => {}
            MathParam::Int if ty.is_int_like() && ty.lanes() == result.lanes() => {}
            MathParam::Int => {
                return Err(format!(
                    "operand {i} has the type {ty}, an integer expected"
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn check_address(scales: &[i64], types: &[Type], result: Type) -> Check {
    let Some((base, indices)) = types.split_first() else {
        return Err("an address without a base".to_string());
    };
    if indices.len() != scales.len() {
        return Err(format!(
            "{} indices, {} scales",
            indices.len(),
            scales.len()
        ));
    }
    if !base.scalar().is_ptr() {
        return Err(format!("the base has the type {base}, a pointer expected"));
    }
    if let Some(ty) = indices.iter().find(|ty| !ty.is_int_like()) {
        return Err(format!("an index has the type {ty}, an integer expected"));
    }
    let lanes = types.iter().find_map(|ty| ty.lanes());
    if types
        .iter()
        .any(|ty| ty.lanes().is_some() && ty.lanes() != lanes)
    {
        return Err("operands with different numbers of lanes".to_string());
    }
    let scalar = base.scalar();
    let wanted = lanes.map_or(scalar, |lanes| Type::vector(scalar, lanes));
    same("the result", result, wanted)
}

pub(super) fn check_rmw(op: RmwOp, value: Type) -> Check {
    match op {
        RmwOp::Xchg => Ok(()),
        RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin => float_like("the value", value),
        _ => is_int("the value", value),
    }
}

pub(super) fn is_atomic(access: &Access) -> Check {
    match access.atomic {
        Some((Ordering::Unordered, _)) | None => Err("it is not atomic".to_string()),
        Some(_) => Ok(()),
    }
}

pub(super) fn ordering_not(access: &Access, refused: &[Ordering], what: &str) -> Check {
    match access.atomic {
        Some((ordering, _)) if refused.contains(&ordering) => {
            Err(format!("{what} that is {}", ordering.name()))
        }
        _ => Ok(()),
    }
}
