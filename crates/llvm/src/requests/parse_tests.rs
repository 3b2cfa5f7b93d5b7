//! The grammar of requests, tested on words.

use super::*;
use crate::requests::grammar;
use std::fmt::Write;
use zymase_core::ir::FloatKind;

/// The type of one letter: f64 `d`, f32 `f`, i32 `i`, pointer `p`, nothing `v`.
fn ty(letter: char) -> Type {
    match letter {
        'd' => Type::f64(),
        'f' => Type::float(FloatKind::F32),
        'i' => Type::int(32),
        'p' => Type::ptr(),
        _ => Type::void(),
    }
}

/// Reads words such as `dup p p out d`; digits are constants.
fn words(text: &str) -> Vec<Word> {
    let word = |word: &str| {
        if let Ok(n) = word.parse() {
            let constant = Some(n);
            return Word::Value {
                ty: ty('i'),
                constant,
            };
        }
        let (Some(letter), 1) = (word.chars().next(), word.len()) else {
            return match grammar::marker(&format!("enzyme_{word}")) {
                Some(Ok(marker)) => Word::Marker(marker),
                _ => Word::Unknown(format!("enzyme_{word}")),
            };
        };
        let constant = None;
        Word::Value {
            ty: ty(letter),
            constant,
        }
    };
    text.split_whitespace().map(word).collect()
}

/// What a request for `signature` (parameters, `>`, result; `*` before it for a result in memory)
/// reads as.
fn read(sweep: Sweep, signature: &str, text: &str) -> String {
    let (memory, signature) = match signature.strip_prefix('*') {
        Some(rest) => (true, rest),
        None => (false, signature),
    };
    let (params, ret) = signature.split_once('>').unwrap_or((signature, "v"));
    let target = Target {
        name: "f".to_string(),
        params: params.chars().map(ty).collect(),
        ret: ret.chars().next().map_or(Type::void(), ty),
        sret: memory.then(|| Type::structure(vec![Type::f64(); 3])),
    };
    let parsed = match parse(sweep, &target, &words(text)) {
        Ok(parsed) => parsed,
        Err(complaint) => return complaint.message,
    };
    let source = |source: &Source| match source {
        Source::Operand(at) => at.to_string(),
        Source::Strided {
            base,
            stride,
            index,
        } => format!("{base}+{index}*{stride}"),
        Source::Scratch => "scratch".to_string(),
        Source::Result(part) => format!("result.{part}"),
    };
    let mut out = String::new();
    for argument in &parsed.args {
        let _ = write!(
            out,
            "{} {}",
            argument.activity.name(),
            source(&argument.primal)
        );
        for shadow in &argument.shadows {
            let _ = write!(out, " {}", source(shadow));
        }
        out.push_str(", ");
    }
    let _ = write!(out, "{}", parsed.ret.name());
    if parsed.primal_return {
        out.push_str(" primal");
    }
    for seed in &parsed.seeds {
        let _ = write!(out, " seed {seed}");
    }
    if let Some(tape) = parsed.tape {
        let _ = write!(out, " tape {tape}");
    }
    out
}

#[test]
fn reverse_requests() {
    let check = |signature: &str, text: &str, expected: &str| {
        assert_eq!(
            read(Sweep::Combined, signature, text),
            expected,
            "{signature}: {text}"
        );
    };
    check("d>d", "d", "out 0, active");
    check("f>f", "d", "out 0, active");
    check("pi>d", "p p i", "dup 0 1, const 2, active");
    check("pi>d", "dup p p const i", "dup 1 2, const 4, active");
    check(
        "pp>v",
        "const p dupnoneed p p",
        "const 1, dupnoneed 3 4, const",
    );
    check("dd>d", "out d const d", "out 1, const 3, active");
    check("dd>d", "primal_return d d", "out 1, out 2, active primal");
    check("d>d", "const_return d", "out 1, const");
    check("p>d", "width 2 p p p", "dup 2 3 4, active");
    check("p>d", "width 2 dupv i p p", "dup 4 5+0*3 5+1*3, active");
    check(
        "ppi>v",
        "dup p p const i interleave p p",
        "dup 1 6, dup 2 7, const 4, const",
    );
    check("pi>v", "not_overwritten p p i", "dup 1 2, const 3, const");
    check("*pd>v", "p d", "dupnoneed scratch 0, out 1, const");
    check("i>v", "5", "const 0, const");
}

#[test]
fn forward_requests() {
    let check = |signature: &str, text: &str, expected: &str| {
        assert_eq!(
            read(Sweep::Forward, signature, text),
            expected,
            "{signature}: {text}"
        );
    };
    check("d>d", "d d", "dup 0 1, active");
    check("d>d", "dup d d", "dup 1 2, active");
    check("dp>p", "d d p p", "dup 0 1, dup 2 3, dup");
    check("d>d", "width 2 d d d", "dup 2 3 4, active");
    check("di>d", "const d i", "const 1, const 2, active");
    check("*pd>v", "d d", "dupnoneed scratch result.0, dup 0 1, const");
    check(
        "*pd>v",
        "primal_return d d",
        "dup result.0 result.1, dup 1 2, const primal",
    );
}

#[test]
fn split_requests() {
    assert_eq!(
        read(Sweep::Gradient, "p>d", "p p d p"),
        "dup 0 1, active seed 2 tape 3"
    );
    assert_eq!(read(Sweep::Augmented, "p>p", "p p"), "dup 0 1, dup");
}

#[test]
fn mistakes() {
    let check = |signature: &str, text: &str, expected: &str| {
        assert_eq!(
            read(Sweep::Combined, signature, text),
            expected,
            "{signature}: {text}"
        );
    };
    check("d>d", "foo d", "unknown marker `enzyme_foo`");
    check("pi>d", "p i", "argument 1 of `f` has no shadow");
    check("pp>d", "p p p", "argument 2 of `f` has no shadow");
    check("p>d", "width 2 p p", "argument 1 of `f` has no shadow");
    check(
        "d>d",
        "0 d",
        "an integer constant stands where argument 1 of `f` belongs",
    );
    check("d>d", "d d", "1 value is too many: `f` takes 1 argument");
    check(
        "id>d",
        "i",
        "`f` takes 2 arguments, but the request gives 1",
    );
    check(
        "i>d",
        "dup i i",
        "enzyme_dup stands before argument 1 of `f`, an integer of 32 bits",
    );
    check(
        "p>d",
        "out p",
        "enzyme_out stands before argument 1 of `f`, a pointer",
    );
    check(
        "d>d",
        "dup d d",
        "enzyme_dup stands before argument 1 of `f`, a float by value, in reverse mode",
    );
    check(
        "p>d",
        "dup const p p",
        "enzyme_dup is followed by enzyme_const",
    );
    check(
        "p>v",
        "primal_return p p",
        "enzyme_primal_return, but `f` returns nothing",
    );
    check(
        "p>d",
        "width i p p",
        "enzyme_width needs a constant from 1 to 1024, but it is not a constant",
    );
    check("d>d", "p", "argument 1 of `f` cannot be a pointer");
}
