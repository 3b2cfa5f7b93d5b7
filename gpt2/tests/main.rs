//! All tests in one program: it takes Zymase longer to write the derivatives of the model than to run
//! the tests, so they are written once.

mod agreement;
mod checkpoints;
mod command_line;
mod common;
mod data;
mod llm_c;
mod optimizer;
mod resume;
mod sampling;
mod schedule;
