//! The forward sweep before its tape: the function with shadow pointers, and what planning and the
//! reverse sweep want to know about it.

use super::decisions::{Decisions, Way};
use super::entered;
use super::induction::{Induction, inductions};
use crate::analysis::affine::AffineValues;
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::TripCount;
use crate::ir::{Block, Builder, Function, Inst, Type, Value, ValueDef};
use crate::plan::Need;
use crate::planted::Defect;
use crate::primal::Primal;
use crate::shadow::{ActiveCall, Walk};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// The function with shadow pointers.
pub struct Augmented {
    /// The function. Primal values and blocks have the numbers they have in the primal.
    pub func: Function,
    /// The shadows of pointers.
    pub shadows: HashMap<Value, Vec<Value>>,
    /// The calls that the reverse sweep reverses by a call.
    pub calls: HashMap<Inst, ActiveCall>,
    /// The shadow bits of copied words whose type is not known, see [`Walk`].
    pub words: HashMap<Inst, Vec<Vec<Value>>>,
    /// For loads of shadow pointers, the loads of primal pointers that they mirror.
    pub mirrors: HashMap<Inst, Inst>,
    /// The parameters of the entry: primals and shadows, then the frame.
    pub params: Vec<Value>,
    /// Where paths meet outside of loop headers: the index of the edge that control came by.
    pub came_by: HashMap<Block, Value>,
    /// Which of the values in `came_by` follow from conditions.
    pub decisions: HashMap<Value, Decisions>,
    /// Header parameters that change by the same amount in each iteration.
    pub inductions: HashMap<Value, Induction>,
    /// Parameters of blocks with one way in, and what they get, where both are in the same loop; values
    /// that are stored, and what is read back.
    forwarded: HashMap<Value, Value>,
    /// The counter in the last iteration, for loops where it is known at entry.
    pub last: HashMap<Loop, Last>,
    blocks: SecondaryMap<Inst, Option<Block>>,
}

/// The counter in the last iteration of a loop.
#[derive(Copy, Clone, Debug)]
pub struct Last {
    /// Its value, computed before the loop.
    pub value: Value,
    /// The outermost loop before which it is known, counted from this one outwards.
    pub known_before: Loop,
}

impl Augmented {
    /// Takes over what the walk made and adds the parameters that remember edges.
    pub fn new(walk: Walk<'_>) -> Augmented {
        let primal = walk.primal;
        let broken = walk.synthesis.options.breaks(Defect::WrongEdge);
        let mut augmented = Augmented {
            func: walk.func,
            shadows: walk.shadows,
            calls: walk.calls,
            words: walk.words,
            mirrors: walk.mirrors,
            params: walk.params,
            came_by: HashMap::new(),
            decisions: HashMap::new(),
            inductions: HashMap::new(),
            forwarded: HashMap::new(),
            last: HashMap::new(),
            blocks: SecondaryMap::new(),
        };
        for &block in &primal.order {
            augmented.remember_edges(primal, block, broken);
        }
        for l in primal.loops.iter() {
            augmented.count_ahead(primal, l);
        }
        augmented.blocks = augmented.func.inst_blocks();
        augmented.forwarded.extend(primal.read_back());
        for &block in &primal.order {
            augmented.forward_params(primal, block);
        }
        augmented.inductions = inductions(primal, &augmented);
        augmented
    }

    /// A block with one way in gives its arguments new names only. Where a loop is left, the new
    /// name stands for the value in the last iteration and is kept.
    fn forward_params(&mut self, primal: &Primal, block: Block) {
        let &[(from, edge)] = primal.cfg.predecessors(block) else {
            return;
        };
        if primal.loops.innermost(from) != primal.loops.innermost(block) {
            return;
        }
        let arguments = self.func.edges(from)[edge].args.clone();
        let params = self.func.block_params(block).iter().copied();
        let pairs: Vec<(Value, Value)> = params.zip(arguments).collect();
        for (param, argument) in pairs {
            let known = match self.def_block(argument) {
                None => true,
                Some(def) => primal.loops.innermost(def) == primal.loops.innermost(block),
            };
            if known {
                let argument = self.resolve(argument);
                self.forwarded.insert(param, argument);
            }
        }
    }

    /// The value that another is just a new name of.
    pub fn resolve(&self, value: Value) -> Value {
        self.forwarded.get(&value).copied().unwrap_or(value)
    }

