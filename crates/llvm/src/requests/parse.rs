//! Reads the arguments of a request: markers and values in a row become an activity, a primal and
//! shadows for every argument of the function.
//!
//! Nothing here knows LLVM, so the grammar can be tested by itself. Phases: settings that hold for
//! the whole request ([`Settings`]), then the arguments from left to right, then the result.

use super::complaints as complain;
use super::grammar::{Marker, Sweep};
use super::settings::{Class, Settings};
use zymase_core::diagnostic::Result;
use zymase_core::ir::{Activity, Mode, ReturnActivity, Type};

/// Reads a request for the derivative of `target`; `words` is what follows the function among the
/// arguments of the call.
pub fn parse(sweep: Sweep, target: &Target, words: &[Word]) -> Result<Parsed> {
    let settings = Settings::read(sweep, target, words)?;
    let mut reader = Reader {
        target,
        words,
        next: 0,
        promised: false,
        settings: &settings,
        args: Vec::new(),
        trailing: Vec::new(),
    };
    let values = (0..words.len()).filter(|&position| is_argument(words, position));
    match sweep == Sweep::TapeSize && values.count() < target.params.len() {
        true => reader.read_activities()?,
        false => reader.read()?,
    }
    let (args, trailing) = (reader.args, reader.trailing);
    let ret = settings.result_activity(target)?;
    if settings.primal_return && target.returned().is_void() {
        return Err(complain::primal_return_of_void(target));
    }
    let (seeds, tape) = match sweep {
        Sweep::Gradient => seeds_and_tape(target, &settings, ret, trailing)?,
        _ => (Vec::new(), settings.tape),
    };
    Ok(Parsed {
        mode: match sweep {
            Sweep::Forward => Mode::Forward,
            Sweep::Combined => Mode::Combined,
            Sweep::Augmented => Mode::Augmented,
            Sweep::Gradient => Mode::Gradient,
            Sweep::TapeSize => Mode::TapeSize,
        },
        width: settings.width,
        args,
        ret,
        primal_return: settings.primal_return,
        strong_zero: settings.strong_zero,
        runtime_activity: settings.runtime_activity,
        seeds,
        tape,
        caller_tape: settings.tape.is_some(),
        tape_bytes: settings.tape_bytes,
        tape_room: settings
            .tape_room
            .filter(|_| settings.tape.is_some() && sweep != Sweep::TapeSize),
        keep_tape: settings.keep_tape,
    })
}

/// Whether a word is a value that does not belong to a setting of the whole request.
fn is_argument(words: &[Word], position: usize) -> bool {
    let before = position.checked_sub(1).map(|before| &words[before]);
    let setting = matches!(
        before,
        Some(Word::Marker(
            Marker::Width | Marker::Tape | Marker::Allocated
        ))
    );
    matches!(words.get(position), Some(Word::Value { .. })) && !setting
}

/// The function to differentiate, as the compiled program declares it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The types of its parameters.
    pub params: Vec<Type>,
    /// The type of its result.
    pub ret: Type,
    /// If the first parameter is memory for the result, the type of the result.
    pub sret: Option<Type>,
}

impl Target {
    /// The result as the source program sees it.
    pub fn returned(&self) -> Type {
        self.sret.unwrap_or(self.ret)
    }
}

/// An argument of the call, after the function.
#[derive(Clone, PartialEq, Debug)]
pub enum Word {
    /// A marker.
    Marker(Marker),
    /// The value of a global variable that is named like a marker and is none.
    Unknown(String),
    /// A value.
    Value {
        /// Its type.
        ty: Type,
        /// Its value, if it is a constant integer.
        constant: Option<i128>,
    },
}

