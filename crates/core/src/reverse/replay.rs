//! Iterations whose two sweeps run one after the other.
//!
//! Where the iterations of a loop are independent of each other, the reverse sweep can run an iteration
//! forwards again, right before it runs it backwards. What that keeps for its reverse lives for one
//! iteration only, in the same few bytes each time, where a tape would have a record for each. The
//! forward sweep of the whole function keeps nothing of such a loop, and if nobody asks for what the
//! loop adds up, the loop is not run there at all.
//!
//! Such an iteration is made a function, by [`outline_iterations`](crate::simplify::outline_iterations),
//! and the combined derivative of that function is what the reverse sweep calls.
//!
//! # Where both sweeps run an iteration
//!
//! If somebody does ask for the sums, there are two copies of an iteration, which are compiled apart
//! from each other. They must take the same ways, or the derivative is not that of what was computed.
//! Arithmetic without permissions to round otherwise is the same in both, and so is every decision by
//! it. Where decisions follow from other arithmetic, or from `freeze`, an iteration is replayed only if
//! the forward sweep needs nothing of it ([`repeatable`]): then the one run is the replay, which keeps
//! its decisions for its own reverse. What is needed is known when there is a plan, so [`planned`]
//! makes another one if it turns out that it is the sums.

use super::{Augmented, planned};
use crate::analysis::loops::Loop;
use crate::analysis::overwrite::Overwritten;
use crate::analysis::repeatable;
use crate::chaos::Choice;
use crate::derivative::Key;
use crate::diagnostic::Result;
use crate::ir::{FnFlags, Function, Inst, ModRef, Op, ReturnActivity, Value, ValueDef};
use crate::plan::{Plan, PlanKind, cost, weight};
use crate::planted::Defect;
use crate::primal::Primal;
use crate::shadow::Reversal;
use crate::simplify::canonical_loops;
use crate::simplify::outline_iterations::{Finder, Iteration, outline};
use crate::synthesis::Synthesis;
use cranelift_entity::EntityRef;
use std::collections::HashSet;

/// The key of the derivative of a callee whose sweeps both run where its call is reversed. Nothing
/// happens between them.
pub fn key(callee: &Key) -> Key {
    Key {
        overwritten: vec![false; callee.overwritten.len()],
        other_overwritten: false,
        primal_needed: false,
        combined: true,
        replayed: true,
        ..callee.clone()
    }
}

/// Whether a call of an iteration is reversed by running both of its sweeps then: what it reads must
/// be intact, and it must not decide otherwise than it did.
pub fn is_legal(synthesis: &Synthesis, primal: &Primal, call: Inst, callee: &Key) -> bool {
    let function = &synthesis.module.funcs[callee.func];
    let options = &synthesis.options;
    function.attrs.flags.contains(FnFlags::ITERATION)
        && options.plan == PlanKind::MinCut
        && !options.flips(Choice::Replay, (&primal.function.name, call))
        && callee.ret == ReturnActivity::Active
        && callee.globals.is_empty()
        && callee.held.is_empty()
        && reads_intact_memory(primal, call)
        && !synthesis.not_replayed.contains(&(primal.key.clone(), call))
}

/// The calls that are replayed, that the forward sweep needs too, and that may decide otherwise the
/// second time.
pub fn inconsistent(
    synthesis: &Synthesis,
    primal: &Primal,
    augmented: &Augmented,
    plan: &Plan,
) -> Vec<Inst> {
    let calls = augmented.calls.iter();
    let replayed = calls.filter(|(_, call)| matches!(call.reversal, Reversal::Replay { .. }));
    let mut replayed: Vec<Inst> = replayed.map(|(&inst, _)| inst).collect();
    if replayed.is_empty() {
        return replayed;
    }
    let live = live_values(primal, plan);
    let result = |inst: &Inst| primal.function.result(*inst);
    replayed.retain(|inst| result(inst).is_some_and(|result| live.contains(&result)));
    replayed.retain(|&inst| {
        let function = &synthesis.module.funcs[augmented.calls[&inst].key.func];
        let operands = &primal.function.inst(inst).args;
        let unsure = repeatable::unsure_operands(
            &synthesis.module,
            &primal.function,
            &|_| may_differ(primal),
            operands,
        );
        !repeatable::decides_alike(&synthesis.module, function, &|i| unsure[i], &|_| true)
    });
    replayed
}