    fn remember_edges(&mut self, primal: &Primal, block: Block, broken: bool) {
        let edges = primal.cfg.predecessors(block);
        let is_header = primal.loops.headed_by(block).is_some();
        if edges.len() < 2 || is_header || !primal.cfg.reaches_return(block) {
            return;
        }
        let ty = Type::int(if edges.len() <= 256 { 8 } else { 32 });
        let param = self.func.add_block_param(block, ty);
        self.came_by.insert(block, param);
        for (index, &(from, edge)) in edges.iter().enumerate() {
            let index = match broken && index + 1 == edges.len() {
                true => 0,
                false => index,
            };
            let number = self.func.iconst(ty, index as i128);
            if let Some(inst) = self.func.terminator(from) {
                let mut edges = self.func.inst_mut(inst).op.edges_mut();
                edges[edge].args.push(number);
            }
        }
        if let Some(mut decisions) = Decisions::above(primal, block) {
            let ways = decisions.0.iter_mut().flat_map(|choice| &mut choice.ways);
            for way in ways.filter(|way| broken && **way == Way::Edge(edges.len() - 1)) {
                *way = Way::Edge(0);
            }
            self.decisions.insert(param, decisions);
        }
    }

    /// Computes the last counter of a loop before the outermost loop where that is possible.
    fn count_ahead(&mut self, primal: &Primal, l: Loop) {
        let trips: &TripCount = &primal.trip_counts[l];
        if !trips.is_known() {
            return;
        }
        let values = AffineValues::new(&primal.function, &primal.cfg, &primal.loops);
        let mut outermost = l;
        let mut entered = Vec::new();
        for outer in primal.loops.enclosing(primal.loops.parent(l)) {
            let conditions = entered::conditions(primal, l, outer);
            let Some(conditions) = conditions.filter(|_| trips.is_invariant(&values, outer)) else {
                break;
            };
            (outermost, entered) = (outer, conditions);
        }
        let Some(preheader) = primal.loops.preheader(outermost) else {
            return;
        };
        let mut insts = self.func.block_insts(preheader).to_vec();
        let Some(terminator) = insts.pop() else {
            return;
        };
        self.func.set_block_insts(preheader, insts);
        let counters = &primal.canonical.counters;
        let counter = |l: Loop| counters[&primal.loops.header(l)];
        let mut builder = Builder::new(&mut self.func, preheader);
        let last = trips.materialize(&mut builder, &counter).map(|last| {
            let zero = builder.func.iconst(Type::i64(), 0);
            let conditions = entered.into_iter();
            conditions.fold(last, |last, (condition, way)| match way {
                true => builder.select(condition, last, zero),
                false => builder.select(condition, zero, last),
            })
        });
        self.func.attach_inst(preheader, terminator);
        if let Some(value) = last {
            let known_before = outermost;
            self.last.insert(
                l,
                Last {
                    value,
                    known_before,
                },
            );
        }
    }

    /// The block that an instruction stands in.
    pub fn block_of(&self, inst: Inst) -> Option<Block> {
        self.blocks[inst]
    }

    /// The block that a value is defined in; none for constants.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match self.func.def(value) {
            ValueDef::Param(block, _) => Some(*block),
            ValueDef::Result(inst) => self.blocks[*inst],
            ValueDef::Const(_) => None,
        }
    }

    /// What the reverse sweep needs to have a value of the forward sweep while it reverses a
    /// block; none if both sweeps have it: constants, arguments, counters of loops around.
    pub fn need(&self, primal: &Primal, value: Value, at: Block) -> Option<Need> {
        let value = self.resolve(value);
        let block = self.def_block(value)?;
        let entry = primal.function.entry();
        if block == entry && matches!(self.func.def(value), ValueDef::Param(..))
            || self.params.contains(&value)
        {
            return None;
        }
        if self.counter_of(primal, value, at).is_some() {
            return None;
        }
        let level = primal.loops.common(block, at);
        Some(Need { value, level })
    }

    /// The loop around a block whose counter a value is.
    pub fn counter_of(&self, primal: &Primal, value: Value, at: Block) -> Option<Loop> {
        let block = self.def_block(value)?;
        let l = primal.loops.headed_by(block)?;
        let is_counter = primal.canonical.counters.get(&block) == Some(&value);
        (is_counter && primal.loops.contains(l, at)).then_some(l)
    }
}
