// Lists of boxes: pushed, reversed in place, merged, and a list with weak references back.
include!("check.rs");

use std::cell::RefCell;
use std::rc::{Rc, Weak};

struct Node {
    value: f64,
    next: Link,
}

type Link = Option<Box<Node>>;

struct List {
    head: Link,
}

impl List {
    fn new() -> List {
        List { head: None }
    }

    fn push(&mut self, value: f64) {
        let next = self.head.take();
        self.head = Some(Box::new(Node { value, next }));
    }

    fn pop(&mut self) -> Option<f64> {
        self.head.take().map(|node| {
            self.head = node.next;
            node.value
        })
    }

    fn reverse(&mut self) {
        let (mut done, mut left) = (None, self.head.take());
        while let Some(mut node) = left {
            left = std::mem::replace(&mut node.next, done);
            done = Some(node);
        }
        self.head = done;
    }

    fn iter(&self) -> Iter<'_> {
        Iter(self.head.as_deref())
    }

    fn scale(&mut self, by: f64) {
        let mut now = &mut self.head;
        while let Some(node) = now {
            node.value *= by;
            now = &mut node.next;
        }
    }
}

struct Iter<'a>(Option<&'a Node>);

impl<'a> Iterator for Iter<'a> {
    type Item = &'a f64;
    fn next(&mut self) -> Option<&'a f64> {
        self.0.map(|node| {
            self.0 = node.next.as_deref();
            &node.value
        })
    }
}

fn stack(x: &[f64]) -> f64 {
    let mut list = List::new();
    for a in x {
        list.push(a * a);
    }
    let top = list.pop().unwrap();
    list.push(top * x[0]);
    list.scale(x[1]);
    list.iter()
        .zip(1..)
        .map(|(a, i)| a * f64::from(i))
        .sum::<f64>()
}

fn reversed(x: &[f64]) -> f64 {
    let mut list = List::new();
    x.iter().for_each(|a| list.push(a.sin()));
    list.reverse();
    list.iter().fold(0.0, |sum, a| sum * 0.5 + a)
}

fn merged(x: &[f64]) -> f64 {
    fn merge(a: Link, b: Link) -> Link {
        match (a, b) {
            (None, rest) | (rest, None) => rest,
            (Some(mut a), Some(mut b)) => {
                if a.value <= b.value {
                    a.next = merge(a.next.take(), Some(b));
                    Some(a)
                } else {
                    b.next = merge(Some(a), b.next.take());
                    Some(b)
                }
            }
        }
    }
    let node = |value, next| Some(Box::new(Node { value, next }));
    let a = node(x[0], node(x[1], node(x[4], None)));
    let b = node(x[2], node(x[3], None));
    let list = List { head: merge(a, b) };
    list.iter()
        .zip(1..)
        .map(|(a, i)| a * a * f64::from(i))
        .sum()
}

struct Tree {
    value: f64,
    parent: RefCell<Weak<Tree>>,
    children: RefCell<Vec<Rc<Tree>>>,
}

fn with_parents(x: &[f64]) -> f64 {
    let tree = |value| {
        Rc::new(Tree {
            value,
            parent: RefCell::new(Weak::new()),
            children: RefCell::new(Vec::new()),
        })
    };
    let root = tree(x[0]);
    let mut leaf = Rc::clone(&root);
    for a in &x[1..] {
        let child = tree(*a);
        *child.parent.borrow_mut() = Rc::downgrade(&leaf);
        leaf.children.borrow_mut().push(Rc::clone(&child));
        leaf = child;
    }
    let (mut product, mut now) = (leaf.value, leaf.parent.borrow().upgrade());
    while let Some(above) = now {
        product = product * above.value + above.children.borrow().len() as f64;
        now = above.parent.borrow().upgrade();
    }
    product
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("lists: stack", stack, x);
    check!("lists: reversed", reversed, x);
    check!("lists: merged", merged, x);
    check!("lists: with parents", with_parents, x);
}
