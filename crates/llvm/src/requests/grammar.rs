//! The grammar of requests: which calls ask for something, and which markers they may pass.
//!
//! This is the one place where names are read, for every language.

use zymase_core::analysis::types::Hint;
use zymase_core::ir::{FloatKind, RuleKind};

/// What a call of a specially named function asks for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// A derivative.
    Derivative(Sweep),
    /// The shadow of a function pointer.
    VirtualReverse,
    /// A call through which no derivative flows.
    CallInactive,
    /// A call of a function that comes with its derivatives.
    CallWithRule,
    /// The identity, with derivative zero.
    IgnoreDerivatives,
    /// A statement of what memory holds.
    TypeHint(Hint),
    /// A permission to compute otherwise than it is written, for the function that says it.
    Fast,
    /// Something Zymase does not do yet.
    Unsupported,
}

/// The kinds of derivative that calls ask for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Sweep {
    /// Forward mode.
    Forward,
    /// Reverse mode in one call.
    Combined,
    /// The first half of reverse mode.
    Augmented,
    /// The second half of reverse mode.
    Gradient,
    /// The size of the tape between the two.
    TapeSize,
}

impl Sweep {
    /// Whether this is reverse mode or a half of it.
    pub fn is_reverse(self) -> bool {
        self != Sweep::Forward
    }

    /// Whether this is about one half of reverse mode.
    pub fn is_split(self) -> bool {
        matches!(self, Sweep::Augmented | Sweep::Gradient | Sweep::TapeSize)
    }
}

/// Names of functions; a function's name need only contain one. The first match counts, so a name
/// that contains another one stands before it.
const CALLS: &[(&str, CallKind)] = &[
    ("__enzyme_autodiff", CallKind::Derivative(Sweep::Combined)),
    ("__enzyme_fwddiff", CallKind::Derivative(Sweep::Forward)),
    ("__enzyme_fwdsplit", CallKind::Unsupported),
    (
        "__enzyme_augmentfwd",
        CallKind::Derivative(Sweep::Augmented),
    ),
    (
        "__enzyme_augmentsize",
        CallKind::Derivative(Sweep::TapeSize),
    ),
    ("__enzyme_reverse", CallKind::Derivative(Sweep::Gradient)),
    ("__enzyme_virtualreverse", CallKind::VirtualReverse),
    ("__enzyme_call_inactive", CallKind::CallInactive),
    ("__enzyme_call_with_rule", CallKind::CallWithRule),
    ("__enzyme_ignore_derivatives", CallKind::IgnoreDerivatives),
    (
        "__enzyme_float",
        CallKind::TypeHint(Hint::Float(FloatKind::F32)),
    ),
    (
        "__enzyme_double",
        CallKind::TypeHint(Hint::Float(FloatKind::F64)),
    ),
    ("__enzyme_integer", CallKind::TypeHint(Hint::Integer)),
    ("__enzyme_pointer", CallKind::TypeHint(Hint::Pointer)),
    ("__enzyme_fast_math", CallKind::Fast),
    ("__enzyme_batch", CallKind::Unsupported),
    ("__enzyme_error_estimate", CallKind::Unsupported),
    ("__enzyme_truncate", CallKind::Unsupported),
    ("__enzyme_todense", CallKind::Unsupported),
    ("__enzyme_trace", CallKind::Unsupported),
    ("__enzyme_condition", CallKind::Unsupported),
    ("__enzyme_post_cache", CallKind::Unsupported),
];

/// Words that are in the name of every request, used for a quick search in bytes.
pub const COMMON_PREFIX: &str = "__enzyme_";

/// What a call of the function of this name asks for, if it is special.
pub fn call_kind(name: &str) -> Option<CallKind> {
    CALLS
        .iter()
        .find(|(part, _)| name.contains(part))
        .map(|&(_, kind)| kind)
}

/// The name of a request function in messages. After a colon, the crate `zymase` tells those who
/// link without us what to do.
pub fn spoken_name(name: &str) -> String {
    name.split(':').next().unwrap_or(name).to_string()
}

/// Whether a call of the function of this name is special.
pub fn is_request(name: &str) -> bool {
    call_kind(name).is_some()
}

/// A marker among the arguments of a request.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Marker {
    /// The next argument has no derivative.
    Const,
    /// The next argument has a shadow.
    Dup,
    /// As `Dup`, and the primal output behind it is not needed.
    DupNoNeed,
    /// The derivative of the next argument is returned.
    Out,
    /// As `Dup`, with several shadows at a stride in bytes.
    DupStrided,
    /// As `DupNoNeed`, with several shadows at a stride in bytes.
    DupNoNeedStrided,
    /// Only shadows follow.
    Interleave,
    /// The memory behind the next argument is not changed before the reverse sweep.
    NotOverwritten,
    /// The number of derivatives at once follows.
    Width,
    /// The place of the tape follows.
    Tape,
    /// The number of bytes for the tape follows.
    Allocated,
    /// The primal result is returned too.
    PrimalReturn,
    /// The result has no derivative.
    ConstReturn,
    /// The result has a derivative.
    ActiveReturn,
    /// The result is a pointer with a shadow.
    DupReturn,
    /// The result is not wanted.
    NoReturn,
    /// A shadow equal to its primal means inactive.
    RuntimeActivity,
    /// Zero times infinity is zero.
    StrongZero,
    /// The tape stays after the reverse half.
    NoFree,
    /// A size follows.
    ByReference,
}

