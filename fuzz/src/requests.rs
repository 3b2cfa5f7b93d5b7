//! A module with requests, registrations and marks, chosen by bytes.

use std::fmt::Write;

/// Functions to take derivatives of, and to give as rules.
const FUNCTIONS: &str = "
%pair = type { double, float }
define double @f(double %x) {
  %y = fmul double %x, %x
  ret double %y
}
define double @g(ptr %p, i64 %n) {
  %q = getelementptr double, ptr %p, i64 %n
  %x = load double, ptr %q
  store double 1.0, ptr %p
  ret double %x
}
define void @h(ptr %p, ptr %q) {
  %x = load float, ptr %p
  %y = fmul float %x, %x
  store float %y, ptr %q
  ret void
}
define %pair @s(double %x, %pair %p) {
  %y = insertvalue %pair %p, double %x, 0
  ret %pair %y
}
define ptr @a(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
define <2 x double> @v(<2 x double> %x) {
  %y = fadd <2 x double> %x, %x
  ret <2 x double> %y
}
define { ptr, double } @aug(double %x, ptr %t) {
  %r = insertvalue { ptr, double } undef, double %x, 1
  ret { ptr, double } %r
}
define { double } @rev(double %x, double %d, ptr %t) {
  %r = insertvalue { double } undef, double %d, 0
  ret { double } %r
}
define double @many(double %x, ...) {
  ret double %x
}
declare double @only_declared(double)
declare ptr @malloc(i64)
declare void @free(ptr)
";

const TARGETS: &[&str] = &[
    "@f",
    "@g",
    "@h",
    "@s",
    "@a",
    "@v",
    "@aug",
    "@rev",
    "@many",
    "@only_declared",
    "@malloc",
    "@free",
];

const REQUESTS: &[&str] = &[
    "__enzyme_autodiff",
    "__enzyme_fwddiff",
    "__enzyme_augmentfwd",
    "__enzyme_augmentsize",
    "__enzyme_reverse",
    "__enzyme_fwdsplit",
    "__enzyme_virtualreverse",
    "__enzyme_batch",
    "__enzyme_autodiff_twice",
    "__enzyme_call_inactive",
    "__enzyme_ignore_derivatives",
    "__enzyme_double",
    "__enzyme_pointer",
    "__enzyme_integer",
    "__enzyme_float",
    "__enzyme_todense",
    "__enzyme_truncate",
    "__zymase_autodiff",
    "__zymase_bound_f",
    "__enzyme_",
];

const MARKS: &[&str] = &[
    "enzyme_dup",
    "enzyme_const",
    "enzyme_out",
    "enzyme_dupnoneed",
    "enzyme_dupv",
    "enzyme_dupnoneedv",
    "enzyme_width",
    "enzyme_vector",
    "enzyme_tape",
    "enzyme_allocated",
    "enzyme_primal_return",
    "enzyme_noret",
    "enzyme_const_return",
    "enzyme_dup_return",
    "enzyme_active_return",
    "enzyme_runtime_activity",
    "enzyme_strong_zero",
    "enzyme_byref",
    "enzyme_interleave",
    "enzyme_nofree",
    "enzyme_not_overwritten",
    "enzyme_nonsense",
];

const REGISTRATIONS: &[&str] = &[
    "__enzyme_register_gradient_f",
    "__enzyme_register_derivative_f",
    "__enzyme_register_splitderivative_f",
    "__enzyme_allocation_like",
    "__enzyme_function_like",
    "__enzyme_inactivefn",
    "__enzyme_inactive_global",
    "__enzyme_nofree",
    "__enzyme_shouldrecompute",
    "__enzyme_register_gradient",
];

/// The words of annotations and of allocators.
const STRINGS: &[&str] = &[
    "sin",
    "f",
    "malloc",
    "free",
    "0",
    "0,1",
    "-1",
    "1,x",
    "",
    "99999999999999999999",
    "new",
    "enzyme_inactive",
    "enzyme_function_like:sin",
    "enzyme_shouldrecompute",
];

const VALUES: &[&str] = &[
    "double 2.0",
    "float 1.0",
    "i32 3",
    "i64 1",
    "i64 -1",
    "i8 0",
    "i128 170141183460469231731687303715884105727",
    "ptr null",
    "ptr undef",
    "double poison",
    "%pair { double 1.0, float 2.0 }",
    "<2 x double> <double 1.0, double 2.0>",
    "<4 x float> zeroinitializer",
    "[2 x double] zeroinitializer",
    "ptr @memory",
    "ptr @text",
];

const RESULTS: &[&str] = &[
    "double",
    "void",
    "ptr",
    "i64",
    "float",
    "%pair",
    "{ ptr, double }",
    "<2 x double>",
    "i1",
    "[2 x double]",
    "i32",
];

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                (*first).into()
            }
            None => 0,
        }
    }

    fn of<'t>(&mut self, words: &[&'t str]) -> &'t str {
        words[self.next() % words.len()]
    }
}

