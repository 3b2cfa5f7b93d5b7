//! GPT-2 in plain Rust, trained with gradients that the compiler writes.
//!
//! [`layers`] are functions on slices that fill buffers. [`model::loss`] stacks them, and has one
//! attribute: `#[autodiff_reverse]`. [`by_hand`] is the backward pass that nobody has to write any
//! more, for comparison. Everything else is what training needs around it: [`data`] through a
//! [`tokenizer`], steps of the [`optimizer`] by [`train`], and [`checkpoint`]s.

pub mod by_hand;
pub mod checkpoint;
mod config;
pub mod curve;
pub mod data;
pub mod error;
mod init;
pub mod layers;
pub mod method;
pub mod model;
pub mod optimizer;
pub mod parameters;
pub mod progress;
pub mod random;
pub mod sample;
pub mod schedule;
pub mod threads;
pub mod tokenizer;
pub mod train;

pub use config::{Config, ConfigError};
pub use error::Error;
pub use parameters::Parameters;
