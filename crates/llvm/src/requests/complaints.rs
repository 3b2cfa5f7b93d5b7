//! What users are told about requests that cannot be read: one function for each mistake.

use super::grammar::{closest_annotation, closest_marker, edit_distance};
use super::parse::{Target, Word};
use zymase_core::diagnostic::{Code, Diagnostic};
use zymase_core::ir::{Activity, MathFn, RuleKind, Type, TypeKind};

type Complaint = Box<Diagnostic>;

/// A word that looks like a marker.
pub fn unknown_marker(word: &str) -> Complaint {
    Diagnostic::new(
        Code::UnknownWord,
        format!("unknown marker `{word}`"),
        "a global variable whose name begins with `enzyme_` says how to treat an argument, and this one has no meaning",
        format!("did you mean `{}`?", closest_marker(word)),
    )
}

/// A marker of the grammar that has no implementation yet.
pub fn unsupported_marker(word: &str) -> Complaint {
    Diagnostic::new(
        Code::UnsupportedWord,
        format!("`{word}` is not supported yet"),
        "Zymase cannot yet do what this marker asks for, and leaving it out would change the meaning",
        "ask for the derivative without it",
    )
}

/// A call of the grammar that has no implementation yet.
pub fn unsupported_call(name: &str) -> Complaint {
    Diagnostic::new(
        Code::UnsupportedWord,
        format!("`{name}` is not supported yet"),
        "Zymase knows this request but cannot serve it",
        "use __enzyme_autodiff (reverse mode) or __enzyme_fwddiff (forward mode)",
    )
}

/// The function to differentiate takes any number of arguments.
pub fn variadic(name: &str) -> Complaint {
    Diagnostic::new(
        Code::Variadic,
        format!("`{name}` is variadic, so it has no derivative"),
        "there is no place for shadows among arguments that only the function itself can tell apart",
        "pass the values in an array, or write a function with fixed parameters",
    )
}

/// An annotation that looks like one of ours.
pub fn unknown_annotation(word: &str, about: &str) -> Complaint {
    Diagnostic::new(
        Code::UnknownWord,
        format!("unknown annotation `{word}` on `{about}`"),
        "an annotation that begins with `enzyme_` says how to differentiate a function or variable, and this one has no meaning",
        format!("did you mean `{}`?", closest_annotation(word)),
    )
}

/// A registration of a derivative without what it needs.
pub fn malformed_rule(by: &str, kind: RuleKind) -> Complaint {
    let entries = match kind {
        RuleKind::Gradient | RuleKind::Pullback => "{f, augmented_f, gradient_f}",
        RuleKind::Derivative => "{f, tangent_f}",
        RuleKind::SplitDerivative => "{f, augmented_f, tangent_f}",
        RuleKind::Like => "{f, \"log1p\"}",
    };
    Diagnostic::new(
        Code::MalformedRule,
        format!("cannot read the registration `{by}`"),
        format!("it should have the entries {entries}, known at compile time"),
        match kind {
            RuleKind::Like => "name the function, then a function of the library",
            _ => {
                "name the functions themselves; a string at the end, as in \"dup,const,out\", \
                 says which activities the rule handles"
            }
        },
    )
}

/// A registration of an allocator that is none.
pub fn malformed_allocator(by: &str) -> Complaint {
    Diagnostic::new(
        Code::MalformedAllocator,
        format!("cannot read the registration `{by}`"),
        "it should have the entries {alloc, (void *)size_argument, \"arguments of free\", free}, \
         known at compile time",
        ALLOCATOR_HELP,
    )
}

/// An allocator without what frees its memory.
pub fn allocator_without_free(by: &str, about: &str) -> Complaint {
    Diagnostic::new(
        Code::MalformedAllocator,
        format!("the allocator `{about}` is registered without what frees its memory"),
        format!(
            "shadows are allocated by `{about}` too, and the derivative has to free them; `{by}` \
             does not say how"
        ),
        ALLOCATOR_HELP,
    )
}

