// Vectors of options, tuples, arrays, boxes and structures that own vectors.
include!("check.rs");

fn options(x: &[f64]) -> f64 {
    let mut v: Vec<Option<f64>> = x.iter().map(|a| (*a > 0.0).then_some(a * a)).collect();
    v[0] = v[1].map(|a| a * x[0]);
    let taken = v[3].take();
    let replaced = v[4].replace(x[2]);
    v.iter().flatten().sum::<f64>() * taken.unwrap_or(1.0) + replaced.map_or(0.0, f64::sqrt)
}

fn tuples(x: &[f64]) -> f64 {
    let mut v: Vec<(f64, usize)> = x.iter().copied().zip(0..).collect();
    for i in (1..v.len()).rev() {
        let largest = (0..=i).max_by(|&a, &b| v[a].0.total_cmp(&v[b].0)).unwrap();
        v.swap(largest, i);
    }
    v.iter()
        .enumerate()
        .map(|(rank, (a, i))| a * a * (rank * 3 + i) as f64)
        .sum()
}

fn arrays(x: &[f64]) -> f64 {
    let mut v: Vec<[f64; 3]> = x.windows(3).map(|w| [w[0], w[1], w[2]]).collect();
    v.push([x[0]; 3]);
    for point in &mut v {
        point[1] *= point[0];
        point.rotate_left(1);
    }
    v.iter().map(|[a, b, c]| a * b - c).product()
}

fn boxes(x: &[f64]) -> f64 {
    let mut v: Vec<Box<f64>> = x.iter().map(|a| Box::new(a.sin())).collect();
    v.swap(0, 4);
    *v[1] *= 2.0;
    let last = v.pop().unwrap();
    v.into_iter().map(|a| *a * *last).sum()
}

#[derive(Clone, Default)]
struct Series {
    name: String,
    values: Vec<f64>,
    total: f64,
}

fn owners(x: &[f64]) -> f64 {
    let mut all: Vec<Series> = x
        .chunks(2)
        .enumerate()
        .map(|(i, chunk)| Series {
            name: format!("series {i}"),
            values: chunk.to_vec(),
            ..Series::default()
        })
        .collect();
    for series in &mut all {
        series.total = series.values.iter().map(|a| a * a).sum();
    }
    let copies = all.clone();
    all.retain(|series| series.name != "series 1");
    let first: f64 = copies.iter().map(|series| series.total).product();
    first + all.iter().map(|series| series.values[0]).sum::<f64>()
}

// Which of two vectors grows is decided by a number.
fn sides(x: &[f64]) -> f64 {
    let mut sides: [Vec<f64>; 2] = Default::default();
    for a in x {
        sides[usize::from(*a < 0.7)].push(a * 1.1);
    }
    sides[0].iter().sum::<f64>() * sides[1].iter().product::<f64>()
}

// How much a vector of another function has room for is known to nobody here.
#[inline(never)]
fn repeated(x: &[f64]) -> Vec<f64> {
    (0..64)
        .map(|i| x[i % x.len()] * (1.0 + i as f64 * 0.01))
        .collect()
}

fn returned(x: &[f64]) -> f64 {
    let (a, mut b) = (repeated(x), vec![1.0; 64]);
    for (b, a) in b.iter_mut().zip(&a) {
        *b += 0.5 * a * a;
    }
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("vectors of options", options, x);
    check!("vectors of tuples", tuples, x);
    check!("vectors of arrays", arrays, x);
    check!("vectors of boxes", boxes, x);
    check!("vectors of owners", owners, x);
    check!("vectors of an array", sides, x);
    check!("vectors of other functions", returned, x);
}