/// Whether the floats that a function is given may differ from one sweep to the other: whoever calls
/// the two may compute them again.
fn may_differ(primal: &Primal) -> bool {
    !primal.key.combined
}

/// Whether a call does nothing but to read memory that is still the same when it is reversed.
fn reads_intact_memory(primal: &Primal, inst: Inst) -> bool {
    let Some(call) = primal.function.inst(inst).op.call() else {
        return false;
    };
    let does = primal.effects.call(call);
    let window = primal.overwrite.window_of_call(inst, primal.key.disjoint);
    let changes = window.arguments.iter().any(|&changes| changes);
    let other_changes = does.other.contains(ModRef::READ) && window.other;
    let only_reads = does.inaccessible.is_empty() && !does.may_write() && !does.leaves;
    let intact = !changes && !other_changes;
    only_reads && (intact || primal.breaks(Defect::ReplayOfOverwritten))
}

/// Makes functions of the iterations of loops where replaying them costs less than a tape. If there
/// are any, the function in the module changes; gives what it was before.
pub fn outline_where_it_pays(
    synthesis: &mut Synthesis,
    primal: &Primal,
) -> Result<Option<Function>> {
    let key = &primal.key;
    if synthesis.options.plan != PlanKind::MinCut || key.replayed || !primal.dispatched.is_empty() {
        return Ok(None);
    }
    let candidates = candidates(primal);
    if candidates.is_empty() {
        return Ok(None);
    }
    let before = synthesis.made();
    let (augmented, plan) = planned(synthesis, primal)?;
    let live = live_values(primal, &plan);
    let pays = |(l, iteration): &(Loop, Iteration)| {
        let runs = is_run(primal, &live, *l);
        if runs && !decides_alike(synthesis, primal, iteration) {
            return false;
        }
        let chance = synthesis
            .options
            .chance(Choice::Replay, (&primal.function.name, *l));
        chance.map_or_else(
            || pays(synthesis, primal, &augmented, &plan, runs, *l),
            |n| n % 2 == 0,
        )
    };
    let chosen: Vec<(Loop, Iteration)> = candidates.into_iter().filter(pays).collect();
    // The numbers of the canonical form are those of the iterations.
    let mut function = synthesis.module.funcs[key.func].clone();
    let is_same = canonical_loops::run(&mut function).is_ok()
        && function.inst_count() == primal.function.inst_count()
        && function.value_count() == primal.function.value_count();
    if chosen.is_empty() || !is_same {
        return Ok(None);
    }
    synthesis.go_back(before);
    for (_, iteration) in &chosen {
        let callee = outline(&mut synthesis.module, &mut function, iteration);
        synthesis.module.funcs[callee].attrs.flags |= FnFlags::ITERATION;
    }
    let before = std::mem::replace(&mut synthesis.module.funcs[key.func], function);
    synthesis.program_changed();
    Ok(Some(before))
}

/// The loops with loops in them whose iterations are independent and read memory that stays intact;
/// of loops within each other the outermost.
fn candidates(primal: &Primal) -> Vec<(Loop, Iteration)> {
    let loops = &primal.loops;
    let finder = Finder::new(&primal.function, &primal.cfg, loops);
    let only_reads = |inst: Inst| match &primal.function.inst(inst).op {
        Op::Load(_) if primal.breaks(Defect::ReplayOfOverwritten) => true,
        Op::Load(_) => primal.overwritten(inst) == Overwritten::Never,
        _ => reads_intact_memory(primal, inst),
    };
    let mut found: Vec<(Loop, Iteration)> = Vec::new();
    for l in loops.iter() {
        let is_nest = loops.iter().any(|inner| loops.parent(inner) == Some(l));
        let covered = found.iter().any(|(outer, _)| loops.is_inside(l, *outer));
        if is_nest
            && !covered
            && let Some(iteration) = finder.find(l, &only_reads)
        {
            found.push((l, iteration));
        }
    }
    found
}

