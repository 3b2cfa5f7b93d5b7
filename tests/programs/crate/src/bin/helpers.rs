//! Gradients, Jacobians and Hessians without activities.

use programs::{equal, like_differences, near};
use zymase::{
    Differentiable, check_grad, grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp, zeros_like,
};

fn rosenbrock(x: &[f64]) -> f64 {
    let terms = x.iter().zip(x.iter().skip(1));
    terms
        .map(|(a, b)| 100.0 * (b - a * a).powi(2) + (1.0 - a).powi(2))
        .sum()
}

fn gradients() {
    let x = [1.2, 1.0, 0.8];
    let (value, gradient) = value_and_grad(rosenbrock, &x[..]);
    near(value, rosenbrock(&x), 1e-15);
    like_differences(rosenbrock, &x, &gradient);
    check_grad(rosenbrock, &x[..]).unwrap();

    assert_eq!(grad(|x| x[0] * x[0] * x[1], &[3.0, 2.0]), [12.0, 9.0]);
    assert_eq!(grad(|x: &f64| x.sin(), &0.0), 1.0);
    assert_eq!(
        grad(
            |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>(),
            &[1.0, 2.0][..]
        ),
        [2.0, 4.0]
    );
    let of_tuple = grad(|(a, b)| a * b.iter().sum::<f64>(), &(3.0, vec![1.0, 2.0]));
    assert_eq!(of_tuple, (3.0, vec![3.0, 3.0]));

    // What a closure has captured is constant, by reference and by value.
    let weights = vec![2.0, 3.0];
    let weighted = |x: &[f64]| x.iter().zip(&weights).map(|(x, w)| x * x * w).sum::<f64>();
    equal(&grad(weighted, &[1.0, 2.0][..]), &[4.0, 12.0]);
    let scale = 5.0;
    assert_eq!(grad(move |x: &f64| scale * x * x, &3.0), 30.0);
}

#[derive(Differentiable, Debug, PartialEq)]
struct Network {
    weights: Vec<f64>,
    bias: f64,
    #[constant]
    name: String,
}

fn structures() {
    let network = Network {
        weights: vec![1.0, 2.0],
        bias: 0.5,
        name: "n".into(),
    };
    let loss = |n: &Network| n.weights.iter().map(|w| w * w).sum::<f64>() * n.bias;
    let gradient = grad(loss, &network);
    assert_eq!(
        gradient,
        Network {
            weights: vec![1.0, 2.0],
            bias: 5.0,
            name: "n".into()
        }
    );
    check_grad(loss, &network).unwrap();
    assert_eq!(zeros_like(&network).weights, [0.0, 0.0]);
}

fn along_directions() {
    let f = |x: &[f64; 2]| [x[0] * x[1], x[0] + x[1], x[0]];
    let (y, dx) = vjp(f, &[3.0, 2.0], &[1.0, 0.0, 10.0]);
    assert_eq!((y, dx), ([6.0, 5.0, 3.0], [12.0, 3.0]));
    let (y, dy) = jvp(f, &[3.0, 2.0], &[1.0, 10.0]);
    assert_eq!((y, dy), ([6.0, 5.0, 3.0], [32.0, 11.0, 1.0]));
    let owned = |x: &[f64]| x.iter().map(|x| x * x * x).collect::<Vec<f64>>();
    let (y, dx) = vjp(owned, &[1.0, 2.0][..], &vec![1.0, 10.0]);
    assert_eq!((y, dx), (vec![1.0, 8.0], vec![3.0, 120.0]));
    let (_, dy) = jvp(owned, &[1.0, 2.0][..], &[1.0, 10.0][..]);
    assert_eq!(dy, [3.0, 120.0]);
}

