//! The addresses that a call reads or writes through a pointer that it is given.
//!
//! They are the ranges of the callee's accesses through that parameter, in terms of its parameters,
//! with the arguments of the call in their place. There is no answer if some access, or a call
//! inside, is not understood.

use super::writes::{Kind, Touch, size_of, writes};
use crate::analysis::affine::{Affine, AffineValues, Base, Factor, Wrap};
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::effects::{ArgEffects, Effects};
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::points_to::{Object, PointsTo};
use crate::analysis::ranges::Range;
use crate::analysis::trip_count::{TripCount, trip_counts};
use crate::ir::{Block, Callee, Func, Function, InstData, Module, Op, Value, ValueDef};
use crate::simplify::canonical_loops;
use cranelift_entity::SecondaryMap;
use std::cell::RefCell;
use std::collections::HashMap;

/// How many ranges are worth comparing.
const MAX_RANGES: usize = 40;

/// What functions read or write through their parameters, as far as it was asked for. A function that
/// is being looked at has no answer, so recursion ends.
pub(super) type Summaries = RefCell<HashMap<(Func, usize, Side), Option<Vec<Range>>>>;

/// What a call does with memory.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Side {
    Reads,
    Writes,
}

/// A function whose calls are looked at.
pub(super) struct Caller<'a> {
    pub(super) module: &'a Module,
    pub(super) effects: &'a Effects,
    pub(super) values: &'a AffineValues<'a>,
    pub(super) loops: &'a Loops,
    pub(super) trips: &'a SecondaryMap<Loop, TripCount>,
    pub(super) summaries: &'a Summaries,
}

impl Caller<'_> {
    /// What a call reads or writes through one of its arguments while the loops around it run.
    fn touches(
        &self,
        block: Block,
        data: &InstData,
        args: &[Value],
        argument: usize,
        side: Side,
    ) -> Option<Vec<Range>> {
        let nest: Vec<Loop> = self.loops.enclosing(self.loops.innermost(block)).collect();
        let once = self.touches_once(block, data, args, argument, side)?;
        once.iter().map(|range| self.swept(range, &nest)).collect()
    }

    /// A range while the loops of a nest run, listed from the inside out.
    pub(super) fn swept(&self, range: &Range, nest: &[Loop]) -> Option<Range> {
        let range = range.while_running(nest, self.trips)?;
        self.stays(&range, nest).then_some(range)
    }

    /// What a call reads or writes through one of its arguments, when it runs once.
    pub(super) fn touches_once(
        &self,
        block: Block,
        data: &InstData,
        args: &[Value],
        argument: usize,
        side: Side,
    ) -> Option<Vec<Range>> {
        let callee = match data.op.call().map(|call| &call.callee) {
            Some(Callee::Direct(callee)) if !self.module.funcs[*callee].is_declaration() => *callee,
            // Without a body there is only what is known of all of its accesses.
            _ => {
                let (summary, _) = self.effects.inst(data);
                let touches = summary.arg(argument).intersects(match side {
                    Side::Reads => ArgEffects::READ,
                    Side::Writes => ArgEffects::WRITE | ArgEffects::FREE,
                });
                return (!touches).then(Vec::new);
            }
        };
        let own = self.by_parameter(callee, argument, side)?;
        let params = self.module.funcs[callee].arguments();
        let given = |param: Value| {
            let position = params.iter().position(|&p| p == param)?;
            args.get(position).copied()
        };
        let here = |form: &Affine| self.in_terms_of_arguments(form, block, &given);
        own.iter().map(|range| range.map(&here)).collect()
    }

    fn by_parameter(&self, callee: Func, param: usize, side: Side) -> Option<Vec<Range>> {
        let asked = (callee, param, side);
        if let Some(known) = self.summaries.borrow().get(&asked) {
            return known.clone();
        }
        self.summaries.borrow_mut().insert(asked, None);
        let found = by_parameter(self.module, self.effects, self.summaries, asked);
        self.summaries.borrow_mut().insert(asked, found.clone());
        found
    }

    /// A form of the callee's parameters with arguments in their place.
    fn in_terms_of_arguments(
        &self,
        form: &Affine,
        block: Block,
        given: &dyn Fn(Value) -> Option<Value>,
    ) -> Option<Affine> {
        let mut sum = match form.base {
            None => Affine::default(),
            Some(Base::Value(param)) => self.values.address(given(param)?, block),
            Some(base @ Base::Symbol(_)) => Affine {
                base: Some(base),
                ..Affine::default()
            },
        };
        sum = sum.plus(&Affine::number(form.constant))?;
        for (product, &coefficient) in &form.terms {
            let mut term = Affine::number(coefficient);
            for &factor in product {
                let argument = match factor {
                    Factor::Signed(param) => {
                        self.values.integer(given(param)?, Wrap::Signed, block)
                    }
                    Factor::Unsigned(param) => {
                        self.values.integer(given(param)?, Wrap::Unsigned, block)
                    }
                    Factor::Counter(_) => return None,
                };
                term = term.times(&argument)?;
            }
            sum = sum.plus(&term)?;
        }
        Some(sum)
    }
}