/// What a request says. Operands are given by their position among the words.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    /// Forward or reverse, and which part of it.
    pub mode: Mode,
    /// How many derivatives at once.
    pub width: u32,
    /// The arguments of the function.
    pub args: Vec<Argument>,
    /// The activity of its result.
    pub ret: ReturnActivity,
    /// Whether the primal result is returned too.
    pub primal_return: bool,
    /// Whether 0·∞ is 0 everywhere.
    pub strong_zero: bool,
    /// Whether a shadow that equals its primal means inactive.
    pub runtime_activity: bool,
    /// For the second half of reverse mode, the derivatives with respect to the result.
    pub seeds: Vec<usize>,
    /// For the second half of reverse mode, the tape; for the first, memory for it.
    pub tape: Option<usize>,
    /// Whether the tape is memory of the caller.
    pub caller_tape: bool,
    /// How many bytes the caller has for it, where that is a constant.
    pub tape_bytes: Option<u64>,
    /// That number, where it is not a constant.
    pub tape_room: Option<usize>,
    /// Whether the second half leaves the tape as it is.
    pub keep_tape: bool,
}

/// An argument of the function to differentiate.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    /// What the derivative does about it.
    pub activity: Activity,
    /// Its value.
    pub primal: Source,
    /// Its shadows.
    pub shadows: Vec<Source>,
    /// Whether the caller promises that the memory behind it is the same in both sweeps. Where
    /// both run in one call it cannot change between them, so the promise adds nothing there.
    pub not_overwritten: bool,
}

/// Where a value passed to a derivative comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The word at this position.
    Operand(usize),
    /// The pointer at `base` plus `index` times the bytes at `stride`.
    Strided {
        /// The position of the pointer.
        base: usize,
        /// The position of the number of bytes.
        stride: usize,
        /// How many strides.
        index: u32,
    },
    /// Memory for a result that nobody wants.
    Scratch,
    /// This part of the memory that the request returns its own result in.
    Result(u32),
}

