//! Collections, traits, closures, formatting and iterators.
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        "shape".to_string()
    }
}
struct Circle(f64);
struct Rect {
    w: f64,
    h: f64,
}
impl Shape for Circle {
    fn area(&self) -> f64 {
        std::f64::consts::PI * self.0.powi(2)
    }
}
impl Shape for Rect {
    fn area(&self) -> f64 {
        self.w * self.h
    }
    fn name(&self) -> String {
        format!("{}x{}", self.w, self.h)
    }
}
#[derive(Debug, Clone, PartialEq)]
enum Expr {
    Num(f64),
    Add(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
    Neg(Box<Expr>),
}
impl Expr {
    fn eval(&self) -> f64 {
        match self {
            Expr::Num(x) => *x,
            Expr::Add(a, b) => a.eval() + b.eval(),
            Expr::Mul(a, b) => a.eval() * b.eval(),
            Expr::Neg(a) => -a.eval(),
        }
    }
}
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Expr::Num(x) => write!(f, "{x}"),
            Expr::Add(a, b) => write!(f, "({a} + {b})"),
            Expr::Mul(a, b) => write!(f, "{a}*{b}"),
            Expr::Neg(a) => write!(f, "-{a}"),
        }
    }
}
#[unsafe(no_mangle)]
pub extern "C" fn rust_main() {
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Circle(2.0)), Box::new(Rect { w: 3.0, h: 4.5 })];
    for s in &shapes {
        println!("{} {:.3}", s.name(), s.area());
    }
    let text = "the quick brown fox jumps over the lazy dog the end";
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    println!("{counts:?}");
    let squares: HashMap<u64, u64> = (0..50).map(|i| (i, i * i)).collect();
    println!("{}", (0..50).map(|i| squares[&i]).sum::<u64>());
    let e = Expr::Add(
        Box::new(Expr::Num(1.5)),
        Box::new(Expr::Mul(Box::new(Expr::Num(2.0)), Box::new(Expr::Neg(Box::new(Expr::Num(3.0)))))),
    );
    println!("{e} = {} {}", e.eval(), e == e.clone());
    let mut queue: VecDeque<i32> = (0..10).collect();
    queue.rotate_left(3);
    let mut v: Vec<i32> = queue.iter().rev().map(|x| x * 7 % 11).collect();
    v.sort_unstable_by(|a, b| b.cmp(a));
    v.dedup();
    println!("{v:?} {:?}", v.binary_search_by(|x| 5.cmp(x)));
    let numbers: Result<Vec<i64>, _> = "1,2,x".split(',').map(str::parse::<i64>).collect();
    println!("{:?} {:?}", numbers.is_err(), "ß→x".char_indices().last());
}
