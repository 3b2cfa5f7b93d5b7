// Options and results that functions return: recursive ones, and with memory that was filled.

include!("check.rs");

#[inline(never)]
fn folded(x: &[f64], depth: usize) -> Option<f64> {
    let (&first, rest) = x.split_first()?;
    match folded(rest, depth + 1) {
        Some(value) => Some(first * value + depth as f64),
        None => Some(first),
    }
}

fn recursive(x: &[f64]) -> f64 {
    folded(x, 0).unwrap_or(1.0) * folded(&x[..0], 0).unwrap_or(x[1])
}

enum Tree {
    Leaf(f64),
    Node(Box<Tree>, Box<Tree>),
}

fn tree(x: &[f64]) -> Tree {
    if let [x] = x {
        return Tree::Leaf(*x);
    }
    let (left, right) = x.split_at(x.len() / 2);
    Tree::Node(Box::new(tree(left)), Box::new(tree(right)))
}

/// The largest square of a leaf below a limit, if there is one.
fn largest(tree: &Tree, limit: f64) -> Option<f64> {
    match tree {
        Tree::Leaf(x) => (*x < limit).then_some(x * x),
        Tree::Node(left, right) => match (largest(left, limit), largest(right, limit)) {
            (Some(left), Some(right)) => Some(left.max(right)),
            (left, right) => left.or(right),
        },
    }
}

fn searched(x: &[f64]) -> f64 {
    let tree = tree(x);
    largest(&tree, 1.0).unwrap_or(3.0)
        * largest(&tree, 0.6).unwrap()
        * largest(&tree, 0.1).unwrap_or(x[0])
}

#[inline(never)]
fn logarithms(x: &[f64]) -> Result<Vec<f64>, usize> {
    let mut all = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        if x <= 0.0 {
            return Err(i);
        }
        all.push(x.ln());
    }
    Ok(all)
}

fn filled(x: &[f64]) -> f64 {
    let bad: Vec<f64> = x.iter().map(|x| x - 0.6).collect();
    let mut sum = 0.0;
    for x in [x, &bad] {
        sum += match logarithms(x) {
            Ok(all) => all.iter().map(|x| x * x).sum(),
            Err(i) => x[i] * 3.0,
        };
    }
    sum
}

fn collected(x: &[f64]) -> f64 {
    let logarithm = |x: &f64| match *x > 0.0 {
        true => Ok(x.ln()),
        false => Err(format!("{x} has no logarithm")),
    };
    let all: Result<Vec<f64>, String> = x.iter().map(logarithm).collect();
    match all {
        Ok(all) => all.iter().product(),
        Err(message) => message.len() as f64 * x[0],
    }
}

struct Node {
    value: f64,
    next: Option<Box<Node>>,
}

/// A list that counts its nodes.
struct List {
    head: Option<Box<Node>>,
    len: usize,
}

impl List {
    fn push(&mut self, value: f64) {
        let next = self.head.take();
        self.head = Some(Box::new(Node { value, next }));
        self.len += 1;
    }

    fn pop(&mut self) -> Option<f64> {
        self.head.take().map(|node| {
            self.head = node.next;
            self.len -= 1;
            node.value
        })
    }
}

fn popped(x: &[f64]) -> f64 {
    let mut list = List { head: None, len: 0 };
    for x in x {
        list.push(x * x);
    }
    let top = list.pop().unwrap();
    list.push(top * x[0]);
    list.head.as_ref().unwrap().value * list.len as f64
}

fn main() {
    let x = [0.5, 0.7, 0.9, 0.3, 0.4, 1.1, 1.3, 0.8, 0.65];
    check!("recursive", recursive, x);
    check!("searched", searched, x);
    check!("filled", filled, x);
    check!("collected", collected, x);
    check!("popped", popped, x);
}
