//! The headers that `zymase cc` brings along.

mod common;

use common::{Folder, shown, succeed};

/// Builds a program with every level and checks what it prints.
fn check(command: &str, file: &str, text: &str, expected: &str) {
    let folder = Folder::with(&[(file, text)]);
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        succeed(&folder.zymase(&format!("{command} {level} {file} -lm -o program")));
        let program = folder.path().join("program");
        let printed = succeed(&folder.command(program.to_str().unwrap(), ""));
        assert_eq!(printed, expected, "at {level}");
    }
}

#[test]
fn c_declarations() {
    let program = r#"
#include <stdio.h>
#include <zymase/autodiff.h>
typedef struct { double x, y; } pair;
ZYMASE_REQUESTS(pair, _pair);
double product(double x, double y) { return x * y * y; }
float cube(float x) { return x * x * x; }
void squares(const double *in, double *out) { out[0] = in[0] * in[0]; }
int main(void) {
    pair both = __enzyme_autodiff_pair((void *)product, 2.0, 3.0);
    double in = 3, d_in = 0, out, seed = 1;
    __enzyme_autodiff_void((void *)squares, enzyme_dup, &in, &d_in, enzyme_dup, &out, &seed);
    printf("%g %g %g %g %g\n", both.x, both.y, __enzyme_autodiff_float((void *)cube, 2.0f),
           __enzyme_fwddiff((void *)product, enzyme_const, 2.0, enzyme_dup, 3.0, 1.0), d_in);
}
"#;
    check("cc", "program.c", program, "9 12 12 12 6\n");
}

#[test]
fn cpp_activities() {
    let program = r#"
#include <cmath>
#include <cstdio>
#include <enzyme/enzyme>
using namespace enzyme;
double product(double x, double y) { return x * y; }
double square(double x) { return x * x; }
float by_reference(const float &x) { return x * x; }
struct overloaded {
    double operator()(double x) { return x * 10; }
    float operator()(float x) { return x * 2; }
};
struct pair { double x, y; };
double of_pair(pair p) { return p.x * p.y; }
double sum(const double *v, int n) { double s = 0; for (int i = 0; i < n; i++) s += v[i] * v[i]; return s; }
void scale(const double *in, double *out, double k, int n) { for (int i = 0; i < n; i++) out[i] = k * in[i]; }
pair swapped(double x, double y) { return {y * x, x}; }
int main() {
    tuple<tuple<double>> plain = autodiff<Reverse, Active<double>>(square, Active<double>(3.0));
    tuple<tuple<double>, double> both = autodiff<ReverseWithPrimal>(square, Active{3.0});
    std::printf("%g %g %g\n", get<0>(get<0>(plain)), get<0>(get<0>(both)), get<1>(both));
    auto [gradient] = autodiff<Reverse>(product, Active(3.0), Active(2.0));
    std::printf("%g %g\n", get<0>(gradient), get<1>(gradient));
    std::printf("%g %g\n", get<0>(get<0>(autodiff<Reverse>(overloaded{}, Active<double>(3.0)))),
                get<0>(get<0>(autodiff<Reverse>(overloaded{}, Active<float>(3.0f)))));
    float x = 10, dx = 0;
    autodiff<Reverse>(by_reference, Duplicated<const float &>{x, dx});
    std::printf("%g\n", dx);
    std::printf("%g\n", get<0>(autodiff<Forward>(of_pair, Duplicated{pair{2, 3}, pair{70, 110}})));
    auto [by_pair] = autodiff<Reverse>(of_pair, Active(pair{2, 3}));
    std::printf("%g %g\n", get<0>(by_pair).x, get<0>(by_pair).y);
    double v[3] = {1, 2, 3}, dv[3] = {};
    autodiff<Reverse>(sum, DuplicatedNoNeed<const double *>{v, dv}, Const{3});
    std::printf("%g %g %g\n", dv[0], dv[1], dv[2]);
    auto [value, tangent] = autodiff<ForwardWithPrimal>(square, Duplicated(3.0, 1.0));
    tuple<double, double> again = autodiff<Forward, Duplicated<double>>(square, Duplicated(3.0, 1.0));
    std::printf("%g %g %g %g\n", value, tangent, get<0>(again), get<1>(again));
    double amplitude = 4;
    auto wave = [amplitude](double t) { return amplitude * std::sin(t); };
    std::printf("%g\n", get<0>(get<0>(autodiff<Reverse>(wave, Active(0.0)))));
    double out[3], seed[3] = {1, 1, 1};
    dv[0] = dv[1] = dv[2] = 0;
    auto [by_factor] = autodiff<Reverse>(scale, Duplicated<const double *>(v, dv),
                                         Duplicated<double *>(out, seed), Active(2.0), Const(3));
    std::printf("%g %g %g\n", get<0>(by_factor), dv[0], out[2]);
    auto [moved] = autodiff<Forward>(swapped, Duplicated(2.0, 1.0), Const(5.0));
    std::printf("%g %g\n", moved.x, moved.y);
    autodiff<Forward, Const<void>>(scale, Duplicated<const double *>(v, dv),
                                   Duplicated<double *>(out, seed), Const(2.0), Const(3));
    std::printf("%g\n", seed[0]);
}
"#;
    let expected = "6 6 9\n2 3\n10 2\n20\n430\n3 2\n2 4 6\n9 6 9 6\n4\n6 2 6\n5 1\n4\n";
    check("c++ -std=c++17", "program.cpp", program, expected);
}

