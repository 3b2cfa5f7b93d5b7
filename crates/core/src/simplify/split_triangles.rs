//! Cuts products of matrices over triangles into products over rectangles.
//!
//! In causal attention, row t has the columns up to t. Kernels compute rectangles. So some rows at a
//! time are taken together: the columns that all of them have are a rectangle, and what is left is a
//! small triangle, which loops compute.
//!
//! Before: nests. After: where a nest is a product of matrices but for one loop that runs as often as
//! the counter of another one says, it is a loop over blocks of two nests, if there are several blocks.
//! Everything else is as it was.

use super::lower_products::triangle;
use crate::ir::{Block, Builder, Edge, Function, InstData, IntPred, Nest, Op, Type, Value};
use std::ops::Range;

/// How many iterations of the outer loop are taken together.
const BLOCK: i128 = 32;

/// Splits the triangles of a function; `block` replaces how many iterations are taken together.
pub fn run(function: &mut Function, block: Option<i128>) -> bool {
    let mut changed = false;
    for start in function.blocks().to_vec() {
        let mut start = start;
        loop {
            let insts = function.block_insts(start).to_vec();
            let found = insts.iter().enumerate().find_map(|(at, &inst)| {
                let data = function.inst(inst);
                triangle(function, data).map(|levels| (at, data.clone(), levels))
            });
            let Some((at, data, levels)) = found else {
                break;
            };
            changed = true;
            let after = function.add_block();
            function.set_block_insts(after, insts[at + 1..].to_vec());
            function.set_block_insts(start, insts[..at].to_vec());
            if let Op::Nest(nest) = &data.op {
                let triangle = Triangle {
                    nest,
                    data: &data,
                    levels,
                };
                triangle.split(function, start, after, block.unwrap_or(BLOCK));
            }
            start = after;
        }
    }
    changed
}

/// A nest whose loop `levels[1]` runs as often as the counter of `levels[0]` says.
struct Triangle<'a> {
    nest: &'a Nest,
    data: &'a InstData,
    levels: [usize; 2],
}

impl Triangle<'_> {
    /// Ends a block with the choice between the nest and its blocks, which both go on in another.
    fn split(&self, function: &mut Function, before: Block, after: Block, size: i128) {
        let (whole, start) = (function.add_block(), function.add_block());
        let nest = function.make_inst(self.data.clone(), Type::void());
        function.attach_inst(whole, nest);
        Builder::new(function, whole).jump(after, Vec::new());
        let to = |block: Block, args: Vec<Value>| Edge { block, args };
        let [outer, inner] = self.levels;
        let rows = self.data.args[self.bound(outer).start];
        let mut b = Builder::new(function, before);
        b.loc = self.data.loc;
        let zero = b.func.iconst(Type::i64(), 0);
        let two_blocks = b.func.iconst(Type::i64(), 2 * size);
        let several = b.icmp(IntPred::Sge, rows, two_blocks);
        b.branch(several, to(start, vec![zero]), to(whole, Vec::new()));

        let first = b.func.add_block_param(start, Type::i64());
        b.block = start;
        let least = |b: &mut Builder, x: Value, y: Value| {
            let is_less = b.icmp(IntPred::Slt, x, y);
            b.select(is_less, x, y)
        };
        let left = b.sub(rows, first);
        let size = b.func.iconst(Type::i64(), size);
        let count = least(&mut b, left, size);
        // How many columns the first row of the block has, and the last one.
        let bound = self.bound(inner).start;
        let slope = self.data.args[bound + 1 + outer];
        let moved = b.mul(slope, first);
        let of_first = b.add(self.data.args[bound], moved);
        let one = b.func.iconst(Type::i64(), 1);
        let to_last = b.sub(count, one);
        let to_last = b.mul(slope, to_last);
        let of_last = b.add(of_first, to_last);
        let common = least(&mut b, of_first, of_last);
        let is_negative = b.icmp(IntPred::Slt, common, zero);
        let common = b.select(is_negative, zero, common);

        let mut rectangle = self.data.clone();
        self.advance(&mut b, &mut rectangle, outer, first);
        rectangle.args[self.bound(outer).start] = count;
        let mut rest = rectangle.clone();
        rectangle.args[bound] = common;
        rectangle.args[bound + 1 + outer] = zero;
        self.advance(&mut b, &mut rest, inner, common);
        rest.args[bound] = b.sub(of_first, common);
        for part in [rectangle, rest] {
            b.func.append_inst(start, part, Type::void());
        }
        let next = b.add(first, count);
        let more = b.icmp(IntPred::Slt, next, rows);
        b.branch(more, to(start, vec![next]), to(after, Vec::new()));
    }

    fn bound(&self, level: usize) -> Range<usize> {
        self.nest.bound(level)
    }

    /// Lets all views begin where they are after so many iterations of a loop.
    fn advance(&self, b: &mut Builder, data: &mut InstData, level: usize, by: Value) {
        let views = self.nest.inputs.len() + self.nest.outputs.len();
        for view in (0..views).map(|view| self.nest.view(view)) {
            let distance = data.args[view.start + 1 + level];
            if b.func.as_int(distance) != Some(0) {
                let offset = b.mul(distance, by);
                data.args[view.start] = b.element(data.args[view.start], offset, 1);
            }
        }
    }
}
