//! Functions that no derivative flows through.

use programs::near;
use zymase::{autodiff_forward, autodiff_reverse, inactive};

/// Without the mark, its derivative would be that of a square.
#[inactive]
fn frozen(x: f64) -> f64 {
    if x < 0.0 {
        return -x;
    }
    x * x
}

struct Scale {
    factor: f64,
}

impl Scale {
    #[inactive]
    fn of(&self, x: &[f64]) -> f64 {
        self.factor * x.iter().map(|x| x.abs()).sum::<f64>()
    }
}

#[inactive]
fn fill<T: Copy>(into: &mut [T], value: T) {
    into.iter_mut().for_each(|slot| *slot = value);
}

#[autodiff_reverse(d_cost, Duplicated, Const, Active)]
#[autodiff_forward(f_cost, Dual, Const, Dual)]
fn cost(x: &[f64], scale: &Scale) -> f64 {
    let mut filled = [0.0; 2];
    fill(&mut filled, scale.factor);
    let sum: f64 = x.iter().map(|&x| x * frozen(x)).sum();
    sum / scale.of(x) + filled.iter().sum::<f64>()
}

fn main() {
    let (x, scale) = ([1.0, 2.0, -3.0], Scale { factor: 2.0 });
    let mut dx = [0.0; 3];
    let value = d_cost(&x, &mut dx, &scale, 1.0);
    // 1·1 + 2·4 - 3·3 over 2·6, and 2 + 2.
    near(value, 4.0, 1e-15);
    near(cost(&x, &scale), 4.0, 1e-15);
    programs::equal(&dx, &[1.0 / 12.0, 4.0 / 12.0, 3.0 / 12.0]);
    let (_, tangent) = f_cost(&x, &[1.0, 1.0, 1.0], &scale);
    near(tangent, 8.0 / 12.0, 1e-12);
    println!("ok marked");
}
