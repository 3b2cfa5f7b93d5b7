//! Whole programs: modules and C sources with requests, compiled, linked and run.

mod common;

use common::{Folder, succeed};
use std::process::Command;

/// The clangs of this machine; programs in C are tested with each.
fn clangs() -> Vec<String> {
    let names = (14..=22).map(|version| format!("clang-{version}"));
    names
        .filter(|name| Command::new(name).arg("--version").output().is_ok())
        .collect()
}

/// Compiles and links with every clang at several levels, runs, and compares the output.
fn check(files: &[(&str, &str)], command: &str, expected: &str) {
    for clang in clangs() {
        for level in ["-O0", "-O2"] {
            let folder = Folder::with(files);
            let words: Vec<&str> = command.split_whitespace().collect();
            let output = Command::new(env!("CARGO_BIN_EXE_zymase"))
                .arg(words[0])
                .arg(level)
                .args(&words[1..])
                .args(["-o", "prog"])
                .env("ZYMASE_CLANG", &clang)
                .current_dir(folder.path())
                .output()
                .unwrap();
            succeed(&output);
            let program = folder.path().join("prog");
            let printed = succeed(&folder.command(program.to_str().unwrap(), ""));
            assert_eq!(printed, expected, "{clang} {level}");
        }
    }
}

const HEADER: &str = "
#include <stdio.h>
extern int enzyme_dup, enzyme_const, enzyme_out, enzyme_primal_return;
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
";

#[test]
fn demo() {
    let text = succeed(&Folder::with(&[]).zymase("demo"));
    assert!(text.contains("1.381773            1.381773"), "{text}");
}

