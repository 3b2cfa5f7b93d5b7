//! Programs that copy memory in every way that C allows have right derivatives, or are refused.
//!
//! `ZYMASE_COPIES=start..end` tries these seeds at every level instead of the usual few;
//! `ZYMASE_COPIES_SAVE=file` keeps the last program.

mod common;

use common::{Folder, binary, build};
use zymase_testgen::tally::try_levels;

/// The seeds of every test run, each at one level.
const USUAL: std::ops::Range<u64> = 0..24;

#[test]
fn copies_have_right_derivatives_or_are_refused() {
    try_levels("ZYMASE_COPIES", USUAL, |seed, level| {
        let text = zymase_testgen::copies::program(seed);
        if let Ok(path) = std::env::var("ZYMASE_COPIES_SAVE") {
            std::fs::write(path, &text).unwrap();
        }
        build(&binary(), level).trial_of_text(&text)
    });
}

/// A loop that moves bytes onto bytes that it has still to move does more than a copy does.
#[test]
fn bytes_that_overlap_stop_the_program() {
    let folder = Folder::with(&[(
        "overlap.c",
        "extern int enzyme_dup, enzyme_const;
double __enzyme_autodiff(void *, ...);
struct item { int id; float w; double x; };
static double f(struct item *s, long by) {
    unsigned char *to = (unsigned char *)(s + by), *from = (unsigned char *)s;
    for (unsigned long i = 0; i < 2 * sizeof *s; i++) to[i] = from[i];
    return s[2].x * s[2].w;
}
int main(int argc, char **argv) {
    struct item s[4] = {{1, 2, 3}, {4, 5, 6}}, d[4] = {0};
    __enzyme_autodiff((void *)f, enzyme_dup, s, d, enzyme_const, argc > 1 ? 1l : 2l);
    return !(d[0].x == 2 && d[0].w == 3);
}
",
    )]);
    let built = folder.zymase("cc -O2 overlap.c -o overlap");
    assert!(built.status.success(), "{built:?}");
    assert!(folder.command("./overlap", "").status.success());
    let stopped = folder.command("./overlap", "closer");
    let said = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert!(!stopped.status.success());
    assert!(
        said.starts_with("zymase: overlap.c:6: cannot differentiate a loop that moves bytes"),
        "{said}"
    );
}
