//! Calls whose reverse runs as soon as they return.
//!
//! A sum of calls, `sum += weight * f(…)`, hands the adjoint of the whole function on to each of
//! them, times a weight. Where both sweeps of a function are one function, that adjoint is known when
//! it begins, so the adjoint of such a call is known before the call. Then both of its sweeps run in
//! the place of the call, and what it keeps for its reverse is gone before the next call. A recursion
//! over a tree keeps one path of the tree then, and not all of it.
//!
//! What the reverse of the call adds to shadow memory is added earlier than usual. That is the same
//! sum, as long as no number that the call has read is overwritten after it: the reverse of the write
//! would take what is in the shadow to be its own. And the call itself may not write numbers, whose
//! adjoints are not known yet.

use super::touched::Touched;
use crate::analysis::effects::ArgEffects;
use crate::chaos::Choice;
use crate::derivative::{Key, Made};
use crate::ir::{
    BinaryOp, Block, Inst, InstData, MathFn, Module, Op, ReturnActivity, UnaryOp, Value, ValueDef,
};
use crate::plan::PlanKind;
use crate::primal::Primal;
use crate::synthesis::Synthesis;
use std::collections::{HashMap, HashSet};

/// A step from the adjoint of a value to that of one that it is computed from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Times a value.
    Times(Value),
    /// Times minus one.
    Minus,
}

/// The key of the derivative of a callee whose sweeps both run where it is called. Nothing happens
/// between them. There may be adjoints in the shadow of new memory already, from calls before.
pub fn key(callee: &Key) -> Key {
    let made = |&made: &Made| match made {
        Made::Nothing => Made::Nothing,
        _ => Made::Unknown,
    };
    Key {
        primal_needed: callee.primal_needed,
        made: callee.made.iter().map(made).collect(),
        ..super::replay::key(callee)
    }
}

/// Whether a call may be reversed at once, as far as memory is concerned.
pub fn is_legal(
    synthesis: &mut Synthesis,
    primal: &Primal,
    early: &Early,
    inst: Inst,
    callee: &Key,
) -> bool {
    let options = &synthesis.options;
    let Some(call) = primal.function.inst(inst).op.call() else {
        return false;
    };
    let does = primal.effects.call(call);
    let keeps = |(i, _)| {
        let keeps = ArgEffects::FREE | ArgEffects::CAPTURE;
        does.arg(i).intersects(keeps)
    };
    let may_be = options.plan == PlanKind::MinCut
        && !options.flips(Choice::Early, (&primal.function.name, inst))
        && callee.ret == ReturnActivity::Active
        && callee.globals.is_empty()
        && callee.held.is_empty()
        && !callee.settles
        && !does.frees_other
        && !does.leaves
        && !callee.args.iter().enumerate().any(keeps);
    if !may_be {
        return false;
    }
    let Some(added) = synthesis.added(&key(callee)) else {
        return false;
    };
    let window = primal.overwrite.window_of_call(inst, primal.key.disjoint);
    let arguments = &primal.function.inst(inst).args;
    let touched = early.touched.as_ref();
    let is_taken = |pointer| touched.is_none_or(|t| t.takes_behind(primal, pointer));
    let intact = |(i, &added): (usize, &bool)| {
        let overwritten = window.arguments.get(i).copied().unwrap_or(true);
        // Where numbers and addresses take turns, shadows that are not zero are those of addresses.
        let by_turns = primal.types.shape(arguments[i]).has_floats_and_addresses();
        !(added && (by_turns || overwritten && is_taken(arguments[i])))
    };
    added.iter().enumerate().all(intact)
}

/// Calls whose adjoint is known before them.
#[derive(Default)]
pub struct Early {
    /// The store of the function's result, if it does not return it.
    pub stored: Option<Inst>,
    /// The steps to the adjoint of each from that of the function's result, from the last to the first.
    pub calls: HashMap<Inst, Vec<Scale>>,
    /// What the reverse of the function does to shadow memory, if there are any.
    touched: Option<Touched>,
    /// What the calls are multiplied by, where it is computed after them: those instructions.
    pub late: HashSet<Inst>,
}

