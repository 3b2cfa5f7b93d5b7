//! Sessions with the program itself.

use crate::{PATIENCE, tool};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

pub struct Session {
    tool: Child,
    answers: BufReader<ChildStdout>,
}

impl Session {
    pub fn start() -> Session {
        let mut tool = Command::new(tool())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(tool.stdout.take().unwrap());
        Session { tool, answers }
    }

    /// Sends a line, and reads the line that answers it before anything else is sent.
    fn ask(&mut self, message: &str) -> Value {
        let messages = self.tool.stdin.as_mut().unwrap();
        messages
            .write_all(format!("{message}\n").as_bytes())
            .unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    pub fn evaluate(&mut self, module: &str, function: &str, input: &Value) -> Value {
        let message = json!({
            "id": 7, "kind": "evaluate", "module": module, "function": function, "input": input,
        });
        let answer = self.ask(&message.to_string());
        assert_eq!(answer["id"], 7);
        answer
    }

    /// Ends the input, and gives whether the tool was content, and what it said on stderr.
    pub fn end(mut self) -> (bool, String) {
        drop(self.tool.stdin.take());
        let mut rest = String::new();
        self.answers.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        let mut errors = String::new();
        self.tool
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        (self.tool.wait().unwrap().success(), errors)
    }
}

#[test]
fn hello() {
    let mut session = Session::start();
    let answer = session.ask(r#"{"id": 0, "kind": "start", "eval": "hello"}"#);
    assert_eq!(answer, json!({"id": 0, "tool": "zymase"}));
    let answer = session.ask(r#"{"id": 1, "kind": "define", "module": "hello"}"#);
    assert_eq!(answer, json!({"id": 1, "success": true}));
    let mut input = json!(1.0);
    let outputs = [1.0, 2.0, 4.0, 8.0, 64.0, 128.0, 16384.0, 32768.0];
    for (i, output) in outputs.into_iter().enumerate() {
        let id = 2 + 2 * i;
        let function = ["square", "double"][i % 2];
        let message = json!({
            "id": id, "kind": "evaluate", "module": "hello", "function": function, "input": input,
        });
        let answer = session.ask(&message.to_string());
        assert_eq!(answer["id"], id);
        assert_eq!(answer["success"], true);
        assert_eq!(answer["output"], output);
        assert_eq!(answer["timings"][0]["name"], "evaluate");
        assert!(answer["timings"][0]["nanoseconds"].is_u64());
        let id = id + 1;
        let message = json!({"id": id, "kind": "analysis", "of": id - 1, "valid": true});
        assert_eq!(session.ask(&message.to_string()), json!({"id": id}));
        input = answer["output"].clone();
    }
    assert_eq!(session.end(), (true, String::new()));
}

#[test]
fn every_module_is_defined() {
    let mut session = Session::start();
    for module in [
        "hello", "llsq", "lse", "det", "ode", "gmm", "lstm", "ba", "ht", "kmeans", "particle",
        "saddle",
    ] {
        let message = json!({"id": 3, "kind": "define", "module": module});
        assert_eq!(
            session.ask(&message.to_string()),
            json!({"id": 3, "success": true})
        );
        let answer = session.evaluate(module, "nothing", &json!({}));
        assert_eq!(answer["success"], false);
    }
    assert!(session.end().0);
}

#[test]
fn what_is_unknown_is_answered() {
    let mut session = Session::start();
    let answer = session.ask(r#"{"id": 0, "kind": "define", "module": "nothing"}"#);
    assert_eq!(
        answer,
        json!({"id": 0, "success": false, "error": "no module nothing"})
    );
    assert_eq!(
        session.ask(r#"{"id": 1, "kind": "a new one"}"#),
        json!({"id": 1})
    );
    let answer = session.evaluate("nothing", "primal", &json!({}));
    assert_eq!(answer["error"], "no module nothing");
    let answer = session.evaluate("lse", "hessian", &json!({"x": [1.0]}));
    assert_eq!(answer["error"], "no function hessian");
    let answer = session.ask(r#"{"id": 2, "kind": "evaluate"}"#);
    assert_eq!(answer["success"], false);
    let answer = session.ask(r#"{"id": 3, "kind": "define"}"#);
    assert_eq!(answer["success"], false);
    assert!(session.end().0);
}

#[test]
fn bad_inputs_are_refused() {
    let hand = |parents: Vec<i64>| {
        let matrices = vec![[[0.0; 4]; 4]; 22];
        json!({"theta": vec![0.0; 26], "us": [], "data": {
            "correspondences": [2], "points": [[0, 0, 0]], "model": {
                "parents": parents, "base_relatives": matrices,
                "inverse_base_absolutes": matrices, "base_positions": [[0, 0, 0, 1]],
                "weights": [vec![0.0; 22]], "triangles": [], "is_mirrored": false,
            },
        }})
    };
    let camera = vec![1.0; 11];
    let bad = [
        ("hello", "square", json!("one"), "cannot read input"),
        ("hello", "square", json!(1e200), "not finite"),
        ("llsq", "primal", json!({"x": [1.0]}), "missing field `n`"),
        (
            "llsq",
            "primal",
            json!({"x": [1.0], "n": -1}),
            "-1 is not a number of things",
        ),
        (
            "llsq",
            "primal",
            json!({"x": [1.0], "n": 1.5}),
            "1.5 is not a number of things",
        ),
        (
            "llsq",
            "gradient",
            json!({"x": [1.0, 2.0], "n": 1}),
            "not finite",
        ),
        ("lse", "primal", json!({"x": []}), "x is empty"),
        (
            "lse",
            "gradient",
            json!({"x": [1.0, "2"]}),
            "cannot read input",
        ),
        (
            "det",
            "gradient",
            json!({"A": [1, 2, 3], "ell": 2}),
            "not ell * ell",
        ),
        ("det", "primal", json!({"A": [], "ell": 0}), "empty"),
        ("ode", "primal", json!({"x": [], "s": 1}), "x is empty"),
        (
            "gmm",
            "objective",
            json!({
                "d": 1, "k": 1, "n": 2, "m": 0, "gamma": 1, "x": [[1]], "alpha": [1], "mu": [[1]],
                "q": [[1]], "l": [[]],
            }),
            "x has not n rows",
        ),
        (
            "gmm",
            "jacobian",
            json!({
                "d": 2, "k": 1, "n": 1, "m": 0, "gamma": 1, "x": [[1, 2]], "alpha": [1],
                "mu": [[1, 2]], "q": [[1, 2]], "l": [[]],
            }),
            "a row of l has not 1 numbers",
        ),
        (
            "lstm",
            "objective",
            json!({
                "main_params": [[1, 2, 3, 4], [1, 2, 3, 4]], "extra_params": [[1], [1], [1]],
                "state": [[1]], "sequence": [[0], [1]],
            }),
            "state has not the rows",
        ),
        (
            "ba",
            "objective",
            json!({
                "n": 0, "m": 1, "p": 1, "cam": camera, "x": [1, 2, 3], "w": 1, "feat": [1, 2],
            }),
            "at least 1",
        ),
        ("ht", "objective", hand(vec![0; 22]), "does not come before"),
        ("ht", "jacobian", hand(vec![-1; 22]), "with nothing"),
        (
            "kmeans",
            "dir",
            json!({"points": [[1, 2]], "centroids": []}),
            "no centroids",
        ),
        (
            "kmeans",
            "dir",
            json!({"points": [[1]], "centroids": [[1, 2]]}),
            "a row of points",
        ),
        (
            "kmeans",
            "dir",
            json!({"points": [[1]], "centroids": [[1], [2]]}),
            "not finite",
        ),
        ("particle", "rr", json!({}), "missing field `w`"),
        ("saddle", "ff", json!({"start": [1.0]}), "cannot read input"),
    ];
    let mut session = Session::start();
    for (module, function, input, expected) in bad {
        let answer = session.evaluate(module, function, &input);
        assert_eq!(answer["success"], false, "{module} {function}: {expected}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(expected), "{module} {function}: {error}");
    }
    assert!(session.end().0);
}

#[test]
fn what_is_no_message_ends_the_session() {
    for line in [
        "{\"id\": 0, ",
        "no JSON",
        "[]",
        "",
        "{\"kind\": \"start\"}",
        "{\"id\": 1}",
    ] {
        let mut session = Session::start();
        session.ask(r#"{"id": 0, "kind": "start"}"#);
        let messages = session.tool.stdin.as_mut().unwrap();
        messages.write_all(format!("{line}\n").as_bytes()).unwrap();
        let (good, errors) = session.end();
        assert!(!good, "{line}");
        assert!(
            errors.starts_with("zymase-gradbench: cannot read a message: "),
            "{errors}"
        );
    }
}

#[test]
fn runs_are_repeated_until_both_bounds_are_met() {
    let mut session = Session::start();
    let x = vec![0.5; 1000];
    let input = json!({"x": x, "min_runs": 17, "min_seconds": 0});
    let timings = session.evaluate("lse", "gradient", &input)["timings"].clone();
    assert_eq!(timings.as_array().unwrap().len(), 17);
    let input = json!({"x": x, "min_runs": 1, "min_seconds": 0.05});
    let timings = session.evaluate("lse", "gradient", &input)["timings"].clone();
    let timings = timings.as_array().unwrap();
    let total: u64 = timings
        .iter()
        .map(|t| t["nanoseconds"].as_u64().unwrap())
        .sum();
    assert!(
        timings.len() > 1 && total >= 50_000_000,
        "{} runs",
        timings.len()
    );
    assert!(session.end().0);
}

#[test]
fn long_lines_are_fast() {
    let mut session = Session::start();
    let x: Vec<f64> = (0..1_000_000).map(|i| f64::from(i) / 3e6).collect();
    let start = Instant::now();
    let answer = session.evaluate("lse", "gradient", &json!({"x": x}));
    assert_eq!(answer["output"].as_array().unwrap().len(), x.len());
    assert!(start.elapsed() < PATIENCE);
    assert!(session.end().0);
}
