// Boxed functions, function pointers and tables of both.
include!("check.rs");

fn boxed(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let functions: Vec<Box<dyn Fn(f64) -> f64>> = vec![
        Box::new(|a| a.sin()),
        Box::new(|a| a * a),
        Box::new(move |a| a * n),
    ];
    x.iter()
        .enumerate()
        .map(|(i, a)| functions[i % 3](*a))
        .sum()
}

fn captured(x: &[f64]) -> f64 {
    let mut functions: Vec<Box<dyn Fn(f64) -> f64>> = Vec::new();
    for &a in x {
        functions.push(Box::new(move |t| t * a + 0.1));
    }
    let v = x.to_vec();
    functions.push(Box::new(move |t| v.iter().sum::<f64>() * t));
    functions.iter().fold(1.0, |t, f| f(t))
}

fn once(x: &[f64]) -> f64 {
    let v = x.to_vec();
    let run: Box<dyn FnOnce() -> Vec<f64>> =
        Box::new(move || v.into_iter().map(|a| a * a).collect());
    let mut sum = 0.0;
    let mut add: Box<dyn FnMut(f64)> = Box::new(|a| sum += a * x[0]);
    run().into_iter().for_each(|a| add(a));
    drop(add);
    sum
}

fn pointers(x: &[f64]) -> f64 {
    fn square(a: f64) -> f64 {
        a * a
    }
    fn cube(a: f64) -> f64 {
        a * a * a
    }
    let table: [fn(f64) -> f64; 4] = [square, cube, f64::sin, f64::exp];
    x.iter()
        .enumerate()
        .map(|(i, a)| table[i % 4](*a))
        .product()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("dyn functions: boxed", boxed, x);
    check!("dyn functions: captured", captured, x);
    check!("dyn functions: once", once, x);
    check!("dyn functions: pointers", pointers, x);
}
