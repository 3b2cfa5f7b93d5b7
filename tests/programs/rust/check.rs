// Derivatives of functions from slices of numbers to a number, compared with each other: reverse
// mode, forward mode and finite differences. Programs take this in by `include!`.

unsafe extern "C-unwind" {
    fn __enzyme_autodiff(function: *const (), ...);
    fn __enzyme_fwddiff(function: *const (), ...);
    static enzyme_dup: i32;
}

/// A function to differentiate, and where.
type Thunk = fn(&[f64], &mut f64);

/// The value and the gradient, by reverse mode.
macro_rules! gradient {
    ($f:expr, $x:expr) => {{
        let thunk: Thunk = |x, out| *out = $f(x);
        let x: &[f64] = $x;
        let (mut value, mut seed, mut gradient) = (0.0, 1.0, vec![0.0; x.len()]);
        unsafe {
            __enzyme_autodiff(
                thunk as *const (),
                &raw const enzyme_dup,
                x.as_ptr(),
                gradient.as_mut_ptr(),
                x.len(),
                &raw const enzyme_dup,
                &raw mut value,
                &raw mut seed,
            );
        }
        (value, gradient)
    }};
}

/// The derivative along a direction, by forward mode.
macro_rules! derivative {
    ($f:expr, $x:expr, $direction:expr) => {{
        let thunk: Thunk = |x, out| *out = $f(x);
        let (x, direction): (&[f64], &[f64]) = ($x, $direction);
        let (mut value, mut tangent) = (0.0, 0.0);
        unsafe {
            __enzyme_fwddiff(
                thunk as *const (),
                &raw const enzyme_dup,
                x.as_ptr(),
                direction.as_ptr(),
                x.len(),
                &raw const enzyme_dup,
                &raw mut value,
                &raw mut tangent,
            );
        }
        (value, tangent)
    }};
}

/// Compares the derivatives of a function at a point, and says what came of it.
macro_rules! check {
    ($name:expr, $f:expr, $x:expr) => {{
        let x: &[f64] = &$x;
        let (value, gradient) = gradient!($f, x);
        let basis = |i: usize| {
            (0..x.len())
                .map(|j| f64::from(i == j))
                .collect::<Vec<f64>>()
        };
        let forward: Vec<f64> = (0..x.len())
            .map(|i| derivative!($f, x, &basis(i)).1)
            .collect();
        compare($name, $f, x, value, &gradient, &forward);
    }};
}

fn compare(
    name: &str,
    f: impl Fn(&[f64]) -> f64,
    x: &[f64],
    value: f64,
    gradient: &[f64],
    forward: &[f64],
) {
    let mut good = value == f(x);
    if !good {
        println!(
            "{name}: the derivative computes the value {value}, which is {}",
            f(x)
        );
    }
    for i in 0..x.len() {
        let beside = |h: f64| {
            let mut x = x.to_vec();
            x[i] += h;
            f(&x)
        };
        let h = 1e-5;
        let slope = (beside(h) - beside(-h)) / (2.0 * h);
        let near = |a: f64, b: f64, e: f64| (a - b).abs() <= e * (1.0 + a.abs().max(b.abs()));
        if !near(gradient[i], slope, 1e-6) || !near(gradient[i], forward[i], 1e-11) {
            good = false;
            println!(
                "{name}: x[{i}]: reverse {}, forward {}, difference {slope}",
                gradient[i], forward[i]
            );
        }
    }
    match good {
        true => println!("ok {name}"),
        false => std::process::exit(1),
    }
}
