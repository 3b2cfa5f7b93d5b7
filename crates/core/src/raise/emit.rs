//! Writes the parts of a region as code: nests, and loops around those that stay.

use super::conditions::Bound;
use super::distribute::{Domain, Unit};
use super::read::Runs;
use super::tree::{Id, Join, Node, Place, Tree, Write};
use super::{Analyses, Plan};
use crate::analysis::affine::{Affine, Base};
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::TripCount;
use crate::ir::{
    Block, Body, Builder, CastOp, Constant, Edge, Flags, Function, InstData, IntPred, NestParts,
    Output, OutputPart, Type, Value,
};
use crate::simplify::expand_nests;
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// Counts of the loops of a region, as values that are known where the region begins.
pub fn counts(
    trips: &SecondaryMap<Loop, TripCount>,
    plan: &Plan,
    b: &mut Builder,
    around: &dyn Fn(Loop) -> Value,
) -> HashMap<Loop, Value> {
    let mut counts = HashMap::new();
    let mut all: Vec<Loop> = plan.bounds.keys().copied().collect();
    all.sort_unstable();
    for l in all {
        let form = match plan.bounds.get(&l) {
            Some(Bound::Form(_)) | None => continue,
            Some(Bound::Fixed(form)) => form.as_ref(),
        };
        let count = match form {
            Some(form) => Some(form.materialize(b, around)),
            None => trips[l].materialize(b, around).map(|count| {
                let one = b.func.iconst(Type::i64(), 1);
                match plan.runs.get(&l) {
                    Some(Runs::OnceMore) => b.add(count, one),
                    _ => count,
                }
            }),
        };
        let Some(mut count) = count else {
            continue;
        };
        let guards = plan
            .parts
            .guards
            .iter()
            .filter(|(guarded, _)| *guarded == l);
        let zero = b.func.iconst(Type::i64(), 0);
        for &(condition, expected) in guards.flat_map(|(_, conditions)| conditions) {
            count = match expected {
                true => b.select(condition, count, zero),
                false => b.select(condition, zero, count),
            };
        }
        counts.insert(l, count);
    }
    counts
}

/// Writes code for a region.
pub struct Emitter<'a> {
    /// What the region computes.
    pub tree: &'a Tree,
    /// How often its loops run.
    pub bounds: &'a HashMap<Loop, Bound>,
    /// How often those run whose number is known when the region is entered.
    pub counts: HashMap<Loop, Value>,
    /// The counters of loops around what is being written.
    pub counters: HashMap<Loop, Value>,
}

