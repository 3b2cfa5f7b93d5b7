//! Reads a loop and all that is in it as a [`Tree`].
//!
//! The text of the loop is followed from its header to its latch. Branches that lead to a panic
//! become *checks* that the raised version makes once, before it begins; branches around loops that
//! may be empty become conditions of these; a branch that depends on nothing in the loop is a reason
//! to read the loop twice, once for each way ([`Stop::Fork`]). A float that a loop carries from one
//! iteration to the next must be a sum, or something else that is joined piece by piece; it lives in a
//! piece of frame memory, its *slot*.

mod branches;
mod reductions;

use super::arrays::is_lifetime;
use super::tree::{Id, Item, Join, Moment, Node, Place, Tree, Write};
use super::{Analyses, Stop};
use crate::analysis::affine::{Affine, Base, Factor, Wrap};
use crate::analysis::loops::Loop;
use crate::ir::{
    Access, Block, Edge, Inst, InstData, Loc, Op, Type, Value, ValueDef, may_stand_in_body,
};
use std::collections::HashMap;

/// What was read.
pub struct Read {
    /// What the loop computes.
    pub tree: Tree,
    /// What must hold at each point that the program comes to.
    pub checks: Vec<Check>,
    /// How often the body of each loop runs, compared with its back edge.
    pub runs: HashMap<Loop, Runs>,
    /// Places that a loop stores to in each iteration, and that are stored to after it instead, with
    /// the moments that it begins and ends at.
    pub sunk: Vec<(Place, Moment, Moment)>,
    /// Frame memory that begins or ends to live in the loop.
    pub lifetimes: Vec<Value>,
    /// Whether alias scopes begin inside of the loop.
    pub begins_scopes: bool,
    /// The values after the loop that its exit passes on.
    pub exit: Block,
}

/// How often the body of a loop runs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Runs {
    /// Once more than the back edge.
    OnceMore,
    /// As often as the back edge.
    AsOften,
}

/// A condition that must be true (or false) wherever the program comes to it.
#[derive(Clone, Debug)]
pub struct Check {
    /// The condition.
    pub condition: Value,
    /// What it must be.
    pub expected: bool,
    /// Where it is tested.
    pub at: Block,
}

/// Reads a loop, taking some conditions from outside of it for granted.
pub fn read(analyses: &Analyses, l: Loop, assumed: &[(Value, bool)]) -> Result<Read, Stop> {
    let mut reader = Reader {
        analyses,
        region: l,
        assumed,
        tree: Tree::default(),
        known: HashMap::new(),
        spoiled: HashMap::new(),
        slots: HashMap::new(),
        now: 0,
        checks: Vec::new(),
        runs: HashMap::new(),
        sunk: Vec::new(),
        lifetimes: Vec::new(),
        begins_scopes: false,
        current: l,
        loc: None,
    };
    let preheader = analyses.loops.preheader(l);
    let preheader = preheader.ok_or_else(|| reader.refuse("it is entered from several places"))?;
    let mut items = Vec::new();
    let exit = reader.enter(l, preheader, &mut items)?;
    reader.tree.items = items;
    for &param in analyses.func.block_params(exit) {
        let result = match analyses.uses[param] {
            0 => None,
            _ => Some(reader.operand(param)?),
        };
        reader.tree.results.push(result);
    }
    Ok(Read {
        tree: reader.tree,
        checks: reader.checks,
        runs: reader.runs,
        sunk: reader.sunk,
        lifetimes: reader.lifetimes,
        begins_scopes: reader.begins_scopes,
        exit,
    })
}

struct Reader<'a> {
    analyses: &'a Analyses<'a>,
    region: Loop,
    assumed: &'a [(Value, bool)],
    tree: Tree,
    known: HashMap<Value, Id>,
    /// Values that cannot be expressed, why, and where that was found out.
    spoiled: HashMap<Value, (&'static str, Option<Loc>)>,
    /// The slots of what loops carry.
    slots: HashMap<Value, Value>,
    now: Moment,
    checks: Vec<Check>,
    runs: HashMap<Loop, Runs>,
    sunk: Vec<(Place, Moment, Moment)>,
    lifetimes: Vec<Value>,
    begins_scopes: bool,
    /// The innermost loop around what is being read.
    current: Loop,
    /// The last place in the source program.
    loc: Option<Loc>,
}

/// How the walk through a body goes on.
enum Next {
    Block(Block),
    /// The latch has been reached.
    End,
}

