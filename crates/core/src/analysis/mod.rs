//! Questions about functions, answered without changing them.

pub mod types;
