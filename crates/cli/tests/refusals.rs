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
        expect![[r#"
            exit code 1
            error[Z0105]: `elsewhere` is only declared, so it has no derivative
             --> a.c:3:17
              |
            3 |     return (int)__enzyme_autodiff((void *)elsewhere, 2.0);
              |                 ^^^^^^^^^^^^^^^^^ in `main`
              |
              = note: its body is not in this module, nor in any bitcode that was given
              = help: compile the file that defines `elsewhere` with Zymase too, and link both with it
        "#]],
    );
}

#[test]
fn recursion_that_permutes_active_and_const_pointers() {
    let names: Vec<String> = (0..14).map(|i| format!("p{i}")).collect();
    let params: Vec<String> = names.iter().map(|name| format!("double *{name}")).collect();
    let passed: Vec<String> = (0..14)
        .map(|i| match i < 7 {
            true => format!("enzyme_dup, x + {i}, d + {i}"),
            false => format!("enzyme_const, x + {i}"),
        })
        .collect();
    let sum: Vec<String> = names.iter().map(|name| format!("{name}[0]")).collect();
    let (first, rest) = (&names[0], names[1..].join(", "));
    let swapped = format!("p1, p0, {}", names[2..].join(", "));
    let source = format!(
        "static double f({}, int n) {{
    if (n <= 0) return {};
    double t = p0[0] * p1[0];
    if (n & 1) return t + f({rest}, {first}, n - 1);
    return t * f({swapped}, n - 2);
}}
double x[14], d[14];
int main(void) {{
    __enzyme_autodiff((void *)f, {}, enzyme_const, 3);
}}
",
        params.join(", "),
        sum.join(" + "),
        passed.join(", ")
    );
    let folder = Folder::with(&[("head.h", HEADER), ("a.c", &source)]);
    let told = shown(&folder.zymase("cc -O1 -g -include head.h a.c -o prog"));
    let message = "error[Z0706]: the recursion of `f` needs too many derivatives";
    assert!(told.contains(message), "{told}");
    assert!(
        told.contains("= help: pass what has a derivative"),
        "{told}"
    );
    assert!(told.lines().count() < 60, "{told}");
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
        expect![[r#"
            exit code 1
            error[Z0101]: unknown marker `enzyme_dubb`
             --> a.c:5:17
              |
            5 |     return (int)__enzyme_autodiff((void *)f, enzyme_dubb, &x, &d);
              |                 ^^^^^^^^^^^^^^^^^ in `main`
              |
              = note: a global variable whose name begins with `enzyme_` says how to treat an argument, and this one has no meaning
              = help: did you mean `enzyme_dup`?
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0109]: argument 2 of `f` has no shadow
             --> a.c:4:17
              |
            4 |     return (int)__enzyme_autodiff((void *)f, &x, &d, &x);
              |                 ^^^^^^^^^^^^^^^^^ in `main`
              |
              = note: the shadow must follow the argument
              = help: pass the shadow after the argument, or write enzyme_const before an argument without derivative
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0111]: enzyme_dup stands before argument 2 of `f`, an integer of 32 bits
             --> a.c:3:17
              |
            3 |     return (int)__enzyme_autodiff((void *)f, 1.0,
              |                 ^^^^^^^^^^^^^^^^^ in `main`
              |
              = note: integers have no derivative
              = help: write enzyme_const, and no shadow
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0503]: `f` is variadic, so it has no derivative
             --> a.c:3:17
              |
            3 |     return (int)__enzyme_autodiff((void *)f, 2, 1.0, 2.0);
              |                 ^^^^^^^^^^^^^^^^^ in `main`
              |
              = note: there is no place for shadows among arguments that only the function itself can tell apart
              = help: pass the values in an array, or write a function with fixed parameters
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0505]: cannot differentiate inline assembly
             --> a.c:3:5
              |
            3 |     __asm__("sqrtsd %0, %0" : "+x"(y));
              |     ^^^^^^^ in `f`
              |
             ::: a.c:6:30
              |
            6 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it in `f`, and there is no rule for it
              = help: pass what it depends on as enzyme_const if no derivative is meant to flow here, or write it with operations that have derivatives
        "#]],
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
    __enzyme_autodiff((void *)f, &x, &d);
    return (int)d;
}
",
        expect![[r#"
            exit code 1
            error[Z0505]: cannot differentiate inline assembly
             --> a.c:2:5
              |
            2 |     __asm__ volatile("movq $0, (%0)" : : "r"(p) : "memory");
              |     ^^^^^^^ in `f`
              |
             ::: a.c:7:5
              |
            7 |     __enzyme_autodiff((void *)f, &x, &d);
              |     ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it in `f`, and there is no rule for it
              = help: pass what it depends on as enzyme_const if no derivative is meant to flow here, or write it with operations that have derivatives
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0501]: cannot differentiate the call of `mystery`
             --> a.c:3:12
              |
            3 |     return mystery(x * x);
              |            ^^^^^^^ in `helper`
              |
             ::: a.c:6:16
              |
            6 |     return x * helper(x);
              |                ------ inlined here, in `f`
              |
             ::: a.c:8:30
              |
            8 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it, but its body is not part of the program and no rule for it is known
              = help: compile the file that defines it with zymase too, or, if no derivative is meant to flow through it, mark it: `void *__enzyme_inactivefn_mystery = (void *)mystery;`
        "#]],
    );
}

