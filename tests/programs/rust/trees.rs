// Trees in arenas, search trees of boxes, and graphs that are walked.
include!("check.rs");

use std::collections::VecDeque;

#[derive(Clone, Copy)]
enum Kind {
    Input(usize),
    Sum(usize, usize),
    Product(usize, usize),
    Tanh(usize),
}

/// A computation in an arena: what a program for derivatives would keep as a tape.
struct Arena {
    nodes: Vec<Kind>,
    values: Vec<f64>,
}

impl Arena {
    /// Four nodes for each input, of which the last is the result so far.
    fn chain(inputs: usize) -> Arena {
        let first = [Kind::Input(0)].into_iter();
        let others = (1..inputs).flat_map(|i| {
            let last = 4 * (i - 1);
            [
                Kind::Input(i),
                Kind::Product(last, last + 1),
                Kind::Sum(last + 2, last + 1),
                Kind::Tanh(last + 3),
            ]
        });
        Arena {
            nodes: first.chain(others).collect(),
            values: Vec::new(),
        }
    }

    fn run(&mut self, x: &[f64]) -> f64 {
        self.values.clear();
        for node in &self.nodes {
            let value = match *node {
                Kind::Input(i) => x[i],
                Kind::Sum(a, b) => self.values[a] + self.values[b],
                Kind::Product(a, b) => self.values[a] * self.values[b],
                Kind::Tanh(a) => self.values[a].tanh(),
            };
            self.values.push(value);
        }
        self.values[self.nodes.len() - 1]
    }
}

fn arena(x: &[f64]) -> f64 {
    let mut arena = Arena::chain(x.len());
    arena.run(x) * arena.values[2]
}

#[derive(Default)]
struct Search {
    root: Option<Box<Branch>>,
}

struct Branch {
    key: i32,
    value: f64,
    left: Option<Box<Branch>>,
    right: Option<Box<Branch>>,
}

impl Search {
    fn entry(&mut self, key: i32) -> &mut f64 {
        let mut now = &mut self.root;
        while now.as_ref().is_some_and(|branch| branch.key != key) {
            let branch = now.as_mut().unwrap();
            now = match key < branch.key {
                true => &mut branch.left,
                false => &mut branch.right,
            };
        }
        let new = || {
            Box::new(Branch {
                key,
                value: 0.0,
                left: None,
                right: None,
            })
        };
        &mut now.get_or_insert_with(new).value
    }

    fn height(&self) -> usize {
        fn height(branch: &Option<Box<Branch>>) -> usize {
            branch
                .as_ref()
                .map_or(0, |b| 1 + height(&b.left).max(height(&b.right)))
        }
        height(&self.root)
    }
}

fn search(x: &[f64]) -> f64 {
    let mut tree = Search::default();
    for (i, a) in x.iter().enumerate() {
        *tree.entry((i as i32 * 7) % 5) += a * a;
        *tree.entry((i as i32 * 3) % 4) += a.sin();
    }
    let height = tree.height() as f64;
    (0..5)
        .map(|key| *tree.entry(key) * f64::from(key + 1))
        .product::<f64>()
        * height
}

fn walked(x: &[f64]) -> f64 {
    // Values that flow through a graph in the order of a breadth-first walk.
    let edges: [&[usize]; 5] = [&[1, 2], &[3], &[3, 4], &[4], &[]];
    let mut flow = vec![0.0; x.len()];
    flow[0] = x[0];
    let mut queue = VecDeque::from([0]);
    let mut seen = [false; 5];
    while let Some(at) = queue.pop_front() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let share = flow[at] * x[at];
        for &to in edges[at] {
            flow[to] += share / edges[at].len() as f64;
            queue.push_back(to);
        }
    }
    flow.iter().map(|a| a * a).sum()
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("trees: arena", arena, x);
    check!("trees: search", search, x);
    check!("trees: walked", walked, x);
}
