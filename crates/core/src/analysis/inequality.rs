//! Proofs that a polynomial of integers is never negative, from others that are not.
//!
//! A proof of `goal ≥ 0` writes a positive multiple of the goal as a sum of known polynomials, each
//! times a product of symbols that are not negative, and a rest whose coefficients and symbols are
//! not negative. It is found by cancelling the terms of the goal that could be negative, one by
//! one, with a known polynomial that has the same term. All numbers are exact: a number that gets
//! too large ends the search without a proof.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// How many terms are cancelled on the way to one proof at most.
const MAX_DEPTH: u32 = 6;
/// The largest number of terms worth keeping.
const MAX_TERMS: usize = 40;

/// A sum of products of symbols with coefficients.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Polynomial<S> {
    /// Coefficients, none of them zero, by the product that they scale (symbols in order).
    terms: BTreeMap<Vec<S>, i128>,
}

impl<S: Copy + Ord> Polynomial<S> {
    /// A constant.
    pub fn number(n: i128) -> Polynomial<S> {
        let constant = (n != 0).then_some((Vec::new(), n));
        Polynomial {
            terms: constant.into_iter().collect(),
        }
    }

    /// A symbol.
    pub fn symbol(symbol: S) -> Polynomial<S> {
        Polynomial {
            terms: BTreeMap::from([(vec![symbol], 1)]),
        }
    }

    /// Whether this is a constant.
    pub fn is_number(&self) -> bool {
        self.terms.keys().all(|product| product.is_empty())
    }

    /// The sum.
    pub fn plus(&self, other: &Polynomial<S>) -> Option<Polynomial<S>> {
        self.plus_multiple(other, &[], 1)
    }

    /// The difference.
    pub fn minus(&self, other: &Polynomial<S>) -> Option<Polynomial<S>> {
        self.plus_multiple(other, &[], -1)
    }

    /// The product.
    pub fn times(&self, other: &Polynomial<S>) -> Option<Polynomial<S>> {
        let mut sum = Polynomial::number(0);
        for (product, &coefficient) in &other.terms {
            sum = sum.plus_multiple(self, product, coefficient)?;
        }
        Some(sum)
    }

    /// This and `coefficient · product` times another.
    fn plus_multiple(
        &self,
        other: &Polynomial<S>,
        product: &[S],
        coefficient: i128,
    ) -> Option<Polynomial<S>> {
        let mut sum = self.clone();
        for (symbols, &c) in &other.terms {
            let mut symbols = [symbols.as_slice(), product].concat();
            symbols.sort_unstable();
            let old = sum.terms.get(&symbols).copied().unwrap_or(0);
            match old.checked_add(c.checked_mul(coefficient)?)? {
                0 => sum.terms.remove(&symbols),
                new => sum.terms.insert(symbols, new),
            };
        }
        (sum.terms.len() <= MAX_TERMS).then_some(sum)
    }
}

/// What is known of some symbols.
pub struct Known<S> {
    /// Polynomials that are not negative.
    facts: Vec<Polynomial<S>>,
    /// Whether a symbol never is, whatever the facts say.
    is_natural: fn(S) -> bool,
    /// Symbols that the facts show not to be.
    not_negative: BTreeSet<S>,
}

impl<S: Copy + Ord> Known<S> {
    /// What follows from polynomials that are not negative, where some symbols never are.
    pub fn new(facts: Vec<Polynomial<S>>, is_natural: fn(S) -> bool) -> Known<S> {
        let mut known = Known {
            facts,
            is_natural,
            not_negative: BTreeSet::new(),
        };
        while let Some(symbol) = known
            .facts
            .iter()
            .find_map(|fact| known.bounded_below(fact))
        {
            known.not_negative.insert(symbol);
        }
        known
    }

    /// The symbol that a fact says is at least as large as something that is not negative.
    fn bounded_below(&self, fact: &Polynomial<S>) -> Option<S> {
        let mut positive = fact.terms.iter().filter(|(_, c)| **c > 0);
        let (Some((product, _)), None) = (positive.next(), positive.next()) else {
            return None;
        };
        let &[symbol] = product.as_slice() else {
            return None;
        };
        let mut rest = fact.terms.iter().filter(|(_, c)| **c < 0);
        let new = !self.is_not_negative(&[symbol]);
        (new && rest.all(|(product, _)| self.is_not_negative(product))).then_some(symbol)
    }

    fn is_not_negative(&self, product: &[S]) -> bool {
        let mut symbols = product.iter();
        symbols.all(|s| (self.is_natural)(*s) || self.not_negative.contains(s))
    }

    /// Whether a polynomial is shown to be never negative. `fuel` pays for the search.
    pub fn entails(&self, goal: &Polynomial<S>, fuel: &Cell<u32>) -> bool {
        // Short proofs first, so that a detour does not use up the fuel.
        (0..=MAX_DEPTH).any(|depth| self.search(goal, depth, fuel))
    }