#[test]
fn the_way_to_a_callee_of_a_callee() {
    check(
        "double mystery(double);
__attribute__((noinline)) static double inner(double x) {
    return mystery(x) + x;
}
__attribute__((noinline)) static double outer(double x) {
    return inner(x * x) * 2;
}
static double f(double x) {
    return x * outer(x);
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[r#"
            exit code 1
            error[Z0501]: cannot differentiate the call of `mystery`
              --> a.c:3:12
               |
             3 |     return mystery(x) + x;
               |            ^^^^^^^ in `inner`
               |
              ::: a.c:6:12
               |
             6 |     return inner(x * x) * 2;
               |            ----- called here, in `outer`
               |
              ::: a.c:9:16
               |
             9 |     return x * outer(x);
               |                ----- called here, in `f`
               |
              ::: a.c:11:30
               |
            11 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
               |                              ----------------- asked for here, in `main`
               |
               = note: a derivative flows through it, but its body is not part of the program and no rule for it is known
               = help: compile the file that defines it with zymase too, or, if no derivative is meant to flow through it, mark it: `void *__enzyme_inactivefn_mystery = (void *)mystery;`
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0502]: cannot differentiate a call through a function pointer
             --> a.c:3:16
              |
            3 |     return x * g(x);
              |                ^ in `f`
              |
             ::: a.c:6:17
              |
            6 |     return (int)__enzyme_autodiff((void *)f, enzyme_const, chosen, 2.0);
              |                 ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it, and the program has the code of no function of this type whose address is taken
              = help: compile the files that define the possible functions with zymase too and link them together, or call the function by its name
        "#]],
    );
}

/// What was seen at a variable index are integers, and nobody says where they end.
#[test]
fn type_of_a_copy_behind_integers() {
    check(
        "void *memcpy(void *, const void *, unsigned long);
static int f(void *to, void *from, int i) {
    int *key = from;
    memcpy(to, from, 32);
    return key[i] * 3 + key[i + 1];
}
int main(void) {
    struct { int key[4]; float w[4]; } a, b, c, d;
    __enzyme_autodiff((void *)f, enzyme_dup, &a, &b, enzyme_dup, &c, &d, enzyme_const, 1);
}
",
        expect![[r#"
            exit code 1
            error[Z0202]: cannot deduce the type of copied memory
             --> a.c:4:5
              |
            4 |     memcpy(to, from, 32);
              |     ^^^^^^ in `f`
              |
             ::: a.c:9:5
              |
            9 |     __enzyme_autodiff((void *)f, enzyme_dup, &a, &b, enzyme_dup, &c, &d, enzyme_const, 1);
              |     ----------------- asked for here, in `main`
              |
              = note: a derivative may flow through byte 0 of it, and nothing in the program says what type it has
              = help: say it with `__enzyme_double(p);` (or __enzyme_float, __enzyme_integer, __enzyme_pointer) before the copy, copy field by field, or compile with optimization (-O1 or more keeps type information)
        "#]],
    );
}

/// The floats are moved as words, at an index that might as well be one of the integers.
#[test]
fn type_of_a_word_among_integers() {
    check(
        "void *memcpy(void *, const void *, unsigned long);
struct keyed { int key[4]; float w[4]; };
static int f(struct keyed *to, struct keyed *from, int i) {
    for (int j = 0; j < 4; j++) memcpy(&to->w[j], &from->w[3 - j], 4);
    return from->key[i] * 3 + from->key[i + 1];
}
int main(void) {
    struct keyed a, b, c, d;
    __enzyme_autodiff((void *)f, enzyme_dup, &a, &b, enzyme_dup, &c, &d, enzyme_const, 1);
}
",
        expect![[r#"
            exit code 1
            error[Z0201]: cannot deduce what type memory holds
             --> a.c:4:33
              |
            4 |     for (int j = 0; j < 4; j++) memcpy(&to->w[j], &from->w[3 - j], 4);
              |                                 ^^^^^^ in `f`
              |
             ::: a.c:9:5
              |
            9 |     __enzyme_autodiff((void *)f, enzyme_dup, &a, &b, enzyme_dup, &c, &d, enzyme_const, 1);
              |     ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it, and the memory is used without a type
              = help: access it with one type, or say what it holds with __enzyme_float, __enzyme_double, __enzyme_integer or __enzyme_pointer
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0202]: cannot deduce the type of copied memory
             --> a.c:3:5
              |
            3 |     memcpy(to, from, n);
              |     ^^^^^^ in `f`
              |
             ::: a.c:7:5
              |
            7 |     __enzyme_autodiff((void *)f, &a, &b, &c, &d, sizeof a);
              |     ----------------- asked for here, in `main`
              |
              = note: a derivative may flow through byte 0 of it, and nothing in the program says what type it has
              = help: say it with `__enzyme_double(p);` (or __enzyme_float, __enzyme_integer, __enzyme_pointer) before the copy, copy field by field, or compile with optimization (-O1 or more keeps type information)
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0404]: cannot differentiate an atomic operation on floats
             --> a.c:2:8
              |
            2 |     *a = x * x;
              |        ^^^^^^^^ in `f`
              |
             ::: a.c:7:17
              |
            7 |     return (int)__enzyme_autodiff((void *)f, &a, &d, 2.0);
              |                 ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it, and other threads may run it at the same time, which plain additions to its shadow would not survive
              = help: let each thread work on memory of its own and add the results up afterwards, or pass the memory as enzyme_const if no derivative is meant to flow here
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0704]: cannot differentiate a function with a call of _setjmp, which returns twice
             --> a.c:4:9
              |
            4 |     if (setjmp(place) == 0)
              |         ^^^^^^ in `f`
              |
             ::: a.c:8:30
              |
            8 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: control comes back to it on a way that the program text does not show, so the reverse sweep could not go back
              = help: keep it out of the differentiated functions, or mark the function that contains it as inactive if no derivative is meant to flow through it
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0503]: cannot differentiate the call of `sum`, which is variadic
              --> a.c:12:12
               |
            12 |     return sum(2, x, x * x);
               |            ^^^ in `f`
               |
              ::: a.c:14:30
               |
            14 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
               |                              ----------------- asked for here, in `main`
               |
               = note: a derivative flows through it, and there is no place for shadows among arguments that only the callee can tell apart
               = help: pass the values in an array, or write the function with fixed parameters
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0301]: a derivative flows through the global variable `scale`, which has no shadow
             --> a.c:3:11
              |
            3 |     scale = x * 2;
              |           ^^^^^^^^ in `f`
              |
             ::: a.c:6:30
              |
            6 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: it is defined outside of the program that Zymase sees, so other code may read and write it while a derivative is computed
              = help: compile the file that defines it with zymase too, pass a pointer to it as an enzyme_dup argument, or, if no derivative is meant to flow through it, mark it: `void *__enzyme_inactive_global_scale = &scale;`
        "#]],
    );
}

