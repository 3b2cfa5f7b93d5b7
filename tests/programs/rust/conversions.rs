// Conversions between number types: casts, From, TryFrom, bytes, and single precision on the way.
include!("check.rs");

fn integers(x: &[f64]) -> f64 {
    x.iter()
        .map(|&a| {
            let saturated = (a * 1e12) as i32 as f64 / 1e9;
            let small = u8::try_from((a * 10.3) as i64).map_or(a, f64::from);
            let wrapped = (a * 137.3) as i64 as u8 as i8 as f64;
            a * a + saturated.signum() * a + small * 0.1 * a + wrapped * 1e-3 * a
        })
        .sum()
}

fn indices(x: &[f64]) -> f64 {
    // Linear interpolation at places that are computed.
    let at = |t: f64| {
        let t = t.clamp(0.0, (x.len() - 1) as f64);
        let i = (t as usize).min(x.len() - 2);
        let part = t - i as f64;
        x[i] * (1.0 - part) + x[i + 1] * part
    };
    (0..10)
        .map(|i| at(f64::from(i) * 0.43) * at(x[0] + x[3]))
        .sum()
}

fn exact(x: &[f64]) -> f64 {
    // Singles of numbers that are halves: the differences of doubles see no steps.
    let counts: Vec<f32> = (0..5).map(|i| i as f32 * 0.5).collect();
    let sum: f64 = x.iter().zip(&counts).map(|(a, c)| a * f64::from(*c)).sum();
    sum * f64::from(counts.iter().sum::<f32>())
        + x[0] * f64::from(true)
        + x[1] * f64::from('a' as u32)
}

fn parsed(x: &[f64]) -> f64 {
    let words: Result<Vec<f64>, _> = "0.5 1e-1 -2"
        .split_whitespace()
        .map(str::parse::<f64>)
        .collect();
    let bytes = 0.75f64.to_le_bytes();
    let back = f64::from_le_bytes(bytes);
    let fixed: [f64; 3] = x[..3].try_into().unwrap();
    let weights = words.unwrap();
    fixed
        .iter()
        .zip(&weights)
        .map(|(a, w)| a * a * w)
        .sum::<f64>()
        * back
        * x[4]
}

fn main() {
    let x = [0.52, 1.57, 0.33, 0.81, 2.04];
    check!("conversions: integers", integers, x);
    check!("conversions: indices", indices, x);
    check!("conversions: exact", exact, x);
    check!("conversions: parsed", parsed, x);
}
