//! `zymase explain`: every kind of fact, as text and as a page, and the page in a browser.

mod common;

use common::{Folder, shown, succeed};
use expect_test::{Expect, expect};
use std::path::PathBuf;
use std::process::Command;

/// A program that has all there is to explain.
const MODEL: &str = r#"#include <math.h>
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);

__attribute__((noinline)) static double twist(double *x, int n) {
    double kept = x[0];
    x[0] = kept * kept * x[1];
    return n > 3 ? sin(kept) : kept;
}

static double follow(double *x, double limit) {
    double product = 1;
    for (int i = 0; product < limit; i++)
        product *= x[i] + 1.5;
    return product;
}

double model(double *x, const double *w, double *out, int n) {
    for (int t = 0; t < n; t++)
        for (int i = 0; i < 4; i++)
            out[i] = tanh(w[i] * out[i] + x[t]);
    double sum = twist(x, n) + follow(x, 50.0);
    for (int i = 0; i < 4; i++)
        sum += out[i];
    x[1] = sum * sum;
    return sum; // <script>alert("a & b")</script>
}

double square(double x) { return x * x; }

void blend(const double *a, double *b, int n) {
    for (int i = 0; i < n; i++)
        b[i] = a[i] * b[i];
}

int main(void) {
    double x[8] = {1}, dx[8] = {0}, w[4] = {1}, dw[4] = {0}, out[4] = {0}, dout[4] = {0};
    __enzyme_autodiff((void *)model, x, dx, w, dw, out, dout, 4);
    __enzyme_autodiff((void *)blend, x, dx, out, dout, 4);
    return __enzyme_fwddiff((void *)square, 3.0, 1.0) != 6.0;
}
"#;

/// The lines of the text that have all of these words.
fn check(text: &str, words: &[&str], expected: Expect) {
    let found = text
        .lines()
        .filter(|line| words.iter().all(|word| line.contains(word)));
    let found: Vec<&str> = found.map(str::trim).collect();
    expected.assert_eq(&found.join("\n"));
}

