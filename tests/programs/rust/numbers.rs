// Float functions and casts.
include!("check.rs");

fn functions(x: &[f64]) -> f64 {
    let (a, b, c) = (x[0], x[1], x[4]);
    a.powf(b) + b.powi(3) + c.sqrt() * c.cbrt() + a.mul_add(b, c) + a.hypot(b) + b.atan2(c)
}

fn more(x: &[f64]) -> f64 {
    let (a, b) = (x[0], x[1]);
    let rounded = (b * 3.3).floor() + (a * 2.2).round() + b.fract() + b.trunc();
    rounded
        + a.ln_1p() * b.exp_m1()
        + a.asinh()
        + (a / 2.0).atanh()
        + b.acosh()
        + a.asin() * a.acos()
}

fn clamps(x: &[f64]) -> f64 {
    x.iter()
        .map(|a| a.clamp(0.0, 1.0) * a.abs() + a.signum() * a.max(0.7) - a.min(0.1).copysign(*a))
        .sum()
}

fn casts(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for a in x {
        let n = (a * 10.0) as i32;
        let m = (a * 3.0) as u8 as usize;
        sum += a * f64::from(n) + a * a * m as f64 + (*a as i64 as f64);
    }
    sum
}

fn remainders(x: &[f64]) -> f64 {
    x.iter()
        .map(|a| (a * 5.0) % 1.72 + (a * 4.0).rem_euclid(1.3))
        .sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("numbers: functions", functions, x);
    check!("numbers: more functions", more, x);
    check!("numbers: clamps", clamps, x);
    check!("numbers: casts", casts, x);
    check!("numbers: remainders", remainders, x);
}
