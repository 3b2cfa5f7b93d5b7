//! The cheapest plan: a minimum cut between what the reverse sweep needs and what it cannot
//! compute.
//!
//! Every need is a pair of nodes, *asked* and *computed*. An edge from asked to computed costs
//! what caching the value costs: whoever cuts it caches. An edge from computed to the sink costs
//! what computing it once more costs, and is infinite if that is impossible. Edges from computed
//! to the operands asked are free to keep and infinite to cut: what is computed needs its
//! operands. So the cut pays for exactly one of both for each value that is needed.
//!
//! Memory that the program frees and that could stay until the reverse sweep is a node, too. Its edge
//! to the sink costs what it costs to let it stay. A load that can be repeated only then needs the
//! node, and the node needs what the reverse sweep frees the memory with.

use super::flow::{FlowGraph, INFINITE};
use super::kept;
use super::recipe::{Recipe, called_again, recipe, why_again};
use super::{Need, Plan, Source, Why};
use crate::analysis::activity::keepable::Group;
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::Count;
use crate::chaos::Choice;
use crate::ir::Module;
use crate::pipeline::Options;
use crate::planted::Defect;
use crate::primal::Primal;
use crate::reverse::Augmented;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Decides for every need, and for what the needs are computed from.
pub fn min_cut(
    module: &Module,
    options: &Options,
    primal: &Primal,
    augmented: &Augmented,
    needs: BTreeSet<Need>,
) -> Plan {
    let mut graph = FlowGraph::default();
    let mut cut = Cut {
        source: graph.add_node(),
        sink: graph.add_node(),
        graph,
        module,
        options,
        primal,
        augmented,
        nodes: HashMap::new(),
        groups: BTreeMap::new(),
        order: Vec::new(),
        open: Vec::new(),
        reasons: HashMap::new(),
    };
    for need in needs {
        cut.ask(cut.source, need);
    }
    for group in kept::kept_anyway(primal, augmented) {
        cut.keep(cut.source, group);
    }
    while let Some(need) = cut.open.pop() {
        cut.look_at(need);
    }
    cut.plan()
}

/// The graph under construction.
struct Cut<'a> {
    module: &'a Module,
    options: &'a Options,
    primal: &'a Primal,
    augmented: &'a Augmented,
    graph: FlowGraph,
    source: usize,
    sink: usize,
    /// The two nodes of each need.
    nodes: HashMap<Need, (usize, usize)>,
    /// The node of memory that may stay.
    groups: BTreeMap<Group, usize>,
    /// The needs in the order they came.
    order: Vec<Need>,
    /// Those whose computed node has no edges yet.
    open: Vec<Need>,
    reasons: HashMap<Need, Why>,
}