/// The text of the module.
pub fn module(bytes: &[u8]) -> String {
    let mut bytes = Bytes(bytes);
    let mut text = FUNCTIONS.to_string();
    for mark in MARKS {
        // An old way to define them, which compilers fold.
        let linkage = ["external global i32", "global i32 0", "constant i32 0"];
        let linkage = linkage[bytes.next() % 3];
        _ = writeln!(text, "@{mark} = {linkage}");
    }
    _ = writeln!(text, "@memory = global [8 x double] zeroinitializer");
    _ = writeln!(text, "@text = constant [2 x i8] c\"f\\00\"");
    for number in 0..bytes.next() % 4 {
        registration(&mut text, number, &mut bytes);
    }
    let mut declared = std::collections::BTreeSet::new();
    for number in 0..1 + bytes.next() % 3 {
        request(&mut text, number, &mut bytes, &mut declared);
    }
    text
}

fn registration(text: &mut String, number: usize, bytes: &mut Bytes<'_>) {
    let name = bytes.of(REGISTRATIONS);
    let mut parts = Vec::new();
    for part in 0..bytes.next() % 6 {
        parts.push(match bytes.next() % 4 {
            0 | 1 => format!("ptr {}", bytes.of(TARGETS)),
            2 => {
                let words = bytes.of(STRINGS);
                let length = words.len() + 1;
                let name = format!("text.{number}.{part}");
                _ = writeln!(text, "@{name} = constant [{length} x i8] c\"{words}\\00\"");
                format!("ptr @{name}")
            }
            _ => bytes.of(VALUES).to_string(),
        });
    }
    let types: Vec<String> = parts.iter().map(|part| type_of(part)).collect();
    let (types, parts) = (types.join(", "), parts.join(", "));
    _ = match bytes.next() % 8 {
        0 => writeln!(text, "@{name}.{number} = external global ptr"),
        1 => writeln!(
            text,
            "@{name}.{number} = global {{ {types} }} zeroinitializer"
        ),
        2 => writeln!(text, "@{name}.{number} = global ptr {}", bytes.of(TARGETS)),
        _ => writeln!(
            text,
            "@{name}.{number} = global {{ {types} }} {{ {parts} }}"
        ),
    };
}

fn request(
    text: &mut String,
    number: usize,
    bytes: &mut Bytes<'_>,
    declared: &mut std::collections::BTreeSet<&'static str>,
) {
    let name = bytes.of(REQUESTS);
    let result = bytes.of(RESULTS);
    let mut args = Vec::new();
    let mut before = String::new();
    for n in 0..bytes.next() % 12 {
        args.push(match bytes.next() % 6 {
            0 => format!("ptr {}", bytes.of(TARGETS)),
            1 | 2 => {
                let mark = bytes.of(MARKS);
                _ = writeln!(before, "  %m{n} = load i32, ptr @{mark}");
                format!("i32 %m{n}")
            }
            3 if n > 0 => format!("ptr @{}", bytes.of(MARKS)),
            4 => {
                _ = writeln!(before, "  %p{n} = alloca [4 x double]");
                format!("ptr %p{n}")
            }
            _ if n == 0 => format!("ptr {}", bytes.of(TARGETS)),
            _ => bytes.of(VALUES).to_string(),
        });
    }
    if declared.insert(name) {
        _ = writeln!(text, "declare {result} @{name}(...)");
    }
    let args = args.join(", ");
    let (taken, returned) = match result {
        "void" => ("", ""),
        _ => ("%r = ", " %r"),
    };
    _ = writeln!(
        text,
        "define {result} @ask{number}() {{\n{before}  {taken}call {result} (...) @{name}({args})\n  \
         ret {result}{returned}\n}}"
    );
}

/// The type at the start of a constant.
fn type_of(constant: &str) -> String {
    match constant.chars().next() {
        Some('<') => constant.split_inclusive('>').next(),
        Some('[') => constant.split_inclusive(']').next(),
        _ => constant.split(' ').next(),
    }
    .unwrap_or("ptr")
    .to_string()
}
