//! Loops that multiply and add up, with less about them.

use super::{conds, ints};
use crate::contraction::{
    Axis, Combine, Contraction, Finish, Held, Inner, Lead, Limit, Precision, Reads, Size, Start,
    Style, Term, View, Written,
};
use crate::tree::{Index, Stmt};

/// The same with one thing as it usually is.
pub(super) fn simpler(of: &Contraction) -> Vec<Stmt> {
    let mut all = Vec::new();
    let mut change = |how: &dyn Fn(&mut Contraction)| {
        let mut other = of.clone();
        how(&mut other);
        if other != *of {
            all.push(Stmt::Contraction(Box::new(other)));
        }
    };
    change(&|of| of.either = None);
    for axis in [Axis::Batch, Axis::I, Axis::J, Axis::K] {
        // One loop is the least.
        change(&|of| {
            if of.loops.len() > 1 {
                of.loops.retain(|&other| other != axis);
            }
        });
    }
    change(&|of| {
        of.loops.sort_by_key(|axis| *axis as u8);
    });
    change(&|of| of.memory = Held::Frame);
    change(&|of| of.precision = Precision::Double);
    change(&|of| of.strided = false);
    change(&|of| of.style = Style::Register);
    change(&|of| of.start = Start::Zero);
    change(&|of| of.term = Term::Product);
    change(&|of| of.adds = Combine::Add);
    change(&|of| of.beside = None);
    change(&|of| of.finish = Finish::Plain);
    change(&|of| of.limit = Limit::Whole);
    change(&|of| of.inner = Inner::Nothing);
    change(&|of| of.reads = Reads::Straight);
    change(&|of| of.rows = None);
    change(&|of| of.apart = false);
    change(&|of| {
        of.written = Written {
            rotated: true,
            hoisted: false,
            narrow: false,
        };
    });
    for operand in 0..3 {
        change(&|of| {
            of.views[operand] = View {
                transposed: false,
                rows: of.views[operand].rows,
            };
        });
        change(&|of| of.views[operand].rows = Lead::Fixed);
    }
    for axis in 0..4 {
        change(&|of| {
            of.sizes[axis] = Size {
                index: Index::Const(1),
                more: 1,
            };
        });
        if let Index::Int(int) = &of.sizes[axis].index {
            for int in ints(int) {
                change(&|of| of.sizes[axis].index = Index::Int(int.clone()));
            }
        }
    }
    if let Some((cond, _)) = &of.either {
        for cond in conds(cond) {
            change(&|of| {
                if let Some(either) = &mut of.either {
                    either.0 = cond.clone();
                }
            });
        }
    }
    all
}
