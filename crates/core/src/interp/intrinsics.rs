//! LLVM's intrinsics that appear as calls: hints, memory, floats and reductions. The integer ones
//! are in [`integers`].

use super::cast::float_to_int;
use super::cmath;
use super::execute::{definite_int, pointer};
use super::externals::Environment;
use super::integers;
use super::lanes::lanewise;
use super::math;
use super::scalar;
use super::trap::{Trap, TrapKind};
use super::value::{Float, Int, Pointer, Val, mask};
use crate::ir::{BinaryOp, Flags, FloatKind, MathFn, Type};

/// Calls an intrinsic by its name without `llvm.`; none if it is not known.
pub(super) fn call(
    env: &mut Environment<'_>,
    name: &str,
    args: &[Val],
) -> Result<Option<Option<Val>>, Trap> {
    let is = |prefix: &str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let arg = |i: usize| args.get(i).ok_or_else(|| too_few(name));
    let base = name.split('.').next().unwrap_or(name);
    const HINTS: [&str; 11] = [
        "dbg",
        "experimental.noalias.scope.decl",
        "donothing",
        "sideeffect",
        "prefetch",
        "invariant.end",
        "var.annotation",
        "pseudoprobe",
        "stackrestore",
        "fake.use",
        "codeview.annotation",
    ];
    const UNCHANGED: [&str; 8] = [
        "expect",
        "ssa.copy",
        "launder.invariant.group",
        "strip.invariant.group",
        "annotation",
        "ptr.annotation",
        "canonicalize",
        "arithmetic.fence",
    ];
    if HINTS.into_iter().any(is) {
        return Ok(Some(None));
    }
    if UNCHANGED.into_iter().any(is) {
        return Ok(Some(Some(arg(0)?.clone())));
    }
    let result = if is("assume") {
        assume(arg(0)?)?;
        None
    } else if is("lifetime.start") || is("lifetime.end") {
        // Old forms have the size first.
        if let Some(Val::Ptr(at)) = args.last() {
            env.memory.forget(*at);
        }
        None
    } else if base == "memcpy" || base == "memmove" {
        let (to, from) = (pointer(arg(0)?, "a copy")?, pointer(arg(1)?, "a copy")?);
        let len = definite_int(arg(2)?, "the length of a copy")?.unsigned();
        env.memory.copy(to, from, len, base == "memmove", 1, 1)?;
        None
    } else if base == "memset" {
        let len = definite_int(arg(2)?, "the length of a memset")?.unsigned();
        env.memory
            .fill(pointer(arg(0)?, "a memset")?, arg(1)?, len, 1)?;
        None
    } else if is("trap") || is("ubsantrap") || is("debugtrap") {
        return Err(Trap::new(
            TrapKind::Aborted,
            format!("the program called llvm.{name}"),
        ));
    } else if is("stacksave") || is("invariant.start") {
        Some(Val::null())
    } else if is("is.constant") {
        Some(Val::bool(false))
    } else if is("objectsize") {
        Some(object_size(env, arg(0)?, arg(1)?)?)
    } else if is("ptrmask") {
        lanewise_binary(env.ret, arg(0)?, arg(1)?, pointer_mask)?
    } else if is("masked.load") || is("masked.gather") {
        // Old forms have the alignment second.
        let rest = if args.len() == 4 { 2 } else { 1 };
        Some(masked_load(env, arg(0)?, arg(rest)?, arg(rest + 1)?)?)
    } else if is("masked.store") || is("masked.scatter") {
        let mask = if args.len() == 4 { 3 } else { 2 };
        masked_store(env, arg(0)?, arg(1)?, arg(mask)?)?;
        None
    } else if is("is.fpclass") {
        let classes = definite_int(arg(1)?, "a test of float classes")?.unsigned();
        Some(lanewise(env.ret, &args[..1], |x| {
            float_class(&x[0], classes)
        })?)
    } else if is("fptosi.sat") || is("fptoui.sat") {
        let (ty, signed) = (env.ret.scalar(), is("fptosi.sat"));
        let width = ty.int_bits().unwrap_or(64);
        Some(lanewise(env.ret, args, |x| {
            saturating_int(&x[0], width, signed)
        })?)
    } else if let Some(reduction) = name.strip_prefix("vector.reduce.") {
        return match reduce(reduction, args)? {
            Some(result) => Ok(Some(Some(result))),
            None => Ok(None),
        };
    } else if let Some(function) = math_function(name) {
        let flags = Flags::empty();
        Some(lanewise(env.ret, args, |x| math::call(function, flags, x))?)
    } else if let Some(result) = cmath::intrinsic(env.ret, base, args)? {
        Some(result)
    } else {
        return Ok(integers::call(env.ret, name, args)?.map(Some));
    };
    Ok(Some(result))
}

