//! Programs that copy memory in every way that C allows have right derivatives, or are refused.
//!
//! `ZYMASE_COPIES=start..end` tries these seeds at every level instead of the usual few, and
//! `ZYMASE_COPIES_BARE=1` without debug information and alias classes, which are what types are
//! known by: many programs are refused then, and still none may be wrong.

mod common;

use common::Folder;
use std::collections::BTreeMap;

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// The seeds of every test run, each at one level.
const USUAL: std::ops::Range<u64> = 0..24;

#[test]
fn copies_have_right_derivatives_or_are_refused() {
    let asked = std::env::var("ZYMASE_COPIES").ok().and_then(|text| {
        let (start, end) = text.split_once("..")?;
        Some(start.parse().ok()?..end.parse().ok()?)
    });
    let seeds = asked.clone().unwrap_or(USUAL);
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut good, mut failures) = (0, String::new());
    for seed in seeds {
        for (number, level) in LEVELS.into_iter().enumerate() {
            if asked.is_none() && number as u64 != seed % 4 {
                continue;
            }
            match trial(seed, level) {
                Ok(()) => good += 1,
                Err(Trouble::Refused(why)) => {
                    let cases = refused.entry(why).or_default();
                    cases.push(format!("{seed}{level}"));
                }
                Err(Trouble::Wrong(why)) => failures += &format!("seed {seed} {level}: {why}\n"),
            }
        }
    }
    println!("{good} agree");
    for (why, cases) in &refused {
        let some: Vec<&String> = cases.iter().take(8).collect();
        println!("{} refused, {some:?}: {why}", cases.len());
    }
    assert!(failures.is_empty(), "{failures}");
    let count: usize = refused.values().map(Vec::len).sum();
    println!("{count} refused");
    assert!(
        good > count || is_bare(),
        "{count} programs are refused: {refused:#?}"
    );
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

enum Trouble {
    Refused(String),
    Wrong(String),
}

/// Whether programs are compiled with nothing that tells the types of the source program.
fn is_bare() -> bool {
    std::env::var_os("ZYMASE_COPIES_BARE").is_some()
}

fn trial(seed: u64, level: &str) -> Result<(), Trouble> {
    let text = zymase_testgen::copies::program(seed);
    if let Ok(path) = std::env::var("ZYMASE_COPIES_SAVE") {
        std::fs::write(path, &text).unwrap();
    }
    let folder = Folder::with(&[("copies.c", &text)]);
    let built = match is_bare() {
        false => folder.zymase(&format!("cc {level} -w copies.c -lm -o copies")),
        true => {
            let options = "-g0 -fno-strict-aliasing -w -c -emit-llvm -Xclang -disable-llvm-passes";
            let bare = format!("{options} -Xclang -disable-O0-optnone {level}");
            folder.command("clang-22", &format!("{bare} copies.c -o copies.bc"));
            let built = folder.zymase("opt copies.bc -o derived.bc");
            folder.command("clang-22", &format!("{level} -w derived.bc -lm -o copies"));
            built
        }
    };
    let errors = String::from_utf8_lossy(&built.stderr).into_owned();
    if !built.status.success() {
        let is_refusal = errors.starts_with("error: cannot") && !errors.contains("defect");
        return Err(match is_refusal {
            true => Trouble::Refused(why(&errors)),
            false => Trouble::Wrong(errors),
        });
    }
    let ran = folder.command("timeout", "20 ./copies");
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    match ran.status.success() && printed == "ok\n" {
        true => Ok(()),
        false => Err(Trouble::Wrong(format!("{} {printed}", ran.status))),
    }
}

/// The first line of a message and its reason, without numbers of bytes.
fn why(errors: &str) -> String {
    let lines = errors.lines();
    let told = lines.filter(|line| line.starts_with("error") || line.contains("note:"));
    let text: Vec<&str> = told.map(str::trim).collect();
    let text = text.join(" ");
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}
