//! Files that cannot be read or written, and a command line that cannot be understood.

mod common;

use common::{Folder, shown, succeed};
use expect_test::{Expect, expect};

const PROGRAM: &str = "define double @f(double %x) {\n  ret double %x\n}\n";

fn check(files: &[(&str, &str)], words: &str, expected: Expect) {
    let folder = Folder::with(files);
    let before = folder.files();
    expected.assert_eq(&shown(&folder.zymase(words)));
    assert_eq!(folder.files(), before);
}

#[test]
fn missing_file() {
    check(
        &[],
        "opt nowhere.ll -o out.ll",
        expect![[r#"
            exit code 1
            error[Z0801]: cannot read nowhere.ll
             |
             = note: there is no such file
             = help: give the path of a file that can be read
        "#]],
    );
}

#[test]
fn garbage() {
    check(
        &[("in.bc", "\u{1}\u{2}garbage")],
        "opt in.bc -o out.bc",
        expect![[r#"
            exit code 1
            error[Z0803]: cannot read in.bc
             |
             = note: in.bc:1:1: error: expected top-level entity
                     garbage
                     ^
             = help: give bitcode (.bc) or text (.ll) of LLVM 22 or older
        "#]],
    );
}

#[test]
fn not_a_valid_module() {
    let program = "define double @f(double %x) {\n  %y = fadd double %z, %x\n  ret double %y\n}\n";
    check(
        &[("in.ll", program)],
        "opt in.ll -o out.ll",
        expect![[r#"
            exit code 1
            error[Z0803]: cannot read in.ll
             |
             = note: in.ll:2:20: error: use of undefined value '%z'
                       %y = fadd double %z, %x
                                        ^
             = help: give bitcode (.bc) or text (.ll) of LLVM 22 or older
        "#]],
    );
}

#[test]
fn output_in_no_folder() {
    check(
        &[("in.ll", PROGRAM)],
        "opt in.ll -o no/where/out.ll",
        expect![[r#"
            exit code 1
            error[Z0802]: cannot write no/where/out.ll
             |
             = note: its folder does not exist
             = help: give a path that can be written
        "#]],
    );
}

#[test]
fn no_input() {
    check(
        &[],
        "opt",
        expect![[r#"
        exit code 2
        error: the following required arguments were not provided:
          <IN>

        Usage: zymase opt <IN>

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn unknown_step() {
    check(
        &[("in.ll", PROGRAM)],
        "opt in.ll --emit tape",
        expect![[r#"
            exit code 2
            error: invalid value 'tape' for '--emit <EMIT>'
              [possible values: core, llvm, bc, obj]

            For more information, try '--help'.
        "#]],
    );
}

/// Bitcode cut at any length is an error message, never a crash or a file.
#[test]
fn truncated_bitcode() {
    let folder = Folder::with(&[("in.ll", PROGRAM)]);
    succeed(&folder.zymase("opt in.ll -o whole.bc"));
    let whole = std::fs::read(folder.path().join("whole.bc")).unwrap();
    for length in (0..whole.len()).step_by(whole.len() / 8) {
        std::fs::write(folder.path().join("cut.bc"), &whole[..length]).unwrap();
        let output = folder.zymase("opt cut.bc -o out.bc");
        // An empty file is an empty module in the text form.
        assert_eq!(
            output.status.code(),
            Some(i32::from(length != 0)),
            "{length}"
        );
        if length != 0 {
            assert!(shown(&output).contains("error[Z"), "{}", shown(&output));
            assert!(!folder.path().join("out.bc").exists());
        } else {
            std::fs::remove_file(folder.path().join("out.bc")).unwrap();
        }
    }
}

/// A module that asks for nothing comes out as it went in.
#[test]
fn nothing_asked_for() {
    let folder = Folder::with(&[("in.ll", PROGRAM)]);
    let text = succeed(&folder.zymase("opt in.ll"));
    assert!(text.ends_with(PROGRAM), "{text}");
    let text = succeed(&folder.zymase("explain in.ll"));
    expect![[r#"
        in.ll asks for no derivative.
    "#]]
    .assert_eq(&text);
}
