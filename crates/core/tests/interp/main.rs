//! Tests of the interpreter.

mod arithmetic;
mod dual;
mod externals;
mod generated;
mod limits;
mod memory;
mod moves;
mod programs;

use zymase_core::interp::{Machine, Trap, Val};
use zymase_core::ir::Module;
use zymase_core::ir::text::parse_module;

/// The module of a text.
fn parse(text: &str) -> Module {
    parse_module(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What `@f` of a module returns.
fn run(text: &str, args: &[Val]) -> Result<Option<Val>, Trap> {
    let module = parse(text);
    let mut machine = Machine::new(&module)?;
    machine.call_by_name("f", args)
}

/// What `@f` of a module returns, or the kind of trap, as text.
fn outcome(text: &str, args: &[Val]) -> String {
    match run(text, args) {
        Ok(Some(value)) => value.to_string(),
        Ok(None) => "nothing".to_string(),
        Err(trap) => format!("{:?}", trap.kind),
    }
}

/// Checks the value of one instruction of a type.
fn check(ty: &str, instruction: &str, expected: &str) {
    let text = format!("func @f() -> {ty} {{\nentry:\n  v0 = {instruction}\n  return v0\n}}");
    assert_eq!(outcome(&text, &[]), expected, "{instruction} : {ty}");
}

/// Checks what a function body does; the function takes the arguments as `%a0`, `%a1` and so on.
fn check_body(ty: &str, body: &str, expected: &str) {
    let result = match ty {
        "void" => String::new(),
        ty => format!("-> {ty} "),
    };
    let text = format!("{DECLARATIONS}\nfunc @f() {result}{{\nentry:\n{body}\n}}");
    assert_eq!(outcome(&text, &[]), expected, "{body}");
}

const DECLARATIONS: &str = "
declare @malloc(i64) -> ptr
declare @calloc(i64, i64) -> ptr
declare @realloc(ptr, i64) -> ptr
declare @free(ptr)
declare @unknown(f64) -> f64
declare @abort()
global constant @constant size 8 align 8 = {f64 1.5}
global @table size 8 align 8 = {f64 2.5}
";
