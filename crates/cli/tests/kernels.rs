//! Programs that refer to kernels get them, and others do not get a byte of them.
//!
//! A program that is linked by another linker has to do without: what refers to kernels does so by
//! weak symbols.
#![cfg(target_os = "linux")]

#[path = "common/project.rs"]
mod project;

use project::{HOST, Project, package};
use std::path::{Path, PathBuf};
use std::process::Command;

const ZYMASE: &str = env!("CARGO_BIN_EXE_zymase");

/// The product of two matrices by a kernel if there is one, and whether there is.
const PRODUCT: &str = r#"
#define KERNEL(type, name)                                                                         \
    __attribute__((weak)) void name(long long, long long, long long, type *, long long, long long, \
                                    const type *, long long, long long, const type *, long long,   \
                                    long long, type);
KERNEL(float, __zymase_product_f32)
KERNEL(double, __zymase_product_f64)
__attribute__((weak)) long long __zymase_threads(void);

int product(long long n, float *c, const float *a, const float *b) {
    if (!__zymase_product_f32)
        return 0;
    __zymase_product_f32(n, n, n, c, n * 4, 4, a, n * 4, 4, b, n * 4, 4, 1);
    return 1;
}
int product_of_doubles(long long n, double *c, const double *a, const double *b) {
    if (!__zymase_product_f64)
        return 0;
    __zymase_product_f64(n, n, n, c, n * 8, 8, a, 8, n * 8, b, n * 8, 8, 1);
    return 1;
}
long long threads(void) { return __zymase_threads ? __zymase_threads() : -1; }
"#;

/// A program that asks for a derivative and multiplies matrices of numbers that are exact.
const MAIN: &str = r#"
#include <stdio.h>
#include <zymase/autodiff.h>

int product(long long n, float *c, const float *a, const float *b);
int product_of_doubles(long long n, double *c, const double *a, const double *b);
static double square(double x) { return x * x; }

enum { N = 300 };
static float a[N * N], b[N * N], c[N * N];
static double x[N * N], y[N * N], z[N * N];

int main(void) {
    for (int i = 0; i < N * N; i++)
        x[i] = a[i] = i % 7 - 3, y[i] = b[i] = i % 5 - 2, z[i] = c[i] = i % 3;
    int here = product(N, c, a, b) + product_of_doubles(N, z, x, y);
    int wrong = 0;
    for (int i = 0; here && i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = (i * N + j) % 3;
            double by_columns = sum;
            for (int k = 0; k < N; k++) {
                sum += a[i * N + k] * b[k * N + j];
                by_columns += x[k * N + i] * y[k * N + j];
            }
            wrong += sum != c[i * N + j] || by_columns != z[i * N + j];
        }
    zymase_set_threads(3);
    printf("slope %g, %d kernels, %d wrong, %lld threads\n",
           __enzyme_autodiff((void *)square, 3.0), here, wrong, zymase_threads());
    return 0;
}
"#;

const WITH: &str = "slope 6, 2 kernels, 0 wrong, 3 threads\n";
const WITHOUT: &str = "slope 6, 0 kernels, 0 wrong, 1 threads\n";

/// A folder with both sources.
struct Sources(tempfile::TempDir);

