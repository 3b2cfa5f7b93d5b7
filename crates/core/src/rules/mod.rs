//! The derivative rules, as data.
