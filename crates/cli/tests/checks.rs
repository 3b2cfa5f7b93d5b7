//! What programs check when they run: shadows, if built with `--checks`, and room for tapes.

mod common;

use common::{Folder, succeed};
use std::process::Output;

const SHADOWS: &str = "
#include <stdio.h>
#include <stdlib.h>
extern int enzyme_width, enzyme_dup;
double __enzyme_autodiff(void *, ...);
double __enzyme_fwddiff(void *, ...);
double f(double *x, double *y) { return *x * (y ? *y : 1); }
int main(int count, char **words) {
    double x = 2, d = 0, e = 0, *null = NULL;
    switch (atoi(words[1])) {
    case 0: __enzyme_autodiff((void *)f, &x, &d, null, null); break;
    case 1: __enzyme_autodiff((void *)f, &x, &d, &e, null); break;
    case 2: __enzyme_fwddiff((void *)f, &x, &x, &e, &d); break;
    case 3: __enzyme_fwddiff((void *)f, enzyme_width, 2, enzyme_dup, &x, &d, null,
                             enzyme_dup, null, null, null); break;
    }
    printf(\"%g\\n\", d);
}";

/// The program stops, with this at the start of its last message.
fn stops(output: &Output, message: &str) {
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.starts_with(message), "{text}");
}

#[test]
fn shadows() {
    let folder = Folder::with(&[("a.c", SHADOWS)]);
    let builds = [
        "cc -O2 --checks a.c -o prog",
        "cc -O0 a.c --checks -o prog",
        "cc -O2 --checks -c a.c -o a.o",
        "cc -O1 -emit-llvm -c a.c -o a.o",
    ];
    for build in builds {
        succeed(&folder.zymase(build));
        if build.contains("-c a.c") {
            succeed(&folder.zymase("ld --checks a.o -o prog"));
        }
        let run = |words| folder.command("./prog", words);
        assert_eq!(succeed(&run("0")), "1\n", "{build}");
        stops(
            &run("1"),
            "zymase: a.c:12: the shadow of argument 2 of `f` is null, but the argument is not (0x",
        );
        stops(
            &run("2"),
            "zymase: a.c:13: argument 1 of `f` is its own shadow (0x",
        );
        stops(
            &run("3"),
            "zymase: a.c:14: the shadow of argument 1 of `f` is null",
        );
    }
}

/// What a pointer leads to that was in a variable before is known only when the program runs.
#[test]
fn pointers_from_before() {
    let text = "
#include <stdio.h>
double __enzyme_autodiff(void *, ...);
double state[2], other[2] = {3, 4}, *cursor = state;
__attribute__((noinline)) static double read(void) { return cursor[1]; }
double f(double x) {
    state[1] = x;
    return read() * x;
}
#ifdef KEPT
static double *kept;
__attribute__((noinline)) static void keep(double *at) { kept = at; }
__attribute__((noinline)) static void scale(void) { kept[0] *= 2; }
double g(double x, int i) {
    double t = x * x;
    if (i) keep(&t);
    scale();
    return t;
}
int main(int count, char **words) {
    double before = 1;
    kept = &before;
    printf(\"%g\\n\", __enzyme_autodiff((void *)g, 2.0, words[1][0] == '3'));
}
#else
int main(int count, char **words) {
    if (words[1][0] == '0') cursor = other;
    printf(\"%g\\n\", __enzyme_autodiff((void *)f, 2.0));
}
#endif";
    let folder = Folder::with(&[("a.c", text)]);
    succeed(&folder.zymase("cc -O2 -DKEPT a.c -o kept"));
    for level in ["-O0", "-O2"] {
        succeed(&folder.zymase(&format!("cc {level} a.c -o prog")));
        let run = |words| folder.command("./prog", words);
        assert_eq!(succeed(&run("0")), "4\n");
        stops(
            &run("1"),
            "zymase: a.c:5: a derivative flows through the variable state, and the pointer 0x",
        );
    }
    // Without optimization all is one function, which knows that it cannot know.
    let held = "zymase: a.c:13: a derivative flows through the pointer 0x";
    stops(&folder.command("./kept", "2"), held);
    assert_eq!(succeed(&folder.command("./kept", "3")), "8\n");
}

/// Without the option nothing is checked, and nothing of the checks is in the program.
#[test]
fn only_when_asked() {
    let folder = Folder::with(&[("a.c", SHADOWS)]);
    succeed(&folder.zymase("cc -O2 a.c -o prog"));
    let bytes = std::fs::read(folder.path().join("prog")).unwrap();
    assert!(memchr::memmem::find(&bytes, b"the shadow of argument").is_none());
}

#[test]
fn room_for_a_tape() {
    let source = "
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
extern int enzyme_tape, enzyme_allocated;
double __enzyme_augmentfwd(void *, ...);
double __enzyme_reverse(void *, ...);
double f(double x) { return sin(x) * exp(x); }
int main(int count, char **words) {
    char memory[64];
    size_t size = atoi(words[1]);
    __enzyme_augmentfwd((void *)f, enzyme_allocated, size, enzyme_tape, memory, 1.0);
    printf(\"%.3f\\n\", __enzyme_reverse((void *)f, enzyme_allocated, size, enzyme_tape, memory, 1.0, 1.0));
}";
    let folder = Folder::with(&[("a.c", source)]);
    for level in ["-O0", "-O2"] {
        succeed(&folder.zymase(&format!("cc {level} a.c -lm -o prog")));
        assert_eq!(succeed(&folder.command("./prog", "64")), "3.756\n");
        let message = "zymase: a.c:12: the tape of `f` at 0x";
        stops(&folder.command("./prog", "1"), message);
    }
}
