//! Makes the body of a loop a function of its own, where its iterations are independent.
//!
//! An iteration is independent if it only reads memory and if all that it hands on to the next one
//! are sums that it adds to, and values like counters that follow from themselves. What it adds is
//! then the result of a function, and the derivative of the loop can run both sweeps of one
//! iteration after the other, see [`replay`](crate::reverse::replay).
//!
//! Before: a function in canonical form, with a loop that [`Finder::find`] accepts. After: the loop is one
//! block that calls a new function, adds what that returns, and counts. What the program computes
//! does not change, nor the order in which it adds.

use crate::analysis::cfg::Cfg;
use crate::analysis::loops::{Loop, Loops};
use crate::derivative::{bundle, bundle_values};
use crate::ir::{
    BinaryOp, Block, Builder, Copied, Func, Function, Inst, InstData, MathFn, Module, Op,
    Signature, Type, UnaryOp, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A loop whose iterations are independent.
#[derive(Clone, Debug)]
pub struct Iteration {
    header: Block,
    /// The only block that control goes on to the next iteration from, or leaves the loop.
    bottom: Block,
    /// What runs in an iteration, dead ends included.
    region: Vec<Block>,
    /// What the loop itself computes, in order: its counters and whether it goes on.
    control: Vec<Inst>,
    /// What adds to the sums, in order.
    additions: Vec<Inst>,
    /// What is added: the results of the function.
    terms: Vec<Term>,
}

/// What is added to a sum.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Term {
    /// A value of the iteration.
    Value(Value),
    /// The product that an addition of a product adds. It is part of the iteration, because its
    /// factors would be asked for by its reverse.
    Product(Inst),
}

/// Looks at a function in canonical form.
pub struct Finder<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    loops: &'a Loops,
    blocks: SecondaryMap<Inst, Option<Block>>,
}

impl Iteration {
    /// What runs in an iteration, dead ends included.
    pub fn blocks(&self) -> &[Block] {
        &self.region
    }
}

impl Term {
    /// A value of the same type.
    fn stands_for(self, function: &Function) -> Value {
        match self {
            Term::Value(value) => value,
            Term::Product(inst) => function.inst(inst).args[0],
        }
    }
}

