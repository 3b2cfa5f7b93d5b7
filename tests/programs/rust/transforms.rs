// The fast Fourier transform, by recursion and in place, convolutions and filters.
include!("check.rs");

use std::f64::consts::TAU;
use std::ops::{Add, Mul, Sub};

#[derive(Clone, Copy, Default)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn unit(angle: f64) -> Complex {
        let (im, re) = angle.sin_cos();
        Complex { re, im }
    }

    fn norm2(self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Complex {
        Complex { re, im: 0.0 }
    }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, o: Complex) -> Complex {
        Complex {
            re: self.re + o.re,
            im: self.im + o.im,
        }
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, o: Complex) -> Complex {
        Complex {
            re: self.re - o.re,
            im: self.im - o.im,
        }
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, o: Complex) -> Complex {
        Complex {
            re: self.re * o.re - self.im * o.im,
            im: self.re * o.im + self.im * o.re,
        }
    }
}

fn by_halves(x: &[Complex]) -> Vec<Complex> {
    if x.len() == 1 {
        return x.to_vec();
    }
    let (even, odd): (Vec<_>, Vec<_>) = x.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    let (even, odd) = (by_halves(&even), by_halves(&odd));
    let turned: Vec<Complex> = odd
        .iter()
        .enumerate()
        .map(|(k, o)| Complex::unit(-TAU * k as f64 / x.len() as f64) * *o)
        .collect();
    let sums = even.iter().zip(&turned).map(|(e, t)| *e + *t);
    let differences = even.iter().zip(&turned).map(|(e, t)| *e - *t);
    sums.chain(differences).collect()
}

fn spectrum(x: &[f64]) -> f64 {
    let signal: Vec<Complex> = x.iter().map(|a| Complex::from(*a)).collect();
    by_halves(&signal)
        .iter()
        .zip(1..)
        .map(|(c, i)| c.norm2() / f64::from(i))
        .sum()
}

fn in_place(x: &[f64]) -> f64 {
    let mut a: Vec<Complex> = x.iter().map(|&a| a.into()).collect();
    let n = a.len();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - n.trailing_zeros());
        if i < j {
            a.swap(i, j);
        }
    }
    let mut len = 2;
    while len <= n {
        let turn = Complex::unit(-TAU / len as f64);
        for block in a.chunks_exact_mut(len) {
            let (low, high) = block.split_at_mut(len / 2);
            let mut w = Complex::from(1.0);
            for (l, h) in low.iter_mut().zip(high) {
                let t = w * *h;
                (*l, *h) = (*l + t, *l - t);
                w = w * turn;
            }
        }
        len *= 2;
    }
    a.iter()
        .zip(1..)
        .map(|(c, i)| c.re * c.im + c.norm2().sqrt() * f64::from(i))
        .sum()
}

fn convolved(x: &[f64]) -> f64 {
    let kernel = &x[..3];
    let full: Vec<f64> = (0..x.len() + 2)
        .map(|n| {
            (0..3)
                .filter_map(|k| Some(kernel[k] * x.get(n.checked_sub(k)?)?))
                .sum()
        })
        .collect();
    full.iter().map(|a| a * a).sum::<f64>().sqrt()
}

fn filtered(x: &[f64]) -> f64 {
    // A filter with feedback, whose coefficients are active.
    let (b, a) = ([x[0], x[1]], [0.3 * x[2], 0.1 * x[3]]);
    let (mut input, mut output) = ([0.0; 2], [0.0; 2]);
    let mut energy = 0.0;
    for now in x.iter().cycle().take(20) {
        input = [*now, input[0]];
        let y = b[0] * input[0] + b[1] * input[1] - a[0] * output[0] - a[1] * output[1];
        output = [y, output[0]];
        energy += y * y;
    }
    energy
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 1.04, -0.7, 0.1, 0.45];
    check!("transforms: spectrum", spectrum, x);
    check!("transforms: in place", in_place, x);
    check!("transforms: convolved", convolved, x);
    check!("transforms: filtered", filtered, x);
}
