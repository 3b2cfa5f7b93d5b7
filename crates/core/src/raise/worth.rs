//! Says which loops are worth raising: before a region is read, and when its parts are known.
//!
//! A region is worth it if some nest of it is a product of matrices that there are kernels for.
//! Nothing changes here.

use super::distribute::Unit;
use super::tree::{Id, Node, Place, Write};
use super::{Analyses, Plan, Raise, Stop};
use crate::analysis::affine::Factor;
use crate::analysis::loops::Loop;
use crate::ir::{BinaryOp, Block, Combiner, Function, MathFn, Op, UnaryOp, Value};

/// An expression of more factors than this is no product that anybody would write.
const MOST_FACTORS: usize = 8;

/// Why a product beside rows of which the largest number is looked for stays in their loop.
const CHOOSES: &str = "each row that the product is made of has its largest number looked for in the \
                       same loop, and to keep the rows would cost more than the product gains";

/// Whether a function stores numbers or hands them on at all.
pub fn may_compute(function: &Function) -> bool {
    let is_float = |value: Value| function.ty(value).float_kind().is_some();
    let computes = |&block: &Block| {
        let mut insts = function.block_insts(block).iter();
        insts.any(|&inst| function.result(inst).is_some_and(is_float))
    };
    function.blocks().iter().any(computes)
}

/// Whether a loop may be worth it, and is small enough to look at: it multiplies in a loop inside of
/// it, unless it need not be worth anything.
pub fn is_promising(analyses: &Analyses, l: Loop, when: Raise) -> bool {
    const LARGEST: usize = 600;
    let (func, loops) = (analyses.func, analyses.loops);
    let blocks = loops.blocks(l);
    let size: usize = blocks.iter().map(|&b| func.block_insts(b).len()).sum();
    let multiplies = |&block: &Block| {
        let mut insts = func.block_insts(block).iter();
        loops.innermost(block) != Some(l)
            && insts.any(|&inst| is_multiplication(&func.inst(inst).op))
    };
    size <= LARGEST && (when == Raise::Always || blocks.iter().any(multiplies))
}

fn is_multiplication(op: &Op) -> bool {
    matches!(op, Op::Binary(BinaryOp::FMul) | Op::Math(MathFn::Fmuladd))
}

impl Plan {
    /// Whether some nest is a product of matrices. If there is one, and a loop that stays would cost more
    /// than it gains, that is why not.
    pub fn is_worth_it(&self) -> Result<bool, Stop> {
        let units = &self.parts.units;
        let has_contraction = units.iter().any(|unit| self.has_contraction(unit));
        match units.iter().find_map(Plan::choice_in_a_loop) {
            Some(write) if has_contraction => Err(Stop::Refused(CHOOSES, write.loc)),
            _ => Ok(has_contraction),
        }
    }

    /// What looks for a maximum or the like in a loop that stays, as in the rows of a softmax. What is done
    /// with each row then is done by loops, which analyses know more of than of nests: where the rows are
    /// small, keeping their numbers would cost more than the products gain.
    fn choice_in_a_loop(unit: &Unit) -> Option<Write> {
        let mut choice = None;
        if let Unit::Loop(..) = unit {
            unit.for_each_write(&mut |write| {
                if !matches!(write.join.combiner, Combiner::Store | Combiner::Sum) {
                    choice.get_or_insert_with(|| write.clone());
                }
            });
        }
        choice
    }

    fn has_contraction(&self, unit: &Unit) -> bool {
        match unit {
            Unit::Nest(nest, write) => {
                write.join.combiner == Combiner::Sum
                    && self.is_product(&nest.loops, &write.place, write.value)
            }
            Unit::Loop(_, units) => units.iter().any(|unit| self.has_contraction(unit)),
        }
    }

    /// Whether an expression that is added up has a term for which there are kernels: a product of two
    /// numbers from memory, each of which is used again where the other and the place of the sum are
    /// not. What else is multiplied is the same for all of them.
    fn is_product(&self, loops: &[Loop], place: &Place, id: Id) -> bool {
        if let Node::Op(data, _, args) = self.tree.node(id)
            && matches!(data.op, Op::Binary(BinaryOp::FAdd | BinaryOp::FSub))
        {
            return args.iter().any(|&arg| self.is_product(loops, place, arg));
        }
        let mut factors = Vec::new();
        self.factors(id, &mut factors);
        let has = |place: &Place, l: Loop| {
            let mut factors = place.address.factors();
            factors.any(|factor| factor == Factor::Counter(l))
        };
        let moves = |id: Id, l: Loop| {
            let mut moves = false;
            self.tree
                .for_each_load(id, &mut |_, place, _| moves |= has(place, l));
            moves
        };
        let needed = [
            [true, true, false],
            [true, false, true],
            [false, true, true],
        ];
        let is_load = |id: Id| matches!(self.tree.node(id), Node::Load(..));
        let pairs = (0..factors.len()).flat_map(|i| (i + 1..factors.len()).map(move |j| [i, j]));
        let mut pairs = pairs.filter(|pair| pair.iter().all(|&at| is_load(factors[at])));
        pairs.any(|[i, j]| {
            let role = |l: Loop| [has(place, l), moves(factors[i], l), moves(factors[j], l)];
            let others = (0..factors.len()).filter(|&at| at != i && at != j);
            let others: Vec<Id> = others.map(|at| factors[at]).collect();
            let same = |l: Loop| others.iter().all(|&factor| !moves(factor, l));
            let roles = loops.iter().filter(|&&l| same(l)).map(|&l| role(l));
            let roles: Vec<[bool; 3]> = roles.collect();
            needed.iter().all(|role| roles.contains(role))
        })
    }

    /// What an expression is the product of.
    fn factors(&self, id: Id, found: &mut Vec<Id>) {
        match self.tree.node(id) {
            Node::Op(data, _, args)
                if found.len() < MOST_FACTORS
                    && matches!(
                        data.op,
                        Op::Binary(BinaryOp::FMul) | Op::Unary(UnaryOp::FNeg)
                    ) =>
            {
                for &arg in args {
                    self.factors(arg, found);
                }
            }
            _ => found.push(id),
        }
    }
}
