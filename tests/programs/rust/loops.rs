// Loops that end by what they compute.
include!("check.rs");

fn fixed_point(x: &[f64]) -> f64 {
    let mut t = 1.0;
    loop {
        let next: f64 = (x[0] * t).cos() + 0.1 * x[1];
        if (next - t).abs() < 1e-12 {
            break next * x[4];
        }
        t = next;
    }
}

fn labelled(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    'rows: for (i, a) in x.iter().enumerate() {
        for b in &x[..i] {
            if a * b < -0.4 {
                continue 'rows;
            }
            if sum > 4.0 {
                break 'rows;
            }
            sum += a * b;
        }
        sum += a * a;
    }
    sum
}

fn integral(x: &[f64]) -> f64 {
    let f = |t: f64| x.iter().rev().fold(0.0, |sum, c| sum * t + c).sin();
    let (mut t, mut sum, h) = (0.0, 0.0, 0.05);
    while t < 1.0 {
        sum += h / 6.0 * (f(t) + 4.0 * f(t + h / 2.0) + f(t + h));
        t += h;
    }
    sum
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("loops: fixed point", fixed_point, x);
    check!("loops: labelled", labelled, x);
    check!("loops: integral", integral, x);
}
