//! A cursor that appends instructions to a block of a function.

use super::{
    Access, BinaryOp, Block, Call, Callee, CastOp, Edge, Flags, FloatPred, FnAttrs, FnFlags, Func,
    Function, Inst, InstData, IntPred, Loc, MathFn, Op, ParamAttrs, Signature, Type, UnaryOp,
    Value,
};

/// Appends instructions at the end of a block.
pub struct Builder<'f> {
    /// The function being built.
    pub func: &'f mut Function,
    /// The block that instructions are appended to.
    pub block: Block,
    /// The source location that new instructions get.
    pub loc: Option<Loc>,
    /// The flags that new float instructions get.
    pub float_flags: Flags,
}

impl<'f> Builder<'f> {
    /// A builder at the end of a block.
    pub fn new(func: &'f mut Function, block: Block) -> Builder<'f> {
        Builder {
            func,
            block,
            loc: None,
            float_flags: Flags::empty(),
        }
    }

    /// Goes on in a new block.
    pub fn start_block(&mut self) -> Block {
        self.block = self.func.add_block();
        self.block
    }

    /// Appends any instruction without a result.
    pub fn effect(&mut self, op: Op, args: Vec<Value>) -> Inst {
        self.inst(op, args, Type::void(), Flags::empty())
    }

    /// Appends any instruction with a result.
    pub fn value(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let flags = match &op {
            Op::Binary(b) if !b.is_float() => Flags::empty(),
            Op::Unary(_) | Op::Binary(_) | Op::Math(_) if ty.is_float_like() => self.float_flags,
            _ => Flags::empty(),
        };
        let inst = self.inst(op, args, ty, flags);
        match self.func.result(inst) {
            Some(value) => value,
            None => panic!("an instruction without a result was asked for its value"),
        }
    }

    /// Appends any instruction with flags; `ty` is void if it has no result.
    pub fn inst(&mut self, op: Op, args: Vec<Value>, ty: Type, flags: Flags) -> Inst {
        let mut data = InstData::new(op, args);
        data.loc = self.loc;
        data.flags = flags;
        self.func.append_inst(self.block, data, ty)
    }

    /// An operation on two values of one type.
    pub fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        let ty = self.func.ty(x);
        self.value(Op::Binary(op), vec![x, y], ty)
    }

