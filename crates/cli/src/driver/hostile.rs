//! Damaged command lines, response files, objects and archives: they are refused or read, but
//! nothing panics. The same readers are fuzzed for long by `scripts/fuzz-readers.sh`.

#[path = "../../../../fuzz/src/command_lines.rs"]
mod command_lines;
#[path = "../../../../fuzz/src/damage.rs"]
mod damage;
#[path = "../../../../fuzz/src/objects.rs"]
mod objects;

use fastrand::Rng;
use std::process::Command;

/// Reads each of these bytes, and some damaged forms of it.
fn check(seeds: &[Vec<u8>], damages: u64, read: fn(&[u8])) {
    for (number, bytes) in seeds.iter().enumerate() {
        read(bytes);
        for seed in 0..damages {
            let mut rng = Rng::with_seed(seed);
            let damaged = damage::damaged(bytes, &mut rng);
            let outcome = std::panic::catch_unwind(|| read(&damaged));
            assert!(outcome.is_ok(), "input {number}, seed {seed}");
        }
    }
}

#[test]
fn command_lines() {
    let seeds = [
        "-O2\n@@\n-lm\n-L\n.\n--checks\n\na.o \"b c.o\" -plugin-opt=O3 'd @@",
        "-c\na.c\n-o\nb.o\n-MMD\n-x\nc\n-\n-flto\n-Wl,-plugin-opt=O1",
        "-o\n-x\n-L\n-MF\n\n\\",
    ];
    check(
        &seeds.map(|text| text.as_bytes().to_vec()),
        1000,
        command_lines::read,
    );
}

#[test]
fn objects() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a.c"),
        "double f(double x) { return x; }",
    )
    .unwrap();
    let commands = "cc -c a.c -o native.o; ar rc both.a native.o a.c; ar rcT thin.a native.o";
    for command in commands.split("; ") {
        let mut words = command.split(' ');
        let mut command = Command::new(words.next().unwrap());
        let status = command.args(words).current_dir(folder.path()).status();
        assert!(status.unwrap().success());
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    check(
        &["native.o", "both.a", "thin.a"].map(read),
        1000,
        objects::read,
    );
}
