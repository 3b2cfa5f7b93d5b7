// Methods of floats that other programs do not use: conversions, exact operations, comparisons.
include!("check.rs");

fn angles(x: &[f64]) -> f64 {
    let [a, b] = [x[0], x[1]];
    a.to_degrees().to_radians() * b.sin_cos().1
        + a.sinh() * b.cosh()
        + (a * b).tan()
        + a.atan().recip()
}

fn powers(x: &[f64]) -> f64 {
    let [a, b] = [x[0], x[1]];
    a.exp2() * b.log2()
        + b.log10()
        + b.log(a + 3.0)
        + a.powi(-3)
        + (-b).powi(5)
        + b.powf(2.0 * a)
        + a.powf(-0.5)
}

fn rounding(x: &[f64]) -> f64 {
    x.iter()
        .map(|a| {
            let b = a * 3.3;
            b.ceil() * a + b.trunc() + b.fract() * a + b.round_ties_even() + b.div_euclid(0.7) * a
        })
        .sum()
}

fn signs(x: &[f64]) -> f64 {
    x.iter()
        .map(|&a| {
            let positive = if a.is_sign_negative() { -a } else { a };
            positive.copysign(-a) * 2.0 + a.abs().max(0.5).min(1.9) + a.signum() * a * a
        })
        .sum()
}

fn specials(x: &[f64]) -> f64 {
    let [a, b] = [x[0], x[1]];
    let safe = if (a / 0.0).is_infinite() { a } else { b };
    let midpoint = a.midpoint(b) * f64::consts();
    let ordered = match a.total_cmp(&b) {
        std::cmp::Ordering::Less => a - b,
        _ => b,
    };
    safe * midpoint + ordered + b.mul_add(a, -a) + (a * 1e-3).exp_m1() + f64::EPSILON * a
}

trait Constants {
    fn consts() -> f64;
}

impl Constants for f64 {
    fn consts() -> f64 {
        std::f64::consts::PI / std::f64::consts::SQRT_2 + f64::MIN_POSITIVE
    }
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("float methods: angles", angles, x);
    check!("float methods: powers", powers, x);
    check!("float methods: rounding", rounding, x);
    check!("float methods: signs", signs, x);
    check!("float methods: specials", specials, x);
}
