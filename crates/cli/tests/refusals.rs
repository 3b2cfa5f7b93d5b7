//! C and C++ programs that cannot be differentiated: the message has the line, the reason and
//! what to do, and nothing is written.

mod common;

use common::{Folder, shown};
use expect_test::{Expect, expect};

const HEADER: &str = "double __enzyme_autodiff(void *, ...);
extern int enzyme_dup, enzyme_const;
";

/// Compiles a C file at two levels; both must be refused with the same message.
fn check(source: &str, expected: Expect) {
    refused("cc", "a.c", source, expected);
}

fn refused(compiler: &str, file: &str, source: &str, expected: Expect) {
    let header = match compiler {
        "cc" => HEADER.to_string(),
        _ => format!("extern \"C\" {{\n{HEADER}}}\n"),
    };
    let files = [("head.h", header.as_str()), (file, source)];
    let folder = Folder::with(&files);
    for level in ["-O2", "-O0"] {
        let words = format!("{compiler} {level} -g -include head.h {file} -o prog");
        expected.assert_eq(&shown(&folder.zymase(&words)));
        assert_eq!(folder.files(), [file, "head.h"]);
    }
}

#[test]
fn only_declared() {
    check(
        "double elsewhere(double);
int main(void) {
    return (int)__enzyme_autodiff((void *)elsewhere, 2.0);
}
",
        expect![[]],
    );
}

#[test]
fn unknown_marker() {
    check(
        "extern int enzyme_dubb;
static double f(double *x) { return *x; }
int main(void) {
    double x = 1, d = 0;
    return (int)__enzyme_autodiff((void *)f, enzyme_dubb, &x, &d);
}
",
        expect![[]],
    );
}

#[test]
fn too_few_shadows() {
    check(
        "static double f(double *x, double *y) { return *x * *y; }
int main(void) {
    double x = 1, d = 0;
    return (int)__enzyme_autodiff((void *)f, &x, &d, &x);
}
",
        expect![[]],
    );
}

#[test]
fn shadow_for_an_integer() {
    check(
        "static double f(double x, int n) { return x * n; }
int main(void) {
    return (int)__enzyme_autodiff((void *)f, 1.0,
                                  enzyme_dup, 3, 4);
}
",
        expect![[]],
    );
}

#[test]
fn variadic() {
    check(
        "static double f(int n, ...) { return n; }
int main(void) {
    return (int)__enzyme_autodiff((void *)f, 2, 1.0, 2.0);
}
",
        expect![[]],
    );
}

#[test]
fn inline_assembly() {
    check(
        "static double f(double x) {
    double y = x * x;
    __asm__(\"sqrtsd %0, %0\" : \"+x\"(y));
    return y * x;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn inline_assembly_on_memory() {
    check(
        "static double f(double *p) {
    __asm__ volatile(\"movq $0, (%0)\" : : \"r\"(p) : \"memory\");
    return *p * *p;
}
int main(void) {
    double x = 1, d = 0;
    return (int)__enzyme_autodiff((void *)f, &x, &d);
}
",
        expect![[]],
    );
}

#[test]
fn unknown_function_in_an_inlined_one() {
    check(
        "double mystery(double);
static inline double helper(double x) {
    return mystery(x * x);
}
static double f(double x) {
    return x * helper(x);
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn function_pointer() {
    check(
        "double (*volatile chosen)(double);
static double f(double (*g)(double), double x) {
    return x * g(x);
}
int main(void) {
    return (int)__enzyme_autodiff((void *)f, enzyme_const, chosen, 2.0);
}
",
        expect![[]],
    );
}

#[test]
fn type_of_a_copy() {
    check(
        "void *memcpy(void *, const void *, unsigned long);
static void f(void *to, void *from, unsigned long n) {
    memcpy(to, from, n);
}
int main(void) {
    double a, b, c, d;
    __enzyme_autodiff((void *)f, &a, &b, &c, &d, sizeof a);
}
",
        expect![[]],
    );
}

#[test]
fn atomics() {
    check(
        "static double f(_Atomic(double) *a, double x) {
    *a = x * x;
    return x;
}
int main(void) {
    _Atomic(double) a, d;
    return (int)__enzyme_autodiff((void *)f, &a, &d, 2.0);
}
",
        expect![[]],
    );
}

#[test]
fn setjmp() {
    check(
        "#include <setjmp.h>
static jmp_buf place;
static double f(double x) {
    if (setjmp(place) == 0)
        longjmp(place, 1);
    return x * x;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn variable_arguments() {
    check(
        "#include <stdarg.h>
__attribute__((noinline)) static double sum(int n, ...) {
    va_list list;
    va_start(list, n);
    double s = 0;
    for (int i = 0; i < n; i++)
        s += va_arg(list, double);
    va_end(list);
    return s;
}
static double f(double x) {
    return sum(2, x, x * x);
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn external_variable() {
    check(
        "extern double scale;
static double f(double x) {
    scale = x * 2;
    return x * scale;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn exception() {
    refused(
        "c++",
        "a.cpp",
        "static double f(double x) {
    if (x > 3)
        throw x * 2;
    return x * x;
}
int main() { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn endless_loop() {
    check(
        "volatile int tick;
static double f(double x) {
    for (;;)
        tick = 1;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn annotation_that_is_not_supported() {
    check(
        "__attribute__((annotate(\"enzyme_function_like=log1p\")))
static double g(double x) { return x * 100; }
static double f(double x) { return x * x + g(x); }
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn annotation_that_is_misspelt() {
    check(
        "__attribute__((annotate(\"enzyme_inactiv\")))
double g(double x) { return x * 100; }
static double f(double x) { return x * x; }
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn annotation_of_a_local_variable() {
    check(
        "static double f(double x) {
    double y __attribute__((annotate(\"enzyme_inactive\"))) = x * x;
    return y * x;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}

#[test]
fn hint_without_pointer() {
    check(
        "void __enzyme_double(double);
static double f(double x) {
    __enzyme_double(x);
    return x * x;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[]],
    );
}
