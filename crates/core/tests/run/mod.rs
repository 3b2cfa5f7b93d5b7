//! The command `run FUNCTION ARGUMENTS` of the file tests: interprets a function.
//!
//! An argument is a number, `null`, or an array of numbers such as `f64[1.0,2.5]`, which is passed
//! as a pointer and shown after the run. A float may have a tangent: `2.0~1.0`. What the program
//! returned, left in the arrays and printed is said, and how many heap objects it left behind.

use std::fmt::Write as _;
use zymase_core::interp::{Machine, Pointer, Trap, Val};
use zymase_core::ir::{DataLayout, FloatKind, Module, Type};

/// Runs a function and says what happened.
pub fn run(module: &Module, words: &[&str]) -> String {
    let Some((name, arguments)) = words.split_first() else {
        return "run: which function?".to_string();
    };
    let Some(func) = module.func_by_name(name.trim_start_matches('@')) else {
        return format!("run: there is no function {name}");
    };
    let params = &module.funcs[func].sig.params;
    if params.len() != arguments.len() {
        return format!("run: {name} takes {} arguments", params.len());
    }
    let mut machine = match Machine::new(module) {
        Ok(machine) => machine,
        Err(trap) => return format!("stops: {trap}"),
    };
    let (mut args, mut arrays) = (Vec::new(), Vec::new());
    for (word, ty) in arguments.iter().zip(params) {
        match argument(&mut machine, word, *ty) {
            Some((value, array)) => {
                args.push(value);
                arrays.extend(array);
            }
            None => return format!("run: {word:?} is no argument of type {ty}"),
        }
    }
    let result = machine.call(func, &args);
    let mut out = String::new();
    let _ = match result {
        Ok(Some(value)) => writeln!(out, "returns {value}"),
        Ok(None) => writeln!(out, "returns"),
        Err(trap) => writeln!(out, "stops: {trap}"),
    };
    let left = machine.live_heap_objects();
    for array in &arrays {
        match array.show(&mut machine) {
            Ok(text) => out.push_str(&text),
            Err(trap) => {
                let _ = writeln!(out, "an array cannot be read: {trap}");
            }
        }
    }
    for line in machine.output.lines() {
        let _ = writeln!(out, "prints {line}");
    }
    if left != arrays.len() {
        let _ = writeln!(out, "leaves {left} heap objects, {} given", arrays.len());
    }
    out
}

struct Array {
    ty: Type,
    start: Pointer,
    count: usize,
}

impl Array {
    fn show(&self, machine: &mut Machine<'_>) -> Result<String, Trap> {
        let stride = DataLayout::default().size(self.ty) as i64;
        let mut elements = Vec::new();
        for i in 0..self.count as i64 {
            let element = machine
                .memory
                .load(self.ty, self.start.offset(i * stride))?;
            elements.push(element.to_string());
        }
        Ok(format!("{}[{}]\n", self.ty, elements.join(", ")))
    }
}

fn argument(machine: &mut Machine<'_>, word: &str, ty: Type) -> Option<(Val, Option<Array>)> {
    if !ty.is_ptr() {
        return Some((number(word, ty)?, None));
    }
    if word == "null" {
        return Some((Val::null(), None));
    }
    let (element, rest) = word.split_once('[')?;
    let ty = element_type(element)?;
    let numbers = rest.strip_suffix(']')?.split(',').filter(|n| !n.is_empty());
    let values: Vec<Val> = numbers.map(|n| number(n, ty)).collect::<Option<_>>()?;
    let count = values.len();
    let start = machine.memory.new_array(ty, values.into_iter()).ok()?;
    Some((Val::Ptr(start), Some(Array { ty, start, count })))
}

fn element_type(name: &str) -> Option<Type> {
    if let Some(bits) = name.strip_prefix('i') {
        return bits.parse().ok().filter(|b| *b <= 128).map(Type::int);
    }
    let kind = FloatKind::ALL.into_iter().find(|kind| kind.name() == name);
    kind.map(Type::float)
}

fn number(word: &str, ty: Type) -> Option<Val> {
    if let Some(kind) = ty.float_kind() {
        let (number, tangent) = word.split_once('~').unwrap_or((word, "0"));
        return Some(Val::float(
            kind,
            number.parse().ok()?,
            tangent.parse().ok()?,
        ));
    }
    Some(Val::int(ty.int_bits()?, word.parse().ok()?))
}
