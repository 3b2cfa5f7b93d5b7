//! Memory that a statement makes for itself, and numbers that say how often loops run.

use super::write::{Sink, Ty};
use super::{Size, Written};
use crate::tree::{Base, Index, REACH, Slot};

/// The usual loop.
const PLAIN: Written = Written {
    rotated: true,
    hoisted: false,
    narrow: false,
};

/// How often a loop runs: a number below `modulo`, and something more, of so many kinds.
pub(crate) fn number<S: Sink>(s: &mut S, size: &Size, modulo: i64, kinds: i64) -> String {
    let more = i64::from(size.more) % kinds;
    match &size.index {
        Index::Const(n) => s.whole(i64::from(*n) % modulo + more),
        index => {
            let count = s.count(index, modulo);
            let more = s.whole(more);
            s.int_op("add", &count, &more)
        }
    }
}

/// Makes memory and fills it.
pub(crate) fn filled<S: Sink>(
    s: &mut S,
    from: [Base; 2],
    ty: Ty,
    heap: bool,
    count: i64,
) -> String {
    let made = s.make(ty, heap, count);
    let from = from.map(|base| s.given(base, 0, REACH));
    let (zero, count) = (s.whole(0), s.whole(count));
    s.counted(PLAIN, [&zero, &count], &[], |s, e, _| {
        let three = s.whole(3);
        let index = s.int_op("and", e, &three);
        let [x, y] = from.each_ref().map(|from| {
            let at = s.at(Ty::Double, from, &index);
            s.read(Ty::Double, &at)
        });
        // All elements are different, and none is large.
        let weight = s.of_int(Ty::Double, e);
        let tenth = s.float(Ty::Double, 0.1371);
        let weight = s.float_op("fmul", Ty::Double, &weight, &tenth);
        let product = s.float_op("fmul", Ty::Double, &x, &weight);
        let sum = s.float_op("fadd", Ty::Double, &product, &y);
        let small = s.math("sin", Ty::Double, &[&sum]);
        let small = s.convert(&small, Ty::Double, ty);
        let at = s.at(ty, &made, e);
        s.write(ty, &small, &at);
        (Vec::new(), None)
    });
    made
}

/// Adds up what memory holds in the end, each element with a weight of its own.
pub(crate) fn add_up<S: Sink>(s: &mut S, result: Slot, ty: Ty, field: &str, count: i64) {
    let old = s.slot(result);
    let half = s.float(Ty::Double, 0.5);
    let old = s.float_op("fmul", Ty::Double, &old, &half);
    let (zero, count) = (s.whole(0), s.whole(count));
    let last = s.counted(PLAIN, [&zero, &count], &[(Ty::Double, old)], |s, e, now| {
        let at = s.at(ty, field, e);
        let x = s.read(ty, &at);
        let x = s.convert(&x, ty, Ty::Double);
        let seven = s.whole(7);
        let index = s.int_op("and", e, &seven);
        let weight = s.of_int(Ty::Double, &index);
        let by = s.float(Ty::Double, 0.0625);
        let weight = s.float_op("fmul", Ty::Double, &weight, &by);
        let least = s.float(Ty::Double, 0.1);
        let weight = s.float_op("fadd", Ty::Double, &weight, &least);
        let product = s.float_op("fmul", Ty::Double, &x, &weight);
        (
            vec![s.float_op("fadd", Ty::Double, &now[0], &product)],
            None,
        )
    });
    s.set_slot(result, last[0].clone());
}
