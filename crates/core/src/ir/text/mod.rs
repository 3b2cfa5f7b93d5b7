//! The text form of the IR.

mod constants;
mod context;
mod cursor;
mod lexer;
mod names;
mod parse_body;
mod parse_inst;
mod parser;
mod print_inst;
mod printer;

pub(crate) use names::Names;
pub(crate) use print_inst::InstPrinter;

pub use parser::{ParseError, parse_module};
pub use printer::{print_function, print_module};
