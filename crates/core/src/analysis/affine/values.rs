//! How values of a function become affine forms.

use super::{Affine, Base, Factor};
use crate::analysis::cfg::Cfg;
use crate::analysis::loops::{Loop, Loops};
use crate::ir::{
    BinaryOp, Block, CastOp, Constant, Flags, Function, Inst, Op, Type, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

/// How many instructions one question may look through, which bounds its cost.
const BUDGET: u32 = 400;
/// What must be promised of the sums that are looked through.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Wrap {
    /// Nothing; only for addresses and 64-bit integers.
    Modular,
    /// That they do not wrap, read as signed.
    Signed,
    /// That they do not wrap, read as unsigned.
    Unsigned,
}

/// The instructions that compute integers from arguments, and from what memory of arguments holds
/// before the function writes any, such as sizes that it finds in a structure. All of them are at the
/// beginning of the entry.
pub fn known_first(func: &Function, entry: Block) -> Vec<Inst> {
    let mut found: Vec<Inst> = Vec::new();
    for &inst in func.block_insts(entry) {
        let data = func.inst(inst);
        let is_known = |value: &Value| match func.def(*value) {
            ValueDef::Const(_) => true,
            ValueDef::Param(block, _) => *block == entry,
            ValueDef::Result(inst) => found.contains(inst),
        };
        let is_integer = |value: &Value| func.ty(*value).is_int();
        let known = data.args.iter().all(is_known);
        let new = match &data.op {
            Op::Load(access) => {
                let integer = func.result(inst).as_ref().is_some_and(is_integer);
                integer && !access.volatile && access.atomic.is_none()
            }
            // An address inside of an argument that is a structure.
            Op::Address { scales, .. } => scales.is_empty(),
            Op::Binary(
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::SDiv
                | BinaryOp::UDiv
                | BinaryOp::SRem
                | BinaryOp::URem,
            ) => data.args.iter().all(is_integer),
            Op::Binary(BinaryOp::Shl) => {
                let bits = func
                    .result(inst)
                    .and_then(|value| func.ty(value).int_bits());
                let by = func.as_int(data.args[1]);
                by.zip(bits)
                    .is_some_and(|(by, bits)| (0..i128::from(bits)).contains(&by))
            }
            Op::Cast(CastOp::SExt | CastOp::ZExt | CastOp::Trunc) => {
                data.args.iter().all(is_integer)
            }
            Op::Binary(_) | Op::Unary(_) | Op::Cast(_) | Op::ICmp(_) | Op::FCmp(_) => false,
            Op::Select | Op::Alloca { .. } => false,
            _ => break,
        };
        if new && known {
            found.push(inst);
        }
    }
    found
}

/// Answers questions about the values of one function.
pub struct AffineValues<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    loops: &'a Loops,
    inst_blocks: SecondaryMap<Inst, Option<Block>>,
    in_progress: RefCell<Vec<Value>>,
    budget: Cell<u32>,
    addresses: RefCell<HashMap<(Value, Block), Affine>>,
    exact_addresses: RefCell<HashMap<(Value, Block), Affine>>,
    known_first: HashSet<Inst>,
    /// The narrow integers of which it was assumed that they do not wrap, if that may be.
    assumed: Option<RefCell<Vec<(Value, Wrap)>>>,
}

