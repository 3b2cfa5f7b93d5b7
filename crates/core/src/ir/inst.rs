//! Instructions: an operation, its operands, its flags and where it came from.

use super::{
    Access, BinaryOp, Block, Call, CastOp, Flags, FloatPred, IntPred, Loc, MathFn, MemoryEffects,
    Nest, Ordering, Origin, Request, RmwOp, SyncScope, Type, UnaryOp, Value,
};

/// One instruction. The operands are all in `args`, except those passed along edges, which are in
/// the [`Edge`]s of the operation.
#[derive(Clone, PartialEq, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Its operands, in the order that the operation documents.
    pub args: Vec<Value>,
    /// Promises and permissions.
    pub flags: Flags,
    /// The place in the source program.
    pub loc: Option<Loc>,
    /// The foreign instruction this one was read from; cleared by whoever changes the meaning.
    pub origin: Option<Origin>,
}

impl InstData {
    /// An instruction with no flags, location or origin.
    pub fn new(op: Op, args: Vec<Value>) -> InstData {
        InstData {
            op,
            args,
            flags: Flags::empty(),
            loc: None,
            origin: None,
        }
    }

    /// Calls `f` on every operand, those on edges included.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        self.args.iter().copied().for_each(&mut f);
        self.op
            .edges()
            .iter()
            .for_each(|edge| edge.args.iter().copied().for_each(&mut f));
    }

    /// Replaces every operand, those on edges included, by what `f` gives for it.
    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        self.args.iter_mut().for_each(|v| *v = f(*v));
        for edge in self.op.edges_mut() {
            edge.args.iter_mut().for_each(|v| *v = f(*v));
        }
    }
}

/// An edge to a block, with one argument for each parameter of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it leads.
    pub block: Block,
    /// The values of the block's parameters.
    pub args: Vec<Value>,
}

/// The operations. `args` names the operands each one takes, in order.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// `args`: x. Negation of a float, or `freeze` of anything.
    Unary(UnaryOp),
    /// `args`: x, y, of the type of the result. Scalars or vectors.
    Binary(BinaryOp),
    /// `args`: x, y. Compares integers or pointers, or vectors of them.
    ICmp(IntPred),
    /// `args`: x, y. Compares floats or vectors of them.
    FCmp(FloatPred),
    /// `args`: x. To the type of the result.
    Cast(CastOp),
    /// `args`: condition (`i1` or a vector of them), value if true, value if false.
    Select,
    /// `args`: the function's arguments.
    Math(MathFn),
    /// `args`: vector, index.
    ExtractElement,
    /// `args`: vector, element, index.
    InsertElement,
    /// `args`: two vectors of one type. Lane `i` of the result is lane `mask[i]` of both vectors
    /// in a row; −1 is poison.
    Shuffle(Vec<i32>),
    /// `args`: aggregate. The part at this path.
    Extract(Vec<u32>),
    /// `args`: aggregate, part. The aggregate with the part at this path replaced.
    Insert(Vec<u32>),
    /// `args`: count. Memory of the frame for `count` values of type `ty`; it lives until the
    /// function returns.
    Alloca {
        /// The type of one element.
        ty: Type,
        /// The alignment in bytes.
        align: u32,
    },
    /// `args`: base, then one index per scale. The address `base + offset + Σ scaleᵢ·indexᵢ`,
    /// indices read as signed, arithmetic modulo 2⁶⁴. A vector result has vector operands where
    /// lanes differ.
    Address {
        /// The constant part in bytes.
        offset: i64,
        /// Bytes per unit of each index.
        scales: Vec<i64>,
    },
    /// `args`: pointer.
    Load(Access),
    /// `args`: value, pointer.
    Store(Access),
    /// `args`: pointer, value. Adds the float value into memory, in no particular order with other
    /// accumulations.
    Accumulate(Access),
    /// `args`: pointer, value. Result: what was there before.
    AtomicRmw(RmwOp, Access),
    /// `args`: pointer, expected, new. Result: `{old, i1}`.
    CmpXchg {
        /// The access, with the ordering on success.
        access: Access,
        /// The ordering on failure.
        failure: Ordering,
        /// Whether it may fail spuriously.
        weak: bool,
    },
    /// No operands.
    Fence(Ordering, SyncScope),
    /// `args`: destination, source, byte count.
    MemCopy {
        /// Whether the two ranges may overlap (memmove).
        overlapping: bool,
        /// The access on the destination side.
        dst: Access,
        /// The access on the source side.
        src: Access,
    },
    /// `args`: destination, byte, byte count.
    MemSet(Access),
    /// `args`: see [`Nest`]. A loop nest.
    Nest(Box<Nest>),
    /// `args`: for a direct call the arguments, for an indirect one the callee and then the
    /// arguments.
    Call(Box<Call>),
    /// `args`: for each argument of the function its primal value, and after it the shadows its
    /// activity asks for (see [`Activity::shadow_count`](super::Activity::shadow_count)). A request for a derivative.
    Request(Box<Request>),
    /// `args`: the foreign operands. An instruction that core does not model.
    Opaque(Box<Opaque>),

    /// Goes on at a block.
    Jump(Edge),
    /// `args`: condition.
    Branch {
        /// Where to go if the condition is true.
        then: Edge,
        /// Where to go if it is false.
        other: Edge,
    },
    /// `args`: integer.
    Switch {
        /// Values and where to go for each.
        cases: Vec<(u128, Edge)>,
        /// Where to go for other values.
        default: Edge,
    },
    /// `args`: nothing, or the result.
    Return,
    /// Control never gets here.
    Unreachable,
    /// `args`: as for `Call`. The result is defined on the normal edge only and may be passed
    /// along it.
    Invoke {
        /// The call.
        call: Box<Call>,
        /// Where to go when it returns.
        normal: Edge,
        /// Where to go when it unwinds.
        unwind: Edge,
    },
    /// `args`: the foreign operands. A terminator that core does not model.
    OpaqueTerminator {
        /// What it is.
        opaque: Box<Opaque>,
        /// Its successors in the foreign order.
        edges: Vec<Edge>,
    },
}