impl Reader<'_> {
    fn refuse(&self, reason: &'static str) -> Stop {
        Stop::Refused(reason, self.loc)
    }

    fn spoil(&mut self, value: Value, why: &'static str) {
        self.spoiled.insert(value, (why, self.loc));
    }

    fn tick(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    /// Reads a loop that the preheader leads to; gives the block that it is left for.
    fn enter(&mut self, l: Loop, preheader: Block, items: &mut Vec<Item>) -> Result<Block, Stop> {
        let analyses = self.analyses;
        let (func, loops) = (analyses.func, analyses.loops);
        let header = loops.header(l);
        let exits = loops.exits(l).iter();
        let live: Vec<_> = exits
            .filter(|e| analyses.cfg.reaches_return(e.to))
            .collect();
        let [exit] = live[..] else {
            return Err(self.refuse("the loop is left at several places"));
        };
        if !analyses.trips[l].is_known() || loops.innermost(exit.from) != Some(l) {
            return Err(self.refuse("it is not known beforehand how often the loop runs"));
        }
        let entering = edge_to(analyses, preheader, header).ok_or(Stop::Silent)?;
        let back = loops.latches(l)[0];
        let returning = edge_to(analyses, back, header).ok_or(Stop::Silent)?;
        let mut carried = Vec::new();
        for (position, &param) in func.block_params(header).iter().enumerate() {
            if func.ty(param).float_kind().is_none() {
                continue;
            }
            let first = self.operand(entering.args[position])?;
            let slot = self.slot(param, first, items)?;
            carried.push((param, returning.args[position], slot));
        }
        let outside = std::mem::replace(&mut self.current, l);
        let begin = self.tick();
        for &(param, _, slot) in &carried {
            self.know_slot(param, slot);
        }
        let mut body = Vec::new();
        let runs = self.body(l, header, exit.from, &mut body)?;
        self.runs.insert(l, runs);
        let mut sunk = Vec::new();
        for &(_, next, slot) in &carried {
            self.carry(next, slot, l, runs, &mut body, &mut sunk)?;
        }
        self.tick();
        items.push(Item::Loop(l, Vec::new(), body));
        self.current = loops
            .parent(l)
            .filter(|_| l != self.region)
            .unwrap_or(outside);
        // What was summed up is known after the loop by the parameters of its exit block.
        let leaving = func.edges(exit.from)[exit.edge].clone();
        for (&param, &given) in func.block_params(exit.to).iter().zip(&leaving.args) {
            let last = |&&(param, next, _): &&(Value, Value, Value)| match runs {
                Runs::OnceMore => next == given,
                Runs::AsOften => param == given,
            };
            match carried.iter().find(last) {
                Some(&(_, _, slot)) => self.know_slot(param, slot),
                None if !self.is_inside(given, l) => {
                    let id = self.operand(given)?;
                    self.known.insert(param, id);
                }
                None => match self.last_integer(given, l) {
                    Some(id) => {
                        self.known.insert(param, id);
                    }
                    None => {
                        let why = "what the last iteration computed is used after the loop";
                        self.spoil(param, why);
                    }
                },
            }
        }
        for (place, loc, slot) in sunk {
            self.sunk.push((place.clone(), begin, self.now));
            let at = self.tick();
            let value = self.tree.add(Node::Load(self.slot_place(slot), at));
            let at = self.tick();
            items.push(Item::Write(Write {
                place,
                value,
                join: Join::STORE,
                at,
                loc,
            }));
        }
        Ok(exit.to)
    }

    /// The slot of what a loop carries: that of a loop around it, if it goes on with the same sum.
    fn slot(&mut self, param: Value, first: Id, items: &mut Vec<Item>) -> Result<Value, Stop> {
        let shared = self.slots.values().copied();
        let shared = shared.into_iter().find(|&slot| {
            matches!(self.tree.node(first), Node::Load(place, at) if place.is_at(slot)
                && self.last_write(slot, items) < *at)
        });
        let slot = match shared {
            Some(slot) => slot,
            None => {
                let slot = *self.analyses.slots.get(&param).ok_or(Stop::Silent)?;
                let at = self.tick();
                items.push(Item::Write(Write {
                    place: self.slot_place(slot),
                    value: first,
                    join: Join::STORE,
                    at,
                    loc: self.loc,
                }));
                slot
            }
        };
        self.slots.insert(param, slot);
        Ok(slot)
    }

    fn slot_place(&self, slot: Value) -> Place {
        let func = self.analyses.func;
        let ty = match func.def_inst(slot).map(|inst| &func.inst(inst).op) {
            Some(Op::Alloca { ty, .. }) => *ty,
            _ => Type::void(),
        };
        Place {
            address: Affine {
                base: Some(Base::Value(slot)),
                ..Affine::default()
            },
            access: Access::aligned(ty.float_kind().map_or(1, |kind| kind.bytes())),
            ty,
        }
    }

    /// From now on a value is what is in a slot now.
    fn know_slot(&mut self, value: Value, slot: Value) {
        let at = self.tick();
        let id = self.tree.add(Node::Load(self.slot_place(slot), at));
        self.known.insert(value, id);
    }

    /// When a slot was written last, in some items.
    fn last_write(&self, slot: Value, items: &[Item]) -> Moment {
        let mut last = 0;
        for item in items {
            item.for_each_write(&mut |write| {
                if write.place.is_at(slot) {
                    last = last.max(write.at);
                }
            });
        }
        last
    }

    /// Reads the body of a loop, from its header to its latch.
    fn body(
        &mut self,
        l: Loop,
        header: Block,
        tested: Block,
        items: &mut Vec<Item>,
    ) -> Result<Runs, Stop> {
        let mut block = header;
        let (mut before, mut after) = (false, false);
        let mut is_after = false;
        loop {
            let work = self.now;
            let last = self.instructions(block, items)?;
            let next = if block == tested {
                before |= self.now != work;
                is_after = true;
                self.pass_test(l, block)
            } else {
                let next = self.follow(block, last, items)?;
                match is_after {
                    true => after |= self.now != work,
                    false => before |= self.now != work,
                }
                next
            };
            match next {
                Next::Block(next) => block = next,
                Next::End => break,
            }
        }
        match (before, after) {
            (_, false) => Ok(Runs::OnceMore),
            (false, true) => Ok(Runs::AsOften),
            (true, true) => Err(self.refuse("the loop is left in its middle")),
        }
    }

    /// The way on from the block that tests whether the loop ends.
    fn pass_test(&mut self, l: Loop, block: Block) -> Next {
        let analyses = self.analyses;
        let header = analyses.loops.header(l);
        let edges = analyses.func.edges(block).into_iter();
        let mut inside = edges.filter(|edge| analyses.loops.contains(l, edge.block));
        match inside.next().cloned() {
            Some(edge) if edge.block != header => Next::Block(self.bind(&edge)),
            _ => Next::End,
        }
    }

    /// Gives the parameters of a block what an edge passes; says which block that is.
    fn bind(&mut self, edge: &Edge) -> Block {
        let params = self.analyses.func.block_params(edge.block).to_vec();
        for (param, &given) in params.into_iter().zip(&edge.args) {
            match self.operand(given) {
                Ok(id) => {
                    self.known.insert(param, id);
                }
                Err(_) => {
                    self.spoil(param, "it is not a number that could be computed again");
                }
            }
        }
        edge.block
    }

    /// Reads the instructions of a block; gives its terminator.
    fn instructions(&mut self, block: Block, items: &mut Vec<Item>) -> Result<Inst, Stop> {
        let func = self.analyses.func;
        let insts = func.block_insts(block);
        let (&last, insts) = insts.split_last().ok_or(Stop::Silent)?;
        for &inst in insts {
            let data = func.inst(inst);
            self.loc = data.loc.or(self.loc);
            match &data.op {
                Op::Load(access) => self.load(inst, data.args[0], access, block),
                Op::Store(access) => self.store(data, access, block, items)?,
                Op::Opaque(opaque) if opaque.name == "llvm.experimental.noalias.scope.decl" => {
                    self.begins_scopes = true;
                }
                op if op.only_computes() || matches!(op, Op::Unary(_)) => {}
                Op::Call(_) if is_lifetime(data, self.analyses.module) => {
                    self.lifetimes.extend(&data.args);
                }
                Op::Call(_) | Op::Request(_) => {
                    return Err(self.refuse("it calls a function"));
                }
                Op::MemCopy { .. } | Op::MemSet(_) => {
                    return Err(self.refuse("it copies or fills memory beside its numbers"));
                }
                _ => return Err(self.refuse("it does something else than arithmetic")),
            }
        }
        Ok(last)
    }

    fn load(&mut self, inst: Inst, pointer: Value, access: &Access, block: Block) {
        let Some(result) = self.analyses.func.result(inst) else {
            return;
        };
        let ty = self.analyses.func.ty(result);
        let place = match self.place(pointer, access, ty, block) {
            Ok(place) => place,
            Err(why) => {
                self.spoil(result, why);
                return;
            }
        };
        let at = self.tick();
        let id = self.tree.add(Node::Load(place, at));
        self.known.insert(result, id);
    }

    fn store(
        &mut self,
        data: &InstData,
        access: &Access,
        block: Block,
        items: &mut Vec<Item>,
    ) -> Result<(), Stop> {
        let &[value, pointer] = &data.args[..] else {
            return Err(Stop::Silent);
        };
        let ty = self.analyses.func.ty(value);
        let place = self.place(pointer, access, ty, block);
        let place = place.map_err(|why| self.refuse(why))?;
        let mut value = self.operand(value)?;
        let mut join = Join::STORE;
        let mut parts = Vec::new();
        // Nothing happens between the load and the store of a sum.
        let mut last = 0;
        items
            .iter()
            .for_each(|item| item.for_each_write(&mut |w| last = last.max(w.at)));
        let is_same = |other: &Place, at: Moment| other.is(&place) && last < at;
        if self.reduction(value, &is_same, &mut parts)
            && let [part] = &parts[..]
        {
            value = part.value;
            join = part.join;
        }
        let at = self.tick();
        items.push(Item::Write(Write {
            place,
            value,
            join,
            at,
            loc: data.loc,
        }));
        Ok(())
    }

    /// The place that an access reads or writes.
    fn place(
        &self,
        pointer: Value,
        access: &Access,
        ty: Type,
        block: Block,
    ) -> Result<Place, &'static str> {
        if access.volatile || access.atomic.is_some() {
            return Err("an access is volatile or atomic");
        }
        if ty.float_kind().is_none() {
            return Err("it moves something that is not a number");
        }
        let address = self.analyses.affine.address(pointer, block);
        match self.analyses.is_plain(&address, self.region) && self.is_linear(&address) {
            true => Ok(Place {
                address,
                access: access.clone(),
                ty,
            }),
            false => Err("an address is not a sum of multiples of the loops' counters"),
        }
    }

    /// Whether no two counters of the region are multiplied.
    fn is_linear(&self, form: &Affine) -> bool {
        let loops = self.analyses.loops;
        form.terms.keys().all(|product| {
            let counters = product.iter();
            let counters = counters.filter(
                |factor| matches!(factor, Factor::Counter(l) if loops.is_inside(*l, self.region)),
            );
            counters.count() <= 1
        })
    }

    fn is_inside(&self, value: Value, l: Loop) -> bool {
        let block = self.analyses.affine.def_block(value);
        block.is_some_and(|block| self.analyses.loops.contains(l, block))
    }

    /// The expression of a value.
    fn operand(&mut self, value: Value) -> Result<Id, Stop> {
        if let Some(&id) = self.known.get(&value) {
            return Ok(id);
        }
        if let Some(&(why, loc)) = self.spoiled.get(&value) {
            return Err(Stop::Refused(why, loc));
        }
        let analyses = self.analyses;
        let func = analyses.func;
        if !self.is_inside(value, self.region) {
            return Ok(self.remember(value, Node::Outside(value)));
        }
        let ty = func.ty(value);
        let block = analyses.affine.def_block(value).ok_or(Stop::Silent)?;
        let l = analyses.loops.innermost(block).ok_or(Stop::Silent)?;
        if !analyses.loops.is_inside(self.current, l) {
            return Err(self.refuse("what an iteration computed is used after its loop"));
        }
        if ty.is_int() && ty != Type::i1() {
            let form = analyses.affine.integer(value, Wrap::Modular, block);
            let own = matches!(form.factors().next(), Some(Factor::Signed(v) | Factor::Unsigned(v)) if v == value);
            if !own && self.analyses.is_plain(&form, self.region) && self.is_linear(&form) {
                return Ok(self.remember(value, Node::Integer(form, ty)));
            }
        }
        let ValueDef::Result(inst) = func.def(value) else {
            return Err(self.refuse("a value is carried from one iteration to the next"));
        };
        let data = func.inst(*inst);
        let scalar = ty.is_int() || ty.float_kind().is_some();
        if !may_stand_in_body(&data.op) || !scalar {
            return Err(self.refuse("it does something else than arithmetic"));
        }
        let args = data.args.iter().map(|&arg| self.operand(arg));
        let args: Vec<Id> = args.collect::<Result<_, _>>()?;
        let template = InstData {
            args: Vec::new(),
            origin: None,
            ..data.clone()
        };
        Ok(self.remember(value, Node::Op(template, ty, args)))
    }

    /// An integer of the last iteration of the region, such as where a loop over the rest begins. It is
    /// expressed by the counter, which has its last value after the region.
    fn last_integer(&mut self, value: Value, l: Loop) -> Option<Id> {
        if l != self.region || !self.analyses.func.ty(value).is_int() {
            return None;
        }
        let id = self.operand(value).ok()?;
        matches!(self.tree.node(id), Node::Integer(..)).then_some(id)
    }

    fn remember(&mut self, value: Value, node: Node) -> Id {
        let id = self.tree.add(node);
        self.known.insert(value, id);
        id
    }
}

/// The edge from one block to another, if there is one.
fn edge_to(analyses: &Analyses, from: Block, to: Block) -> Option<Edge> {
    let mut edges = analyses.func.edges(from).into_iter();
    edges.find(|edge| edge.block == to).cloned()
}