/// The names of the global variables that are markers.
const MARKERS: &[(&str, Marker)] = &[
    ("enzyme_const", Marker::Const),
    ("enzyme_dup", Marker::Dup),
    ("enzyme_dupnoneed", Marker::DupNoNeed),
    ("enzyme_out", Marker::Out),
    ("enzyme_dupv", Marker::DupStrided),
    ("enzyme_dupnoneedv", Marker::DupNoNeedStrided),
    ("enzyme_interleave", Marker::Interleave),
    ("enzyme_not_overwritten", Marker::NotOverwritten),
    ("enzyme_width", Marker::Width),
    ("enzyme_vector", Marker::Width),
    ("enzyme_tape", Marker::Tape),
    ("enzyme_allocated", Marker::Allocated),
    ("enzyme_primal_return", Marker::PrimalReturn),
    ("enzyme_const_return", Marker::ConstReturn),
    ("enzyme_active_return", Marker::ActiveReturn),
    ("enzyme_dup_return", Marker::DupReturn),
    ("enzyme_noret", Marker::NoReturn),
    ("enzyme_runtime_activity", Marker::RuntimeActivity),
    ("enzyme_strong_zero", Marker::StrongZero),
    ("enzyme_nofree", Marker::NoFree),
    ("enzyme_byref", Marker::ByReference),
];

impl Marker {
    /// The name in programs.
    pub fn name(self) -> &'static str {
        MARKERS
            .iter()
            .find(|(_, marker)| *marker == self)
            .map_or("", |(name, _)| name)
    }
}

/// What the name of a global variable means in the arguments of a request: `None` for an ordinary
/// variable, an error with the word for something that looks like a marker and is none.
pub fn marker(name: &str) -> Option<Result<Marker, String>> {
    // The crate for Rust has a sentence behind the word, for those who link without Zymase.
    let name = name.split(':').next().unwrap_or(name);
    if let Some((_, marker)) = MARKERS.iter().find(|(word, _)| *word == name) {
        return Some(Ok(*marker));
    }
    // C++ mangles the names of variables in a namespace: `_ZN…10enzyme_dupE`. The word is the
    // last length-prefixed part.
    let word = source_name(name);
    if !word.starts_with("enzyme_") {
        return None;
    }
    let known = MARKERS.iter().find(|(known, _)| *known == word);
    Some(known.map(|(_, marker)| *marker).ok_or(word.to_string()))
}

/// The marker name closest to a misspelt one, for messages.
pub fn closest_marker(word: &str) -> &'static str {
    MARKERS
        .iter()
        .map(|(name, _)| *name)
        .min_by_key(|name| edit_distance(name, word))
        .unwrap_or("enzyme_const")
}

/// The last part of a C++ name, or the name itself.
fn source_name(name: &str) -> &str {
    match name.rfind("enzyme_") {
        Some(at) if name.starts_with("_Z") => {
            let digits = name[..at].len()
                - name[..at]
                    .trim_end_matches(|c: char| c.is_ascii_digit())
                    .len();
            let length: usize = name[at - digits..at].parse().unwrap_or(0);
            name.get(at..at + length).unwrap_or(name)
        }
        _ => name,
    }
}

/// How many letters have to change to make one word of another.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// What a global variable of a special name registers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Registration {
    /// No derivative flows through this function.
    InactiveFunction,
    /// This global variable needs no shadow.
    InactiveGlobal,
    /// This function frees nothing.
    NoFree,
    /// What this function returns is not cached.
    Recompute,
    /// This function may be computed otherwise than it is written.
    Fast,
    /// The derivative of this function.
    Derivative(RuleKind),
    /// This function allocates memory, and another frees it.
    Allocator,
    /// Something that Zymase does not read yet.
    Unsupported,
}

const REGISTRATIONS: &[(&str, Registration)] = &[
    (
        "__enzyme_register_gradient",
        Registration::Derivative(RuleKind::Gradient),
    ),
    (
        "__enzyme_register_derivative",
        Registration::Derivative(RuleKind::Derivative),
    ),
    (
        "__enzyme_register_splitderivative",
        Registration::Derivative(RuleKind::SplitDerivative),
    ),
    ("__enzyme_inactivefn", Registration::InactiveFunction),
    ("__enzyme_inactive_global", Registration::InactiveGlobal),
    ("__enzyme_nofree", Registration::NoFree),
    (
        "__enzyme_function_like",
        Registration::Derivative(RuleKind::Like),
    ),
    ("__enzyme_allocation_like", Registration::Allocator),
    ("__enzyme_shouldrecompute", Registration::Recompute),
];

