//! Brings control flow into the form that the other analyses and the reverse sweep rely on.
//!
//! Before: any function with a body whose cycles have one entry each. After:
//!
//! - every block is reached from the entry, and at most one block returns;
//! - every loop has one preheader, whose only successor is the header, and one latch, whose only
//!   successor is the header;
//! - every edge that leaves loops leads to an *exit block* of its own, one for each loop it leaves,
//!   from the inside out: `Canonical::exits` says which loop each of them leaves;
//! - no edge leads from a block with several successors to a block with several predecessors, so
//!   no block has two edges to one block;
//! - every header has a parameter that counts from 0 by one, of type `i64`.
//!
//! What the function computes does not change, nor does the order of its instructions. An unwind
//! edge must lead to a block that starts with its landing pad, so in its place the landing pad is
//! copied for each edge, and the new block stands behind it.
//!
//! Phases: unreachable blocks, returns, landing pads, preheaders and latches, exits, critical
//! edges, counters. Each is linear, but for the graphs computed in between.

use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::{Exit, Irreducible, Loops};
use crate::ir::{BinaryOp, Block, Edge, Flags, Function, Inst, InstData, Op, Type, Value};
use std::collections::HashMap;
use std::fmt;

/// What the pass knows of the loops it leaves behind, by their headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Canonical {
    /// For each header the parameter that counts iterations from 0.
    pub counters: HashMap<Block, Value>,
    /// For each exit block the header of the loop that is left by entering it.
    pub exits: HashMap<Block, Block>,
}

/// Why a function cannot be brought into canonical form.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum NotCanonical {
    /// A cycle has two entries.
    Irreducible(Irreducible),
    /// A block would have to be put on an edge of this block's foreign terminator, which does not
    /// allow it.
    Unsplittable {
        /// The block.
        block: Block,
    },
}

/// Brings a function into canonical form. If it cannot be, its meaning is still unchanged.
pub fn run(func: &mut Function) -> Result<Canonical, NotCanonical> {
    if func.is_declaration() {
        return Ok(Canonical::default());
    }
    loops_of(func)?;
    remove_unreachable(func);
    merge_returns(func);
    separate_landing_pads(func);
    add_preheaders_and_latches(func)?;
    let exits = add_exit_blocks(func)?;
    split_critical_edges(func)?;
    let counters = add_counters(func)?;
    Ok(Canonical { counters, exits })
}

impl NotCanonical {
    /// A block that shows the problem.
    pub fn block(self) -> Block {
        match self {
            NotCanonical::Irreducible(cycle) => cycle.block,
            NotCanonical::Unsplittable { block } => block,
        }
    }
}

impl From<Irreducible> for NotCanonical {
    fn from(cycle: Irreducible) -> NotCanonical {
        NotCanonical::Irreducible(cycle)
    }
}

impl fmt::Display for NotCanonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCanonical::Irreducible(cycle) => cycle.fmt(f),
            NotCanonical::Unsplittable { block } => {
                write!(
                    f,
                    "nothing can be put between {block} and where it jumps to"
                )
            }
        }
    }
}

impl std::error::Error for NotCanonical {}

fn loops_of(func: &Function) -> Result<(Cfg, Loops), Irreducible> {
    let cfg = Cfg::new(func);
    let dominators = Dominators::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dominators)?;
    Ok((cfg, loops))
}

fn remove_unreachable(func: &mut Function) {
    let cfg = Cfg::new(func);
    let reachable = func.blocks().iter().copied();
    let layout = reachable.filter(|&block| cfg.is_reachable(block)).collect();
    func.set_layout(layout);
}

/// Makes all returns jumps to one block that returns its parameter.
fn merge_returns(func: &mut Function) {
    let returns: Vec<Inst> = func
        .blocks()
        .iter()
        .filter_map(|&block| func.terminator(block))
        .filter(|&inst| func.inst(inst).op == Op::Return)
        .collect();
    if returns.len() < 2 {
        return;
    }
    let last = func.add_block();
    let result = match func.sig.ret {
        ty if ty.is_void() => Vec::new(),
        ty => vec![func.add_block_param(last, ty)],
    };
    for inst in returns {
        let data = func.inst_mut(inst);
        let args = std::mem::take(&mut data.args);
        data.op = Op::Jump(Edge { block: last, args });
        data.origin = None;
    }
    func.terminate(last, Op::Return, result);
}

/// Gives every unwind edge a landing pad of its own: a block that starts with a landing pad then
/// has one predecessor.
fn separate_landing_pads(func: &mut Function) {
    let cfg = Cfg::new(func);
    let mut replaced = HashMap::new();
    for &block in cfg.reverse_postorder() {
        let edges = cfg.predecessors(block);
        if edges.len() < 2 || landing_pad(func, block).is_none() {
            continue;
        }
        let types: Vec<Type> = types_of(func, func.block_params(block));
        let pad = detach_landing_pad(func, block, &mut replaced);
        for &(pred, index) in edges {
            let copy = func.add_block();
            let params = add_params(func, copy, &types);
            attach_landing_pad(func, copy, &pad, params, block);
            edge_mut(func, pred, index).block = copy;
        }
    }
    func.replace_uses(&replaced);
}