impl<'a> Finder<'a> {
    /// Begins with a function in canonical form.
    pub fn new(function: &'a Function, cfg: &'a Cfg, loops: &'a Loops) -> Finder<'a> {
        Finder {
            function,
            cfg,
            loops,
            blocks: function.inst_blocks(),
        }
    }

    /// The iteration of a loop, if iterations are independent as far as values tell. The memory that
    /// its instructions read is not looked at; those that may do anything else with memory are asked
    /// about.
    pub fn find(&self, l: Loop, only_reads: &dyn Fn(Inst) -> bool) -> Option<Iteration> {
        let (function, loops) = (self.function, self.loops);
        let header = loops.header(l);
        let &[latch] = loops.latches(l) else {
            return None;
        };
        let lives = |exit: &&crate::analysis::loops::Exit| self.cfg.reaches_return(exit.to);
        let mut leaving = loops.exits(l).iter().filter(lives);
        let (Some(exit), None) = (leaving.next(), leaving.next()) else {
            return None;
        };
        let bottom = exit.from;
        let rotated = matches!(self.cfg.predecessors(latch), &[(from, _)] if from == bottom);
        // The latch stays as it is.
        let counts = |&inst: &Inst| function.inst(inst).op.only_computes();
        let counting = function.block_insts(latch).split_last();
        let plain = counting.is_some_and(|(_, insts)| insts.iter().all(counts));
        if !rotated || !plain || bottom == latch {
            return None;
        }
        let region = self.region(l, latch, only_reads)?;
        let handed_on = function.edges(latch)[0].args.clone();
        let handed_on = handed_on.iter().map(|&v| self.behind(bottom, latch, v));
        let handed_on: Vec<Value> = handed_on.collect();
        let uses = self.uses(l, bottom, latch);
        let (mut additions, mut sums, mut roots) = (Vec::new(), HashSet::new(), Vec::new());
        for (&param, &next) in function.block_params(header).iter().zip(&handed_on) {
            match self.additions(param, next, &uses) {
                Some(chain) => {
                    sums.insert(next);
                    additions.extend(chain);
                }
                None => roots.push(next),
            }
        }
        let terminator = function.inst(function.terminator(bottom)?);
        terminator.for_each_operand(|v| roots.push(v));
        roots.extend(self.used_outside(l));
        let mut control = Vec::new();
        let mut seen = HashSet::new();
        for root in roots {
            if !sums.contains(&root) && !self.follows(l, root, &sums, &mut seen, &mut control) {
                return None;
            }
        }
        let adding: HashSet<Value> = additions
            .iter()
            .filter_map(|&inst| function.result(inst))
            .collect();
        let mut terms: BTreeSet<Term> = BTreeSet::new();
        for &inst in &additions {
            let data = function.inst(inst);
            if data.op == Op::Math(MathFn::Fmuladd) {
                terms.insert(Term::Product(inst));
                continue;
            }
            let operands = data.args.iter().copied();
            let inside = operands.filter(|&v| self.is_in(l, v) && !adding.contains(&v));
            let inside = inside.filter(|v| !seen.contains(v) && !self.is_param(header, *v));
            terms.extend(inside.map(Term::Value));
        }
        let is_float = |term: &Term| function.ty(term.stands_for(function)).is_float_like();
        (!terms.is_empty() && terms.iter().all(is_float)).then(|| Iteration {
            header,
            bottom,
            region,
            control,
            additions,
            terms: terms.into_iter().collect(),
        })
    }

    fn def_block(&self, value: Value) -> Option<Block> {
        match *self.function.def(value) {
            ValueDef::Const(_) => None,
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Result(inst) => self.blocks[inst],
        }
    }

    fn is_latch(&self, l: Loop, inst: Inst) -> bool {
        self.blocks[inst].is_some_and(|block| self.loops.latches(l).contains(&block))
    }

    fn is_in(&self, l: Loop, value: Value) -> bool {
        let block = self.def_block(value);
        block.is_some_and(|block| self.loops.contains(l, block))
    }

    fn is_param(&self, block: Block, value: Value) -> bool {
        matches!(*self.function.def(value), ValueDef::Param(of, _) if of == block)
    }

    /// What a value is at the end of a block that leads to the block that it is a parameter of.
    fn behind(&self, from: Block, to: Block, value: Value) -> Value {
        let ValueDef::Param(block, position) = *self.function.def(value) else {
            return value;
        };
        let edges = self.function.edges(from);
        match edges.iter().find(|edge| edge.block == to && to == block) {
            Some(edge) => edge.args[position],
            None => value,
        }
    }

    /// The blocks of an iteration, and of the dead ends that it may run into. None if it does more
    /// than to compute, to read memory and to stop the program.
    fn region(
        &self,
        l: Loop,
        latch: Block,
        only_reads: &dyn Fn(Inst) -> bool,
    ) -> Option<Vec<Block>> {
        let function = self.function;
        let own = self.loops.blocks(l).iter().copied();
        let mut region: Vec<Block> = own.filter(|&block| block != latch).collect();
        for &block in &region {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                let allowed = match &data.op {
                    op if op.only_computes() => true,
                    Op::Unary(UnaryOp::Freeze) | Op::Unreachable => true,
                    Op::Jump(_) | Op::Branch { .. } | Op::Switch { .. } => true,
                    Op::Load(_) | Op::Call(_) => only_reads(inst),
                    _ => false,
                };
                if !allowed {
                    return None;
                }
            }
        }
        let mut dead: Vec<Block> = self.loops.exits(l).iter().map(|exit| exit.to).collect();
        dead.retain(|&block| !self.cfg.reaches_return(block));
        while let Some(block) = dead.pop() {
            if !region.contains(&block) {
                region.push(block);
                dead.extend(self.cfg.successors(block));
            }
        }
        let plain = |block: &Block| {
            let last = function
                .terminator(*block)
                .map(|inst| &function.inst(inst).op);
            !matches!(last, Some(Op::Invoke { .. } | Op::OpaqueTerminator { .. }))
        };
        region.iter().all(plain).then_some(region)
    }

    /// How often each value is used in the loop, apart from where it is handed on or out.
    fn uses(&self, l: Loop, bottom: Block, latch: Block) -> HashMap<Value, usize> {
        let mut uses = HashMap::new();
        for &block in self.loops.blocks(l).iter().filter(|&&b| b != latch) {
            for &inst in self.function.block_insts(block) {
                let data = self.function.inst(inst);
                match data.op.is_terminator() && block == bottom {
                    true => data
                        .args
                        .iter()
                        .for_each(|&v| *uses.entry(v).or_default() += 1),
                    false => data.for_each_operand(|v| *uses.entry(v).or_default() += 1),
                }
            }
        }
        uses
    }

