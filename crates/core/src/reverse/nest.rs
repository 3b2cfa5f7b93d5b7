//! The reverse of a nest is one nest or several.
//!
//! Each adjoint of an output becomes an input, and each active input gets an output that adds to
//! its shadow; an active value from outside, one that adds to its slot. The body computes the
//! primal again, from inputs that must be intact, and appends adjoints to it.
//!
//! The adjoint of what was stored is taken out: an output stores zero in its place, or, where the
//! nest works in place, the adjoint of what was there before. The adjoint of a sum stays.
//!
//! The reverse of a contraction, whose body only multiplies and adds, is a nest for each adjoint:
//! that of a matrix product is two matrix products, which fast kernels exist for. All other bodies
//! would be computed once for each nest, so their reverse is one nest.

use super::gradient::Gradient;
use crate::chaos::Choice;
use crate::diagnostic::Result;
use crate::ir::{
    BinaryOp, Body, Builder, Combiner, Inst, InstData, Nest, NestParts, Op, Output, OutputPart,
    Type, UnaryOp, Value,
};
use crate::planted::Defect;
use crate::primal::Primal;
use crate::rules::body;
use crate::shadow::{active_params, shadow_access};
use crate::simplify::lower_products::has_kernels;
use std::collections::{BTreeSet, HashMap};

/// The inputs that the reverse of a nest reads again.
pub fn read_again(primal: &Primal, data: &InstData, nest: &Nest) -> BTreeSet<usize> {
    let reverses = reverses(primal, data, nest);
    let parts = reverses.iter().flat_map(|reverse| &reverse.parts.inputs);
    let input = |element| (0..nest.inputs.len()).find(|&i| nest.element(i) == element);
    parts.filter_map(|part| input(part.element)).collect()
}

/// How many nests the reverse of one is.
pub fn reverse_count(primal: &Primal, data: &InstData, nest: &Nest) -> usize {
    reverses(primal, data, nest).len()
}

/// How many nests of the reverse of one are products that there are kernels for.
pub fn reverse_products(primal: &Primal, data: &InstData, nest: &Nest) -> usize {
    let reverses = reverses(primal, data, nest).into_iter();
    let joined = reverses.map(|reverse| reverse.parts.join());
    let is_product = |nest: &InstData| has_kernels(&primal.function, nest);
    joined.filter(is_product).count()
}

/// One nest of the reverse. Its operands are still values of the forward sweep.
#[derive(Clone)]
struct Reverse {
    parts: NestParts,
    /// Elements that are adjoints, and which of the derivatives at once they belong to.
    adjoints: HashMap<Value, usize>,
    /// What each output adds to or stores in.
    targets: Vec<Target>,
}

#[derive(Copy, Clone)]
enum Target {
    /// A shadow of the memory that the view is in.
    Shadow(usize),
    /// A slot of a value.
    Slot(Value, usize),
}

/// The nests that are the reverse of one.
fn reverses(primal: &Primal, data: &InstData, nest: &Nest) -> Vec<Reverse> {
    let width = primal.key.width as usize;
    let mut parts = NestParts::new(nest, &data.args);
    let outputs = std::mem::take(&mut parts.outputs);
    let varied = body::varied(&nest.body, active_params(primal, data, nest).into_iter());
    let mut reverse = Reverse {
        parts,
        adjoints: HashMap::new(),
        targets: Vec::new(),
    };
    let mut adjoints = HashMap::new();
    let shadowed = |view: &[Value]| primal.has_shadow(view[0]);
    for output in outputs.iter().filter(|output| shadowed(&output.view)) {
        let elements = reverse.adjoint_inputs(output, width);
        if varied.contains(output.result) {
            let block = reverse.parts.body.block();
            let mut builder = Builder::new(&mut reverse.parts.body.func, block);
            body::add(&mut builder, &mut adjoints, output.result, elements);
        }
    }
    let strong_zero = primal.key.strong_zero;
    body::adjoints(&mut reverse.parts.body, &varied, &mut adjoints, strong_zero);

    let stores = outputs
        .iter()
        .filter(|o| o.output.combiner == Combiner::Store);
    let stores: Vec<&OutputPart> = stores.filter(|o| shadowed(&o.view)).collect();
    let mut in_place = vec![None; stores.len()];
    for input in reverse.parts.inputs.clone() {
        let Some(adjoints) = adjoints.get(&input.element) else {
            continue;
        };
        if !varied.contains(input.element) || reverse.adjoints.contains_key(&input.element) {
            continue;
        }
        if let Some(store) = stores.iter().position(|store| store.view == input.view) {
            let block = reverse.parts.body.block();
            let mut builder = Builder::new(&mut reverse.parts.body.func, block);
            let known = in_place[store].take();
            in_place[store] = Some(body::sum(&mut builder, known, adjoints.clone()));
            continue;
        }
        let ty = reverse.parts.body.func.ty(input.element);
        for (k, &result) in adjoints.iter().enumerate() {
            let output = Output::adjoint_sum(shadow_access(&input.access, ty));
            reverse.output(result, output, input.view.clone(), Target::Shadow(k));
        }
    }
    for (param, value) in reverse.parts.taken.clone() {
        for (k, &result) in adjoints.get(&param).into_iter().flatten().enumerate() {
            let output = Output::adjoint_sum(Default::default());
            let view = Vec::new();
            reverse.output(result, output, view, Target::Slot(value, k));
        }
    }
    for (store, old) in stores.iter().zip(in_place) {
        let ty = reverse.parts.body.func.ty(store.result);
        let zero = reverse.parts.body.func.zero(ty);
        for k in 0..width {
            let result = old.as_ref().map_or(zero, |old| old[k]);
            let output = Output {
                access: shadow_access(&store.output.access, ty),
                ..store.output.clone()
            };
            reverse.output(result, output, store.view.clone(), Target::Shadow(k));
        }
    }
    let split = stores.is_empty() && is_polynomial(&nest.body);
    let mut all = match split {
        true => reverse.split(),
        false => vec![reverse],
    };
    all.retain(|reverse| !reverse.targets.is_empty());
    all.iter_mut().for_each(|reverse| reverse.parts.prune());
    all
}

