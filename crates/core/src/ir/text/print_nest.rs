//! Prints nests. Counters and what the body computes have names of their own; what stands before a
//! `*` or as the base of a sum is a value of the function around.

use super::names::Names;
use super::print_clauses::{access_clauses, flags_text, spaced};
use super::print_inst::InstPrinter;
use crate::ir::{Access, InstData, Nest, Type, Value};

impl InstPrinter<'_> {
    /// A nest, over several lines.
    pub(super) fn nest(&self, data: &InstData, nest: &Nest) -> String {
        let body = &nest.body;
        if data.args.len() < nest.outside() || body.params().len() < nest.depth {
            return "nest of too few operands".to_string();
        }
        let names = Names::inside(&body.func, self.names);
        let inner = InstPrinter {
            module: self.module,
            func: &body.func,
            names: &names,
        };
        let sum = |operands: &[Value], base: Option<Type>| {
            let mut text = self.value(operands[0], base);
            for (&factor, &counter) in operands[1..].iter().zip(body.params()) {
                if !self.is_zero(factor) {
                    let factor = self.value(factor, Some(Type::i64()));
                    text.push_str(&format!(" + {factor}*{}", names.value(counter)));
                }
            }
            text
        };
        let accessed = |operands: &[Value], access: &Access| {
            let place = sum(operands, Some(Type::ptr()));
            let clauses = access_clauses(access).into_iter();
            clauses.fold(place, |text, clause| format!("{text}, {clause}"))
        };
        let loops = (0..nest.depth).map(|level| {
            let counter = names.definition(nest.counter(level));
            let bound = sum(&data.args[nest.bound(level)], Some(Type::i64()));
            format!("{counter} < {bound}")
        });
        let loops = format!("[{}]", loops.collect::<Vec<_>>().join(", "));
        let taken = nest.taken().iter().zip(&data.args[nest.outside()..]);
        let taken = taken.map(|(&param, &value)| {
            let ty = body.func.ty(param);
            let value = self.value(value, Some(ty));
            format!("{}: {ty} = {value}", names.definition(param))
        });
        let mut with = taken.collect::<Vec<_>>().join(", ");
        if !with.is_empty() {
            with = format!("with ({with})");
        }
        let mut out = spaced(&["nest", &flags_text(data.flags), &loops, &with, "{"]);
        for (i, access) in nest.inputs.iter().enumerate() {
            let element = nest.element(i);
            let ty = body.func.ty(element);
            let place = accessed(&data.args[nest.view(i)], access);
            let element = names.definition(element);
            out.push_str(&format!("\n        {element} = load {ty} {place}"));
        }
        for &inst in body.insts() {
            out.push_str(&format!("\n        {}", inner.text(inst)));
        }
        for (i, (output, &result)) in nest.outputs.iter().zip(body.results()).enumerate() {
            let place = accessed(&data.args[nest.output_view(i)], &output.access);
            let result = inner.value(result, None);
            let head = [output.combiner.name(), &flags_text(output.flags), &result];
            out.push_str(&format!("\n        {}, {place}", spaced(&head)));
        }
        out.push_str("\n    }");
        out
    }

    fn is_zero(&self, value: Value) -> bool {
        self.exists(value)
            && self.func.ty(value) == Type::i64()
            && self.func.as_int(value) == Some(0)
    }
}