    fn search(&self, goal: &Polynomial<S>, depth: u32, fuel: &Cell<u32>) -> bool {
        // Long products first: what cancels them rarely brings others of their length.
        let bad = |(product, c): &(&Vec<S>, &i128)| **c < 0 || !self.is_not_negative(product);
        let longest = goal.terms.iter().filter(bad).max_by_key(|(p, _)| p.len());
        let Some((product, &coefficient)) = longest else {
            return true;
        };
        if depth == 0 {
            return false;
        }
        let terms = (self.facts.iter())
            .flat_map(|fact| fact.terms.iter().map(move |(part, &c)| (fact, part, c)))
            .filter(|(_, _, c)| (*c < 0) == (coefficient < 0));
        let mut ways: Vec<_> = terms
            .filter_map(|(fact, part, c)| Some((without(product, part)?, fact, c)))
            .filter(|(rest, _, _)| self.is_not_negative(rest))
            .collect();
        ways.sort_by_key(|(rest, _, _)| rest.len());
        ways.into_iter().any(|(rest, fact, c)| {
            if fuel.get() == 0 {
                return false;
            }
            fuel.set(fuel.get() - 1);
            // |c| · goal = |coefficient| · rest · fact + what is left to show.
            let scaled = goal.times(&Polynomial::number(c.abs()));
            let less = coefficient.abs().checked_neg();
            let left = scaled
                .zip(less)
                .and_then(|(goal, less)| goal.plus_multiple(fact, &rest, less));
            left.is_some_and(|left| self.search(&left, depth - 1, fuel))
        })
    }
}

/// The symbols of a product that remain when it is divided by another; both are in order.
fn without<S: Copy + Ord>(product: &[S], part: &[S]) -> Option<Vec<S>> {
    let mut rest = Vec::new();
    let mut part = part.iter().peekable();
    for &symbol in product {
        match part.next_if(|&&p| p == symbol) {
            Some(_) => {}
            None => rest.push(symbol),
        }
    }
    part.peek().is_none().then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Sum = Polynomial<char>;

    /// `"2xy - 3x + 1"`, each term with a sign before it but the first.
    fn sum(text: &str) -> Sum {
        let text = text.replace(" - ", " + -");
        text.split(" + ").fold(Sum::number(0), |total, term| {
            let letters: Vec<char> = term.chars().filter(|c| c.is_alphabetic()).collect();
            let digits: String = term.chars().filter(|c| !c.is_alphabetic()).collect();
            let number = match digits.as_str() {
                "" => 1,
                "-" => -1,
                digits => digits.parse().expect("a number"),
            };
            let product = letters.iter().fold(Sum::number(number), |product, &c| {
                product.times(&Sum::symbol(c)).expect("a product")
            });
            total.plus(&product).expect("a sum")
        })
    }

    fn follows(facts: &[&str], goal: &str) -> bool {
        let facts = facts.iter().map(|fact| sum(fact)).collect();
        // Counters are i, j, k; the others may be negative.
        Known::new(facts, |c| "ijkxyz".contains(c)).entails(&sum(goal), &Cell::new(500))
    }

    #[test]
    fn rows_of_a_matrix_do_not_meet() {
        // Row i + 1 and later against row i, columns below n.
        assert!(follows(
            &["n - j - 1", "n - k - 1", "n - i - 1"],
            "xn + n + k - j - 1"
        ));
        // A column may reach into the next row if it is not below n.
        assert!(!follows(
            &["n - k - 1", "j", "n - i - 1"],
            "xn + n + k - j - 1"
        ));
        assert!(!follows(&["n - j", "n - k - 1", "i"], "xn + n + k - j - 1"));
    }

    #[test]
    fn nothing_follows_of_symbols_that_may_be_negative() {
        assert!(!follows(&[], "n"));
        assert!(!follows(&["n - m"], "n"));
        assert!(follows(&["n - m", "m - 3"], "nm"));
        assert!(!follows(&["n - m"], "nn"));
    }

    #[test]
    fn what_follows_holds_at_every_point() {
        let mut random = fastrand::Rng::with_seed(3);
        let symbols = ['i', 'j', 'n', 'm'];
        let mut proved = 0;
        for _ in 0..20_000 {
            let any = |terms: usize, random: &mut fastrand::Rng| {
                (0..random.usize(1..=terms)).fold(Sum::number(random.i128(-2..=2)), |total, _| {
                    let mut product = Sum::number(random.i128(-2..=2));
                    for _ in 0..random.usize(1..=2) {
                        let symbol = symbols[random.usize(0..symbols.len())];
                        product = product.times(&Sum::symbol(symbol)).expect("a product");
                    }
                    total.plus(&product).expect("a sum")
                })
            };
            let count = random.usize(1..=3);
            let facts: Vec<Sum> = (0..count).map(|_| any(2, &mut random)).collect();
            let goal = any(3, &mut random);
            let known = Known::new(facts.clone(), |c| "ij".contains(c));
            if !known.entails(&goal, &Cell::new(200)) {
                continue;
            }
            for point in 0..7 * 7 * 4 * 4 {
                let at = |c: char| match c {
                    'n' => point % 7 - 3,
                    'm' => point / 7 % 7 - 3,
                    'i' => point / 49 % 4,
                    _ => point / 196,
                };
                let value = |sum: &Sum| -> i128 {
                    let terms = sum.terms.iter();
                    terms
                        .map(|(p, c)| c * p.iter().map(|&s| at(s)).product::<i128>())
                        .sum()
                };
                if facts.iter().all(|fact| value(fact) >= 0) {
                    proved += 1;
                    assert!(value(&goal) >= 0, "{goal:?} from {facts:?} at {point}");
                }
            }
        }
        assert!(proved > 10_000, "{proved}");
    }
}
