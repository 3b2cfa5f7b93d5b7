//! Shadows that are too short: a panic that names both lengths, before anything is written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use zymase::{autodiff_forward, autodiff_reverse};

#[autodiff_reverse(d_sum, Duplicated, Duplicated, Active)]
#[autodiff_forward(f_sum, 2, Dualv, Const, DualOnly)]
fn sum(x: &[f64], y: &[Vec<f64>]) -> f64 {
    x.iter().sum::<f64>() + y.iter().map(|y| y.iter().sum::<f64>()).sum::<f64>()
}

#[track_caller]
fn panics(expected: &str, run: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), expected);
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let (x, y) = ([1.0, 2.0], vec![vec![1.0], vec![2.0, 3.0]]);
    let (mut dx, mut dy) = ([7.0; 2], vec![vec![7.0], vec![7.0]]);
    panics(
        "the shadow of `x` has length 1, but `x` has length 2",
        || {
            d_sum(&x, &mut dx[..1], &y, &mut y.clone(), 1.0);
        },
    );
    panics(
        "the shadow of `y` does not have its shape: its length is 1, that of the value is 2",
        || {
            d_sum(&x, &mut dx, &y, &mut dy, 1.0);
        },
    );
    assert_eq!((dx, &dy), ([7.0; 2], &vec![vec![7.0], vec![7.0]]));
    panics(
        "the shadow of `x` has length 3, but 2 derivatives of `x`, which has length 2, need 4",
        || {
            f_sum(&x, &[0.0; 3], &y);
        },
    );
    panics(
        "the shadow of the input does not have its shape: its length is 1, that of the value is 2",
        || {
            zymase::jvp(|x: &[f64]| x.iter().sum::<f64>(), &x[..], &[1.0][..]);
        },
    );
    // A longer shadow is fine.
    let mut dx = [0.0; 4];
    d_sum(&x, &mut dx, &y, &mut zymase::zeros_like(&y), 1.0);
    assert_eq!(dx, [1.0, 1.0, 0.0, 0.0]);
    println!("ok lengths");
}
