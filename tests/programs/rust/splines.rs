// Interpolation: tables, natural cubic splines, Bézier curves, Chebyshev series, barycentric
// polynomials.
include!("check.rs");

struct Table<'a> {
    places: &'a [f64],
    values: &'a [f64],
}

impl Table<'_> {
    fn at(&self, t: f64) -> f64 {
        let i = self
            .places
            .partition_point(|p| *p <= t)
            .clamp(1, self.places.len() - 1)
            - 1;
        let part = (t - self.places[i]) / (self.places[i + 1] - self.places[i]);
        self.values[i] + part * (self.values[i + 1] - self.values[i])
    }
}

fn tables(x: &[f64]) -> f64 {
    let places = [0.0, 0.5, 1.1, 1.4, 2.0];
    let table = Table {
        places: &places,
        values: x,
    };
    table.at(x[0]) * table.at(x[3]) + table.at(-1.0) + table.at(3.0)
}

/// A natural cubic spline through points at the integers.
struct Spline {
    values: Vec<f64>,
    second: Vec<f64>,
}

impl Spline {
    fn new(values: Vec<f64>) -> Spline {
        // A tridiagonal system, by elimination.
        let n = values.len();
        let (mut upper, mut second) = (vec![0.0; n], vec![0.0; n]);
        for i in 1..n - 1 {
            let pivot = 4.0 - upper[i - 1];
            let right = 6.0 * (values[i + 1] - 2.0 * values[i] + values[i - 1]);
            upper[i] = 1.0 / pivot;
            second[i] = (right - second[i - 1]) / pivot;
        }
        for i in (1..n - 1).rev() {
            second[i] -= upper[i] * second[i + 1];
        }
        Spline { values, second }
    }

    fn at(&self, t: f64) -> f64 {
        let i = (t.max(0.0) as usize).min(self.values.len() - 2);
        let (b, a) = (t - i as f64, (i + 1) as f64 - t);
        let cubic = |w: f64| (w * w * w - w) / 6.0;
        a * self.values[i]
            + b * self.values[i + 1]
            + cubic(a) * self.second[i]
            + cubic(b) * self.second[i + 1]
    }
}

fn splines(x: &[f64]) -> f64 {
    let spline = Spline::new(x.to_vec());
    (0..8)
        .map(|i| spline.at(0.3 + 0.5 * f64::from(i)).powi(2))
        .sum::<f64>()
        + spline.at(x[1])
}

fn curves(x: &[f64]) -> f64 {
    fn casteljau(points: &[(f64, f64)], t: f64) -> (f64, f64) {
        if let [point] = points {
            return *point;
        }
        let mix = |a: f64, b: f64| a + t * (b - a);
        let next: Vec<(f64, f64)> = points
            .windows(2)
            .map(|w| (mix(w[0].0, w[1].0), mix(w[0].1, w[1].1)))
            .collect();
        casteljau(&next, t)
    }
    let points: Vec<(f64, f64)> = x.iter().enumerate().map(|(i, a)| (i as f64, *a)).collect();
    let (a, b) = (casteljau(&points, 0.3), casteljau(&points, x[3]));
    (a.0 - b.0).hypot(a.1 - b.1)
}

fn chebyshev(x: &[f64]) -> f64 {
    let clenshaw = |t: f64| {
        let (b1, b2) = x[1..]
            .iter()
            .rev()
            .fold((0.0, 0.0), |(b1, b2), c| (c + 2.0 * t * b1 - b2, b1));
        x[0] + t * b1 - b2
    };
    (-4..=4).map(|i| clenshaw(f64::from(i) * 0.25).abs()).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("splines: tables", tables, x);
    check!("splines: splines", splines, x);
    check!("splines: curves", curves, x);
    check!("splines: chebyshev", chebyshev, x);
}
