// A logistic regression, fitted by gradient descent and a limited memory of steps.
include!("check.rs");

fn data() -> Vec<([f64; 2], f64)> {
    (0..40)
        .map(|i| {
            let t = f64::from(i);
            let place = [(t * 0.7).sin() * 2.0, (t * 1.3).cos() * 2.0];
            (place, f64::from(place[0] + 0.5 * place[1] + 0.3 > 0.0))
        })
        .collect()
}

fn loss(x: &[f64]) -> f64 {
    let data = data();
    let each = data.iter().map(|(place, label)| {
        let z = x[0] * place[0] + x[1] * place[1] + x[2];
        let p = 1.0 / (1.0 + (-z).exp());
        -(label * p.ln() + (1.0 - label) * (1.0 - p).ln())
    });
    each.sum::<f64>() / data.len() as f64 + 0.01 * (x[0] * x[0] + x[1] * x[1])
}

fn main() {
    check!("regression", loss, [0.1, -0.2, 0.3]);
    let mut x: Vec<f64> = vec![0.0; 3];
    let before = loss(&x);
    for _ in 0..200 {
        let (_, gradient) = gradient!(loss, &x);
        x.iter_mut().zip(&gradient).for_each(|(a, g)| *a -= 0.5 * g);
    }
    let (after, gradient) = gradient!(loss, &x);
    assert!(after < before / 2.0, "{after} {before}");
    assert!(
        gradient.iter().all(|g: &f64| g.abs() < 1e-2),
        "{gradient:?}"
    );
}
