//! Runs nests, point by point in the order of the points, and stops those that depend on more of
//! that order than the semantics allows.

use super::execute::{definite_int, pointer};
use super::lanes::select;
use super::machine::Machine;
use super::math;
use super::scalar;
use super::trap::{Trap, TrapKind};
use super::value::{Pointer, Val};
use crate::ir::{BinaryOp, Combiner, Flags, FloatPred, InstData, MathFn, Nest, Type, Value};
use std::collections::HashMap;

impl Machine<'_> {
    /// Runs a nest; `args` are the values of its operands.
    pub(super) fn nest(&mut self, data: &InstData, nest: &Nest, args: &[Val]) -> Result<(), Trap> {
        let params = nest.depth + nest.inputs.len() + args.len().saturating_sub(nest.outside());
        let few = nest.depth == 0 || args.len() < nest.outside();
        if few
            || nest.body.params().len() != params
            || nest.body.results().len() != nest.outputs.len()
        {
            return Err(Trap::malformed("a nest with a wrong number of operands"));
        }
        let body = &nest.body.func;
        let mut values: Vec<Option<Val>> = vec![None; body.value_count()];
        for value in body.values() {
            if let Some(constant) = body.as_const(value) {
                values[value.as_u32() as usize] = Some(self.constant(body.ty(value), constant)?);
            }
        }
        for (&param, value) in nest.taken().iter().zip(&args[nest.outside()..]) {
            values[param.as_u32() as usize] = Some(value.clone());
        }
        let mut bytes = Bytes::new(data, nest);
        let mut point = vec![0i64; nest.depth];
        let mut level = 0;
        loop {
            let bound = linear(&args[nest.bound(level)], &point, "the bound of a loop")?;
            if point[level] >= bound {
                // This loop is done, and the one around it goes on.
                if level == 0 {
                    return Ok(());
                }
                point[level] = 0;
                level -= 1;
                point[level] += 1;
            } else if level + 1 < nest.depth {
                level += 1;
            } else {
                self.point(nest, args, &point, &mut values, &mut bytes)?;
                point[level] += 1;
            }
        }
    }

    fn point(
        &mut self,
        nest: &Nest,
        args: &[Val],
        point: &[i64],
        values: &mut [Option<Val>],
        bytes: &mut Bytes,
    ) -> Result<(), Trap> {
        let body = &nest.body.func;
        self.memory
            .count_steps(1 + nest.body.insts().len() as u64)?;
        bytes.point += 1;
        for (level, &counter) in point.iter().enumerate() {
            let index = nest.counter(level).as_u32() as usize;
            values[index] = Some(Val::int(64, i128::from(counter)));
        }
        for (i, access) in nest.inputs.iter().enumerate() {
            let element = nest.element(i);
            let at = place(&args[nest.view(i)], point)?;
            let ty = body.ty(element);
            bytes.read(at, self.layout().store_size(ty), i)?;
            values[element.as_u32() as usize] = Some(self.load(ty, at, access)?);
        }
        for &inst in nest.body.insts() {
            let data = body.inst(inst);
            let operands = data.args.iter().map(|&v| known(values, v));
            let operands = operands.collect::<Result<Vec<Val>, Trap>>()?;
            let Some(result) = body.result(inst) else {
                return Err(Trap::malformed("an instruction of a body without a result"));
            };
            values[result.as_u32() as usize] = self.execute(data, &operands, body.ty(result))?;
        }
        for (i, output) in nest.outputs.iter().enumerate() {
            let result = nest.body.results()[i];
            let ty = body.ty(result);
            let at = place(&args[nest.output_view(i)], point)?;
            bytes.write(at, self.layout().store_size(ty), ty, i, output.combiner)?;
            let new = known(values, result)?;
            let combined = match output.combiner {
                Combiner::Store => new,
                combiner => {
                    let old = self.load(ty, at, &output.access)?;
                    match output.fused(body, result) {
                        Some([x, y]) => {
                            let operands = [known(values, x)?, known(values, y)?, old];
                            math::call(MathFn::Fmuladd, output.flags, &operands)?
                        }
                        None => combine(combiner, output.flags, ty, old, new)?,
                    }
                }
            };
            self.store(ty, &combined, at, &output.access)?;
        }
        Ok(())
    }
}

