//! Raises loops to nests: sees the matrix product in the loop.
//!
//! Before: a function as the optimizer left it. After: loops that multiply and add up are `nest`
//! instructions, each as deep as the program's loops allow, with whatever else these loops did in
//! nests or loops before and after them. Everything else is as it was, and what the function
//! computes is the same, bit for bit: a nest adds in the order of its points.
//!
//! A *region* is a loop with all that is in it. It is read as a tree ([`read`]), in which floats that
//! loops carry are in memory ([`slots`]); conditions that only say that a loop runs at all are forgotten
//! ([`guards`]), sums move to where they are stored ([`settle`]), and its loops are distributed over its
//! writes ([`distribute`]). The parts stand beside the loop ([`write`](mod@write), [`emit`]). What cannot
//! be known (that memory does not overlap, that all indices are in bounds, that sizes do not wrap) is
//! found out at run time ([`conditions`]); where it does not hold, the loop itself runs, with the same
//! panic if that is what it leads to.
//!
//! A region is worth it ([`worth`]) if some nest of it is a product of matrices: its reverse is again such
//! nests, for which there are kernels. (Of a matrix and a vector, loops are as good as nests.) Where the
//! whole loop cannot be raised, loops inside of it are tried.

mod arrays;
mod conditions;
pub mod describe;
mod distribute;
mod emit;
mod fills;
mod guards;
pub mod look;
mod merge;
mod read;
pub mod searches;
mod settle;
mod slots;
mod tree;
mod worth;
mod write;

use crate::analysis::affine::{Affine, AffineValues, Base, Factor};
use crate::analysis::alias::Aliases;
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::effects::Effects;
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::points_to::PointsTo;
use crate::analysis::trip_count::{TripCount, trip_counts};
use crate::ir::{Block, Func, Function, Loc, Module, Value};
use crate::planted::Defect;
use crate::simplify::canonical_loops;
use conditions::{Bound, Conditions, Terms};
use cranelift_entity::SecondaryMap;
use distribute::Parts;
use read::Runs;
use std::collections::{BTreeSet, HashMap};
use tree::Tree;
use write::Writer;

/// What was raised in a function, and what almost was.
#[derive(Clone, Debug, Default)]
pub struct Raised {
    /// Whether the function has changed.
    pub changed: bool,
    /// The nests, each with the loops that it was.
    pub nests: Vec<Extent>,
    /// Loops that multiply and add up but could not be raised, and why.
    pub refused: Vec<Refused>,
}

/// A loop that was not raised.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Where it is, at what stood in the way.
    pub extent: Extent,
    /// What stood in the way.
    pub reason: &'static str,
}

/// A loop with all that is in it, as far as the source program goes.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// The place that there is something to say of.
    pub at: Option<Loc>,
    /// The places of all its instructions.
    pub all: BTreeSet<Loc>,
}

impl Extent {
    fn new(func: &Function, loops: &Loops, l: Loop, at: Option<Loc>) -> Extent {
        let all = func.locs(loops.blocks(l));
        Extent { at, all }
    }
}

/// Which loops become nests.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Raise {
    /// None.
    Never,
    /// Those with a product of matrices in them.
    #[default]
    Worthwhile,
    /// All that can, for tests.
    Always,
}

