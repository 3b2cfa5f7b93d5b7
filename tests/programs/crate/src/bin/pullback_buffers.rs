//! Pullbacks find what their functions were given, wherever buffers have gone since.

use programs::near;
use zymase::{autodiff_forward, autodiff_reverse, derivative, hessian};

#[derivative(Duplicated, Duplicated, Active, reverse = inner_pullback)]
fn inner(out: &mut [f64], x: &[f64]) -> f64 {
    for (o, x) in out.iter_mut().zip(x) {
        *o = x * x;
    }
    x[0]
}
fn inner_pullback(dout: &mut [f64], x: &[f64], dx: &mut [f64], dret: f64) {
    for ((dout, x), dx) in dout.iter_mut().zip(x).zip(dx.iter_mut()) {
        *dx += 2.0 * x * *dout;
        *dout = 0.0;
    }
    dx[0] += dret;
}
/// A rule whose function calls one with a rule.
#[derivative(Duplicated, Duplicated, reverse = outer_pullback)]
fn outer(out: &mut [f64], x: &[f64]) {
    let mut t = vec![0.0; x.len()];
    inner(&mut t, x);
    for (o, t) in out.iter_mut().zip(&t) {
        *o = t * t;
    }
}
fn outer_pullback(dout: &mut [f64], x: &[f64], dx: &mut [f64]) {
    for ((dout, x), dx) in dout.iter_mut().zip(x).zip(dx) {
        *dx += 4.0 * x * x * x * *dout;
        *dout = 0.0;
    }
}
/// Two buffers by turns: the next iteration overwrites what this one has read.
#[autodiff_reverse(d_pingpong, Duplicated, Const, Active)]
#[autodiff_forward(f_pingpong, Dual, Const, Dual)]
fn pingpong(x: &[f64], k: usize) -> f64 {
    let mut a = x.to_vec();
    let mut b = vec![0.0; x.len()];
    let mut t = 0.0;
    for _ in 0..k {
        t += inner(&mut b, &a);
        std::mem::swap(&mut a, &mut b);
        for a in a.iter_mut() {
            *a *= 0.9;
        }
    }
    t + a.iter().map(|a| a * a).sum::<f64>()
}
/// Parts of one buffer.
#[autodiff_reverse(d_arena, Duplicated, Const, Active)]
#[autodiff_forward(f_arena, Dual, Const, Dual)]
fn arena(x: &[f64], k: usize) -> f64 {
    let n = x.len();
    let mut a = vec![0.0; n * 3];
    a[..n].copy_from_slice(x);
    let mut t = 0.0;
    for i in 0..k {
        let (lo, hi) = a.split_at_mut(n);
        if i % 2 == 0 {
            t += inner(&mut hi[..n], lo);
        } else {
            t += inner(lo, &hi[..n]);
        }
        outer(&mut hi[n..], lo);
        t += hi[n] * hi[n + 1];
        lo[0] *= 0.7;
    }
    t
}
/// What was made two iterations ago is changed now and then, and freed.
#[autodiff_reverse(d_chain, Duplicated, Const, Active)]
#[autodiff_forward(f_chain, Dual, Const, Dual)]
fn chain(x: &[f64], k: usize) -> f64 {
    let mut old = x.to_vec();
    let mut older = x.iter().map(|x| x * 1.1).collect::<Vec<_>>();
    let mut t = 0.0;
    for i in 0..k {
        let mut new = vec![0.0; x.len()];
        t += inner(&mut new, &older);
        outer(&mut new, &old);
        if i % 2 == 1 {
            older[0] *= new[0];
        }
        t += inner(&mut new, &older);
        older = old;
        old = new;
    }
    t + old[0] * older[1]
}
/// What is read is chosen, and overwritten in some iterations.
#[autodiff_reverse(d_chosen, Duplicated, Const, Active)]
#[autodiff_forward(f_chosen, Dual, Const, Dual)]
fn chosen(x: &[f64], k: usize) -> f64 {
    let mut a = x.to_vec();
    let mut b = x.iter().map(|x| x.sin()).collect::<Vec<_>>();
    let mut out = vec![0.0; x.len()];
    let mut t = 0.0;
    for i in 0..k {
        let from = if i % 3 == 0 { &a } else { &b };
        t += inner(&mut out, from);
        if i % 2 == 0 {
            b.copy_from_slice(&out);
        } else {
            a.copy_from_slice(&out);
        }
        out[1] *= 0.5;
    }
    t + out[0] * out[1]
}
#[derive(Clone, Copy, zymase::Differentiable)]
struct Point {
    x: f64,
    y: f64,
}
#[derivative(Duplicated, Active, reverse = length_pullback)]
fn length(p: &Point) -> f64 {
    p.x * p.x * p.y
}
fn length_pullback(p: &Point, dp: &mut Point, dret: f64) {
    dp.x += 2.0 * p.x * p.y * dret;
    dp.y += p.x * p.x * dret;
}
/// A structure that changes.
#[autodiff_reverse(d_moving, Duplicated, Const, Active)]
#[autodiff_forward(f_moving, Dual, Const, Dual)]
fn moving(x: &[f64], k: usize) -> f64 {
    let mut p = Point { x: x[0], y: x[1] };
    let mut t = 0.0;
    for _ in 0..k {
        t += length(&p);
        p = Point { x: p.y * t, y: p.x };
    }
    t
}
fn check(
    name: &str,
    length: usize,
    f: impl Fn(&[f64]) -> f64,
    reverse: impl Fn(&[f64], &mut [f64]),
    forward: impl Fn(&[f64], &[f64]) -> f64,
) {
    let x: Vec<f64> = (0..length).map(|i| 0.7 + 0.13 * i as f64).collect();
    let mut dx = vec![0.0; length];
    reverse(&x, &mut dx);
    for i in 0..length {
        let moved = |by: f64| {
            let mut x = x.clone();
            x[i] += by;
            f(&x)
        };
        let want = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        let mut direction = vec![0.0; length];
        direction[i] = 1.0;
        for got in [dx[i], forward(&x, &direction)] {
            let close = (got - want).abs() < 1e-6 * want.abs().max(1.0);
            assert!(close, "{name}[{i}]: got {got}, expected {want}");
        }
    }
}

