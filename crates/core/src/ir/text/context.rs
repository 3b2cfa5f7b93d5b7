//! The type that an operand has where the text does not say: what makes `add v0, 1 : i64` legible.
//!
//! The printer leaves out the type of a constant exactly if it is the one given here, and the
//! parser fills it in from here, so the two cannot disagree.

use crate::ir::{Call, Callee, MathParam, Module, Nest, Op, Request, Type, TypeKind};

/// Where an operand stands.
pub(crate) struct Place<'a> {
    pub(crate) module: &'a Module,
    /// What the function returns.
    pub(crate) ret: Type,
    pub(crate) op: &'a Op,
    /// The type of the instruction's result, or void.
    pub(crate) result: Type,
}

impl Place<'_> {
    /// The type that a constant at position `index` of the operands has without a word.
    /// `type_of` gives the types of the operands that are no constants.
    pub(crate) fn implied(
        &self,
        index: usize,
        type_of: impl Fn(usize) -> Option<Type>,
    ) -> Option<Type> {
        let result = (!self.result.is_void()).then_some(self.result);
        let (ptr, i64) = (Some(Type::ptr()), Some(Type::i64()));
        match (self.op, index) {
            (Op::Unary(_) | Op::Binary(_), _) => result,
            (Op::ICmp(_) | Op::FCmp(_), 0) => type_of(1),
            (Op::ICmp(_) | Op::FCmp(_), 1) => type_of(0),
            (Op::Select | Op::Branch { .. }, 0) => Some(Type::i1()),
            (Op::Select, _) => result,
            (Op::Math(function), _) => match function.params().get(index)? {
                MathParam::Float => result,
                MathParam::Int => None,
            },
            (Op::ExtractElement, 1) | (Op::InsertElement, 2) => i64,
            (Op::InsertElement | Op::Insert(_), 0) => result,
            (Op::InsertElement, 1) => result.map(Type::scalar),
            (Op::Insert(path), 1) => result?.at_path(path),
            (Op::Alloca { .. }, _) => i64,
            (Op::Address { .. }, 0) => result,
            (Op::Address { .. }, _) => i64,
            (Op::Load(_) | Op::Accumulate(_) | Op::CmpXchg { .. }, 0) => ptr,
            (Op::AtomicRmw(..) | Op::MemSet(_), 0) => ptr,
            (Op::Store(_), 1) | (Op::MemCopy { .. }, 0 | 1) => ptr,
            (Op::AtomicRmw(..), 1) => result,
            (Op::CmpXchg { .. }, 1 | 2) => result?.part(0),
            (Op::MemSet(_), 1) => Some(Type::int(8)),
            (Op::MemSet(_) | Op::MemCopy { .. }, 2) => i64,
            (Op::Nest(nest), _) => nest_operand(nest, index),
            (Op::Call(call) | Op::Invoke { call, .. }, _) => call_argument(call, index),
            (Op::Request(request), _) => self.request_argument(request, index),
            (Op::Return, 0) => (!self.ret.is_void()).then_some(self.ret),
            _ => None,
        }
    }

    /// A primal argument and its shadows have the type of the parameter.
    fn request_argument(&self, request: &Request, index: usize) -> Option<Type> {
        let params = &self.module.funcs.get(request.func)?.sig.params;
        let mut next = 0;
        for (&activity, &ty) in request.args.iter().zip(params) {
            next += 1 + activity.shadow_count(request.width);
            if index < next {
                return Some(ty);
            }
        }
        None
    }
}

/// Numbers, but for the addresses of views. Constants from outside have their types by then.
fn nest_operand(nest: &Nest, index: usize) -> Option<Type> {
    if index >= nest.outside() {
        return None;
    }
    let mut views = 0..nest.inputs.len() + nest.outputs.len();
    match views.any(|view| nest.view(view).start == index) {
        true => Some(Type::ptr()),
        false => Some(Type::i64()),
    }
}

fn call_argument(call: &Call, index: usize) -> Option<Type> {
    match call.callee {
        Callee::Direct(_) => call.sig.params.get(index).copied(),
        Callee::Indirect if index == 0 => Some(Type::ptr()),
        Callee::Indirect => call.sig.params.get(index - 1).copied(),
    }
}

/// The type of an instruction's result where the text does not say, from the operation and the
/// types of the operands as far as they are known.
pub(crate) fn implied_result(op: &Op, type_of: impl Fn(usize) -> Option<Type>) -> Option<Type> {
    match op {
        Op::ICmp(_) | Op::FCmp(_) => {
            let operand = type_of(0).or_else(|| type_of(1));
            Some(operand.unwrap_or(Type::i1()).with_scalar(Type::i1()))
        }
        Op::Alloca { .. } => Some(Type::ptr()),
        Op::Address { scales, .. } => {
            let base = type_of(0).unwrap_or(Type::ptr());
            let lanes = (0..=scales.len()).find_map(|i| type_of(i)?.lanes());
            Some(lanes.map_or(base, |lanes| Type::vector(base.scalar(), lanes)))
        }
        Op::Unary(_) | Op::Binary(_) => type_of(0).or_else(|| type_of(1)),
        Op::Select => type_of(1).or_else(|| type_of(2)),
        Op::Math(function) => {
            let floats = function.params().iter().enumerate();
            floats
                .filter(|(_, param)| **param == MathParam::Float)
                .find_map(|(index, _)| type_of(index))
        }
        Op::Insert(_) | Op::InsertElement => type_of(0),
        Op::ExtractElement => type_of(0).map(Type::scalar),
        Op::Extract(path) => type_of(0)?.at_path(path),
        Op::Shuffle(mask) => {
            let vector = type_of(0).or_else(|| type_of(1))?;
            Some(Type::vector(vector.scalar(), mask.len() as u32))
        }
        Op::AtomicRmw(..) => type_of(1),
        Op::CmpXchg { .. } => {
            let value = type_of(1).or_else(|| type_of(2))?;
            Some(Type::new(TypeKind::Struct {
                fields: vec![value, Type::i1()],
                packed: false,
            }))
        }
        Op::Call(call) | Op::Invoke { call, .. } => Some(call.sig.ret),
        _ => None,
    }
}
