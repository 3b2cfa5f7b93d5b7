// Trees without derivatives, built or passed on, and evaluated with variables that have some. Looking
// a variable up may panic.
include!("check.rs");

use std::rc::Rc;

#[derive(Clone)]
enum Expression {
    Number(f64),
    Variable(usize),
    Sum(Box<Expression>, Box<Expression>),
    Product(Box<Expression>, Box<Expression>),
    Negated(Box<Expression>),
}

use Expression::*;

impl Expression {
    fn value(&self, x: &[f64]) -> f64 {
        match self {
            Number(a) => *a,
            Variable(i) => x[*i],
            Sum(a, b) => a.value(x) + b.value(x),
            Product(a, b) => a.value(x) * b.value(x),
            Negated(a) => -a.value(x),
        }
    }

    fn simplified(self) -> Expression {
        match self {
            Sum(a, b) => match (a.simplified(), b.simplified()) {
                (Number(a), Number(b)) => Number(a + b),
                (a, b) => Sum(Box::new(a), Box::new(b)),
            },
            Negated(a) => match a.simplified() {
                Number(a) => Number(-a),
                Negated(a) => *a,
                a => Negated(Box::new(a)),
            },
            other => other,
        }
    }
}

fn sum(a: Expression, b: Expression) -> Expression {
    Sum(Box::new(a), Box::new(b))
}

fn product(a: Expression, b: Expression) -> Expression {
    Product(Box::new(a), Box::new(b))
}

fn built(x: &[f64]) -> f64 {
    let inner = sum(Variable(0), Number(2.0));
    let all = product(Variable(1), Negated(Box::new(inner)));
    all.value(x) + x[1]
}

fn cloned(x: &[f64]) -> f64 {
    let inner = product(Variable(0), sum(Variable(2), Number(2.0)));
    sum(inner.clone(), product(inner, Variable(3))).value(x)
}

fn simplified(x: &[f64]) -> f64 {
    let constants = sum(Number(1.5), Negated(Box::new(Number(0.5))));
    let twice = Negated(Box::new(Negated(Box::new(product(
        Variable(0),
        Variable(1),
    )))));
    sum(constants, twice).simplified().value(x) * x[2]
}

enum Tree {
    Leaf(usize, f64),
    Inner(Vec<Tree>),
}

impl Tree {
    fn value(&self, x: &[f64]) -> f64 {
        match self {
            Tree::Leaf(i, weight) => x[*i] * weight,
            Tree::Inner(parts) => parts.iter().map(|part| part.value(x)).sum::<f64>().sin(),
        }
    }
}

fn many(x: &[f64]) -> f64 {
    let leaves = |n: usize| (0..n).map(|i| Tree::Leaf(i, 0.5 + i as f64)).collect();
    Tree::Inner(vec![
        Tree::Inner(leaves(5)),
        Tree::Leaf(4, 2.0),
        Tree::Inner(leaves(3)),
    ])
    .value(x)
}

/// Shared parts, and conditions that are expressions of another kind.
enum Term {
    Variable(usize),
    Scaled(f64, Rc<Term>),
    If(Condition, Rc<Term>, Rc<Term>),
}

enum Condition {
    Less(Rc<Term>, Rc<Term>),
    Not(Box<Condition>),
}

impl Term {
    fn value(&self, x: &[f64]) -> f64 {
        match self {
            Term::Variable(i) => x[*i],
            Term::Scaled(by, term) => by * term.value(x).powi(2),
            Term::If(condition, yes, no) => match condition.holds(x) {
                true => yes.value(x),
                false => no.value(x),
            },
        }
    }
}

impl Condition {
    fn holds(&self, x: &[f64]) -> bool {
        match self {
            Condition::Less(a, b) => a.value(x) < b.value(x),
            Condition::Not(inner) => !inner.holds(x),
        }
    }
}

fn shared(x: &[f64]) -> f64 {
    let first = Rc::new(Term::Variable(0));
    let second = Rc::new(Term::Scaled(0.3, Rc::new(Term::Variable(1))));
    let less = Condition::Less(first.clone(), second.clone());
    let either = Rc::new(Term::If(Condition::Not(Box::new(less)), second, first));
    Term::Scaled(2.0, either).value(x)
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("expressions: built", built, x);
    check!("expressions: cloned", cloned, x);
    check!("expressions: simplified", simplified, x);
    check!("expressions: many", many, x);
    check!("expressions: shared", shared, x);
}
