//! Whether code that runs in two copies decides the same in both.
//!
//! An operation of IEEE arithmetic has one result, in whatever copy of the code it runs. But flags
//! such as `reassoc` and `contract` permit the optimizer to round otherwise, and it need not do so in
//! the same way in both copies: one has vectors, the other has not. `fmuladd` is such a permission in
//! itself. Functions of the library that are not rounded correctly have other results where they are
//! computed at compile time or in vectors. And `freeze` of what is undefined chooses anew each time.
//!
//! A float that is a little different is no harm by itself: so is every derivative. But what follows
//! from it by a comparison, by a conversion to an integer or by a function that jumps is altogether
//! different near a tie. So the question is whether anything is decided by floats of which copies may
//! have different ones, the *unsure* ones.

use crate::ir::{Block, Call, Callee, Flags, Func, Function, InstData, Module, Op, UnaryOp, Value};
use cranelift_entity::EntitySet;
use std::collections::HashMap;

/// The permissions to give another result than IEEE arithmetic does.
const PERMISSIONS: Flags = Flags::REASSOC
    .union(Flags::CONTRACT)
    .union(Flags::ARCP)
    .union(Flags::AFN)
    .union(Flags::NSZ);

/// Whether part of a function decides the same in all copies of it. Arguments of these numbers are
/// unsure; so is what is computed outside of that part, where it is unsure, as it may be computed
/// anew for the second copy. A decision outside is made once and kept.
pub fn decides_alike(
    module: &Module,
    function: &Function,
    unsure: &dyn Fn(usize) -> bool,
    part: &dyn Fn(Block) -> bool,
) -> bool {
    let mut search = Search {
        module,
        callees: HashMap::new(),
    };
    search.unsure(function, unsure, part).is_some()
}

/// The arguments of a call that are unsure, for a function that takes arguments which are.
pub fn unsure_operands(
    module: &Module,
    function: &Function,
    unsure: &dyn Fn(usize) -> bool,
    operands: &[Value],
) -> Vec<bool> {
    let mut search = Search {
        module,
        callees: HashMap::new(),
    };
    let found = search.unsure(function, unsure, &|_| false);
    let is_unsure = |&v: &Value| found.as_ref().is_none_or(|found| found.contains(v));
    operands.iter().map(is_unsure).collect()
}

struct Search<'a> {
    module: &'a Module,
    /// For a function, and for whether one of its arguments is unsure: none if it decides by what is
    /// unsure, otherwise whether its result is. A function that is being looked at counts as one that
    /// does.
    callees: HashMap<(Func, bool), Option<bool>>,
}

impl Search<'_> {
    /// The unsure values of a function; none if something in the part is decided by them.
    fn unsure(
        &mut self,
        function: &Function,
        arguments: &dyn Fn(usize) -> bool,
        part: &dyn Fn(Block) -> bool,
    ) -> Option<EntitySet<Value>> {
        let mut unsure: EntitySet<Value> = EntitySet::new();
        for (i, &argument) in function.arguments().iter().enumerate() {
            if arguments(i) && is_continuous(function, argument) {
                unsure.insert(argument);
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &block in function.blocks() {
                let inside = part(block);
                for &inst in function.block_insts(block) {
                    let data = function.inst(inst);
                    let from = data.args.iter().any(|&v| unsure.contains(v));
                    let becomes = match &data.op {
                        Op::Unary(UnaryOp::Freeze) if inside => return None,
                        Op::Call(call) if inside => self.call(call, from)?,
                        // What is outside is kept, or read again where it is the same.
                        Op::Unary(UnaryOp::Freeze) | Op::Call(_) | Op::Load(_) => false,
                        _ => from || rounds_freely(data),
                    };
                    let Some(result) = function.result(inst).filter(|_| becomes) else {
                        continue;
                    };
                    let decides = !is_continuous(function, result) || from && data.op.jumps();
                    match decides {
                        true if inside => return None,
                        true => {}
                        false => changed |= unsure.insert(result),
                    }
                }
                for edge in function.edges(block) {
                    let params = function.block_params(edge.block).iter();
                    for (&param, &value) in params.zip(&edge.args) {
                        changed |= unsure.contains(value) && unsure.insert(param);
                    }
                }
            }
        }
        Some(unsure)
    }

    /// Whether the result of a call is unsure; none if something is decided in it.
    fn call(&mut self, call: &Call, from: bool) -> Option<bool> {
        let Callee::Direct(func) = call.callee else {
            return None;
        };
        let function = &self.module.funcs[func];
        // There is one copy of a function that only the library has.
        if function.is_declaration() {
            return Some(from);
        }
        if let Some(&known) = self.callees.get(&(func, from)) {
            return known;
        }
        self.callees.insert((func, from), None);
        let found = self.callee(function, from);
        self.callees.insert((func, from), found);
        found
    }

    fn callee(&mut self, function: &Function, from: bool) -> Option<bool> {
        let mut insts = function
            .blocks()
            .iter()
            .flat_map(|&block| function.block_insts(block));
        // What is written to memory is not followed.
        let only_reads = |op: &Op| {
            op.only_computes() || op.is_terminator() || matches!(op, Op::Load(_) | Op::Call(_))
        };
        if !insts.all(|&inst| only_reads(&function.inst(inst).op)) {
            return None;
        }
        let unsure = self.unsure(function, &|_| from, &|_| true)?;
        let returns = |&block: &Block| {
            let last = function.terminator(block).map(|inst| function.inst(inst));
            last.is_some_and(|last| last.args.iter().any(|&v| unsure.contains(v)))
        };
        Some(function.blocks().iter().any(returns))
    }
}

/// Whether an operation may give another result in another copy of the same code.
fn rounds_freely(data: &InstData) -> bool {
    match &data.op {
        // What is compared decides, not how.
        Op::FCmp(_) => false,
        Op::Math(function) if !function.is_exact() => true,
        _ => data.flags.intersects(PERMISSIONS),
    }
}

/// Whether a value may be a little different. An integer, an address or a truth is altogether different
/// or not at all; of a structure it is its parts that are.
fn is_continuous(function: &Function, value: Value) -> bool {
    let ty = function.ty(value);
    ty.is_float_like() || ty.is_aggregate() && !ty.is_int_like() && !ty.scalar().is_ptr()
}