/// Raises the loops of a function. `wanted` says of each loop when it is to become nests.
pub fn run(
    module: &mut Module,
    func: Func,
    effects: &Effects,
    wanted: &dyn Fn(Loop) -> Raise,
    planted: Option<Defect>,
) -> Raised {
    let mut raised = Raised::default();
    if !worth::may_compute(&module.funcs[func]) {
        return raised;
    }
    let mut function = module.funcs[func].clone();
    fills::run(module, &mut function);
    let Ok(canonical) = canonical_loops::run(&mut function) else {
        return raised;
    };
    let cfg = Cfg::new(&function);
    let dominators = Dominators::new(&function, &cfg);
    let Ok(loops) = Loops::new(&function, &cfg, &dominators) else {
        return raised;
    };
    let slots = slots::make(&mut function, &loops);
    let trips = trip_counts(&function, &cfg, &dominators, &loops);
    let points_to = PointsTo::new(&function, effects);
    let aliases = Aliases::new(module, &function, &cfg, &loops, &points_to);
    let analyses = Analyses {
        module,
        func: &function,
        cfg: &cfg,
        loops: &loops,
        trips: &trips,
        affine: AffineValues::optimistic(&function, &cfg, &loops),
        aliases: &aliases,
        slots: &slots,
        uses: function.use_counts(),
        planted,
    };
    let mut done: Vec<Loop> = Vec::new();
    let mut ways = Vec::new();
    for l in loops.iter() {
        let when = wanted(l);
        let is_done = done.iter().any(|&outer| loops.is_inside(l, outer));
        if is_done || when == Raise::Never || !worth::is_promising(&analyses, l, when) {
            continue;
        }
        match attempt(&analyses, l, when, &mut Vec::new()) {
            Ok(way) if way.raises() => {
                done.push(l);
                ways.push((l, way));
            }
            Ok(_) => {}
            Err(Stop::Refused(reason, loc)) => {
                let at = loc.or_else(|| emit::first_loc(&analyses, l));
                // The same was told of a loop around it.
                let is_known = |known: &Refused| (known.reason, known.extent.at) == (reason, at);
                if !raised.refused.iter().any(is_known) {
                    let extent = Extent::new(&function, &loops, l, at);
                    raised.refused.push(Refused { extent, reason });
                }
            }
            Err(_) => {}
        }
    }
    if ways.is_empty() {
        return raised;
    }
    drop(analyses);
    for (_, way) in &ways {
        way.for_each_nest(&mut |outermost, at| {
            let extent = Extent::new(&function, &loops, outermost, at);
            raised.nests.push(extent);
        });
    }
    for (l, way) in &ways {
        // The counters of the loops around it.
        let around = loops.enclosing(loops.parent(*l));
        let counter = |l: Loop| Some((l, *canonical.counters.get(&loops.header(l))?));
        let writer = Writer {
            trips: &trips,
            counters: around.filter_map(counter).collect(),
        };
        writer.write(&mut function, &loops, *l, way);
    }
    // Loops that never run any more are gone.
    if canonical_loops::run(&mut function).is_ok() {
        module.funcs[func] = function;
        raised.changed = true;
    }
    raised
}

/// Why a region is not raised if one of its loops has no bound that is known before.
const BOUND_DEPENDS: &str = "how often a loop runs depends on what the loops around it do";

/// Why a region is not raised.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// Because of this, at this place.
    Refused(&'static str, Option<Loc>),
    /// It depends on this condition, which is known before the region begins.
    Fork(Value),
    /// It is none of the loops that one would expect to be raised.
    Silent,
}

/// What is known of the function whose loops are raised.
pub(crate) struct Analyses<'a> {
    module: &'a Module,
    func: &'a Function,
    cfg: &'a Cfg,
    loops: &'a Loops,
    trips: &'a SecondaryMap<Loop, TripCount>,
    affine: AffineValues<'a>,
    aliases: &'a Aliases<'a>,
    /// Frame memory for each float that a loop carries. It is not part of the function yet.
    slots: &'a HashMap<Value, Value>,
    uses: SecondaryMap<Value, u32>,
    planted: Option<Defect>,
}

impl Analyses<'_> {
    /// Whether a form has nothing in it but counters and values from outside of a region.
    fn is_plain(&self, form: &Affine, region: Loop) -> bool {
        let outside = |value: Value| {
            let block = self.affine.def_block(value);
            block.is_none_or(|block| !self.loops.contains(region, block))
        };
        let base = match form.base {
            Some(Base::Value(value)) => outside(value),
            _ => true,
        };
        base && form.factors().all(|factor| match factor {
            Factor::Counter(_) => true,
            Factor::Signed(value) | Factor::Unsigned(value) => outside(value),
        })
    }
}

/// What is done when a region is about to be entered.
enum Way {
    /// The loop runs.
    Keep,
    /// It depends.
    Fork(Value, Box<Way>, Box<Way>),
    /// The parts run, if the conditions hold.
    Raise(Box<Plan>),
}

/// A region in parts.
struct Plan {
    tree: Tree,
    parts: Parts,
    runs: HashMap<Loop, Runs>,
    bounds: HashMap<Loop, Bound>,
    conditions: Conditions,
    region: Loop,
    exit: Block,
}

impl Way {
    fn raises(&self) -> bool {
        match self {
            Way::Keep => false,
            Way::Fork(_, yes, no) => yes.raises() || no.raises(),
            Way::Raise(_) => true,
        }
    }

    /// Calls `f` on the outermost loop of every nest, and the place of what the nest writes.
    fn for_each_nest(&self, f: &mut dyn FnMut(Loop, Option<Loc>)) {
        match self {
            Way::Keep => {}
            Way::Fork(_, yes, no) => {
                yes.for_each_nest(f);
                no.for_each_nest(f);
            }
            Way::Raise(plan) => {
                for unit in &plan.parts.units {
                    unit.for_each_nest(&mut |domain, write| {
                        domain.loops.first().inspect(|&&l| f(l, write.loc));
                    });
                }
            }
        }
    }
}