macro_rules! check {
    ($f:ident, $reverse:ident, $forward:ident, $length:expr, $times:expr) => {
        check(
            stringify!($f),
            $length,
            |x| $f(x, $times),
            |x, dx| {
                $reverse(x, dx, $times, 1.0);
            },
            |x, dx| $forward(x, dx, $times).1,
        )
    };
}

/// A rule whose function calls one with a rule, differentiated twice.
fn of_second_order() {
    let f = |x: &[f64; 2]| {
        let mut out = [0.0; 2];
        outer(&mut out, x);
        out[0] * x[1] + out[1] * out[0]
    };
    let (a, b) = (0.8f64, 1.3f64);
    let second = hessian(f, &[a, b]);
    near(second[0][0], 12.0 * a * a * (b + b.powi(4)), 1e-9);
    near(
        second[0][1],
        4.0 * a.powi(3) * (1.0 + 4.0 * b.powi(3)),
        1e-9,
    );
    near(second[1][1], 12.0 * a.powi(4) * b * b, 1e-9);
}

fn main() {
    check!(pingpong, d_pingpong, f_pingpong, 3, 4);
    check!(arena, d_arena, f_arena, 3, 4);
    check!(chain, d_chain, f_chain, 3, 5);
    check!(chain, d_chain, f_chain, 3, 0);
    check!(chosen, d_chosen, f_chosen, 3, 7);
    check!(moving, d_moving, f_moving, 2, 3);
    of_second_order();
    println!("ok pullback_buffers");
}