#[test]
fn stranger_and_variable() {
    check(
        "static double scale;
void elsewhere(void);
static void log_it(void) { elsewhere(); }
static double f(double x) {
    scale = x * 2;
    log_it();
    return x * scale;
}
double get(void) { return scale; }
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[r#"
            exit code 1
            error[Z0504]: cannot tell what `elsewhere` does with the global variable `scale`
              --> a.c:3:28
               |
             3 | static void log_it(void) { elsewhere(); }
               |                            ^^^^^^^^^ in `log_it`
               |
              ::: a.c:6:5
               |
             6 |     log_it();
               |     ------ inlined here, in `f`
               |
              ::: a.c:10:30
               |
            10 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
               |                              ----------------- asked for here, in `main`
               |
               = note: a derivative flows through the variable, and `elsewhere`, whose body is not part of the program, might read or write it
               = help: compile the file that defines `elsewhere` with zymase too, or, if it leaves the variable alone, mark it: `void *__enzyme_inactivefn_elsewhere = (void *)elsewhere;`
        "#]],
    );
}

#[test]
fn stale_pointer_in_variable() {
    check(
        "static double *cursor;
void start(double *at) { cursor = at; }
static double f(double x) {
    *cursor = x * 2;
    return x * *cursor;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[r#"
            exit code 1
            error[Z0302]: cannot tell whether memory has a derivative
             --> a.c:4:13
              |
            4 |     *cursor = x * 2;
              |             ^^^^^^^^ in `f`
              |
             ::: a.c:7:30
              |
            7 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: a derivative flows through a pointer that may lead to memory that the variable `cursor` led to before
              = help: pass the memory as an enzyme_dup argument
        "#]],
    );
}

/// Nobody knows what code behind a pointer does that is not part of the program.
#[test]
fn unknown_code_and_variable() {
    check(
        "double state;
void (*hook)(void);
static double f(double x) {
    state = x * x;
    hook();
    return state;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[r#"
            exit code 1
            error[Z0502]: cannot differentiate a call through a function pointer
             --> a.c:5:5
              |
            5 |     hook();
              |     ^^^^ in `f`
              |
             ::: a.c:8:30
              |
            8 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: a derivative flows through it, and the program has the code of no function of this type whose address is taken
              = help: compile the files that define the possible functions with zymase too and link them together, or call the function by its name
        "#]],
    );
}

/// The variable holds no number, but a pointer to one.
#[test]
fn stranger_and_pointer_in_variable() {
    check(
        "double *cursor;
void elsewhere(void);
static double f(double x) {
    double t = x * x;
    cursor = &t;
    elsewhere();
    double r = t;
    cursor = 0;
    return r;
}
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[r#"
            exit code 1
            error[Z0504]: cannot tell what `elsewhere` does with the global variable `cursor`
              --> a.c:6:5
               |
             6 |     elsewhere();
               |     ^^^^^^^^^ in `f`
               |
              ::: a.c:11:30
               |
            11 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
               |                              ----------------- asked for here, in `main`
               |
               = note: a derivative flows through the variable, and `elsewhere`, whose body is not part of the program, might read or write it
               = help: compile the file that defines `elsewhere` with zymase too, or, if it leaves the variable alone, mark it: `void *__enzyme_inactivefn_elsewhere = (void *)elsewhere;`
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0703]: cannot differentiate a `throw` of a value with a derivative
             --> a.cpp:3:9
              |
            3 |         throw x * 2;
              |         ^^^^^ in `f`
              |
             ::: a.cpp:6:26
              |
            6 | int main() { return (int)__enzyme_autodiff((void *)f, 2.0); }
              |                          ----------------- asked for here, in `main`
              |
              = note: an exception leaves the function on a way that the reverse sweep cannot go back, and a derivative flows into what is thrown
              = help: return the value, or throw something that does not depend on active arguments
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0702]: `f` never returns
             --> a.c:3:5
              |
            3 |     for (;;)
              |     ^^^ in `f`
              |
             ::: a.c:6:30
              |
            6 | int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
              |                              ----------------- asked for here, in `main`
              |
              = note: every path through it ends in a loop without exit or in a call that does not return, so there is nothing to differentiate
              = help: let the function return
        "#]],
    );
}

#[test]
fn annotation_that_is_not_supported() {
    check(
        "__attribute__((annotate(\"enzyme_sparse_accumulate\")))
static double g(double x) { return x * 100; }
static double f(double x) { return x * x + g(x); }
int main(void) { return (int)__enzyme_autodiff((void *)f, 2.0); }
",
        expect![[r#"
            exit code 1
            error[Z0102]: the annotation `enzyme_sparse_accumulate` is not supported yet
             --> a.c:2:1
              |
            2 | static double g(double x) { return x * 100; }
              | ^^^^^^ in `g`
              |
              = note: it is about `g`, which a derivative needs, and leaving it out would change the result
              = help: remove the annotation, so that Zymase differentiates `g` itself, or mark it with __enzyme_inactivefn
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0101]: unknown annotation `enzyme_inactiv` on `g`
             --> a.c:2:1
              |
            2 | double g(double x) { return x * 100; }
              | ^^^^^^ in `g`
              |
              = note: an annotation that begins with `enzyme_` says how to differentiate a function or variable, and this one has no meaning
              = help: did you mean `enzyme_inactive`?
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0116]: the annotation `enzyme_inactive` stands on a local variable, parameter or field
             --> a.c:2:5
              |
            2 |     double y __attribute__((annotate("enzyme_inactive"))) = x * x;
              |     ^^^^^^ in `f`
              |
              = note: Zymase reads annotations of functions and global variables only, and leaving this one out would change the meaning
              = help: annotate the function or the global variable, or pass the value as enzyme_const
        "#]],
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
        expect![[r#"
            exit code 1
            error[Z0117]: `__enzyme_double` is not called with a pointer
             --> a.c:3:5
              |
            3 |     __enzyme_double(x);
              |     ^^^^^^^^^^^^^^^ in `f`
              |
              = note: a type hint says what the memory at a pointer holds
              = help: write it as `__enzyme_double(p);` or `__enzyme_double(p, bytes);`, and use no result of it
        "#]],
    );
}

/// A string would carry the bytes of a float on without its derivative.
#[test]
fn bytes_of_floats_in_a_string() {
    refused(
        "c++",
        "a.cpp",
        "#include <string>
static double f(double *x) {
    std::string s;
    s.append((const char *)x, 8);
    double y;
    __builtin_memcpy(&y, s.data(), 8);
    return y * y;
}
int main() {
    double x = 3, d = 0;
    __enzyme_autodiff((void *)f, enzyme_dup, &x, &d);
}
",
        expect![[r#"
            exit code 1
            error[Z0206]: cannot differentiate the call of `_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKcm` on the bytes of floats
              --> a.cpp:4:7
               |
             4 |     s.append((const char *)x, 8);
               |       ^^^^^^ in `f`
               |
              ::: a.cpp:11:5
               |
            11 |     __enzyme_autodiff((void *)f, enzyme_dup, &x, &d);
               |     ----------------- asked for here, in `main`
               |
               = note: the derivatives of the floats would be lost among characters
               = help: keep the numbers in memory of their own type
        "#]],
    );
}
