// Shared ownership: Arc, Cell and RefCell in structures, Rc::make_mut, Rc::try_unwrap, mem::take.
include!("check.rs");

use std::cell::{Cell, OnceCell, RefCell};
use std::mem;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

fn counted(x: &[f64]) -> f64 {
    let all: Arc<[f64]> = x.iter().map(|a| a.sin()).collect();
    let views: Vec<Arc<[f64]>> = (0..3).map(|_| Arc::clone(&all)).collect();
    let count = Arc::strong_count(&all) as f64;
    views
        .iter()
        .zip(x)
        .map(|(v, a)| v[0] * v[4] * a)
        .sum::<f64>()
        * count
}

fn copied_on_write(x: &[f64]) -> f64 {
    let mut first = Rc::new(x.to_vec());
    let second = Rc::clone(&first);
    Rc::make_mut(&mut first)[0] *= x[1];
    let product: f64 = first.iter().zip(second.iter()).map(|(a, b)| a * b).sum();
    product + first.iter().product::<f64>()
}

fn locked(x: &[f64]) -> f64 {
    let sum = Mutex::new(0.0);
    let factors = RwLock::new(vec![1.0]);
    for a in x {
        *sum.lock().unwrap() += a * a;
        let last = *factors.read().unwrap().last().unwrap();
        factors.write().unwrap().push(last * a);
    }
    sum.into_inner().unwrap() * factors.into_inner().unwrap().iter().sum::<f64>()
}

struct Cached<'a> {
    x: &'a [f64],
    norm: OnceCell<f64>,
    calls: Cell<u32>,
    history: RefCell<Vec<f64>>,
}

impl Cached<'_> {
    fn norm(&self) -> f64 {
        self.calls.set(self.calls.get() + 1);
        let norm = *self
            .norm
            .get_or_init(|| self.x.iter().map(|a| a * a).sum::<f64>().sqrt());
        self.history
            .borrow_mut()
            .push(norm * f64::from(self.calls.get()));
        norm
    }
}

fn cached(x: &[f64]) -> f64 {
    let cached = Cached {
        x,
        norm: OnceCell::new(),
        calls: Cell::new(0),
        history: RefCell::default(),
    };
    let quotient: f64 = x.iter().map(|a| a / cached.norm()).sum();
    let history = cached.history.take();
    quotient * history.iter().sum::<f64>()
}

fn taken(x: &[f64]) -> f64 {
    let mut parts = (x.to_vec(), vec![x[0]]);
    let old = mem::take(&mut parts.0);
    parts.1.extend(old.iter().map(|a| a * 2.0));
    (parts.0, parts.1) = (parts.1, parts.0);
    let first = mem::replace(&mut parts.0[1], x[2]);
    parts.0.iter().sum::<f64>() * first + parts.1.len() as f64
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("ownership: counted", counted, x);
    check!("ownership: copied on write", copied_on_write, x);
    check!("ownership: locked", locked, x);
    check!("ownership: cached", cached, x);
    check!("ownership: taken", taken, x);
}