/// The landing pad that a block starts with.
fn landing_pad(func: &Function, block: Block) -> Option<Inst> {
    let &first = func.block_insts(block).first()?;
    match &func.inst(first).op {
        Op::Opaque(opaque) if opaque.name == "landingpad" => Some(first),
        _ => None,
    }
}

/// Takes the landing pad off the front of a block, which gets its result as a last parameter.
fn detach_landing_pad(
    func: &mut Function,
    block: Block,
    replaced: &mut HashMap<Value, Value>,
) -> (InstData, Type) {
    let insts = func.block_insts(block).to_vec();
    let data = func.inst(insts[0]).clone();
    let mut ty = Type::void();
    if let Some(result) = func.result(insts[0]) {
        ty = func.ty(result);
        replaced.insert(result, func.add_block_param(block, ty));
    }
    func.set_block_insts(block, insts[1..].to_vec());
    (data, ty)
}

/// Fills an empty block with a copy of a landing pad and a jump to the block it was taken from.
fn attach_landing_pad(
    func: &mut Function,
    copy: Block,
    (data, ty): &(InstData, Type),
    mut args: Vec<Value>,
    rest: Block,
) {
    let inst = func.append_inst(copy, data.clone(), *ty);
    args.extend(func.result(inst));
    func.terminate(copy, Op::Jump(Edge { block: rest, args }), Vec::new());
}

fn add_preheaders_and_latches(func: &mut Function) -> Result<(), NotCanonical> {
    let (cfg, loops) = loops_of(func)?;
    for l in loops.iter() {
        let header = loops.header(l);
        let edges = cfg.predecessors(header).iter().copied();
        let (back, entering): (Vec<_>, Vec<_>) =
            edges.partition(|&(pred, _)| loops.contains(l, pred));
        for edges in [entering, back] {
            match edges[..] {
                [(pred, _)] if cfg.successors(pred).len() == 1 => {}
                _ => {
                    put_block_on(func, &edges, header)?;
                }
            }
        }
    }
    Ok(())
}

fn add_exit_blocks(func: &mut Function) -> Result<HashMap<Block, Block>, NotCanonical> {
    let (cfg, loops) = loops_of(func)?;
    let mut exits = HashMap::new();
    // Where the terminators of blocks that were cut behind a landing pad are now.
    let mut moved: HashMap<Block, Block> = HashMap::new();
    for &start in cfg.reverse_postorder() {
        for (edge, &to) in cfg.successors(start).iter().enumerate() {
            let left: Vec<Block> = loops
                .left(start, to)
                .into_iter()
                .map(|l| loops.header(l))
                .collect();
            let from = *moved.get(&start).unwrap_or(&start);
            let exit = Exit { from, edge, to };
            if left.is_empty() {
                continue;
            }
            let chain = match existing_chain(func, &cfg, to, left.len()) {
                Some(chain) => chain,
                None => exit_chain(func, exit, left.len(), &mut moved)?,
            };
            exits.extend(chain.into_iter().zip(left));
        }
    }
    Ok(exits)
}

/// The `count` blocks in a row from `to` on, if nothing else leads to them and nothing happens
/// before the last.
fn existing_chain(func: &Function, cfg: &Cfg, to: Block, count: usize) -> Option<Vec<Block>> {
    let mut chain = vec![to];
    while chain.len() < count {
        let last = chain[chain.len() - 1];
        let pads = usize::from(chain.len() == 1 && landing_pad(func, last).is_some());
        match cfg.successors(last) {
            &[next] if func.block_insts(last).len() == 1 + pads => chain.push(next),
            _ => return None,
        }
    }
    let alone = |&block: &Block| cfg.predecessors(block).len() == 1;
    chain.iter().all(alone).then_some(chain)
}

/// Puts `count` blocks in a row on an edge. A landing pad at its end is the first of them.
fn exit_chain(
    func: &mut Function,
    exit: Exit,
    count: usize,
    moved: &mut HashMap<Block, Block>,
) -> Result<Vec<Block>, NotCanonical> {
    let mut chain = Vec::new();
    let mut next = (exit.from, exit.edge);
    let mut to = exit.to;
    if landing_pad(func, to).is_some() {
        // The block keeps its number as the landing pad; what follows moves to a new one. Its
        // parameters stay where they are, for they dominate all that they did.
        let insts = func.block_insts(to).to_vec();
        let rest = func.add_block();
        func.set_block_insts(rest, insts[1..].to_vec());
        func.set_block_insts(to, vec![insts[0]]);
        let jump = Op::Jump(Edge {
            block: rest,
            args: Vec::new(),
        });
        func.terminate(to, jump, Vec::new());
        moved.insert(to, rest);
        chain.push(to);
        next = (to, 0);
        to = rest;
    }
    while chain.len() < count {
        let block = put_block_on(func, &[next], to)?;
        chain.push(block);
        next = (block, 0);
    }
    Ok(chain)
}

