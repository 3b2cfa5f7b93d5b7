//! Warnings: what is told, what is not, and what the options make of it.

mod common;

use common::{Folder, shown};
use expect_test::{Expect, expect};

const HEADER: &str = "double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
extern int enzyme_dup, enzyme_const, enzyme_out, enzyme_runtime_activity;
";

/// Compiles a program at two levels; both show the same.
fn check(options: &str, source: &str, expected: Expect) {
    let folder = Folder::with(&[("head.h", HEADER), ("a.c", source)]);
    let [plain, optimized] = ["-O0", "-O2"].map(|level| {
        let words = format!("cc {level} {options} -include head.h a.c -lm -o prog");
        shown(&folder.zymase(&words))
    });
    assert_eq!(plain, optimized);
    expected.assert_eq(&plain);
}

/// No warning is given for a program.
fn quiet(source: &str) {
    check("", source, expect!["exit code 0\n"]);
}

const UNUSED: &str = "double f(double x, double y) { return x * x; }
int main(void) { return (int)__enzyme_fwddiff((void *)f, 1.0, 1.0, 2.0, 1.0); }
";

#[test]
fn an_argument_without_influence() {
    check(
        "",
        UNUSED,
        expect![[r#"
        exit code 0
        warning[Z0901]: the derivative with respect to argument 2 of `f` is always zero
         --> a.c:2:30
          |
        2 | int main(void) { return (int)__enzyme_fwddiff((void *)f, 1.0, 1.0, 2.0, 1.0); }
          |                              ^^^^^^^^^^^^^^^^ in `main`
          |
          = note: nothing that the function returns, or leaves in memory with a shadow, depends on it in a way that has a derivative
          = help: pass it as enzyme_const if that is meant; otherwise look for what was meant to depend on it
    "#]],
    );
}

#[test]
fn warnings_turned_off() {
    check("--no-warnings", UNUSED, expect!["exit code 0\n"]);
}

#[test]
fn warnings_as_errors() {
    check(
        "--deny-warnings",
        UNUSED,
        expect![[r#"
        exit code 1
        error[Z0901]: the derivative with respect to argument 2 of `f` is always zero
         --> a.c:2:30
          |
        2 | int main(void) { return (int)__enzyme_fwddiff((void *)f, 1.0, 1.0, 2.0, 1.0); }
          |                              ^^^^^^^^^^^^^^^^ in `main`
          |
          = note: nothing that the function returns, or leaves in memory with a shadow, depends on it in a way that has a derivative
          = help: pass it as enzyme_const if that is meant; otherwise look for what was meant to depend on it
    "#]],
    );
}

#[test]
fn a_result_that_only_decides() {
    check(
        "",
        "double f(double x) { return x > 2 ? 5 : 7; }
int main(void) { return (int)__enzyme_autodiff((void *)f, 1.0); }
",
        expect![[r#"
            exit code 0
            warning[Z0901]: the derivative of `f` is always zero
             --> a.c:2:30
              |
            2 | int main(void) { return (int)__enzyme_autodiff((void *)f, 1.0); }
              |                              ^^^^^^^^^^^^^^^^^ in `main`
              |
              = note: its result does not depend on any active argument in a way that has a derivative
              = help: pass what the result depends on as active arguments, or write enzyme_const_return if that is meant
        "#]],
    );
}

#[test]
fn values_lost_in_a_callee_of_a_callee() {
    check(
        "",
        "__attribute__((noinline)) void put(double *to, double x) { *to = x; }
__attribute__((noinline)) void fill(double *to, double x) { put(to + 1, x * x); }
double f(double x, double *scratch) {
    fill(scratch, x);
    return scratch[1] * x;
}
int main(void) {
    double scratch[2];
    return (int)__enzyme_autodiff((void *)f, 1.0, enzyme_const, scratch);
}
",
        expect![[r#"
            exit code 0
            warning[Z0903]: active values are written to the memory of argument 2 of `f`, which is const
             --> a.c:1:64
              |
            1 | __attribute__((noinline)) void put(double *to, double x) { *to = x; }
              |                                                                ^^^^^^ in `put`
              |
             ::: a.c:2:61
              |
            2 | __attribute__((noinline)) void fill(double *to, double x) { put(to + 1, x * x); }
              |                                                             --- called here, in `fill`
              |
             ::: a.c:4:5
              |
            4 |     fill(scratch, x);
              |     ---- called here, in `f`
              |
             ::: a.c:9:17
              |
            9 |     return (int)__enzyme_autodiff((void *)f, 1.0, enzyme_const, scratch);
              |                 ----------------- asked for here, in `main`
              |
              = note: what is read from const memory has no derivative, so the derivatives of these values are lost there
              = help: pass the memory as enzyme_dup with a shadow of zeros, or let the function use memory of its own
        "#]],
    );
}

#[test]
fn a_tape_above_the_limit() {
    check(
        "--warn-cache=1000000",
        "__attribute__((noinline)) double inner(double x) {
    for (int i = 0; i < 1000; i++)
        x = x * x * 0.5;
    return x;
}
double f(double x) {
    for (int i = 0; i < 1000; i++)
        x = inner(x) + 1;
    return x;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 1.0); }
",
        expect![[r#"
            exit code 0
            warning[Z0902]: the derivative of `f` keeps at least 7.6 MiB for each call
              --> a.c:3:15
               |
             3 |         x = x * x * 0.5;
               |               ^^^^^^^^^^ in `inner`
               |
              ::: a.c:8:13
               |
             8 |         x = inner(x) + 1;
               |             ----- called here, in `f`
               |
              ::: a.c:11:30
               |
            11 | int main(void) { return (int)__enzyme_autodiff((void *)f, 1.0); }
               |                              ----------------- asked for here, in `main`
               |
               = note: the reverse sweep needs 8 bytes of each iteration here, and there are 1000000 of them
               = help: see what is kept and why with `zymase explain`; pointers that are `restrict` let more be read again; or raise the limit with --warn-cache=BYTES
        "#]],
    );
}

/// The compiler passes the two parts of a complex number as two arguments.
#[test]
fn half_of_a_number_is_no_argument() {
    quiet(
        "#include <complex.h>
double f(double complex z) { return creal(z) * creal(z); }
int main(void) {
    double complex z = 1, dz = 1;
    return (int)__enzyme_fwddiff((void *)f, enzyme_dup, z, dz);
}
",
    );
}

#[test]
fn outputs_integers_and_const_arguments() {
    quiet(
        "void f(const double *x, double *out, const int *index, double *unused, int n) {
    for (int i = 0; i < n; i++)
        out[i] = x[index[i]] * 2;
}
double g(double x, int *count) {
    *count = 3;
    return x * x;
}
int main(void) {
    double x[2] = {0}, dx[2] = {0}, out[2], dout[2] = {1, 1};
    int index[2] = {0, 1}, count, dcount;
    __enzyme_autodiff((void *)f, enzyme_dup, x, dx, enzyme_dup, out, dout, enzyme_dup, index,
                      index, enzyme_const, x, enzyme_const, 2);
    return (int)__enzyme_autodiff((void *)g, 1.0, enzyme_const, &count);
}
",
    );
}

/// A mark says that the loss is meant.
#[test]
fn a_variable_that_is_marked() {
    quiet(
        "double last;
void *__enzyme_inactive_global_last = &last;
__attribute__((noinline)) void put(double *to, double x) { *to = x; }
double f(double x) {
    put(&last, x * x);
    return x * x;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 1.0); }
",
    );
}
