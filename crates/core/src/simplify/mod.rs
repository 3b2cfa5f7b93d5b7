//! Passes that bring functions into simpler forms with the same meaning.

pub mod canonical_loops;
