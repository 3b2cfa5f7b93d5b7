// Single precision, with values that it represents.
unsafe extern "C-unwind" {
    fn __enzyme_autodiff(function: *const (), ...);
    static enzyme_dup: i32;
}

fn energy(x: &[f32]) -> f32 {
    let v: Vec<f32> = x.iter().map(|a| a * a).collect();
    let mut sum = 0.0;
    for (i, w) in v.windows(2).enumerate() {
        sum += w[0] * x[i] - w[1] * 0.5;
    }
    sum + x.iter().map(|a| f64::from(*a)).sum::<f64>() as f32
}

fn main() {
    let x = [0.5f32, 1.5, -0.25, 0.75];
    let mut dx = [0.0f32; 4];
    let (mut out, mut seed) = (0.0f32, 1.0f32);
    let thunk: fn(&[f32], &mut f32) = |x, out| *out = energy(x);
    unsafe {
        __enzyme_autodiff(
            thunk as *const (),
            &raw const enzyme_dup,
            x.as_ptr(),
            dx.as_mut_ptr(),
            x.len(),
            &raw const enzyme_dup,
            &raw mut out,
            &raw mut seed,
        );
    }
    // The derivative of x³ - x_next²/2 + x at each place but the ends.
    let slope = |i: usize| {
        let first = if i < 3 { 3.0 * x[i] * x[i] } else { 0.0 };
        let second = if i > 0 { -x[i] } else { 0.0 };
        first + second + 1.0
    };
    for i in 0..4 {
        assert!(
            (dx[i] - slope(i)).abs() < 1e-5,
            "x[{i}]: {} is not {}",
            dx[i],
            slope(i)
        );
    }
    assert_eq!(out, energy(&x));
    println!("ok singles");
}