fn split_critical_edges(func: &mut Function) -> Result<(), NotCanonical> {
    let cfg = Cfg::new(func);
    for &from in cfg.reverse_postorder() {
        if cfg.successors(from).len() < 2 {
            continue;
        }
        for (edge, &to) in cfg.successors(from).iter().enumerate() {
            if cfg.predecessors(to).len() > 1 {
                put_block_on(func, &[(from, edge)], to)?;
            }
        }
    }
    Ok(())
}

fn add_counters(func: &mut Function) -> Result<HashMap<Block, Value>, NotCanonical> {
    let (_, loops) = loops_of(func)?;
    let mut counters = HashMap::new();
    for l in loops.iter() {
        let header = loops.header(l);
        let (Some(preheader), &[latch]) = (loops.preheader(l), loops.latches(l)) else {
            return Err(NotCanonical::Unsplittable { block: header });
        };
        let counter = match existing_counter(func, header, preheader, latch) {
            Some(counter) => counter,
            None => add_counter(func, header, preheader, latch),
        };
        counters.insert(header, counter);
    }
    Ok(counters)
}

fn add_counter(func: &mut Function, header: Block, preheader: Block, latch: Block) -> Value {
    let zero = func.iconst(Type::i64(), 0);
    let one = func.iconst(Type::i64(), 1);
    let counter = func.add_block_param(header, Type::i64());
    func.set_value_name(counter, "counter");
    let mut add = InstData::new(Op::Binary(BinaryOp::Add), vec![counter, one]);
    // No loop runs 2⁶³ times.
    add.flags = Flags::NSW | Flags::NUW;
    let at = func.block_insts(latch).len() - 1;
    let add = func.insert_inst(latch, at, add, Type::i64());
    edge_mut(func, preheader, 0).args.push(zero);
    let next = func.result(add);
    edge_mut(func, latch, 0).args.extend(next);
    counter
}

/// A parameter of the header that already counts from 0 by one.
fn existing_counter(
    func: &Function,
    header: Block,
    preheader: Block,
    latch: Block,
) -> Option<Value> {
    let start = &func.edges(preheader)[0].args;
    let next = &func.edges(latch)[0].args;
    let params = func.block_params(header).iter().enumerate();
    let counts = |i: usize, param: Value| {
        let Some(add) = func.def_inst(next[i]) else {
            return false;
        };
        let data = func.inst(add);
        func.ty(param) == Type::i64()
            && func.as_int(start[i]) == Some(0)
            && data.op == Op::Binary(BinaryOp::Add)
            && data.args[0] == param
            && func.as_int(data.args[1]) == Some(1)
    };
    params
        .filter(|&(i, &param)| counts(i, param))
        .map(|(_, &param)| param)
        .next()
}

/// Leads edges, which all lead to `to`, through a new block.
///
/// On a single edge the block needs no parameters: what the edge passes is known in it too. So
/// the next value of an induction stays the sum that it is, for everybody who looks for one.
fn put_block_on(
    func: &mut Function,
    edges: &[(Block, usize)],
    to: Block,
) -> Result<Block, NotCanonical> {
    if let Some(&(block, _)) = edges.iter().find(|(pred, _)| !is_splittable(func, *pred)) {
        return Err(NotCanonical::Unsplittable { block });
    }
    let types = types_of(func, func.block_params(to));
    let block = func.add_block();
    let args = match *edges {
        [(pred, index)] if !passes_own_result(func, pred, index) => {
            std::mem::take(&mut edge_mut(func, pred, index).args)
        }
        _ => add_params(func, block, &types),
    };
    func.terminate(block, Op::Jump(Edge { block: to, args }), Vec::new());
    for &(pred, index) in edges {
        edge_mut(func, pred, index).block = block;
    }
    Ok(block)
}

/// Whether an edge passes what its terminator computes, as that of an invoke may.
fn passes_own_result(func: &Function, block: Block, index: usize) -> bool {
    let result = func.terminator(block).and_then(|inst| func.result(inst));
    result.is_some_and(|result| func.edges(block)[index].args.contains(&result))
}

/// Whether blocks may be put on the edges of a block's terminator. Foreign terminators whose
/// targets are data (`indirectbr`) or scopes of exception handling do not allow it.
fn is_splittable(func: &Function, block: Block) -> bool {
    match func.terminator(block).map(|inst| &func.inst(inst).op) {
        Some(Op::OpaqueTerminator { opaque, .. }) => opaque.name == "callbr",
        _ => true,
    }
}

fn types_of(func: &Function, values: &[Value]) -> Vec<Type> {
    values.iter().map(|&value| func.ty(value)).collect()
}

fn add_params(func: &mut Function, block: Block, types: &[Type]) -> Vec<Value> {
    types
        .iter()
        .map(|&ty| func.add_block_param(block, ty))
        .collect()
}

fn edge_mut(func: &mut Function, block: Block, index: usize) -> &mut Edge {
    let Some(inst) = func.terminator(block) else {
        panic!("{block} has no terminator");
    };
    func.inst_mut(inst).op.edges_mut().swap_remove(index)
}

#[cfg(test)]
mod tests;
