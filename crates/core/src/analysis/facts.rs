//! What is known of integers where control is: comparisons that led there, and bounds of counters.
//!
//! A fact is an affine form, without a base, that is not negative whenever a block runs in a call of
//! the function that returns. It is about exact integers: only sums that are promised not to wrap
//! are looked through. There are three sources.
//!
//! - A branch, one edge of which dominates the block: control came along it after the values that
//!   the branch compares got the values they still have.
//! - The test at the end of a loop, which the iteration before has passed. In the first iteration
//!   there was no such test, so the same must follow from what is known before the loop.
//! - A loop that ends when a value *equals* a bound, and in no other way: the value moves towards
//!   the bound and has not passed it yet.

use super::affine::{Affine, AffineValues, Factor, Wrap};
use super::cfg::Cfg;
use super::dominators::Dominators;
use super::inequality::{Known, Polynomial};
use super::loops::{Exit, Loop, Loops};
use super::trip_count::{comparison, swapped};
use crate::ir::{Block, Flags, Function, IntPred, Value};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// How much one proof may cost.
const FUEL: u32 = 100;

/// Answers questions about the blocks of one function in canonical form.
pub struct Facts<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    loops: &'a Loops,
    too_tight: bool,
    known: RefCell<HashMap<Block, Vec<Affine>>>,
}