/// How many conditions from outside a region may depend on.
const MOST_FORKS: usize = 2;

/// Finds out how a region can be raised, given some conditions.
fn attempt(
    analyses: &Analyses,
    l: Loop,
    when: Raise,
    assumed: &mut Vec<(Value, bool)>,
) -> Result<Way, Stop> {
    match examine(analyses, l, assumed) {
        Ok(plan) if when == Raise::Always => Ok(Way::Raise(Box::new(plan))),
        Ok(plan) => Ok(match plan.is_worth_it()? {
            true => Way::Raise(Box::new(plan)),
            false => Way::Keep,
        }),
        Err(Stop::Fork(condition)) if assumed.len() < MOST_FORKS => {
            let mut side = |way: bool| {
                assumed.push((condition, way));
                let found = attempt(analyses, l, when, assumed);
                assumed.pop();
                found
            };
            match (side(true), side(false)) {
                (Err(stop), Err(_)) => Err(stop),
                (yes, no) => {
                    let kept = |way: Result<Way, Stop>| Box::new(way.unwrap_or(Way::Keep));
                    Ok(Way::Fork(condition, kept(yes), kept(no)))
                }
            }
        }
        Err(Stop::Fork(_)) => Err(Stop::Refused("it branches", emit::first_loc(analyses, l))),
        Err(stop) => Err(stop),
    }
}

fn examine(analyses: &Analyses, l: Loop, assumed: &[(Value, bool)]) -> Result<Plan, Stop> {
    if is_used_outside(analyses, l) {
        return Err(Stop::Silent);
    }
    let read::Read {
        mut tree,
        checks,
        runs,
        sunk,
        lifetimes,
        begins_scopes,
        exit,
    } = read::read(analyses, l, assumed)?;
    let mut terms = Terms {
        analyses,
        region: l,
        runs: &runs,
        begins_scopes,
        conditions: Conditions::default(),
        bounds: HashMap::new(),
    };
    let refuse = |reason| Stop::Refused(reason, emit::first_loc(analyses, l));
    let bounds = terms.find_bounds();
    bounds.ok_or_else(|| refuse(BOUND_DEPENDS))?;
    guards::settle(&mut terms, &mut tree)
        .map_err(|guarded| Stop::Refused(BOUND_DEPENDS, emit::first_loc(analyses, guarded)))?;
    for check in &checks {
        let reason = "a check inside of the loop cannot be made before it";
        terms.succeeds(check).ok_or_else(|| refuse(reason))?;
    }
    for (value, bits, signed, form) in analyses.affine.assumptions() {
        let block = analyses.affine.def_block(value);
        if block.is_some_and(|block| analyses.loops.contains(l, block)) {
            let reason = "an index may wrap, and that cannot be ruled out before the loop";
            terms
                .fits(&form, bits, signed)
                .ok_or_else(|| refuse(reason))?;
        }
    }
    for (place, begin, end) in &sunk {
        let reason = "what it adds up in memory may be read before the sum is complete";
        let unseen = settle::is_unseen_in(&mut terms, &tree, place, (*begin, *end));
        unseen.ok_or_else(|| refuse(reason))?;
    }
    settle::settle(&mut terms, &mut tree);
    let parts = distribute::distribute(&mut terms, &tree);
    let mut parts =
        parts.ok_or_else(|| refuse("memory that is read may be written before it is used"))?;
    merge::merge(&mut terms, &mut tree, &mut parts.units);
    let bases = parts.bases(&tree);
    if lifetimes
        .iter()
        .any(|&memory| bases.contains(&Base::Value(memory)))
    {
        return Err(refuse(
            "an array of the frame is not only copied to other memory",
        ));
    }
    let Terms {
        conditions, bounds, ..
    } = terms;
    conditions
        .limits()
        .ok_or_else(|| refuse("its sizes are too large to compute with"))?;
    Ok(Plan {
        tree,
        parts,
        runs,
        bounds,
        conditions,
        region: l,
        exit,
    })
}

/// Whether anything of a region is used after it other than through the edge that leaves it.
fn is_used_outside(analyses: &Analyses, l: Loop) -> bool {
    let func = analyses.func;
    let outside = func
        .blocks()
        .iter()
        .filter(|&&block| !analyses.loops.contains(l, block));
    let mut used = false;
    for &block in outside.filter(|&&block| analyses.cfg.reaches_return(block)) {
        for &inst in func.block_insts(block) {
            func.inst(inst).for_each_operand(|value| {
                let def = analyses.affine.def_block(value);
                used |= def.is_some_and(|def| analyses.loops.contains(l, def));
            });
        }
    }
    used
}
