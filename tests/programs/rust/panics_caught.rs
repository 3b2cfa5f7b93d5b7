// Panics that are caught around a derivative, asserts, unwinding through values with destructors,
// and functions that catch panics themselves.
include!("check.rs");

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

thread_local! {
    static DROPPED: Cell<usize> = const { Cell::new(0) };
}

struct Noticed(f64);

impl Drop for Noticed {
    fn drop(&mut self) {
        DROPPED.with(|count| count.set(count.get() + 1));
    }
}

fn guarded(x: &[f64]) -> f64 {
    let all: Vec<Noticed> = x.iter().map(|a| Noticed(a * a)).collect();
    assert!(all[0].0 < 1.0, "the first is too large");
    let boxed = Box::new(Noticed(all.iter().map(|a| a.0).sum()));
    assert_ne!(x.len(), 2, "two are too few");
    boxed.0 * x[0]
}

fn divided(x: &[f64]) -> f64 {
    let count = x.iter().filter(|a| **a > 0.0).count();
    let at = 7 / count;
    x[at % x.len()] * x[count - 1]
}

fn sliced(x: &[f64]) -> f64 {
    let from = (x[0] * 4.0) as usize;
    x[from..].iter().product::<f64>() + x[..=from].iter().sum::<f64>()
}

fn text(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().unwrap().to_string(),
    }
}

macro_rules! panics {
    ($f:expr, $x:expr, $text:expr) => {
        for caught in [
            catch_unwind(|| $f(&$x)).map(|_| ()),
            catch_unwind(AssertUnwindSafe(|| gradient!($f, &$x))).map(|_| ()),
            catch_unwind(AssertUnwindSafe(|| derivative!($f, &$x, &$x))).map(|_| ()),
        ] {
            let text = text(caught.unwrap_err());
            assert!(text.contains($text), "{text}");
        }
    };
}

fn main() {
    set_hook(Box::new(|_| ()));
    panics!(guarded, [1.5, 0.2, 0.3], "the first is too large");
    panics!(guarded, [0.5, 0.2], "two are too few");
    panics!(divided, [-1.0, -2.0], "divide by zero");
    panics!(sliced, [0.8, 1.0], "out of range for slice");
    // Those that no derivative was in the way of.
    assert_eq!(DROPPED.with(|count| count.get()), 6);
    check!("caught: guarded", guarded, [0.5, 0.7, 0.9]);
    check!("caught: divided", divided, [0.5, -0.7, 0.9]);
    check!("caught: sliced", sliced, [0.3, 1.2, 0.9]);
}