impl<'a> Facts<'a> {
    /// Ready to answer questions about a function.
    pub fn new(
        func: &'a Function,
        cfg: &'a Cfg,
        dominators: &'a Dominators,
        loops: &'a Loops,
    ) -> Facts<'a> {
        Facts {
            too_tight: false,
            func,
            cfg,
            dominators,
            loops,
            known: RefCell::default(),
        }
    }

    /// The same with bounds that are one tighter than the program says, for tests of tests.
    pub fn too_tight(mut self, too_tight: bool) -> Facts<'a> {
        self.too_tight = too_tight;
        self
    }

    /// Forms that are not negative when a block runs. They mention counters of loops around the
    /// block only, and values that dominate it.
    pub fn at(&self, values: &AffineValues, block: Block) -> Vec<Affine> {
        if let Some(known) = self.known.borrow().get(&block) {
            return known.clone();
        }
        // What holds where the closest dominator runs still holds, unless it is about the counter
        // of a loop that has ended.
        let mut facts = match self.dominators.idom(block) {
            Some(above) => self.at(values, above),
            None => Vec::new(),
        };
        facts.retain(|fact| self.is_seen_from(fact, block));
        if let [(from, edge)] = *self.cfg.predecessors(block) {
            self.add_branch(values, from, edge, block, &mut facts);
        }
        if let Some(l) = self.loops.headed_by(block) {
            for exit in self.loops.exits(l) {
                self.add_exit(values, l, exit, &mut facts);
            }
        }
        let mut known = self.known.borrow_mut();
        known.insert(block, facts.clone());
        facts
    }

    /// The comparison of a branch, which dominates the block behind its edge.
    fn add_branch(
        &self,
        values: &AffineValues,
        from: Block,
        edge: usize,
        block: Block,
        facts: &mut Vec<Affine>,
    ) {
        let Some((pred, flags, x, y)) = comparison(self.func, from, edge) else {
            return;
        };
        let form = |value: Value| values.integer(value, Wrap::Signed, from);
        let (x, y) = (form(x), form(y));
        for fact in self.compared(pred, flags, &x, &y, facts) {
            if self.is_seen_from(&fact, block) {
                facts.push(fact);
            }
        }
        // A loop that waits for equality goes on: it has at least one step left.
        let innermost = self.loops.innermost(from);
        let Some(l) = innermost.filter(|_| pred == IntPred::Ne) else {
            return;
        };
        for exit in self.loops.exits(l) {
            if exit.from == from && exit.edge != edge {
                let fact = self.until_equal(values, l, exit, 1);
                facts.extend(fact.filter(|fact| self.is_seen_from(fact, block)));
            }
        }
    }

    /// What the test of an exit says of every iteration.
    fn add_exit(&self, values: &AffineValues, l: Loop, exit: &Exit, facts: &mut Vec<Affine>) {
        facts.extend(self.until_equal(values, l, exit, 0));
        let latches = self.loops.latches(l);
        let every_time = self.loops.innermost(exit.from) == Some(l)
            && latches
                .iter()
                .all(|&latch| self.dominators.dominates(exit.from, latch));
        let passed = comparison(self.func, exit.from, exit.edge ^ 1);
        let (Some((pred, flags, x, y)), true) = (passed, every_time) else {
            return;
        };
        let form = |value: Value| values.integer(value, Wrap::Signed, exit.from);
        let counter = Affine::product(vec![Factor::Counter(l)], 1);
        // The same one iteration earlier, and as it would have been before the first.
        let moved = |form: &Affine| -> Option<(Affine, Affine)> {
            let (step, start) = form.split(l)?;
            let fixed = values.is_invariant(&step, l) && values.is_invariant(&start, l);
            let before_first = start.minus(&step).filter(|_| fixed)?;
            let before = before_first.plus(&step.times(&counter)?)?;
            Some((before_first, before))
        };
        let (Some((x_first, x)), Some((y_first, y))) = (moved(&form(x)), moved(&form(y))) else {
            return;
        };
        let known = known(facts.iter());
        let first = self.compared(pred, flags, &x_first, &y_first, facts);
        let general = self.compared(pred, flags, &x, &y, facts);
        // Both are written by the same rule, so they come in the same order.
        if first.len() != general.len() {
            return;
        }
        for (first, fact) in first.iter().zip(general) {
            let holds = polynomial(first).is_some_and(|f| known.entails(&f, &Cell::new(FUEL)));
            if holds {
                facts.push(fact);
            }
        }
    }

    /// A loop whose only way to a return is that two values become equal moves towards that.
    fn until_equal(
        &self,
        values: &AffineValues,
        l: Loop,
        exit: &Exit,
        steps_left: i128,
    ) -> Option<Affine> {
        let mut exits = self.loops.exits(l).iter();
        let only = exits.all(|other| other == exit || !self.cfg.reaches_return(other.to));
        let (pred, _, x, y) = comparison(self.func, exit.from, exit.edge ^ 1)?;
        if !only || pred != IntPred::Ne || self.loops.innermost(exit.from) != Some(l) {
            return None;
        }
        let form = |value: Value| values.integer(value, Wrap::Signed, exit.from);
        let distance = form(y).minus(&form(x))?;
        let (step, start) = distance.split(l)?;
        let step = step.as_number()?;
        if distance.base.is_some() || !values.is_invariant(&start, l) {
            return None;
        }
        // At the end it is zero, so until then it has the sign that its steps take away.
        let left = step.checked_abs()?.checked_mul(steps_left)?;
        match step {
            0 => None,
            _ => (distance.scaled(-step.signum())?).minus(&Affine::number(left)),
        }
    }

    /// What a comparison that holds says.
    fn compared(
        &self,
        pred: IntPred,
        flags: Flags,
        x: &Affine,
        y: &Affine,
        facts: &[Affine],
    ) -> Vec<Affine> {
        // The order of addresses is that of unsigned numbers, of which nothing is known here.
        let address = x.base.is_some() || y.base.is_some();
        if address && pred != IntPred::Eq {
            return Vec::new();
        }
        let one = Affine::number(1 + i128::from(self.too_tight));
        let at_most = |x: &Affine, y: &Affine| y.minus(x);
        let below = |x: &Affine, y: &Affine| y.minus(x)?.minus(&one);
        let found = match pred {
            IntPred::Eq => vec![at_most(x, y), at_most(y, x)],
            IntPred::Ne => Vec::new(),
            IntPred::Slt => vec![below(x, y)],
            IntPred::Sle => vec![at_most(x, y)],
            IntPred::Sgt | IntPred::Sge | IntPred::Ugt | IntPred::Uge => {
                return self.compared(swapped(pred), flags, y, x, facts);
            }
            // What is below a number that is not negative is not negative either. Without that,
            // the order of unsigned numbers is that of signed ones only among those of one sign.
            IntPred::Ult | IntPred::Ule => {
                let known = known(facts.iter());
                let natural = polynomial(y).is_some_and(|y| known.entails(&y, &Cell::new(FUEL)));
                let order = match pred {
                    IntPred::Ult => below(x, y),
                    _ => at_most(x, y),
                };
                match (natural, flags.contains(Flags::SAMESIGN)) {
                    (true, _) => vec![order, Some(x.clone())],
                    (false, true) => vec![order],
                    (false, false) => Vec::new(),
                }
            }
        };
        let usable = |fact: &Affine| fact.base.is_none();
        found.into_iter().flatten().filter(usable).collect()
    }

    fn is_seen_from(&self, fact: &Affine, block: Block) -> bool {
        fact.factors().all(|factor| match factor {
            Factor::Counter(l) => self.loops.contains(l, block),
            _ => true,
        })
    }
}

/// Whether a symbol is never negative.
pub fn is_natural(factor: Factor) -> bool {
    !matches!(factor, Factor::Signed(_))
}

fn known<'f>(facts: impl Iterator<Item = &'f Affine>) -> Known<Factor> {
    Known::new(facts.filter_map(polynomial).collect(), is_natural)
}

/// An integer as a polynomial of its symbols.
fn polynomial(form: &Affine) -> Option<Polynomial<Factor>> {
    form.substituted(Polynomial::symbol)
}
