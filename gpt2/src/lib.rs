//! GPT-2 in plain Rust, trained with gradients that the compiler writes.
//!
//! [`layers`] are functions on slices that fill buffers. [`model::loss`] stacks them, and has one
//! attribute: `#[autodiff_reverse]`. [`by_hand`] is the backward pass that nobody has to write any
//! more, for comparison.

pub mod by_hand;
mod config;
pub mod layers;
pub mod model;
pub mod parameters;

pub use config::{Config, ConfigError};
pub use parameters::Parameters;
