use super::*;
use crate::ir::FloatKind;

fn double() -> Cell {
    Cell::Float(FloatKind::F64)
}

#[test]
fn an_indexed_access_describes_the_whole_array() {
    let element = Shape::cell(0, double());
    let array = element.unindexed(8);
    assert_eq!(array.get(80), Some(&double()));
    assert_eq!(array.indexed(16).shifted(8).get(8), Some(&double()));
    assert_eq!(array.indexed(4).get(0), None);
}

#[test]
fn a_single_access_counts_before_a_repeated_one() {
    let mut shape = Shape::cell(0, double()).unindexed(8);
    for byte in 24..32 {
        shape.insert(byte, Cell::Int);
    }
    let pieces = shape.pieces(16, 16);
    assert_eq!(pieces[0], (0, Piece::Float(FloatKind::F64)));
    assert!(pieces[1..].iter().all(|(_, piece)| *piece == Piece::Int));
    assert_eq!(pieces.len(), 9);
}

#[test]
fn what_two_shapes_know_in_common() {
    let mut shape = Shape::cell(0, double());
    shape.insert(8, double());
    let moved = shape.shifted(8);
    assert_eq!(shape.common(&moved), Shape::cell(0, double()));
}

#[test]
fn elements_of_one_array_have_their_declaration_in_common() {
    let mut first = Shape::default();
    first.declare(0, double());
    first.declare_element(16);
    let second = first.shifted(16);
    let either = first.common(&second);
    assert_eq!(either.get(0), Some(&double()));
    assert_eq!(either.get(32), Some(&double()));
    // Whoever learns that of both learns nothing that leads on to a third.
    let (mut one, mut other) = (first.clone(), second.clone());
    one.merge(&either);
    other.merge(&either);
    assert_eq!(one, first);
    assert_eq!(other.shifted(-16).common(&other), either);
    // Half an element further on is no element.
    assert_eq!(first.common(&first.shifted(8)).get(0), None);
}

#[test]
fn what_is_forgotten_leaves_nothing_that_it_contradicts() {
    // An array of doubles in which one integer was seen, and an array of doubles.
    let doubles = Shape::cell(0, double()).unindexed(8);
    let mut mixed = doubles.clone();
    mixed.insert(16, Cell::Int);
    assert!(mixed.common(&doubles).is_empty());
    assert!(doubles.common(&mixed).is_empty());
    assert!(mixed.repeating().is_empty());
    assert_eq!(mixed.common(&mixed), mixed);
    // What was seen as it repeats may go.
    let mut seen = doubles.clone();
    seen.insert(16, double());
    assert_eq!(seen.common(&doubles), doubles);
    assert_eq!(seen.repeating(), doubles);
    // The same of a declaration.
    let mut declared = Shape::default();
    declared.declare(0, double());
    let mut used = declared.clone();
    used.insert(4, Cell::Int);
    assert!(used.common(&declared).is_empty());
}

#[test]
fn memory_of_any_length_repeats_one_period() {
    let one_double = Some((8, vec![(0, Piece::Float(FloatKind::F64))]));
    let doubles = Shape::cell(0, double()).unindexed(8);
    assert_eq!(doubles.period(1, false), one_double);
    assert_eq!(doubles.period(8, false), one_double);
    // Elements of 24 bytes need not be three doubles: an array in them may end.
    assert_eq!(doubles.period(24, false), None);
    let mut single = Shape::cell(0, double());
    single.insert(24, double());
    assert_eq!(single.period(8, false), one_double);
    assert_eq!(single.period(16, false), None);
    single.insert(12, double());
    assert_eq!(single.period(8, false), None);
    // The first eight bytes are a length, say: no one period describes that.
    let mut after_a_header = doubles;
    for byte in 0..8 {
        after_a_header.insert(byte, Cell::Int);
    }
    assert_eq!(after_a_header.period(8, false), None);
    assert_eq!(Shape::default().period(8, false), None);
}

#[test]
fn an_array_in_a_structure_does_not_hide_the_fields_behind_it() {
    // struct { double x[3]; int kind; float mass; } bodies[];
    let mut bodies = Shape::cell(0, double()).unindexed(8);
    for byte in 24..28 {
        bodies.insert_every(32, byte, Cell::Int);
    }
    bodies.insert_every(32, 28, Cell::Float(FloatKind::F32));
    let pieces = bodies.pieces(32, 32);
    let floats = |kind: FloatKind| {
        let found = pieces.iter().filter(|(_, p)| *p == Piece::Float(kind));
        found.map(|(at, _)| *at).collect::<Vec<_>>()
    };
    assert_eq!(floats(FloatKind::F64), [0, 8, 16]);
    assert_eq!(floats(FloatKind::F32), [28]);
    // If only the last field is seen, nothing is known of the one before it.
    let mut part = Shape::cell(0, double()).unindexed(8);
    part.insert_every(32, 28, Cell::Float(FloatKind::F32));
    assert_eq!(part.pieces(24, 8)[0], (0, Piece::Conflict));
}

#[test]
fn disagreement_is_kept() {
    let mut shape = Shape::cell(0, double());
    assert!(shape.insert(0, Cell::Float(FloatKind::F32)));
    assert!(matches!(shape.get(0), Some(Cell::Conflict(_))));
}

#[test]
fn recursive_shapes_are_cut() {
    let mut node = Shape::cell(0, double());
    for _ in 0..20 {
        let next = Cell::Ptr(Shared::new(node.clone()));
        node.insert(8, next);
    }
    assert!(node.to_string().len() < 200, "{node}");
}

#[test]
fn a_pointer_that_runs_over_a_declared_array_learns_of_one_element() {
    let mut array = Shape::default();
    array.declare(0, double());
    array.declare_element(8);
    let first = array.clone();
    for _ in 0..20 {
        let next = array.shifted(8).indexed(8);
        array.merge(&next);
    }
    assert_eq!(array, first);
    assert_eq!(array.elsewhere().get(80), Some(&double()));
}

#[test]
fn what_is_shared_is_compared_by_content() {
    let shape = || {
        Shared::new(Shape::cell(
            0,
            Cell::Ptr(Shared::new(Shape::cell(8, double()))),
        ))
    };
    let elsewhere = std::thread::spawn(shape).join().expect("no panic");
    assert_eq!(shape(), shape());
    assert_eq!(shape(), elsewhere);
    assert_eq!(shape().merged(&elsewhere, 3), elsewhere);
    assert_ne!(shape(), Shared::default());
}
