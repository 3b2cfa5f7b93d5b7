//! The commands.

pub mod convert;
pub mod sample;
pub mod tokenize;
pub mod train;
mod train_arguments;