impl<'a> AffineValues<'a> {
    /// Ready to answer questions about a function in canonical form. (On other functions fewer
    /// values are seen to be affine.)
    pub fn new(func: &'a Function, cfg: &'a Cfg, loops: &'a Loops) -> AffineValues<'a> {
        AffineValues {
            func,
            cfg,
            loops,
            inst_blocks: func.inst_blocks(),
            in_progress: RefCell::default(),
            budget: Cell::new(0),
            addresses: RefCell::default(),
            exact_addresses: RefCell::default(),
            known_first: known_first(func, cfg.entry()).into_iter().collect(),
            assumed: None,
        }
    }

    /// The same, but integers of fewer than 64 bits are looked into as if nothing wrapped. Answers
    /// hold if the [`assumptions`](Self::assumptions) do.
    pub fn optimistic(func: &'a Function, cfg: &'a Cfg, loops: &'a Loops) -> AffineValues<'a> {
        AffineValues {
            assumed: Some(RefCell::default()),
            ..AffineValues::new(func, cfg, loops)
        }
    }

    /// What was assumed so far: values that have the given form, in so many bits, read as signed or
    /// not.
    pub fn assumptions(&self) -> Vec<(Value, u32, bool, Affine)> {
        let assumed = self.assumed.as_ref().map(|all| all.borrow().clone());
        let form = |(value, wrap): (Value, Wrap)| {
            let bits = self.func.ty(value).int_bits()?;
            let block = self.def_block(value)?;
            let form = self.integer(value, wrap, block);
            Some((value, bits, wrap != Wrap::Unsigned, form))
        };
        assumed.into_iter().flatten().filter_map(form).collect()
    }

    /// Takes it for granted that the result of an instruction does not wrap, if that may be.
    fn assume(&self, inst: Inst, wrap: Wrap) -> bool {
        let (Some(assumed), Some(value)) = (&self.assumed, self.func.result(inst)) else {
            return false;
        };
        let narrow = self.func.ty(value).int_bits().is_some_and(|bits| bits < 64);
        if narrow && !assumed.borrow().contains(&(value, wrap)) {
            assumed.borrow_mut().push((value, wrap));
        }
        narrow
    }

    /// A pointer, as seen in a block: only counters of loops around the block occur.
    pub fn address(&self, pointer: Value, at: Block) -> Affine {
        self.known_address(&self.addresses, pointer, Wrap::Modular, at)
    }

    /// A pointer, as seen in a block, such that the distance between two of the same base is exact
    /// and not only modulo 2⁶⁴.
    pub fn exact_address(&self, pointer: Value, at: Block) -> Affine {
        self.known_address(&self.exact_addresses, pointer, Wrap::Signed, at)
    }

    fn known_address(
        &self,
        known: &RefCell<HashMap<(Value, Block), Affine>>,
        pointer: Value,
        wrap: Wrap,
        at: Block,
    ) -> Affine {
        if let Some(known) = known.borrow().get(&(pointer, at)) {
            return known.clone();
        }
        self.budget.set(BUDGET);
        let answer = Some(self.expand(pointer, wrap))
            .filter(|answer| self.is_seen_from(answer, at))
            .unwrap_or_else(|| Affine::leaf_pointer(self.func, pointer));
        known.borrow_mut().insert((pointer, at), answer.clone());
        answer
    }

    /// An integer, as seen in a block.
    pub fn integer(&self, value: Value, wrap: Wrap, at: Block) -> Affine {
        self.budget.set(BUDGET);
        let answer = self.expand(value, wrap);
        match self.is_seen_from(&answer, at) {
            true => answer,
            false => self.leaf(value, wrap),
        }
    }

    /// Whether every part of a form has one value during all iterations of a loop.
    pub fn is_invariant(&self, form: &Affine, l: Loop) -> bool {
        let fixed = |value: Value| match self.def_block(value) {
            Some(block) => !self.loops.contains(l, block),
            None => true,
        };
        let base_fixed = match form.base {
            Some(Base::Value(value)) => fixed(value),
            _ => true,
        };
        base_fixed
            && form.factors().all(|factor| match factor {
                Factor::Counter(inner) => !self.loops.is_inside(inner, l),
                Factor::Signed(value) | Factor::Unsigned(value) => fixed(value),
            })
    }

    /// Whether no part of a form is handed on from one iteration of a loop to the next: what could not
    /// be expressed by counters.
    pub fn is_resolved(&self, form: &Affine) -> bool {
        form.factors().all(|factor| match factor {
            Factor::Counter(_) => true,
            Factor::Signed(value) | Factor::Unsigned(value) => match *self.func.def(value) {
                ValueDef::Param(block, _) => self.loops.headed_by(block).is_none(),
                ValueDef::Const(_) | ValueDef::Result(_) => true,
            },
        })
    }

    /// Whether every part of a form is known when the function is entered.
    pub fn is_known_at_entry(&self, form: &Affine) -> bool {
        let entry = self.cfg.entry();
        let known = |value: Value| match *self.func.def(value) {
            ValueDef::Const(_) => true,
            ValueDef::Param(block, _) => block == entry,
            ValueDef::Result(inst) => self.known_first.contains(&inst),
        };
        let base_known = match form.base {
            Some(Base::Value(value)) => known(value),
            _ => true,
        };
        base_known
            && form.factors().all(|factor| match factor {
                Factor::Counter(_) => false,
                Factor::Signed(value) | Factor::Unsigned(value) => known(value),
            })
    }

    /// The block that defines a value; none for constants.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match *self.func.def(value) {
            ValueDef::Const(_) => None,
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Result(inst) => self.inst_blocks[inst],
        }
    }

