//! All tests, in one program: linking is what takes time.

mod by_hand;
mod session;
mod vectors;

use serde_json::{Value, json};
use std::time::Duration;
use zymase_gradbench::evaluation::Request;

/// What a function of a module answers, as the protocol sees it.
fn evaluate(module: &str, function: &str, input: Value) -> Result<Value, String> {
    let input = serde_json::value::to_raw_value(&input).unwrap();
    let request = Request {
        function,
        input: &input,
    };
    let answer = zymase_gradbench::evals::find(module).unwrap()(&request)?;
    assert_eq!(json!(answer.timings)[0]["name"], "evaluate");
    Ok(serde_json::from_slice(&answer.output).unwrap())
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