fn too_few(name: &str) -> Trap {
    Trap::new(
        TrapKind::BadCall,
        format!("too few arguments for llvm.{name}"),
    )
}

fn assume(condition: &Val) -> Result<(), Trap> {
    if definite_int(condition, "an assumption")?.unsigned() == 0 {
        let message = "an assumption does not hold";
        return Err(Trap::new(TrapKind::Unreachable, message));
    }
    Ok(())
}

fn lanewise_binary(
    ty: Type,
    x: &Val,
    y: &Val,
    f: impl Fn(&Val, &Val) -> Result<Val, Trap>,
) -> Result<Option<Val>, Trap> {
    let args = [x.clone(), y.clone()];
    Ok(Some(lanewise(ty, &args, |x| f(&x[0], &x[1]))?))
}

fn pointer_mask(x: &Val, y: &Val) -> Result<Val, Trap> {
    Ok(match (x, y) {
        (Val::Ptr(x), Val::Int(y)) if !y.has_poison() => Val::Ptr(Pointer {
            address: x.address & y.unsigned() as u64,
            ..*x
        }),
        _ => Val::Poison,
    })
}

fn object_size(env: &Environment<'_>, at: &Val, minimum: &Val) -> Result<Val, Trap> {
    let width = env.ret.int_bits().unwrap_or(64);
    let at = pointer(at, "an object")?;
    let known = env.memory.object_size(at).zip(env.memory.object_offset(at));
    let unknown = match definite_int(minimum, "the kind of size")?.unsigned() {
        0 => -1,
        _ => 0,
    };
    Ok(Val::int(
        width,
        match known {
            Some((size, offset)) => (i128::from(size) - i128::from(offset)).max(0),
            None => unknown,
        },
    ))
}

/// The address of a lane: of a vector of pointers, or counted from one pointer.
fn lane_address(at: &Val, lane: usize, stride: u64) -> Result<Pointer, Trap> {
    match at {
        Val::Aggregate(_) => pointer(at.part(lane), "a masked access"),
        one => Ok(pointer(one, "a masked access")?.offset(lane as i64 * stride as i64)),
    }
}

fn masked_load(
    env: &mut Environment<'_>,
    at: &Val,
    enabled: &Val,
    other: &Val,
) -> Result<Val, Trap> {
    let ty = env.ret.scalar();
    let stride = env.layout.store_size(ty);
    let mut lanes = Vec::new();
    for lane in 0..env.ret.lanes().unwrap_or(0) as usize {
        let enabled = definite_int(enabled.part(lane), "a mask")?.unsigned() != 0;
        lanes.push(match enabled {
            true => env.memory.load(ty, lane_address(at, lane, stride)?)?,
            false => other.part(lane).clone(),
        });
    }
    Ok(Val::Aggregate(lanes))
}

fn masked_store(
    env: &mut Environment<'_>,
    value: &Val,
    at: &Val,
    enabled: &Val,
) -> Result<(), Trap> {
    let Some(ty) = env.types.first() else {
        return Err(too_few("masked.store"));
    };
    let stride = env.layout.store_size(ty.scalar());
    for lane in 0..ty.lanes().unwrap_or(0) as usize {
        if definite_int(enabled.part(lane), "a mask")?.unsigned() != 0 {
            let at = lane_address(at, lane, stride)?;
            env.memory.store(ty.scalar(), at, value.part(lane))?;
        }
    }
    Ok(())
}

