//! Raises loops to nests: sees the matrix product in the loop.
//!
//! Before: a function as the optimizer left it. After: loops that multiply and add up are `nest`
//! instructions, each as deep as the program's loops allow, with whatever else these loops did in
//! nests or loops before and after them. Everything else is as it was, and what the function
//! computes is the same, bit for bit: a nest adds in the order of its points.
//!
//! A *region* is a loop with all that is in it. It is read as a tree ([`read`]), sums move to where
//! they are stored ([`settle`]), its loops are distributed over its writes ([`distribute`]), and the
//! parts are written ([`emit`]). What cannot be known (that memory does not overlap, that all
//! indices are in bounds, that sizes do not wrap) is found out at run time ([`conditions`]); where
//! it does not hold, the loop itself runs, with the same panic if that is what it leads to.
//!
//! A region is worth it if some nest of it is a product of matrices: its reverse is again such nests,
//! for which there are kernels. (Of a matrix and a vector, loops are as good as nests.) Where the whole loop cannot
//! be raised, loops inside of it are tried.

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
mod tree;

use crate::analysis::affine::{Affine, AffineValues, Base, Factor};
use crate::analysis::alias::Aliases;
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::effects::Effects;
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::points_to::PointsTo;
use crate::analysis::trip_count::{TripCount, trip_counts};
use crate::ir::{
    BinaryOp, Block, Builder, Combiner, Edge, Func, Function, InstData, Loc, MathFn, Module, Op,
    Type, UnaryOp, Value,
};
use crate::planted::Defect;
use crate::simplify::canonical_loops;
use conditions::{Bound, Conditions, Terms};
use cranelift_entity::SecondaryMap;
use distribute::{Parts, Unit};
use emit::Emitter;
use read::Runs;
use std::collections::{BTreeSet, HashMap};
use tree::{Id, Node, Place, Tree};

