//! Custom rules that do not fit: the message names the functions and types, and what to do.

mod common;

use common::{Folder, shown};
use expect_test::{Expect, expect};

/// Compiles a program whose `main` asks for the derivative of `g`, at two levels; both must be
/// refused with the same message.
fn check(rule: &str, expected: Expect) {
    let source = format!(
        "double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
extern int enzyme_width;
{rule}
"
    );
    let folder = Folder::with(&[("a.c", source.as_str())]);
    for level in ["-O2", "-O0"] {
        let words = format!("cc {level} -g a.c -o prog");
        expected.assert_eq(&shown(&folder.zymase(&words)));
    }
}

#[test]
fn augmented_sweep_with_other_arguments() {
    check(
        "double f(double *x, int n);
double f_aug(double *x, int n) { return *x; }
void f_grad(double *x, double *dx, int n, double seed) { *dx += seed; }
void *__enzyme_register_gradient_f[] = {(void *)f, (void *)f_aug, (void *)f_grad};
double g(double x) { return f(&x, 1); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0602]: `f_aug` is no augmented forward sweep for `f`
             --> a.c:8:29
              |
            8 | double g(double x) { return f(&x, 1); }
              |                             ^ in `g`
              |
             ::: a.c:9:30
              |
            9 | int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: its types are (ptr, i32) -> f64, and should be (ptr, ptr, i32) -> f64, or -> {tape, f64}
              = help: change the function, or register it for the one it belongs to
        "#]],
    );
}

#[test]
fn reverse_sweep_without_tape() {
    check(
        "typedef struct { double *tape; double result; } kept;
double f(double x);
kept f_aug(double x) { kept k = {0, x}; return k; }
double f_grad(double x, double seed) { return seed; }
void *__enzyme_register_gradient_f[] = {(void *)f, (void *)f_aug, (void *)f_grad};
double g(double x) { return f(x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0602]: `f_grad` is no reverse sweep for `f`
              --> a.c:9:29
               |
             9 | double g(double x) { return f(x); }
               |                             ^ in `g`
               |
              ::: a.c:10:30
               |
            10 | int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }
               |                              ----------------- asked for here, in `main`
               |
               = note: its types are (f64, f64) -> f64, and should be (f64, f64, ptr) -> f64
               = help: change the function, or register it for the one it belongs to
        "#]],
    );
}

#[test]
fn augmented_sweep_without_result() {
    check(
        "double f(double x);
void *f_aug(double x) { return 0; }
double f_grad(double x, double seed, void *tape) { return seed; }
void *__enzyme_register_gradient_f[] = {(void *)f, (void *)f_aug, (void *)f_grad};
double g(double x) { return f(x) * x; }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0602]: `f_aug` is no augmented forward sweep for `f`
             --> a.c:8:29
              |
            8 | double g(double x) { return f(x) * x; }
              |                             ^ in `g`
              |
             ::: a.c:9:30
              |
            9 | int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: its types are (f64) -> ptr, and should be (f64) -> f64, or -> {tape, f64}
              = help: change the function, or register it for the one it belongs to
        "#]],
    );
}

