// Recursion.
include!("check.rs");

fn halves(x: &[f64]) -> f64 {
    if x.len() <= 1 {
        return x.first().map_or(0.0, |a| a.exp());
    }
    let (a, b) = x.split_at(x.len() / 2);
    halves(a) * halves(b) + halves(a)
}

fn even(x: &[f64]) -> f64 {
    fn odd(x: &[f64]) -> f64 {
        match x {
            [] => 1.0,
            [a, rest @ ..] => a.sin() + even(rest) * a,
        }
    }
    match x {
        [] => 1.0,
        [a, rest @ ..] => a * a * odd(rest),
    }
}

fn quicksort(x: &[f64]) -> f64 {
    fn sorted(x: &[f64]) -> Vec<f64> {
        let [pivot, rest @ ..] = x else {
            return Vec::new();
        };
        let less: Vec<f64> = rest.iter().copied().filter(|a| a < pivot).collect();
        let more: Vec<f64> = rest.iter().copied().filter(|a| a >= pivot).collect();
        let mut all = sorted(&less);
        all.push(*pivot);
        all.extend(sorted(&more));
        all
    }
    sorted(x)
        .iter()
        .enumerate()
        .map(|(i, a)| i as f64 * a * a)
        .sum()
}

fn determinant(x: &[f64]) -> f64 {
    fn det(m: &[Vec<f64>]) -> f64 {
        if m.len() == 1 {
            return m[0][0];
        }
        let minor = |j: usize| -> Vec<Vec<f64>> {
            m[1..]
                .iter()
                .map(|row| [&row[..j], &row[j + 1..]].concat())
                .collect()
        };
        (0..m.len())
            .map(|j| (1.0 - 2.0 * (j % 2) as f64) * m[0][j] * det(&minor(j)))
            .sum()
    }
    let m: Vec<Vec<f64>> = (0..3)
        .map(|i| {
            (0..3)
                .map(|j| x[(i * j + i) % x.len()] + (i == j) as u8 as f64)
                .collect()
        })
        .collect();
    det(&m)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("recursion: halves", halves, x);
    check!("recursion: even and odd", even, x);
    check!("recursion: quicksort", quicksort, x);
    check!("recursion: determinant", determinant, x);
}