#[test]
fn cpp_mistakes_are_explained_by_the_compiler() {
    let complain = |call: &str, expected: &str| {
        let text = format!(
            "#include <zymase/autodiff>\nusing namespace zymase;\n\
             struct pair {{ double x, y; }};\n\
             pair two(double x) {{ return {{x, x}}; }}\n\
             double one(double x) {{ return x; }}\n\
             void run() {{ {call}; }}\n"
        );
        let folder = Folder::with(&[("wrong.cpp", &text)]);
        let message = shown(&folder.zymase("c++ -std=c++17 -c wrong.cpp"));
        assert!(message.starts_with("exit code 1"), "{message}");
        assert!(message.contains(expected), "{message}");
    };
    complain(
        "autodiff<Forward>(one, Active(1.0))",
        "forward mode has no Active arguments",
    );
    complain(
        "autodiff<Reverse>(two, Active(1.0))",
        "reverse mode starts from one number",
    );
    complain(
        "double x; autodiff<Reverse>(one, Active(&x))",
        "Active is for values",
    );
    complain(
        "autodiff<Reverse, Const<double>>(one, Const(1.0))",
        "nothing here has a derivative",
    );
}

#[test]
fn a_function_as_argument_is_bound() {
    let program = r#"
#include <math.h>
#include <stdio.h>
#include <zymase/autodiff.h>
static double integrate(double (*f)(double, double), double k, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(k, (i + 0.5) / n) / n;
    return sum;
}
static double line(double k, double t) { return k * k * t; }
static double constant(double k, double t) { return 3 * k; }
int main(void) {
    printf("%.6f %.6f\n", __enzyme_autodiff((void *)integrate, enzyme_const, line, 3.0, 100),
           __enzyme_fwddiff((void *)integrate, enzyme_const, constant, enzyme_dup, 3.0, 1.0, 100));
}
"#;
    check("cc", "program.c", program, "3.000000 3.000000\n");
}

/// A file that only includes the header is clang's alone.
#[test]
fn a_header_is_not_a_request() {
    let text = "#include <zymase/autodiff.h>\ndouble f(double x) { return x * x; }\n";
    let folder = Folder::with(&[("plain.c", text)]);
    succeed(&folder.zymase("cc -O2 -S plain.c -o ours.s"));
    let bare = "double f(double x) { return x * x; }\n";
    std::fs::write(folder.path().join("plain.c"), bare).unwrap();
    succeed(&folder.zymase("cc -O2 -S plain.c -o theirs.s"));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("ours.s"), read("theirs.s"));
}
