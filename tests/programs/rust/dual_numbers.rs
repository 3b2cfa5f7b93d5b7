// Generic numbers: a dual number as the scalar of a generic function, differentiated once more.
include!("check.rs");

use std::ops::{Add, Mul};

#[derive(Clone, Copy)]
struct Dual {
    value: f64,
    slope: f64,
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, o: Dual) -> Dual {
        Dual {
            value: self.value + o.value,
            slope: self.slope + o.slope,
        }
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, o: Dual) -> Dual {
        Dual {
            value: self.value * o.value,
            slope: self.value * o.slope + self.slope * o.value,
        }
    }
}

fn polynomial<T: Copy + Add<Output = T> + Mul<Output = T>>(c: &[T], t: T) -> T {
    c[1..]
        .iter()
        .rev()
        .fold(c[c.len() - 1], |sum, c| sum * t + *c)
        * t
        + c[0]
}

fn slope(x: &[f64]) -> f64 {
    let c: Vec<Dual> = x
        .iter()
        .map(|a| Dual {
            value: *a,
            slope: 0.0,
        })
        .collect();
    let result = polynomial(
        &c,
        Dual {
            value: x[0],
            slope: 1.0,
        },
    );
    result.slope * result.value
}

fn main() {
    check!("dual numbers", slope, [0.52, 1.57, -0.33, 0.81, 2.04]);
}
