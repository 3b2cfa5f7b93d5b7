//! Chooses zero for floats that may be anything.
//!
//! Vector code leaves lanes that nobody uses undefined: `shuffle v, poison, [1, -1]`. The primal
//! never looks at them, and their adjoints are zero; but the derivative of a product multiplies
//! that zero with the lane itself, and zero times poison is poison, which would then be added to
//! lanes that matter. A program must work whatever an undefined value is, so it may be zero.
//!
//! Before: any function. After: no operand that holds floats is undef or poison, in whole or in
//! part, and every lane of a shuffle of floats comes from one of its operands. The function does
//! what it did, in one of the ways that were open to it. Linear.

use crate::ir::{Constant, Function, InstData, Op, Type, Value, ValueDef};
use std::collections::HashMap;

/// Chooses zero for floats that may be anything.
pub fn run(func: &mut Function) {
    define_constants(func);
    let blocks = func.blocks().to_vec();
    for block in blocks {
        let mut at = 0;
        while at < func.block_insts(block).len() {
            let inst = func.block_insts(block)[at];
            at += 1;
            if let Some((data, ty)) = second_shuffle(func, inst) {
                let shuffled = data.args[0];
                let whole = func.insert_inst(block, at, data.clone(), ty);
                if let Some(whole_value) = func.result(whole) {
                    func.replace_uses(&HashMap::from([(shuffled, whole_value)]));
                    func.inst_mut(whole).args = data.args;
                }
            }
        }
    }
}

/// Replaces constants that are not, or not wholly, defined.
fn define_constants(func: &mut Function) {
    let mut chosen = HashMap::new();
    for value in func.values() {
        let ty = func.ty(value);
        let ValueDef::Const(constant) = func.def(value) else {
            continue;
        };
        if let Some(defined) = defined(ty, constant) {
            chosen.insert(value, func.constant(ty, defined));
        }
    }
    func.replace_uses(&chosen);
}

/// The constant with zeros for what may be anything, if there is such a part.
fn defined(ty: Type, constant: &Constant) -> Option<Constant> {
    match constant {
        Constant::Undef | Constant::Poison => holds_floats(ty).then_some(Constant::Zero),
        Constant::Aggregate(parts) => {
            let chosen: Vec<Option<Constant>> = parts
                .iter()
                .enumerate()
                .map(|(i, part)| defined(ty.part(i as u64)?, part))
                .collect();
            if chosen.iter().all(Option::is_none) {
                return None;
            }
            let parts = chosen.into_iter().zip(parts);
            let parts = parts.map(|(new, old)| new.unwrap_or_else(|| old.clone()));
            Some(Constant::Aggregate(parts.collect()))
        }
        _ => None,
    }
}

fn holds_floats(ty: Type) -> bool {
    ty.is_float_like()
        || ty.lanes().is_none()
            && (0..ty.part_count()).any(|i| ty.part(i).is_some_and(holds_floats))
}

/// Makes every lane of a shuffle of floats come from somewhere. Where neither operand is zero, a
/// second shuffle has to put zeros into its undefined lanes, and is returned.
fn second_shuffle(func: &mut Function, inst: crate::ir::Inst) -> Option<(InstData, Type)> {
    let data = func.inst(inst).clone();
    let Op::Shuffle(mask) = &data.op else {
        return None;
    };
    let result = func.result(inst)?;
    let ty = func.ty(result);
    if !ty.is_float_like() || mask.iter().all(|&lane| lane >= 0) {
        return None;
    }
    let lanes = func.ty(data.args[0]).part_count() as i32;
    let is_zero = |value: Value| matches!(func.as_const(value), Some(Constant::Zero));
    let filler = match data.args[..] {
        [_, second] if is_zero(second) => lanes,
        _ => 0,
    };
    let whole = |&lane: &i32| if lane < 0 { filler } else { lane };
    let filled = mask.iter().map(whole).collect();
    let needs_second = filler == 0 && !is_zero(data.args[0]);
    func.inst_mut(inst).op = Op::Shuffle(filled);
    if !needs_second {
        return None;
    }
    let own = ty.part_count() as i32;
    let keep = |(i, &lane): (usize, &i32)| if lane < 0 { own } else { i as i32 };
    let op = Op::Shuffle(mask.iter().enumerate().map(keep).collect());
    let zero = func.zero(ty);
    Some((
        InstData {
            op,
            args: vec![result, zero],
            ..data.clone()
        },
        ty,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::{parse_module, print_module};

    fn check(body: &str, expected: &str) {
        let function = |body| {
            format!("func @f(v0: <2 x f64>, v1: <2 x f64>) -> <2 x f64> {{\nblock0:\n{body}}}\n")
        };
        let mut module = parse_module(&function(body)).unwrap();
        let func = module.funcs.keys().next().unwrap();
        run(&mut module.funcs[func]);
        assert_eq!(print_module(&module), function(expected));
    }

    #[test]
    fn a_lane_that_nobody_uses_is_zero() {
        check(
            "    v2 = shuffle v0, poison:<2 x f64>, [1, -1] : <2 x f64>\n    return v2\n",
            "    v2 = shuffle v0, zero:<2 x f64>, [1, 2] : <2 x f64>\n    return v2\n",
        );
    }

    #[test]
    fn a_lane_between_two_vectors_is_zero() {
        check(
            "    v2 = shuffle v0, v1, [-1, 2] : <2 x f64>\n    return v2\n",
            "    v2 = shuffle v0, v1, [0, 2] : <2 x f64>\n    \
             v3 = shuffle v2, zero:<2 x f64>, [2, 1] : <2 x f64>\n    return v3\n",
        );
    }

    #[test]
    fn parts_of_constants_are_zero() {
        check(
            "    v2 = fadd v0, {1.0, undef} : <2 x f64>\n    return v2\n",
            "    v2 = fadd v0, {1.0, 0.0} : <2 x f64>\n    return v2\n",
        );
    }
}