struct Reader<'a> {
    target: &'a Target,
    words: &'a [Word],
    next: usize,
    /// Whether the next argument is promised not to be overwritten.
    promised: bool,
    settings: &'a Settings,
    args: Vec<Argument>,
    /// The positions of values after the last argument.
    trailing: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<()> {
        if self.target.sret.is_some() {
            self.read_result_memory()?;
        }
        let mut marker = None;
        while let Some(word) = self.words.get(self.next) {
            match word {
                Word::Marker(Marker::Width | Marker::Tape | Marker::Allocated) => self.next += 2,
                Word::Marker(Marker::Interleave) => {
                    self.next += 1;
                    self.expect_all_arguments()?;
                    self.read_interleaved_shadows()?;
                }
                Word::Marker(
                    word @ (Marker::Const
                    | Marker::Dup
                    | Marker::DupNoNeed
                    | Marker::Out
                    | Marker::DupStrided
                    | Marker::DupNoNeedStrided),
                ) => {
                    if let Some(earlier) = marker.replace(*word) {
                        return Err(complain::marker_without_value(earlier.name(), word.name()));
                    }
                    self.next += 1;
                }
                Word::Marker(Marker::NotOverwritten) => {
                    self.promised = true;
                    self.next += 1;
                }
                // What holds for the whole request was read before.
                Word::Marker(_) | Word::Unknown(_) => self.next += 1,
                Word::Value { .. } if self.args.len() == self.target.params.len() => {
                    if let Some(marker) = marker {
                        return Err(complain::too_many_arguments(
                            self.target,
                            self.words,
                            self.next,
                            Some(marker.name()),
                        ));
                    }
                    if self.settings.sweep != Sweep::Gradient {
                        return Err(complain::too_many_arguments(
                            self.target,
                            self.words,
                            self.next,
                            None,
                        ));
                    }
                    self.trailing.push(self.next);
                    self.next += 1;
                }
                Word::Value { .. } => self.read_argument(marker.take())?,
            }
        }
        let promise = self.promised.then_some(Marker::NotOverwritten);
        if let Some(marker) = marker.or(promise) {
            return Err(complain::marker_without_value(
                marker.name(),
                "the end of the call",
            ));
        }
        self.expect_all_arguments()?;
        let missing = self
            .args
            .iter()
            .position(|a| a.shadows.len() != a.activity.shadow_count(self.settings.width));
        match missing {
            Some(index) => Err(complain::missing_shadow(
                self.target,
                index,
                self.settings.width,
                None,
            )),
            None => Ok(()),
        }
    }

    /// Only markers, one for each argument: the size of a tape needs no values, except that of a
    /// function that is passed and called.
    fn read_activities(&mut self) -> Result<()> {
        let about_arguments = |(position, word): (usize, &Word)| match word {
            Word::Marker(
                marker @ (Marker::Const | Marker::Dup | Marker::DupNoNeed | Marker::Out),
            ) => Some((*marker, position + 1)),
            _ => None,
        };
        let not_overwritten = self.words.contains(&Word::Marker(Marker::NotOverwritten));
        let argument = |activity, primal| Argument {
            activity,
            primal,
            shadows: Vec::new(),
            not_overwritten,
        };
        if self.target.sret.is_some() {
            let result = argument(Activity::DupNoNeed, Source::Scratch);
            self.args.push(result);
        }
        let mut markers = self.words.iter().enumerate().filter_map(about_arguments);
        while self.args.len() < self.target.params.len() {
            let marker = markers.next();
            let activity = self.activity(self.args.len(), marker.map(|(marker, _)| marker))?;
            let given = marker.map(|(_, position)| position);
            let primal = match given.filter(|&position| is_argument(self.words, position)) {
                Some(position) => Source::Operand(position),
                None => Source::Scratch,
            };
            self.args.push(argument(activity, primal));
        }
        if let Some((marker, _)) = markers.next() {
            let end = "the end of the call";
            return Err(complain::marker_without_value(marker.name(), end));
        }
        Ok(())
    }

    /// A result that is returned in memory is an argument that the source program does not pass:
    /// in reverse mode its shadow comes first, in forward mode the request returns it.
    fn read_result_memory(&mut self) -> Result<()> {
        let (mut primal, mut shadows) = (Source::Scratch, Vec::new());
        for copy in 0..self.settings.width {
            if self.settings.sweep.is_reverse() {
                shadows.push(Source::Operand(self.shadow(0)?));
            } else {
                shadows.push(Source::Result(
                    copy + u32::from(self.settings.primal_return),
                ));
            }
        }
        if self.settings.primal_return {
            primal = Source::Result(0);
        }
        let activity = match primal {
            Source::Scratch => Activity::DupNoNeed,
            _ => Activity::Dup,
        };
        self.args.push(Argument {
            activity,
            primal,
            shadows,
            not_overwritten: false,
        });
        Ok(())
    }

    fn read_argument(&mut self, marker: Option<Marker>) -> Result<()> {
        let index = self.args.len();
        let stride = match marker {
            Some(Marker::DupStrided | Marker::DupNoNeedStrided) => Some(self.stride(index)?),
            _ => None,
        };
        let primal = self.value(index, false)?;
        let activity = self.activity(index, marker)?;
        let mut shadows = Vec::new();
        match stride {
            Some(stride) => {
                let base = self.shadow(index)?;
                let strided = |index| Source::Strided {
                    base,
                    stride,
                    index,
                };
                shadows.extend((0..self.settings.width).map(strided));
            }
            None if self.settings.interleaved => {}
            None => {
                for _ in 0..activity.shadow_count(self.settings.width) {
                    shadows.push(Source::Operand(self.shadow(index)?));
                }
            }
        }
        let primal = Source::Operand(primal);
        self.args.push(Argument {
            activity,
            primal,
            shadows,
            not_overwritten: std::mem::take(&mut self.promised),
        });
        Ok(())
    }

    fn read_interleaved_shadows(&mut self) -> Result<()> {
        for index in 0..self.args.len() {
            let wanted = self.args[index].activity.shadow_count(self.settings.width);
            while self.args[index].shadows.len() < wanted {
                let shadow = Source::Operand(self.shadow(index)?);
                self.args[index].shadows.push(shadow);
            }
        }
        Ok(())
    }

    fn activity(&self, index: usize, marker: Option<Marker>) -> Result<Activity> {
        let ty = self.target.params[index];
        let class = Class::of(ty);
        let reverse = self.settings.sweep.is_reverse();
        let Some(marker) = marker else {
            if self.settings.interleaved && index > 0 {
                return Ok(self.args[index - 1].activity);
            }
            return Ok(match class {
                Class::Other => Activity::Const,
                Class::Float if reverse => Activity::Out,
                Class::Float | Class::Pointer => Activity::Dup,
            });
        };
        let activity = match marker {
            Marker::Const => Activity::Const,
            Marker::Out => Activity::Out,
            Marker::DupNoNeed | Marker::DupNoNeedStrided => Activity::DupNoNeed,
            _ => Activity::Dup,
        };
        match (activity, class) {
            (Activity::Out, Class::Pointer) => Err(complain::out_on_pointer(self.target, index)),
            (Activity::Out, _) if !reverse => Err(complain::out_in_forward(self.target, index)),
            (Activity::Out | Activity::Dup | Activity::DupNoNeed, Class::Other) => Err(
                complain::shadow_for_integer(self.target, index, marker.name()),
            ),
            (Activity::Dup | Activity::DupNoNeed, Class::Float) if reverse => {
                Err(complain::dup_on_scalar(self.target, index, marker.name()))
            }
            _ => Ok(activity),
        }
    }

    /// The position of the next word, which must be a value that fits parameter `index`.
    fn value(&mut self, index: usize, shadow: bool) -> Result<usize> {
        let position = self.next;
        let param = self.target.params[index];
        match self.words.get(position) {
            Some(Word::Value { ty, constant }) => {
                if !fits(*ty, param) {
                    return Err(match (shadow, constant) {
                        (true, _) => complain::missing_shadow(
                            self.target,
                            index,
                            self.settings.width,
                            Some(*ty),
                        ),
                        (false, Some(_)) if param.int_bits().is_none() => {
                            complain::folded_marker(self.target, index)
                        }
                        (false, _) => complain::wrong_type(self.target, index, *ty),
                    });
                }
            }
            _ if shadow => {
                return Err(complain::missing_shadow(
                    self.target,
                    index,
                    self.settings.width,
                    None,
                ));
            }
            _ => return Err(complain::too_few_arguments(self.target, index)),
        }
        self.next += 1;
        Ok(position)
    }

    fn shadow(&mut self, index: usize) -> Result<usize> {
        self.value(index, true)
    }

    fn stride(&mut self, index: usize) -> Result<usize> {
        let position = self.next;
        match self.words.get(position) {
            Some(Word::Value { ty, .. }) if ty.is_int() => {
                self.next += 1;
                Ok(position)
            }
            _ => Err(complain::missing_stride(self.target, index)),
        }
    }

    fn expect_all_arguments(&self) -> Result<()> {
        match self.args.len() < self.target.params.len() {
            true => Err(complain::too_few_arguments(self.target, self.args.len())),
            false => Ok(()),
        }
    }
}

/// The second half of reverse mode takes the seeds, if the result is active, and then the tape.
fn seeds_and_tape(
    target: &Target,
    settings: &Settings,
    ret: ReturnActivity,
    mut trailing: Vec<usize>,
) -> Result<(Vec<usize>, Option<usize>)> {
    let seeds = match ret {
        ReturnActivity::Active => settings.width as usize,
        _ => 0,
    };
    trailing.extend(settings.tape);
    if trailing.len() != seeds + 1 {
        return Err(complain::seeds_and_tape(target, seeds, trailing.len()));
    }
    Ok((trailing[..seeds].to_vec(), trailing.last().copied()))
}

/// Whether a value of this type can be passed for a parameter: variadic calls widen floats and
/// integers, and an integer literal may be narrower than the parameter.
pub fn fits(value: Type, param: Type) -> bool {
    value == param
        || value.is_int() && param.is_int()
        || value.is_ptr() && param.is_ptr()
        || value.float_kind().is_some() && param.float_kind().is_some()
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
