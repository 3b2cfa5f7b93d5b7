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
            let is_scalar = |line: &str| line.contains("call") && !line.contains("<");
            let scalar = bodies.iter().any(|body| body.lines().any(is_scalar));
            assert!(!scalar && !bodies.is_empty(), "no vectors: {gradient}");
        }
        let ran = folder.command("./math", &format!("{step} {count} {seed}"));
        println!("{}", succeed(&ran));
    }
}

const MODEL: &str = r#"
#include <math.h>
#include <stdio.h>
void __enzyme_autodiff(void *, ...);
extern int enzyme_dup, enzyme_const;
enum { N = 1003 };
void gelu(float *restrict out, const float *restrict in, int n) {
    for (int i = 0; i < n; i++) {
        float x = in[i], cube = 0.044715f * x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + cube)));
    }
}
void softmax(float *restrict out, const float *restrict in, int n) {
    float most = in[0], sum = 0;
    for (int i = 0; i < n; i++) most = in[i] > most ? in[i] : most;
    for (int i = 0; i < n; i++) {
        out[i] = expf(in[i] - most);
        sum += out[i];
    }
    for (int i = 0; i < n; i++) out[i] /= sum;
}
int main(void) {
    static float in[N], din[N], out[N], dout[N];
    double worst = 0, sum = 0, weighed = 0;
    for (int i = 0; i < N; i++) in[i] = (i * 37 % 101) / 12.5f - 4, dout[i] = 1;
    __enzyme_autodiff((void *)gelu, enzyme_dup, out, dout, enzyme_dup, in, din, enzyme_const, N);
    for (int i = 0; i < N; i++) {
        double x = in[i], u = 0.7978845608 * (x + 0.044715 * x * x * x), t = tanh(u);
        double d = 0.5 * (1 + t)
                 + 0.5 * x * (1 - t * t) * 0.7978845608 * (1 + 3 * 0.044715 * x * x);
        worst = fmax(worst, fabs(d - din[i]));
        worst = fmax(worst, fabs(0.5 * x * (1 + t) - out[i]));
    }
    for (int i = 0; i < N; i++) dout[i] = i % 7, din[i] = 0;
    __enzyme_autodiff((void *)softmax, enzyme_dup, out, dout, enzyme_dup, in, din, enzyme_const, N);
    for (int i = 0; i < N; i++) sum += exp(in[i]);
    for (int i = 0; i < N; i++) weighed += exp(in[i]) / sum * (i % 7);
    for (int i = 0; i < N; i++) {
        double p = exp(in[i]) / sum;
        worst = fmax(worst, fabs(p * (i % 7 - weighed) - din[i]));
    }
    printf(worst < 5e-6 ? "ok\n" : "error %g\n", worst);
}"#;

/// The blocks of vector loops.
fn vector_bodies(text: &str) -> Vec<&str> {
    let bodies = text.split("\nvector.body").skip(1);
    bodies
        .filter_map(|body| body.split("\n\n").next())
        .collect()
}

#[test]
fn networks_use_vectors_with_permission() {
    let folder = Folder::with(&[("model.c", MODEL)]);
    let is_scalar = |line: &&str| {
        line.contains("call")
            && (line.contains("@tanhf(")
                || line.contains("tanh.f32(")
                || line.contains("@expf(")
                || line.contains("exp.f32("))
    };
    for flags in ["-O3 -ffast-math", "-O2 --fast", "-O3 --fast -march=native"] {
        let built = folder.zymase(&format!(
            "cc {flags} model.c -lm -o model --print-after=finish"
        ));
        succeed(&built);
        let text = String::from_utf8(built.stderr).unwrap();
        let bodies = vector_bodies(&text);
        let inside: Vec<&str> = bodies.iter().flat_map(|body| body.lines()).collect();
        assert!(bodies.len() >= 3, "{flags}\n{text}");
        assert!(!inside.iter().any(is_scalar), "{flags}\n{text}");
        // Powers of two are made from bits, and nowhere else.
        assert!(
            inside.iter().any(|line| line.contains("shl <")),
            "{flags}\n{text}"
        );
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
