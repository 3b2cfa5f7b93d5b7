//! Two accesses at two moments, apart by what is known of the symbols in their addresses.
//!
//! Both addresses have one base and are exact, so the bytes are apart if the distance between the
//! addresses, as a polynomial of integers, is never less than the size of what is read, or never
//! more than minus the size of what is written. The polynomial is about two moments: a symbol that
//! has one value at both is one symbol, any other is two, and the counter of the loop in a later
//! iteration of which the write happens is that of the read, one, and a number of iterations that is
//! not negative. The facts that hold where the read is hold of the symbols of its moment, those where
//! the write is of the symbols of the other.

use super::pairs::Analysis;
use super::writes::Touch;
use crate::analysis::affine::{Affine, Factor};
use crate::analysis::facts::is_natural;
use crate::analysis::inequality::{Known, Polynomial};
use crate::analysis::loops::Loop;
use std::cell::Cell;

/// What all proofs for one function may cost.
pub(super) const FUEL: u32 = 100_000;
/// What one proof may cost.
const MOST: u32 = 300;

/// A symbol of one moment or of both.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Symbol {
    Both(Factor),
    At(Moment, Factor),
    /// How many iterations later than the next one the write is.
    Gap,
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Moment {
    Read,
    Write,
}

impl Analysis<'_> {
    /// Whether a write is shown to miss a read: in the same iteration of the loops around both, or,
    /// given a loop, in a later iteration of that loop and the same one of the loops around it.
    pub(super) fn is_shown_apart(
        &self,
        read: &Touch,
        write: &Touch,
        common: Option<Loop>,
        later: Option<Loop>,
    ) -> bool {
        let (from, to) = (&read.location, &write.location);
        let (Some(read_size), Some(write_size)) = (from.size, to.size) else {
            return false;
        };
        if self.fuel.get() == 0 {
            return false;
        }
        let values = self.aliases.values();
        let from_form = values.exact_address(from.pointer, from.block);
        let to_form = values.exact_address(to.pointer, to.block);
        // Between different bases there is no distance.
        if from_form.base != to_form.base || !self.base_is_shared(&from_form, common, later) {
            return false;
        }
        let at = |moment: Moment, form: &Affine| {
            form.substituted(|factor| self.symbol(moment, factor, common, later))
        };
        let distance = || at(Moment::Write, &to_form)?.minus(&at(Moment::Read, &from_form)?);
        let Some(distance) = distance() else {
            return false;
        };
        // A constant distance has been looked at before.
        if distance.is_number() {
            return false;
        }
        let mut facts = Vec::new();
        for (moment, block) in [(Moment::Read, from.block), (Moment::Write, to.block)] {
            for fact in self.facts.at(values, block) {
                facts.extend(at(moment, &fact));
            }
        }
        let known = Known::new(facts, |symbol| match symbol {
            Symbol::Both(factor) | Symbol::At(_, factor) => is_natural(factor),
            Symbol::Gap => true,
        });
        let number = |n: u64| Polynomial::number(i128::from(n));
        let behind = distance.minus(&number(read_size));
        let before = number(0).minus(&distance);
        let before = before.and_then(|before| before.minus(&number(write_size)));
        [behind, before].into_iter().flatten().any(|goal| {
            let most = self.fuel.get().min(MOST);
            let fuel = Cell::new(most);
            let shown = known.entails(&goal, &fuel);
            self.fuel.set(self.fuel.get() - (most - fuel.get()));
            shown
        })
    }

    /// What a symbol at one of the moments is in terms of both.
    fn symbol(
        &self,
        moment: Moment,
        factor: Factor,
        common: Option<Loop>,
        later: Option<Loop>,
    ) -> Polynomial<Symbol> {
        let made_in = match factor {
            Factor::Counter(l) => Some(l),
            Factor::Signed(value) | Factor::Unsigned(value) => self.loop_of(value),
        };
        let both = Polynomial::symbol(Symbol::Both(factor));
        if self.is_shared(made_in, common, later) {
            return both;
        }
        match (factor, moment) {
            (Factor::Counter(l), Moment::Read) if later == Some(l) => both,
            (Factor::Counter(l), Moment::Write) if later == Some(l) => {
                let gap = Polynomial::symbol(Symbol::Gap);
                let next = both.plus(&Polynomial::number(1));
                let next = next.and_then(|next| next.plus(&gap));
                next.unwrap_or_else(|| Polynomial::symbol(Symbol::At(moment, factor)))
            }
            _ => Polynomial::symbol(Symbol::At(moment, factor)),
        }
    }
}
