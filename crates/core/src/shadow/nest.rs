//! Tangents of nests: a nest that computes tangents beside primal values.

use super::{Sweep, Walk, shadow_access};
use crate::ir::{Combiner, Inst, InstData, Nest, NestParts, OutputPart, Value};
use crate::primal::Primal;
use crate::rules::body;
use std::collections::HashMap;

impl Walk<'_> {
    /// Gives a nest an input for each tangent that it reads and an output for each that it makes.
    /// Adjoints, which the reverse sweep fills, are none of its business.
    pub(super) fn nest(&mut self, inst: Inst, data: &InstData, nest: &Nest) {
        let primal = self.primal;
        let has_shadow =
            |output: usize| primal.has_shadow(data.args[nest.output_view(output).start]);
        if self.sweep == Sweep::Pointers || !(0..nest.outputs.len()).any(has_shadow) {
            return;
        }
        let mut parts = NestParts::new(nest, &data.args);
        let varied = body::varied(&nest.body, active_params(primal, data, nest).into_iter());
        let mut tangents = HashMap::new();
        for input in parts.inputs.clone() {
            if varied.contains(input.element) {
                let ty = nest.body.func.ty(input.element);
                let access = shadow_access(&input.access, ty);
                let views = self.shadow_views(&input.view).into_iter();
                let elements = views.map(|view| parts.add_input(ty, access.clone(), view));
                tangents.insert(input.element, elements.collect());
            }
        }
        for (param, value) in parts.taken.clone() {
            if varied.contains(param) {
                let ty = nest.body.func.ty(param);
                let shadows = self.shadows_of(value).into_iter();
                let taken = shadows.map(|shadow| parts.add_taken(ty, shadow));
                tangents.insert(param, taken.collect());
            }
        }
        let strong_zero = primal.key.strong_zero;
        body::tangents(&mut parts.body, &varied, &mut tangents, strong_zero);
        for (i, part) in parts.outputs.clone().into_iter().enumerate() {
            let results: Vec<Value> = match tangents.get(&part.result) {
                _ if !has_shadow(i) => continue,
                Some(tangents) => tangents.clone(),
                None if part.output.combiner != Combiner::Store => continue,
                None => {
                    let zero = parts.body.func.zero(nest.output_type(i));
                    vec![zero; self.width()]
                }
            };
            let views = self.shadow_views(&part.view);
            for (result, view) in results.into_iter().zip(views) {
                let mut output = part.output.clone();
                output.access = shadow_access(&output.access, nest.output_type(i));
                parts.outputs.push(OutputPart {
                    result,
                    output,
                    view,
                });
            }
        }
        let joined = parts.join();
        let data = self.func.inst_mut(inst);
        data.origin = None;
        data.op = joined.op;
        data.args = joined.args;
    }

    /// A view of each shadow of its memory.
    fn shadow_views(&mut self, view: &[Value]) -> Vec<Vec<Value>> {
        let shadows = self.shadows_of(view[0]).into_iter();
        let moved = |shadow| {
            let mut view = view.to_vec();
            view[0] = shadow;
            view
        };
        shadows.map(moved).collect()
    }
}

/// The parameters of a nest's body that derivatives may flow from.
pub fn active_params(primal: &Primal, data: &InstData, nest: &Nest) -> Vec<Value> {
    let inputs = (0..nest.inputs.len())
        .filter(|&i| primal.has_shadow(data.args[nest.view(i).start]))
        .map(|i| nest.element(i));
    let taken = nest.taken().iter().zip(&data.args[nest.outside()..]);
    let taken = taken.filter(|(_, value)| primal.is_active(**value));
    inputs.chain(taken.map(|(&param, _)| param)).collect()
}