impl Sources {
    fn new() -> Sources {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("product.c"), PRODUCT).unwrap();
        std::fs::write(folder.path().join("main.c"), MAIN).unwrap();
        Sources(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs a command in the folder, its words separated by spaces.
    fn run(&self, words: &str) -> String {
        let mut words = words.split(' ');
        let mut command = Command::new(words.next().unwrap());
        run(command.args(words).current_dir(self.0.path()))
    }

    /// Makes an object of each source.
    fn objects(&self) {
        self.run(&format!("{ZYMASE} cc -O2 -c main.c"));
        self.run(&format!("{ZYMASE} cc -O2 -c product.c"));
    }

    /// What the program prints.
    fn printed(&self, variables: &[(&str, &str)]) -> String {
        let mut command = Command::new(self.path("program"));
        run(command.envs(variables.iter().copied()))
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{printed}{errors}");
    printed
}

/// The symbols that a program defines.
fn symbols(program: &Path) -> Vec<String> {
    let printed = run(Command::new("nm").arg("--defined-only").arg(program));
    let names = printed
        .lines()
        .filter_map(|line| line.split(' ').next_back());
    names.map(str::to_string).collect()
}

fn has_kernels(program: &Path) -> bool {
    let ours = ["__zymase_product_f32", "__zymase_threads_chosen", "libpulp"];
    let symbols = symbols(program);
    let mut ours = ours.iter();
    ours.any(|ours| symbols.iter().any(|symbol| symbol.starts_with(ours)))
}

#[test]
fn on_one_command_line() {
    let sources = Sources::new();
    for options in ["-O0", "-O2", "-O2 -fsanitize=address", "-O1 -static"] {
        sources.run(&format!(
            "{ZYMASE} cc {options} main.c product.c -o program"
        ));
        for threads in ["1", "2", "0", "many"] {
            assert_eq!(
                sources.printed(&[("ZYMASE_THREADS", threads)]),
                WITH,
                "{options}"
            );
        }
    }
}

/// Memory for the buffers of kernels, which there is none of, and how often that was found out.
const NO_MEMORY: &str = r#"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
static int refused;
void *__libc_malloc(size_t size);
void *malloc(size_t size) {
    if (size < 1 << 14)
        return __libc_malloc(size);
    __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return NULL;
}
__attribute__((destructor)) static void tell(void) { printf("refused: %d\n", refused > 0); }
"#;

#[test]
fn without_memory_for_buffers_products_are_loops() {
    let sources = Sources::new();
    std::fs::write(sources.path("no_memory.c"), NO_MEMORY).unwrap();
    sources.run(&format!(
        "{ZYMASE} cc -O2 main.c product.c no_memory.c -lm -o program"
    ));
    assert_eq!(sources.printed(&[]), format!("{WITH}refused: 1\n"));
}

#[test]
fn from_objects_and_archives() {
    let sources = Sources::new();
    sources.objects();
    sources.run(&format!("{ZYMASE} ld main.o product.o -o program"));
    assert_eq!(sources.printed(&[]), WITH);
    sources.run("ar rcs libproduct.a product.o");
    sources.run(&format!("{ZYMASE} ld main.o -L. -lproduct -o program"));
    assert_eq!(sources.printed(&[]), WITH);
    sources.run(&format!("{ZYMASE} cc main.o libproduct.a -o program"));
    assert_eq!(sources.printed(&[]), WITH);
}

#[test]
fn in_a_shared_library() {
    let sources = Sources::new();
    sources.run(&format!(
        "{ZYMASE} cc -O2 -fPIC -shared product.c -o libproduct.so"
    ));
    sources.run(&format!(
        "{ZYMASE} cc main.c -L. -lproduct -Wl,-rpath,$ORIGIN -o program"
    ));
    let printed = sources.printed(&[]);
    // The program itself refers to no kernel, so it does not know about threads.
    assert_eq!(printed, WITH.replace("3 threads", "1 threads"));
    assert!(!has_kernels(&sources.path("program")) && has_kernels(&sources.path("libproduct.so")));
}

#[test]
fn another_linker_has_no_kernels() {
    let sources = Sources::new();
    sources.objects();
    sources.run("gcc main.o product.o -o program");
    assert_eq!(sources.printed(&[]), WITHOUT);
}

#[test]
fn who_refers_to_none_has_none() {
    let sources = Sources::new();
    let none = "int product(long long n, float *c, const float *a, const float *b) { return 0; }
        int product_of_doubles(long long n, double *c, const double *a, const double *b) { return 0; }";
    std::fs::write(sources.path("product.c"), none).unwrap();
    sources.run(&format!("{ZYMASE} cc -O2 main.c product.c -o program"));
    assert_eq!(sources.printed(&[]), WITHOUT);
    assert!(!has_kernels(&sources.path("program")));
    sources.objects();
    sources.run(&format!("{ZYMASE} ld main.o product.o -o program"));
    assert_eq!(sources.printed(&[]), WITHOUT);
    assert!(!has_kernels(&sources.path("program")));
}

#[test]
fn an_object_of_objects_stays_one() {
    let sources = Sources::new();
    sources.objects();
    sources.run(&format!("{ZYMASE} ld -r -nostdlib product.o -o both.o"));
    assert!(!has_kernels(&sources.path("both.o")));
    sources.run(&format!("{ZYMASE} ld main.o both.o -o program"));
    assert_eq!(sources.printed(&[]), WITH);
}

/// A program in Rust, which has panics, an allocator and the crate `zymase`.
const RUST: &str = r#"
use zymase::grad;

unsafe extern "C" {
    fn product(n: i64, c: *mut f32, a: *const f32, b: *const f32) -> i32;
    fn threads() -> i64;
}

fn main() {
    let n = 200;
    let (a, b) = (vec![2.0f32; n * n], vec![3.0f32; n * n]);
    let mut c = vec![1.0f32; n * n];
    let here = unsafe { product(n as i64, c.as_mut_ptr(), a.as_ptr(), b.as_ptr()) };
    assert!(c.iter().all(|&c| c == 1.0 + if here == 1 { 6.0 * n as f32 } else { 0.0 }));
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| panic!("{}", vec![1; 3].len())).unwrap_err();
    let text = caught.downcast_ref::<String>().unwrap();
    zymase::set_threads(5);
    let slope = grad(|x: &[f64; 2]| x[0] * x[1], &[2.0, 3.0]);
    println!("{here} {text} {slope:?} {}", unsafe { threads() });
}
"#;

#[test]
fn in_rust() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let zymase = root.join("crates/zymase");
    let manifest = format!("[dependencies]\nzymase = {{ path = {zymase:?} }}\n");
    let script = "fn main() { println!(\"cargo::rustc-link-arg={}/product.o\", \
                  std::env::var(\"CARGO_MANIFEST_DIR\").unwrap()); }";
    let manifest = package("programs", &manifest).replace("0.1.0", "0.0.0");
    let project = Project::with(&[
        ("Cargo.toml", &manifest),
        ("build.rs", script),
        ("src/main.rs", RUST),
    ]);
    let lock = root.join("tests/programs/crate/Cargo.lock");
    std::fs::copy(lock, project.path().join("Cargo.lock")).unwrap();
    let sources = Sources::new();
    sources.objects();
    let object = project.path().join("product.o");
    std::fs::copy(sources.path("product.o"), &object).unwrap();
    let expected = "1 3 [3.0, 2.0] 5\n";
    assert_eq!(project.succeed("zymase run"), expected);
    assert_eq!(project.succeed("zymase run --release"), expected);
    // A program without a reference has only the variable of the crate.
    let none = "int product(long long n, float *c, const float *a, const float *b) { return 0; }
        long long threads(void) { return -1; }";
    std::fs::write(sources.path("product.c"), none).unwrap();
    sources.run(&format!("{ZYMASE} cc -c product.c"));
    std::fs::copy(sources.path("product.o"), &object).unwrap();
    std::fs::write(project.path().join("build.rs"), format!("{script}\n")).unwrap();
    assert_eq!(
        project.succeed("zymase run --release"),
        "0 3 [3.0, 2.0] -1\n"
    );
    let program = format!("target/{HOST}/release/programs");
    let symbols = symbols(&project.path().join(program));
    assert!(
        symbols
            .iter()
            .any(|symbol| symbol == "__zymase_threads_chosen")
    );
    let kernels = ["__zymase_product", "libpulp"];
    let mut kernels = kernels.iter();
    assert!(!kernels.any(|kernel| symbols.iter().any(|symbol| symbol.starts_with(kernel))));
}
