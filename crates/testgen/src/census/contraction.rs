//! What there is about loops that multiply and add up.

use crate::contraction::{
    Axis, Combine, Contraction, Finish, Held, Inner, Lead, Limit, Precision, Reads, Shift, Spot,
    Start, Style, Term,
};
use crate::tree::{Index, Int};

/// Notes the constructs of a contraction.
pub(super) fn note(of: &Contraction, note: &mut dyn FnMut(&'static str)) {
    let axes = of.axes();
    let has = |axis| axes.contains(&axis);
    note("loops that multiply and add up");
    note(
        match (has(Axis::I) as u8 + has(Axis::J) as u8, has(Axis::K)) {
            (2, true) => "product of matrices",
            (1, true) => "matrix and vector",
            (_, false) => "outer product",
            _ => "dot product",
        },
    );
    // The outermost loops are those of the output, or else sums are in memory.
    let in_order = axes.last() == Some(&Axis::K) || !has(Axis::K);
    note(match of.style {
        Style::Register if in_order => "sums in registers",
        Style::Block if in_order && axes.len() > 1 => "sums in a small array",
        _ => "sums in memory",
    });
    let given = of.memory == Held::Given;
    let registers = of.style == Style::Register && in_order;
    let varies = of
        .sizes
        .iter()
        .any(|size| matches!(&size.index, Index::Int(int) if matches!(int, Int::Rounded(_))));
    let transposed = (0..3).any(|n| of.views[n].transposed && of.axes_of(n).len() == 2);
    let lead = |lead| (0..3).any(|n| of.views[n].rows == lead && of.axes_of(n).len() == 2);
    let bounded = match of.limit {
        Limit::Whole => false,
        Limit::Below(axis) | Limit::UpTo(axis) | Limit::From(axis) => {
            let at = |wanted| axes.iter().position(|&axis| axis == wanted);
            at(axis).zip(at(Axis::K)).is_some_and(|(a, k)| a < k)
        }
    };
    let most = of.most();
    let empty = |axis: Axis| {
        let size = &of.sizes[axis as usize];
        let modulo = if most == 2 { 2 } else { 4 };
        size.more == 0 && matches!(size.index, Index::Const(n) if i64::from(n) % modulo == 0)
    };
    let spots: Vec<Spot> = std::iter::once(of.to)
        .chain(of.either.iter().map(|(_, spot)| *spot))
        .collect();
    let on = |operand: &Spot, spot: &Spot| match given {
        true => operand.base == spot.base,
        false => operand.area == spot.area,
    };
    let meets = |by: &dyn Fn(&Spot, &Spot) -> bool| {
        let mut pairs = spots
            .iter()
            .flat_map(|spot| of.from.iter().map(move |x| (spot, x)));
        pairs.any(|(spot, x)| by(spot, x))
    };
    let facts = [
        (has(Axis::Batch), "products side by side"),
        (transposed, "transposed operand"),
        (lead(Lead::Sliding), "rows that overlap"),
        (lead(Lead::Same), "rows at the same place"),
        (of.start == Start::Old, "sum that begins with what is there"),
        (of.term == Term::Two, "sum of two products"),
        (of.adds == Combine::Subtract, "subtraction of products"),
        (
            matches!(of.adds, Combine::Multiply | Combine::Max | Combine::Min),
            "product, maximum or minimum over a loop",
        ),
        (of.beside.is_some() && registers, "two sums in one loop"),
        (of.finish == Finish::Scaled, "sum that is scaled"),
        (of.finish == Finish::Tanh, "sum through a function"),
        (bounded, "triangular bounds"),
        (of.stride() > 1, "elements that are not neighbours"),
        (
            !given && of.precision == Precision::Single,
            "products in single precision",
        ),
        (
            !given && of.precision == Precision::Mixed,
            "products in two precisions",
        ),
        (
            of.rows.is_some() && has(Axis::I) && has(Axis::J),
            "rows divided by their sums",
        ),
        (of.inner == Inner::ReadsSum, "sum read while it grows"),
        (
            of.inner == Inner::StoresSum && !given,
            "operand written while it is read",
        ),
        (
            of.inner == Inner::StoresBeside && !given,
            "store beside a sum",
        ),
        (
            matches!(of.inner, Inner::If | Inner::Select),
            "only some products added",
        ),
        (of.inner == Inner::Breaks && registers, "sum left early"),
        (of.reads == Reads::Skipping, "operand read out of order"),
        (of.reads == Reads::ByData, "operand read where data say"),
        (varies, "loops that run as often as data say"),
        (
            axes.iter().any(|&axis| empty(axis)),
            "loop that does not run",
        ),
        (
            meets(&|t, x| on(x, t) && t.shift == x.shift),
            "output on an operand",
        ),
        (
            meets(&|t, x| on(x, t) && t.shift == Shift::Row),
            "output a row behind an operand",
        ),
        (
            meets(&|t, x| on(x, t) && t.shift != Shift::Row && t.shift != x.shift),
            "output in the midst of an operand",
        ),
        (of.either.is_some(), "output here or there"),
        (of.from[0] == of.from[1], "one matrix twice"),
    ];
    for (holds, construct) in facts {
        if holds {
            note(construct);
        }
    }
}