/// An allocator whose size is no argument.
pub fn allocator_without_size(by: &str, about: &str, index: i64, what: &str) -> Complaint {
    Diagnostic::new(
        Code::MalformedAllocator,
        format!("argument {index} of the allocator `{about}` is no size in bytes"),
        format!("`{by}` says that it is, but {what}"),
        "give the position of the argument with the size; the first one is 0",
    )
}

/// A function that cannot free what an allocator made.
pub fn wrong_free(by: &str, about: &str, free: &str, what: &str) -> Complaint {
    Diagnostic::new(
        Code::MalformedAllocator,
        format!("`{free}` cannot be called to free what `{about}` allocates"),
        format!("{what}; that is what `{by}` says"),
        format!(
            "list what `{free}` takes, in its order: -1 for the memory, and for others the \
             positions of the arguments of `{about}`, as in \"-1,0\""
        ),
    )
}

const ALLOCATOR_HELP: &str = "name the function that allocates, the position of the argument with \
    the size in bytes, what the function takes that frees (-1 is the memory, 0 the first argument \
    of the allocation), and that function: {alloc, (void *)0, \"-1\", release}";

/// A function of a rule that is not there.
pub fn missing_part(by: &str, name: &str) -> Complaint {
    Diagnostic::new(
        Code::MalformedRule,
        format!("there is no function `{name}` for the annotation `{by}`"),
        "the parts of a rule are named as the linker knows them, and must be in the same file",
        "declare the function in this file, in C++ as extern \"C\"",
    )
}

/// A word in the activities of a rule.
pub fn unknown_activity(by: &str, word: &str) -> Complaint {
    let known: Vec<&str> = Activity::ALL.iter().map(|a| a.name()).collect();
    Diagnostic::new(
        Code::MalformedRule,
        format!("unknown activity `{word}` in the registration `{by}`"),
        "the last entry says for each argument which activity the rule handles",
        format!("write one of {}", known.join(", ")),
    )
}

/// A rule with another number of activities than the function has arguments.
pub fn wrong_activities(by: &str, about: &str, found: usize, expected: usize) -> Complaint {
    Diagnostic::new(
        Code::MalformedRule,
        format!("the registration `{by}` has activities for {found} arguments"),
        format!("`{about}` takes {expected}"),
        "write one activity for each argument",
    )
}

/// A function that is said to be like something unknown.
pub fn unknown_library_function(about: &str, name: &str) -> Complaint {
    let mut known: Vec<&str> = MathFn::ALL.iter().map(|f| f.name()).collect();
    known.sort_by_key(|known| (edit_distance(known, name), known.len().abs_diff(name.len())));
    Diagnostic::new(
        Code::WrongLike,
        format!("`{about}` cannot be like `{name}`"),
        "no derivative of a library function of that name is known",
        format!("did you mean {}?", known[..3].join(", ")),
    )
}

/// A function that is said to be like one of another type.
pub fn unlike(about: &str, name: &str, found: &str) -> Complaint {
    Diagnostic::new(
        Code::WrongLike,
        format!("`{about}` cannot be like `{name}`"),
        format!("its types are {found}, and `{name}` has others"),
        "name a function of the same types",
    )
}

/// An annotation of something that is neither a function nor a global variable.
pub fn annotated_value(word: &str) -> Complaint {
    Diagnostic::new(
        Code::AnnotatedValue,
        format!("the annotation `{word}` stands on a local variable, parameter or field"),
        "Zymase reads annotations of functions and global variables only, and leaving this one out would change the meaning",
        "annotate the function or the global variable, or pass the value as enzyme_const",
    )
}

/// A type hint about something that is not memory.
pub fn hint_without_pointer(name: &str) -> Complaint {
    Diagnostic::new(
        Code::HintWithoutPointer,
        format!("`{name}` is not called with a pointer"),
        "a type hint says what the memory at a pointer holds",
        format!("write it as `{name}(p);` or `{name}(p, bytes);`, and use no result of it"),
    )
}

