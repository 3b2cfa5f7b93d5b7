//! Mathematical functions in vector code: how precise they are, where they are used, and that they are
//! not used without permission.

mod common;

use common::{Folder, succeed};

const ACCURACY: &str = include_str!("programs/vector_math.c");

/// What is in the C program.
const FUNCTIONS: usize = 34;

/// Every function, over all numbers of single precision at a step, and numbers of double precision by
/// chance. `ZYMASE_EXHAUSTIVE=1` leaves no number of single precision out, `ZYMASE_SEED` is another seed.
#[test]
fn errors_are_less_than_two_units() {
    let folder = Folder::with(&[("math.c", ACCURACY)]);
    let (step, count) = match std::env::var_os("ZYMASE_EXHAUSTIVE") {
        Some(_) => ("1", "200000000"),
        None => ("1009", "600000"),
    };
    let seed = std::env::var("ZYMASE_SEED").unwrap_or("1".to_string());
    for machine in ["", "-march=native"] {
        let build = format!("cc -O2 --fast {machine} math.c -lm -o math");
        let built = folder.zymase(&format!("{build} --print-after=finish"));
        succeed(&built);
        let text = String::from_utf8(built.stderr).unwrap();
        let functions = text.split("\ndefine ").skip(1);
        let gradients: Vec<&str> = functions
            .filter(|text| text.lines().next().unwrap().contains(".gradient("))
            .collect();
        assert_eq!(gradients.len(), FUNCTIONS);
        for gradient in gradients {
            let bodies = vector_bodies(gradient);
            let scalar = bodies.iter().any(|body| body.lines().any(is_scalar));
            // The way forward and the reverse sweep.
            assert!(!scalar && bodies.len() >= 2, "no vectors: {gradient}");
        }
        let ran = folder.command("./math", &format!("{step} {count} {seed}"));
        println!("{}", succeed(&ran));
    }
}

const MODEL: &str = r#"
#include <math.h>
#include <stdio.h>
#include <tgmath.h>
#ifndef REAL
#define REAL float
#endif
void __enzyme_autodiff(void *, ...);
extern int enzyme_dup, enzyme_const;
enum { N = 1003 };
typedef REAL real;
void gelu(real *restrict out, const real *restrict in, int n) {
    for (int i = 0; i < n; i++) {
        real x = in[i], cube = (real)0.044715 * x * x * x;
        out[i] = (real)0.5 * x * (1 + tanh((real)0.7978845608 * (x + cube)));
    }
}
void exact_gelu(real *restrict out, const real *restrict in, int n) {
    for (int i = 0; i < n; i++) out[i] = (real)0.5 * in[i] * (1 + erf((real)0.70710678118654752 * in[i]));
}
void sigmoid(real *restrict out, const real *restrict in, int n) {
    for (int i = 0; i < n; i++) out[i] = 1 / (1 + exp(-in[i]));
}
void root(real *restrict out, const real *restrict in, int n) {
    for (int i = 0; i < n; i++) out[i] = sqrt(1 + in[i] * in[i]);
}
void softmax(real *restrict out, const real *restrict in, int n) {
    real most = in[0], sum = 0;
    for (int i = 0; i < n; i++) most = in[i] > most ? in[i] : most;
    for (int i = 0; i < n; i++) {
        out[i] = exp(in[i] - most);
        sum += out[i];
    }
    for (int i = 0; i < n; i++) out[i] /= sum;
}
static real in[N], din[N], out[N], dout[N];
static double worst;
static void compare(int i, double value, double derivative) {
    worst = fmax(worst, fmax(fabs(value - out[i]), fabs(derivative - din[i])));
}
#define RUN(f) \
    for (int i = 0; i < N; i++) in[i] = (i * 37 % 101) / (real)12.5 - 4, dout[i] = 1, din[i] = 0; \
    __enzyme_autodiff((void *)f, enzyme_dup, out, dout, enzyme_dup, in, din, enzyme_const, N); \
    for (int i = 0; i < N; i++)