    /// What adds to a parameter of the header in each iteration, if nothing else is done with it or
    /// with what comes of it on the way; the first addition first.
    fn additions(
        &self,
        param: Value,
        next: Value,
        uses: &HashMap<Value, usize>,
    ) -> Option<Vec<Inst>> {
        let function = self.function;
        let used = |v: Value| uses.get(&v).copied().unwrap_or(0);
        let is_float = function.ty(param).scalar().float_kind().is_some();
        if !is_float || used(param) != 1 || used(next) != 0 {
            return None;
        }
        let mut chain = Vec::new();
        let mut sum = next;
        while sum != param {
            let inst = function.def_inst(sum)?;
            let data = function.inst(inst);
            let begins = |&&v: &&Value| self.begins_with(param, v);
            let mut found = summands(data).iter().filter(begins);
            let (Some(&before), None) = (found.next(), found.next()) else {
                return None;
            };
            if used(before) != 1 {
                return None;
            }
            chain.push(inst);
            sum = before;
        }
        chain.reverse();
        (!chain.is_empty()).then_some(chain)
    }

    /// Whether a value is a sum that begins with a parameter.
    fn begins_with(&self, param: Value, value: Value) -> bool {
        let function = self.function;
        let mut open = vec![value];
        // A sum of sums is a tree, but not a large one.
        for _ in 0..64 {
            let Some(value) = open.pop() else {
                return false;
            };
            if value == param {
                return true;
            }
            if let Some(inst) = function.def_inst(value) {
                open.extend(summands(function.inst(inst)));
            }
        }
        false
    }

    /// The values of the loop that are used after it.
    fn used_outside(&self, l: Loop) -> Vec<Value> {
        let function = self.function;
        let outside = function.blocks().iter();
        let outside = outside
            .filter(|&&block| !self.loops.contains(l, block) && self.cfg.reaches_return(block));
        let mut found = Vec::new();
        for &block in outside {
            for &inst in function.block_insts(block) {
                function.inst(inst).for_each_operand(|v| {
                    if self.is_in(l, v) {
                        found.push(v);
                    }
                });
            }
        }
        found
    }

    /// Whether a value follows from the header's parameters, other than sums, and what is known before
    /// the loop. Notes what computes it.
    fn follows(
        &self,
        l: Loop,
        value: Value,
        sums: &HashSet<Value>,
        seen: &mut HashSet<Value>,
        control: &mut Vec<Inst>,
    ) -> bool {
        if !self.is_in(l, value) || seen.contains(&value) {
            return true;
        }
        let header = self.loops.header(l);
        let inst = match *self.function.def(value) {
            // A parameter that is a sum is used by what adds to it, and by nothing else.
            ValueDef::Param(block, _) if block == header => return !self.is_sum(l, value, sums),
            ValueDef::Result(inst) => inst,
            _ => return false,
        };
        let data = self.function.inst(inst);
        let mut args = data.args.iter();
        let known = data.op.only_computes()
            && !sums.contains(&value)
            && args.all(|&v| self.follows(l, v, sums, seen, control));
        if known && seen.insert(value) && !self.is_latch(l, inst) {
            control.push(inst);
        }
        known
    }

    fn is_sum(&self, l: Loop, param: Value, sums: &HashSet<Value>) -> bool {
        let (&[latch], ValueDef::Param(_, position)) =
            (self.loops.latches(l), self.function.def(param))
        else {
            return true;
        };
        let next = self.function.edges(latch)[0].args[*position];
        let from = self.cfg.predecessors(latch).first();
        let next = from.map_or(next, |&(bottom, _)| self.behind(bottom, latch, next));
        sums.contains(&next)
    }
}

/// The operands of an addition that may be the sum it adds to.
fn summands(data: &InstData) -> &[Value] {
    match &data.op {
        Op::Binary(BinaryOp::FAdd) => &data.args,
        Op::Binary(BinaryOp::FSub) => &data.args[..1],
        Op::Math(MathFn::Fmuladd) => &data.args[2..],
        _ => &[],
    }
}