impl Emitter<'_> {
    /// Writes units after each other from the end of a block on; gives the block they end in.
    pub fn units(&mut self, func: &mut Function, mut block: Block, units: &[Unit]) -> Block {
        for unit in units {
            block = match unit {
                Unit::Nest(domain, write) if domain.loops.is_empty() => {
                    self.write(func, block, write)
                }
                Unit::Nest(domain, write) => self.nest(func, block, domain, write),
                Unit::Loop(l, units) => self.real_loop(func, block, *l, units),
            };
        }
        block
    }

    /// An expression as ordinary code.
    pub fn value(&self, b: &mut Builder, id: Id) -> Value {
        match self.tree.node(id) {
            Node::Outside(value) => *value,
            Node::Integer(form, ty) => {
                let wide = form.materialize(b, &|l| self.counters[&l]);
                narrowed(b, wide, *ty)
            }
            Node::Load(place, _) => {
                let address = self.address(b, &place.address);
                b.load(place.ty, address, place.access.clone())
            }
            Node::Op(data, ty, args) => {
                let args = args.iter().map(|&arg| self.value(b, arg)).collect();
                let data = InstData {
                    args,
                    ..data.clone()
                };
                let inst = b.func.append_inst(b.block, data, *ty);
                b.func
                    .result(inst)
                    .unwrap_or_else(|| panic!("an operation without a result"))
            }
        }
    }

    /// The address of a place, or of its element at the origin of loops that have no counter yet.
    fn address(&self, b: &mut Builder, form: &Affine) -> Value {
        let base = match form.base {
            Some(Base::Value(value)) => value,
            Some(Base::Symbol(symbol)) => {
                b.func.constant(Type::ptr(), Constant::Address(symbol, 0))
            }
            None => b.func.zero(Type::ptr()),
        };
        let offset = Affine {
            base: None,
            ..form.clone()
        };
        match offset.as_number() {
            Some(0) => base,
            Some(n) if i64::try_from(n).is_ok() => b.offset(base, n as i64),
            _ => {
                let offset = offset.materialize(b, &|l| self.counters[&l]);
                b.element(base, offset, 1)
            }
        }
    }

    /// A write outside of all nests.
    fn write(&mut self, func: &mut Function, block: Block, write: &Write) -> Block {
        let mut b = Builder::new(func, block);
        b.loc = write.loc;
        let mut value = self.value(&mut b, write.value);
        let address = self.address(&mut b, &write.place.address);
        let access = write.place.access.clone();
        let Join { combiner, flags } = write.join;
        let output = Output {
            combiner,
            flags,
            access,
        };
        if !write.join.is_store() {
            let old = b.load(write.place.ty, address, output.access.clone());
            value = expand_nests::combine(&mut b, &output, old, value);
        }
        b.store(value, address, output.access);
        block
    }

    /// A loop that stays: `count > 0`, then its body until the counter reaches the count.
    fn real_loop(&mut self, func: &mut Function, block: Block, l: Loop, units: &[Unit]) -> Block {
        let (start, after) = (func.add_block(), func.add_block());
        let counter = func.add_block_param(start, Type::i64());
        let mut b = Builder::new(func, block);
        let zero = b.func.iconst(Type::i64(), 0);
        let count = self.count(&mut b, l);
        let some = b.icmp(IntPred::Sgt, count, zero);
        b.branch(some, edge(start, vec![zero]), edge(after, vec![]));
        self.counters.insert(l, counter);
        let end = self.units(func, start, units);
        self.counters.remove(&l);
        let mut b = Builder::new(func, end);
        let one = b.func.iconst(Type::i64(), 1);
        let next = b.add(counter, one);
        if let Some(inst) = b.func.def_inst(next) {
            b.func.add_flags(inst, Flags::NSW);
        }
        let more = b.icmp(IntPred::Slt, next, count);
        b.branch(more, edge(start, vec![next]), edge(after, vec![]));
        after
    }

    fn count(&self, b: &mut Builder, l: Loop) -> Value {
        match &self.bounds[&l] {
            Bound::Fixed(_) => self.counts[&l],
            Bound::Form(form) => form.materialize(b, &|l| self.counters[&l]),
        }
    }

    /// A write at all points of some loops.
    fn nest(&self, func: &mut Function, block: Block, domain: &Domain, write: &Write) -> Block {
        let loops = &domain.loops[..];
        let mut b = Builder::new(func, block);
        b.loc = write.loc;
        let mut bounds = Vec::new();
        for (level, &l) in loops.iter().enumerate() {
            let merged = domain.merged.iter().find(|(merged, _)| *merged == l);
            if let Some((_, form)) = merged {
                bounds.extend(self.linear(&mut b, form, &loops[..level]));
                continue;
            }
            match &self.bounds[&l] {
                Bound::Fixed(_) => {
                    bounds.push(self.counts[&l]);
                    let zero = b.func.iconst(Type::i64(), 0);
                    bounds.extend(std::iter::repeat_n(zero, level));
                }
                Bound::Form(form) => bounds.extend(self.linear(&mut b, form, &loops[..level])),
            }
        }
        let depth = loops.len();
        let mut parts = NestParts {
            depth,
            bounds,
            inputs: Vec::new(),
            outputs: Vec::new(),
            taken: Vec::new(),
            body: Body::new(depth),
        };
        let mut inside = Inside {
            emitter: self,
            loops,
            known: HashMap::new(),
            inputs: Vec::new(),
            views: Vec::new(),
        };
        let result = inside.value(&mut b, &mut parts, write.value);
        let view = inside.view(&mut b, &write.place.address);
        let Join { combiner, flags } = write.join;
        let output = Output {
            combiner,
            flags,
            access: write.place.access.clone(),
        };
        parts.outputs.push(OutputPart {
            result,
            output,
            view,
        });
        let mut data = parts.join();
        data.loc = write.loc;
        func.append_inst(block, data, Type::void());
        block
    }

    /// A form as a number and its coefficient for each of some counters.
    fn linear(&self, b: &mut Builder, form: &Affine, loops: &[Loop]) -> Vec<Value> {
        let mut rest = form.clone();
        let mut steps = Vec::new();
        for &l in loops {
            let (step, without) = rest
                .split(l)
                .unwrap_or_else(|| panic!("a form is not linear"));
            steps.push(step);
            rest = without;
        }
        let counter = |l: Loop| self.counters[&l];
        let mut found = vec![rest.materialize(b, &counter)];
        found.extend(steps.iter().map(|step| step.materialize(b, &counter)));
        found
    }
}