/// Whether the global variable of this name registers something.
pub fn is_registration(name: &str) -> bool {
    registration(name).is_some()
}

/// What the global variable of this name registers, if it is special.
pub fn registration(name: &str) -> Option<Registration> {
    REGISTRATIONS
        .iter()
        .find(|(part, _)| name.contains(part))
        .map(|&(_, registration)| registration)
}

/// The words of `annotate("…")` on functions and variables, and what each registers.
const ANNOTATIONS: &[(&str, Registration)] = &[
    ("enzyme_inactive", Registration::InactiveFunction),
    ("enzyme_inactivefn", Registration::InactiveFunction),
    ("enzyme_inactive_global", Registration::InactiveGlobal),
    ("enzyme_nofree", Registration::NoFree),
    (
        "enzyme_function_like",
        Registration::Derivative(RuleKind::Like),
    ),
    ("enzyme_allocation_like", Registration::Allocator),
    ("enzyme_shouldrecompute", Registration::Recompute),
    (
        "enzyme_register_gradient",
        Registration::Derivative(RuleKind::Gradient),
    ),
    (
        "enzyme_register_derivative",
        Registration::Derivative(RuleKind::Derivative),
    ),
    (
        "enzyme_register_splitderivative",
        Registration::Derivative(RuleKind::SplitDerivative),
    ),
    ("zymase_fast", Registration::Fast),
    ("enzyme_elementwise_read", Registration::Unsupported),
    ("enzyme_sparse_accumulate", Registration::Unsupported),
    ("enzyme_nocache", Registration::Unsupported),
];

/// What an annotation registers: `None` if it is for somebody else, an error with the word for
/// one that looks like ours and has no meaning. Words may have a value, as in `word=value`.
pub fn annotation(text: &str) -> Option<Result<Registration, String>> {
    let text = text.strip_prefix("__").unwrap_or(text);
    if !text.starts_with("enzyme_") && !text.starts_with("zymase_") {
        return None;
    }
    let word = text.split('=').next().unwrap_or(text).trim();
    let known = ANNOTATIONS.iter().find(|(known, _)| *known == word);
    Some(known.map(|(_, rule)| *rule).ok_or(word.to_string()))
}

/// The annotation closest to a misspelt one, for messages.
pub fn closest_annotation(word: &str) -> &'static str {
    ANNOTATIONS
        .iter()
        .map(|(name, _)| *name)
        .min_by_key(|name| edit_distance(name, word))
        .unwrap_or("enzyme_inactive")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_part_of_the_name() {
        let check = |name: &str, expected: Option<CallKind>| {
            assert_eq!(call_kind(name), expected, "{name}")
        };
        let derivative = |sweep| Some(CallKind::Derivative(sweep));
        check("__enzyme_autodiff", derivative(Sweep::Combined));
        check(
            "_Z17__enzyme_autodiffIdJPFddEdEET_DpT0_",
            derivative(Sweep::Combined),
        );
        check("my__enzyme_fwddiff_2", derivative(Sweep::Forward));
        check("__enzyme_augmentfwd1", derivative(Sweep::Augmented));
        check("__enzyme_reverse", derivative(Sweep::Gradient));
        check("__enzyme_virtualreverse", Some(CallKind::VirtualReverse));
        check("enzyme_autodiff", None);
        let sentence = "__enzyme_fwddiff: this program asks for derivatives";
        check(sentence, derivative(Sweep::Forward));
        assert_eq!(spoken_name(sentence), "__enzyme_fwddiff");
    }

    #[test]
    fn markers_are_known_in_c_and_cpp() {
        let check = |name: &str, expected: Option<Result<Marker, &str>>| {
            assert_eq!(
                marker(name),
                expected.map(|e| e.map_err(str::to_string)),
                "{name}"
            );
        };
        check("enzyme_dup", Some(Ok(Marker::Dup)));
        check("enzyme_dupnoneedv", Some(Ok(Marker::DupNoNeedStrided)));
        check("_ZN2ns10enzyme_dupE", Some(Ok(Marker::Dup)));
        check("enzyme_dup: build with Zymase", Some(Ok(Marker::Dup)));
        check("enzyme_foo", Some(Err("enzyme_foo")));
        check("counter", None);
        assert_eq!(closest_marker("enzyme_dub"), "enzyme_dup");
    }

    #[test]
    fn annotations_are_ours_or_not() {
        let check = |text: &str, expected: Option<Result<Registration, &str>>| {
            let expected = expected.map(|e| e.map_err(str::to_string));
            assert_eq!(annotation(text), expected, "{text}");
        };
        check("enzyme_inactive", Some(Ok(Registration::InactiveFunction)));
        check(
            "enzyme_function_like=log1p",
            Some(Ok(Registration::Derivative(RuleKind::Like))),
        );
        check("zymase_fast", Some(Ok(Registration::Fast)));
        check("enzyme_inactiv", Some(Err("enzyme_inactiv")));
        check("used by the profiler", None);
        assert_eq!(closest_annotation("enzyme_inactiv"), "enzyme_inactive");
    }
}