    /// Integer sum.
    pub fn add(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::Add, x, y)
    }

    /// Integer difference.
    pub fn sub(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::Sub, x, y)
    }

    /// Integer product.
    pub fn mul(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::Mul, x, y)
    }

    /// Float sum.
    pub fn fadd(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::FAdd, x, y)
    }

    /// Float difference.
    pub fn fsub(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::FSub, x, y)
    }

    /// Float product.
    pub fn fmul(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::FMul, x, y)
    }

    /// Float quotient.
    pub fn fdiv(&mut self, x: Value, y: Value) -> Value {
        self.binary(BinaryOp::FDiv, x, y)
    }

    /// Float negation.
    pub fn fneg(&mut self, x: Value) -> Value {
        let ty = self.func.ty(x);
        self.value(Op::Unary(UnaryOp::FNeg), vec![x], ty)
    }

    /// A mathematical function; the result has the type of the first float argument.
    pub fn math(&mut self, function: MathFn, args: Vec<Value>) -> Value {
        let float = args.iter().map(|&v| self.func.ty(v));
        let Some(ty) = float.into_iter().find(|ty| ty.is_float_like()) else {
            panic!("{} without a float argument", function.name());
        };
        self.value(Op::Math(function), args, ty)
    }

    /// Compares integers or pointers.
    pub fn icmp(&mut self, pred: IntPred, x: Value, y: Value) -> Value {
        let ty = self.func.ty(x).with_scalar(Type::i1());
        self.value(Op::ICmp(pred), vec![x, y], ty)
    }

    /// Compares floats.
    pub fn fcmp(&mut self, pred: FloatPred, x: Value, y: Value) -> Value {
        let ty = self.func.ty(x).with_scalar(Type::i1());
        self.value(Op::FCmp(pred), vec![x, y], ty)
    }

    /// Chooses between two values.
    pub fn select(&mut self, condition: Value, x: Value, y: Value) -> Value {
        let ty = self.func.ty(x);
        self.value(Op::Select, vec![condition, x, y], ty)
    }

    /// Converts to another type.
    pub fn cast(&mut self, op: CastOp, x: Value, ty: Type) -> Value {
        self.value(Op::Cast(op), vec![x], ty)
    }

    /// The address `base + offset`; `base` itself if the offset is zero.
    pub fn offset(&mut self, base: Value, offset: i64) -> Value {
        if offset == 0 {
            return base;
        }
        let scales = Vec::new();
        let ty = self.func.ty(base);
        self.value(Op::Address { offset, scales }, vec![base], ty)
    }

    /// The address `base + scale·index`.
    pub fn element(&mut self, base: Value, index: Value, scale: i64) -> Value {
        let op = Op::Address {
            offset: 0,
            scales: vec![scale],
        };
        let ty = self.func.ty(base);
        self.value(op, vec![base, index], ty)
    }

    /// Reads memory.
    pub fn load(&mut self, ty: Type, ptr: Value, access: Access) -> Value {
        self.value(Op::Load(access), vec![ptr], ty)
    }

    /// Writes memory.
    pub fn store(&mut self, value: Value, ptr: Value, access: Access) -> Inst {
        self.effect(Op::Store(access), vec![value, ptr])
    }

    /// Adds a float into memory.
    pub fn accumulate(&mut self, ptr: Value, value: Value, access: Access) -> Inst {
        let flags = Flags::ADJOINT_SUM;
        let op = Op::Accumulate(access);
        self.inst(op, vec![ptr, value], Type::void(), flags)
    }

    /// Memory of the frame for one value.
    pub fn alloca(&mut self, ty: Type, align: u32) -> Value {
        let one = self.func.iconst(Type::i64(), 1);
        self.value(Op::Alloca { ty, align }, vec![one], Type::ptr())
    }

    /// The part of an aggregate at a path.
    pub fn extract(&mut self, aggregate: Value, path: Vec<u32>) -> Value {
        let Some(ty) = self.func.ty(aggregate).at_path(&path) else {
            panic!("no part {path:?} in {}", self.func.ty(aggregate));
        };
        self.value(Op::Extract(path), vec![aggregate], ty)
    }

    /// The aggregate with the part at a path replaced.
    pub fn insert(&mut self, aggregate: Value, part: Value, path: Vec<u32>) -> Value {
        let ty = self.func.ty(aggregate);
        self.value(Op::Insert(path), vec![aggregate, part], ty)
    }

    /// Calls a function of the module; the result is there unless it is void.
    pub fn call(&mut self, callee: Func, sig: Signature, args: Vec<Value>) -> Option<Value> {
        self.call_with(callee, sig, args, FnFlags::empty())
    }

    /// Calls a function of which something is known.
    pub fn call_with(
        &mut self,
        callee: Func,
        sig: Signature,
        args: Vec<Value>,
        flags: FnFlags,
    ) -> Option<Value> {
        let ret = sig.ret;
        let call = Call {
            callee: Callee::Direct(callee),
            args: vec![ParamAttrs::default(); args.len()],
            sig,
            attrs: FnAttrs {
                flags,
                ..FnAttrs::default()
            },
            convention: 0,
        };
        let inst = self.inst(Op::Call(Box::new(call)), args, ret, Flags::empty());
        self.func.result(inst)
    }

    /// Goes on at a block.
    pub fn jump(&mut self, block: Block, args: Vec<Value>) {
        self.effect(Op::Jump(Edge { block, args }), Vec::new());
    }

    /// Goes on at one of two blocks.
    pub fn branch(&mut self, condition: Value, then: Edge, other: Edge) {
        self.effect(Op::Branch { then, other }, vec![condition]);
    }

    /// Returns from the function.
    pub fn ret(&mut self, value: Option<Value>) {
        self.effect(Op::Return, value.into_iter().collect());
    }
}
