//! Floats that are read as the bits of an address.
//!
//! Where memory holds a float at one time and an address at another, as that of enums may, the
//! optimizer reads it once, as an address, and makes the float of its bits. An address has no
//! derivative, so what flows into such a float would be lost, and the program is refused. So is one
//! that moves it on as an address to where it is a float again; a call may be on that way.

use super::bits::passes_on;
use crate::analysis::effects::{ArgEffects, Effects, call_args};
use crate::analysis::types::{Kinds, Types};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{BinaryOp, CastOp, Function, InstData, Module, Op, Value};
use cranelift_entity::EntitySet;

/// Refuses a function that makes floats of the bits of addresses.
pub(super) fn check(
    module: &Module,
    function: &Function,
    types: &Types,
    effects: &Effects,
    shadowed: &EntitySet<Value>,
) -> Result<()> {
    let mut found = Found {
        function,
        types,
        effects,
        shadowed,
        bits: EntitySet::new(),
        doubtful: EntitySet::new(),
    };
    for &argument in function.arguments() {
        if found.is_address(argument) {
            found.bits.insert(argument);
        }
    }
    let blocks = function.blocks().iter();
    let insts: Vec<_> = blocks.flat_map(|&b| function.block_insts(b)).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &&inst in &insts {
            changed |= found.spread(function.inst(inst), function.result(inst));
        }
    }
    for &&inst in &insts {
        let data = function.inst(inst);
        if found.becomes_float(data, function.result(inst)) {
            return Err(Diagnostic::new(
                Code::NumbersAndPointers,
                "cannot differentiate memory that holds numbers and pointers by turns",
                "a number is read there as if it were a pointer, and its derivative would be lost",
                "use different memory for the two, so that no enum or union has a number where \
                 another of its variants has a pointer",
            )
            .at(module, data.loc)
            .in_function(&function.name));
        }
    }
    Ok(())
}

/// Where the bits of addresses are.
struct Found<'a> {
    function: &'a Function,
    types: &'a Types,
    effects: &'a Effects,
    shadowed: &'a EntitySet<Value>,
    /// Addresses, or their bits, that were found in memory that may hold floats, or come from
    /// callers and callees that may have found them there.
    bits: EntitySet<Value>,
    /// Pointers that were found where floats are at other times.
    doubtful: EntitySet<Value>,
}

impl Found<'_> {
    fn is_ptr(&self, value: Value) -> bool {
        self.function.ty(value).scalar().is_ptr()
    }

    fn is_address(&self, value: Value) -> bool {
        self.is_ptr(value) && self.shadowed.contains(value)
    }

    /// Whether there are floats at an address at some time.
    fn holds_floats(&self, address: Value) -> bool {
        let kinds = self.types.shape(address).kinds(0, 8);
        kinds.intersects(Kinds::FLOATS)
    }

    /// Whether one of these pointers leads to floats where there are addresses at other times.
    fn is_disputed(&self, pointers: &[Value]) -> bool {
        let mut pointers = pointers.iter().filter(|&&value| self.is_ptr(value));
        pointers.any(|&pointer| self.types.shape(pointer).has_floats_and_addresses())
    }

    /// Notes what an instruction does with the bits of addresses; whether that was new.
    fn spread(&mut self, data: &InstData, result: Option<Value>) -> bool {
        let mut changed = false;
        for edge in data.op.edges() {
            let params = self.function.block_params(edge.block);
            for (&param, &argument) in params.iter().zip(&edge.args) {
                for set in [&mut self.bits, &mut self.doubtful] {
                    changed |= set.contains(argument) && set.insert(param);
                }
            }
        }
        let Some(result) = result else {
            return changed;
        };
        // Memory that nobody reads floats from has no shadow, though active ones are stored there.
        let begins = match &data.op {
            Op::Load(_) if self.is_ptr(result) => {
                self.holds_floats(data.args[0]) || self.shadowed.contains(data.args[0])
            }
            Op::Call(_) | Op::Extract(_) => self.is_address(result),
            _ => false,
        };
        let keeps_bits = matches!(
            data.op,
            Op::Cast(CastOp::PtrToInt)
                | Op::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Shl | BinaryOp::LShr)
        );
        let from = |set: &EntitySet<Value>| data.args.iter().any(|&value| set.contains(value));
        let goes_on = (keeps_bits || passes_on(&data.op)) && from(&self.bits);
        changed |= (begins || goes_on) && self.bits.insert(result);
        let begins = match &data.op {
            Op::Load(_) => self.is_ptr(result) && self.holds_floats(data.args[0]),
            Op::Call(call) | Op::Invoke { call, .. } => {
                self.is_address(result)
                    && self.effects.call(call).finds
                    && self.is_disputed(call_args(call, data))
            }
            _ => false,
        };
        let goes_on = passes_on(&data.op) && from(&self.doubtful);
        changed | ((begins || goes_on) && self.doubtful.insert(result))
    }

    /// Whether an instruction makes a float of the bits of an address, or moves what may be a float
    /// as an address to where it is read as a float.
    fn becomes_float(&self, data: &InstData, result: Option<Value>) -> bool {
        match (&data.op, result) {
            (Op::Cast(CastOp::Bitcast), Some(result)) => {
                let is_float = self.function.ty(result).scalar().float_kind().is_some();
                is_float && self.bits.contains(data.args[0])
            }
            (Op::Store(_), _) => {
                self.doubtful.contains(data.args[0]) && self.holds_floats(data.args[1])
            }
            (Op::Call(call) | Op::Invoke { call, .. }, _) => {
                let args = call_args(call, data);
                let does = self.effects.call(call);
                let mut indexed = args.iter().enumerate();
                let kept = indexed.any(|(i, &value)| {
                    self.doubtful.contains(value) && does.arg(i).contains(ArgEffects::CAPTURE)
                });
                kept && self.is_disputed(args)
            }
            _ => false,
        }
    }
}
