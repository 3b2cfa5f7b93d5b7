//! Turns products of matrices into calls of kernels.
//!
//! Before: nests. After: where a nest adds up products of two inputs, and the order of its sums is
//! free, there is a choice at run time: the kernel of the runtime library (`crates/rt`), if it is
//! part of the program and there is enough to do, or the nest. A sum of several products is one nest
//! for each. Everything else is as it was.
//!
//! Of the loops of such a nest, those that only the output and the first input depend on are *rows*,
//! those of the output and the second input *columns*, and those of both inputs the *inner* ones. A
//! kernel takes one of each, and the others are loops around its call. Two loops of one kind are one
//! for the kernel if the outer one goes on where the inner one ends, as those of a product that is
//! computed in blocks of rows do; that, too, is found out at run time.

mod product;

pub use product::{has_kernels, triangle};

use crate::ir::{
    BinaryOp, Block, Builder, Constant, Edge, Func, Function, InstData, IntPred, Module, Nest, Op,
    Signature, Symbol, Type, Value,
};
use crate::support;
use product::{Factor, Product, products};

/// How many multiplications are enough to do.
const ENOUGH: i128 = 1 << 15;
/// Kernels are made for sizes that are no smaller than this.
const SMALLEST: i128 = 4;

/// Lowers the products of a function. `enough` replaces the number of multiplications from which on
/// a kernel is called.
pub fn run(module: &mut Module, func: Func, enough: Option<i128>) -> bool {
    let mut open = module.funcs[func].blocks().to_vec();
    let mut changed = false;
    while let Some(block) = open.pop() {
        let function = &module.funcs[func];
        let insts = function.block_insts(block).to_vec();
        let found = insts.iter().enumerate().find_map(|(at, &inst)| {
            let products = products(function, function.inst(inst));
            (!products.is_empty()).then_some((at, products))
        });
        let Some((at, products)) = found else {
            continue;
        };
        changed = true;
        module.funcs[func].set_block_insts(block, insts[..at].to_vec());
        let mut block = block;
        for (data, product) in products {
            let (kernel, sig) = support::product(module, product.kind);
            let function = &mut module.funcs[func];
            let after = function.add_block();
            let lowering = Lowering {
                data,
                product,
                kernel,
                sig,
                enough,
            };
            lowering.choose(function, block, after);
            block = after;
        }
        module.funcs[func].set_block_insts(block, insts[at + 1..].to_vec());
        open.push(block);
    }
    changed
}

/// The replacement of one nest.
struct Lowering {
    data: InstData,
    product: Product,
    kernel: Func,
    sig: Signature,
    enough: Option<i128>,
}

/// One of the three sizes of a kernel, with its distances in the two matrices that have it.
struct Size {
    count: Value,
    distances: [Value; 2],
}

impl Lowering {
    /// Ends a block with the choice between kernel and nest, which both go on in another.
    fn choose(&self, function: &mut Function, block: Block, after: Block) {
        let (large, small) = (function.add_block(), function.add_block());
        let nest = function.make_inst(self.data.clone(), Type::void());
        function.attach_inst(small, nest);
        Builder::new(function, small).jump(after, Vec::new());
        let mut b = Builder::new(function, block);
        b.loc = self.data.loc;
        // How often loops around the call run that are not part of it.
        let mut around: Vec<(usize, Value)> = Vec::new();
        let sizes = [0, 1, 2].map(|role| self.size(&mut b, role, &mut around));
        let pointer = Constant::Address(Symbol::Func(self.kernel), 0);
        let pointer = b.func.constant(Type::ptr(), pointer);
        let null = b.func.zero(Type::ptr());
        let mut all = vec![b.icmp(IntPred::Ne, pointer, null)];
        let smallest = match self.enough {
            Some(_) => 1,
            None => SMALLEST,
        };
        let smallest = b.func.iconst(Type::i64(), smallest);
        for size in &sizes {
            all.push(b.icmp(IntPred::Sge, size.count, smallest));
        }
        let work = b.mul(sizes[0].count, sizes[1].count);
        let work = b.mul(work, sizes[2].count);
        let enough = b.func.iconst(Type::i64(), self.enough.unwrap_or(ENOUGH));
        all.push(b.icmp(IntPred::Sge, work, enough));
        all.push(self.is_spread(&mut b, &sizes));
        let both = all.into_iter().reduce(|x, y| b.binary(BinaryOp::And, x, y));
        let Some(condition) = both else {
            return;
        };
        let to = |block: Block| Edge {
            block,
            args: Vec::new(),
        };
        b.branch(condition, to(large), to(small));
        let others = self.product.around.iter().map(|&level| (level, None));
        let others = others.chain(
            around
                .into_iter()
                .map(|(level, count)| (level, Some(count))),
        );
        let mut others: Vec<(usize, Option<Value>)> = others.collect();
        others.sort_by_key(|(level, _)| *level);
        let end = self.loops(function, large, &others, &mut Vec::new(), &sizes);
        Builder::new(function, end).jump(after, Vec::new());
    }