int main(void) {
    double sum = 0, weighed = 0;
    RUN(gelu) {
        double x = in[i], u = 0.7978845608 * (x + 0.044715 * x * x * x), t = tanh(u);
        double slope = 0.7978845608 * (1 + 3 * 0.044715 * x * x);
        compare(i, 0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope);
    }
    RUN(exact_gelu) {
        double x = in[i], area = 0.5 + 0.5 * erf(x * 0.70710678118654752);
        compare(i, x * area, area + x * 0.3989422804014327 * exp(-0.5 * x * x));
    }
    RUN(sigmoid) {
        double y = 1 / (1 + exp(-(double)in[i]));
        compare(i, y, y * (1 - y));
    }
    RUN(root) {
        double x = in[i], y = sqrt(1 + x * x);
        compare(i, y, x / y);
    }
    for (int i = 0; i < N; i++) dout[i] = i % 7, din[i] = 0;
    __enzyme_autodiff((void *)softmax, enzyme_dup, out, dout, enzyme_dup, in, din, enzyme_const, N);
    for (int i = 0; i < N; i++) sum += exp((double)in[i]);
    for (int i = 0; i < N; i++) weighed += exp((double)in[i]) / sum * (i % 7);
    for (int i = 0; i < N; i++) {
        double p = exp((double)in[i]) / sum;
        compare(i, p, p * (i % 7 - weighed));
    }
    printf(worst < (sizeof(real) == 4 ? 5e-6 : 1e-8) ? "ok\n" : "error %g\n", worst);
}"#;

/// The blocks of vector loops.
fn vector_bodies(text: &str) -> Vec<&str> {
    let bodies = text.split("\nvector.body").skip(1);
    bodies
        .filter_map(|body| body.split("\n\n").next())
        .collect()
}

/// Whether a line calls a function on one number.
fn is_scalar(line: &str) -> bool {
    line.contains("call") && !line.contains('<')
}

#[test]
fn networks_use_vectors_with_permission() {
    let folder = Folder::with(&[("model.c", MODEL)]);
    for flags in [
        "-O3 -ffast-math",
        "-O2 --fast",
        "-O3 --fast -march=native",
        "-O3 -ffast-math -DREAL=double",
        "-O3 --fast -march=native -DREAL=double",
    ] {
        let built = folder.zymase(&format!(
            "cc {flags} model.c -lm -o model --print-after=finish"
        ));
        succeed(&built);
        let text = String::from_utf8(built.stderr).unwrap();
        let functions: Vec<&str> = text.split("\ndefine ").skip(1).collect();
        // The way forward and the reverse sweep; of softmax, two loops each.
        for (name, loops) in [
            ("gelu", 2),
            ("exact_gelu", 2),
            ("sigmoid", 2),
            ("root", 2),
            ("softmax", 4),
        ] {
            let named = format!("@{name}.gradient(");
            let gradient = functions
                .iter()
                .find(|text| text.lines().next().unwrap().contains(&named))
                .unwrap();
            let bodies = vector_bodies(gradient);
            assert!(bodies.len() >= loops, "{flags}\n{gradient}");
            let inside: Vec<&str> = bodies.iter().flat_map(|body| body.lines()).collect();
            assert!(
                !inside.iter().any(|line| is_scalar(line)),
                "{flags}\n{gradient}"
            );
            // Powers of two are made from bits, and nowhere else.
            let has_powers = inside.iter().any(|line| line.contains("shl <"));
            assert_eq!(has_powers, name != "root", "{flags}\n{gradient}");
        }
        assert!(!text.contains("zymase.tanh") && !text.contains("vector-function-abi"));
        assert_eq!(succeed(&folder.command("./model", "")), "ok\n", "{flags}");
    }
}

#[test]
fn nothing_changes_without_permission() {
    let folder = Folder::with(&[("model.c", MODEL)]);
    let built = folder.zymase("cc -O3 model.c -lm -o model --print-after=finish");
    succeed(&built);
    let text = String::from_utf8(built.stderr).unwrap();
    assert!(text.contains("@tanhf(") && text.contains("@expf("));
    assert!(!text.contains("shl <"), "{text}");
    assert_eq!(succeed(&folder.command("./model", "")), "ok\n");
}
