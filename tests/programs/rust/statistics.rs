// Statistics: moments, soft k-means, a hidden Markov model, a Kalman filter, kernel densities.
include!("check.rs");

fn moments(x: &[f64]) -> f64 {
    struct Moments {
        count: f64,
        mean: f64,
        squares: f64,
    }
    impl Extend<f64> for Moments {
        fn extend<I: IntoIterator<Item = f64>>(&mut self, all: I) {
            for a in all {
                self.count += 1.0;
                let off = a - self.mean;
                self.mean += off / self.count;
                self.squares += off * (a - self.mean);
            }
        }
    }
    let mut moments = Moments {
        count: 0.0,
        mean: 0.0,
        squares: 0.0,
    };
    moments.extend(x.iter().copied());
    moments.extend(x.iter().map(|a| a * a));
    moments.mean / (moments.squares / moments.count).sqrt()
}

fn clusters(x: &[f64]) -> f64 {
    let points: Vec<[f64; 2]> = x.windows(2).map(|w| [w[0], w[1]]).collect();
    let mut centers = vec![points[0], [x[4], 0.5]];
    let distance =
        |a: &[f64; 2], b: &[f64; 2]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    for _ in 0..5 {
        let mut sums = vec![([0.0; 2], 0.0); centers.len()];
        for point in &points {
            let weights: Vec<f64> = centers
                .iter()
                .map(|c| (-distance(point, c)).exp())
                .collect();
            let total: f64 = weights.iter().sum();
            for ((sum, weight), w) in sums.iter_mut().zip(&weights) {
                *weight += w / total;
                for k in 0..2 {
                    sum[k] += w / total * point[k];
                }
            }
        }
        centers = sums
            .iter()
            .map(|(sum, weight)| sum.map(|a| a / weight))
            .collect();
    }
    distance(&centers[0], &centers[1])
}

fn nearest(x: &[f64]) -> f64 {
    // Hard assignments: which center is nearest has no derivative.
    let mut centers = [x[0], x[4]];
    for _ in 0..3 {
        let mut members: [Vec<f64>; 2] = Default::default();
        for &a in x {
            let near = usize::from((a - centers[1]).abs() < (a - centers[0]).abs());
            members[near].push(a * 1.1);
        }
        for (center, members) in centers.iter_mut().zip(&members) {
            if !members.is_empty() {
                *center = members.iter().sum::<f64>() / members.len() as f64;
            }
        }
    }
    centers[0] * centers[1]
}

fn hidden(x: &[f64]) -> f64 {
    // The likelihood of observations, by the forward algorithm with scaling.
    let softmax = |a: [f64; 2]| {
        let e = a.map(f64::exp);
        e.map(|v| v / e.iter().sum::<f64>())
    };
    let transition = [softmax([x[0], 0.0]), softmax([0.0, x[1]])];
    let emission = [softmax([x[2], x[3]]), softmax([x[4], 0.0])];
    let mut state = [0.5, 0.5];
    let mut likelihood = 0.0;
    for observed in [0, 1, 1, 0, 1] {
        let next: [f64; 2] = std::array::from_fn(|j| {
            let arrived: f64 = (0..2).map(|i| state[i] * transition[i][j]).sum();
            arrived * emission[j][observed]
        });
        let sum: f64 = next.iter().sum();
        likelihood += sum.ln();
        state = next.map(|a| a / sum);
    }
    likelihood
}

fn kalman(x: &[f64]) -> f64 {
    let (noise, drift) = (x[0], x[1]);
    let (mut mean, mut covariance) = ([0.0, x[2]], [[1.0, 0.0], [0.0, 1.0]]);
    let mut surprise = 0.0;
    for (t, seen) in x.iter().cycle().take(8).enumerate() {
        mean = [mean[0] + 0.1 * mean[1], mean[1] * (1.0 - 0.1 * drift)];
        covariance[0][0] += 0.1 * (covariance[0][1] + covariance[1][0]) + 0.01;
        covariance[0][1] += 0.1 * covariance[1][1];
        covariance[1][0] = covariance[0][1];
        covariance[1][1] += 0.02;
        let innovation = seen * (t as f64 * 0.3).cos() - mean[0];
        let spread = covariance[0][0] + noise * noise;
        let gain = [covariance[0][0] / spread, covariance[1][0] / spread];
        surprise += innovation * innovation / spread + spread.ln();
        let first = covariance[0];
        for i in 0..2 {
            mean[i] += gain[i] * innovation;
            for j in 0..2 {
                covariance[i][j] -= gain[i] * first[j];
            }
        }
    }
    surprise
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("statistics: moments", moments, x);
    check!("statistics: clusters", clusters, x);
    check!("statistics: nearest", nearest, x);
    check!("statistics: hidden", hidden, x);
    check!("statistics: kalman", kalman, x);
}
