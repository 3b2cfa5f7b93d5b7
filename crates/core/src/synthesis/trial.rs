//! Derivatives that may have to be forgotten again.
//!
//! Some derivatives are made before it is known that they are needed or can be made: of functions
//! that a pointer may lead to, and of requests that may have to be served in another way. What such
//! a trial has made is undone if it fails. What is refused once is not tried again, and a recursion
//! in which each turn would ask for another derivative comes to an end.

use super::Synthesis;
use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{Builder, Func, Function, Op};

/// How many derivatives of one function may be begun while another one of it is being made.
const MOST_AGAIN: usize = 512;
/// So many of them count as one more turn of the recursion.
const CALLS_IN_A_TURN: usize = 8;

/// What had been made at some time, see [`Synthesis::made`].
pub struct Made {
    reports: usize,
    open: usize,
    declared: usize,
    keys: usize,
}

/// What a key was found to stand for.
#[derive(Copy, Clone)]
pub(super) enum Kind {
    Forward,
    Pair,
    Combined,
    FrameSize,
}

impl Synthesis {
    /// Forgets facts of a key that a recursive call would hand on from turn to turn.
    pub fn widen(&self, key: &mut Key) {
        let mut open = self.open.iter().rev().filter(|open| open.func == key.func);
        if let Some(innermost) = open.next() {
            // Recursion goes deep, or wide: several calls, each with facts of its own.
            let begun = self.again.get(&key.func).copied().unwrap_or(0);
            let turns = (1 + open.count()).max(begun / CALLS_IN_A_TURN);
            key.widen(innermost, turns);
        }
    }

    /// Notes that a derivative is being made. Of a recursive function there may be only so many:
    /// what cannot be forgotten (which arguments have shadows) may change with each call.
    pub(super) fn begin(&mut self, key: &Key) -> Result<()> {
        if self.open.is_empty() {
            self.again.clear();
        }
        let inside = self.open.iter().any(|open| open.func == key.func);
        let again = self.again.entry(key.func).or_default();
        *again += usize::from(inside);
        if inside && *again > MOST_AGAIN {
            let name = &self.module.funcs[key.func].name;
            return Err(Diagnostic::new(
                Code::EndlessRecursion,
                format!("the recursion of `{name}` needs too many derivatives"),
                format!(
                    "its calls of itself differ in which arguments have derivatives, each needs a \
                     derivative of its own, and {MOST_AGAIN} were not enough"
                ),
                "pass what has a derivative and what has none in the same places in each call, \
                 or pass all pointers as enzyme_dup",
            )
            .in_function(name));
        }
        self.open.push(key.clone());
        Ok(())
    }

    /// Tries to make a derivative of a function that a pointer may lead to, which may turn out not
    /// to be needed. If that fails, everything is as before, except that the functions that were begun stay in the module without a use.
    pub fn attempt<T>(&mut self, make: impl FnOnce(&mut Synthesis) -> Result<T>) -> Result<T> {
        self.dispatches += 1;
        let outcome = self.undoing(make);
        self.dispatches -= 1;
        outcome
    }

    /// Makes something; if that fails, all that was made on the way is forgotten.
    pub(super) fn undoing<T>(
        &mut self,
        make: impl FnOnce(&mut Synthesis) -> Result<T>,
    ) -> Result<T> {
        let before = self.made();
        let outcome = make(self);
        if outcome.is_err() {
            self.go_back(before);
        }
        outcome
    }

    /// What has been made so far.
    pub fn made(&self) -> Made {
        Made {
            reports: self.reports.len(),
            open: self.open.len(),
            declared: self.declared.len(),
            keys: self.keys.len(),
        }
    }

    /// Forgets all that was made since; the functions stay in the module without a use.
    pub fn go_back(&mut self, before: Made) {
        self.reports.truncate(before.reports);
        self.open.truncate(before.open);
        for (kind, key) in self.keys.drain(before.keys..) {
            match kind {
                Kind::Forward => _ = self.forwards.remove(&key),
                Kind::Pair => _ = self.pairs.remove(&key),
                Kind::Combined => _ = self.combined.remove(&key),
                Kind::FrameSize => _ = self.frame_sizes.remove(&key),
            }
        }
        for func in self.declared.split_off(before.declared) {
            let sig = self.module.funcs[func].sig.clone();
            let mut function = Function::with_entry("", sig);
            function.local = true;
            let entry = function.entry();
            Builder::new(&mut function, entry).effect(Op::Unreachable, Vec::new());
            self.define(func, function);
        }
    }

    /// Makes a derivative of a key, unless that was tried before and cannot be.
    pub(super) fn once<T>(
        &mut self,
        key: &Key,
        make: impl FnOnce(&mut Synthesis) -> Result<T>,
    ) -> Result<T> {
        if let Some(refusal) = self.refused.get(key) {
            return Err(refusal.clone());
        }
        let outcome = make(self);
        // If it is not known who made memory, the request is served in another way.
        if let Err(refusal) = &outcome
            && !self.found_unpaired
        {
            self.refused.insert(key.clone(), refusal.clone());
        }
        outcome
    }

    /// Makes a derivative that a request for this function asks for; in another way if memory is
    /// freed where nobody can tell who made it.
    pub fn serve<T>(
        &mut self,
        func: Func,
        make: impl Fn(&mut Synthesis) -> Result<T>,
    ) -> Result<T> {
        if self.settles(func) {
            return make(self);
        }
        self.found_unpaired = false;
        let outcome = self.undoing(|synthesis| match make(synthesis) {
            Ok(_) if synthesis.found_unpaired => Err(Diagnostic::defect("", "")),
            outcome => outcome,
        });
        if !self.found_unpaired {
            return outcome;
        }
        self.unpaired.insert(func);
        make(self)
    }

    /// Whether derivatives of a function that is asked for have to find out who made memory.
    pub fn settles(&self, func: Func) -> bool {
        self.unpaired.contains(&func)
    }
}
