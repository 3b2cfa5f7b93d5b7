//! Activities: the words that say what a derivative does about each parameter and the result.

use crate::forms::{Form, never_has_derivative};
use proc_macro2::{Ident, Span};
use syn::{Error, Result};

/// The two modes.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Mode {
    /// From inputs to outputs.
    Forward,
    /// From outputs to inputs.
    Reverse,
}

impl Mode {
    /// As in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Forward => "forward mode",
            Mode::Reverse => "reverse mode",
        }
    }

    /// The name of the attribute.
    pub fn attribute(self) -> &'static str {
        match self {
            Mode::Forward => "autodiff_forward",
            Mode::Reverse => "autodiff_reverse",
        }
    }
}

/// What a derivative does about a parameter or the result.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Activity {
    /// No derivative.
    Const,
    /// Reverse mode, by value: the derivative of an input is returned, that of the result is given.
    Active,
    /// As `Active`, and the result itself is not returned.
    ActiveOnly,
    /// Reverse mode, by reference: a shadow follows.
    Duplicated,
    /// As `Duplicated`, and what is written there is not needed.
    DuplicatedOnly,
    /// Forward mode: a shadow follows.
    Dual,
    /// As `Dual`, and the primal result is not returned.
    DualOnly,
    /// Forward mode: one shadow, as many times as long as there are derivatives.
    Dualv,
    /// As `Dualv`, and the primal result is not returned.
    DualvOnly,
}

use Activity::*;

/// Every word, and the mode it belongs to; `Const` belongs to both.
const WORDS: [(&str, Activity, Option<Mode>); 9] = [
    ("Const", Const, None),
    ("Active", Active, Some(Mode::Reverse)),
    ("ActiveOnly", ActiveOnly, Some(Mode::Reverse)),
    ("Duplicated", Duplicated, Some(Mode::Reverse)),
    ("DuplicatedOnly", DuplicatedOnly, Some(Mode::Reverse)),
    ("Dual", Dual, Some(Mode::Forward)),
    ("DualOnly", DualOnly, Some(Mode::Forward)),
    ("Dualv", Dualv, Some(Mode::Forward)),
    ("DualvOnly", DualvOnly, Some(Mode::Forward)),
];

/// An activity and where it stands.
#[derive(Clone)]
pub struct Word {
    pub activity: Activity,
    pub span: Span,
}

impl Word {
    /// Reads an activity that exists in this mode.
    pub fn read(word: &Ident, mode: Mode) -> Result<Word> {
        let text = word.to_string();
        let of_mode = || WORDS.iter().filter(|(.., m)| m.is_none_or(|m| m == mode));
        let Some((_, activity, belongs)) = WORDS.iter().find(|(known, ..)| *known == text) else {
            let known: Vec<&str> = of_mode().map(|(known, ..)| *known).collect();
            let known = known.join("`, `");
            let message = format!(
                "no activity is called `{text}`; {} has `{known}`",
                mode.name()
            );
            return Err(Error::new(word.span(), message));
        };
        if belongs.is_some_and(|belongs| belongs != mode) {
            let instead = match activity {
                Active | Duplicated => "Dual",
                ActiveOnly | DuplicatedOnly => "DualOnly",
                _ => "Duplicated` for references, `Active` for values, or `Const",
            };
            let message = format!(
                "`{text}` does not exist in {}: write `{instead}`",
                mode.name()
            );
            return Err(Error::new(word.span(), message));
        }
        Ok(Word {
            activity: *activity,
            span: word.span(),
        })
    }

    fn name(&self) -> &'static str {
        let found = WORDS.iter().find(|(_, a, _)| *a == self.activity);
        found.map_or("", |(name, ..)| name)
    }

    /// Refuses an activity that a parameter of this form cannot have.
    pub fn check_parameter(&self, form: &Form, width: u32) -> Result<()> {
        let name = self.name();
        let refuse = |reason: String| Err(Error::new(self.span, reason));
        let by_value = matches!(form, Form::Value(_) | Form::FnPointer(_));
        match self.activity {
            Const => Ok(()),
            ActiveOnly => refuse("`ActiveOnly` is for results: write `Active`".into()),
            _ if matches!(form, Form::FnPointer(_)) => refuse(format!(
                "`{name}` cannot be used for a function pointer: write `Const`"
            )),
            Active if !by_value => refuse(
                "`Active` is for numbers by value: the derivative of what is behind a reference \
                 needs a shadow, write `Duplicated`"
                    .into(),
            ),
            Duplicated | DuplicatedOnly if by_value => refuse(format!(
                "`{name}` is for references and pointers: the derivative of a value is returned, \
                 write `Active`"
            )),
            Dualv | DualvOnly if !matches!(form, Form::Slice { .. }) => refuse(format!(
                "`{name}` is for slices, whose shadow can be {width} times as long: write \
                     `Dual`"
            )),
            _ => match never_has_derivative(form.pointee()) {
                Some(what) => refuse(format!(
                    "`{name}` cannot be used here: `{what}` has no derivative, write `Const`"
                )),
                None => Ok(()),
            },
        }
    }

    /// Refuses an activity that a result cannot have.
    pub fn check_result(&self, ty: &syn::Type) -> Result<()> {
        let name = self.name();
        let refuse = |reason: String| Err(Error::new(self.span, reason));
        match (self.activity, ty) {
            (Const, _) => Ok(()),
            (Duplicated | DuplicatedOnly, _) => refuse(format!(
                "`{name}` is for parameters: write `Active`, or `ActiveOnly` if the result itself \
                 is not wanted"
            )),
            (_, syn::Type::Reference(_) | syn::Type::Ptr(_)) => refuse(format!(
                "`{name}` cannot be used for a reference: let the function return a value, or \
                 write to a parameter `&mut`"
            )),
            _ => match never_has_derivative(ty) {
                Some(what) => refuse(format!(
                    "`{name}` cannot be used here: `{what}` has no derivative, write `Const`"
                )),
                None => Ok(()),
            },
        }
    }
}
