// Structures, tuples, operators and methods.
include!("check.rs");

use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub};

#[derive(Clone, Copy, Default)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, o: Vec3) -> Vec3 {
        Vec3 {
            x: self.x + o.x,
            y: self.y + o.y,
            z: self.z + o.z,
        }
    }
}

impl Sub for Vec3 {
    type Output = Vec3;
    fn sub(self, o: Vec3) -> Vec3 {
        self + -o
    }
}

impl Neg for Vec3 {
    type Output = Vec3;
    fn neg(self) -> Vec3 {
        self * -1.0
    }
}

impl Mul<f64> for Vec3 {
    type Output = Vec3;
    fn mul(self, s: f64) -> Vec3 {
        Vec3 {
            x: self.x * s,
            y: self.y * s,
            z: self.z * s,
        }
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, o: Vec3) {
        *self = *self + o;
    }
}

impl Vec3 {
    fn norm(self) -> f64 {
        (self.x * self.x + self.y * self.y + self.z * self.z).sqrt()
    }
}

fn orbit(x: &[f64]) -> f64 {
    let mut place = Vec3 {
        x: x[0],
        y: x[1],
        z: x[2],
    };
    let mut speed = Vec3 {
        x: x[3],
        y: x[4],
        ..Vec3::default()
    };
    for _ in 0..10 {
        let r = place.norm();
        speed += -place * (0.1 / (r * r * r));
        place += speed * 0.1;
    }
    (place - speed).norm()
}

struct Grid {
    width: usize,
    cells: Vec<f64>,
}

impl Index<(usize, usize)> for Grid {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.cells[i * self.width + j]
    }
}

impl IndexMut<(usize, usize)> for Grid {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.cells[i * self.width + j]
    }
}

fn heat(x: &[f64]) -> f64 {
    let mut grid = Grid {
        width: 4,
        cells: vec![0.0; 16],
    };
    for (i, a) in x.iter().enumerate() {
        grid[(i % 4, (3 * i) % 4)] = *a;
    }
    for _ in 0..5 {
        let old = Grid {
            width: 4,
            cells: grid.cells.clone(),
        };
        for i in 1..3 {
            for j in 1..3 {
                let around = old[(i - 1, j)] + old[(i + 1, j)] + old[(i, j - 1)] + old[(i, j + 1)];
                grid[(i, j)] += 0.1 * (around - 4.0 * old[(i, j)]);
            }
        }
    }
    grid.cells.iter().map(|a| a * a).sum()
}

fn tuples(x: &[f64]) -> f64 {
    let pairs: Vec<(f64, f64)> = x.iter().map(|a| a.sin_cos()).collect();
    let (s, c) = pairs
        .iter()
        .fold((0.0, 1.0), |(s, c), &(a, b)| (s * b + c * a, c * b - s * a));
    s * 2.0 + c
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("structures: orbit", orbit, x);
    check!("structures: heat", heat, x);
    check!("structures: tuples", tuples, x);
}