/// The function is not a constant.
pub fn not_a_function(name: &str) -> Complaint {
    Diagnostic::new(
        Code::NoFunction,
        format!("the first argument of `{name}` is not a function known at compile time"),
        "a derivative is written for one function; this pointer may hold any",
        "pass the function itself, one request for each function that may be meant",
    )
}

/// The request function is used as a value.
pub fn address_taken(name: &str) -> Complaint {
    Diagnostic::new(
        Code::RequestAsValue,
        format!("`{name}` is used other than to call it"),
        "a request is served where it is called; through a pointer it cannot be seen",
        "call it directly",
    )
}

/// The request has no arguments.
pub fn no_function(name: &str) -> Complaint {
    Diagnostic::new(
        Code::NoFunction,
        format!("`{name}` is called without a function"),
        "the first argument is the function to differentiate",
        "write it as `__enzyme_autodiff((void *)f, …)`",
    )
}

/// The function has no body.
pub fn only_declared(name: &str) -> Complaint {
    Diagnostic::new(
        Code::OnlyDeclared,
        format!("`{name}` is only declared, so it has no derivative"),
        "its body is not in this module, nor in any bitcode that was given",
        format!("compile the file that defines `{name}` with Zymase too, and link both with it"),
    )
}

/// An integer constant where a float or pointer belongs.
pub fn folded_marker(target: &Target, index: usize) -> Complaint {
    Diagnostic::new(
        Code::FoldedMarker,
        format!(
            "an integer constant stands where {} belongs",
            argument(target, index)
        ),
        "if this was a marker such as enzyme_dup, an optimizer has replaced it by its value, because the marker is defined (`int enzyme_dup;`) in the same file",
        "declare markers as `extern int enzyme_dup;`, or let `zymase cc` compile the file",
    )
}

/// A value of another kind.
pub fn wrong_type(target: &Target, index: usize, given: Type) -> Complaint {
    Diagnostic::new(
        Code::WrongArgument,
        format!("{} cannot be {}", argument(target, index), noun(given)),
        format!(
            "`{}` takes {} there",
            target.name,
            noun(target.params[index])
        ),
        "pass the arguments in the order of the function, each after its marker and before its shadow",
    )
}

/// An argument without its shadow.
pub fn missing_shadow(target: &Target, index: usize, width: u32, found: Option<Type>) -> Complaint {
    let reason = match found {
        Some(ty) => format!(
            "{} follows where a shadow of type {} belongs",
            noun(ty),
            target.params[index]
        ),
        None => "the shadow must follow the argument".to_string(),
    };
    let reason = match width {
        1 => reason,
        n => {
            format!("{reason}; with enzyme_width {n} there are {n} shadows for each such argument")
        }
    };
    let help = "pass the shadow after the argument, or write enzyme_const before an argument without derivative";
    Diagnostic::new(
        Code::MissingShadow,
        format!("{} has no shadow", argument(target, index)),
        reason,
        help,
    )
}

/// A strided argument without its stride.
pub fn missing_stride(target: &Target, index: usize) -> Complaint {
    Diagnostic::new(
        Code::MissingShadow,
        format!("{} has no stride", argument(target, index)),
        "enzyme_dupv is followed by the distance in bytes from one shadow to the next",
        "write `enzyme_dupv, sizeof(double) * n, x, dx`",
    )
}

/// The call ends early.
pub fn too_few_arguments(target: &Target, given: usize) -> Complaint {
    Diagnostic::new(
        Code::ArgumentCount,
        format!(
            "`{}` takes {}, but the request gives {given}",
            target.name,
            count(target.params.len(), "argument")
        ),
        "an argument that is a pointer, or a float in forward mode, takes a shadow too unless enzyme_const stands before it",
        "pass every argument of the function",
    )
}

