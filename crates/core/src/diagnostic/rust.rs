//! Messages about Rust: which files users have not written, and what to do in the words of Rust.

use super::Code;
use crate::ir::Function;

/// Whether a file is one of the standard library of Rust, whose paths are those of the machine it
/// was built on, or of the crate `zymase`, through which a program asks for derivatives.
pub fn is_library(file: &str) -> bool {
    let standard = ["core", "alloc", "std"]
        .iter()
        .any(|name| file.contains(&format!("library/{name}/src/")));
    file.ends_with(".rs") && (standard || is_of_our_crate(file))
}

/// Whether a file is one that asks for derivatives in the crate `zymase`, whose folder may have a
/// version in its name.
fn is_of_our_crate(file: &str) -> bool {
    let mut parts = file.rsplit('/');
    let (name, source, package) = (parts.next(), parts.next(), parts.next());
    let version = package.and_then(|package| package.strip_prefix("zymase"));
    let is_version = |c: char| c == '-' || c == '.' || c.is_numeric();
    let asks = ["input.rs", "first.rs", "second.rs", "check.rs"];
    version.is_some_and(|version| version.chars().all(is_version))
        && source == Some("src")
        && name.is_some_and(|name| asks.contains(&name))
}

/// What a Rust function calls the parameter at a position, of which others may be parts too.
pub fn parameter(function: &Function, position: usize) -> Option<&str> {
    rustc_demangle::try_demangle(&function.name).ok()?;
    let name = &function.value(*function.arguments().get(position)?).name;
    // Names that come from elsewhere, such as `x.0`, are not those of the source program.
    let name = name.as_deref()?;
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    plain.then_some(name)
}

impl Code {
    /// What to do about a message in a Rust program that has no debug information.
    pub(super) fn help_without_files(self) -> Option<&'static str> {
        match self {
            Code::UnknownMemoryType | Code::UnknownCopyType | Code::UnknownValueType => Some(
                "compile with debug information (`-Cdebuginfo=2`), which says what memory holds; \
             `cargo zymase` always does",
            ),
            _ => None,
        }
    }

    /// What to do about a message in a Rust program, where the words of C are of no use.
    pub fn help_in_rust(self) -> Option<&'static str> {
        Some(match self {
            Code::UnknownMemoryType | Code::UnknownCopyType | Code::UnknownValueType => {
                "keep floats in fields and variables that are declared as floats, apart from what may \
             be something else in the same bytes; or give the function around this a derivative of \
             its own with `#[zymase::derivative(...)]`"
            }
            Code::FloatBits => {
                "compute with floats (`abs`, `copysign`, `sqrt`, `mul_add` have derivatives), give the \
             function a derivative of its own with `#[zymase::derivative(...)]`, or mark it \
             `#[zymase::inactive]` if no derivative is meant to flow through it"
            }
            Code::GlobalWithoutShadow => {
                "pass the number as a parameter, or read it in a function with `#[zymase::inactive]` if \
             no derivative is meant to flow through it"
            }
            Code::MaybeActive | Code::MissingPointerShadow => {
                "pass the memory as a `Duplicated` or `Dual` parameter, or as part of what the gradient \
             is taken with respect to; or keep numbers with derivatives and constants apart, in \
             memory of their own"
            }
            Code::ConstIntoDup => {
                "pass the source as a `Duplicated` or `Dual` parameter too, with a shadow of zeros"
            }
            Code::AtomicFloat => {
                "use a `Cell` or a variable, and let each thread compute a derivative of its own; or \
             pass the memory as `Const` if no derivative is meant to flow here"
            }
            Code::UnknownFunction => {
                "crates that cargo builds have their bodies, and a library in C has them if it was \
             compiled by `zymase cc -c`; otherwise call it in a function of yours with \
             `#[zymase::derivative(...)]`, which says its derivative, or with `#[zymase::inactive]`, \
             if no derivative is meant to flow through it"
            }
            Code::UnknownCallee => {
                "the functions whose address is taken must be in crates that cargo builds; or call the \
             function by its name, or in a function of yours with `#[zymase::derivative(...)]`"
            }
            Code::MayTouchGlobal => {
                "call it in a function of yours with `#[zymase::inactive]` if no derivative is meant to \
             flow through it, or pass what is in the variable as a parameter"
            }
            Code::NoRule => {
                "write it with operations that have derivatives, give the function around it a \
             derivative of its own with `#[zymase::derivative(...)]`, or mark that function \
             `#[zymase::inactive]` if no derivative is meant to flow through it"
            }
            Code::ReturnsTwice => {
                "keep it out of the differentiated functions, or in one with `#[zymase::inactive]` if no \
             derivative is meant to flow through it"
            }
            Code::NoFittingRule => {
                "write a `#[derivative(...)]` whose activities are not `Const` where a derivative flows, \
             and with `forward = ...` or `reverse = ...` for the mode that is asked for"
            }
            Code::RuleAndGlobal => "pass what is in the variable as a parameter",
            Code::ZeroDerivative => {
                "if that is meant, write `Const` for it, or mark the function that ends the derivative \
             `#[zymase::inactive]`; otherwise look for a conversion to an integer, a rounding or a \
             constant on the way"
            }
            Code::LostDerivative => {
                "pass the memory as a `Duplicated` or `Dual` parameter with a shadow of zeros, or let \
             the function use memory of its own"
            }
            Code::LargeTape => {
                "see what is kept and why with `cargo zymase explain`; or raise the limit with \
             RUSTFLAGS=-Clink-arg=--warn-cache=BYTES"
            }
            _ => return None,
        })
    }
}
