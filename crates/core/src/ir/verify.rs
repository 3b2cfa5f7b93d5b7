//! Checks that a module is well formed.