fn combine(combiner: Combiner, flags: Flags, ty: Type, old: Val, new: Val) -> Result<Val, Trap> {
    match combiner {
        Combiner::Store => Ok(new),
        Combiner::Sum => scalar::binary(BinaryOp::FAdd, flags, &old, &new),
        Combiner::Product => scalar::binary(BinaryOp::FMul, flags, &old, &new),
        Combiner::Max => math::call(MathFn::Fmax, flags, &[old, new]),
        Combiner::Min => math::call(MathFn::Fmin, flags, &[old, new]),
        Combiner::Greater | Combiner::Less | Combiner::NotLess | Combiner::NotGreater => {
            let pred = combiner.choice().unwrap_or(FloatPred::False);
            let taken = scalar::compare_floats(pred, flags, &new, &old)?;
            select(flags, ty, &[taken, new, old])
        }
    }
}

fn known(values: &[Option<Val>], value: Value) -> Result<Val, Trap> {
    let found = values.get(value.as_u32() as usize).cloned().flatten();
    found.ok_or_else(|| Trap::malformed(format!("{value} is used before it is defined")))
}

/// `terms[0] + Σ terms[1 + i]·point[i]`, modulo 2⁶⁴.
fn linear(terms: &[Val], point: &[i64], what: &str) -> Result<i64, Trap> {
    let mut sum = definite_int(&terms[0], what)?.signed() as i64;
    for (factor, &counter) in terms[1..].iter().zip(point) {
        let factor = definite_int(factor, what)?.signed() as i64;
        sum = sum.wrapping_add(factor.wrapping_mul(counter));
    }
    Ok(sum)
}

fn place(view: &[Val], point: &[i64]) -> Result<Pointer, Trap> {
    let base = pointer(&view[0], "a view")?;
    let mut distance = 0i64;
    for (factor, &counter) in view[1..].iter().zip(point) {
        let factor = definite_int(factor, "a view")?.signed() as i64;
        distance = distance.wrapping_add(factor.wrapping_mul(counter));
    }
    Ok(base.offset(distance))
}

/// Who has touched which byte.
struct Bytes {
    /// The number of the point that is being visited, from 1.
    point: u64,
    /// For each input the outputs with the same view.
    in_place: Vec<Vec<usize>>,
    touched: HashMap<u64, Touched>,
}

#[derive(Clone, Default)]
struct Touched {
    /// The last point that read the byte, and whether others did before.
    read: Option<(u64, bool)>,
    /// The inputs that read it there.
    readers: Vec<usize>,
    /// The element that was written, its type and how.
    written: Option<(u64, Type, Combiner)>,
}

impl Bytes {
    fn new(data: &InstData, nest: &Nest) -> Bytes {
        let same = |input: usize| {
            let outputs = 0..nest.outputs.len();
            let view = &data.args[nest.view(input)];
            let same = outputs.filter(|&o| data.args[nest.output_view(o)] == *view);
            same.collect()
        };
        Bytes {
            point: 0,
            in_place: (0..nest.inputs.len()).map(same).collect(),
            touched: HashMap::new(),
        }
    }

    fn read(&mut self, at: Pointer, size: u64, input: usize) -> Result<(), Trap> {
        for byte in 0..size {
            let touched = self
                .touched
                .entry(at.address.wrapping_add(byte))
                .or_default();
            if touched.written.is_some() {
                return Err(overlap("reads what it has written at another point"));
            }
            let before = touched.read.filter(|(point, _)| *point != self.point);
            if before.is_some() {
                touched.readers.clear();
            }
            let several = before.is_some() || touched.read.is_some_and(|(_, several)| several);
            touched.read = Some((self.point, several));
            touched.readers.push(input);
        }
        Ok(())
    }

    fn write(
        &mut self,
        at: Pointer,
        size: u64,
        ty: Type,
        output: usize,
        combiner: Combiner,
    ) -> Result<(), Trap> {
        for byte in 0..size {
            let touched = self
                .touched
                .entry(at.address.wrapping_add(byte))
                .or_default();
            if let Some((point, several)) = touched.read {
                let allowed = combiner == Combiner::Store
                    && point == self.point
                    && !several
                    && (touched.readers.iter()).all(|&i| self.in_place[i].contains(&output));
                if !allowed {
                    return Err(overlap("writes what an input reads"));
                }
            }
            let element = (at.address, ty, combiner);
            let again = touched.written.replace(element);
            if again.is_some_and(|old| old != element || combiner == Combiner::Store) {
                return Err(overlap("writes the same bytes twice"));
            }
        }
        Ok(())
    }
}

fn overlap(what: &str) -> Trap {
    Trap::new(TrapKind::Overlap, format!("a nest that {what}"))
}