impl Op {
    /// The edges of a terminator.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Op::Jump(edge) => vec![edge],
            Op::Branch { then, other } => vec![then, other],
            Op::Switch { cases, default } => cases
                .iter()
                .map(|(_, edge)| edge)
                .chain([default])
                .collect(),
            Op::Invoke { normal, unwind, .. } => vec![normal, unwind],
            Op::OpaqueTerminator { edges, .. } => edges.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The edges of a terminator, to be changed.
    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Op::Jump(edge) => vec![edge],
            Op::Branch { then, other } => vec![then, other],
            Op::Switch { cases, default } => cases
                .iter_mut()
                .map(|(_, edge)| edge)
                .chain([default])
                .collect(),
            Op::Invoke { normal, unwind, .. } => vec![normal, unwind],
            Op::OpaqueTerminator { edges, .. } => edges.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether this ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            Op::Jump(_)
                | Op::Branch { .. }
                | Op::Switch { .. }
                | Op::Return
                | Op::Unreachable
                | Op::Invoke { .. }
                | Op::OpaqueTerminator { .. }
        )
    }

    /// Whether this only computes, so that it can be done twice. `freeze` is not of these: it may
    /// choose otherwise the second time.
    pub fn only_computes(&self) -> bool {
        matches!(
            self,
            Op::Unary(UnaryOp::FNeg)
                | Op::Binary(_)
                | Op::ICmp(_)
                | Op::FCmp(_)
                | Op::Cast(_)
                | Op::Select
                | Op::Math(_)
                | Op::ExtractElement
                | Op::InsertElement
                | Op::Shuffle(_)
                | Op::Extract(_)
                | Op::Insert(_)
                | Op::Address { .. }
        )
    }

    /// Whether the result for two floats beside each other may be far apart: a comparison, a
    /// conversion to an integer, a function with jumps.
    pub fn jumps(&self) -> bool {
        match self {
            Op::FCmp(_) | Op::Cast(CastOp::FpToSi | CastOp::FpToUi) => true,
            Op::Binary(BinaryOp::FRem) => true,
            Op::Math(function) => function.jumps(),
            _ => false,
        }
    }

    /// The call that this makes, if it is a call or an invoke.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Op::Call(call) | Op::Invoke { call, .. } => Some(call),
            _ => None,
        }
    }

    /// The accesses to memory that this makes itself (not through a callee): for a copy the
    /// destination first, for a nest the inputs.
    pub fn accesses(&self) -> Vec<&Access> {
        match self {
            Op::Load(a) | Op::Store(a) | Op::Accumulate(a) | Op::AtomicRmw(_, a) => vec![a],
            Op::CmpXchg { access, .. } => vec![access],
            Op::MemCopy { dst, src, .. } => vec![dst, src],
            Op::MemSet(a) => vec![a],
            Op::Nest(nest) => nest.accesses().collect(),
            _ => Vec::new(),
        }
    }
}

impl Op {
    /// The same as [`accesses`](Self::accesses), to be changed.
    pub fn accesses_mut(&mut self) -> Vec<&mut Access> {
        match self {
            Op::Load(a) | Op::Store(a) | Op::Accumulate(a) | Op::AtomicRmw(_, a) => vec![a],
            Op::CmpXchg { access, .. } => vec![access],
            Op::MemCopy { dst, src, .. } => vec![dst, src],
            Op::MemSet(a) => vec![a],
            Op::Nest(nest) => nest.accesses_mut().collect(),
            _ => Vec::new(),
        }
    }
}

/// An instruction or terminator that core does not model.
#[derive(Clone, PartialEq, Debug)]
pub struct Opaque {
    /// What the foreign representation calls it, for messages.
    pub name: String,
    /// What it may do with memory.
    pub memory: MemoryEffects,
}