/// Makes the iteration a function. A call of it is all that is left in the loop.
pub fn outline(module: &mut Module, function: &mut Function, iteration: &Iteration) -> Func {
    let inputs = inputs(function, iteration);
    let types: Vec<Type> = inputs.iter().map(|&v| function.ty(v)).collect();
    let terms = iteration.terms.iter();
    let results = terms.map(|term| function.ty(term.stands_for(function)));
    let results: Vec<Type> = results.collect();
    let sig = Signature::new(types, bundle(&results));
    let name = module.fresh_name(&format!("{}.iteration", function.name));
    let body = body(function, iteration, &inputs, name, sig.clone());
    let callee = module.funcs.push(body);

    let last = function.terminator(iteration.bottom);
    let header = iteration.header;
    let kept: Vec<Inst> = iteration.control.clone();
    function.set_block_insts(header, kept);
    let mut builder = Builder::new(function, header);
    builder.loc = last.and_then(|inst| builder.func.inst(inst).loc);
    let result = builder.call(callee, sig, inputs);
    let mut terms = HashMap::new();
    for (i, &term) in iteration.terms.iter().enumerate() {
        let Some(result) = result else { break };
        let part = match iteration.terms.len() {
            1 => result,
            _ => builder.extract(result, vec![i as u32]),
        };
        terms.insert(term, part);
    }
    for &inst in &iteration.additions {
        let data = function.inst_mut(inst);
        if let Some(&product) = terms.get(&Term::Product(inst)) {
            data.op = Op::Binary(BinaryOp::FAdd);
            data.origin = None;
            data.args = vec![data.args[2], product];
        }
        data.map_operands(|v| terms.get(&Term::Value(v)).copied().unwrap_or(v));
        function.attach_inst(header, inst);
    }
    if let Some(last) = last {
        function.attach_inst(header, last);
    }
    // Dead ends may be those of others too.
    let own: HashSet<Block> = iteration.region.iter().copied().collect();
    let cfg = Cfg::new(function);
    let layout = function.blocks().iter().copied();
    let layout = layout.filter(|block| !own.contains(block) || cfg.is_reachable(*block));
    let layout = layout.collect();
    function.set_layout(layout);
    callee
}

/// What the iteration uses of the loop around it.
fn inputs(function: &Function, iteration: &Iteration) -> Vec<Value> {
    let mut defined: HashSet<Value> = HashSet::new();
    for &block in &iteration.region {
        if block != iteration.header {
            defined.extend(function.block_params(block));
        }
        let insts = function.block_insts(block).iter();
        defined.extend(insts.filter_map(|&inst| function.result(inst)));
    }
    let mut inputs = Vec::new();
    let mut use_value = |v: Value| {
        let constant = matches!(function.def(v), ValueDef::Const(_));
        if !constant && !defined.contains(&v) && !inputs.contains(&v) {
            inputs.push(v);
        }
    };
    for &block in &iteration.region {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            match is_left_out(function, iteration, block, inst) {
                true if iteration.terms.contains(&Term::Product(inst)) => {
                    data.args[..2].iter().copied().for_each(&mut use_value);
                }
                true => {}
                false => data.for_each_operand(&mut use_value),
            }
        }
    }
    inputs
}

/// Whether an instruction of the region stays in the loop and has no copy in the function.
fn is_left_out(function: &Function, iteration: &Iteration, block: Block, inst: Inst) -> bool {
    let ends = block == iteration.bottom && function.inst(inst).op.is_terminator();
    ends || iteration.additions.contains(&inst)
}

/// The function of an iteration.
fn body(
    from: &Function,
    iteration: &Iteration,
    inputs: &[Value],
    name: String,
    sig: Signature,
) -> Function {
    let mut to = Function::with_entry(name, sig);
    to.local = true;
    let arguments = to.arguments().to_vec();
    let known = inputs.iter().copied().zip(arguments).collect();
    let left_out = |block, inst| is_left_out(from, iteration, block, inst);
    let copied = Copied::new(&mut to, from, &iteration.region, known, left_out);
    for &(block, copy) in &copied.insts {
        to.attach_inst(copied.blocks[&block], copy);
    }
    for (&value, &copy) in &copied.values {
        if let Some(name) = &from.value(value).name {
            to.set_value_name(copy, name.clone());
        }
    }
    let bottom = copied.blocks[&iteration.bottom];
    let terms = iteration.terms.iter().map(|&term| match term {
        Term::Value(value) => copied.value(&mut to, value),
        Term::Product(inst) => {
            let data = from.inst(inst);
            let factors = data.args[..2].iter().map(|&v| copied.value(&mut to, v));
            let factors = factors.collect();
            let mut builder = Builder::new(&mut to, bottom);
            builder.loc = data.loc;
            builder.float_flags = data.flags;
            let ty = from.ty(data.args[0]);
            builder.value(Op::Binary(BinaryOp::FMul), factors, ty)
        }
    });
    let terms: Vec<Value> = terms.collect();
    let mut builder = Builder::new(&mut to, bottom);
    let result = bundle_values(&mut builder, &terms);
    builder.ret(result);
    let entry = to.entry();
    Builder::new(&mut to, entry).jump(copied.blocks[&iteration.header], Vec::new());
    to
}
