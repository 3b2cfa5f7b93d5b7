//! Loops that search for the smallest or largest number.
//!
//! `for (j = 0; j < k; j++) { x = f(j); if (x < best) best = x; }` has a derivative through one
//! iteration only: the last that was chosen. So the loop finds out which one that is, and what it has
//! found is computed once more after it, in straight code that is differentiated; through the loop
//! itself no derivative flows. The reverse of k iterations becomes that of one, and of the loop
//! nothing is cached but the choice.
//!
//! Before: a function in canonical form. After: it computes the same, bit by bit, as the iteration is
//! repeated with the same operations on the same numbers.
//!
//! What the iterations choose by may be anything. But they write nothing, carry no other float, and
//! use the best so far for nothing but choosing. `fmin` and `fmax` are no choices: where both numbers
//! are equal, their derivative is one half of each.

use super::{Extent, Raise};
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::{Exit, Loop, Loops};
use crate::ir::{
    BinaryOp, Block, Builder, Copied, Edge, Function, Inst, InstData, Loc, Op, Type, UnaryOp,
    Value, ValueDef,
};
use crate::planted::Defect;
use crate::simplify::dead_code::is_removable;
use crate::simplify::{canonical_loops, dead_code};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// An iteration with fewer float operations than this, and no loop in it, is not worth it: to
/// remember which one was chosen costs as much.
const FEW_OPERATIONS: usize = 4;

/// Rewrites the searches of a function; gives the places of those that were.
pub fn run(
    function: &mut Function,
    wanted: &dyn Fn(Loop) -> Raise,
    planted: Option<Defect>,
) -> Vec<Extent> {
    let mut rewritten = Vec::new();
    if function.is_declaration() {
        return rewritten;
    }
    // What was rewritten hands on no best any more, so this comes to an end.
    loop {
        let mut copy = function.clone();
        if canonical_loops::run(&mut copy).is_err() {
            return rewritten;
        }
        let found = find(&copy, wanted);
        if found.is_empty() {
            return rewritten;
        }
        // Rewriting one changes the blocks of those around it: they come later.
        let headers: Vec<Block> = found.iter().map(|search| search.blocks[0]).collect();
        for search in found {
            let is_around = |header: &Block| search.blocks[1..].contains(header);
            if !headers.iter().any(is_around) {
                let all = copy.locs(&search.blocks);
                rewritten.push(Extent {
                    at: search.loc,
                    all,
                });
                search.rewrite(&mut copy, planted);
            }
        }
        dead_code::run(&mut copy);
        *function = copy;
    }
}

fn find(func: &Function, wanted: &dyn Fn(Loop) -> Raise) -> Vec<Search> {
    let cfg = Cfg::new(func);
    let dominators = Dominators::new(func, &cfg);
    let Ok(loops) = Loops::new(func, &cfg, &dominators) else {
        return Vec::new();
    };
    let places = Places {
        func,
        cfg: &cfg,
        dominators: &dominators,
        loops: &loops,
        blocks: func.inst_blocks(),
    };
    let all = loops.iter();
    all.filter_map(|l| places.find(l, wanted(l))).collect()
}

/// A loop that searches.
struct Search {
    /// Its blocks, the header first.
    blocks: Vec<Block>,
    preheader: Block,
    latch: Block,
    exit: Exit,
    /// Which parameter of the header is the best so far.
    position: usize,
    /// The best after an iteration: a choice between the best so far and `chosen`.
    next: Inst,
    /// Whether the choice is for `chosen` if its condition holds.
    if_true: bool,
    chosen: Value,
    /// Whether the exit hands on the best after its iteration rather than before.
    leaves_with_next: bool,
    /// Whether `chosen` is known where the loop is left.
    known_at_exit: bool,
    loc: Option<Loc>,
}

struct Places<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    loops: &'a Loops,
    blocks: SecondaryMap<Inst, Option<Block>>,
}