impl Cut<'_> {
    /// A node needs a value.
    fn ask(&mut self, node: usize, need: Need) {
        let (asked, _) = match self.nodes.get(&need) {
            Some(&pair) => pair,
            None => {
                let pair = (self.graph.add_node(), self.graph.add_node());
                self.nodes.insert(need, pair);
                self.order.push(need);
                self.open.push(need);
                pair
            }
        };
        self.graph.add_edge(node, asked, INFINITE);
    }

    /// A node needs memory to stay.
    fn keep(&mut self, node: usize, group: Group) {
        let memory = match self.groups.get(&group) {
            Some(&memory) => memory,
            None => {
                let memory = self.graph.add_node();
                self.groups.insert(group, memory);
                let cost = self
                    .by_chance((group, "stays"))
                    .unwrap_or_else(|| kept::cost(self.module, self.primal, self.augmented, group));
                self.graph.add_edge(memory, self.sink, cost);
                for need in kept::needs_of_free(self.module, self.primal, self.augmented, group) {
                    self.ask(memory, need);
                }
                memory
            }
        };
        self.graph.add_edge(node, memory, INFINITE);
    }

    /// Adds what a need costs and what it needs in turn.
    fn look_at(&mut self, need: Need) {
        let Cut {
            module,
            primal,
            augmented,
            ..
        } = *self;
        let (asked, computed) = self.nodes[&need];
        let ty = augmented.func.ty(need.value);
        let bytes = module.layout.store_size(ty);
        let block = augmented.def_block(need.value);
        let own = block.and_then(|block| primal.loops.innermost(block));
        let weight = weight(primal, own);
        let again =
            own == need.level && called_again(module, primal, augmented, need.value).is_some();
        let caching = match again {
            true => INFINITE,
            false => (self.by_chance((need, true)))
                .unwrap_or_else(|| cache_cost(primal, need, bytes, weight)),
        };
        self.graph.add_edge(asked, computed, caching);
        let anyway = primal.breaks(Defect::LiveOutRecomputed);
        let recipe = match own == need.level || anyway {
            true => recipe(module, primal, augmented, need.value),
            false => Recipe::Never(Why::UsedAfterLoop),
        };
        match (recipe, block) {
            (Recipe::From(operands, cost), Some(block)) => {
                let cost = match self.by_chance((need, false)) {
                    Some(_) if self.recomputes_whatever_it_can() => 0,
                    by_chance => by_chance.unwrap_or(cost.saturating_mul(weight)),
                };
                self.graph.add_edge(computed, self.sink, cost);
                for operand in operands {
                    if let Some(inner) = augmented.need(primal, operand, block) {
                        self.ask(computed, inner);
                    }
                }
                for group in kept::kept_for(primal, augmented, need.value) {
                    self.keep(computed, group);
                }
                self.reasons.insert(need, Why::CostsMore);
            }
            (Recipe::Never(why), _) => {
                self.graph.add_edge(computed, self.sink, INFINITE);
                self.reasons.insert(need, why);
            }
            (_, None) => self.graph.add_edge(computed, self.sink, INFINITE),
        }
    }

    /// By chance, costs have nothing to do with time, and differ much.
    fn by_chance(&self, about: impl std::hash::Hash) -> Option<u64> {
        let name = &self.primal.function.name;
        let number = self.options.chance(Choice::Cost, (name, about))?;
        Some(1 << (number % 8))
    }

    /// By chance, some functions do.
    fn recomputes_whatever_it_can(&self) -> bool {
        let taste = self
            .options
            .chance(Choice::Cost, &self.primal.function.name);
        taste.is_some_and(|taste| taste % 4 == 0)
    }

    /// Cuts the graph.
    fn plan(mut self) -> Plan {
        let near = self.graph.cut(self.source, self.sink);
        let stays = self.groups.iter().filter(|(_, memory)| near[**memory]);
        let mut plan = Plan {
            kept: stays.map(|(&group, _)| group).collect(),
            ..Plan::default()
        };
        for need in self.order {
            let (asked, computed) = self.nodes[&need];
            if !near[asked] {
                continue;
            }
            let source = match near[computed] {
                true => Source::Recompute,
                false => Source::Cache,
            };
            plan.sources.insert(need, source);
            let why = match source {
                Source::Cache => self.reasons.remove(&need),
                Source::Recompute => Some(why_again(
                    self.module,
                    self.primal,
                    self.augmented,
                    need.value,
                )),
            };
            plan.reasons.extend(why.map(|why| (need, why)));
        }
        plan
    }
}

/// What it costs to keep a value: to write it and to read it, its bytes on the way through the
/// caches, each time. Outside of loops the frame of a combined derivative is registers.
fn cache_cost(primal: &Primal, need: Need, bytes: u64, weight: u64) -> u64 {
    match need.level {
        None if primal.key.combined => 1 + bytes / 8,
        _ => weight.saturating_mul(8 + bytes),
    }
}

/// How often a loop runs of which that is not known, as a guess.
pub(super) const UNKNOWN_TRIPS: u64 = 64;

/// How often the body of a loop runs, as a guess.
pub fn weight(primal: &Primal, level: Option<Loop>) -> u64 {
    const MOST: u64 = 1 << 30;
    let mut weight: u64 = 1;
    for l in primal.loops.enclosing(level) {
        let trips = match primal.trip_counts[l].count {
            Count::Constant(n) => n.saturating_add(1),
            _ => UNKNOWN_TRIPS,
        };
        weight = weight.saturating_mul(trips.max(1)).min(MOST);
    }
    weight
}
