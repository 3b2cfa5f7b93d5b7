// A panic in the primal is the same panic in the derivative.
include!("check.rs");

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

fn bounds(x: &[f64]) -> f64 {
    let i = (x[0] * 10.0) as usize;
    x[i] * x[i]
}

fn message(x: &[f64]) -> f64 {
    let v: Vec<f64> = x.iter().map(|a| a * a).collect();
    if x[0] < 0.0 {
        panic!("negative: {}", x[0]);
    }
    v.iter().sum()
}

fn unwrapped(x: &[f64]) -> f64 {
    x.iter()
        .copied()
        .find(|a| *a > 1.0)
        .expect("nothing is large")
        * x[0]
}

fn typed(x: &[f64]) -> f64 {
    if x[0] > 1.0 {
        std::panic::panic_any(17u32);
    }
    x[0] * 3.0
}

macro_rules! panics {
    ($f:expr, $x:expr, $check:expr) => {
        let plain = catch_unwind(|| $f(&$x)).unwrap_err();
        let reverse = catch_unwind(AssertUnwindSafe(|| gradient!($f, &$x))).unwrap_err();
        let forward = catch_unwind(AssertUnwindSafe(|| derivative!($f, &$x, &$x))).unwrap_err();
        for payload in [&plain, &reverse, &forward] {
            assert!(
                $check(payload),
                "{} panics with something else",
                stringify!($f)
            );
        }
    };
}

fn main() {
    set_hook(Box::new(|_| ()));
    let says = |text: &'static str| {
        move |payload: &Box<dyn std::any::Any + Send>| {
            let string = payload.downcast_ref::<String>().map(String::as_str);
            let said = string.or(payload.downcast_ref::<&str>().copied());
            said == Some(text)
        }
    };
    panics!(
        bounds,
        [0.9, 1.0],
        says("index out of bounds: the len is 2 but the index is 9")
    );
    panics!(message, [-0.5, 1.0], says("negative: -0.5"));
    panics!(unwrapped, [0.5, 0.7], says("nothing is large"));
    panics!(
        typed,
        [1.5],
        |payload: &Box<dyn std::any::Any + Send>| payload.downcast_ref() == Some(&17u32)
    );
    // After a panic everything works as before.
    check!("panics: bounds", bounds, [0.15, 2.0]);
    check!("panics: message", message, [0.5, 2.0]);
    check!("panics: unwrapped", unwrapped, [0.5, 2.0]);
    check!("panics: typed", typed, [0.5]);
}