#[test]
fn text_has_every_kind_of_fact() {
    let folder = Folder::with(&[("model.c", MODEL)]);
    let text = succeed(&folder.zymase("explain model.c"));
    check(
        &text,
        &["mode of"],
        expect![[r#"
        reverse mode of `twist`, forward and reverse sweep apart
        reverse mode of `model`, the version that runs when memory overlaps
        reverse mode of `model`, the version that runs when memory does not overlap
        reverse mode of `blend`, the version that runs when memory overlaps
        reverse mode of `blend`, the version that runs when memory does not overlap
        forward mode of `square`"#]],
    );
    check(
        &text,
        &["loop at", "depth"],
        expect![[r#"
        loop at model.c:19 (depth 1): counted before it begins, nothing kept of an iteration
        loop at model.c:20 (depth 2): runs 4 times, 32 bytes for each iteration, allocated before the loop at model.c:19, and 8 for the address
        loop at model.c:13 (depth 1): counted while it runs, 16 bytes for each iteration, on a tape that grows, and 8 for its address
        loop at model.c:23 (depth 1): runs 4 times, nothing kept of an iteration
        loop at model.c:19 (depth 1): counted before it begins, nothing kept of an iteration
        loop at model.c:20 (depth 2): runs 4 times, 16 bytes for each iteration, allocated before the loop at model.c:19, and 8 for the address
        loop at model.c:13 (depth 1): counted while it runs, 16 bytes for each iteration, on a tape that grows, and 8 for its address
        loop at model.c:23 (depth 1): runs 4 times, nothing kept of an iteration
        loop at model.c:32 (depth 1): counted before it begins, 16 bytes for each iteration, allocated before the loop at model.c:32, and 8 for the address
        loop at model.c:32 (depth 1): counted before it begins, 8 bytes for each iteration, allocated before the loop at model.c:32, and 8 for the address"#]],
    );
    check(
        &text,
        &["f64 is cached"],
        expect![[r#"
        model.c:6: load : f64 is cached, 8 bytes, because the caller may overwrite its memory
        model.c:7: load : f64 is cached, 8 bytes, because the caller may overwrite its memory
        model.c:13: product.04.i (merged value) : f64 is cached, 8 bytes for each iteration of the loop at model.c:13, because it depends on the way control came
        model.c:21: load : f64 is cached, 8 bytes for each iteration of the loop at model.c:20, because its memory may be overwritten at model.c:21 if ranges overlap
        model.c:21: load : f64 is cached, 8 bytes for each iteration of the loop at model.c:20, because its memory may be overwritten at model.c:21
        model.c:21: call (tanh) : f64 is cached, 8 bytes for each iteration of the loop at model.c:20, because computing it again costs more
        model.c:14: add.i (fadd) : f64 is cached, 8 bytes for each iteration of the loop at model.c:13, because computing it again costs more
        model.c:13: product.04.i (merged value) : f64 is cached, 8 bytes for each iteration of the loop at model.c:13, because it depends on the way control came
        model.c:21: load : f64 is cached, 8 bytes for each iteration of the loop at model.c:20, because its memory may be overwritten at model.c:21
        model.c:21: call (tanh) : f64 is cached, 8 bytes for each iteration of the loop at model.c:20, because computing it again costs more
        model.c:14: add.i (fadd) : f64 is cached, 8 bytes for each iteration of the loop at model.c:13, because computing it again costs more
        model.c:33: load : f64 is cached, 8 bytes for each iteration of the loop at model.c:32, because its memory may be overwritten at model.c:33 if ranges overlap
        model.c:33: load : f64 is cached, 8 bytes for each iteration of the loop at model.c:32, because its memory may be overwritten at model.c:33
        model.c:33: load : f64 is cached, 8 bytes for each iteration of the loop at model.c:32, because its memory may be overwritten at model.c:33"#]],
    );
    check(
        &text,
        &["f64 is kept"],
        expect![[r#"
        model.c:25: add23.lcssa (merged value) : f64 is kept, 8 bytes, because it depends on the way control came
        model.c:25: add23.lcssa (merged value) : f64 is kept, 8 bytes, because it depends on the way control came"#]],
    );
    check(
        &text,
        &["f64 is reloaded"],
        expect![[r#"
        model.c:21: load : f64 is reloaded, because what is written at model.c:21 does not overlap its memory, which is checked at the start
        model.c:33: load : f64 is reloaded, because what is written at model.c:33 does not overlap its memory, which is checked at the start"#]],
    );
    check(
        &text,
        &["f64 is recomputed"],
        expect![
            "model.c:7: mul (fmul) : f64 is recomputed, because that costs less than keeping it"
        ],
    );
    check(
        &text,
        &["the call of"],
        expect![[r#"
        model.c:22: the call of `twist` is split into two sweeps, frame of 16 bytes
        model.c:22: the call of `twist` is split into two sweeps, frame of 16 bytes"#]],
    );
    check(
        &text,
        &["checked at the start"],
        expect![[r#"
        model.c:21: checked at the start: what is read does not overlap what is written later at model.c:21
        model.c:21: checked at the start: what is read does not overlap what is written later at model.c:22
        model.c:21: checked at the start: what is read does not overlap what is written later at model.c:25
        model.c:24: checked at the start: what is read does not overlap what is written later at model.c:25
        model.c:21: load : f64 is reloaded, because what is written at model.c:21 does not overlap its memory, which is checked at the start
        model.c:33: checked at the start: what is read does not overlap what is written later at model.c:33
        model.c:33: load : f64 is reloaded, because what is written at model.c:33 does not overlap its memory, which is checked at the start"#]],
    );
    check(
        &text,
        &["between the sweeps"],
        expect!["may be overwritten between the sweeps: x"],
    );
    check(
        &text,
        &["active:"],
        expect![[r#"
        model.c:6: active: load
        model.c:7: active: fmul, load, store
        model.c:8: active: sin, return
        model.c:21: active: load, fmuladd, tanh, store
        model.c:22: active: call, fadd
        model.c:14: active: load, fadd, fmul
        model.c:24: active: load, fadd
        model.c:25: active: fmul, store
        model.c:26: active: return
        model.c:21: active: load, fmuladd, tanh, store
        model.c:22: active: call, fadd
        model.c:14: active: load, fadd, fmul
        model.c:24: active: load, fadd
        model.c:25: active: fmul, store
        model.c:26: active: return
        model.c:33: active: load, fmul, store
        model.c:33: active: load, fmul, store
        model.c:29: active: fmul, return"#]],
    );
}

/// Loops that are seen as a whole, and some that are almost like these.
const LOOPS: &str = r#"#include <math.h>
double __enzyme_autodiff(void *, ...);
#define N 64

void layer(const float *restrict x, const float *restrict w, float *restrict y) {
    for (int i = 0; i < 256; i++)
        for (int j = 0; j < 3072; j++) {
            float sum = 0;
            for (int k = 0; k < 768; k++)
                sum += x[i * 768 + k] * w[k * 3072 + j];
            y[i * 3072 + j] = sum;
        }
}

static inline void product(const float *a, const float *b, float *c, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

void overwritten(float *restrict a, const float *restrict b, float *restrict c, int n) {
    product(a, b, c, n);
    for (int i = 0; i < n; i++)
        a[i] = sinf(a[i]);
}

void skips(const float *restrict a, const float *restrict b, float *restrict c) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k]
                    * b[k * k % N + j];
            c[i * N + j] = sum;
        }
}

void data(const float *restrict a, const float *restrict b, float *restrict c,
          const int *restrict length) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < length[i]; k++)
                sum += a[i * N + k] * b[k * N + j];
            c[i * N + j] = sum;
        }
}

void reads(const float *restrict a, const float *restrict b, float *restrict c) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j] * (1 + sum);
            c[i * N + j] = sum;
        }
}

void nearest(const float *restrict p, const float *restrict q, float *restrict out) {
    for (int i = 0; i < N; i++) {
        float best = 1e30f;
        for (int j = 0; j < 10; j++) {
            float d = 0;
            for (int k = 0; k < 3; k++)
                d += (p[i * 3 + k] - q[j * 3 + k]) * (p[i * 3 + k] - q[j * 3 + k]);
            if (d < best)
                best = d;
        }
        out[i] = best;
    }
}

int enzyme_const;
static float a[256 * 768], b[768 * 3072], c[256 * 3072];
int main(void) {
    __enzyme_autodiff((void *)layer, a, a, b, b, c, c);
    __enzyme_autodiff((void *)overwritten, a, a, b, b, c, c, 8);
    __enzyme_autodiff((void *)skips, a, a, b, b, c, c);
    __enzyme_autodiff((void *)data, a, a, b, b, c, c, enzyme_const, (int *)0);
    __enzyme_autodiff((void *)reads, a, a, b, b, c, c);
    __enzyme_autodiff((void *)nearest, a, a, b, b, c, c);
}
"#;

/// Loops are told by their lines, with what their adjoint is made of, or what stood in the way.
#[test]
fn loops_have_lines() {
    let folder = Folder::with(&[("loops.c", LOOPS)]);
    let text = succeed(&folder.zymase("explain loops.c"));
    check(
        &text,
        &["loops.c, lines"],
        expect![[r#"
            loops.c, lines 6 to 11: map over 786432, a nest of 1 loop, adjoint as one nest
            loops.c, lines 6 to 11: matrix product 256×768 by 768×3072, a nest of 3 loops, adjoint as two products, by kernels where they are large enough
            loops.c, lines 16 to 19: copy of n×n, a nest of 2 loops, adjoint as one nest
            loops.c, lines 16 to 19: matrix product n×n by n×n, a nest of 3 loops, adjoint as two products, by kernels where they are large enough, from copies, because what it reads may be overwritten at loops.c:25
            loops.c, lines 24 to 25: map over n, as a loop
            loops.c, lines 29 to 35: the loop stays a loop: an address is not a sum of multiples of the loops' counters (line 34)
            loops.c, lines 42 to 46: map over 64, vector by matrix ?×64, as a loop
            loops.c, lines 41 to 46: the loop stays a loop: how often a loop runs depends on what the loops around it do (line 42)
            loops.c, lines 51 to 56: the loop stays a loop: what the loop hands on to its next iteration is no sum, product, maximum or minimum (line 55)
            loops.c, lines 65 to 66: sum over 3, as a loop
            loops.c, lines 63 to 67: the loop searches for a number: only the iteration that has found it is differentiated"#]],
    );
    // With permission to add in any order, the function's own products are given to kernels too.
    let text = succeed(&folder.zymase("explain --fast loops.c"));
    check(
        &text,
        &["loops.c, lines", "256"],
        expect![
            "loops.c, lines 6 to 11: matrix product 256×768 by 768×3072, a nest of 3 loops, by a kernel where it is large enough, adjoint as two products, by kernels where they are large enough"
        ],
    );
    succeed(&folder.zymase("explain loops.c --html page.html"));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    check_page(&page);
    check(
        &plain(&page),
        &["of lines"],
        expect![[r#"
            nest of lines 6 to 11: map over 786432, a nest of 1 loop, adjoint as one nest
            nest of lines 6 to 11: matrix product 256×768 by 768×3072, a nest of 3 loops, adjoint as two products, by kernels where they are large enough
            loop of lines 24 to 25: map over n, as a loop
            nest of lines 16 to 19: copy of n×n, a nest of 2 loops, adjoint as one nest (inlined at line 23)
            nest of lines 16 to 19: matrix product n×n by n×n, a nest of 3 loops, adjoint as two products, by kernels where they are large enough, from copies, because what it reads may be overwritten at loops.c:25 (inlined at line 23)
            loop of lines 29 to 35 stays a loop: an address is not a sum of multiples of the loops' counters
            loop of lines 41 to 46 stays a loop: how often a loop runs depends on what the loops around it do
            loop of lines 42 to 46: map over 64, vector by matrix ?×64, as a loop
            loop of lines 51 to 56 stays a loop: what the loop hands on to its next iteration is no sum, product, maximum or minimum
            loop of lines 65 to 66: sum over 3, as a loop
            loop of lines 63 to 67 searches for a number: only the iteration that has found it is differentiated"#]],
    );
}

/// Several files make one program, and options of clang and of the command may be anywhere.
#[test]
fn files_are_explained_together() {
    let folder = Folder::with(&[
        (
            "f.c",
            "#include \"f.h\"\ndouble f(double x) { return SCALE * x * x; }\n",
        ),
        ("f.h", "double f(double x);\n"),
        (
            "main.c",
            "#include \"f.h\"\ndouble __enzyme_autodiff(void *, ...);\n\
             int main(void) { return __enzyme_autodiff((void *)f, 3.0) != 12.0; }\n",
        ),
    ]);
    let text = succeed(&folder.zymase("explain -DSCALE=2 main.c f.c -I. --plan everything"));
    expect![[r#"
        combined derivative of `f`, asked for at main.c:3:25 in main
          argument 1: out
          result: active

        reverse mode of `f`
          frame: 8 bytes for each call
          f.c:2: mul (fmul) : f64 is kept, 8 bytes, because the plan keeps everything
          f.c:2: active: fmul, return
    "#]]
    .assert_eq(&text);
}

#[test]
fn troubles() {
    let folder = Folder::with(&[
        ("broken.c", "int main(void) { return x; }\n"),
        ("data.o", "nothing\n"),
    ]);
    let output = folder.zymase("explain broken.c");
    assert_eq!(output.status.code(), Some(1));
    assert!(shown(&output).contains("undeclared"), "{}", shown(&output));
    expect![[r#"
        exit code 1
        error[Z0803]: there is no bitcode in the input
         |
         = help: give sources, modules, or objects that were made by `zymase cc` or with -flto
    "#]]
    .assert_eq(&shown(&folder.zymase("explain data.o")));
    expect![[r#"
        exit code 1
        error[Z0801]: cannot read none.ll
         |
         = note: there is no such file
         = help: give the path of a file that can be read
    "#]]
    .assert_eq(&shown(&folder.zymase("explain none.ll")));
    assert_eq!(folder.zymase("explain").status.code(), Some(2));
    assert_eq!(folder.files(), ["broken.c", "data.o"]);
}

/// The page of the program above, and its text.
fn page(folder: &Folder) -> (String, String) {
    let text = succeed(&folder.zymase("explain model.c"));
    let printed = succeed(&folder.zymase("explain model.c --html page.html"));
    assert_eq!(printed, "");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    (page, text)
}

/// The page is well formed, links lead somewhere, nothing comes from outside, and nothing of the
/// program is taken for a part of the page.
#[test]
fn the_page_is_well_formed() {
    let folder = Folder::with(&[("model.c", MODEL)]);
    let (page, text) = page(&folder);
    let tree = check_page(&page);
    let shown: String = tree.descendants().filter_map(|node| node.text()).collect();
    assert!(shown.contains(r#"// <script>alert("a & b")</script>"#));
    // Every derivative has a row in the summary and a section.
    let derivatives = text.lines().filter(|line| line.contains("mode of")).count();
    let sections = tree.descendants();
    let sections = sections.filter(|node| node.attribute("class") == Some("derivative"));
    assert_eq!(sections.count(), derivatives);
}

fn check_page(page: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let tree = roxmltree::Document::parse_with_options(page, options).unwrap();
    let elements = || tree.descendants().filter(|node| node.is_element());
    let ids: Vec<&str> = elements().filter_map(|node| node.attribute("id")).collect();
    for (position, id) in ids.iter().enumerate() {
        assert!(!ids[..position].contains(id), "{id} is there twice");
    }
    let links = || elements().filter_map(|node| node.attribute("href"));
    assert!(links().count() > 20);
    for link in links() {
        let id = link.strip_prefix('#').unwrap();
        assert!(ids.contains(&id), "{link} leads nowhere");
    }
    for node in elements() {
        assert_ne!(node.tag_name().name(), "script");
        assert!(node.attribute("src").is_none());
    }
    assert!(!page.contains("url("), "something comes from outside");
    tree
}

/// The browser that the tests use, if there is one.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium-headless-shell", "chromium", "google-chrome"];
    let all = std::env::split_paths(&path).collect::<Vec<_>>();
    let mut files = names
        .iter()
        .flat_map(|name| all.iter().map(move |folder| folder.join(name)));
    files.find(|file| file.is_file())
}

/// A browser shows every fact, and has nothing to complain about.
#[test]
fn the_page_renders() {
    let Some(browser) = browser() else {
        eprintln!("there is no Chromium, so the page is not looked at in a browser");
        return;
    };
    let folder = Folder::with(&[("model.c", MODEL)]);
    page(&folder);
    let rendered = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!(
            "file://{}",
            folder.path().join("page.html").display()
        ))
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&rendered.stderr).into_owned();
    assert!(rendered.status.success(), "{complaints}");
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
    let page = String::from_utf8_lossy(&rendered.stdout).into_owned();
    let text = plain(&page);
    for expected in [
        "Derivatives of model.c",
        "// <script>alert(\"a & b\")</script>",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    check(
        &text,
        &["forward"],
        expect![[r#"
        square forward model.c:40:12 in main dup active
        square forward – – 0 0 0 0 0 0 0
        square forward"#]],
    );
    check(
        &text,
        &["loop", "runs"],
        expect![[r#"
        loop always runs 4 times, 32 bytes per iteration, allocated before the loop at line 19
        loop always runs 4 times, nothing kept of an iteration
        loop counted while it runs, 16 bytes per iteration on a tape that grows (inlined at line 22)
        loop always runs 4 times, 16 bytes per iteration, allocated before the loop at line 19
        loop always runs 4 times, nothing kept of an iteration
        loop counted while it runs, 16 bytes per iteration on a tape that grows (inlined at line 22)"#]],
    );
    check(
        &text,
        &["cached", "f64"],
        expect![[r#"
        cached x[0] load f64 , 8 bytes per call: the caller may overwrite its memory
        cached x[1] load f64 , 8 bytes per call: the caller may overwrite its memory
        cached tanh(w[i] * out[i] + x[t]) tanh f64 , 8 bytes per iteration of the loop at line 20: computing it again costs more
        cached w[i] load f64 , 8 bytes per iteration of the loop at line 20: its memory may be overwritten at line 21 if ranges overlap
        cached out[i] load f64 , 8 bytes per iteration of the loop at line 20: its memory may be overwritten at line 21
        cached product.04.i merged value f64 , 8 bytes per iteration of the loop at line 13: it depends on the way control came (inlined at line 22)
        cached + fadd f64 , 8 bytes per iteration of the loop at line 13: computing it again costs more (inlined at line 22)
        cached tanh(w[i] * out[i] + x[t]) tanh f64 , 8 bytes per iteration of the loop at line 20: computing it again costs more
        cached out[i] load f64 , 8 bytes per iteration of the loop at line 20: its memory may be overwritten at line 21
        cached product.04.i merged value f64 , 8 bytes per iteration of the loop at line 13: it depends on the way control came (inlined at line 22)
        cached + fadd f64 , 8 bytes per iteration of the loop at line 13: computing it again costs more (inlined at line 22)
        cached a[i] load f64 , 8 bytes per iteration of the loop at line 32: its memory may be overwritten at line 33 if ranges overlap
        cached b[i] load f64 , 8 bytes per iteration of the loop at line 32: its memory may be overwritten at line 33
        cached b[i] load f64 , 8 bytes per iteration of the loop at line 32: its memory may be overwritten at line 33"#]],
    );
    check(
        &text,
        &["reloaded", "f64"],
        expect![[r#"
        reloaded w[i] load f64 : what is written at line 21 does not overlap its memory, which is checked at the start
        reloaded a[i] load f64 : what is written at line 33 does not overlap its memory, which is checked at the start"#]],
    );
    check(
        &text,
        &["call of"],
        expect![[r#"
        call of twist is split into two sweeps, 16 bytes per call
        call of twist is split into two sweeps, 16 bytes per call"#]],
    );
    check(
        &text,
        &["checked"],
        expect![[r#"
        checked when it is called: what is read here does not overlap what is written at line 21
        checked when it is called: what is read here does not overlap what is written at line 22
        checked when it is called: what is read here does not overlap what is written at line 25
        checked when it is called: what is read here does not overlap what is written at line 25
        reloaded w[i] load f64 : what is written at line 21 does not overlap its memory, which is checked at the start
        checked when it is called: what is read here does not overlap what is written at line 33
        reloaded a[i] load f64 : what is written at line 33 does not overlap its memory, which is checked at the start"#]],
    );
}

/// What a reader sees of a page: text without tags, a line for each item, row and paragraph.
fn plain(page: &str) -> String {
    let body = &page[page.find("<body").unwrap()..];
    let mut text = String::new();
    for part in body.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').unwrap();
        if ["/li", "/tr", "/p", "/div", "/pre", "/summary", "/h1", "/h2"].contains(&tag) {
            text.push('\n');
        } else if ["/td", "/th", "/span"].contains(&tag) {
            text.push(' ');
        }
        text.push_str(rest);
    }
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).collect::<Vec<_>>().join("\n")
}
