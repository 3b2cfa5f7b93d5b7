// What only one thread sees.
include!("check.rs");

use std::cell::RefCell;

thread_local! {
    static LOG: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn logged(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, a) in x.iter().enumerate() {
        if *a > 0.0 {
            LOG.with_borrow_mut(|log| log.push(i));
        }
        sum += a * a * a;
    }
    sum
}

fn main() {
    check!("threads: logged", logged, [0.5, 1.5, -0.3]);
    assert!(LOG.with_borrow(|log| log.len()) > 2);
}