    fn nest(&self) -> &Nest {
        match &self.data.op {
            Op::Nest(nest) => nest,
            _ => panic!("a product that is no nest"),
        }
    }

    /// The views that have a role: of the output and the first input rows, and so on.
    fn views(&self, role: usize) -> [usize; 2] {
        let (out, [first, second]) = (self.nest().inputs.len(), self.product.inputs);
        [[out, first], [out, second], [first, second]][role]
    }

    fn distance(&self, view: usize, level: usize) -> Value {
        self.data.args[self.nest().view(view)][1 + level]
    }

    fn count(&self, level: usize) -> Value {
        self.data.args[self.nest().bound(level).start]
    }

    /// The loops of a role, as one as far as they follow each other; the rest goes around the call.
    fn size(&self, b: &mut Builder, role: usize, around: &mut Vec<(usize, Value)>) -> Size {
        let views = self.views(role);
        let mut levels = self.product.loops[role].iter().rev().copied();
        let Some(innermost) = levels.next() else {
            panic!("a product without loops of a role");
        };
        let mut count = self.count(innermost);
        let distances = views.map(|view| self.distance(view, innermost));
        for level in levels {
            let follow = [0, 1].map(|i| {
                let end = b.mul(distances[i], count);
                b.icmp(IntPred::Eq, self.distance(views[i], level), end)
            });
            let follows = b.binary(BinaryOp::And, follow[0], follow[1]);
            let joined = b.mul(count, self.count(level));
            let one = b.func.iconst(Type::i64(), 1);
            let rest = b.select(follows, one, self.count(level));
            // A loop that does not run at all is left to the sizes.
            count = b.select(follows, joined, count);
            around.push((level, rest));
        }
        Size { count, distances }
    }

    /// Whether elements of the output are different from each other.
    fn is_spread(&self, b: &mut Builder, [rows, columns, _]: &[Size; 3]) -> Value {
        let zero = b.func.iconst(Type::i64(), 0);
        let mut absolute = |x: Value| {
            let negative = b.icmp(IntPred::Slt, x, zero);
            let other = b.sub(zero, x);
            b.select(negative, other, x)
        };
        let (row, column) = (absolute(rows.distances[0]), absolute(columns.distances[0]));
        let [across, down] = [(column, columns.count), (row, rows.count)].map(|(x, n)| b.mul(x, n));
        let rows_apart = b.icmp(IntPred::Sge, row, across);
        let columns_apart = b.icmp(IntPred::Sge, column, down);
        b.binary(BinaryOp::Or, rows_apart, columns_apart)
    }