/// The call goes on after the last argument.
pub fn too_many_arguments(
    target: &Target,
    words: &[Word],
    from: usize,
    marker: Option<&str>,
) -> Complaint {
    let extra = words[from..]
        .iter()
        .filter(|w| matches!(w, Word::Value { .. }))
        .count();
    let constants = words.iter().any(|w| {
        matches!(
            w,
            Word::Value {
                constant: Some(_),
                ..
            }
        )
    });
    let reason = match (marker, constants) {
        (Some(marker), _) => format!("{marker} begins one more argument"),
        (None, true) => "if markers such as enzyme_dup are defined (`int enzyme_dup;`) in the same file, an optimizer replaces them by their value and they read as arguments".to_string(),
        (None, false) => "a float by value has no shadow in reverse mode, and a combined call takes no seed: the seed of the result is 1".to_string(),
    };
    let help = match constants {
        true => {
            "declare markers as `extern int enzyme_dup;`, and pass every argument of the function once"
        }
        false => {
            "pass every argument once; to choose the seed, return the result through a pointer, whose shadow is the seed"
        }
    };
    let verb = if extra == 1 { "is" } else { "are" };
    Diagnostic::new(
        Code::ArgumentCount,
        format!(
            "{} too many: `{}` takes {}",
            format_args!("{} {verb}", count(extra, "value")),
            target.name,
            count(target.params.len(), "argument")
        ),
        reason,
        help,
    )
}

/// A marker followed by no value.
pub fn marker_without_value(marker: &str, next: &str) -> Complaint {
    Diagnostic::new(
        Code::MarkerAlone,
        format!("{marker} is followed by {next}"),
        "an activity marker says how to treat the value after it",
        format!("write the argument after {marker}, or remove the marker"),
    )
}

/// A marker that gives a shadow to something that has no derivative.
pub fn shadow_for_integer(target: &Target, index: usize, marker: &str) -> Complaint {
    Diagnostic::new(
        Code::WrongMarker,
        format!(
            "{marker} stands before {}, {}",
            argument(target, index),
            noun(target.params[index])
        ),
        "integers have no derivative",
        "write enzyme_const, and no shadow",
    )
}

/// Out on a pointer.
pub fn out_on_pointer(target: &Target, index: usize) -> Complaint {
    Diagnostic::new(
        Code::WrongMarker,
        format!(
            "enzyme_out stands before {}, a pointer",
            argument(target, index)
        ),
        "enzyme_out returns the derivative of a float by value; what a pointer leads to needs memory for its derivatives",
        "write enzyme_dup, the pointer, and a pointer to the memory for the derivatives",
    )
}

/// Out in forward mode.
pub fn out_in_forward(target: &Target, index: usize) -> Complaint {
    Diagnostic::new(
        Code::WrongMarker,
        format!(
            "enzyme_out stands before {} in forward mode",
            argument(target, index)
        ),
        "forward mode takes the derivatives of the arguments and returns that of the result",
        "write enzyme_dup, the argument and its tangent",
    )
}

/// Dup on a float by value in reverse mode.
pub fn dup_on_scalar(target: &Target, index: usize, marker: &str) -> Complaint {
    Diagnostic::new(
        Code::WrongMarker,
        format!(
            "{marker} stands before {}, a float by value, in reverse mode",
            argument(target, index)
        ),
        "a value has no memory that its derivative could be added to",
        "write enzyme_out, and no shadow: the derivative is returned",
    )
}

/// A return marker that does not fit the result.
pub fn wrong_return(target: &Target, marker: &str, ty: Type) -> Complaint {
    Diagnostic::new(
        Code::WrongReturnMarker,
        format!(
            "{marker} does not fit `{}`, which returns {}",
            target.name,
            noun(ty)
        ),
        "enzyme_active_return is for floats, enzyme_dup_return for pointers",
        "remove the marker, or write enzyme_const_return",
    )
}