impl Early {
    /// Those of a function.
    pub fn of(module: &Module, primal: &Primal) -> Early {
        let stored = match primal.key.ret {
            ReturnActivity::Const => stored_result(primal),
            _ => None,
        };
        let (calls, late) = calls(primal, stored);
        let touched = (!calls.is_empty()).then(|| Touched::by(module, primal));
        Early {
            stored,
            calls,
            touched,
            late,
        }
    }
}

/// The store to memory behind an argument that nothing else reads or writes: what is in its shadow
/// when the function begins is the adjoint of what is stored. Another argument may lead there too; so
/// nothing that has an adjoint may be read after it.
fn stored_result(primal: &Primal) -> Option<Inst> {
    let function = &primal.function;
    // Where activity is decided at run time, a shadow may be the memory itself.
    if !primal.key.combined || primal.key.runtime_activity {
        return None;
    }
    let mut result = None;
    for &block in &primal.order {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            if let Op::Store(access) = &data.op
                && function.ty(data.args[0]).float_kind().is_some()
                && function.arguments().contains(&data.args[1])
                && primal.has_shadow(data.args[1])
                && !access.volatile
            {
                // There may be one only.
                match result {
                    None => result = Some((block, inst)),
                    Some(_) => return None,
                }
            }
        }
    }
    let (block, store) = result?;
    let argument = primal
        .activity
        .only_argument(function.inst(store).args[1])?;
    let leads_there = |v: &Value| primal.activity.arguments_behind(*v).any(|i| i == argument);
    let mut insts = primal.order.iter().flat_map(|&b| function.block_insts(b));
    let others =
        insts.any(|&inst| inst != store && function.inst(inst).args.iter().any(leads_there));
    let reads = |inst: &Inst| {
        let data = function.inst(*inst);
        data.op.call().is_some() || !data.op.accesses().is_empty()
    };
    let active = |inst: &Inst| {
        let mut operands = function.inst(*inst).args.iter();
        operands.any(|&v| primal.has_shadow(v))
    };
    let after = function.block_insts(block).iter();
    let after = after.skip_while(|&&inst| inst != store).skip(1);
    let ends = function.edges(block).is_empty();
    let last = ends && !after.copied().any(|inst| reads(&inst) && active(&inst));
    (last && !others).then_some(store)
}

/// The calls with their steps, and the instructions behind them that compute factors.
fn calls(primal: &Primal, stored: Option<Inst>) -> (HashMap<Inst, Vec<Scale>>, HashSet<Inst>) {
    let key = &primal.key;
    let function = &primal.function;
    let returned = key.ret == ReturnActivity::Active && function.sig.ret.float_kind().is_some();
    let is_known = key.reverse && key.combined && (returned || stored.is_some());
    if !is_known || key.strong_zero {
        return Default::default();
    }
    let insts = primal.order.iter().flat_map(|&b| function.block_insts(b));
    let active = |&inst: &Inst| {
        matches!(function.inst(inst).op, Op::Call(_))
            && !primal.dispatched.contains_key(&inst)
            && function.result(inst).is_some_and(|v| primal.is_active(v))
    };
    let calls: Vec<Inst> = insts.copied().filter(active).collect();
    if calls.is_empty() {
        return Default::default();
    }
    let ways = Ways::new(primal, stored);
    let (mut known, mut late) = (HashMap::new(), HashSet::new());
    for inst in calls {
        let scales = function.result(inst).and_then(|v| ways.scales(v));
        let Some(scales) = scales else { continue };
        let mut after = Vec::new();
        let is_known = |scale: &Scale| match *scale {
            Scale::Times(value) => ways.is_computable(value, inst, &mut after),
            Scale::Minus => true,
        };
        if scales.iter().all(is_known) {
            known.insert(inst, scales);
            late.extend(after);
        }
    }
    (known, late)
}

/// So many instructions behind a call are computed before it.
const MOST_LATE: usize = 8;

/// Where a float is used.
#[derive(Copy, Clone)]
enum Use {
    /// By an instruction, as this operand.
    Inst(Inst, usize),
    /// On an edge, for this parameter.
    Edge(Value),
}

/// The ways of floats to the result of the function.
struct Ways<'a> {
    primal: &'a Primal,
    uses: HashMap<Value, Vec<Use>>,
    /// How often each value is used in a block, and on an edge out of it.
    in_block: HashMap<(Value, Block), usize>,
    on_edge: HashMap<(Value, Block, usize), usize>,
    /// Where each value is defined: the block, and how many instructions of it come before.
    defs: HashMap<Value, (Block, usize)>,
    /// The values that are added to the result, once: their adjoint is that of the result.
    terms: HashSet<Value>,
    /// What takes the sum of them: the return, the store of the result, or the first of the steps from
    /// the sum to the result.
    end: Option<Inst>,
    /// These steps.
    steps: Vec<Scale>,
}