/// An expression of more factors than this is no product that anybody would write.
const MOST_FACTORS: usize = 8;

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
    if !may_compute(&module.funcs[func]) {
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
    let slots = slots(&mut function, &loops);
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
        if is_done || when == Raise::Never || !is_promising(&analyses, l, when) {
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
        Ok(plan) if when == Raise::Always || plan.is_worth_it() => Ok(Way::Raise(Box::new(plan))),
        Ok(_) => Ok(Way::Keep),
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
    let bases = bases(&tree, &parts);
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

impl Plan {
    fn is_worth_it(&self) -> bool {
        let units = &self.parts.units;
        let has_contraction = units.iter().any(|unit| self.has_contraction(unit));
        has_contraction && !units.iter().any(Plan::chooses_in_a_loop)
    }

    /// Whether a loop that stays has maxima or the like in it, such as those of the rows of a softmax.
    /// What is done with each row then is done by loops, which analyses know more of than of nests: where
    /// the rows are small, keeping their numbers would cost more than the products gain.
    fn chooses_in_a_loop(unit: &Unit) -> bool {
        let mut chooses = false;
        if let Unit::Loop(..) = unit {
            unit.for_each_write(&mut |write| {
                chooses |= !matches!(write.join.combiner, Combiner::Store | Combiner::Sum);
            });
        }
        chooses
    }

    fn has_contraction(&self, unit: &Unit) -> bool {
        match unit {
            Unit::Nest(nest, write) => {
                write.join.combiner == Combiner::Sum
                    && self.is_product(&nest.loops, &write.place, write.value)
            }
            Unit::Loop(_, units) => units.iter().any(|unit| self.has_contraction(unit)),
        }
    }

    /// Whether an expression that is added up has a term for which there are kernels: a product of two
    /// numbers from memory, each of which is used again where the other and the place of the sum are
    /// not. What else is multiplied is the same for all of them.
    fn is_product(&self, loops: &[Loop], place: &Place, id: Id) -> bool {
        if let Node::Op(data, _, args) = self.tree.node(id)
            && matches!(data.op, Op::Binary(BinaryOp::FAdd | BinaryOp::FSub))
        {
            return args.iter().any(|&arg| self.is_product(loops, place, arg));
        }
        let mut factors = Vec::new();
        self.factors(id, &mut factors);
        let has = |place: &Place, l: Loop| {
            let mut factors = place.address.factors();
            factors.any(|factor| factor == Factor::Counter(l))
        };
        let moves = |id: Id, l: Loop| {
            let mut moves = false;
            self.tree
                .for_each_load(id, &mut |_, place, _| moves |= has(place, l));
            moves
        };
        let needed = [
            [true, true, false],
            [true, false, true],
            [false, true, true],
        ];
        let is_load = |id: Id| matches!(self.tree.node(id), Node::Load(..));
        let pairs = (0..factors.len()).flat_map(|i| (i + 1..factors.len()).map(move |j| [i, j]));
        let mut pairs = pairs.filter(|pair| pair.iter().all(|&at| is_load(factors[at])));
        pairs.any(|[i, j]| {
            let role = |l: Loop| [has(place, l), moves(factors[i], l), moves(factors[j], l)];
            let others = (0..factors.len()).filter(|&at| at != i && at != j);
            let others: Vec<Id> = others.map(|at| factors[at]).collect();
            let same = |l: Loop| others.iter().all(|&factor| !moves(factor, l));
            let roles = loops.iter().filter(|&&l| same(l)).map(|&l| role(l));
            let roles: Vec<[bool; 3]> = roles.collect();
            needed.iter().all(|role| roles.contains(role))
        })
    }

    /// What an expression is the product of.
    fn factors(&self, id: Id, found: &mut Vec<Id>) {
        match self.tree.node(id) {
            Node::Op(data, _, args)
                if found.len() < MOST_FACTORS
                    && matches!(
                        data.op,
                        Op::Binary(BinaryOp::FMul) | Op::Unary(UnaryOp::FNeg)
                    ) =>
            {
                for &arg in args {
                    self.factors(arg, found);
                }
            }
            _ => found.push(id),
        }
    }
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

/// Whether a function stores numbers or hands them on at all.
fn may_compute(function: &Function) -> bool {
    let is_float = |value: Value| function.ty(value).float_kind().is_some();
    let computes = |&block: &Block| {
        let mut insts = function.block_insts(block).iter();
        insts.any(|&inst| function.result(inst).is_some_and(is_float))
    };
    function.blocks().iter().any(computes)
}

fn is_multiplication(op: &Op) -> bool {
    matches!(op, Op::Binary(BinaryOp::FMul) | Op::Math(MathFn::Fmuladd))
}

/// Whether a loop may be worth it, and is small enough to look at: it multiplies in a loop inside of
/// it, unless it need not be worth anything.
fn is_promising(analyses: &Analyses, l: Loop, when: Raise) -> bool {
    const LARGEST: usize = 600;
    let (func, loops) = (analyses.func, analyses.loops);
    let blocks = loops.blocks(l);
    let size: usize = blocks.iter().map(|&b| func.block_insts(b).len()).sum();
    let multiplies = |&block: &Block| {
        let mut insts = func.block_insts(block).iter();
        loops.innermost(block) != Some(l)
            && insts.any(|&inst| is_multiplication(&func.inst(inst).op))
    };
    size <= LARGEST && (when == Raise::Always || blocks.iter().any(multiplies))
}

/// Frame memory for each float that a loop carries.
fn slots(function: &mut Function, loops: &Loops) -> HashMap<Value, Value> {
    let mut slots = HashMap::new();
    for l in loops.iter() {
        for param in function.block_params(loops.header(l)).to_vec() {
            let ty = function.ty(param);
            let Some(kind) = ty.float_kind() else {
                continue;
            };
            let one = function.iconst(Type::i64(), 1);
            let op = Op::Alloca {
                ty,
                align: kind.bytes().next_power_of_two(),
            };
            let inst = function.make_inst(InstData::new(op, vec![one]), Type::ptr());
            slots.extend(function.result(inst).map(|slot| (param, slot)));
        }
    }
    slots
}

/// Writes what is done when a region is about to be entered.
struct Writer<'a> {
    trips: &'a SecondaryMap<Loop, TripCount>,
    counters: HashMap<Loop, Value>,
}

impl Writer<'_> {
    /// Puts the way into a region in front of its loop.
    fn write(&self, function: &mut Function, loops: &Loops, l: Loop, way: &Way) {
        let Some(preheader) = loops.preheader(l) else {
            return;
        };
        let mut insts = function.block_insts(preheader).to_vec();
        let jump = insts.pop();
        function.set_block_insts(preheader, insts);
        let old = function.add_block();
        if let Some(jump) = jump {
            function.attach_inst(old, jump);
        }
        self.way(function, preheader, old, way);
    }

    fn way(&self, function: &mut Function, block: Block, old: Block, way: &Way) {
        let to = |block: Block| Edge {
            block,
            args: Vec::new(),
        };
        match way {
            Way::Keep => Builder::new(function, block).jump(old, Vec::new()),
            Way::Fork(condition, yes, no) => {
                let (then, other) = (function.add_block(), function.add_block());
                Builder::new(function, block).branch(*condition, to(then), to(other));
                self.way(function, then, old, yes);
                self.way(function, other, old, no);
            }
            Way::Raise(plan) => self.plan(function, block, old, plan),
        }
    }

    fn plan(&self, function: &mut Function, mut block: Block, old: Block, plan: &Plan) {
        let to = |block: Block| Edge {
            block,
            args: Vec::new(),
        };
        attach_slots(function, plan);
        let mut b = Builder::new(function, block);
        let around = |l: Loop| self.counters[&l];
        let counts = emit::counts(self.trips, plan, &mut b, &around);
        let count = |l: Loop| counts.get(&l).copied().unwrap_or_else(|| around(l));
        if let Some(holds) = plan.conditions.materialize(&mut b, &count) {
            let raised = b.func.add_block();
            b.branch(holds, to(raised), to(old));
            block = raised;
        }
        let mut emitter = Emitter {
            tree: &plan.tree,
            bounds: &plan.bounds,
            counts,
            counters: self.counters.clone(),
        };
        let end = emitter.units(function, block, &plan.parts.units);
        let mut b = Builder::new(function, end);
        if let Some(&count) = emitter.counts.get(&plan.region) {
            let last = match plan.runs.get(&plan.region) {
                Some(Runs::OnceMore) => {
                    let one = b.func.iconst(Type::i64(), 1);
                    b.sub(count, one)
                }
                _ => count,
            };
            emitter.counters.insert(plan.region, last);
        }
        let params = b.func.block_params(plan.exit).to_vec();
        let results = plan.tree.results.iter().zip(params);
        let results = results.map(|(result, param)| match result {
            Some(id) => emitter.value(&mut b, *id),
            None => {
                let ty = b.func.ty(param);
                b.func.zero(ty)
            }
        });
        let results = results.collect();
        b.jump(plan.exit, results);
    }
}

/// The memory that the parts of a region touch.
fn bases(tree: &Tree, parts: &Parts) -> Vec<Base> {
    let mut bases = Vec::new();
    for unit in &parts.units {
        unit.for_each_write(&mut |write| {
            bases.extend(write.place.address.base);
            let mut note = |_, place: &Place, _| bases.extend(place.address.base);
            tree.for_each_load(write.value, &mut note);
        });
    }
    for id in tree.results.iter().flatten() {
        tree.for_each_load(*id, &mut |_, place, _| bases.extend(place.address.base));
    }
    bases
}

/// Makes the slots that are left part of the function.
fn attach_slots(function: &mut Function, plan: &Plan) {
    let entry = function.entry();
    for base in bases(&plan.tree, &plan.parts) {
        let inst = match base {
            Base::Value(slot) => function.def_inst(slot),
            Base::Symbol(_) => None,
        };
        let Some(inst) = inst else {
            continue;
        };
        let detached = matches!(function.inst(inst).op, Op::Alloca { .. })
            && function.inst_blocks()[inst].is_none();
        if detached {
            let mut insts = function.block_insts(entry).to_vec();
            insts.insert(0, inst);
            function.set_block_insts(entry, insts);
        }
    }
}
