// Shared memory: Rc, RefCell and Cell.
include!("check.rs");

use std::cell::{Cell, RefCell};
use std::rc::Rc;

fn counted(x: &[f64]) -> f64 {
    let v = Rc::new(x.to_vec());
    let w = Rc::clone(&v);
    v.iter().zip(w.iter().rev()).map(|(a, b)| a * b * b).sum()
}

fn cells(x: &[f64]) -> f64 {
    let sum = Cell::new(0.0);
    x.iter().for_each(|a| sum.set(sum.get() * a + a));
    sum.get()
}

fn borrowed(x: &[f64]) -> f64 {
    let v = Rc::new(RefCell::new(Vec::new()));
    for a in x {
        v.borrow_mut().push(a * a);
    }
    let w = Rc::clone(&v);
    w.borrow_mut()[0] *= x[1];
    let sum = v.borrow().iter().sum::<f64>();
    sum * v.borrow()[0]
}

struct Point {
    value: RefCell<f64>,
    parents: Vec<Rc<Point>>,
}

fn graph(x: &[f64]) -> f64 {
    let mut points: Vec<Rc<Point>> = Vec::new();
    for (i, a) in x.iter().enumerate() {
        let parents = points.iter().skip(i / 2).cloned().collect();
        points.push(Rc::new(Point {
            value: RefCell::new(*a),
            parents,
        }));
    }
    for point in &points {
        let above: f64 = point.parents.iter().map(|p| *p.value.borrow()).sum();
        *point.value.borrow_mut() *= 1.0 + above;
    }
    let last = points.last().unwrap();
    let value = *last.value.borrow();
    value
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("shared: counted", counted, x);
    check!("shared: cells", cells, x);
    check!("shared: borrowed", borrowed, x);
    check!("shared: graph", graph, x);
}
