//! The GradBench tools: `bench/gradbench` by `cargo zymase`, `bench/gradbench-c` by `zymase cc`. The
//! tests of the first compare derivatives with known values, with derivatives written by hand and
//! with finite differences, and talk to either program as GradBench does. The same for the other
//! benchmarks in Rust, `bench/rust`.
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, succeed};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const EVALS: [&str; 12] = [
    "ba", "det", "gmm", "hello", "ht", "kmeans", "llsq", "lse", "lstm", "ode", "particle", "saddle",
];

#[test]
fn all_evals() {
    let folder = bench().join("gradbench");
    let c = std::thread::spawn(|| {
        let folder = Folder::with(&[]);
        let compile = format!("cc -O3 {} -lm -o tool", sources(&["", "evals"]));
        succeed(&folder.zymase(&compile));
        folder
    });
    // Cargo does not see that Zymase is another one now.
    zymase("clean", &folder, &["--package", "zymase-gradbench"], None);
    let printed = zymase("test", &folder, &[], None);
    assert!(printed.contains("test result: ok."), "{printed}");
    assert_each(&printed, "by_hand");
    assert_each(&printed, "agreement");
    let c = c.join().unwrap();
    let printed = zymase("test", &folder, &[], Some(&c.path().join("tool")));
    assert!(printed.contains("test result: ok."), "{printed}");
    assert_each(&printed, "agreement");
}

/// Asserts that a test was run for each eval.
fn assert_each(printed: &str, tests: &str) {
    for eval in EVALS {
        let line = format!("test {tests}::{eval} ... ok");
        assert!(printed.contains(&line), "{printed}");
    }
}

#[test]
fn programs_of_the_papers() {
    let folder = bench().join("rust");
    zymase("clean", &folder, &["--package", "zymase-bench-rust"], None);
    let printed = zymase("test", &folder, &[], None);
    assert!(printed.contains("test result: ok. 6 passed"), "{printed}");
}

fn bench() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench")
}

/// The C files in some folders of the tool in C.
fn sources(folders: &[&str]) -> String {
    let mut sources = String::new();
    for folder in folders {
        let folder = bench().join("gradbench-c").join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "c") {
                let _ = write!(sources, " {}", path.display());
            }
        }
    }
    sources
}

/// Runs `cargo zymase`; the tests talk to `tool`, or to the package's own.
fn zymase(subcommand: &str, folder: &Path, words: &[&str], tool: Option<&Path>) -> String {
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_cargo-zymase"));
    cargo.args(["zymase", subcommand, "--quiet", "--locked", "--release"]);
    cargo.args(words);
    cargo.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    let name = folder.file_name().unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    cargo.arg("--target-dir").arg(target);
    if subcommand == "test" {
        cargo.args(["--", "--format=pretty"]);
    }
    if let Some(tool) = tool {
        cargo.args(["agreement", "session", "vectors"]);
        cargo.env("GRADBENCH_TOOL", tool);
    }
    let output = cargo.env_remove("RUSTFLAGS").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{cargo:?}\n{printed}\n{errors}");
    printed
}

/// The tool in C without derivatives: its evals write what they read. Compiled with sanitizers, which
/// end it with another exit code than its own.
fn echo() -> Folder {
    let folder = Folder::with(&[]);
    let compile = format!(
        "-O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all {} -lm \
         -o echo",
        sources(&["", "tests"])
    );
    succeed(&folder.command("gcc", &compile));
    folder
}