impl Reverse {
    /// The adjoints of an output.
    fn adjoint_inputs(&mut self, output: &OutputPart, width: usize) -> Vec<Value> {
        let ty = self.parts.body.func.ty(output.result);
        let access = shadow_access(&output.output.access, ty);
        let elements: Vec<Value> = (0..width)
            .map(|k| {
                let view = output.view.clone();
                let element = self.parts.add_input(ty, access.clone(), view);
                self.adjoints.insert(element, k);
                element
            })
            .collect();
        elements
    }

    fn output(&mut self, result: Value, output: Output, view: Vec<Value>, target: Target) {
        self.targets.push(target);
        self.parts.outputs.push(OutputPart {
            result,
            output,
            view,
        });
    }

    /// A nest for each output.
    fn split(self) -> Vec<Reverse> {
        let mut all = Vec::new();
        for (output, &target) in self.parts.outputs.iter().zip(&self.targets) {
            let mut one = self.clone();
            one.parts.outputs = vec![output.clone()];
            one.targets = vec![target];
            all.push(one);
        }
        all
    }
}

/// Whether a body only multiplies and adds.
fn is_polynomial(body: &Body) -> bool {
    body.insts().iter().all(|&inst| {
        matches!(
            body.func.inst(inst).op,
            Op::Binary(BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul) | Op::Unary(UnaryOp::FNeg)
        )
    })
}

impl Gradient<'_> {
    /// Reverses a nest.
    pub(super) fn nest(&mut self, inst: Inst) -> Result<()> {
        // The forward sweep knows whose memory the accesses touch.
        let data = self.augmented.func.inst(inst).clone();
        let Op::Nest(nest) = &data.op else {
            return Ok(());
        };
        for reverse in reverses(self.primal, &data, nest) {
            self.reverse_nest(reverse)?;
        }
        Ok(())
    }

    /// Puts the operands of the reverse sweep into a nest.
    fn reverse_nest(&mut self, reverse: Reverse) -> Result<()> {
        let Reverse {
            mut parts,
            adjoints,
            targets,
        } = reverse;
        if self.breaks(Defect::NestKeepsAdjoint) {
            let kept = |part: &OutputPart| part.output.combiner != Combiner::Store;
            parts.outputs.retain(kept);
            if parts.outputs.is_empty() {
                return Ok(());
            }
        }
        // A view that occurs twice must be the same twice, operand for operand.
        let mut views = HashMap::new();
        let mut view = |this: &mut Self, view: &[Value], shadow: Option<usize>| -> Result<_> {
            let known = (view.to_vec(), shadow);
            if !views.contains_key(&known) {
                views.insert(known.clone(), this.view(view, shadow)?);
            }
            Ok(views[&known].clone())
        };
        for bound in &mut parts.bounds {
            *bound = self.primal_value(*bound);
        }
        for input in &mut parts.inputs {
            let shadow = adjoints.get(&input.element).copied();
            input.view = view(self, &input.view, shadow)?;
        }
        for (part, target) in parts.outputs.iter_mut().zip(targets) {
            match target {
                Target::Shadow(k) => part.view = view(self, &part.view, Some(k))?,
                Target::Slot(value, k) => {
                    let ty = self.primal.function.ty(value);
                    part.output.access = self.frame_access(ty);
                    let zero = self.func.iconst(Type::i64(), 0);
                    part.view = vec![zero; 1 + parts.depth];
                    part.view[0] = self.slot(value, k);
                }
            }
        }
        for (_, value) in &mut parts.taken {
            *value = self.primal_value(*value);
        }
        let about = (&self.primal.function.name, parts.outputs.len(), self.block);
        let chance = self.synthesis.options.chance(Choice::LoopOrder, about);
        if let Some(first) = chance
            && parts.order_is_free(&self.func)
        {
            parts.rotate(first as usize % parts.depth.max(1));
        }
        let mut data = parts.join();
        data.loc = self.loc;
        self.func.append_inst(self.block, data, Type::void());
        Ok(())
    }

    /// The operands of a view of primal memory or of one of its shadows.
    fn view(&mut self, view: &[Value], shadow: Option<usize>) -> Result<Vec<Value>> {
        let base = match shadow {
            Some(k) => self.shadow(view[0], k)?,
            None => self.primal_value(view[0]),
        };
        let distances = view[1..].iter().map(|&v| self.primal_value(v));
        Ok(std::iter::once(base).chain(distances).collect())
    }
}