fn float_class(x: &Val, classes: u128) -> Result<Val, Trap> {
    let Val::Float(x) = x else {
        return Ok(Val::Poison);
    };
    let smallest_normal = match x.kind {
        FloatKind::F16 => 2f64.powi(-14),
        FloatKind::Bf16 | FloatKind::F32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    };
    let sign = scalar::sign_bit(x.kind);
    let (number, negative) = (x.number(), x.bits & sign != 0);
    // The quiet bit is the highest of the mantissa.
    let quiet = match x.kind {
        FloatKind::F16 => 9,
        FloatKind::Bf16 => 6,
        FloatKind::F32 => 22,
        FloatKind::F64 => 51,
        FloatKind::X86Fp80 => 62,
        FloatKind::F128 => 111,
    };
    // Classes of positive numbers mirror those of negative ones.
    let outward = if number.is_infinite() {
        9
    } else if x.bits & !sign == 0 {
        6
    } else if number.abs() < smallest_normal {
        7
    } else {
        8
    };
    let class = match (number.is_nan(), negative) {
        (true, _) => (x.bits >> quiet & 1) as u32,
        (false, true) => 11 - outward,
        (false, false) => outward,
    };
    Ok(Val::bool(classes >> class & 1 == 1))
}

fn saturating_int(x: &Val, width: u32, signed: bool) -> Result<Val, Trap> {
    let Val::Float(x) = x else {
        return Ok(Val::Poison);
    };
    let number = x.number();
    let (low, high) = match signed {
        true => (1 << (width - 1), mask(width - 1)),
        false => (0, mask(width)),
    };
    let bits = match float_to_int(number, width, signed) {
        Some(fits) => return Ok(fits),
        None if number.is_nan() => 0,
        None if number < 0.0 => low,
        None => high,
    };
    Ok(Val::Int(Int::new(width, bits)))
}

/// The mathematical function that an intrinsic is.
fn math_function(name: &str) -> Option<MathFn> {
    let base = name.split('.').next()?;
    match base {
        "minnum" => Some(MathFn::Fmin),
        "maxnum" => Some(MathFn::Fmax),
        "minimum" => Some(MathFn::Minimum),
        "maximum" => Some(MathFn::Maximum),
        "minimumnum" => Some(MathFn::MinimumNum),
        "maximumnum" => Some(MathFn::MaximumNum),
        _ => MathFn::from_name(base),
    }
}

/// Folds the lanes of a vector, in order.
fn reduce(name: &str, args: &[Val]) -> Result<Option<Val>, Trap> {
    let kind = name.split('.').next().unwrap_or(name);
    let Some(vector) = args.last() else {
        return Err(too_few("vector.reduce"));
    };
    let Some(lanes) = vector.parts() else {
        return Ok(Some(Val::Poison));
    };
    let none = Flags::empty();
    let combine = |x: &Val, y: &Val| -> Result<Option<Val>, Trap> {
        let binary = |op| scalar::binary(op, none, x, y).map(Some);
        let math = |f| math::call(f, none, &[x.clone(), y.clone()]).map(Some);
        match kind {
            "fadd" => binary(BinaryOp::FAdd),
            "fmul" => binary(BinaryOp::FMul),
            "add" => binary(BinaryOp::Add),
            "mul" => binary(BinaryOp::Mul),
            "and" => binary(BinaryOp::And),
            "or" => binary(BinaryOp::Or),
            "xor" => binary(BinaryOp::Xor),
            "fmax" => math(MathFn::Fmax),
            "fmin" => math(MathFn::Fmin),
            "fmaximum" => math(MathFn::Maximum),
            "fminimum" => math(MathFn::Minimum),
            "smax" | "smin" | "umax" | "umin" => integers::choose(kind, x, y).map(Some),
            _ => Ok(None),
        }
    };
    let (mut result, rest) = match (args, lanes) {
        ([start, _], lanes) => (start.clone(), lanes),
        (_, [first, rest @ ..]) => (first.clone(), rest),
        _ => return Ok(Some(Val::Poison)),
    };
    for lane in rest {
        match combine(&result, lane)? {
            Some(next) => result = next,
            None => return Ok(None),
        }
    }
    Ok(Some(result))
}

/// A C function on floats of one format: the plain name, or with `f` or `l`.
pub(super) fn c_function(name: &str, args: &[Val]) -> Option<MathFn> {
    let kind = args.iter().find_map(|arg| match arg {
        Val::Float(Float { kind, .. }) => Some(*kind),
        _ => None,
    })?;
    let base = match kind {
        FloatKind::F64 => name,
        FloatKind::F32 => name.strip_suffix('f')?,
        _ => name.strip_suffix('l')?,
    };
    let function = MathFn::from_name(base)?;
    let foreign = matches!(
        function,
        MathFn::Powi | MathFn::Fmuladd | MathFn::Significand | MathFn::Digamma
    );
    (!foreign && function.params().len() == args.len()).then_some(function)
}
