// Trait objects.
include!("check.rs");

trait Layer {
    fn run(&self, a: f64) -> f64;
    fn twice(&self, a: f64) -> f64 {
        self.run(self.run(a))
    }
}

struct Scale(f64);
struct Power {
    shift: f64,
    exponent: i32,
}
struct Chain(Vec<Box<dyn Layer>>);

impl Layer for Scale {
    fn run(&self, a: f64) -> f64 {
        a * self.0
    }
}

impl Layer for Power {
    fn run(&self, a: f64) -> f64 {
        (a + self.shift).powi(self.exponent)
    }
    fn twice(&self, a: f64) -> f64 {
        self.run(a) * 2.0
    }
}

impl Layer for Chain {
    fn run(&self, a: f64) -> f64 {
        self.0.iter().fold(a, |a, layer| layer.run(a))
    }
}

fn layers(x: &[f64]) -> f64 {
    let layers: Vec<Box<dyn Layer>> = vec![
        Box::new(Scale(x[0])),
        Box::new(Power {
            shift: x[1],
            exponent: 3,
        }),
        Box::new(Scale(x[2])),
    ];
    layers.iter().fold(0.7, |a, layer| layer.run(a)) + layers[1].twice(x[3])
}

fn nested(x: &[f64]) -> f64 {
    let inner = Chain(vec![
        Box::new(Scale(x[0])),
        Box::new(Power {
            shift: x[1],
            exponent: 2,
        }),
    ]);
    let outer = Chain(vec![Box::new(inner), Box::new(Scale(x[3]))]);
    outer.run(x[4])
}

fn references(x: &[f64]) -> f64 {
    let (scale, power) = (
        Scale(x[0]),
        Power {
            shift: x[1],
            exponent: 2,
        },
    );
    let layers: [&dyn Layer; 2] = [&scale, &power];
    x.iter()
        .enumerate()
        .map(|(i, a)| layers[i % 2].run(*a))
        .sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("dyn traits: layers", layers, x);
    check!("dyn traits: nested", nested, x);
    check!("dyn traits: references", references, x);
}
