//! The cheapest plan: a minimum cut between what the reverse sweep needs and what it cannot
//! compute.
//!
//! Every need is a pair of nodes, *asked* and *computed*. An edge from asked to computed costs
//! what caching the value costs: whoever cuts it caches. An edge from computed to the sink costs
//! what computing it once more costs, and is infinite if that is impossible. Edges from computed
//! to the operands asked are free to keep and infinite to cut: what is computed needs its
//! operands. So the cut pays for exactly one of both for each value that is needed.

use super::flow::{FlowGraph, INFINITE};
use super::recipe::{Recipe, called_again, recipe, why_again};
use super::{Need, Plan, Source, Why};
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::Count;
use crate::chaos::Choice;
use crate::ir::Module;
use crate::pipeline::Options;
use crate::planted::Defect;
use crate::primal::Primal;
use crate::reverse::Augmented;
use std::collections::{BTreeSet, HashMap};

/// Decides for every need, and for what the needs are computed from.
pub fn min_cut(
    module: &Module,
    options: &Options,
    primal: &Primal,
    augmented: &Augmented,
    needs: BTreeSet<Need>,
) -> Plan {
    // By chance, costs have nothing to do with time, and differ much; some functions compute again
    // whatever they can.
    let by_chance = |need: Need, caching: bool| {
        let name = &primal.function.name;
        let number = options.chance(Choice::Cost, (name, need, caching))?;
        let taste = options.chance(Choice::Cost, name)? % 4;
        Some(match (taste, caching) {
            (0, false) => 0,
            _ => 1 << (number % 8),
        })
    };
    let mut graph = FlowGraph::default();
    let source = graph.add_node();
    let sink = graph.add_node();
    let mut nodes: HashMap<Need, (usize, usize)> = HashMap::new();
    let mut reasons: HashMap<Need, Why> = HashMap::new();
    let mut open: Vec<Need> = needs.iter().copied().collect();
    let mut order: Vec<Need> = Vec::new();
    let mut add = |graph: &mut FlowGraph, need: Need| -> (bool, (usize, usize)) {
        if let Some(&pair) = nodes.get(&need) {
            return (false, pair);
        }
        let pair = (graph.add_node(), graph.add_node());
        nodes.insert(need, pair);
        order.push(need);
        (true, pair)
    };
    for &need in &needs {
        let (_, (asked, _)) = add(&mut graph, need);
        graph.add_edge(source, asked, INFINITE);
    }
    while let Some(need) = open.pop() {
        let (_, (asked, computed)) = add(&mut graph, need);
        let ty = augmented.func.ty(need.value);
        let bytes = module.layout.store_size(ty);
        let block = augmented.def_block(need.value);
        let own = block.and_then(|block| primal.loops.innermost(block));
        let weight = weight(primal, own);
        let again =
            own == need.level && called_again(module, primal, augmented, need.value).is_some();
        let caching = match again {
            true => INFINITE,
            false => by_chance(need, true).unwrap_or(cache_cost(primal, need, bytes, weight)),
        };
        graph.add_edge(asked, computed, caching);
        let anyway = primal.breaks(Defect::LiveOutRecomputed);
        let recipe = match own == need.level || anyway {
            true => recipe(module, primal, augmented, need.value),
            false => Recipe::Never(Why::UsedAfterLoop),
        };
        match (recipe, block) {
            (Recipe::From(operands, cost), Some(block)) => {
                let cost = by_chance(need, false).unwrap_or(cost.saturating_mul(weight));
                graph.add_edge(computed, sink, cost);
                for operand in operands {
                    if let Some(inner) = augmented.need(primal, operand, block) {
                        let (new, (inner_asked, _)) = add(&mut graph, inner);
                        graph.add_edge(computed, inner_asked, INFINITE);
                        if new {
                            open.push(inner);
                        }
                    }
                }
                reasons.insert(need, Why::CostsMore);
            }
            (Recipe::Never(why), _) => {
                graph.add_edge(computed, sink, INFINITE);
                reasons.insert(need, why);
            }
            (_, None) => graph.add_edge(computed, sink, INFINITE),
        }
    }
    let near = graph.cut(source, sink);
    let mut plan = Plan::default();
    for need in order {
        let (asked, computed) = nodes[&need];
        if !near[asked] {
            continue;
        }
        let source = match near[computed] {
            true => Source::Recompute,
            false => Source::Cache,
        };
        plan.sources.insert(need, source);
        let why = match source {
            Source::Cache => reasons.remove(&need),
            Source::Recompute => Some(why_again(module, primal, augmented, need.value)),
        };
        plan.reasons.extend(why.map(|why| (need, why)));
    }
    plan
}

/// What it costs to keep a value: to write it and to read it, its bytes on the way through the
/// caches, each time. Outside of loops the frame of a combined derivative is registers.
fn cache_cost(primal: &Primal, need: Need, bytes: u64, weight: u64) -> u64 {
    match need.level {
        None if primal.key.combined => 1 + bytes / 8,
        _ => weight.saturating_mul(8 + bytes),
    }
}

/// How often the body of a loop runs, as a guess.
pub fn weight(primal: &Primal, level: Option<Loop>) -> u64 {
    const UNKNOWN: u64 = 64;
    const MOST: u64 = 1 << 30;
    let mut weight: u64 = 1;
    for l in primal.loops.enclosing(level) {
        let trips = match primal.trip_counts[l].count {
            Count::Constant(n) => n.saturating_add(1),
            _ => UNKNOWN,
        };
        weight = weight.saturating_mul(trips.max(1)).min(MOST);
    }
    weight
}