impl Places<'_> {
    fn find(&self, l: Loop, wanted: Raise) -> Option<Search> {
        let (func, loops) = (self.func, self.loops);
        let header = loops.header(l);
        let preheader = loops.preheader(l)?;
        let [latch] = loops.latches(l)[..] else {
            return None;
        };
        let live = |e: &&Exit| self.cfg.reaches_return(e.to);
        let mut exits = loops.exits(l).iter().filter(live);
        let (exit, None) = (*exits.next()?, exits.next()) else {
            return None;
        };
        let params = func.block_params(header);
        let is_number = |v: &Value| !func.ty(*v).is_int() && func.ty(*v) != Type::ptr();
        let position = params.iter().position(&is_number)?;
        let best = params[position];
        if params.iter().filter(|v| is_number(v)).count() > 1
            || func.ty(best).float_kind().is_none()
        {
            return None;
        }
        let back = func.edges(latch).into_iter().find(|e| e.block == header)?;
        let next_value = *back.args.get(position)?;
        let next = func.def_inst(next_value)?;
        let (if_true, chosen) = match (&func.inst(next).op, &func.inst(next).args[..]) {
            (Op::Select, &[_, x, other]) if other == best => (true, x),
            (Op::Select, &[_, other, x]) if other == best => (false, x),
            _ => return None,
        };
        let inside = |value: Value| self.block_of(value).filter(|&b| loops.contains(l, b));
        let chosen_in = inside(chosen)?;
        inside(next_value)?;
        let leaving = func.edges(exit.from)[exit.edge].clone();
        let handed: Vec<Value> = leaving
            .args
            .iter()
            .copied()
            .filter(|&v| inside(v).is_some())
            .collect();
        let floats: Vec<Value> = handed.into_iter().filter(|v| is_number(v)).collect();
        let first = *floats.first()?;
        if floats.iter().any(|&v| v != first) || ![best, next_value].contains(&first) {
            return None;
        }
        let blocks = loops.blocks(l).iter().copied().filter(|&b| b != header);
        let blocks: Vec<Block> = std::iter::once(header).chain(blocks).collect();
        if !self.only_computes(&blocks) || !self.only_chooses(l, [best, next_value], next) {
            return None;
        }
        if wanted == Raise::Never || (wanted == Raise::Worthwhile && !self.is_dear(l, &blocks)) {
            return None;
        }
        Some(Search {
            blocks,
            preheader,
            latch,
            known_at_exit: self.dominators.dominates(chosen_in, exit.from),
            exit,
            position,
            next,
            if_true,
            chosen,
            leaves_with_next: first == next_value,
            loc: func.inst(next).loc,
        })
    }

    fn block_of(&self, value: Value) -> Option<Block> {
        match self.func.def(value) {
            ValueDef::Param(block, _) => Some(*block),
            ValueDef::Result(inst) => self.blocks[*inst],
            ValueDef::Const(_) => None,
        }
    }

    /// Whether instructions do nothing but compute.
    fn only_computes(&self, blocks: &[Block]) -> bool {
        let func = self.func;
        let mut insts = blocks.iter().flat_map(|&block| func.block_insts(block));
        insts.all(|&inst| {
            let data = func.inst(inst);
            match &data.op {
                Op::Jump(_) | Op::Branch { .. } | Op::Switch { .. } => true,
                Op::Alloca { .. } => false,
                _ => is_removable(data),
            }
        })
    }

    /// Whether the best so far, before and after an iteration, is for comparing and handing on only,
    /// and nothing of the loop is used outside of it but through its edges.
    fn only_chooses(&self, l: Loop, best: [Value; 2], next: Inst) -> bool {
        let func = self.func;
        let mut well = true;
        for &block in func.blocks() {
            let is_inside = self.loops.contains(l, block);
            for &inst in func.block_insts(block) {
                let data = func.inst(inst);
                if is_inside {
                    let compares = matches!(data.op, Op::FCmp(_)) || inst == next;
                    well &= compares || !data.args.iter().any(|v| best.contains(v));
                    let edges = data.op.edges();
                    let stays = edges.iter().filter(|e| e.block != self.loops.header(l));
                    let mut stays = stays.filter(|e| self.loops.contains(l, e.block));
                    well &= !stays.any(|e| e.args.iter().any(|v| best.contains(v)));
                } else {
                    data.for_each_operand(|value| {
                        let def = self.block_of(value);
                        well &= !def.is_some_and(|def| self.loops.contains(l, def));
                    });
                }
            }
        }
        well
    }

    /// Whether an iteration computes enough.
    fn is_dear(&self, l: Loop, blocks: &[Block]) -> bool {
        let func = self.func;
        let insts = blocks.iter().flat_map(|&block| func.block_insts(block));
        let computes = |inst: &&Inst| match &func.inst(**inst).op {
            Op::Binary(op) => matches!(
                op,
                BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem
            ),
            Op::Unary(op) => *op == UnaryOp::FNeg,
            Op::Math(_) | Op::Call(_) => true,
            _ => false,
        };
        let has_loop = blocks.iter().any(|&b| self.loops.innermost(b) != Some(l));
        insts.filter(computes).count() >= FEW_OPERATIONS || has_loop
    }
}

