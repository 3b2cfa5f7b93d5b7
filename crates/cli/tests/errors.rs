//! Every refusal of a request, with the text that the user sees.

mod common;

use common::{Folder, shown};
use expect_test::{Expect, expect};

/// Declarations that the programs below use.
const PRELUDE: &str = "
@enzyme_dup = external global i32
@enzyme_out = external global i32
@enzyme_const = external global i32
@enzyme_foo = external global i32
@enzyme_width = external global i32
@enzyme_primal_return = external global i32
@enzyme_tape = external global i32
@enzyme_nofree = external global i32
@enzyme_runtime_activity = external global i32
declare double @__enzyme_autodiff(ptr, ...)
declare double @__enzyme_fwddiff(ptr, ...)
declare ptr @__enzyme_augmentfwd(ptr, ...)
declare i64 @__enzyme_batch(ptr, ...)
declare float @__enzyme_autodiff_float(ptr, ...)
declare double @elsewhere(double)
define double @f(double %x) {
  %y = fmul double %x, %x
  ret double %y
}
define double @sum(ptr %p, i32 %n) {
  %y = load double, ptr %p
  ret double %y
}
define void @nothing(ptr %p) {
  ret void
}
define { double, double } @pair(double %x) {
  %a = insertvalue { double, double } poison, double %x, 0
  %b = insertvalue { double, double } %a, double %x, 1
  ret { double, double } %b
}
";

/// Checks the message for a function `main` with this body, and that nothing is written.
fn check(body: &str, expected: Expect) {
    let program =
        format!("{PRELUDE}define void @main(ptr %p, ptr %q, i32 %n) {{\n{body}\n  ret void\n}}\n");
    let folder = Folder::with(&[("in.ll", &program)]);
    let output = folder.zymase("opt in.ll -o out.ll");
    expected.assert_eq(&shown(&output));
    assert_eq!(folder.files(), ["in.ll"]);
}

/// A call of reverse mode.
fn reverse(args: &str) -> String {
    let mut body = String::new();
    let mut words = Vec::new();
    for (number, word) in args.split(", ").enumerate() {
        if word.starts_with("enzyme_") {
            body.push_str(&format!("  %m{number} = load i32, ptr @{word}\n"));
            words.push(format!("i32 %m{number}"));
        } else {
            words.push(word.to_string());
        }
    }
    let words = words.join(", ");
    format!("{body}  %r = call double (ptr, ...) @__enzyme_autodiff({words})")
}

