//! Which global variables a function and all that it calls may touch.
//!
//! Derivatives flow through global variables from one callee to another without any argument, so
//! the caller has to know which ones its callees read and write. A variable counts as read only
//! if its address goes nowhere but into loads, directly or by a known distance.

use crate::ir::{
    Callee, Constant, Func, Function, Global, InstData, Module, Op, Symbol, Value, ValueDef,
};
use std::collections::{BTreeSet, HashMap};

/// The global variables that a function and its callees touch.
#[derive(Clone, Default, Debug)]
pub struct Globals {
    /// All of them.
    pub touched: BTreeSet<Global>,
    /// Those that may be written.
    pub written: BTreeSet<Global>,
}

impl Globals {
    /// Follows the calls from a function.
    pub fn new(module: &Module, func: Func) -> Globals {
        let mut globals = Globals::default();
        let mut found = BTreeSet::from([func]);
        let mut open = vec![func];
        while let Some(func) = open.pop() {
            let function = &module.funcs[func];
            let mut addresses = addresses(function);
            globals.touched.extend(addresses.values().copied());
            for &block in function.blocks() {
                for &inst in function.block_insts(block) {
                    let data = function.inst(inst);
                    globals.note(data, function.result(inst), &mut addresses);
                    if let Some(call) = data.op.call()
                        && let Callee::Direct(callee) = call.callee
                        && found.insert(callee)
                    {
                        open.push(callee);
                    }
                }
            }
        }
        globals
            .written
            .retain(|&global| !module.globals[global].constant);
        globals
    }

    /// Notes what an instruction does with the addresses of globals. Definitions come before uses
    /// except through block parameters, which count as writing.
    fn note(
        &mut self,
        data: &InstData,
        result: Option<Value>,
        addresses: &mut HashMap<Value, Global>,
    ) {
        let mut position = 0;
        data.for_each_operand(|value| {
            let only_read = match &data.op {
                Op::Load(_) | Op::ICmp(_) => true,
                Op::Address { .. } => position == 0,
                Op::MemCopy { .. } => position == 1,
                Op::Nest(nest) => position < nest.output_view(0).start,
                _ => false,
            };
            position += 1;
            let Some(&global) = addresses.get(&value) else {
                return;
            };
            match (&data.op, result) {
                (Op::Address { .. }, Some(result)) if only_read => {
                    addresses.insert(result, global);
                }
                _ if only_read => {}
                _ => {
                    self.written.insert(global);
                }
            }
        });
    }
}

/// The values of a function that are addresses of globals.
fn addresses(function: &Function) -> HashMap<Value, Global> {
    let mut found = HashMap::new();
    for value in function.values() {
        if let ValueDef::Const(Constant::Address(Symbol::Global(global), _)) = function.def(value) {
            found.insert(value, *global);
        }
    }
    found
}
