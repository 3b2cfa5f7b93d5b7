//! Calls through pointers and split mode, beyond what one C file can show: virtual methods, tables
//! in other files and libraries, and what stops or is refused.

mod common;

use common::{Folder, shown, succeed};
use expect_test::{Expect, expect};

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

#[test]
fn virtual_methods() {
    let source = include_str!("../../../tests/programs/virtual_layers.cpp");
    for level in LEVELS {
        let folder = Folder::with(&[("a.cpp", source)]);
        succeed(&folder.zymase(&format!("c++ {level} a.cpp -o prog")));
        let printed = succeed(&folder.command("./prog", ""));
        assert_eq!(printed, "ok virtual_layers\n", "{level}");
    }
}

const ASKS: &str = "
#include <stdio.h>
double __enzyme_autodiff(void *, ...);
double run(double x, int n);
int main(void) { printf(\"%.6f\\n\", __enzyme_autodiff((void *)run, 1.5, 3)); }
";
const RUNS: &str = "
extern double (*table[])(double);
double run(double x, int n) { for (int i = 0; i < n; i++) x = table[i](x); return x; }
";
const TABLE: &str = "
#include <math.h>
STATIC double square(double x) { return x * x; }
double twice(double x) { return 2 * x; }
double (*table[])(double) = {square, twice, sin};
";

/// The derivative of sin(2x²) at 1.5.
const EXPECTED: &str = "-1.264775\n";

/// The functions in the table are known only when all files are linked.
#[test]
fn table_in_another_file() {
    for level in ["-O0", "-O2"] {
        let folder = Folder::with(&[("a.c", ASKS), ("b.c", RUNS), ("c.c", TABLE)]);
        let words = format!("cc {level} -DSTATIC= a.c b.c c.c -lm -o prog");
        succeed(&folder.zymase(&words));
        assert_eq!(succeed(&folder.command("./prog", "")), EXPECTED);
    }
}

/// A file that is compiled alone waits for the others.
#[test]
fn table_in_another_object() {
    let folder = Folder::with(&[("a.c", ASKS), ("b.c", RUNS), ("c.c", TABLE)]);
    for file in ["a", "b", "c"] {
        succeed(&folder.zymase(&format!("cc -O2 -DSTATIC= -c {file}.c -o {file}.o")));
    }
    succeed(&folder.zymase("cc a.o b.o c.o -lm -o prog"));
    assert_eq!(succeed(&folder.command("./prog", "")), EXPECTED);
}

/// A file with bitcode shares its local functions.
#[test]
fn local_functions_of_another_file() {
    let table = format!(
        "double __enzyme_autodiff(void *, ...);\n{TABLE}double unused(double x) {{ return __enzyme_autodiff((void *)twice, x); }}"
    );
    let folder = Folder::with(&[("a.c", ASKS), ("b.c", RUNS), ("c.c", &table)]);
    succeed(&folder.zymase("cc -O2 -DSTATIC=static a.c b.c c.c -lm -o prog"));
    assert_eq!(succeed(&folder.command("./prog", "")), EXPECTED);
}

/// An address that nothing is known of stops the program where it is called.
#[test]
fn unknown_address() {
    let source = "
#include <dlfcn.h>
#include <stdio.h>
double __enzyme_autodiff(void *, ...);
double square(double x) { return x * x; }
double (*table[2])(double) = {square};
double run(double x, int i) { return table[i](x); }
int main(int count, char **words) {
    table[1] = (double (*)(double))dlsym(0, \"lgamma\");
    printf(\"%g\\n\", __enzyme_autodiff((void *)run, 1.5, 0));
    fflush(stdout);
    printf(\"%g\\n\", __enzyme_autodiff((void *)run, 1.5, 1));
}";
    let folder = Folder::with(&[("a.c", source)]);
    succeed(&folder.zymase("cc -O2 -g a.c -lm -ldl -o prog"));
    let output = folder.command("./prog", "");
    assert!(!output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n");
    let text = String::from_utf8_lossy(&output.stderr);
    let wanted = "zymase: a.c:7: cannot differentiate a call through a function pointer: the program does not have the code of 0x";
    assert!(text.starts_with(wanted), "{text}");
}

/// What cannot be differentiated stops the program only if it is called.
#[test]
fn target_without_derivative() {
    let source = "
#include <stdio.h>
double __enzyme_autodiff(void *, ...);
double square(double x) { return x * x; }
double odd(double x) { __asm__(\"\" : \"+x\"(x)); return x; }
double (*table[])(double) = {square, odd};
double run(double x, int i) { return table[i](x); }
int main(int count, char **words) {
    printf(\"%g\\n\", __enzyme_autodiff((void *)run, 1.5, count - 1));
}";
    let folder = Folder::with(&[("a.c", source)]);
    succeed(&folder.zymase("cc -O2 -g a.c -o prog"));
    assert_eq!(succeed(&folder.command("./prog", "")), "3\n");
    let output = folder.command("./prog", "more");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("a.c:7: cannot differentiate a call through a function pointer: there is no derivative of `odd` ("), "{text}");
}

fn refused(source: &str, expected: Expect) {
    let folder = Folder::with(&[("a.c", source)]);
    let [plain, optimized] = ["-O0", "-O2"].map(|level| {
        let output = folder.zymase(&format!("cc {level} -g a.c -o prog"));
        shown(&output)
    });
    assert_eq!(plain, optimized);
    expected.assert_eq(&plain);
}

#[test]
fn target_without_code() {
    refused(
        "double __enzyme_autodiff(void *, ...);
double foreign(double);
double square(double x) { return x * x; }
double (*table[])(double) = {square, foreign};
double run(double x, int i) {
    return table[i](x);
}
int main(int count, char **words) { return (int)__enzyme_autodiff((void *)run, 1.5, count - 1); }
",
        expect![[r#"
            exit code 1
            error[Z0501]: cannot differentiate the call of `foreign`
             --> a.c:6:12
              |
            6 |     return table[i](x);
              |            ^^^^^ in `run`
              |
             ::: a.c:8:49
              |
            8 | int main(int count, char **words) { return (int)__enzyme_autodiff((void *)run, 1.5, count - 1); }
              |                                                 ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it, but its body is not part of the program and no rule for it is known
              = help: compile the file that defines it with zymase too, or, if no derivative is meant to flow through it, mark it: `void *__enzyme_inactivefn_foreign = (void *)foreign;`
        "#]],
    );
}

#[test]
fn no_target() {
    refused(
        "double __enzyme_autodiff(void *, ...);
double run(double x, double (*f)(double, int)) {
    return f(x, 1);
}
extern int enzyme_const;
int main(int count, char **words) {
    return (int)__enzyme_autodiff((void *)run, 1.5, enzyme_const, words);
}
",
        expect![[r#"
            exit code 1
            error[Z0502]: cannot differentiate a call through a function pointer
             --> a.c:3:12
              |
            3 |     return f(x, 1);
              |            ^ in `run`
              |
             ::: a.c:7:17
              |
            7 |     return (int)__enzyme_autodiff((void *)run, 1.5, enzyme_const, words);
              |                 ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it, and the program has the code of no function of this type whose address is taken
              = help: compile the files that define the possible functions with zymase too and link them together, or call the function by its name
        "#]],
    );
}

#[test]
fn tape_too_small() {
    refused(
        "#include <math.h>
extern int enzyme_tape, enzyme_allocated, enzyme_dup, enzyme_const;
void *__enzyme_augmentfwd(void *, ...);
double chain(double *x, int n) {
    for (int i = 0; i < n; i++) x[i] = sin(x[i]) * x[0];
    return x[0] * x[1] * x[n - 1];
}
int main(void) {
    double x[2] = {1, 2}, d[2];
    char memory[1];
    __enzyme_augmentfwd((void *)chain, enzyme_allocated, 1, enzyme_tape, memory, enzyme_dup, x, d, enzyme_const, 2);
}
",
        expect![[r#"
            exit code 1
            error[Z0405]: the tape of `chain` needs 32 bytes, but it has 1
              --> a.c:11:5
               |
            11 |     __enzyme_augmentfwd((void *)chain, enzyme_allocated, 1, enzyme_tape, memory, enzyme_dup, x, d, enzyme_const, 2);
               |     ^^^^^^^^^^^^^^^^^^^ in `main`
               |
               = note: the forward sweep would write past the memory that enzyme_allocated describes
               = help: give it as many bytes as __enzyme_augmentsize says
        "#]],
    );
}
