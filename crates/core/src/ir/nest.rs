//! `nest`: a loop nest as one instruction.
//!
//! ```text
//! nest [%i < %m, %j < %n, %k < %p] {
//!     %x = load f64 %a + %lda*%i + 8*%k
//!     %y = load f64 %b + %ldb*%k + 8*%j
//!     %xy = fmul %x, %y : f64
//!     sum %xy, %c + %ldc*%i + 8*%j
//! }
//! ```
//!
//! A nest has a *domain*, *views* of memory, a *body* and a *combiner* for each output. What it
//! means is written in [`ir`](super); this file says how it is kept.
//!
//! # Operands
//!
//! Every number that a nest is made of is an operand, constants included, and all operands are in
//! `args` of the instruction, so that whoever walks over operands needs to know nothing of nests:
//!
//! 1. for each loop, from the outside in, its bound: a number, and its coefficient for each loop
//!    further out; all `i64`;
//! 2. for each input and then each output, its view: the address of the element at the origin, and
//!    the distance in bytes between elements along each loop, `i64`;
//! 3. what the body takes from outside.
//!
//! A coefficient or a distance of zero is the constant 0, which the text form leaves out.
//!
//! # Body
//!
//! The body is a function of its own with one block: what derivative rules, builders and printers
//! can work on. Its parameters are the counters of the loops, the elements of the inputs and what
//! it takes from outside; its `return` has one operand for each output. It computes numbers: no
//! memory, calls, vectors or pointers, nor the bits of a float.

use super::ops::named_enum;
use super::{
    Access, BinaryOp, Block, CastOp, Constant, Flags, FloatPred, Function, Inst, InstData, Loc, Op,
    Signature, Type, UnaryOp, Value,
};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

/// A loop nest.
#[derive(Clone, PartialEq, Debug)]
pub struct Nest {
    /// The number of loops.
    pub depth: usize,
    /// How each input is read.
    pub inputs: Vec<Access>,
    /// What becomes of each result of the body.
    pub outputs: Vec<Output>,
    /// What is computed at each point.
    pub body: Body,
}

/// What becomes of a result of the body.
#[derive(Clone, PartialEq, Debug)]
pub struct Output {
    /// How it is joined with what is there.
    pub combiner: Combiner,
    /// Permissions for joining: with `reassoc`, the order of points does not matter.
    pub flags: Flags,
    /// How memory is accessed.
    pub access: Access,
}

impl Output {
    /// The factors of what is added, where product and sum are fused: both may be, and neither may be
    /// rearranged. That is what `fmuladd` says of a loop, and so the nest adds up by it.
    pub fn fused(&self, func: &Function, added: Value) -> Option<[Value; 2]> {
        let product = func.inst(func.def_inst(added)?);
        let fused =
            |flags: Flags| flags.contains(Flags::CONTRACT) && !flags.contains(Flags::REASSOC);
        let is_sum = self.combiner == Combiner::Sum;
        let is_product = product.op == Op::Binary(BinaryOp::FMul);
        let both = is_sum && is_product && fused(self.flags) && fused(product.flags);
        both.then(|| [product.args[0], product.args[1]])
    }

    /// A sum of adjoints, which has no order.
    pub fn adjoint_sum(access: Access) -> Output {
        Output {
            combiner: Combiner::Sum,
            flags: Flags::ADJOINT_SUM,
            access,
        }
    }
}

named_enum! {
    /// How a result is joined with the element that is there.
    Combiner {
        /// It takes its place.
        Store "store",
        /// It is added, old + new.
        Sum "sum",
        /// It is multiplied, old · new.
        Product "product",
        /// The function `fmax` of old and new.
        Max "max",
        /// The function `fmin` of old and new.
        Min "min",
        /// It takes its place if it is greater, `new > old ? new : old`.
        Greater "greater",
        /// It takes its place if it is less, `new < old ? new : old`.
        Less "less",
        /// It takes its place unless it is less, `old > new ? old : new`.
        NotLess "not_less",
        /// It takes its place unless it is greater, `old < new ? old : new`.
        NotGreater "not_greater",
    }
}

