//! Operations on the lanes of vectors and the parts of aggregates.

use super::scalar;
use super::trap::Trap;
use super::value::Val;
use crate::ir::{Flags, Type};

/// Applies `f` to scalars or lane by lane; scalar operands beside vectors go to every lane.
pub(super) fn lanewise(
    ty: Type,
    args: &[Val],
    f: impl Fn(&[Val]) -> Result<Val, Trap>,
) -> Result<Val, Trap> {
    let Some(lanes) = ty.lanes() else {
        return f(args);
    };
    let lane = |i: usize| {
        let args: Vec<Val> = args
            .iter()
            .map(|arg| match arg {
                Val::Aggregate(_) => arg.part(i).clone(),
                scalar => scalar.clone(),
            })
            .collect();
        f(&args)
    };
    let lanes = (0..lanes as usize).map(lane);
    Ok(Val::Aggregate(lanes.collect::<Result<_, _>>()?))
}

pub(super) fn select(flags: Flags, ty: Type, args: &[Val]) -> Result<Val, Trap> {
    let choose = |x: &[Val]| {
        let chosen = match &x[0] {
            Val::Poison => return Ok(Val::Poison),
            Val::Int(c) if c.has_poison() => return Ok(Val::Poison),
            Val::Int(c) if c.unsigned() != 0 => &x[1],
            Val::Int(_) => &x[2],
            other => return Err(Trap::malformed(format!("a select on {other:?}"))),
        };
        Ok(match chosen {
            Val::Float(float) => scalar::keep_promises(flags, &[], *float),
            other => other.clone(),
        })
    };
    match args[0] {
        Val::Aggregate(_) => lanewise(ty, args, choose),
        _ => choose(args),
    }
}

/// The lane that an index names; none if there is no such lane.
pub(super) fn lane_index(index: &Val, vector: &Val) -> Result<Option<usize>, Trap> {
    Ok(match index {
        Val::Int(index) if !index.has_poison() => {
            let lanes = vector.parts().map_or(usize::MAX, <[Val]>::len);
            usize::try_from(index.unsigned())
                .ok()
                .filter(|i| *i < lanes)
        }
        Val::Int(_) | Val::Poison => None,
        other => return Err(Trap::malformed(format!("the index {other:?}"))),
    })
}

pub(super) fn insert_element(ty: Type, args: &[Val]) -> Result<Val, Trap> {
    let mut lanes = expanded(ty, &args[0]);
    match lane_index(&args[2], &args[0])? {
        Some(index) if index < lanes.len() => {
            lanes[index] = args[1].clone();
            Ok(Val::Aggregate(lanes))
        }
        _ => Ok(Val::Poison),
    }
}

pub(super) fn insert(ty: Type, aggregate: &Val, part: &Val, path: &[u32]) -> Result<Val, Trap> {
    let Some((&first, rest)) = path.split_first() else {
        return Ok(part.clone());
    };
    let mut parts = expanded(ty, aggregate);
    let index = first as usize;
    match (ty.part(u64::from(first)), parts.get(index)) {
        (Some(part_ty), Some(old)) => {
            parts[index] = insert(part_ty, old, part, rest)?;
            Ok(Val::Aggregate(parts))
        }
        _ => Err(Trap::malformed(format!("no part {first} in {ty}"))),
    }
}

/// The parts of an aggregate, which may be poison as a whole.
fn expanded(ty: Type, aggregate: &Val) -> Vec<Val> {
    match aggregate {
        Val::Aggregate(parts) => parts.clone(),
        _ => vec![Val::Poison; ty.part_count() as usize],
    }
}

pub(super) fn shuffle(mask: &[i32], args: &[Val]) -> Val {
    let known = args.iter().find_map(Val::parts).map_or(0, <[Val]>::len);
    let lane = |&i: &i32| match usize::try_from(i) {
        Ok(i) if i < known => args[0].part(i).clone(),
        Ok(i) if i < 2 * known => args[1].part(i - known).clone(),
        _ => Val::Poison,
    };
    Val::Aggregate(mask.iter().map(lane).collect())
}