    fn is_seen_from(&self, form: &Affine, at: Block) -> bool {
        form.factors().all(|factor| match factor {
            Factor::Counter(l) => self.loops.contains(l, at),
            _ => true,
        })
    }

    fn leaf(&self, value: Value, wrap: Wrap) -> Affine {
        if self.func.ty(value).is_ptr() {
            return Affine::leaf_pointer(self.func, value);
        }
        let narrow = self.func.ty(value).int_bits().is_some_and(|bits| bits < 64);
        let factor = match wrap {
            Wrap::Unsigned if narrow => Factor::Unsigned(value),
            _ => Factor::Signed(value),
        };
        Affine::product(vec![factor], 1)
    }

    fn spend(&self) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(1));
        left > 0
    }

    fn expand(&self, value: Value, wrap: Wrap) -> Affine {
        let is_usable = |form: &Affine| {
            let at = self.def_block(value);
            form.is_small() && at.is_none_or(|at| self.is_seen_from(form, at))
        };
        self.try_expand(value, wrap)
            .filter(is_usable)
            .unwrap_or_else(|| self.leaf(value, wrap))
    }

    fn try_expand(&self, value: Value, wrap: Wrap) -> Option<Affine> {
        let ty = self.func.ty(value);
        if !self.spend() || !(ty.is_ptr() || ty.is_int()) {
            return None;
        }
        // Integers of fewer bits have exact forms only, and there is no form of wider ones.
        let wrap = match ty.int_bits() {
            Some(bits) if bits > 64 => return None,
            Some(bits) if bits < 64 && wrap == Wrap::Modular => Wrap::Signed,
            _ => wrap,
        };
        match self.func.def(value) {
            ValueDef::Const(Constant::Int(n)) => {
                let signed = self.func.as_int(value)?;
                let n = match wrap {
                    Wrap::Unsigned if ty != Type::i64() => i128::try_from(*n).ok()?,
                    _ => signed,
                };
                Some(Affine::number(n))
            }
            ValueDef::Const(Constant::Address(symbol, offset)) => Some(Affine {
                base: Some(Base::Symbol(*symbol)),
                ..Affine::number(i128::from(*offset))
            }),
            ValueDef::Const(_) => None,
            ValueDef::Param(block, position) => self.param(value, *block, *position, wrap),
            ValueDef::Result(inst) => self.result(*inst, wrap),
        }
    }

    fn result(&self, inst: Inst, wrap: Wrap) -> Option<Affine> {
        let data = self.func.inst(inst);
        let args = &data.args;
        let promised = match wrap {
            Wrap::Modular => true,
            _ if matches!(data.op, Op::Address { .. }) => {
                data.flags.intersects(Flags::INBOUNDS | Flags::NUSW)
            }
            Wrap::Signed => data.flags.contains(Flags::NSW),
            Wrap::Unsigned => data.flags.contains(Flags::NUW),
        };
        let promised = promised || is_sum(&data.op) && self.assume(inst, wrap);
        match &data.op {
            Op::Binary(BinaryOp::Add) if promised => {
                self.expand(args[0], wrap).plus(&self.expand(args[1], wrap))
            }
            Op::Binary(BinaryOp::Or) if data.flags.contains(Flags::DISJOINT) => {
                self.expand(args[0], wrap).plus(&self.expand(args[1], wrap))
            }
            Op::Binary(BinaryOp::Sub) if promised => self
                .expand(args[0], wrap)
                .minus(&self.expand(args[1], wrap)),
            Op::Binary(BinaryOp::Mul) if promised => self
                .expand(args[0], wrap)
                .times(&self.expand(args[1], wrap)),
            Op::Binary(BinaryOp::Shl) if promised => {
                let bits = u32::try_from(self.func.as_int(args[1])?).ok()?;
                let factor = Affine::number(1i128.checked_shl(bits.min(100))?);
                self.expand(args[0], wrap).times(&factor)
            }
            // An extension to fewer than 64 bits is exact as well, so it says the same of the
            // wider integer as of its operand, if that is read with the same sign.
            Op::Cast(CastOp::SExt) if wrap != Wrap::Unsigned => {
                Some(self.expand(args[0], Wrap::Signed))
            }
            Op::Cast(CastOp::ZExt) if data.flags.contains(Flags::NNEG) => {
                Some(self.expand(args[0], Wrap::Signed))
            }
            Op::Cast(CastOp::ZExt) => Some(self.expand(args[0], Wrap::Unsigned)),
            Op::Cast(CastOp::Trunc) if self.assume(inst, wrap) => {
                Some(self.expand(args[0], Wrap::Modular))
            }
            Op::Address { offset, scales } if promised => {
                let mut sum = self
                    .expand(args[0], wrap)
                    .plus(&Affine::number(i128::from(*offset)))?;
                // An address that does not wrap promises that of its own sum, not of its indices.
                let within = match wrap {
                    Wrap::Signed => Wrap::Signed,
                    _ => Wrap::Modular,
                };
                for (&index, &scale) in args[1..].iter().zip(scales) {
                    let scale = Affine::number(i128::from(scale));
                    let part = self.expand(index, within).times(&scale)?;
                    sum = sum.plus(&part)?;
                }
                Some(sum)
            }
            _ => None,
        }
    }

    fn param(&self, value: Value, block: Block, position: usize, wrap: Wrap) -> Option<Affine> {
        if self.in_progress.borrow().contains(&value) {
            return None;
        }
        let incoming = |(pred, edge): (Block, usize)| self.func.edges(pred)[edge].args[position];
        let preds = self.cfg.predecessors(block);
        let (&first, rest) = preds.split_first()?;
        let given = incoming(first);
        if rest.iter().all(|&edge| incoming(edge) == given) {
            return Some(self.expand(given, wrap));
        }
        let Some(l) = self.loops.headed_by(block) else {
            // Different values with one form, such as the next counter on each way to a latch.
            let form = self.expand(given, wrap);
            let same = |&edge| self.expand(incoming(edge), wrap) == form;
            return rest.iter().all(same).then_some(form);
        };
        let (mut start, mut next) = (None, None);
        for &edge in preds {
            let slot = match self.loops.contains(l, edge.0) {
                true => &mut next,
                false => &mut start,
            };
            match slot {
                Some(known) if *known != incoming(edge) => return None,
                _ => *slot = Some(incoming(edge)),
            }
        }
        self.in_progress.borrow_mut().push(value);
        let next = self.expand(next?, wrap);
        self.in_progress.borrow_mut().pop();
        let step = next.minus(&self.leaf(value, wrap))?;
        // The step may mention neither the parameter nor anything else that changes.
        if step.base.is_some() || !self.is_invariant(&step, l) {
            return None;
        }
        let counter = Affine::product(vec![Factor::Counter(l)], 1);
        let start = start?;
        let from = Some(self.expand(start, wrap)).filter(|form| self.is_seen_from(form, block));
        let from = from.unwrap_or_else(|| self.leaf(start, wrap));
        from.plus(&step.times(&counter)?)
    }
}

fn is_sum(op: &Op) -> bool {
    matches!(
        op,
        Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl)
    )
}
