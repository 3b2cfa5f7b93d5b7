// Numbers and structures on the heap.
include!("check.rs");

struct Node {
    value: f64,
    next: Option<Box<Node>>,
}

fn list(x: &[f64]) -> f64 {
    let mut head: Option<Box<Node>> = None;
    for a in x {
        head = Some(Box::new(Node {
            value: a * a,
            next: head,
        }));
    }
    let (mut sum, mut factor, mut now) = (0.0, 1.0, &head);
    while let Some(node) = now {
        sum += factor * node.value.sin();
        factor *= 0.5;
        now = &node.next;
    }
    sum
}

enum Tree {
    Leaf(f64),
    Sum(Box<Tree>, Box<Tree>),
    Product(Box<Tree>, Box<Tree>),
}

fn tree(x: &[f64]) -> f64 {
    fn build(x: &[f64]) -> Tree {
        match x {
            [a] => Tree::Leaf(*a),
            _ => {
                let (left, right) = x.split_at(x.len() / 2);
                let (left, right) = (Box::new(build(left)), Box::new(build(right)));
                match x.len() % 2 {
                    0 => Tree::Sum(left, right),
                    _ => Tree::Product(left, right),
                }
            }
        }
    }
    fn value(tree: &Tree) -> f64 {
        match tree {
            Tree::Leaf(a) => a.exp(),
            Tree::Sum(a, b) => value(a) + value(b),
            Tree::Product(a, b) => value(a) * value(b),
        }
    }
    value(&build(x))
}

fn numbers(x: &[f64]) -> f64 {
    let mut a = Box::new(x[0]);
    let b = Box::new([x[1], x[2]]);
    *a *= b[0];
    let slice: Box<[f64]> = x.iter().map(|c| c * *a).collect();
    slice.iter().sum::<f64>() * b[1] + *a
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("boxes: list", list, x);
    check!("boxes: tree", tree, x);
    check!("boxes: numbers", numbers, x);
}
