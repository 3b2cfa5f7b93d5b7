//! Derivatives that the program gives itself.
//!
//! A rule is made of functions of the program that know nothing of frames and keys. This module
//! writes functions around them that have the signatures of derivatives (see
//! [`derivative`](crate::derivative)): an augmented sweep that calls the rule's and keeps its tape
//! in the frame, a reverse sweep that takes it from there, a forward derivative. To everybody else
//! a function with a rule is then like any other: calls in loops, recursion, frames in frames.
//!
//! 1. [`rule_for`] chooses the rule that fits the activities best.
//! 2. [`convention`] reads from the types of the rule's functions where the tape, the results and
//!    the derivatives are, and refuses what does not fit.
//! 3. [`mod@reverse`] and [`mod@forward`] write the functions; [`like`] those of a function that has the
//!    derivative of another.
//!
//! If derivatives are checked to be finite, so is what rules write to memory ([`finite`]).
//!
//! With several derivatives at once, a rule is called once for each.

mod convention;
mod finite;
mod forward;
mod lanes;
mod like;
mod reverse;

pub use forward::forward;
pub use reverse::reverse;

use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{Activity, CustomRule, Module};

/// The rule by which a function is differentiated; none if through its body.
pub fn rule_for(module: &Module, key: &Key) -> Result<Option<CustomRule>> {
    let rules: Vec<&CustomRule> = module
        .rules_of(key.func)
        .filter(|rule| rule.kind.serves(key.reverse))
        .collect();
    if rules.is_empty() {
        return match module.funcs[key.func].is_declaration() {
            true => Err(wrong_mode(module, key)),
            false => Ok(None),
        };
    }
    let fitting = rules
        .iter()
        .filter_map(|rule| Some((waste(rule, key)?, rule)));
    // The first of those that handle the least that is not asked for.
    match fitting.min_by_key(|(waste, _)| *waste) {
        Some((_, rule)) => Ok(Some((**rule).clone())),
        None => Err(none_fits(module, key, &rules)),
    }
}

/// How many arguments a rule handles that need not be handled; none if the rule does not fit.
fn waste(rule: &CustomRule, key: &Key) -> Option<usize> {
    let Some(handles) = &rule.handles else {
        return Some(key.args.len() + 1);
    };
    let mut waste = 0;
    for (handled, wanted) in handles.iter().zip(&key.args) {
        match (*handled, *wanted) {
            (Activity::Const, Activity::Const) => {}
            (Activity::Const, _) => return None,
            (_, Activity::Const) => waste += 1,
            _ => {}
        }
    }
    (handles.len() == key.args.len()).then_some(waste)
}

fn mode_name(reverse: bool) -> &'static str {
    match reverse {
        true => "reverse",
        false => "forward",
    }
}

fn words(activities: &[Activity]) -> String {
    let names: Vec<&str> = activities.iter().map(|a| a.name()).collect();
    names.join(",")
}

fn none_fits(module: &Module, key: &Key, rules: &[&CustomRule]) -> Box<Diagnostic> {
    let name = &module.funcs[key.func].name;
    let handled: Vec<String> = rules
        .iter()
        .filter_map(|rule| rule.handles.as_ref())
        .map(|handles| format!("\"{}\"", words(handles)))
        .collect();
    Diagnostic::new(
        Code::NoFittingRule,
        format!("no custom rule for `{name}` fits"),
        format!(
            "its arguments are \"{}\" here, and the rules for {} mode handle {}",
            words(&key.args),
            mode_name(key.reverse),
            handled.join(" and "),
        ),
        "register a rule that handles these activities, or one without a string, which handles \
         all",
    )
}

fn wrong_mode(module: &Module, key: &Key) -> Box<Diagnostic> {
    let name = &module.funcs[key.func].name;
    let (mode, register) = match key.reverse {
        true => (
            "reverse",
            format!("__enzyme_register_gradient_{name}[] = {{{name}, augmented, gradient}}"),
        ),
        false => (
            "forward",
            format!("__enzyme_register_derivative_{name}[] = {{{name}, tangent}}"),
        ),
    };
    Diagnostic::new(
        Code::NoFittingRule,
        format!("there is no custom rule for `{name}` in {mode} mode"),
        "its body is not part of the program, and the rules that are registered for it serve the \
         other mode",
        format!("register one: `void *{register};`"),
    )
}
