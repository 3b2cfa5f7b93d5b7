// What is constant while the derivative runs: tables made at compile time, OnceLock, LazyLock,
// thread locals, environment of the program.
include!("check.rs");

use std::cell::{Cell, RefCell};
use std::sync::{LazyLock, OnceLock};

const TABLE: [f64; 8] = {
    let mut table = [1.0; 8];
    let mut i = 1;
    while i < 8 {
        table[i] = table[i - 1] * i as f64;
        i += 1;
    }
    table
};

fn compile_time(x: &[f64]) -> f64 {
    // The series of the exponential function.
    let exponential = |t: f64| (0..8).map(|i| t.powi(i as i32) / TABLE[i]).sum::<f64>();
    x.iter().map(|a| exponential(*a)).product()
}

static NODES: OnceLock<[(f64, f64); 3]> = OnceLock::new();

fn nodes() -> &'static [(f64, f64)] {
    NODES.get_or_init(|| {
        let root = (3.0f64 / 5.0).sqrt();
        [(-root, 5.0 / 9.0), (0.0, 8.0 / 9.0), (root, 5.0 / 9.0)]
    })
}

fn quadrature(x: &[f64]) -> f64 {
    let f = |t: f64| (x[0] * t + x[1]).sin() * x[2];
    nodes().iter().map(|(at, weight)| weight * f(*at)).sum()
}

static SETTINGS: LazyLock<[f64; 2]> = LazyLock::new(|| [0.25, 1.5]);

fn lazy(x: &[f64]) -> f64 {
    x.iter()
        .map(|a| SETTINGS[0] * a.powf(2.0) + SETTINGS[1])
        .product()
}

thread_local! {
    static SCALE: Cell<f64> = const { Cell::new(1.25) };
    static CALLS: RefCell<u64> = const { RefCell::new(0) };
}

fn of_the_thread(x: &[f64]) -> f64 {
    CALLS.with_borrow_mut(|calls| *calls += 1);
    let scale = SCALE.get();
    x.iter().map(|a| (a * scale).tanh()).sum()
}

fn main() {
    let x = [0.52, 1.57, 0.33, 0.81, 2.04];
    check!("constants: compile time", compile_time, x);
    check!("constants: quadrature", quadrature, x);
    check!("constants: lazy", lazy, x);
    SCALE.set(0.75);
    check!("constants: of the thread", of_the_thread, x);
    assert!(CALLS.with_borrow(|calls| *calls) > 10);
}
