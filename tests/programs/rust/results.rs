// Results with problems that carry numbers, and `?`.
include!("check.rs");

#[derive(Debug)]
enum Problem {
    Negative(f64),
    TooLarge,
}

fn root(a: f64) -> Result<f64, Problem> {
    match a {
        a if a < 0.0 => Err(Problem::Negative(a)),
        a if a > 100.0 => Err(Problem::TooLarge),
        a => Ok(a.sqrt()),
    }
}

fn results(x: &[f64]) -> f64 {
    fn all(x: &[f64]) -> Result<f64, Problem> {
        let mut sum = 0.0;
        for a in x {
            sum += root(a * a + 1.0)? * a;
        }
        Ok(sum)
    }
    fn last(x: &[f64]) -> Result<f64, Problem> {
        let roots: Result<Vec<f64>, Problem> = x.iter().map(|a| root(*a)).collect();
        Ok(roots?.iter().sum())
    }
    let failed = match last(x) {
        Ok(sum) => sum,
        Err(Problem::Negative(a)) => a * x[1],
        Err(Problem::TooLarge) => 0.0,
    };
    all(x).unwrap_or(-1.0) * failed
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("results", results, x);
}
