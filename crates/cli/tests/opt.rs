//! `zymase opt` and `zymase explain` on modules with requests.

mod common;

use common::{Folder, binary, shown, succeed};
use std::process::Command;

const F: &str = "define double @f(double %x) #0 {
  %y = fmul double %x, %x
  ret double %y
}
";

/// A function that asks, with its markers by value or by address.
fn program(marker: &str) -> String {
    format!(
        "{F}
define double @slope(double %x) {{
  %m = load i32, ptr @enzyme_out, align 4
  %r = call double (ptr, ...) @__enzyme_autodiff(ptr @f, {marker}, double %x)
  ret double %r
}}
@enzyme_out = external global i32
declare double @__enzyme_autodiff(ptr, ...)
attributes #0 = {{ noinline optnone }}
"
    )
}

/// Originals stay as they were, and nothing is left of the request.
#[test]
fn originals_are_untouched() {
    for marker in ["i32 %m", "ptr @enzyme_out"] {
        let folder = Folder::with(&[("in.ll", &program(marker))]);
        let text = succeed(&folder.zymase("opt in.ll"));
        let body = "  %y = fmul double %x, %x\n  ret double %y\n}\n";
        assert!(text.contains(body), "{text}");
        assert!(
            text.contains("call double @__zymase_request_0(double %x)"),
            "{text}"
        );
        assert!(
            text.contains("define internal double @__zymase_request_0"),
            "{text}"
        );
        assert!(!text.contains("__enzyme"), "{text}");
    }
}

#[test]
fn every_kind_of_output() {
    let folder = Folder::with(&[("in.ll", &program("i32 %m"))]);
    let check = |words: &str, file: &str, start: &[u8]| {
        succeed(&folder.zymase(words));
        let bytes = std::fs::read(folder.path().join(file)).unwrap();
        assert!(bytes.starts_with(start), "{words}");
    };
    check("opt in.ll -o out.bc", "out.bc", b"BC\xC0\xDE");
    check("opt in.ll -o out.o", "out.o", b"\x7fELF");
    check("opt in.ll --emit obj -o out", "out", b"\x7fELF");
    check("opt in.ll -o out.ll", "out.ll", b"; ModuleID");
    let core = succeed(&folder.zymase("opt in.ll --emit core"));
    assert!(core.contains("__zymase_request_0"), "{core}");
}

#[test]
fn steps_can_be_printed() {
    let folder = Folder::with(&[("in.ll", &program("i32 %m"))]);
    for step in [
        "requests",
        "isolate",
        "prepare",
        "import",
        "derivatives",
        "export",
        "finish",
    ] {
        let output = folder.zymase(&format!("opt in.ll -o out.ll --print-after {step}"));
        succeed(&output);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with(&format!("; after {step}\n")), "{text}");
    }
}

#[test]
fn explain() {
    let folder = Folder::with(&[("in.ll", &program("i32 %m"))]);
    let text = succeed(&folder.zymase("explain in.ll --plan everything"));
    assert!(
        text.starts_with("combined derivative of `f`\n  argument 1: out\n  result: active\n"),
        "{text}"
    );
    assert!(text.contains("reverse mode of `f`"), "{text}");
}

/// A seed of choices by chance that is none would go unnoticed: the choices would be the usual ones.
#[test]
fn a_seed_that_is_not_a_number() {
    let folder = Folder::with(&[("in.ll", &program("i32 %m"))]);
    let chaotic = |seed: &str, words: &[&str]| {
        let mut command = Command::new(binary());
        command.env("ZYMASE_CHAOS", seed).args(words);
        command.current_dir(folder.path()).output().unwrap()
    };
    succeed(&chaotic("17", &["opt", "in.ll"]));
    for seed in ["", "seven", "-1", "1.5", "18446744073709551616"] {
        for words in [["demo"].as_slice(), &["opt", "missing.ll"], &["cc", "-c"]] {
            let told = shown(&chaotic(seed, words));
            let expected = format!(
                "exit code 2\nerror: invalid value '{seed}' of ZYMASE_CHAOS in the environment: \
                 not a number from 0 to 18446744073709551615\n"
            );
            assert!(told.starts_with(&expected), "{told}");
        }
    }
}