impl Combiner {
    /// How a new element must compare with the old one to take its place, if that is what decides.
    pub fn choice(self) -> Option<FloatPred> {
        match self {
            Combiner::Greater => Some(FloatPred::Ogt),
            Combiner::Less => Some(FloatPred::Olt),
            Combiner::NotLess => Some(FloatPred::Uge),
            Combiner::NotGreater => Some(FloatPred::Ule),
            Combiner::Store | Combiner::Sum | Combiner::Product | Combiner::Max | Combiner::Min => {
                None
            }
        }
    }
}

impl Nest {
    /// Where the operands of a loop's bound are: the number, then the coefficients of the loops
    /// around it.
    pub fn bound(&self, level: usize) -> Range<usize> {
        let start = level * (level + 1) / 2;
        start..start + 1 + level
    }

    /// Where the operands of a view are, inputs first: the address, then the distances.
    pub fn view(&self, index: usize) -> Range<usize> {
        let start = self.bounds() + index * (1 + self.depth);
        start..start + 1 + self.depth
    }

    /// Where the operands of an output's view are.
    pub fn output_view(&self, index: usize) -> Range<usize> {
        self.view(self.inputs.len() + index)
    }

    /// The number of operands that make up the bounds.
    pub fn bounds(&self) -> usize {
        self.depth * (self.depth + 1) / 2
    }

    /// The number of operands that come before what the body takes from outside.
    pub fn outside(&self) -> usize {
        self.view(self.inputs.len() + self.outputs.len()).start
    }

    /// The parameter of the body that is a loop's counter.
    pub fn counter(&self, level: usize) -> Value {
        self.body.params()[level]
    }

    /// The parameter of the body that is the element of an input.
    pub fn element(&self, input: usize) -> Value {
        self.body.params()[self.depth + input]
    }

    /// The parameters of the body for what it takes from outside.
    pub fn taken(&self) -> &[Value] {
        &self.body.params()[self.depth + self.inputs.len()..]
    }

    /// The type of the elements of an output.
    pub fn output_type(&self, index: usize) -> Type {
        self.body.func.ty(self.body.results()[index])
    }

    /// Every access: of the inputs, then of the outputs.
    pub fn accesses(&self) -> impl Iterator<Item = &Access> {
        let outputs = self.outputs.iter().map(|output| &output.access);
        self.inputs.iter().chain(outputs)
    }

    /// Every access, to be changed.
    pub fn accesses_mut(&mut self) -> impl Iterator<Item = &mut Access> {
        let outputs = self.outputs.iter_mut().map(|output| &mut output.access);
        self.inputs.iter_mut().chain(outputs)
    }
}

/// A nest under construction: its parts, each with its operands and its value in the body.
#[derive(Clone, Debug)]
pub struct NestParts {
    /// The number of loops.
    pub depth: usize,
    /// The operands of the bounds.
    pub bounds: Vec<Value>,
    /// The inputs.
    pub inputs: Vec<InputPart>,
    /// The outputs.
    pub outputs: Vec<OutputPart>,
    /// Parameters of the body, and what they get from outside.
    pub taken: Vec<(Value, Value)>,
    /// What is computed at each point. It does not return yet.
    pub body: Body,
}

/// An input of a nest under construction.
#[derive(Clone, Debug)]
pub struct InputPart {
    /// The parameter of the body.
    pub element: Value,
    /// How memory is read.
    pub access: Access,
    /// The operands of the view.
    pub view: Vec<Value>,
}

/// An output of a nest under construction.
#[derive(Clone, Debug)]
pub struct OutputPart {
    /// The value of the body.
    pub result: Value,
    /// What becomes of it.
    pub output: Output,
    /// The operands of the view.
    pub view: Vec<Value>,
}

