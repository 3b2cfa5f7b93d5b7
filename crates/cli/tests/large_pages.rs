//! Large tapes are asked for in large pages, wherever their memory comes from, and that leaves no trace
//! in the program. The program's own `madvise` is called here: it counts, and fails.

mod common;

use common::{Folder, succeed};

const ADVICE: &str = r#"
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
int asked;
int madvise(void *memory, size_t bytes, int advice) {
  const size_t page = 1 << 21;
  if (advice == 14 && (uintptr_t)memory % page == 0 && bytes % page == 0 && bytes > 0) asked++;
  errno = EINVAL;
  return -1;
}
"#;

const PROGRAM: &str = r#"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
extern int asked;
int enzyme_const, enzyme_dup;
void __enzyme_autodiff(void *, ...);

// So many records are known before the loop begins.
double counted(const double *x, long n) {
  double s = 0;
  for (long i = 0; i < n; i++) s = sin(s + x[0]);
  return s;
}

// Nobody knows how many there will be.
double growing(const double *x, long n) {
  double s = 0, left = (double)n;
  while (left > 0.5) {
    s = sin(s + x[0]);
    left -= 1 + 0.001 * s * s;
  }
  return s;
}

// The tape of an iteration is on a stack.
double stacked(const double *x, long n) {
  double sum = 0;
  for (long i = 0; i < 2; i++) {
    double s = (double)i;
    for (long j = 0; j < n; j++) s = sin(s + x[0]);
    sum += s;
  }
  return sum;
}

static void gradient(const char *name, double (*f)(const double *, long), void (*g)(const double *, double *, long)) {
  const double h = 1e-5;
  double x = 0.3, d = 0, above = x + h, below = x - h;
  long n = 1 << 20;
  double difference = (f(&above, n) - f(&below, n)) / (2 * h);
  asked = 0;
  errno = 42;
  g(&x, &d, n);
  printf("%s: %s, errno %d, %s\n", name, asked ? "large pages" : "no large pages", errno,
         fabs(d - difference) < 1e-5 * fabs(d) + 1e-7 ? "right" : "wrong");
}

#define GRADIENT(f)                                                                     \
  static void f##_gradient(const double *x, double *d, long n) {                        \
    __enzyme_autodiff((void *)f, enzyme_dup, x, d, enzyme_const, n);                    \
  }
GRADIENT(counted)
GRADIENT(growing)
GRADIENT(stacked)

int main(void) {
  gradient("counted", counted, counted_gradient);
  gradient("growing", growing, growing_gradient);
  gradient("stacked", stacked, stacked_gradient);
}
"#;

#[test]
fn large_tapes_come_in_large_pages_and_leave_errno_alone() {
    let folder = Folder::with(&[("advice.c", ADVICE), ("program.c", PROGRAM)]);
    for level in ["-O0", "-O2"] {
        succeed(&folder.zymase(&format!("cc {level} advice.c program.c -lm -o program")));
        let printed =
            succeed(&folder.command(&folder.path().join("program").display().to_string(), ""));
        let expected = ["counted", "growing", "stacked"]
            .map(|name| format!("{name}: large pages, errno 42, right\n"));
        assert_eq!(printed, expected.concat(), "at {level}");
    }
}