/// The body of a nest under construction.
struct Inside<'a> {
    emitter: &'a Emitter<'a>,
    loops: &'a [Loop],
    known: HashMap<Id, Value>,
    /// Places that are read already.
    inputs: Vec<(Place, Value)>,
    /// Views that are there already: equal ones must be the same, operand for operand.
    views: Vec<(Affine, Vec<Value>)>,
}

impl Inside<'_> {
    /// The operands of a view.
    fn view(&mut self, b: &mut Builder, address: &Affine) -> Vec<Value> {
        if let Some((_, view)) = self.views.iter().find(|(known, _)| known == address) {
            return view.clone();
        }
        let mut rest = address.clone();
        let mut steps = Vec::new();
        for &l in self.loops {
            let (step, without) = rest
                .split(l)
                .unwrap_or_else(|| panic!("a form is not linear"));
            steps.push(step);
            rest = without;
        }
        let mut view = vec![self.emitter.address(b, &rest)];
        let counter = |l: Loop| self.emitter.counters[&l];
        view.extend(steps.iter().map(|step| step.materialize(b, &counter)));
        self.views.push((address.clone(), view.clone()));
        view
    }

    /// An expression in the body.
    fn value(&mut self, b: &mut Builder, parts: &mut NestParts, id: Id) -> Value {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let value = match self.emitter.tree.node(id) {
            Node::Outside(value) => match b.func.as_const(*value) {
                Some(constant @ (Constant::Int(_) | Constant::Float(_))) => parts
                    .body
                    .func
                    .constant(b.func.ty(*value), constant.clone()),
                _ => self.taken(b, parts, *value),
            },
            Node::Integer(form, ty) => self.integer(b, parts, form, *ty),
            Node::Load(place, _) => match self.inputs.iter().find(|(known, _)| known.is(place)) {
                Some((_, element)) => *element,
                None => {
                    let view = self.view(b, &place.address);
                    let element = parts.add_input(place.ty, place.access.clone(), view);
                    self.inputs.push((place.clone(), element));
                    element
                }
            },
            Node::Op(data, ty, args) => {
                let args = args.iter().map(|&arg| self.value(b, parts, arg)).collect();
                let data = InstData {
                    args,
                    ..data.clone()
                };
                let block = parts.body.block();
                let inst = parts.body.func.append_inst(block, data, *ty);
                let result = parts.body.func.result(inst);
                result.unwrap_or_else(|| panic!("an operation without a result"))
            }
        };
        self.known.insert(id, value);
        value
    }

    fn taken(&mut self, b: &Builder, parts: &mut NestParts, value: Value) -> Value {
        match parts.taken.iter().find(|(_, known)| *known == value) {
            Some((param, _)) => *param,
            None => parts.add_taken(b.func.ty(value), value),
        }
    }

    /// An integer that is affine in counters.
    fn integer(
        &mut self,
        b: &mut Builder,
        parts: &mut NestParts,
        form: &Affine,
        ty: Type,
    ) -> Value {
        let linear = self.emitter.linear(b, form, self.loops);
        let mut sum = None;
        for (i, value) in linear.into_iter().enumerate() {
            let number = b.func.as_int(value);
            if number == Some(0) {
                continue;
            }
            let factor = match number {
                Some(n) => parts.body.func.iconst(Type::i64(), n),
                None => self.taken(b, parts, value),
            };
            let counter = i.checked_sub(1).map(|level| parts.body.params()[level]);
            let block = parts.body.block();
            let mut inside = Builder::new(&mut parts.body.func, block);
            let term = match counter {
                None => factor,
                Some(counter) if number == Some(1) => counter,
                Some(counter) => inside.mul(factor, counter),
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => inside.add(sum, term),
            });
        }
        let block = parts.body.block();
        let mut inside = Builder::new(&mut parts.body.func, block);
        let zero = inside.func.iconst(Type::i64(), 0);
        narrowed(&mut inside, sum.unwrap_or(zero), ty)
    }
}

fn narrowed(b: &mut Builder, wide: Value, ty: Type) -> Value {
    match ty.int_bits() {
        Some(bits) if bits < 64 => b.cast(CastOp::Trunc, wide, ty),
        _ => wide,
    }
}

fn edge(block: Block, args: Vec<Value>) -> Edge {
    Edge { block, args }
}

/// What the analyses know of a loop's place in the program.
pub fn first_loc(analyses: &Analyses, l: Loop) -> Option<crate::ir::Loc> {
    let blocks = analyses.loops.blocks(l).iter();
    let insts = blocks.flat_map(|&block| analyses.func.block_insts(block));
    insts
        .filter_map(|&inst| analyses.func.inst(inst).loc)
        .next()
}
