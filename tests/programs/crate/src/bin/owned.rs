//! Values by value: vectors, boxes, tuples and structures as inputs and as results.

use programs::equal;
use zymase::{Differentiable, autodiff_forward, autodiff_reverse};

#[autodiff_reverse(d_sum, Active, Active)]
#[autodiff_forward(f_sum, Dual, Dual)]
fn sum_of_cubes(v: Vec<f64>) -> f64 {
    v.iter().map(|x| x * x * x).sum()
}

#[autodiff_reverse(d_squares, Duplicated, Active)]
#[autodiff_reverse(d_squares_only, Duplicated, ActiveOnly)]
#[autodiff_forward(f_squares, Dual, Dual)]
fn squares(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x * x).collect()
}

fn vectors() {
    let v = vec![1.0, 2.0, 3.0];
    assert_eq!(d_sum(v.clone(), 1.0), (36.0, vec![3.0, 12.0, 27.0]));
    // The shadow may have less room than the value.
    let mut roomy = Vec::with_capacity(100);
    roomy.extend(&v);
    assert_eq!(f_sum(roomy, vec![1.0, 0.0, 1.0]), (36.0, 30.0));

    let mut dv = vec![0.0; 3];
    assert_eq!(
        d_squares(&v, &mut dv, vec![1.0, 10.0, 100.0]),
        [1.0, 4.0, 9.0]
    );
    equal(&dv, &[2.0, 40.0, 600.0]);
    d_squares_only(&v, &mut dv, vec![1.0, 0.0, 0.0]);
    equal(&dv, &[4.0, 40.0, 600.0]);
    let (value, tangent) = f_squares(&v, &[1.0, 1.0, 0.0]);
    assert_eq!((value, tangent), (vec![1.0, 4.0, 9.0], vec![2.0, 4.0, 0.0]));
    assert_eq!(d_squares(&[], &mut [], vec![]), []);
}

#[autodiff_reverse(d_boxed, Active, Active)]
#[autodiff_forward(f_boxed, Dual, DualOnly)]
fn boxed(x: Box<f64>) -> Box<f64> {
    Box::new(*x * *x)
}

#[autodiff_reverse(d_pair, Active, Active)]
#[autodiff_forward(f_pair, Dual, Dual)]
#[autodiff_forward(f_pair_twice, 2, Dual, DualOnly)]
fn pair((a, b): (f64, f32)) -> (f64, [f64; 2]) {
    (a * f64::from(b), [a * a, f64::from(b)])
}

fn boxes_and_tuples() {
    assert_eq!(
        d_boxed(Box::new(3.0), Box::new(1.0)),
        (Box::new(9.0), Box::new(6.0))
    );
    assert_eq!(f_boxed(Box::new(3.0), Box::new(1.0)), Box::new(6.0));
    let value = (6.0, [4.0, 3.0]);
    assert_eq!(d_pair((2.0, 3.0), (1.0, [0.0, 10.0])), (value, (3.0, 12.0)));
    assert_eq!(f_pair((2.0, 3.0), (1.0, 0.0)), (value, (3.0, [4.0, 0.0])));
    let tangents = f_pair_twice((2.0, 3.0), (1.0, 0.0), (0.0, 1.0));
    assert_eq!(tangents, [(3.0, [4.0, 0.0]), (2.0, [0.0, 1.0])]);
}

#[derive(Differentiable, Clone, Debug, PartialEq)]
struct State<T> {
    position: [T; 2],
    weights: Vec<T>,
    #[constant]
    name: &'static str,
}

#[autodiff_reverse(d_step, Active, Const, Active)]
#[autodiff_forward(f_step, Dual, Const, Dual)]
fn step(state: State<f64>, time: f64) -> State<f64> {
    let [x, y] = state.position;
    State {
        position: [x + time * y, y],
        weights: state.weights.iter().map(|w| w * x).collect(),
        name: state.name,
    }
}

fn structures() {
    let state = |position, weights: &[f64]| State {
        position,
        weights: weights.to_vec(),
        name: "s",
    };
    let at = state([2.0, 3.0], &[4.0, 5.0]);
    let value = state([3.5, 3.0], &[8.0, 10.0]);
    let (result, gradient) = d_step(at.clone(), 0.5, state([1.0, 0.0], &[0.0, 10.0]));
    assert_eq!(result, value);
    assert_eq!(gradient, state([51.0, 0.5], &[0.0, 20.0]));
    let (result, tangent) = f_step(at, state([1.0, 0.0], &[0.0, 1.0]), 0.5);
    assert_eq!(result, value);
    assert_eq!(tangent, state([1.0, 0.0], &[4.0, 7.0]));
}

fn main() {
    vectors();
    boxes_and_tuples();
    structures();
    println!("ok owned");
}