/// Sends lines, and gives all that is answered.
fn send(echo: &Folder, lines: &[u8]) -> Output {
    let mut tool = Command::new(echo.path().join("echo"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = tool.stdin.take().unwrap();
    let lines = lines.to_vec();
    // A tool that has seen enough does not read the rest.
    let sender = std::thread::spawn(move || input.write_all(&lines).is_ok());
    let output = tool.wait_with_output().unwrap();
    sender.join().unwrap();
    output
}

fn evaluate(function: &str, input: &str) -> String {
    format!(
        r#"{{"id": 1, "kind": "evaluate", "module": "lse", "function": "{function}", "input": {input}}}"#
    )
}

/// Every number that is read is the nearest one, and is written so that it can be read again.
#[test]
fn numbers_go_in_and_out_exactly() {
    let echo = echo();
    let mut random = fastrand::Rng::with_seed(8_600_001);
    let mut words: Vec<String> = [
        "0",
        "-0",
        "0.0",
        "0e5",
        "1e0",
        "1E+2",
        "-1.5e-3",
        "123456789012345678",
        "9007199254740993",
        "5e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "0.1",
        "1e23",
        "8.5e22",
        "9.5367431640625e-07",
        "100000000000000000000000000000000000000000000000",
        "99999999999999999.5",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "0.000000000000000000000000000000000000000000000000000012345",
    ]
    .map(str::to_string)
    .to_vec();
    for _ in 0..20_000 {
        let bits = f64::from_bits(random.u64(..));
        let scale = 10f64.powi(random.i32(-12..45));
        let near = (random.f64() - 0.5) * scale;
        let digits = random.usize(1..25);
        if bits.is_finite() {
            words.push(format!("{bits:e}"));
        }
        words.push(format!("{near}"));
        words.push(format!("{near:.digits$e}"));
        words.push(format!("{}", random.i64(..)));
    }
    let line = evaluate("numbers", &format!("{{\"x\": [{}]}}", words.join(",")));
    let answer = succeed(&send(&echo, line.as_bytes()));
    let start = answer.find("\"output\":[").unwrap() + "\"output\":[".len();
    let end = start + answer[start..].find(']').unwrap();
    let found: Vec<&str> = answer[start..end].split(',').collect();
    assert_eq!(found.len(), words.len());
    for (found, word) in found.iter().zip(&words) {
        let (read, expected): (f64, f64) = (found.parse().unwrap(), word.parse().unwrap());
        assert_eq!(read.to_bits(), expected.to_bits(), "{word} became {found}");
        assert!(serde_json::from_str::<Value>(found).is_ok(), "{found}");
    }
}

/// What a field must be, and what is said if it is something else.
#[test]
fn shapes_are_checked() {
    let echo = echo();
    let good = [
        (
            "rows",
            r#"{"x": [[1, 2.5], [3, -4e2]]}"#,
            json!([[1, 2.5], [3, -400]]),
        ),
        ("rows", r#"{"x": [[], []]}"#, json!([[], []])),
        ("rows", r#"{"x": []}"#, json!([])),
        (
            "indices",
            r#"{"x": [[[1, 2.0]], [[3, 4]]]}"#,
            json!([1, 2, 3, 4]),
        ),
        (
            "fields",
            r#"{"object": {"number": 4}, "more": [{}], "truth": true, "count": 3.0, "number": 0.5}"#,
            json!([0.5, 3, 1, 4]),
        ),
        ("numbers", r#"{"x": [7], "min_runs": 3}"#, json!([7])),
    ];
    for (function, input, expected) in good {
        let printed = succeed(&send(&echo, evaluate(function, input).as_bytes()));
        let answer: Value = serde_json::from_str(&printed).unwrap();
        let text = |value: &Value| value.to_string().replace(".0", "");
        assert_eq!(text(&answer["output"]), text(&expected), "{printed}");
    }
    let bad = [
        (
            "rows",
            r#"{"x": [[1, 2], [3]]}"#,
            "a row of x has not 2 numbers",
        ),
        (
            "rows",
            r#"{"x": [[1], 2]}"#,
            "`x` is not an array, or not of arrays",
        ),
        (
            "rows",
            r#"{"x": [[[], [], 5]]}"#,
            "something else than numbers",
        ),
        (
            "rows",
            r#"{"x": [[1], [[2]]]}"#,
            "something else than numbers",
        ),
        (
            "numbers",
            r#"{"x": [1, null]}"#,
            "something else than numbers",
        ),
        ("numbers", r#"{"x": {}}"#, "is not an array"),
        ("numbers", r#"{"y": []}"#, "missing field `x`"),
        ("numbers", r#"{"x": [], "x": []}"#, "duplicate field `x`"),
        ("numbers", "[]", "there is no object with a field `x`"),
        (
            "numbers",
            r#"{"x": [], "min_runs": -1}"#,
            "-1 is not a number of things",
        ),
        (
            "numbers",
            r#"{"x": [], "min_seconds": "long"}"#,
            "`min_seconds` is not a number",
        ),
        (
            "indices",
            r#"{"x": [[[1.5]]]}"#,
            "1.5 is not a number of things",
        ),
        (
            "indices",
            r#"{"x": [[[1e10]]]}"#,
            "10000000000 is too large",
        ),
        (
            "fields",
            r#"{"number": 1, "count": 1, "truth": 1}"#,
            "neither true nor false",
        ),
        (
            "fields",
            r#"{"number": 1, "count": 1, "truth": false, "object": 1}"#,
            "not an object",
        ),
        (
            "say \\\"\\u0001\\ud83d\\ude00",
            "{}",
            "no function say \"\u{1}\u{1f600}",
        ),
    ];
    for (function, input, expected) in bad {
        let printed = succeed(&send(&echo, evaluate(function, input).as_bytes()));
        let answer: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(answer["success"], false, "{printed}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(expected), "{error} without {expected}");
    }
}

/// Asserts that a line is answered or refused, as serde_json accepts it or not.
fn assert_read_alike(echo: &Folder, line: &[u8]) {
    let output = send(echo, line);
    let (code, errors) = (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr),
    );
    let shown = String::from_utf8_lossy(line);
    match serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object()) {
        true => {
            assert_eq!(code, Some(0), "{shown}\n{errors}");
            assert!(
                serde_json::from_slice::<Value>(&output.stdout).is_ok(),
                "{shown}"
            );
        }
        false => {
            assert_eq!(code, Some(1), "{shown}\n{errors}");
            let what = "zymase-gradbench: cannot read a message: ";
            assert!(errors.starts_with(what), "{shown}\n{errors}");
        }
    }
}

#[test]
fn hostile_json_is_refused() {
    let echo = echo();
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let inputs = [
        "",
        " ",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,]",
        "{",
        "{\"",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{1:2}",
        "]",
        "}",
        "tru",
        "nul",
        "nulll",
        "True",
        "NaN",
        "Infinity",
        "-",
        "-x",
        "+1",
        ".5",
        "5.",
        "1e",
        "1e+",
        "01",
        "-01",
        "0x10",
        "1.5.5",
        "1e400",
        "-1e999999999999999999999",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\"",
        "\"a\u{7f}\u{80}\u{20ac}\u{1f600}\"",
        "\"\\u0000\"",
        "\"\\ud83d\\ude00\"",
        "\"\t\"",
        "1 2",
        "// 1",
        "'a'",
        "{\"a\":1 \"b\":2}",
        "1e-999999",
        "00",
        "\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"",
    ];
    for input in inputs {
        assert_read_alike(&echo, evaluate("numbers", input).as_bytes());
    }
    for bytes in [
        &b"\xff"[..],
        b"\"\xff\"",
        b"\"\xc0\xaf\"",
        b"\"\xe2\x82\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
        b"\"\xf0\x80\x80\x80\"",
        b"\"\0\"",
        b"1\0",
        b"\"\xe2\x82\xac\"",
        b"\"\xf0\x9f\x98",
        b"\"\xc3",
    ] {
        let line = evaluate("numbers", "?");
        let (before, after) = line.split_once('?').unwrap();
        assert_read_alike(
            &echo,
            &[before.as_bytes(), bytes, after.as_bytes()].concat(),
        );
    }
    assert_read_alike(&echo, evaluate("numbers", &nested(100)).as_bytes());
    for depth in [200, 100_000, 10_000_000] {
        let output = send(&echo, evaluate("numbers", &nested(depth)).as_bytes());
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("it is too deep"));
    }
    for line in [
        "[]",
        "\n",
        "1",
        "{}",
        r#"{"id": 0}"#,
        r#"{"id": 0.5, "kind": "start"}"#,
        r#"{"id": "0", "kind": "start"}"#,
        r#"{"id": 99999999999999999999, "kind": "start"}"#,
        r#"{"id": 0, "kind": null}"#,
        r#"{"id": 0, "kind": "start", "kind": "start"}"#,
        r#"{"id": 0, "kind": "define", "module": 1}"#,
        r#"{"id": 0, "kind": "evaluate", "module": "lse", "function": []}"#,
    ] {
        let output = send(&echo, line.as_bytes());
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert_eq!(output.stdout, b"", "{line}");
    }
}

/// Damaged messages: refused where serde_json refuses them, answered elsewhere, and nothing is read or
/// written beside what there is.
#[test]
fn damaged_json_is_refused() {
    let echo = echo();
    let mut random = fastrand::Rng::with_seed(8_600_002);
    let input = r#"{"x": [[1.5, -2e-3, 0], [true, null, "\u00e9\ud83d\ude00\n"]], "min_runs": 2, "o": {"p": {}}}"#;
    let whole = evaluate("rows", input);
    let start = whole.find("input").unwrap() + "input\": {".len();
    let pieces = b"[]{}\",:\\u0123456789eE.+-truefalsnl \t\xc3\xff";
    for _ in 0..300 {
        let mut line = whole.clone().into_bytes();
        for _ in 0..random.usize(1..4) {
            // The message around the input stays what it is.
            let at = random.usize(start..line.len() - 2);
            match random.usize(..3) {
                0 => line[at] = random.choice(pieces.iter().copied()).unwrap(),
                1 => line.insert(at, random.choice(pieces.iter().copied()).unwrap()),
                _ => drop(line.remove(at)),
            }
        }
        let around = |value: &Value| value.as_object().is_some_and(|object| object.len() == 5);
        let value = serde_json::from_slice::<Value>(&line);
        if value.as_ref().map_or(true, around) {
            assert_read_alike(&echo, &line);
        }
    }
}
