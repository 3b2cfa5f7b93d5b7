//! All tests, in one program: linking is what takes time.

mod agreement;
mod by_hand;
mod session;
mod vectors;

use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// The program that is tested: this package's, or the one that GRADBENCH_TOOL names.
fn tool() -> PathBuf {
    let named = std::env::var_os("GRADBENCH_TOOL");
    named.map_or(env!("CARGO_BIN_EXE_zymase-gradbench").into(), PathBuf::from)
}

/// What the program answers for a function of a module.
fn evaluate(module: &str, function: &str, input: &Value) -> Value {
    let mut session = session::Session::start();
    let answer = session.evaluate(module, function, input);
    assert_eq!(
        answer["success"], true,
        "{module} {function}: {}",
        answer["error"]
    );
    assert_eq!(answer["timings"][0]["name"], "evaluate");
    assert!(session.end().0);
    answer["output"].clone()
}

/// Compares as GradBench does, but more strictly.
#[track_caller]
fn assert_close(found: &Value, expected: &Value, tolerance: f64) {
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert_close(found, expected, tolerance);
            }
        }
        (Value::Object(found), Value::Object(expected)) => {
            assert!(found.keys().eq(expected.keys()));
            for (key, expected) in expected {
                assert_close(&found[key], expected, tolerance);
            }
        }
        _ => assert_near(
            found.as_f64().unwrap(),
            expected.as_f64().unwrap(),
            tolerance,
        ),
    }
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    let scale = f64::max(1.0, found.abs() + expected.abs());
    assert!(
        (found - expected).abs() <= tolerance * scale,
        "{found} is not {expected}"
    );
}

#[track_caller]
fn assert_all_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_near(*found, *expected, tolerance);
    }
}

/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(60);
