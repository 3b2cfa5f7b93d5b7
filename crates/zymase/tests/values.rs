//! Values that derivatives can be taken with respect to, which needs no derivative.

use zymase::{Differentiable, zeros_like};

#[derive(Differentiable, Clone, Debug, PartialEq)]
struct Named<T> {
    first: T,
    rest: Vec<[f32; 2]>,
    #[constant]
    label: String,
}

#[derive(Differentiable, Debug, PartialEq)]
struct Pair(f64, Box<(f32, f64)>);

#[derive(Differentiable, Debug, PartialEq)]
struct Nothing;

fn flat(value: &impl Differentiable) -> Vec<f64> {
    let mut components = Vec::new();
    value.flatten(&mut components);
    assert_eq!(components.len(), value.dimension());
    components
}

/// Checks what holds for every value: its numbers are `expected`, its zeros have its shape.
fn check<T: Differentiable + PartialEq + std::fmt::Debug>(value: T, expected: &[f64]) {
    assert_eq!(flat(&value), expected);
    let mut zeros = value.zeros_like();
    assert_eq!(flat(&zeros), vec![0.0; expected.len()]);
    value.check_shape(&zeros).unwrap();
    assert_eq!(value.copied(), value);
    assert_eq!(value.dot(&value), expected.iter().map(|x| x * x).sum());
    zeros.accumulate(&value);
    zeros.accumulate(&value);
    let twice: Vec<f64> = expected.iter().map(|x| 2.0 * x).collect();
    assert_eq!(flat(&zeros), twice);
    zeros.unflatten(&mut expected.iter());
    assert_eq!(zeros, value);
}

#[test]
fn numbers_are_taken_in_order() {
    check(1.5, &[1.5]);
    check([1.0, 2.0], &[1.0, 2.0]);
    check((1.0f32, [2.0, 3.0]), &[1.0, 2.0, 3.0]);
    check(vec![vec![1.0], vec![], vec![2.0, 3.0]], &[1.0, 2.0, 3.0]);
    check(Pair(1.0, Box::new((2.0, 3.0))), &[1.0, 2.0, 3.0]);
    check(Nothing, &[]);
    let named = Named {
        first: (1.0, 2.0),
        rest: vec![[3.0, 4.0]],
        label: "kept".to_string(),
    };
    check(named.clone(), &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(named.zeros_like().label, "kept");
}

#[test]
fn a_slice_has_a_vector_as_shadow() {
    assert_eq!(zeros_like(&[1.0, 2.0][..]), vec![0.0, 0.0]);
}

#[test]
fn only_what_owns_memory_says_so() {
    const { assert!(!<(f64, [f32; 3])>::OWNS_MEMORY) };
    const { assert!(<(f64, Vec<f32>)>::OWNS_MEMORY) };
    const { assert!(Named::<f64>::OWNS_MEMORY && Pair::OWNS_MEMORY && !Nothing::OWNS_MEMORY) };
}

#[test]
fn a_shadow_has_the_room_of_its_value() {
    let mut value = Vec::with_capacity(10);
    value.push(1.0);
    assert!(value.zeros_like().capacity() >= 10);
}