impl Search {
    fn rewrite(self, func: &mut Function, planted: Option<Defect>) {
        let from = func.clone();
        let header = self.blocks[0];
        let params = from.block_params(header).to_vec();
        let result_type = from.ty(params[self.position]);
        // What the chosen iteration began with, and whether there was one.
        let flag = Type::i1();
        let mut remembered: Vec<Value> = Vec::new();
        for ty in params.iter().map(|&p| from.ty(p)).chain([flag]) {
            remembered.push(func.add_block_param(header, ty));
        }
        let zeros: Vec<Value> = remembered.iter().map(|&v| from_zero(func, v)).collect();
        add_arguments(func, self.preheader, header, &zeros);
        let condition = from.inst(self.next).args[0];
        let yes = func.iconst(flag, 1);
        let now: Vec<Value> = params.iter().copied().chain([yes]).collect();
        let updated = match planted {
            Some(Defect::SearchRepeatsLast) => now,
            _ => self.update(func, condition, &now, &remembered),
        };
        add_arguments(func, self.latch, header, &updated);

        // Behind the loop, either nothing was chosen, or the iteration is repeated.
        let to = self.exit.to;
        let leaving = from.edges(self.exit.from)[self.exit.edge].args.clone();
        let (after, join) = (func.add_block(), func.add_block());
        let handed: Vec<Value> = (leaving.iter())
            .map(|&v| func.add_block_param(after, from.ty(v)))
            .collect();
        let kept: Vec<Value> = (remembered.iter())
            .map(|&v| {
                let ty = func.ty(v);
                func.add_block_param(after, ty)
            })
            .collect();
        let at_exit = match self.leaves_with_next {
            true => &updated,
            false => &remembered,
        };
        let edge = Edge {
            block: after,
            args: [&leaving[..], at_exit].concat(),
        };
        let terminator = func.terminator(self.exit.from);
        if let Some(inst) = terminator {
            *func.inst_mut(inst).op.edges_mut()[self.exit.edge] = edge;
        }
        let result = func.add_block_param(join, result_type);
        let mut known: HashMap<Value, Value> = params.iter().copied().zip(kept.clone()).collect();
        for &block in &self.blocks {
            for &inst in from.block_insts(block) {
                from.inst(inst).for_each_operand(|value| {
                    known.entry(value).or_insert(value);
                });
            }
        }
        // Values of the loop have copies of their own.
        for &block in &self.blocks {
            for value in from
                .block_params(block)
                .iter()
                .filter(|v| !params.contains(v))
            {
                known.remove(value);
            }
            for value in from
                .block_insts(block)
                .iter()
                .filter_map(|&i| from.result(i))
            {
                known.remove(&value);
            }
        }
        let copied = Copied::new(func, &from, &self.blocks, known, |_, _| false);
        let start = copied.blocks[&header];
        let again = copied.value(func, self.chosen);
        let entering = from.edges(self.preheader);
        let entering = entering.into_iter().find(|e| e.block == header);
        let Some(first) = entering.map(|edge| edge.args[self.position]) else {
            return;
        };
        for (block, inst) in copied.insts {
            let mut data = func.inst(inst).clone();
            for (i, edge) in data.op.edges_mut().into_iter().enumerate() {
                let is_exit = block == self.exit.from && i == self.exit.edge;
                if edge.block == start || is_exit {
                    // An exit that comes before the number was not taken by this iteration.
                    let known = edge.block == start || self.known_at_exit;
                    *edge = Edge {
                        block: join,
                        args: vec![if known { again } else { first }],
                    };
                }
            }
            *func.inst_mut(inst) = one_way(data);
            func.attach_inst(copied.blocks[&block], inst);
        }
        let mut b = Builder::new(func, after);
        b.loc = self.loc;
        let edge = |block, args| Edge { block, args };
        let was_found = kept[kept.len() - 1];
        b.branch(was_found, edge(start, vec![]), edge(join, vec![first]));
        let best = [
            params[self.position],
            from.result(self.next).unwrap_or(result),
        ];
        let args = leaving
            .iter()
            .zip(handed)
            .map(|(old, handed)| match best.contains(old) {
                true => result,
                false => handed,
            });
        let args = args.collect();
        Builder::new(func, join).jump(to, args);
    }

    /// What is remembered after an iteration.
    fn update(
        &self,
        func: &mut Function,
        condition: Value,
        now: &[Value],
        before: &[Value],
    ) -> Vec<Value> {
        let Some(block) = func.inst_blocks()[self.next] else {
            return before.to_vec();
        };
        let place = func.block_insts(block).iter().position(|&i| i == self.next);
        let pairs = now.iter().zip(before);
        let mut updated = Vec::new();
        for (at, (&now, &before)) in (place.map_or(0, |place| place + 1)..).zip(pairs) {
            let choice = match self.if_true {
                true => vec![condition, now, before],
                false => vec![condition, before, now],
            };
            let data = InstData {
                loc: self.loc,
                ..InstData::new(Op::Select, choice)
            };
            let ty = func.ty(before);
            let inst = func.insert_inst(block, at, data, ty);
            updated.extend(func.result(inst));
        }
        updated
    }
}

fn from_zero(func: &mut Function, like: Value) -> Value {
    let ty = func.ty(like);
    func.zero(ty)
}

/// Adds arguments to the edge from one block to another.
fn add_arguments(func: &mut Function, from: Block, to: Block, args: &[Value]) {
    let Some(inst) = func.terminator(from) else {
        return;
    };
    for edge in func.inst_mut(inst).op.edges_mut() {
        if edge.block == to {
            edge.args.extend(args);
        }
    }
}

/// A branch with both ways the same, as a jump.
fn one_way(data: InstData) -> InstData {
    match &data.op {
        Op::Branch { then, other } if then == other => InstData {
            op: Op::Jump(then.clone()),
            args: Vec::new(),
            ..data
        },
        _ => data,
    }
}