    /// The call, in loops; gives the block it ends in.
    fn loops(
        &self,
        function: &mut Function,
        block: Block,
        others: &[(usize, Option<Value>)],
        counters: &mut Vec<(usize, Value)>,
        sizes: &[Size; 3],
    ) -> Block {
        let Some((&(level, count), others)) = others.split_first() else {
            self.call(function, block, counters, sizes);
            return block;
        };
        let (start, after) = (function.add_block(), function.add_block());
        let counter = function.add_block_param(start, Type::i64());
        let mut b = Builder::new(function, block);
        b.loc = self.data.loc;
        let count = count.unwrap_or_else(|| {
            let terms = &self.data.args[self.nest().bound(level)];
            let steps = counters
                .iter()
                .map(|&(outer, counter)| (terms[1 + outer], counter));
            self.sum(&mut b, terms[0], steps)
        });
        let (zero, one) = (b.func.iconst(Type::i64(), 0), b.func.iconst(Type::i64(), 1));
        let some = b.icmp(IntPred::Sgt, count, zero);
        let edge = |block: Block, args: Vec<Value>| Edge { block, args };
        b.branch(some, edge(start, vec![zero]), edge(after, Vec::new()));
        counters.push((level, counter));
        let end = self.loops(function, start, others, counters, sizes);
        counters.pop();
        let mut b = Builder::new(function, end);
        b.loc = self.data.loc;
        let next = b.add(counter, one);
        let more = b.icmp(IntPred::Slt, next, count);
        b.branch(more, edge(start, vec![next]), edge(after, Vec::new()));
        after
    }

    fn sum(
        &self,
        b: &mut Builder,
        first: Value,
        steps: impl Iterator<Item = (Value, Value)>,
    ) -> Value {
        steps.fold(first, |sum, (step, counter)| match b.func.as_int(step) {
            Some(0) => sum,
            _ => {
                let moved = b.mul(step, counter);
                b.add(sum, moved)
            }
        })
    }

    fn call(
        &self,
        function: &mut Function,
        block: Block,
        counters: &[(usize, Value)],
        [rows, columns, inner]: &[Size; 3],
    ) {
        let mut b = Builder::new(function, block);
        b.loc = self.data.loc;
        let (out, inputs) = (self.nest().inputs.len(), self.product.inputs);
        let scale = self.scale(&mut b, counters);
        let [out, first, second] =
            [out, inputs[0], inputs[1]].map(|view| self.address(&mut b, view, counters));
        let args = vec![
            rows.count,
            columns.count,
            inner.count,
            out,
            rows.distances[0],
            columns.distances[0],
            first,
            rows.distances[1],
            inner.distances[0],
            second,
            inner.distances[1],
            columns.distances[1],
            scale,
        ];
        b.call(self.kernel, self.sig.clone(), args);
    }

    /// Where a matrix begins in an iteration of the loops around the call.
    fn address(&self, b: &mut Builder, view: usize, counters: &[(usize, Value)]) -> Value {
        let base = self.data.args[self.nest().view(view).start];
        let zero = b.func.iconst(Type::i64(), 0);
        let steps = counters
            .iter()
            .map(|&(level, c)| (self.distance(view, level), c));
        let moved = self.sum(b, zero, steps);
        match b.func.as_int(moved) {
            Some(0) => base,
            _ => b.element(base, moved, 1),
        }
    }

    /// What the whole product is multiplied by.
    fn scale(&self, b: &mut Builder, counters: &[(usize, Value)]) -> Value {
        let nest = self.nest();
        let ty = nest.output_type(0);
        let one = if self.product.negative { -1.0 } else { 1.0 };
        let mut scale = b.func.fconst(ty, one);
        for factor in &self.product.factors {
            let factor = match *factor {
                Factor::Input(input) => {
                    let address = self.address(b, input, counters);
                    b.load(ty, address, nest.inputs[input].clone())
                }
                Factor::Fixed(value) => {
                    let taken = nest.taken().iter().position(|&param| param == value);
                    match (taken, nest.body.func.as_const(value)) {
                        (Some(at), _) => self.data.args[nest.outside() + at],
                        (None, Some(constant)) => b.func.constant(ty, constant.clone()),
                        (None, None) => panic!("a factor that is not fixed"),
                    }
                }
            };
            scale = b.fmul(scale, factor);
        }
        scale
    }
}
