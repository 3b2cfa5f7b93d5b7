//! Which active values a derivative flows on from.
//!
//! A float that only decides something, is printed, or is not used at all is active if active
//! arguments made it, but nothing that its derivative could flow into is. Such values are dropped:
//! their adjoints are zero, and zero times the infinite slope of a value that nobody uses would be
//! no number. So is a word of unknown type, such as the capacity of a vector, that only says how
//! much memory is asked for, given back or copied. And an address that an integer holds needs no
//! shadow where it is only compared with others: whether two pieces of memory overlap, say.

use super::{CallKind, call_kind};
use crate::ir::{CastOp, Function, Inst, Module, Op, ReturnActivity, Value};
use cranelift_entity::EntitySet;

/// Keeps those of the active values, and of the addresses in integers, that something is stored,
/// returned or called with, or that become pointers again.
pub(super) fn keep(
    module: &Module,
    function: &Function,
    ret: ReturnActivity,
    active: &mut EntitySet<Value>,
    shadowed: &mut EntitySet<Value>,
) {
    let mut useful = Useful {
        module,
        function,
        ret,
        values: EntitySet::new(),
        changed: true,
    };
    while useful.changed {
        useful.changed = false;
        for &block in function.blocks().iter().rev() {
            for &inst in function.block_insts(block).iter().rev() {
                useful.inst(inst);
            }
        }
    }
    let needless = |&value: &Value| !useful.values.contains(value);
    for value in active.keys().filter(needless).collect::<Vec<_>>() {
        active.remove(value);
    }
    // What arguments have is for the caller to say.
    let computed =
        |&value: &Value| function.ty(value).is_int() && !function.arguments().contains(&value);
    let needless = shadowed.keys().filter(needless).filter(computed);
    for value in needless.collect::<Vec<_>>() {
        shadowed.remove(value);
    }
}

struct Useful<'a> {
    module: &'a Module,
    function: &'a Function,
    ret: ReturnActivity,
    values: EntitySet<Value>,
    changed: bool,
}

impl Useful<'_> {
    fn mark(&mut self, values: &[Value]) {
        for &value in values {
            self.changed |= self.values.insert(value);
        }
    }

    fn inst(&mut self, inst: Inst) {
        let function = self.function;
        let data = function.inst(inst);
        let flows_on = function
            .result(inst)
            .is_some_and(|v| self.values.contains(v));
        let operands = match &data.op {
            Op::ICmp(_) | Op::FCmp(_) | Op::Load(_) | Op::Address { .. } | Op::Alloca { .. } => &[],
            // How much is copied is no number that a derivative flows into.
            Op::MemCopy { .. } => &[],
            Op::Jump(_) | Op::Branch { .. } | Op::Switch { .. } => &[],
            Op::Cast(CastOp::IntToPtr) => &data.args[..],
            Op::Select
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Cast(_)
            | Op::Math(_)
            | Op::ExtractElement
            | Op::InsertElement
            | Op::Shuffle(_)
            | Op::Extract(_)
            | Op::Insert(_) => match &data.op {
                _ if !flows_on => &[],
                Op::Select => &data.args[1..],
                _ => &data.args[..],
            },
            Op::Return if self.ret == ReturnActivity::Const => &[],
            op if op.call().is_some() => match call_kind(self.module, data) {
                CallKind::Inactive | CallKind::Allocation(_) => &[],
                _ => &data.args[..],
            },
            _ => &data.args[..],
        };
        self.mark(operands);
        for edge in data.op.edges() {
            for (&param, &argument) in function.block_params(edge.block).iter().zip(&edge.args) {
                if self.values.contains(param) {
                    self.mark(&[argument]);
                }
            }
        }
    }
}