impl NestParts {
    /// Takes a nest apart. Values of its body stay what they are.
    pub fn new(nest: &Nest, args: &[Value]) -> NestParts {
        let mut body = nest.body.clone();
        body.func
            .set_block_insts(body.block(), nest.body.insts().to_vec());
        let inputs = nest.inputs.iter().enumerate().map(|(i, access)| InputPart {
            element: nest.element(i),
            access: access.clone(),
            view: args[nest.view(i)].to_vec(),
        });
        let outputs = nest
            .outputs
            .iter()
            .enumerate()
            .map(|(i, output)| OutputPart {
                result: nest.body.results()[i],
                output: output.clone(),
                view: args[nest.output_view(i)].to_vec(),
            });
        let taken = nest.taken().iter().copied();
        NestParts {
            depth: nest.depth,
            bounds: args[..nest.bounds()].to_vec(),
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            taken: taken.zip(args[nest.outside()..].iter().copied()).collect(),
            body,
        }
    }

    /// Adds an input; the element is a new parameter of the body.
    pub fn add_input(&mut self, ty: Type, access: Access, view: Vec<Value>) -> Value {
        let element = self.body.func.add_block_param(self.body.block(), ty);
        self.inputs.push(InputPart {
            element,
            access,
            view,
        });
        element
    }

    /// Adds a value from outside; gives the new parameter of the body.
    pub fn add_taken(&mut self, ty: Type, value: Value) -> Value {
        let param = self.body.func.add_block_param(self.body.block(), ty);
        self.taken.push((param, value));
        param
    }

    /// Removes what no output needs: instructions, inputs and values from outside.
    pub fn prune(&mut self) {
        let results = self.outputs.iter().map(|output| output.result).collect();
        self.body.set_results(results);
        crate::simplify::dead_code::run(&mut self.body.func);
        let uses = self.body.func.use_counts();
        self.inputs.retain(|input| uses[input.element] > 0);
        self.taken.retain(|(param, _)| uses[*param] > 0);
    }

    /// Whether the loops may run in another order: points only add to sums that have none, and no
    /// bound depends on another loop.
    pub fn order_is_free(&self, operands: &Function) -> bool {
        let free = |output: &OutputPart| {
            let Output {
                combiner, flags, ..
            } = &output.output;
            *combiner == Combiner::Sum && flags.contains(Flags::REASSOC)
        };
        let coefficients = (0..self.depth).flat_map(|level| {
            let start = level * (level + 1) / 2;
            self.bounds[start + 1..=start + level].iter()
        });
        let mut coefficients = coefficients.copied();
        self.outputs.iter().all(free) && coefficients.all(|v| operands.as_int(v) == Some(0))
    }

    /// Makes another loop the outermost; those around it become the innermost ones. Their order must
    /// be free.
    pub fn rotate(&mut self, outermost: usize) {
        let number = |level: usize| level * (level + 1) / 2;
        let mut numbers: Vec<Value> = (0..self.depth).map(|l| self.bounds[number(l)]).collect();
        numbers.rotate_left(outermost);
        for (level, value) in numbers.into_iter().enumerate() {
            self.bounds[number(level)] = value;
        }
        let views = self.inputs.iter_mut().map(|input| &mut input.view);
        let views = views.chain(self.outputs.iter_mut().map(|output| &mut output.view));
        for view in views {
            view[1..].rotate_left(outermost);
        }
        let mut params = self.body.params().to_vec();
        params[..self.depth].rotate_left(outermost);
        self.body.func.set_block_params(self.body.block(), params);
    }

    /// Puts the nest together.
    pub fn join(mut self) -> InstData {
        let counters = self.body.params()[..self.depth].iter().copied();
        let elements = self.inputs.iter().map(|input| input.element);
        let taken = self.taken.iter().map(|(param, _)| *param);
        let params = counters.chain(elements).chain(taken).collect();
        self.body.func.set_block_params(self.body.block(), params);
        let results = self.outputs.iter().map(|output| output.result).collect();
        self.body.set_results(results);
        let views = self.inputs.iter().map(|input| &input.view);
        let views = views.chain(self.outputs.iter().map(|output| &output.view));
        let mut args = self.bounds;
        args.extend(views.flatten());
        args.extend(self.taken.iter().map(|(_, value)| *value));
        let nest = Nest {
            depth: self.depth,
            inputs: self.inputs.into_iter().map(|input| input.access).collect(),
            outputs: self
                .outputs
                .into_iter()
                .map(|output| output.output)
                .collect(),
            body: self.body,
        };
        InstData::new(Op::Nest(Box::new(nest)), args)
    }
}