fn matrices() {
    // Three results of two numbers by forward mode, two of three by reverse mode.
    let rows = jacobian(|x| [x[0] * x[1], x[0] + x[1], x[0]], &[3.0, 2.0]);
    assert_eq!(rows, [[2.0, 3.0], [1.0, 1.0], [1.0, 0.0]]);
    let rows = jacobian(|x| [x[0] * x[1], x[1] * x[2]], &[3.0, 2.0, 1.0]);
    assert_eq!(rows, [[2.0, 3.0, 0.0], [0.0, 1.0, 2.0]]);
    let rows = jacobian(
        |x: &[f64]| x.iter().map(|x| x * x).collect::<Vec<_>>(),
        &[3.0, 2.0][..],
    );
    assert_eq!(rows, [[6.0, 0.0], [0.0, 4.0]]);

    let x = [1.2, 1.0, 0.8];
    let rows = hessian(rosenbrock, &x[..]);
    for (i, row) in rows.iter().enumerate() {
        like_differences(|x| grad(rosenbrock, x)[i], &x, row);
        equal(row, &rows.iter().map(|row| row[i]).collect::<Vec<_>>());
    }
    let v = [1.0, -2.0, 0.5];
    let times = |row: &Vec<f64>| row.iter().zip(v).map(|(h, v)| h * v).sum::<f64>();
    equal(
        &hvp(rosenbrock, &x[..], &v[..]),
        &rows.iter().map(times).collect::<Vec<_>>(),
    );
    assert_eq!(
        hessian(|x| x[0] * x[0] * x[1], &[3.0, 2.0]),
        [[4.0, 6.0], [6.0, 0.0]]
    );
    assert_eq!(hvp(|x: &f64| x * x * x, &2.0, &1.0), 12.0);
}

/// The derivative of a staircase is zero, but differences are not.
fn a_gradient_that_is_off() {
    let staircase = |x: &[f64; 2]| x[0] * x[0] + (x[1] * 1e6).floor() / 1e6;
    let mismatch = check_grad(staircase, &[1.0, 2.0]).unwrap_err();
    assert_eq!(mismatch.component, 1);
    assert_eq!((mismatch.reverse, mismatch.forward), (0.0, 0.0));
    near(mismatch.difference, 1.0, 1e-2);
    let text = mismatch.to_string();
    assert!(
        text.starts_with("component 1 of the gradient is 0 in reverse mode, 0 in forward"),
        "{text}"
    );
    check_grad(|x: &[f32; 2]| x[0].exp() * x[1], &[1.2, 1.0]).unwrap();
}

/// The derivative of a derivative, with a captured number that is active outside.
fn of_each_other() {
    let mixed = grad(|x: &f64| grad(|y: &f64| x * x * y, &3.0), &5.0);
    assert_eq!(mixed, 10.0);
    let second = jvp(|x: &f64| grad(|x: &f64| x.sin(), x), &0.5, &1.0).1;
    near(second, -0.5f64.sin(), 1e-12);
}

/// A tree that is constant, with functions that call each other and may panic.
enum Tree {
    Number(f64),
    Variable(usize),
    Sum(Vec<Tree>),
    Wave(Box<Tree>),
}

impl Tree {
    fn value(&self, x: &[f64]) -> f64 {
        match self {
            Tree::Number(number) => *number,
            Tree::Variable(place) => x[*place],
            Tree::Sum(parts) => parts.iter().map(|part| part.value(x)).sum(),
            Tree::Wave(inner) => inner.value(x).sin() * inner.value(x),
        }
    }
}

fn trees() {
    let inner = Tree::Sum(vec![
        Tree::Variable(1),
        Tree::Number(0.5),
        Tree::Variable(0),
    ]);
    let tree = Tree::Sum(vec![Tree::Wave(Box::new(inner)), Tree::Variable(1)]);
    let x = [0.3, 0.9];
    check_grad(|x: &[f64; 2]| tree.value(x), &x).unwrap();
    let sum: f64 = x[0] + x[1] + 0.5;
    let slope = sum.sin() + sum * sum.cos();
    let gradient = grad(|x: &[f64; 2]| tree.value(x), &x);
    near(gradient[0], slope, 1e-12);
    near(gradient[1], slope + 1.0, 1e-12);
}

fn main() {
    trees();
    gradients();
    structures();
    along_directions();
    matrices();
    a_gradient_that_is_off();
    of_each_other();
    println!("ok helpers");
}
