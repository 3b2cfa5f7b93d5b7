//! What `zymase explain` says of tapes is true: programs of `bench/` are built so that every forward
//! sweep tells how many bytes it is said to cache or keep, how many it writes, and how many it asks for
//! (`zymase_core::reverse::count`). The first two are the same for every derivative, and the last are
//! at most twice as many for tapes. A frame has room for every way that control may take, also for a
//! loop where its nest runs.

mod common;

use common::{Folder, succeed};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Adds up what is told of each function, and prints it in the end.
const COUNTS: &str = r#"
#include <stdio.h>
#include <string.h>
enum { MOST = 100 };
static struct { const char *name; long said, written, allocated; } all[MOST];
static int known;

void zymase_count_tape(const char *name, long said, long written, long allocated) {
  int i = 0;
  while (i < known && strcmp(all[i].name, name) != 0) i++;
  if (i == MOST) return;
  if (i == known) all[known++].name = name;
  all[i].said += said;
  all[i].written += written;
  all[i].allocated += allocated;
}

__attribute__((destructor)) static void tell(void) {
  for (int i = 0; i < known; i++)
    printf("tape of\t%s\t%ld\t%ld\t%ld\n", all[i].name, all[i].said, all[i].written, all[i].allocated);
}
"#;

/// What was told of one function.
#[derive(Debug)]
struct Told {
    name: String,
    said: u64,
    written: u64,
    allocated: u64,
}

impl Told {
    /// Whether it is about the frame of a derivative rather than about its tape.
    fn is_kept(&self) -> bool {
        self.name.ends_with(" (kept)")
    }
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench")
}

/// Builds and runs a program of `bench/`, and gives what it tells.
fn told(name: &str) -> Vec<Told> {
    let c = programs().join(format!("{name}.c"));
    let (language, source) = match c.exists() {
        true => ("cc", c),
        false => ("c++", c.with_extension("cpp")),
    };
    told_by(language, &source)
}

/// Builds and runs a program, and gives what it tells.
fn told_by(language: &str, source: &Path) -> Vec<Told> {
    let folder = Folder::with(&[("counts.c", COUNTS)]);
    succeed(&folder.zymase("cc -O2 -c counts.c"));
    let mut compile = Command::new(common::binary());
    compile.args([language, "-O2"]).arg(source);
    compile.args(["counts.o", "-lm", "-o", "program"]);
    compile.env("ZYMASE_COUNT_TAPES", "1");
    succeed(&compile.current_dir(folder.path()).output().unwrap());
    let printed =
        succeed(&folder.command(&folder.path().join("program").display().to_string(), "tiny"));
    let lines = printed
        .lines()
        .filter_map(|line| line.strip_prefix("tape of\t"));
    let told = lines.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |i: usize| fields[i].parse().unwrap();
        Told {
            name: fields[0].to_string(),
            said: number(1),
            written: number(2),
            allocated: number(3),
        }
    });
    told.collect()
}

fn check(name: &str) -> Vec<Told> {
    let all = told(name);
    println!("{all:#?}");
    for told in &all {
        assert_eq!(told.said, told.written, "bytes of {}", told.name);
    }
    let tapes = || all.iter().filter(|told| !told.is_kept());
    let written: u64 = tapes().map(|told| told.written).sum();
    let allocated: u64 = tapes().map(|told| told.allocated).sum();
    assert!(allocated <= 2 * written, "{allocated} bytes for {written}");
    all
}

/// Checks a program whose derivatives need no tape: what they keep is in their own frames.
fn check_without_tape(name: &str) {
    for told in check(name) {
        let nothing = (told.written, told.allocated) == (0, 0);
        assert!(told.is_kept() || nothing, "{told:?}");
    }
}

macro_rules! suite {
    ($check:ident: $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                let _ = $check(stringify!($name));
            }
        )*
    };
}

suite!(
    check: brusselator, det, fft_recursive, gmm, ht, kmeans, llsq, lse, lstm, ode, odeint, particle, saddle,
);

suite!(check_without_tape: ba, dot, matmul);

/// A product whose operand is overwritten before the reverse sweep runs.
const OVERWRITTEN: &str = r#"
int enzyme_const, enzyme_dup;
void __enzyme_autodiff(void *, ...);
enum { N = 40 };
static double a[N * N], da[N * N], b[N * N], db[N * N], c[N * N], dc[N * N];

static void product(double *restrict c, double *restrict a, const double *restrict b, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  for (int i = 0; i < n * n; i++) a[i] = c[i];
}

int main(void) {
  __enzyme_autodiff((void *)product, enzyme_dup, c, dc, enzyme_dup, a, da, enzyme_dup, b, db, N);
  return 0;
}
"#;

#[test]
fn an_operand_is_kept_once() {
    let folder = Folder::with(&[("overwritten.c", OVERWRITTEN)]);
    let told = told_by("cc", &folder.path().join("overwritten.c"));
    let elements = 40 * 40;
    for told in told {
        assert!(told.written < 8 * elements, "{told:?}");
    }
}

/// A sum of terms with a tape each, and a `malloc` that counts.
#[cfg(target_os = "linux")]
const TERMS: [(&str, &str); 2] = [
    (
        "count.c",
        r#"
#include <stddef.h>
extern void *__libc_malloc(size_t);
long calls;
void *malloc(size_t bytes) {
  calls++;
  return __libc_malloc(bytes);
}
"#,
    ),
    (
        "terms.c",
        r#"
#include <stdio.h>
int enzyme_const, enzyme_dup;
void __enzyme_autodiff(void *, ...);
extern long calls;

static double polynomials(const double *x, int m, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double t = 2.0 * i / n - 1, value = 0, power = 1;
    for (int j = 0; j < m; j++) {
      value += x[j] * power;
      power *= t;
    }
    sum += value * value;
  }
  return sum;
}

int main(int count, char **words) {
  double x[50], dx[50] = {0};
  for (int j = 0; j < 50; j++) x[j] = 1.0 / (j + count);
  long before = calls;
  __enzyme_autodiff((void *)polynomials, enzyme_dup, x, dx, enzyme_const, 50, enzyme_const, 1000);
  long made = calls - before;
  printf("%d %.4g\n", made < 20, dx[0]);
}
"#,
    ),
];

/// The terms take turns with one piece of memory.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_not_asked_for_in_each_iteration() {
    let folder = Folder::with(&TERMS);
    succeed(&folder.zymase("cc -O2 terms.c count.c -o terms"));
    let printed = succeed(&folder.command(&folder.path().join("terms").display().to_string(), ""));
    assert!(printed.starts_with("1 "), "{printed}");
}