/// Whether an iteration decides the same in both sweeps.
fn decides_alike(synthesis: &Synthesis, primal: &Primal, iteration: &Iteration) -> bool {
    let blocks: HashSet<_> = iteration.blocks().iter().copied().collect();
    let arguments = |_| may_differ(primal);
    let inside = |block| blocks.contains(&block);
    repeatable::decides_alike(&synthesis.module, &primal.function, &arguments, &inside)
}

/// Whether the forward sweep runs a loop: somebody asks for what it adds up.
fn is_run(primal: &Primal, live: &HashSet<Value>, l: Loop) -> bool {
    let header = primal.loops.header(l);
    let is_sum = |v: &&Value| primal.function.ty(**v).is_float_like();
    let mut sums = primal.function.block_params(header).iter().filter(is_sum);
    sums.any(|sum| live.contains(sum))
}

/// Whether keeping what the reverse of the loops in a loop needs costs more than to run an iteration
/// again.
fn pays(
    synthesis: &Synthesis,
    primal: &Primal,
    augmented: &Augmented,
    plan: &Plan,
    runs: bool,
    l: Loop,
) -> bool {
    let layout = &synthesis.module.layout;
    let kept = plan.cached().into_iter().filter_map(|need| {
        let inner = need
            .level
            .filter(|&inner| inner != l && primal.loops.is_inside(inner, l))?;
        let bytes = layout.store_size(augmented.func.ty(need.value));
        Some(weight(primal, Some(inner)).saturating_mul(8 + bytes))
    });
    let kept: u64 = kept.fold(0, u64::saturating_add);
    // If the forward sweep does not run the loop, the replay is the one run.
    let again = match runs {
        true => work(primal, l),
        false => 0,
    };
    kept > again
}

/// What an execution of a loop costs, as a guess.
fn work(primal: &Primal, l: Loop) -> u64 {
    let mut work: u64 = 0;
    for &block in primal.loops.blocks(l) {
        let weight = weight(primal, primal.loops.innermost(block));
        for &inst in primal.function.block_insts(block) {
            let cost = cost(&primal.function.inst(inst).op);
            work = work.saturating_add(weight.saturating_mul(cost));
        }
    }
    work
}

/// The values that the forward sweep computes for somebody: for the caller, for memory, for decisions
/// that are not those of a loop of which nothing is wanted, or for the reverse sweep.
fn live_values(primal: &Primal, plan: &Plan) -> HashSet<Value> {
    let function = &primal.function;
    let mut open: Vec<Value> = Vec::new();
    let known = |v: &Value| v.index() < function.value_count();
    open.extend(plan.sources.keys().map(|need| need.value).filter(known));
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            let data = function.inst(inst);
            match &data.op {
                Op::Return if !primal.key.primal_needed => {}
                Op::Jump(_) => {}
                Op::Branch { .. } | Op::Switch { .. } | Op::Return => open.extend(&data.args),
                op if function.result(inst).is_none() || op.call().is_some() => {
                    open.extend(&data.args);
                }
                _ => {}
            }
        }
    }
    let mut live = HashSet::new();
    while let Some(value) = open.pop() {
        if !live.insert(value) {
            continue;
        }
        match *function.def(value) {
            ValueDef::Const(_) => {}
            ValueDef::Result(inst) => open.extend(&function.inst(inst).args),
            ValueDef::Param(block, position) => {
                for &(from, edge) in primal.cfg.predecessors(block) {
                    open.extend(function.edges(from)[edge].args.get(position));
                }
            }
        }
    }
    live
}