#[test]
fn tangent_of_another_type() {
    check(
        "double f(double x, int n);
float f_tangent(double x, double dx, int n) { return dx; }
void *__enzyme_register_derivative_f[] = {(void *)f, (void *)f_tangent};
double g(double x) { return f(x, 1); }
int main(void) { return (int)__enzyme_fwddiff((void *)g, 2.0, 1.0); }",
        expect![[r#"
            exit code 1
            error[Z0602]: `f_tangent` is no tangent for `f`
             --> a.c:7:29
              |
            7 | double g(double x) { return f(x, 1); }
              |                             ^ in `g`
              |
             ::: a.c:8:30
              |
            8 | int main(void) { return (int)__enzyme_fwddiff((void *)g, 2.0, 1.0); }
              |                              ---------------- asked for here, in `main`
              |
              = note: its types are (f64, f64, i32) -> f32, and should be (f64, f64, i32) -> f64, or -> {f64, f64}
              = help: change the function, or register it for the one it belongs to
        "#]],
    );
}

#[test]
fn no_rule_for_the_mode() {
    check(
        "double f(double x);
double f_tangent(double x, double dx) { return dx; }
void *__enzyme_register_derivative_f[] = {(void *)f, (void *)f_tangent};
double g(double x) { return f(x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0604]: there is no custom rule for `f` in reverse mode
             --> a.c:7:29
              |
            7 | double g(double x) { return f(x); }
              |                             ^ in `g`
              |
             ::: a.c:8:30
              |
            8 | int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: its body is not part of the program, and the rules that are registered for it serve the other mode
              = help: register one: `void *__enzyme_register_gradient_f[] = {f, augmented, gradient};`
        "#]],
    );
}

#[test]
fn no_rule_for_the_activities() {
    check(
        "double f(double x, double y);
double f_aug(double x, double y) { return x; }
double f_grad(double x, double y, double seed) { return seed; }
void *__enzyme_register_gradient_f[] = {(void *)f, (void *)f_aug, (void *)f_grad, \"out,const\"};
double g(double x) { return f(x, x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0604]: no custom rule for `f` fits
             --> a.c:8:29
              |
            8 | double g(double x) { return f(x, x); }
              |                             ^ in `g`
              |
             ::: a.c:9:30
              |
            9 | int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: its arguments are "out,out" here, and the rules for reverse mode handle "out,const"
              = help: register a rule that handles these activities, or one without a string, which handles all
        "#]],
    );
}

#[test]
fn activities_of_other_arguments() {
    check(
        "double f(double x);
double f_aug(double x) { return x; }
double f_grad(double x, double seed) { return seed; }
void *__enzyme_register_gradient_f[] = {(void *)f, (void *)f_aug, (void *)f_grad, \"out,const\"};
double g(double x) { return f(x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0601]: the registration `__enzyme_register_gradient_f` has activities for 2 arguments
             |
             = note: `f` takes 1
             = help: write one activity for each argument
        "#]],
    );
}

#[test]
fn an_activity_that_is_none() {
    check(
        "double f(double x);
void *__enzyme_register_derivative_f[] = {(void *)f, (void *)f, \"activ\"};
double g(double x) { return f(x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0601]: unknown activity `activ` in the registration `__enzyme_register_derivative_f`
             |
             = note: the last entry says for each argument which activity the rule handles
             = help: write one of const, dup, dupnoneed, out
        "#]],
    );
}

#[test]
fn a_rule_without_its_parts() {
    check(
        "double f(double x);
double f_aug(double x) { return x; }
void *__enzyme_register_gradient_f[] = {(void *)f, (void *)f_aug};
double g(double x) { return f(x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0601]: cannot read the registration `__enzyme_register_gradient_f`
             |
             = note: it should have the entries {f, augmented_f, gradient_f}, known at compile time
             = help: name the functions themselves; a string at the end, as in "dup,const,out", says which activities the rule handles
        "#]],
    );
}

#[test]
fn an_annotation_without_its_parts() {
    check(
        "__attribute__((annotate(\"enzyme_register_derivative=f_tangent\"))) double f(double x) { return x; }
double g(double x) { return f(x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0601]: there is no function `f_tangent` for the annotation `enzyme_register_derivative=f_tangent`
             --> a.c:4:1
              |
            4 | __attribute__((annotate("enzyme_register_derivative=f_tangent"))) double f(double x) { return x; }
              | ^^^^^^^^^^^^^ in `f`
              |
              = note: the parts of a rule are named as the linker knows them, and must be in the same file
              = help: declare the function in this file, in C++ as extern "C"
        "#]],
    );
}

#[test]
fn like_nothing_known() {
    check(
        "double f(double x) { return x; }
void *__enzyme_function_like_f[] = {(void *)f, \"logp1\"};
double g(double x) { return f(x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0607]: `f` cannot be like `logp1`
             |
             = note: no derivative of a library function of that name is known
             = help: did you mean log10, log1p, log2?
        "#]],
    );
}

#[test]
fn like_something_else() {
    check(
        "double f(double x) { return x; }
void *__enzyme_function_like_f[] = {(void *)f, \"atan2\"};
double g(double x) { return f(x); }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0607]: `f` cannot be like `atan2`
             |
             = note: its types are (f64) -> f64, and `atan2` has others
             = help: name a function of the same types
        "#]],
    );
}

#[test]
fn several_derivatives_of_memory_in_place() {
    check(
        "void f(double *x) { *x *= 2; }
void f_tangent(double *x, double *dx) { *x *= 2; *dx *= 2; }
void *__enzyme_register_derivative_f[] = {(void *)f, (void *)f_tangent};
double g(double *x) { f(x); return *x; }
struct two { double a, b; } __enzyme_fwddiff_two(void *, ...);
int main(void) {
    double x = 1, d = 1, e = 2;
    return (int)__enzyme_fwddiff_two((void *)g, enzyme_width, 2, &x, &d, &e).a;
}",
        expect![[r#"
            exit code 1
            error[Z0605]: the custom rule for `f` cannot give several derivatives at once
              --> a.c:7:23
               |
             7 | double g(double *x) { f(x); return *x; }
               |                       ^ in `g`
               |
              ::: a.c:11:17
               |
            11 |     return (int)__enzyme_fwddiff_two((void *)g, enzyme_width, 2, &x, &d, &e).a;
               |                 -------------------- asked for here, in `main`
               |
               = note: `f_tangent` would be called 2 times, and it may change memory that it reads, or return new memory
               = help: ask for one derivative at a time
        "#]],
    );
}

#[test]
fn a_tangent_alone_beside_writes() {
    check(
        "double f(double *x) { return *x *= 2; }
double f_tangent(double *x, double *dx) { return *dx *= 2; }
void *__enzyme_register_derivative_f[] = {(void *)f, (void *)f_tangent};
double g(double *x) { return f(x) * *x; }
int main(void) {
    double x = 1, d = 1;
    return (int)__enzyme_fwddiff((void *)g, &x, &d);
}",
        expect![[r#"
            exit code 1
            error[Z0606]: `f_tangent` is no tangent for `f` here
              --> a.c:7:30
               |
             7 | double g(double *x) { return f(x) * *x; }
               |                              ^ in `g`
               |
              ::: a.c:10:17
               |
            10 |     return (int)__enzyme_fwddiff((void *)g, &x, &d);
               |                 ---------------- asked for here, in `main`
               |
               = note: it returns only the tangent, so `f` would have to be called for the result, and that writes to memory
               = help: return a structure of the result and its tangent
        "#]],
    );
}

#[test]
fn a_variable_behind_a_rule() {
    check(
        "double state;
double f(double x) { state = x * x; return x; }
double f_aug(double x) { state = x * x; return x; }
double f_grad(double x, double seed) { return seed; }
void *__enzyme_register_gradient_f[] = {(void *)f, (void *)f_aug, (void *)f_grad};
double g(double x) { double y = f(x); return y * state; }
int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }",
        expect![[r#"
            exit code 1
            error[Z0608]: the custom rule for `f` cannot be used
              --> a.c:9:33
               |
             9 | double g(double x) { double y = f(x); return y * state; }
               |                                 ^ in `g`
               |
              ::: a.c:10:30
               |
            10 | int main(void) { return (int)__enzyme_autodiff((void *)g, 2.0); }
               |                              ----------------- asked for here, in `main`
               |
               = note: `f` uses the global variable `state`, a derivative flows through that, and rules speak of arguments and results only
               = help: pass what is in `state` as an argument, or, if no derivative is meant to flow through it, mark it: `void *__enzyme_inactive_global_state = &state;`
        "#]],
    );
}
