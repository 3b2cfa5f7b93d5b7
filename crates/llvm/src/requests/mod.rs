//! Requests for derivatives: found in a module of LLVM before any pass, and made instructions of
//! core after import.
//!
//! The way of a request:
//!
//! 1. [`pin()`] reads every call of a request function by the [grammar], and replaces it by a call of
//!    a new external function `__zymase_request_<n>` that takes only primal and shadow values.
//!    No optimizer can disturb that, and what was read is kept beside the module ([`Pins`]).
//! 2. [`lower`](lower::lower) gives each of these functions a body in core: the request itself, with
//!    conversions between what the C calling convention passes and what the derivative takes.
//!
//! So programs that ask for a derivative are never imported (unless derivatives are taken of them
//! too): they call a function, and it is defined when the derivatives exist.

mod allocators;
mod barriers;
mod bind;
mod calls;
mod checks;
mod complaints;
mod expose;
mod grammar;
mod hints;
mod lower;
mod marks;
mod operands;
mod parse;
mod pin;
mod places;
mod registrations;
mod ruled;
mod settings;
mod types;

pub use allocators::Allocator;
pub use bind::erase_bound;
pub(crate) use calls::is_target_of_request;
pub use complaints::only_declared;
pub use grammar::{COMMON_PREFIX, is_registration, is_request};
pub use hints::erase_hints;
pub use lower::lower;
pub use marks::{
    Definition, definition, definitions, has_symbol, is_known_function, is_unoptimized,
    mark_own_debug, mark_unoptimized, settle_markers, speaks_to_us, strip_debug, strip_own_debug,
    was_optimized,
};
pub(crate) use marks::{note_variable, noted_variables};
pub use parse::{Argument, Parsed, Source};
pub use pin::{Pinned, Pins, pin};
pub use registrations::{Registered, Rule};