/// What a nest computes at each point: straight-line code.
#[derive(Clone)]
pub struct Body {
    /// A function with one block. Its name and its signature mean nothing.
    pub func: Function,
}

impl Body {
    /// An empty body that does not return yet, for a nest of some depth.
    pub fn new(depth: usize) -> Body {
        let sig = Signature::new(Vec::new(), Type::void());
        let mut func = Function::with_entry("", sig);
        let block = func.entry();
        for _ in 0..depth {
            func.add_block_param(block, Type::i64());
        }
        Body { func }
    }

    /// The one block.
    pub fn block(&self) -> Block {
        self.func.entry()
    }

    /// The counters, the elements of the inputs, what comes from outside.
    pub fn params(&self) -> &[Value] {
        self.func.arguments()
    }

    /// The instructions without the `return`.
    pub fn insts(&self) -> &[Inst] {
        let insts = self.func.block_insts(self.block());
        match self.func.terminator(self.block()) {
            Some(_) => &insts[..insts.len() - 1],
            None => insts,
        }
    }

    /// One value for each output.
    pub fn results(&self) -> &[Value] {
        match self.func.terminator(self.block()) {
            Some(last) => &self.func.inst(last).args,
            None => &[],
        }
    }

    /// The parameters that a value may be, unchanged.
    pub fn copied(&self, value: Value) -> Vec<Value> {
        let mut found = Vec::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if self.params().contains(&value) {
                found.push(value);
            } else if let Some(inst) = self.func.def_inst(value)
                && self.func.inst(inst).op == Op::Select
            {
                open.extend(&self.func.inst(inst).args[1..]);
            }
        }
        found
    }

    /// Ends the body, or ends it anew.
    pub fn set_results(&mut self, results: Vec<Value>) {
        let block = self.block();
        let insts = self.insts().to_vec();
        self.func.set_block_insts(block, insts);
        self.func.terminate(block, Op::Return, results);
    }

    /// The body as data that does not depend on the order in which it was made.
    fn meaning(&self) -> (Vec<Type>, Vec<Meaning<'_>>) {
        let mut numbers = HashMap::new();
        for &param in self.params() {
            numbers.insert(param, numbers.len());
        }
        let mut insts = Vec::new();
        for &inst in self.func.block_insts(self.block()) {
            let data = self.func.inst(inst);
            let result = self.func.result(inst);
            let operands = data.args.iter().map(|v| match self.func.as_const(*v) {
                Some(constant) => Operand::Constant(self.func.ty(*v), constant),
                None => Operand::Value(numbers.get(v).copied()),
            });
            insts.push(Meaning {
                op: &data.op,
                flags: data.flags,
                loc: data.loc,
                result: result.map(|v| self.func.ty(v)),
                operands: operands.collect(),
            });
            numbers.extend(result.map(|v| (v, numbers.len())));
        }
        let params = self.params().iter().map(|&v| self.func.ty(v));
        (params.collect(), insts)
    }
}

/// An instruction of a body.
#[derive(PartialEq, Debug)]
struct Meaning<'a> {
    op: &'a Op,
    flags: Flags,
    loc: Option<Loc>,
    result: Option<Type>,
    operands: Vec<Operand<'a>>,
}

/// An operand in a body: a number in order of definition, or a constant.
#[derive(PartialEq, Debug)]
enum Operand<'a> {
    Value(Option<usize>),
    Constant(Type, &'a Constant),
}

impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        self.meaning() == other.meaning()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.meaning().fmt(f)
    }
}

/// Whether an operation may stand in the body of a nest, given scalar operands: it computes numbers
/// from numbers.
pub fn may_stand_in_body(op: &Op) -> bool {
    match op {
        Op::Unary(UnaryOp::FNeg) | Op::Binary(_) | Op::ICmp(_) | Op::FCmp(_) => true,
        Op::Select | Op::Math(_) => true,
        Op::Cast(cast) => !matches!(
            cast,
            CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::AddrSpaceCast
        ),
        _ => false,
    }
}
