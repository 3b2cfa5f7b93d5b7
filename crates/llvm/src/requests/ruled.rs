//! Calls of functions that come with their derivatives: the attribute `derivative` of the crate
//! `zymase` expands to one.
//!
//! `__enzyme_call_with_rule(f, augmented, gradient, tangent, "name;activities", arguments…)` calls `f`
//! with the arguments. A mode that has no rule of its own has null in its place; then derivatives
//! go through the body of `f`.
//!
//! An activity may be followed by `&` or `!`: the argument is borrowed, to be read or to be written.
//! What is borrowed nobody knows any more when `f` has returned. Where something is borrowed, `f`
//! writes to nothing else that the program reads, and the rule is a [`RuleKind::Pullback`].

use super::complaints as complain;
use super::operands;
use super::registrations::{Rule, activities};
use crate::raw::value_name;
use llvm_sys::core::LLVMIsNull;
use llvm_sys::prelude::*;
use zymase_core::diagnostic::Result;
use zymase_core::ir::RuleKind;

/// How many words there are before the arguments.
pub const WORDS: usize = 5;

/// What such a call says.
pub struct Ruled {
    /// What the function is called in messages.
    pub name: String,
    /// The function.
    pub function: LLVMValueRef,
    /// Its derivatives.
    pub rules: Vec<Rule>,
    /// For each argument, how it is borrowed, if anything is.
    pub borrowed: Vec<Borrow>,
}

/// How a function has what it is given.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Borrow {
    /// As its own.
    Not,
    /// To be read, until it returns.
    Read,
    /// To be written, until it returns.
    Written,
}

impl Borrow {
    /// Takes the mark off a word.
    fn read(word: &str) -> (&str, Borrow) {
        match (word.strip_suffix('&'), word.strip_suffix('!')) {
            (Some(word), _) => (word, Borrow::Read),
            (_, Some(word)) => (word, Borrow::Written),
            _ => (word, Borrow::Not),
        }
    }
}

/// Reads the words of a call.
///
/// # Safety
/// `args` are live values.
pub unsafe fn read(args: &[LLVMValueRef], called: &str) -> Result<Ruled> {
    let malformed = || complain::unsupported_call(called);
    let Some(&[function, augmented, gradient, tangent, text]) = args.first_chunk() else {
        return Err(complain::no_function(called));
    };
    // SAFETY: the caller gives live values.
    unsafe {
        let named = |value| match LLVMIsNull(value) != 0 {
            true => Ok(None),
            false => operands::function(value)
                .map(|function| Some(value_name(function)))
                .ok_or_else(|| complain::not_a_function(called)),
        };
        let function = operands::function(function);
        let function = function.ok_or_else(|| complain::not_a_function(called))?;
        let text = operands::text(text).ok_or_else(malformed)?;
        let (name, words) = text.split_once(';').ok_or_else(malformed)?;
        let (words, mut borrowed): (Vec<&str>, Vec<Borrow>) =
            words.split(',').map(Borrow::read).unzip();
        let handles = activities(name, &words.join(","))?;
        let borrows = borrowed.iter().any(|&borrow| borrow != Borrow::Not);
        let reverse = match borrows {
            true => RuleKind::Pullback,
            false => {
                borrowed.clear();
                RuleKind::Gradient
            }
        };
        let rule = |kind, parts| Rule::Derivative(kind, parts, Some(handles.clone()));
        let mut rules = Vec::new();
        if let (Some(augmented), Some(gradient)) = (named(augmented)?, named(gradient)?) {
            rules.push(rule(reverse, vec![augmented, gradient]));
        }
        if let Some(tangent) = named(tangent)? {
            rules.push(rule(RuleKind::Derivative, vec![tangent]));
        }
        Ok(Ruled {
            name: name.to_string(),
            function,
            rules,
            borrowed,
        })
    }
}
