//! What a request says as a whole, and the defaults of the grammar.

use super::complaints as complain;
use super::grammar::{Marker, Sweep};
use super::parse::{Target, Word};
use zymase_core::diagnostic::Result;
use zymase_core::ir::{ReturnActivity, Type, TypeKind};

/// What holds for the whole request.
pub struct Settings {
    /// What is asked for.
    pub sweep: Sweep,
    /// How many derivatives at once.
    pub width: u32,
    /// Whether all shadows come after all primals.
    pub interleaved: bool,
    /// Whether the primal result is returned too.
    pub primal_return: bool,
    /// Whether 0·∞ is 0 everywhere.
    pub strong_zero: bool,
    /// Whether a shadow that equals its primal means inactive.
    pub runtime_activity: bool,
    /// Where among the words the caller's memory for the tape is.
    pub tape: Option<usize>,
    /// How many bytes the caller has for the tape, where that is a constant.
    pub tape_bytes: Option<u64>,
    /// Where among the words the number of bytes for the tape is, where it is not a constant.
    pub tape_room: Option<usize>,
    /// Whether the reverse half leaves the tape as it is.
    pub keep_tape: bool,
    ret: Option<Marker>,
}

impl Settings {
    /// Reads the words that are not about one argument.
    pub fn read(sweep: Sweep, target: &Target, words: &[Word]) -> Result<Settings> {
        let mut settings = Settings {
            sweep,
            width: 1,
            interleaved: false,
            primal_return: false,
            strong_zero: false,
            runtime_activity: false,
            tape: None,
            tape_bytes: None,
            tape_room: None,
            keep_tape: false,
            ret: None,
        };
        for (position, word) in words.iter().enumerate() {
            let marker = match word {
                Word::Marker(marker) => *marker,
                Word::Unknown(name) => return Err(complain::unknown_marker(name)),
                Word::Value { .. } => continue,
            };
            match marker {
                Marker::Width => settings.width = width(words.get(position + 1))?,
                Marker::Interleave => settings.interleaved = true,
                Marker::PrimalReturn if sweep.is_split() => {
                    return Err(complain::primal_return_in_split(target));
                }
                Marker::PrimalReturn => settings.primal_return = true,
                Marker::StrongZero => settings.strong_zero = true,
                Marker::RuntimeActivity => settings.runtime_activity = true,
                Marker::ConstReturn
                | Marker::ActiveReturn
                | Marker::DupReturn
                | Marker::NoReturn => {
                    settings.ret = Some(marker);
                }
                Marker::Tape | Marker::Allocated | Marker::NoFree if !sweep.is_split() => {
                    return Err(complain::no_tape(marker.name()));
                }
                Marker::Tape => settings.tape = Some(tape(position + 1, words)?),
                Marker::Allocated => {
                    settings.tape_bytes = bytes(words.get(position + 1))?;
                    settings.tape_room = match settings.tape_bytes {
                        Some(_) => None,
                        None => Some(position + 1),
                    };
                }
                Marker::NoFree => settings.keep_tape = true,
                Marker::ByReference => {
                    return Err(complain::unsupported_marker(marker.name()));
                }
                _ => {}
            }
        }
        Ok(settings)
    }

    /// What the derivative does about the result.
    pub fn result_activity(&self, target: &Target) -> Result<ReturnActivity> {
        // A result in memory is the first argument; the result of the call itself is nothing.
        let ty = target.ret;
        let class = Class::of(ty);
        Ok(match (self.ret, class) {
            (Some(Marker::ConstReturn | Marker::NoReturn), _) => ReturnActivity::Const,
            (Some(Marker::ActiveReturn), Class::Float) => ReturnActivity::Active,
            (Some(Marker::DupReturn), Class::Pointer) => ReturnActivity::Dup,
            (Some(Marker::DupReturn), Class::Float) if !self.sweep.is_reverse() => {
                ReturnActivity::Active
            }
            (Some(marker), _) => return Err(complain::wrong_return(target, marker.name(), ty)),
            (None, Class::Float) => {
                if self.sweep == Sweep::Combined && ty.is_aggregate() {
                    return Err(complain::no_seed(target, ty));
                }
                ReturnActivity::Active
            }
            (None, Class::Pointer) if self.sweep != Sweep::Combined => ReturnActivity::Dup,
            (None, _) => ReturnActivity::Const,
        })
    }
}

/// The position of the memory that follows `enzyme_tape`.
fn tape(position: usize, words: &[Word]) -> Result<usize> {
    match words.get(position) {
        Some(Word::Value { ty, .. }) if ty.is_ptr() => Ok(position),
        _ => Err(complain::marker_needs(Marker::Tape.name(), "a pointer")),
    }
}

/// The number of bytes that follows `enzyme_allocated`, if it is a constant.
fn bytes(word: Option<&Word>) -> Result<Option<u64>> {
    match word {
        Some(Word::Value { ty, constant }) if ty.is_int() => {
            Ok(constant.map(|n| u64::try_from(n).unwrap_or(0)))
        }
        _ => Err(complain::marker_needs(
            Marker::Allocated.name(),
            "a number of bytes",
        )),
    }
}

fn width(word: Option<&Word>) -> Result<u32> {
    match word {
        Some(Word::Value {
            constant: Some(n), ..
        }) => u32::try_from(*n)
            .ok()
            .filter(|n| (1..=1024).contains(n))
            .ok_or_else(|| complain::bad_width(&n.to_string())),
        _ => Err(complain::bad_width("not a constant")),
    }
}

/// What the defaults depend on.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Class {
    /// A float, or something with one in it.
    Float,
    /// A pointer, or something with one in it and no float.
    Pointer,
    /// Anything else.
    Other,
}

impl Class {
    /// The class of a type: float if any part is one, else pointer if any part is one.
    pub fn of(ty: Type) -> Class {
        match ty.kind() {
            TypeKind::Float(_) => Class::Float,
            TypeKind::Ptr(_) => Class::Pointer,
            TypeKind::Vector(..) | TypeKind::Array(..) | TypeKind::Struct { .. } => {
                let parts: Vec<Class> = (0..ty.part_count().min(64))
                    .filter_map(|part| ty.part(part))
                    .map(Class::of)
                    .collect();
                let any = |class| parts.contains(&class).then_some(class);
                any(Class::Float)
                    .or(any(Class::Pointer))
                    .unwrap_or(Class::Other)
            }
            _ => Class::Other,
        }
    }
}
