// Printing of active numbers, which has no derivative.
include!("check.rs");

fn progress(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, a) in x.iter().enumerate() {
        sum += a.powi(2);
        if sum > 4.0 {
            println!("# step {i}: {sum:.3} {x:?}");
        }
    }
    eprintln!("# {sum}");
    sum
}

fn debugged(x: &[f64]) -> f64 {
    #[derive(Debug, Clone)]
    struct State {
        #[allow(dead_code)]
        place: Option<f64>,
        speeds: Vec<f64>,
    }
    let state = State {
        place: Some(x[0]),
        speeds: x.to_vec(),
    };
    println!("# {state:?}");
    state.speeds.iter().map(|a| a.sin()).product()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("printing: progress", progress, x);
    check!("printing: debugged", debugged, x);
}