/// What a function reads or writes through one of its parameters, in terms of its parameters.
fn by_parameter(
    module: &Module,
    effects: &Effects,
    summaries: &Summaries,
    (func, param, side): (Func, usize, Side),
) -> Option<Vec<Range>> {
    let mut function = module.funcs[func].clone();
    canonical_loops::run(&mut function).ok()?;
    let cfg = Cfg::new(&function);
    let dominators = Dominators::new(&function, &cfg);
    let loops = Loops::new(&function, &cfg, &dominators).ok()?;
    let points_to = PointsTo::new(&function, effects);
    let values = AffineValues::new(&function, &cfg, &loops);
    let trips = trip_counts(&function, &cfg, &dominators, &loops);
    let caller = Caller {
        module,
        effects,
        values: &values,
        loops: &loops,
        trips: &trips,
        summaries,
    };
    let behind = |pointer: Value| {
        let mut objects = points_to.objects(pointer);
        objects.any(|object| object == Object::Argument(param))
    };
    let mut found: Vec<Range> = Vec::new();
    let mut add = |new: Vec<Range>| {
        for range in new {
            let known = |form: &&Affine| is_of_parameters(&function, form);
            if !range.forms().iter().all(known) || found.len() >= MAX_RANGES {
                return None;
            }
            if !found.contains(&range) {
                found.push(range);
            }
        }
        Some(())
    };
    let by_call = |block: Block, data: &InstData, pointers: &[Value]| {
        let mut all = Vec::new();
        for (i, &pointer) in pointers.iter().enumerate() {
            if function.ty(pointer).is_ptr() && behind(pointer) {
                all.extend(caller.touches(block, data, pointers, i, side)?);
            }
        }
        Some(all)
    };
    if side == Side::Writes {
        for write in writes(module, &function, &cfg, effects) {
            match &write.kind {
                Kind::Bytes(touch) if behind(touch.location.pointer) => {
                    add(vec![caller.range(touch)?])?;
                }
                Kind::Bytes(_) => {}
                Kind::Call(_, pointers) => {
                    add(by_call(write.block, function.inst(write.inst), pointers)?)?;
                }
            }
        }
        return Some(joined(found));
    }
    for &block in cfg.reverse_postorder() {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            add(match &data.op {
                Op::Load(access) if behind(data.args[0]) => {
                    let size = function.result(inst);
                    let size = size.and_then(|v| size_of(module, &function, v));
                    let touch = Touch::new(block, data.args[0], size, Some(access));
                    vec![caller.range(&touch)?]
                }
                Op::MemCopy { src, .. } if behind(data.args[1]) => {
                    let mut touch = Touch::new(block, data.args[1], None, Some(src));
                    touch.set_length(&function, data.args[2]);
                    vec![caller.range(&touch)?]
                }
                Op::Nest(nest) => {
                    let mut ranges = Vec::new();
                    for input in 0..nest.inputs.len() {
                        let touch = Touch::of_view(module, block, nest, &data.args, input);
                        if behind(touch.location.pointer) {
                            ranges.push(caller.range(&touch)?);
                        }
                    }
                    ranges
                }
                Op::Load(_) | Op::MemCopy { .. } => continue,
                // What is written is no read: it is not asked for in the reverse sweep.
                Op::Store(_) | Op::MemSet(_) => continue,
                _ => by_call(block, data, effects.inst(data).1)?,
            })?;
        }
    }
    Some(joined(found))
}

/// The same ranges, with those of the rows of a block as one.
fn joined(ranges: Vec<Range>) -> Vec<Range> {
    let mut groups: Vec<Vec<Range>> = Vec::new();
    for range in ranges {
        let fits = |group: &&mut Vec<Range>| {
            let mut with = group.to_vec();
            with.push(range.clone());
            Range::around_all(&with).is_some()
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(range),
            None => groups.push(vec![range]),
        }
    }
    let one = |mut group: Vec<Range>| match group.len() {
        1 => group.remove(0),
        _ => Range::around_all(&group).unwrap_or_else(|| group.remove(0)),
    };
    groups.into_iter().map(one).collect()
}

/// Whether a form mentions nothing but parameters of the function, which other functions know.
fn is_of_parameters(func: &Function, form: &Affine) -> bool {
    let is_param = |value: Value| match *func.def(value) {
        ValueDef::Param(block, _) => block == func.entry(),
        _ => false,
    };
    let base = match form.base {
        Some(Base::Value(value)) => is_param(value),
        _ => true,
    };
    base && form.factors().all(|factor| match factor {
        Factor::Counter(_) => false,
        Factor::Signed(value) | Factor::Unsigned(value) => is_param(value),
    })
}

impl Caller<'_> {
    /// The addresses that an access covers while the loops around it run.
    pub(super) fn range(&self, touch: &Touch) -> Option<Range> {
        let block = touch.location.block;
        let nest: Vec<Loop> = self.loops.enclosing(self.loops.innermost(block)).collect();
        let range = match &touch.view {
            Some(view) => {
                let extent = view.extent(self.values, block)?;
                Range::of_extent(&extent, &nest, self.trips)?
            }
            None => self.range_once(touch)?.while_running(&nest, self.trips)?,
        };
        self.stays(&range, &nest).then_some(range)
    }

    /// The addresses that an access covers at one moment.
    pub(super) fn range_once(&self, touch: &Touch) -> Option<Range> {
        let block = touch.location.block;
        match &touch.view {
            Some(view) => {
                let extent = view.extent(self.values, block)?;
                Range::of_extent(&extent, &[], self.trips)
            }
            None => {
                let address = self.values.address(touch.location.pointer, block);
                Range::at_once(&address, &touch.size(self.values)?)
            }
        }
    }

    /// Whether the ends of a range are the same in all iterations of a nest, listed from the
    /// inside out. An index that is loaded or computed anew in each iteration is not.
    fn stays(&self, range: &Range, nest: &[Loop]) -> bool {
        let fixed = |form: &Affine| {
            nest.last()
                .is_none_or(|&outermost| self.values.is_invariant(form, outermost))
        };
        range.forms().into_iter().all(fixed)
    }
}
