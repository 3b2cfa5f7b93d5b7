// Queues.
include!("check.rs");

use std::collections::VecDeque;

fn delayed(x: &[f64]) -> f64 {
    let mut queue: VecDeque<f64> = x.iter().copied().collect();
    let mut sum = 0.0;
    for _ in 0..7 {
        let a = queue.pop_front().unwrap();
        sum += a * a;
        queue.push_back((a + sum).sin());
        queue.push_front(a * 0.5);
        sum += queue.pop_front().unwrap_or(0.0);
    }
    sum + queue.iter().sum::<f64>()
}

fn moving_average(x: &[f64]) -> f64 {
    let mut window = VecDeque::with_capacity(2);
    let mut sum = 0.0;
    for a in x {
        if window.len() == 2 {
            window.pop_front();
        }
        window.push_back(*a);
        let mean = window.iter().sum::<f64>() / window.len() as f64;
        sum += mean * mean;
    }
    sum
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("deques: delayed", delayed, x);
    check!("deques: moving average", moving_average, x);
}
