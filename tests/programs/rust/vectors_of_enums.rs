// Vectors that grow, of options, of enums and of structures that hold some.

include!("check.rs");

fn options(x: &[f64]) -> f64 {
    let mut all: Vec<Option<f64>> = Vec::new();
    for &x in x {
        all.push(Some(x.sin()));
        all.push(None);
    }
    all.iter().flatten().map(|x| x * x).sum()
}

#[derive(Clone, Copy)]
enum Step {
    Scale(f64),
    Shift(f64),
    Square,
}

fn steps(x: &[f64]) -> f64 {
    let mut program = Vec::new();
    for &x in x {
        program.push(match x > 0.6 {
            true => Step::Scale(x),
            false => Step::Shift(x),
        });
        program.push(Step::Square);
    }
    program.iter().fold(1.0, |value, step| match step {
        Step::Scale(by) => value * by,
        Step::Shift(by) => value + by,
        Step::Square => value * value,
    })
}

#[derive(Clone, Default)]
struct Series {
    name: String,
    values: Vec<f64>,
    total: Option<f64>,
}

/// Each of them owns memory, and one is dropped on the way.
fn structures(x: &[f64]) -> f64 {
    let mut all = Vec::new();
    for (i, chunk) in x.chunks(2).enumerate() {
        all.push(Series {
            name: format!("series {i}"),
            values: chunk.to_vec(),
            total: None,
        });
    }
    for series in &mut all {
        series.total = Some(series.values.iter().map(|x| x * x).sum());
    }
    let copies = all.clone();
    all.retain(|series| series.name != "series 1");
    let product: f64 = copies.iter().filter_map(|series| series.total).product();
    product + all.iter().map(|series| series.values[0]).sum::<f64>()
}

/// The same, collected from defaults.
fn defaults(x: &[f64]) -> f64 {
    let chunks = x.chunks(2).enumerate();
    let mut all: Vec<Series> = chunks
        .map(|(i, chunk)| Series {
            name: format!("series {i}"),
            values: chunk.to_vec(),
            ..Series::default()
        })
        .collect();
    for series in &mut all {
        series.total = Some(series.values.iter().map(|x| x * x).sum());
    }
    let copies = all.clone();
    all.retain(|series| series.name != "series 1");
    let product: f64 = copies.iter().filter_map(|series| series.total).product();
    product + all.iter().map(|series| series.values[0]).sum::<f64>()
}

struct Slot {
    position: usize,
    boxed: Option<Box<f64>>,
    weight: Option<f64>,
}

/// What is in older elements changes while the vector grows.
fn slots(x: &[f64]) -> f64 {
    let mut slots: Vec<Slot> = vec![];
    for (i, &value) in x.iter().enumerate() {
        slots.push(Slot {
            position: i,
            boxed: (i % 2 == 0).then(|| Box::new(value)),
            weight: (i % 3 == 0).then_some(value * value),
        });
        if i > 1 {
            slots[0].boxed = None;
            slots[1].boxed = Some(Box::new(value * x[0]));
            slots[1].weight = slots[0].weight.take();
        }
    }
    let factor = |slot: &Slot| slot.boxed.as_ref().map_or(1.0, |boxed| **boxed);
    let terms = slots
        .iter()
        .map(|slot| slot.position as f64 * factor(slot) + slot.weight.unwrap_or(2.0));
    terms.product()
}

fn nested(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<Option<f64>>> = vec![];
    for &x in x {
        let mut row = Vec::new();
        for j in 0..5 {
            row.push((j % 2 == 0).then_some(x * j as f64 + 1.0));
        }
        rows.push(row);
    }
    rows.iter()
        .map(|row| row.iter().flatten().sum::<f64>())
        .product()
}

fn references(x: &[f64]) -> f64 {
    let mut all: Vec<Option<&f64>> = vec![];
    for x in x {
        all.push(Some(x));
        all.push(None);
    }
    all.iter().flatten().map(|x| **x * **x).sum()
}

#[derive(Clone, Copy)]
enum Kind {
    Input(usize),
    Product(usize, usize),
}

/// Nodes that know each other by their positions.
#[derive(Default)]
struct Arena {
    nodes: Vec<Kind>,
    values: Vec<f64>,
}

impl Arena {
    fn add(&mut self, kind: Kind) -> usize {
        self.nodes.push(kind);
        self.nodes.len() - 1
    }

    fn run(&mut self, x: &[f64]) -> f64 {
        for node in &self.nodes {
            let value = match *node {
                Kind::Input(i) => x[i],
                Kind::Product(a, b) => self.values[a] * self.values[b],
            };
            self.values.push(value);
        }
        self.values[self.nodes.len() - 1]
    }
}

fn arena(x: &[f64]) -> f64 {
    let mut arena = Arena::default();
    let mut last = arena.add(Kind::Input(0));
    for i in 1..x.len() {
        let input = arena.add(Kind::Input(i));
        last = arena.add(Kind::Product(last, input));
    }
    arena.run(x)
}

fn main() {
    let x = [0.5, 0.7, 0.9, 0.3, 0.4, 1.1, 1.3];
    check!("options", options, x);
    check!("steps", steps, x[..3]);
    check!("structures", structures, x);
    check!("defaults", defaults, x);
    check!("slots", slots, x);
    check!("nested", nested, x);
    check!("references", references, x);
    check!("arena", arena, x);
}