#[test]
fn only_declared() {
    check(
        &reverse("ptr @elsewhere, double 1.0"),
        expect![[r#"
            exit code 1
            error[Z0105]: `elsewhere` is only declared, so it has no derivative
             |
             = note: in function `main`; compile with -g to see the line
             = note: its body is not in this module, nor in any bitcode that was given
             = help: compile the file that defines `elsewhere` with Zymase too, and link both with it
        "#]],
    );
}

#[test]
fn unknown_marker() {
    check(
        &reverse("ptr @f, enzyme_foo, double 1.0"),
        expect![[r#"
        exit code 1
        error[Z0101]: unknown marker `enzyme_foo`
         |
         = note: in function `main`; compile with -g to see the line
         = note: a global variable whose name begins with `enzyme_` says how to treat an argument, and this one has no meaning
         = help: did you mean `enzyme_dup`?
    "#]],
    );
}

#[test]
fn memory_for_a_tape_in_combined_mode() {
    check(
        &reverse("ptr @f, enzyme_tape, ptr %p, double 1.0"),
        expect![[r#"
            exit code 1
            error[Z0115]: enzyme_tape in a request that has no tape
             |
             = note: in function `main`; compile with -g to see the line
             = note: only the two halves of reverse mode hand a tape from one to the other
             = help: remove the marker, or use __enzyme_augmentfwd and __enzyme_reverse
        "#]],
    );
}

#[test]
fn folded_marker() {
    check(
        &reverse("ptr @f, i32 0, double 1.0"),
        expect![[r#"
        exit code 1
        error[Z0106]: an integer constant stands where argument 1 of `f` belongs
         |
         = note: in function `main`; compile with -g to see the line
         = note: if this was a marker such as enzyme_dup, an optimizer has replaced it by its value, because the marker is defined (`int enzyme_dup;`) in the same file
         = help: declare markers as `extern int enzyme_dup;`, or let `zymase cc` compile the file
    "#]],
    );
}

#[test]
fn missing_shadow() {
    check(
        &reverse("ptr @sum, ptr %p, i32 %n"),
        expect![[r#"
        exit code 1
        error[Z0109]: argument 1 of `sum` has no shadow
         |
         = note: in function `main`; compile with -g to see the line
         = note: an integer of 32 bits follows where a shadow of type ptr belongs
         = help: pass the shadow after the argument, or write enzyme_const before an argument without derivative
    "#]],
    );
}

#[test]
fn missing_shadow_at_the_end() {
    check(
        &reverse("ptr @nothing, enzyme_dup, ptr %p"),
        expect![[r#"
        exit code 1
        error[Z0109]: argument 1 of `nothing` has no shadow
         |
         = note: in function `main`; compile with -g to see the line
         = note: the shadow must follow the argument
         = help: pass the shadow after the argument, or write enzyme_const before an argument without derivative
    "#]],
    );
}

#[test]
fn too_few_shadows_for_the_width() {
    check(
        &reverse("ptr @sum, enzyme_width, i32 2, ptr %p, ptr %q, i32 %n"),
        expect![[r#"
            exit code 1
            error[Z0109]: argument 1 of `sum` has no shadow
             |
             = note: in function `main`; compile with -g to see the line
             = note: an integer of 32 bits follows where a shadow of type ptr belongs; with enzyme_width 2 there are 2 shadows for each such argument
             = help: pass the shadow after the argument, or write enzyme_const before an argument without derivative
        "#]],
    );
}

#[test]
fn width_is_not_constant() {
    check(
        &reverse("ptr @nothing, enzyme_width, i32 %n, ptr %p, ptr %q"),
        expect![[r#"
            exit code 1
            error[Z0110]: enzyme_width needs a constant from 1 to 1024, but it is not a constant
             |
             = note: in function `main`; compile with -g to see the line
             = note: the number of derivatives at once decides the code that is written
             = help: write the number itself, such as `enzyme_width, 4`
        "#]],
    );
}

#[test]
fn too_many_arguments() {
    check(
        &reverse("ptr @f, double 1.0, double 1.0"),
        expect![[r#"
            exit code 1
            error[Z0108]: 1 value is too many: `f` takes 1 argument
             |
             = note: in function `main`; compile with -g to see the line
             = note: a float by value has no shadow in reverse mode, and a combined call takes no seed: the seed of the result is 1
             = help: pass every argument once; to choose the seed, return the result through a pointer, whose shadow is the seed
        "#]],
    );
}

#[test]
fn too_few_arguments() {
    check(
        &reverse("ptr @sum, ptr %p, ptr %q"),
        expect![[r#"
        exit code 1
        error[Z0108]: `sum` takes 2 arguments, but the request gives 1
         |
         = note: in function `main`; compile with -g to see the line
         = note: an argument that is a pointer, or a float in forward mode, takes a shadow too unless enzyme_const stands before it
         = help: pass every argument of the function
    "#]],
    );
}

#[test]
fn shadow_for_an_integer() {
    check(
        &reverse("ptr @sum, ptr %p, ptr %q, enzyme_dup, i32 %n, i32 %n"),
        expect![[r#"
            exit code 1
            error[Z0111]: enzyme_dup stands before argument 2 of `sum`, an integer of 32 bits
             |
             = note: in function `main`; compile with -g to see the line
             = note: integers have no derivative
             = help: write enzyme_const, and no shadow
        "#]],
    );
}

#[test]
fn out_on_a_pointer() {
    check(
        &reverse("ptr @sum, enzyme_out, ptr %p, i32 %n"),
        expect![[r#"
            exit code 1
            error[Z0111]: enzyme_out stands before argument 1 of `sum`, a pointer
             |
             = note: in function `main`; compile with -g to see the line
             = note: enzyme_out returns the derivative of a float by value; what a pointer leads to needs memory for its derivatives
             = help: write enzyme_dup, the pointer, and a pointer to the memory for the derivatives
        "#]],
    );
}

#[test]
fn dup_on_a_scalar() {
    check(
        &reverse("ptr @f, enzyme_dup, double 1.0, double 1.0"),
        expect![[r#"
            exit code 1
            error[Z0111]: enzyme_dup stands before argument 1 of `f`, a float by value, in reverse mode
             |
             = note: in function `main`; compile with -g to see the line
             = note: a value has no memory that its derivative could be added to
             = help: write enzyme_out, and no shadow: the derivative is returned
        "#]],
    );
}

#[test]
fn out_in_forward_mode() {
    let body = "  %m = load i32, ptr @enzyme_out
  %r = call double (ptr, ...) @__enzyme_fwddiff(ptr @f, i32 %m, double 1.0)";
    check(
        body,
        expect![[r#"
        exit code 1
        error[Z0111]: enzyme_out stands before argument 1 of `f` in forward mode
         |
         = note: in function `main`; compile with -g to see the line
         = note: forward mode takes the derivatives of the arguments and returns that of the result
         = help: write enzyme_dup, the argument and its tangent
    "#]],
    );
}

#[test]
fn wrong_type() {
    check(
        &reverse("ptr @f, ptr %p"),
        expect![[r#"
        exit code 1
        error[Z0107]: argument 1 of `f` cannot be a pointer
         |
         = note: in function `main`; compile with -g to see the line
         = note: `f` takes a float (f64) there
         = help: pass the arguments in the order of the function, each after its marker and before its shadow
    "#]],
    );
}

#[test]
fn two_markers_in_a_row() {
    check(
        &reverse("ptr @f, enzyme_const, enzyme_out, double 1.0"),
        expect![[r#"
            exit code 1
            error[Z0110]: enzyme_const is followed by enzyme_out
             |
             = note: in function `main`; compile with -g to see the line
             = note: an activity marker says how to treat the value after it
             = help: write the argument after enzyme_const, or remove the marker
        "#]],
    );
}

#[test]
fn function_is_not_constant() {
    check(
        &reverse("ptr %p, double 1.0"),
        expect![[r#"
        exit code 1
        error[Z0103]: the first argument of `__enzyme_autodiff` is not a function known at compile time
         |
         = note: in function `main`; compile with -g to see the line
         = note: a derivative is written for one function; this pointer may hold any
         = help: pass the function itself, one request for each function that may be meant
    "#]],
    );
}

#[test]
fn no_function() {
    check(
        "  %r = call double (...) @__enzyme_autodiff()",
        expect![[r#"
            exit code 1
            error[Z0103]: `__enzyme_autodiff` is called without a function
             |
             = note: in function `main`; compile with -g to see the line
             = note: the first argument is the function to differentiate
             = help: write it as `__enzyme_autodiff((void *)f, …)`
        "#]],
    );
}

#[test]
fn primal_return_of_nothing() {
    check(
        &reverse("ptr @nothing, enzyme_primal_return, ptr %p, ptr %q"),
        expect![[r#"
            exit code 1
            error[Z0112]: enzyme_primal_return, but `nothing` returns nothing
             |
             = note: in function `main`; compile with -g to see the line
             = note: the marker asks for the result of the function beside its derivative
             = help: remove the marker
        "#]],
    );
}

#[test]
fn primal_return_in_split_mode() {
    let body = "  %m = load i32, ptr @enzyme_primal_return
  %r = call ptr (ptr, ...) @__enzyme_augmentfwd(ptr @f, i32 %m, double 1.0)";
    check(
        body,
        expect![[r#"
        exit code 1
        error[Z0112]: enzyme_primal_return in a split derivative of `f`
         |
         = note: in function `main`; compile with -g to see the line
         = note: __enzyme_augmentfwd returns the result of the function anyway, and __enzyme_reverse has none
         = help: remove the marker
    "#]],
    );
}

#[test]
fn result_without_seed() {
    check(
        &reverse("ptr @pair, double 1.0"),
        expect![[r#"
        exit code 1
        error[Z0113]: `pair` returns several values ({f64, f64}), which has no seed
         |
         = note: in function `main`; compile with -g to see the line
         = note: reverse mode starts from the derivative of one number with respect to itself, 1; several numbers need a seed each
         = help: return the result through a pointer, and put the seeds in its shadow
    "#]],
    );
}

#[test]
fn unsupported_request() {
    check(
        "  %r = call i64 (ptr, ...) @__enzyme_batch(ptr @f)",
        expect![[r#"
            exit code 1
            error[Z0102]: `__enzyme_batch` is not supported yet
             |
             = note: in function `main`; compile with -g to see the line
             = note: Zymase knows this request but cannot serve it
             = help: use __enzyme_autodiff (reverse mode) or __enzyme_fwddiff (forward mode)
        "#]],
    );
}

#[test]
fn address_of_a_request_function() {
    check(
        "  store ptr @__enzyme_autodiff, ptr %p",
        expect![[r#"
        exit code 1
        error[Z0104]: `__enzyme_autodiff` is used other than to call it
         |
         = note: a request is served where it is called; through a pointer it cannot be seen
         = help: call it directly
    "#]],
    );
}

#[test]
fn with_debug_information() {
    let program = format!(
        "{PRELUDE}
define void @main(ptr %p) !dbg !4 {{
  %r = call double (ptr, ...) @__enzyme_autodiff(ptr @f, ptr %p), !dbg !5
  ret void
}}
!llvm.dbg.cu = !{{!0}}
!llvm.module.flags = !{{!2}}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: \"\", emissionKind: FullDebug)
!1 = !DIFile(filename: \"model.c\", directory: \"\")
!2 = !{{i32 2, !\"Debug Info Version\", i32 3}}
!3 = !DISubroutineType(types: !{{}})
!4 = distinct !DISubprogram(name: \"main\", file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 2, column: 3, scope: !4)
"
    );
    let source = "void main(double *p) {\n  __enzyme_autodiff(f, p);\n}\n";
    let folder = Folder::with(&[("in.ll", &program), ("model.c", source)]);
    expect![[r#"
        exit code 1
        error[Z0107]: argument 1 of `f` cannot be a pointer
         --> model.c:2:3
          |
        2 |   __enzyme_autodiff(f, p);
          |   ^^^^^^^^^^^^^^^^^ in `main`
          |
          = note: `f` takes a float (f64) there
          = help: pass the arguments in the order of the function, each after its marker and before its shadow
    "#]].assert_eq(&shown(&folder.zymase("opt in.ll -o out.ll")));
}

#[test]
fn result_of_another_type() {
    let body = "  %r = call float (ptr, ...) @__enzyme_autodiff_float(ptr @f, double 1.0)
  store float %r, ptr %p";
    check(
        body,
        expect![[r#"
        exit code 1
        error[Z0114]: the request returns a float (f32), but this derivative of `f` is a float (f64)
         |
         = note: in function `main`; compile with -g to see the line
         = note: reverse mode returns the derivatives of the enzyme_out arguments in order, forward mode the tangent of the result; with enzyme_primal_return the primal result comes first
         = help: declare the request function with that result
    "#]],
    );
}

#[test]
fn kept_tape_in_combined_mode() {
    check(
        &reverse("ptr @f, enzyme_nofree, double 1.0"),
        expect![[r#"
        exit code 1
        error[Z0115]: enzyme_nofree in a request that has no tape
         |
         = note: in function `main`; compile with -g to see the line
         = note: only the two halves of reverse mode hand a tape from one to the other
         = help: remove the marker, or use __enzyme_augmentfwd and __enzyme_reverse
    "#]],
    );
}