/// A result of several floats in a combined call.
pub fn no_seed(target: &Target, ty: Type) -> Complaint {
    Diagnostic::new(
        Code::NoSeed,
        format!("`{}` returns {}, which has no seed", target.name, noun(ty)),
        "reverse mode starts from the derivative of one number with respect to itself, 1; several numbers need a seed each",
        "return the result through a pointer, and put the seeds in its shadow",
    )
}

/// The primal result of a function without one.
pub fn primal_return_of_void(target: &Target) -> Complaint {
    Diagnostic::new(
        Code::WrongReturnMarker,
        format!(
            "enzyme_primal_return, but `{}` returns nothing",
            target.name
        ),
        "the marker asks for the result of the function beside its derivative",
        "remove the marker",
    )
}

/// The primal result in split mode.
pub fn primal_return_in_split(target: &Target) -> Complaint {
    Diagnostic::new(
        Code::WrongReturnMarker,
        format!(
            "enzyme_primal_return in a split derivative of `{}`",
            target.name
        ),
        "__enzyme_augmentfwd returns the result of the function anyway, and __enzyme_reverse has none",
        "remove the marker",
    )
}

/// A width that is no number.
pub fn bad_width(given: &str) -> Complaint {
    Diagnostic::new(
        Code::MarkerAlone,
        format!("enzyme_width needs a constant from 1 to 1024, but it is {given}"),
        "the number of derivatives at once decides the code that is written",
        "write the number itself, such as `enzyme_width, 4`",
    )
}

/// Seeds and tape of the second half do not add up.
pub fn seeds_and_tape(target: &Target, seeds: usize, given: usize) -> Complaint {
    Diagnostic::new(
        Code::TapeWords,
        format!(
            "the reverse half of `{}` takes {} and the tape after its arguments, but {given} given",
            target.name,
            count(seeds, "seed"),
            given = match given {
                1 => "1 value is".to_string(),
                n => format!("{n} values are"),
            }
        ),
        "the seed is the derivative with respect to the result; the tape is what __enzyme_augmentfwd returned",
        "pass the arguments as to __enzyme_augmentfwd, then the seed if the result is a float, then the tape",
    )
}

/// The result of the call cannot be the derivatives.
pub fn wrong_result(target: &str, given: Type, wanted: Type) -> Complaint {
    Diagnostic::new(
        Code::WrongResult,
        format!(
            "the request returns {}, but this derivative of `{target}` is {}",
            noun(given),
            noun(wanted)
        ),
        "reverse mode returns the derivatives of the enzyme_out arguments in order, forward mode the tangent of the result; with enzyme_primal_return the primal result comes first",
        "declare the request function with that result",
    )
}

/// A word about the tape where there is none.
pub fn no_tape(marker: &str) -> Complaint {
    Diagnostic::new(
        Code::TapeWords,
        format!("{marker} in a request that has no tape"),
        "only the two halves of reverse mode hand a tape from one to the other",
        "remove the marker, or use __enzyme_augmentfwd and __enzyme_reverse",
    )
}

/// A marker that something else follows than it needs.
pub fn marker_needs(marker: &str, what: &str) -> Complaint {
    Diagnostic::new(
        Code::MarkerAlone,
        format!("{marker} is followed by no value that it can use"),
        format!("{what} must come after it"),
        format!("write `{marker}, value`"),
    )
}

fn argument(target: &Target, index: usize) -> String {
    // Memory for the result is an argument that the source program does not see.
    match target.sret {
        Some(_) if index == 0 => format!("the result of `{}`", target.name),
        Some(_) => format!("argument {index} of `{}`", target.name),
        None => format!("argument {} of `{}`", index + 1, target.name),
    }
}

fn count(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// A type in words.
fn noun(ty: Type) -> String {
    match ty.kind() {
        TypeKind::Void => "nothing".to_string(),
        TypeKind::Int(bits) => format!("an integer of {bits} bits"),
        TypeKind::Float(kind) => format!("a float ({})", kind.name()),
        TypeKind::Ptr(_) => "a pointer".to_string(),
        _ => format!("several values ({ty})"),
    }
}
