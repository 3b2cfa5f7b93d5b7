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

/// What is formatted may have an implementation of its own, called directly or by the library.
struct Measured(Vec<f64>);

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        for (i, a) in self.0.iter().enumerate() {
            if i > 0 {
                text.push(' ');
            }
            text += &a.to_string();
        }
        let list: Vec<String> = self.0.iter().map(|a| format!("{a:.1}")).collect();
        f.pad(&text)?;
        write!(f, " [{}]", list.join(", "))
    }
}

fn implemented(x: &[f64]) -> f64 {
    let measured = Measured(x.to_vec());
    println!("# {measured} {measured:>3}");
    let lines = measured.to_string().lines().count();
    lines as f64 * measured.0.iter().map(|a| a.powi(3)).sum::<f64>()
}

/// Formatting changes where the next number is taken from.
fn counted(x: &[f64]) -> f64 {
    use std::cell::Cell;
    struct Next<'a>(&'a Cell<usize>);
    impl std::fmt::Display for Next<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.set(self.0.get() + 1);
            f.write_str("next")
        }
    }
    let next = Cell::new(0);
    let mut sum = 0.0;
    while next.get() < x.len() {
        let a = x[next.get()];
        let text = format!("{}", Next(&next));
        sum = (sum + a * a.sin()) * text.len() as f64 / 4.1;
    }
    sum
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("printing: progress", progress, x);
    check!("printing: debugged", debugged, x);
    check!("printing: implemented", implemented, x);
    check!("printing: counted", counted, x);
}