impl<'a> Ways<'a> {
    fn new(primal: &'a Primal, stored: Option<Inst>) -> Ways<'a> {
        let function = &primal.function;
        let mut ways = Ways {
            primal,
            uses: HashMap::new(),
            in_block: HashMap::new(),
            on_edge: HashMap::new(),
            defs: HashMap::new(),
            terms: HashSet::new(),
            end: None,
            steps: Vec::new(),
        };
        let mut result = None;
        for &block in function.blocks() {
            for &param in function.block_params(block) {
                ways.defs.insert(param, (block, 0));
            }
            for (at, &inst) in function.block_insts(block).iter().enumerate() {
                if let Some(result) = function.result(inst) {
                    ways.defs.insert(result, (block, at));
                }
                let data = function.inst(inst);
                for (i, &value) in data.args.iter().enumerate() {
                    if function.ty(value).float_kind().is_some() {
                        ways.uses.entry(value).or_default().push(Use::Inst(inst, i));
                        *ways.in_block.entry((value, block)).or_default() += 1;
                    }
                }
                let returns = matches!(data.op, Op::Return) && stored.is_none();
                if returns || stored == Some(inst) {
                    result = data.args.first().copied();
                    ways.end = Some(inst);
                }
            }
            for (number, edge) in function.edges(block).iter().enumerate() {
                let params = function.block_params(edge.block);
                for (&value, &param) in edge.args.iter().zip(params) {
                    if function.ty(value).float_kind().is_some() {
                        ways.uses.entry(value).or_default().push(Use::Edge(param));
                        *ways.on_edge.entry((value, block, number)).or_default() += 1;
                    }
                }
            }
        }
        result = result.map(|value| ways.before_constants(value));
        ways.terms = candidates(primal, result);
        // What goes to something that is no term is none itself.
        let is_none = |&v: &Value| !(ways.is_added(v) && ways.is_used_once(v));
        let mut open: Vec<Value> = ways.terms.iter().copied().filter(is_none).collect();
        while let Some(value) = open.pop() {
            if ways.terms.remove(&value) {
                open.extend(summands(primal, value));
            }
        }
        ways
    }

    /// Whether a value has been computed when a call runs, or could have been: by arithmetic behind the
    /// call, in the same block. Notes the instructions that do that.
    fn is_computable(&self, value: Value, call: Inst, late: &mut Vec<Inst>) -> bool {
        let function = &self.primal.function;
        let call_at = function.result(call).and_then(|v| self.defs.get(&v));
        let (Some((def, at)), Some((block, here))) = (self.defs.get(&value), call_at) else {
            return matches!(function.def(value), ValueDef::Const(_));
        };
        let inst = match function.def_inst(value) {
            Some(inst) if def == block && at >= here => inst,
            _ => return self.primal.dominators.dominates(*def, *block),
        };
        let data = function.inst(inst);
        let computes = matches!(
            data.op,
            Op::Binary(_) | Op::Math(_) | Op::Unary(UnaryOp::FNeg)
        ) && function.ty(value).is_float_like();
        late.push(inst);
        computes
            && late.len() <= MOST_LATE
            && data.args.iter().all(|&v| self.is_computable(v, call, late))
    }

    /// The value whose multiple by constants a value is.
    fn before_constants(&mut self, mut value: Value) -> Value {
        let function = &self.primal.function;
        let is_constant = |v: Value| matches!(function.def(v), ValueDef::Const(_));
        while let Some(inst) = function
            .def_inst(value)
            .filter(|_| self.uses(value).len() == 1)
        {
            let data = function.inst(inst);
            let (step, from) = match (&data.op, &data.args[..]) {
                (Op::Binary(BinaryOp::FMul), &[x, k]) if is_constant(k) => (Scale::Times(k), x),
                (Op::Unary(UnaryOp::FNeg), &[x]) => (Scale::Minus, x),
                _ => break,
            };
            self.steps.insert(0, step);
            self.end = Some(inst);
            value = from;
        }
        value
    }

    fn uses(&self, value: Value) -> &[Use] {
        self.uses.get(&value).map_or(&[], |uses| uses)
    }

    /// Whether a value goes nowhere but into sums that are terms.
    fn is_added(&self, value: Value) -> bool {
        self.uses(value).iter().all(|&place| match place {
            Use::Edge(param) => self.terms.contains(&param),
            Use::Inst(inst, i) => {
                let data = self.primal.function.inst(inst);
                let result = self.primal.function.result(inst);
                self.end == Some(inst)
                    || addends(data).contains(&i) && result.is_some_and(|r| self.terms.contains(&r))
            }
        })
    }

    /// Whether there is exactly one use on every way from the definition of a value to the return, or
    /// to its definition again.
    fn is_used_once(&self, value: Value) -> bool {
        let Some(&(def, _)) = self.defs.get(&value) else {
            return false;
        };
        let function = &self.primal.function;
        let mut seen: HashSet<(Block, usize)> = HashSet::new();
        let mut open = vec![(def, 0)];
        while let Some((block, before)) = open.pop() {
            if !self.primal.cfg.reaches_return(block) {
                continue;
            }
            let used = before + self.in_block.get(&(value, block)).copied().unwrap_or(0);
            let edges = function.edges(block);
            if used > 1 || edges.is_empty() && used != 1 {
                return false;
            }
            for (number, edge) in edges.iter().enumerate() {
                let on_edge = self.on_edge.get(&(value, block, number)).copied();
                let used = used + on_edge.unwrap_or(0);
                if used > 1 || edge.block == def && used != 1 {
                    return false;
                }
                if edge.block != def && seen.insert((edge.block, used)) {
                    open.push((edge.block, used));
                }
            }
        }
        true
    }

    /// The steps from the adjoint of the result to that of a value.
    fn scales(&self, mut value: Value) -> Option<Vec<Scale>> {
        let function = &self.primal.function;
        let mut scales = Vec::new();
        while !self.terms.contains(&value) {
            let &[Use::Inst(inst, i)] = self.uses(value) else {
                return None;
            };
            if !self.is_used_once(value) {
                return None;
            }
            let data = function.inst(inst);
            let factor = match (&data.op, i) {
                (Op::Binary(BinaryOp::FMul), _)
                | (Op::Math(MathFn::Fmuladd | MathFn::Fma), 0 | 1) => {
                    Some(Scale::Times(data.args[1 - i]))
                }
                (Op::Unary(UnaryOp::FNeg), _) | (Op::Binary(BinaryOp::FSub), 1) => {
                    Some(Scale::Minus)
                }
                _ if addends(data).contains(&i) => None,
                _ => return None,
            };
            scales.extend(factor);
            value = function.result(inst)?;
        }
        scales.extend(&self.steps);
        Some(scales)
    }
}

/// The operands that an instruction adds up.
fn addends(data: &InstData) -> &'static [usize] {
    match data.op {
        Op::Binary(BinaryOp::FAdd) => &[0, 1],
        Op::Binary(BinaryOp::FSub) | Op::Unary(UnaryOp::Freeze) => &[0],
        Op::Math(MathFn::Fmuladd | MathFn::Fma) => &[2],
        _ => &[],
    }
}

/// What a value is the sum of, or one of.
fn summands(primal: &Primal, value: Value) -> Vec<Value> {
    let function = &primal.function;
    match *function.def(value) {
        ValueDef::Const(_) => Vec::new(),
        ValueDef::Result(inst) => {
            let data = function.inst(inst);
            addends(data).iter().map(|&i| data.args[i]).collect()
        }
        ValueDef::Param(block, position) => {
            let edges = primal.cfg.predecessors(block).iter();
            let given = |&(from, edge): &(Block, usize)| {
                let args = &function.edges(from)[edge].args;
                args.get(position).copied()
            };
            edges.filter_map(given).collect()
        }
    }
}

/// The values that the result may be a sum of.
fn candidates(primal: &Primal, result: Option<Value>) -> HashSet<Value> {
    let mut found = HashSet::new();
    let mut open: Vec<Value> = result.into_iter().collect();
    while let Some(value) = open.pop() {
        let is_constant = matches!(primal.function.def(value), ValueDef::Const(_));
        if !is_constant && found.insert(value) {
            open.extend(summands(primal, value));
        }
    }
    found
}
