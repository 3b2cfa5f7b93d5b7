//! Rounding is the user's: what a program computes in a derivative is bit for bit what it computes
//! elsewhere, unless somebody permits otherwise.

mod common;
#[path = "common/project.rs"]
mod project;

use common::{Folder, succeed};
use project::{Project, package};
use std::path::Path;

const SUM: &str = "
#include <math.h>
#include <stdio.h>
#include <string.h>
double __enzyme_autodiff(void *, ...);
extern int enzyme_dup, enzyme_const;
MARK static void sum(const float *restrict x, int n, float *restrict out) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i] + tanhf(x[i]);
    *out = sum;
}
void plain(const float *restrict x, int n, float *restrict out) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i] + tanhf(x[i]);
    *out = sum;
}
static unsigned bits(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
int main(void) {
    static float x[1000], dx[1000];
    for (int i = 0; i < 1000; i++) x[i] = 1.0f / (i + 3);
    float alone = 0, out = 0, seed = 1;
    plain(x, 1000, &alone);
    __enzyme_autodiff((void *)sum, enzyme_dup, x, dx, 1000, enzyme_dup, &out, &seed);
    float wanted = 2 * x[5] + 1 - tanhf(x[5]) * tanhf(x[5]);
    printf(\"%d %d %d\\n\", bits(out) == bits(alone), fabsf(out - alone) < 1e-3f * fabsf(alone),
           fabsf(dx[5] - wanted) < 1e-5f);
}";

/// What the private clones are like before they are differentiated.
fn prepared(folder: &Folder, build: &str) -> String {
    let output = folder.zymase(&format!("{build} --print-after=prepare"));
    succeed(&output);
    String::from_utf8(output.stderr).unwrap()
}

const FLAGS: &str = "fadd reassoc nsz arcp contract afn float";

#[test]
fn permission_in_c() {
    let plain = SUM.replace("MARK", "");
    let marked = SUM.replace("MARK", "__attribute__((annotate(\"zymase_fast\")))");
    let folder = Folder::with(&[("plain.c", &plain), ("marked.c", &marked)]);
    for level in ["-O0", "-O2", "-O3"] {
        for (build, permitted) in [
            ("plain.c", false),
            ("plain.c --fast", true),
            ("marked.c", true),
        ] {
            let text = prepared(&folder, &format!("cc {level} {build} -lm -o prog"));
            assert_eq!(text.contains(FLAGS), permitted, "{level} {build}\n{text}");
            assert!(!text.contains("nnan") && !text.contains("ninf"), "{text}");
            let said = succeed(&folder.command("./prog", ""));
            match permitted {
                true => assert!(said.ends_with("1 1\n"), "{level} {build}: {said}"),
                false => assert_eq!(said, "1 1 1\n", "{level} {build}"),
            }
        }
    }
}

/// The program beside its derivatives stays what it was.
#[test]
fn the_program_itself_has_no_permission() {
    let folder = Folder::with(&[("plain.c", &SUM.replace("MARK", ""))]);
    succeed(&folder.zymase("cc -O1 -emit-llvm -c plain.c -o plain.bc"));
    let text = succeed(&folder.zymase("opt plain.bc --fast --emit llvm"));
    let body = text.split("@plain(").nth(1).unwrap();
    let body = body.split("\n}").next().unwrap();
    assert!(body.contains("fadd float"), "{body}");
}

const RUST: &str = r#"
use model::{Model, root};

/// Not marked, so its sum stays in order.
#[inline(never)]
fn exact(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for x in x { sum += x * 3.25; }
    sum
}

#[zymase::fast]
fn shape<T: Into<f64> + Copy>(x: &[T]) -> f64 {
    let x = x.iter().map(|&x| { let x: f64 = x.into(); x * 1.75 });
    x.sum()
}

#[zymase::fast]
pub fn called_by_nobody_who_differentiates(x: f64) -> f64 { x * 0.5 }

fn cost(x: &[f64]) -> f64 {
    exact(x) + shape(x) + Model { factor: 1.0 }.apply(x) + root(x[0])
}

fn main() {
    let gradient = zymase::grad(cost, &[1.0, 4.0, 9.0][..]);
    let first = 3.25 + 1.75 + 1.125 + 0.75;
    assert_eq!(gradient, [first, first - 0.75, first - 0.75]);
    println!("ok {}", called_by_nobody_who_differentiates(4.0));
}
"#;

const MODEL: &str = r#"
//! A library without requests.
pub struct Model { pub factor: f64 }
impl Model {
    #[zymase::fast]
    pub fn apply(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for x in x { sum += x * 1.125 * self.factor; }
        sum
    }
}
#[inline]
#[zymase::fast]
pub fn root(x: f64) -> f64 { x * 0.75 }
"#;

#[test]
fn permission_in_rust() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../zymase");
    let zymase = format!("zymase = {{ path = {root:?} }}\n");
    let dependencies = format!("[dependencies]\nmodel = {{ path = \"model\" }}\n{zymase}");
    let project = Project::with(&[
        ("Cargo.toml", &package("prog", &dependencies)),
        ("src/main.rs", RUST),
        (
            "model/Cargo.toml",
            &package("model", &format!("[dependencies]\n{zymase}")),
        ),
        ("model/src/lib.rs", MODEL),
    ]);
    for profile in ["", "--release"] {
        assert_eq!(project.succeed(&format!("zymase run {profile}")), "ok 2\n");
        let shown = "-Clink-arg=--print-after=prepare";
        let mut showing = project.cargo(&format!("zymase rustc {profile} --bin prog -- {shown}"));
        let text = String::from_utf8(std::mem::take(&mut showing.stderr)).unwrap();
        assert!(showing.status.success(), "{text}");
        let product = |factor: &str| {
            let line = text
                .lines()
                .find(|line| line.contains("fmul") && line.contains(&format!(", {factor}")));
            line.unwrap_or_else(|| panic!("no {factor}\n{text}"))
        };
        let is_permitted = |line: &str| line.contains("reassoc") && line.contains("afn");
        // The constants are 3.25, 1.75, 1.125 and 0.75.
        assert!(!is_permitted(product("3.250000e+00")), "{profile}");
        for factor in ["1.750000e+00", "1.125000e+00", "7.500000e-01"] {
            assert!(is_permitted(product(factor)), "{profile} {factor}");
        }
    }
}