#[test]
fn both_modes() {
    let source = format!(
        "{HEADER}
double f(double x) {{ return x * x; }}
int main() {{
    printf(\"%g \", __enzyme_autodiff((void *)f, 3.0));
    printf(\"%g\\n\", __enzyme_fwddiff((void *)f, 3.0, 1.0));
}}"
    );
    check(&[("a.c", &source)], "cc a.c", "6 6\n");
}

/// What C passes and returns is not what LLVM sees: widened floats, structures in registers, in
/// vectors and in memory.
#[test]
fn calling_conventions() {
    let source = format!(
        "{HEADER}
typedef struct {{ float a, b; }} F2;
typedef struct {{ double a, b, c; }} D3;
F2 __enzyme_autodiff_2(void *, ...);
D3 __enzyme_autodiff_3(void *, ...);
float __enzyme_autodiff_f(void *, ...);
float one(float x) {{ return x * x * x; }}
float two(float x, float y) {{ return x * y * y; }}
double three(double x, double y, double z) {{ return x * y * z; }}
int main() {{
    F2 f = __enzyme_autodiff_2((void *)two, enzyme_out, 2.0f, enzyme_out, 3.0f);
    D3 d = __enzyme_autodiff_3((void *)three, 2.0, 3.0, 4.0);
    printf(\"%g, %g %g, %g %g %g\\n\", __enzyme_autodiff_f((void *)one, 2.0f), f.a, f.b, d.a, d.b, d.c);
}}"
    );
    check(&[("a.c", &source)], "cc a.c", "12, 9 12, 12 8 6\n");
}

#[test]
fn markers_defined_in_the_same_file() {
    let source = "
#include <stdio.h>
int enzyme_dup;
void __enzyme_autodiff(void *, ...);
static double f(double *x) { return x[0] * x[0]; }
int main() {
    double x = 3, dx = 0;
    __enzyme_autodiff((void *)f, enzyme_dup, &x, &dx);
    printf(\"%g\\n\", dx);
}";
    check(&[("a.c", source)], "cc a.c", "6\n");
}

/// The derivative and the function count in the same variable.
#[test]
fn local_variables_are_shared() {
    let source = format!(
        "{HEADER}
static int calls;
double f(double x) {{ calls++; return x * x; }}
int main() {{
    f(1.0);
    double slope = __enzyme_autodiff((void *)f, 3.0);
    printf(\"%g %d\\n\", slope, calls);
}}"
    );
    check(&[("a.c", &source)], "cc a.c", "6 2\n");
}

#[test]
fn function_in_another_file() {
    let source = format!(
        "{HEADER}
double g(double);
int main() {{ printf(\"%g\\n\", __enzyme_autodiff((void *)g, 3.0)); }}"
    );
    let other = "double g(double x) { return 5 * x * x; }";
    check(&[("a.c", &source), ("b.c", other)], "cc a.c b.c", "30\n");
}

/// With -flto all files are bitcode, and a local variable of one can be shared with derivatives.
#[test]
fn local_variable_of_another_file() {
    let source = format!(
        "{HEADER}
double g(double);
void set(double);
int main() {{ set(5); printf(\"%g\\n\", __enzyme_autodiff((void *)g, 3.0)); }}"
    );
    let other = "
static double scale = 2;
void set(double s) { scale = s; }
double g(double x) { return scale * x * x; }";
    check(
        &[("a.c", &source), ("b.c", other)],
        "cc -flto a.c b.c",
        "30\n",
    );
}

/// A native object calls into an archive of bitcode, which asks for a derivative.
#[test]
fn bitcode_archive_and_native_object() {
    let model = "
double __enzyme_autodiff(void *, ...);
double f(double x) { return x * x * x; }
double slope(double x) { return __enzyme_autodiff((void *)f, x); }";
    let other = "int unrelated(void) { return 7; }";
    let main = "
#include <stdio.h>
double slope(double);
int unrelated(void);
int main() { printf(\"%g %d\\n\", slope(2.0), unrelated()); }";
    for clang in clangs() {
        let folder = Folder::with(&[("model.c", model), ("other.c", other), ("main.c", main)]);
        succeed(&folder.command(&clang, "-O2 -c -emit-llvm model.c -o model.o"));
        succeed(&folder.command(&clang, "-O2 -c -flto other.c -o other.o"));
        succeed(&folder.command(&clang, "-O2 -c main.c -o main.o"));
        succeed(&folder.command("ar", "rc libmodel.a model.o other.o"));
        for link in ["main.o libmodel.a -o prog", "main.o -L. -lmodel -o prog"] {
            succeed(&folder.zymase(&format!("ld {link}")));
            let program = folder.path().join("prog");
            let printed = succeed(&folder.command(program.to_str().unwrap(), ""));
            assert_eq!(printed, "12 7\n", "{clang} {link}");
        }
    }
}

/// A file that asks for nothing has the instructions that clang alone gives it, at any level.
#[test]
fn nothing_changes_without_requests() {
    let c = "
#include <math.h>
#include <string.h>
static int calls;
struct pair { double a, b; };
double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
double norm(const double *x, int n) { calls++; return sqrt(sum(x, n)); }
void copy(struct pair *a, const struct pair *b, int n) { memcpy(a, b, n * sizeof *a); a->a = exp(b->b); }
int (*choose(int k))(void) { extern int f(void), g(void); switch (k) { case 1: return f; default: return g; } }";
    let cpp = "
template <class T> T power(T x, unsigned n) { return n ? x * power(x, n - 1) : T(1); }
struct Shape { virtual double area() const = 0; virtual ~Shape() {} };
struct Square : Shape { double side; double area() const override { return power(side, 2); } };
double total(Shape **shapes, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        try { sum += shapes[i]->area(); } catch (int) { return -1; }
    return sum;
}
Shape *make() { return new Square; }";
    for clang in clangs() {
        let folder = Folder::with(&[("a.c", c), ("b.cpp", cpp)]);
        for (tool, file) in [("cc", "a.c"), ("c++", "b.cpp")] {
            for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
                let output = Command::new(env!("CARGO_BIN_EXE_zymase"))
                    .args([tool, level, "-c", file, "-o", "ours.o"])
                    .env("ZYMASE_CLANG", &clang)
                    .current_dir(folder.path())
                    .output()
                    .unwrap();
                succeed(&output);
                succeed(&folder.command(&clang, &format!("{level} -c {file} -o clang.o")));
                let instructions = |name: &str| {
                    let options = "-dr --no-show-raw-insn";
                    let text = succeed(&folder.command("objdump", &format!("{options} {name}")));
                    text.lines().skip(3).map(str::to_string).collect::<Vec<_>>()
                };
                let (ours, theirs) = (instructions("ours.o"), instructions("clang.o"));
                assert_eq!(ours, theirs, "{clang} {level} {file}");
            }
        }
    }
}

/// Nothing flows through what is marked inactive, also when an optimizer could have inlined it.
#[test]
fn inactive_functions() {
    let source = format!(
        "{HEADER}
double __enzyme_ignore_derivatives(double);
double __enzyme_call_inactive(void *, ...);
double square(double x) {{ return x * x; }}
void *__enzyme_inactivefn_square = (void *)square;
double triple(double x) {{ return 3 * x; }}
double f(double x) {{ return x * square(x); }}
double g(double x) {{ return x * __enzyme_ignore_derivatives(x); }}
double h(double x) {{ return x * __enzyme_call_inactive((void *)triple, x); }}
int main() {{
    printf(\"%g \", __enzyme_autodiff((void *)f, 3.0));
    printf(\"%g \", __enzyme_autodiff((void *)g, 3.0));
    printf(\"%g\\n\", __enzyme_autodiff((void *)h, 3.0));
}}"
    );
    check(&[("a.c", &source)], "cc a.c", "9 3 9\n");
}

/// Templates, results in memory, several derivatives at once, exceptions, derivatives of
/// derivatives, and a wrapper that passes its own parameter on.
#[test]
fn cpp() {
    let source = include_str!("programs/everything.cpp");
    let expected = include_str!("programs/everything.txt");
    check(&[("a.cpp", source)], "c++ a.cpp", expected);
}

/// Runs `zymase cc` with one clang.
fn cc(folder: &Folder, clang: &str, words: &str) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_zymase"))
        .arg("cc")
        .args(words.split_whitespace())
        .env("ZYMASE_CLANG", clang)
        .current_dir(folder.path())
        .output()
        .unwrap()
}

/// Compiled one by one, then linked: functions of other files are found then.
#[test]
fn separate_compilation() {
    let source = format!(
        "{HEADER}
double g(double);
int main() {{ printf(\"%g\\n\", __enzyme_autodiff((void *)g, 3.0)); }}"
    );
    let other = "double g(double x) { return 5 * x * x; }";
    for clang in clangs() {
        let folder = Folder::with(&[
            ("a.c", &source),
            ("b.c", other),
            ("args", "-o prog\n'a.o' b.o"),
        ]);
        succeed(&cc(&folder, &clang, "-O2 -c a.c b.c"));
        assert_eq!(folder.files(), ["a.c", "a.o", "args", "b.c", "b.o"]);
        succeed(&cc(&folder, &clang, "-O2 a.o b.o -o prog"));
        let program = folder.path().join("prog");
        let run = || succeed(&folder.command(program.to_str().unwrap(), ""));
        assert_eq!(run(), "30\n", "{clang}");
        std::fs::remove_file(&program).unwrap();
        succeed(&folder.zymase("ld @args"));
        assert_eq!(run(), "30\n", "{clang}");
    }
}

/// What has nothing to do with derivatives is clang's.
#[test]
fn other_modes_of_clang() {
    let source =
        format!("{HEADER}double f(double x) {{ return __enzyme_autodiff((void *)f, x); }}");
    let good = format!(
        "{HEADER}double g(double x) {{ return x; }}\ndouble h(double x) {{ return __enzyme_autodiff((void *)g, x); }}"
    );
    for clang in clangs() {
        let folder = Folder::with(&[("a.c", &source), ("b.c", &good), ("bad.c", "int f( {")]);
        assert!(succeed(&cc(&folder, &clang, "-E a.c")).contains("__enzyme_autodiff"));
        assert!(succeed(&cc(&folder, &clang, "--version")).contains("clang version"));
        succeed(&cc(&folder, &clang, "-fsyntax-only a.c"));
        succeed(&cc(&folder, &clang, "-O1 -S b.c"));
        let assembly = std::fs::read_to_string(folder.path().join("b.s")).unwrap();
        assert!(
            assembly.contains("h:") && !assembly.contains("__enzyme"),
            "{assembly}"
        );
        assert_eq!(cc(&folder, &clang, "-c bad.c").status.code(), Some(1));
        assert_eq!(folder.files(), ["a.c", "b.c", "b.s", "bad.c"]);
    }
}

#[test]
fn no_clang() {
    let folder = Folder::with(&[("a.c", "")]);
    let output = Command::new(env!("CARGO_BIN_EXE_zymase"))
        .args(["cc", "a.c"])
        .env("PATH", folder.path())
        .env_remove("ZYMASE_CLANG")
        .output()
        .unwrap();
    expect_test::expect![[r#"
        exit code 1
        error[Z0805]: no clang found: neither clang nor clang-22 to clang-14 is on PATH
         |
         = note: Zymase reads the bitcode that clang writes
         = help: install clang (`apt install clang`), or set ZYMASE_CLANG to its path
    "#]]
    .assert_eq(&common::shown(&output));
}

/// Links two files with a request in the first, and gives the message without folder names.
fn refused_link(other: &str, flags: &str) -> Vec<String> {
    let source = format!(
        "{HEADER}
double g(double);
int main() {{ printf(\"%g\\n\", __enzyme_autodiff((void *)g, 3.0)); }}"
    );
    let refusal = |clang: String| {
        let folder = Folder::with(&[("a.c", &source), ("b.c", other), ("c.c", other)]);
        let output = cc(&folder, &clang, flags);
        assert!(!folder.path().join("prog").exists());
        let text = common::shown(&output);
        let words = text.split(' ').map(|word| match word.rsplit_once('/') {
            Some((_, name)) => name,
            None => word,
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let mut messages: Vec<String> = clangs().into_iter().map(refusal).collect();
    messages.dedup();
    messages
}

#[test]
fn two_definitions() {
    let other = "double g(double x) { return x * x; }";
    for message in refused_link(other, "-O1 a.c b.c c.c -o prog") {
        expect_test::expect![[r#"
            exit code 1
            error[Z0807]: `g` is defined in 1-b.o and in 2-c.o
             |
             = note: a derivative needs its body, and the two may differ
             = help: link only one of them
        "#]]
        .assert_eq(&message);
    }
}

/// A body that another file may replace is not the one to differentiate if another file does.
#[test]
fn weak_functions() {
    let source = format!(
        "{HEADER}
__attribute__((weak)) double g(double x) {{ return x; }}
double f(double x) {{ return x * g(x); }}
int main() {{ printf(\"%g\\n\", __enzyme_autodiff((void *)f, 3.0)); }}"
    );
    let strong = "double g(double x) { return 5 * x; }";
    let weak = "__attribute__((weak)) double g(double x) { return 7 * x; }";
    for clang in clangs() {
        let folder = Folder::with(&[("a.c", &source), ("b.c", strong), ("c.c", weak)]);
        let prints = |expected: &str| {
            let printed = succeed(&folder.command("./prog", ""));
            assert_eq!(printed, expected, "{clang}");
        };
        succeed(&cc(&folder, &clang, "-O1 a.c -o prog"));
        prints("6\n");
        succeed(&cc(&folder, &clang, "-O1 c.c a.c b.c -o prog"));
        prints("30\n");
        succeed(&cc(&folder, &clang, "-O1 -c a.c b.c c.c"));
        succeed(&cc(&folder, &clang, "a.o b.o -o prog"));
        prints("30\n");
        let message = common::shown(&cc(&folder, &clang, "a.o c.o -o other"));
        let expected = "exit code 1\nerror[Z0807]: `g` is defined in a.o and in c.o";
        assert!(message.starts_with(expected), "{message}");
        // Nobody can differentiate the strong one now.
        succeed(&folder.command(&clang, "-O1 -c b.c"));
        let message = common::shown(&cc(&folder, &clang, "a.o b.o -o other"));
        let expected = "exit code 1\nerror[Z0807]: `g` is defined in a.o and in b.o";
        assert!(message.starts_with(expected), "{message}");
        assert!(!folder.path().join("other").exists());
    }
}

/// Copies of inline functions and templates, and of their variables, are one definition.
#[test]
fn comdat() {
    let header = format!(
        "#include <cstdio>
extern \"C\" {{
{HEADER}}}
template <int N> struct Power {{
    static int calls;
    __attribute__((noinline)) static double of(double x) {{
        calls++;
        return x * Power<N - 1>::of(x);
    }}
}};
template <int N> int Power<N>::calls;
template <> inline double Power<0>::of(double) {{ return 1; }}
double other(double);
"
    );
    let first = "#include \"power.h\"
static double f(double x) { return Power<3>::of(x) + other(x); }
int main() { printf(\"%g\", __enzyme_autodiff((void *)f, 2.0)); printf(\" %d\\n\", Power<3>::calls); }";
    let second = "#include \"power.h\"
double other(double x) { return 10 * Power<3>::of(x); }";
    let files = [("power.h", &*header), ("a.cpp", first), ("b.cpp", second)];
    for level in ["-O0", "-O2"] {
        let folder = Folder::with(&files);
        succeed(&folder.zymase(&format!("c++ {level} -c a.cpp b.cpp")));
        succeed(&folder.zymase(&format!("c++ {level} a.o b.o -o prog")));
        assert_eq!(succeed(&folder.command("./prog", "")), "132 2\n", "{level}");
    }
}

/// A file that has derivatives of its own, and is native already, still has bodies for others.
#[test]
fn through_a_file_with_requests() {
    let first = format!(
        "{HEADER}
double g(double);
double count(void);
int main() {{ printf(\"%g %g\\n\", __enzyme_autodiff((void *)g, 3.0), count()); }}"
    );
    let second = format!(
        "{HEADER}
static double calls;
static double cube(double x) {{ calls++; return x * x * x; }}
double g(double x) {{ return __enzyme_autodiff((void *)cube, x) + cube(x); }}
double count(void) {{ return calls; }}"
    );
    for clang in clangs() {
        let folder = Folder::with(&[("a.c", &first), ("b.c", &second)]);
        succeed(&cc(&folder, &clang, "-O2 -c a.c b.c"));
        succeed(&cc(&folder, &clang, "-O2 a.o b.o -o prog"));
        assert_eq!(succeed(&folder.command("./prog", "")), "45 2\n", "{clang}");
    }
}

/// A local function of another file that nothing but a request there names, called or through a
/// pointer.
#[test]
fn through_a_request_for_a_local_function() {
    let first = format!(
        "{HEADER}
double slope(double);
extern double (*chosen)(double, double);
double f(double x) {{ return slope(x) * x; }}
double g(double x) {{ return chosen(x, x); }}
int main() {{
  printf(\"%g \", __enzyme_autodiff((void *)f, 2.0));
  printf(\"%g\\n\", __enzyme_fwddiff((void *)g, 2.0, 1.0));
}}"
    );
    let second = format!(
        "{HEADER}
static double cube(double x) {{ return x * x * x; }}
double slope(double x) {{ return __enzyme_autodiff((void *)cube, x); }}
static double scaled(double x, double y) {{ return y * __enzyme_autodiff((void *)cube, x); }}
double (*chosen)(double, double) = scaled;"
    );
    let files = [("a.c", first.as_str()), ("b.c", second.as_str())];
    check(&files, "cc a.c b.c", "36 36\n");
}

/// The derivative shares a variable that only another file can see, and which that file changes.
#[test]
fn local_variable_of_a_native_file() {
    let source = format!(
        "{HEADER}
double g(double);
void set(double);
int main() {{ set(5); printf(\"%g\\n\", __enzyme_autodiff((void *)g, 3.0)); }}"
    );
    let other = "static double scale = 2; void set(double s) { scale = s; }
double g(double x) { return scale * x; }";
    for clang in clangs() {
        let folder = Folder::with(&[("a.c", &source), ("b.c", other)]);
        succeed(&cc(&folder, &clang, "-O1 a.c b.c -o prog"));
        assert_eq!(succeed(&folder.command("./prog", "")), "5\n", "{clang}");
    }
}

#[test]
fn annotations() {
    let source = format!(
        "{HEADER}
__attribute__((annotate(\"enzyme_inactive\"))) static double noise(double x) {{ return 100 * x; }}
__attribute__((annotate(\"enzyme_inactive\"))) double last;
double other;
void *__enzyme_inactive_global_other = &other;
__attribute__((annotate(\"for somebody else\"))) static double f(double x) {{
    last = 3 * x;
    other = 5 * x;
    return x * x + noise(x) + last + other;
}}
__attribute__((annotate(\"enzyme_function_like=log1p\"))) double unused(double x) {{ return x; }}
int main() {{
    printf(\"%g \", __enzyme_autodiff((void *)f, 3.0));
    printf(\"%g \", __enzyme_fwddiff((void *)f, 3.0, 1.0));
    printf(\"%g %g\\n\", last, other);
}}"
    );
    check(&[("a.c", &source)], "cc a.c", "6 6 9 15\n");
}

/// Functions of two files may have the same name, and what is said of one is not said of the other.
#[test]
fn annotation_of_a_local_function_in_another_file() {
    let other = "
__attribute__((annotate(\"enzyme_inactive\"))) static double helper(double x) { return 1000 * x; }
double library(double x) { return helper(x) + x * x; }
";
    let source = format!(
        "{HEADER}
double library(double);
__attribute__((noinline)) static double helper(double x) {{ return x * x * x; }}
static double f(double x) {{ return library(x) + helper(x); }}
int main() {{ printf(\"%g\\n\", __enzyme_autodiff((void *)f, 2.0)); }}"
    );
    let files = [("a.c", source.as_str()), ("b.c", other)];
    check(&files, "cc a.c b.c", "16\n");
}

/// Without the hint, the copy is refused (see `refusals.rs`).
#[test]
fn type_hints() {
    let source = format!(
        "{HEADER}
#include <string.h>
void __enzyme_double(void *, ...);
void __enzyme_float(void *);
void __enzyme_integer(void *, unsigned long);
static void doubles(void *to, void *from, size_t n) {{
    __enzyme_double(to);
    memcpy(to, from, n);
}}
static void floats(void *to, void *from, size_t n) {{
    __enzyme_float(from);
    memcpy(to, from, n);
}}
static void mixed(void *to, void *from) {{
    __enzyme_integer(to, 8);
    __enzyme_double((char *)to + 8, 8);
    memcpy(to, from, 16);
}}
int main() {{
    double a[2] = {{1, 2}}, da[2] = {{0, 0}}, b[2], db[2] = {{3, 4}};
    __enzyme_autodiff((void *)doubles, b, db, a, da, sizeof a);
    printf(\"%g %g %g \", b[1], da[0], da[1]);
    float c[2] = {{1, 2}}, dc[2] = {{0, 0}}, d[2], dd[2] = {{5, 6}};
    __enzyme_autodiff((void *)floats, d, dd, c, dc, sizeof c);
    printf(\"%g %g %g \", d[1], dc[0], dc[1]);
    struct pair {{ long n; double x; }} e = {{7, 8}}, de = {{1, 0}}, f, df = {{2, 9}};
    __enzyme_autodiff((void *)mixed, &f, &df, &e, &de);
    printf(\"%ld %ld %g\\n\", f.n, de.n, de.x);
}}"
    );
    check(&[("a.c", &source)], "cc a.c", "2 3 4 2 5 6 7 1 9\n");
}

/// In one call nothing can be overwritten between the sweeps: the promise changes nothing.
#[test]
fn not_overwritten() {
    let source = format!(
        "{HEADER}
extern int enzyme_not_overwritten;
static double f(double *p, double x) {{ return *p * *p * x; }}
int main() {{
    double x = 3, d = 0;
    double slope = __enzyme_autodiff((void *)f, enzyme_not_overwritten, enzyme_dup, &x, &d, 2.0);
    printf(\"%g %g\\n\", slope, d);
}}"
    );
    check(&[("a.c", &source)], "cc a.c", "9 12\n");
}

/// LLVM makes one entry of two.
#[test]
fn irreducible_loop() {
    let source = format!(
        "{HEADER}
static double f(double x, int n) {{
    double s = x;
    int i = 0;
    if (n & 1)
        goto odd;
even:
    s = s * x;
    if (++i > n)
        return s;
odd:
    s = s + x;
    if (++i <= n)
        goto even;
    return s;
}}
int main() {{
    for (int n = 1; n < 5; n++) {{
        double up = f(2 + 1e-6, n), down = f(2 - 1e-6, n);
        double slope = __enzyme_autodiff((void *)f, 2.0, n);
        double error = slope - (up - down) / 2e-6;
        printf(\"%d\", error < 1e-3 && error > -1e-3);
    }}
    printf(\"\\n\");
}}"
    );
    check(&[("a.c", &source)], "cc a.c", "1111\n");
}

/// Volatile memory has a derivative like any other; an exception without one passes through.
#[test]
fn volatile_and_throw() {
    let source = "
#include <cstdio>
extern \"C\" double __enzyme_autodiff(void *, ...);
static double f(double x) {
    volatile double y = x * x;
    if (x > 3) throw 1;
    return y * x;
}
int main() { printf(\"%g\\n\", __enzyme_autodiff((void *)f, 2.0)); }
";
    check(&[("a.cpp", source)], "c++ a.cpp", "12\n");
}

/// An exception that would leave a derivative ends the program with a message, in both modes.
#[test]
fn exception_leaves_a_derivative() {
    let source = "
#include <cstdio>
#include <stdexcept>
extern \"C\" double __enzyme_autodiff(void *, ...);
extern \"C\" double __enzyme_fwddiff(void *, ...);
static double checked(double x) {
    if (x < 0) throw std::runtime_error(\"negative\");
    return x * x;
}
static double f(double x) { return checked(x - 1) * x; }
int main(int count, char **) {
    std::printf(\"%g\\n\", __enzyme_autodiff((void *)f, 2.0) + __enzyme_fwddiff((void *)f, 2.0, 1.0));
    std::fflush(stdout);
    try {
        double x = -1.0 * count;
        std::printf(\"%g\\n\", count > 1 ? __enzyme_autodiff((void *)f, x)
                                         : __enzyme_fwddiff((void *)f, x, 1.0));
    } catch (...) {
        std::printf(\"caught\\n\");
    }
}";
    let folder = Folder::with(&[("a.cpp", source)]);
    for level in ["-O0", "-O2"] {
        succeed(&folder.zymase(&format!("c++ {level} a.cpp -o prog")));
        for words in ["", "reverse"] {
            let output = folder.command("./prog", words);
            assert!(!output.status.success());
            assert_eq!(String::from_utf8_lossy(&output.stdout), "10\n");
            let text = String::from_utf8_lossy(&output.stderr);
            // If no caller has a handler, the C++ library ends the program before the guard is asked.
            let wanted = [
                "zymase: an exception left a derivative",
                "terminate called after throwing",
            ];
            assert!(wanted.iter().any(|w| text.starts_with(w)), "{text}");
        }
    }
}

/// The halves of one derivative are asked for in two files: they agree about the tape.
#[test]
fn halves_in_two_files() {
    let header = "
extern int enzyme_dup, enzyme_const;
double chain(double *x, int n);
void *forwards(double *x, double *d, int n);
void backwards(double *x, double *d, int n, void *tape);
";
    let first = "#include \"halves.h\"
#include <math.h>
void *__enzyme_augmentfwd(void *, ...);
double chain(double *x, int n) {
    double s = 1;
    for (int i = 0; i < n; i++) {
        s = sin(s * x[i]) + x[i];
        x[i] = s;
    }
    return s;
}
void *forwards(double *x, double *d, int n) {
    return __enzyme_augmentfwd((void *)chain, enzyme_dup, x, d, enzyme_const, n);
}";
    let second = "#include \"halves.h\"
void __enzyme_reverse(void *, ...);
void backwards(double *x, double *d, int n, void *tape) {
    __enzyme_reverse((void *)chain, enzyme_dup, x, d, enzyme_const, n, 1.0, tape);
}";
    let main = "#include \"halves.h\"
#include <stdio.h>
int main(void) {
    double at[3] = {0.3, 0.7, 1.1};
    for (int i = 0; i < 3; i++) {
        double x[3], up[3], down[3], d[3] = {0, 0, 0}, h = 1e-6;
        for (int j = 0; j < 3; j++) x[j] = up[j] = down[j] = at[j];
        up[i] += h, down[i] -= h;
        backwards(x, d, 3, forwards(x, d, 3));
        double error = d[i] - (chain(up, 3) - chain(down, 3)) / (2 * h);
        printf(\"%d\", error < 1e-6 && error > -1e-6);
    }
    printf(\"\\n\");
}";
    let files = [
        ("halves.h", header),
        ("a.c", first),
        ("b.c", second),
        ("main.c", main),
    ];
    check(&files, "cc a.c b.c main.c -lm", "111\n");
}
