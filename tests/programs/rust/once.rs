// Values that are made once, by code that the library runs.
include!("check.rs");

use std::cell::{LazyCell, OnceCell};
use std::sync::{LazyLock, Mutex, Once, OnceLock, RwLock};

static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
static FACTOR: LazyLock<f64> = LazyLock::new(|| 1.25f64.sqrt());

/// Neither the table nor the factor depends on the arguments.
fn tables(x: &[f64]) -> f64 {
    let table = TABLE.get_or_init(|| (1..9).map(f64::from).collect());
    let pairs = x.iter().zip(table);
    pairs.map(|(a, b)| *FACTOR * b * a.powi(2)).sum()
}

fn locks(x: &[f64]) -> f64 {
    let product = OnceLock::new();
    let first = *product.get_or_init(|| x[0] * x[1]);
    let again = *product.get_or_init(|| 1000.0);
    let a = x[2];
    let square = LazyLock::new(move || a * a);
    first * again + *square * *square
}

fn cells(x: &[f64]) -> f64 {
    let product = OnceCell::new();
    let square = LazyCell::new(|| x[2] * x[2]);
    product.get_or_init(|| x[0] * x[1]) * *square + *square
}

fn calls(x: &[f64]) -> f64 {
    let (once, mut sum) = (Once::new(), 0.0);
    for a in x {
        once.call_once(|| sum += 3.0 * a * a);
        sum += a.sin();
    }
    sum * sum
}

fn guards(x: &[f64]) -> f64 {
    let (sum, product) = (Mutex::new(0.0), RwLock::new(1.0));
    for a in x {
        *sum.lock().unwrap() += a * a;
        *product.write().unwrap() *= a;
    }
    let sum = *sum.lock().unwrap();
    sum * *product.read().unwrap()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("once: tables", tables, x);
    check!("once: locks", locks, x);
    check!("once: cells", cells, x);
    check!("once: calls", calls, x);
    check!("once: guards", guards, x);
}
