//! What functions, calls and instructions may do with memory.
//!
//! The effects of a function are those of its body, of its callees, and of nothing that its
//! attributes exclude. What is written on the way to a panic nobody gets to see. Bodies are summarized
//! callees first, and again when a callee has changed, so recursion is handled by a least fixpoint.
//! Functions without a body are known by name (see [`known`]), or limited by their attributes only.

mod summary;

pub use summary::{ArgEffects, Summary};

use super::known::{self, KnownResult};
use super::points_to::{Object, PointsTo};
use crate::analysis::activity::globals::KnownBodies;
use crate::analysis::targets::targets_of;
use crate::ir::{
    AllocKind, Call, Callee, CastOp, Combiner, FnFlags, Func, Function, InstData, ModRef, Module,
    Op, ParamFlags, Signature, Value,
};
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The effects of every function of a module.
#[derive(Clone, Debug)]
pub struct Effects {
    functions: SecondaryMap<Func, Summary>,
    /// How many functions the module had.
    summarized: usize,
    /// The functions that a pointer of each type leads to, if it leads to none outside of the module.
    targets: HashMap<Signature, Vec<Func>>,
    /// The effects if no pointer leads outside of the module, where that makes a difference.
    within: Option<Box<Effects>>,
    /// Which variables their bodies use, for those that were asked for.
    pub bodies: KnownBodies,
}

impl Effects {
    /// Summarizes every function of a module.
    pub fn new(module: &Module) -> Effects {
        let targets = targets_by_type(module);
        Effects {
            within: (!targets.is_empty()).then(|| Box::new(Effects::with(module, targets))),
            ..Effects::with(module, HashMap::new())
        }
    }

    /// These effects and those of functions that the module has since then. None that was there may
    /// have changed.
    pub fn extended(&self, module: &Module) -> Effects {
        let targets = targets_by_type(module);
        let own = |effects: &Effects| effects.targets == targets;
        if !self.within.as_deref().map_or(targets.is_empty(), own) {
            return Effects::new(module);
        }
        let mut extended = self.clone();
        let order = callees_first(module);
        extended.summarize(module, &order);
        if let Some(within) = &mut extended.within {
            within.summarize(module, &order);
        }
        extended
    }

    fn with(module: &Module, targets: HashMap<Signature, Vec<Func>>) -> Effects {
        let mut effects = Effects {
            functions: SecondaryMap::with_default(Summary::none()),
            summarized: 0,
            targets,
            within: None,
            bodies: KnownBodies::default(),
        };
        effects.summarize(module, &callees_first(module));
        effects
    }

    /// Summarizes the functions that are new, given all in an order that has callees first.
    fn summarize(&mut self, module: &Module, order: &[Func]) {
        let first = std::mem::replace(&mut self.summarized, module.funcs.len());
        for (func, function) in module.funcs.iter().skip(first) {
            if known::has_no_body_to_look_into(function) {
                self.functions[func] = declared(function);
            }
        }
        let callers = self.callers(module);
        let mut stale: EntitySet<Func> = EntitySet::new();
        for &func in order.iter().filter(|func| func.index() >= first) {
            stale.insert(func);
        }
        while !stale.is_empty() {
            for &func in order {
                if !stale.remove(func) {
                    continue;
                }
                let mut summary = self.body(module, func);
                let function = &module.funcs[func];
                let attrs = &function.attrs;
                summary.limit(attrs.flags, attrs.memory, &function.params);
                if let Some(info) = &attrs.alloc {
                    summary.allocate(info, function.sig.params.len());
                }
                if known::is_last(function) {
                    summary.only_read();
                }
                if summary != self.functions[func] {
                    self.functions[func] = summary;
                    for &caller in callers[func].iter().filter(|c| c.index() >= first) {
                        stale.insert(caller);
                    }
                }
            }
        }
    }

    /// Who calls each function, directly or through a pointer.
    fn callers(&self, module: &Module) -> SecondaryMap<Func, Vec<Func>> {
        let mut callers: SecondaryMap<Func, Vec<Func>> = SecondaryMap::new();
        for (caller, call) in calls(module) {
            match call.callee {
                Callee::Direct(callee) => callers[callee].push(caller),
                Callee::Indirect => {
                    for &callee in self.targets.get(&call.sig).into_iter().flatten() {
                        callers[callee].push(caller);
                    }
                }
            }
        }
        callers
    }

    /// The effects if a call through a pointer runs a function of the module. That holds for every
    /// call that derivatives flow through: where it does not, the derivative stops.
    pub fn within_module(&self) -> &Effects {
        self.within.as_deref().unwrap_or(self)
    }

    /// What a function may do.
    pub fn function(&self, func: Func) -> &Summary {
        &self.functions[func]
    }

    /// What a call may do; its arguments are those of [`call_args`].
    pub fn call(&self, call: &Call) -> Summary {
        let mut summary = match call.callee {
            Callee::Direct(func) => self.functions[func].clone(),
            Callee::Indirect => {
                let targets = self.targets.get(&call.sig).into_iter().flatten();
                let summaries = targets.map(|&func| &self.functions[func]);
                Summary::any_of(summaries).unwrap_or_else(Summary::anything)
            }
        };
        summary.limit(call.attrs.flags, call.attrs.memory, &call.args);
        summary
    }

    /// What an instruction may do with memory as a call would, and the pointers it does it
    /// through. Loads, stores and the like are calls that read or write their operand.
    pub fn inst<'d>(&self, data: &'d InstData) -> (Summary, &'d [Value]) {
        let mut summary = Summary::none();
        let args = data.args.as_slice();
        let (read, write) = (ArgEffects::READ, ArgEffects::WRITE);
        match &data.op {
            Op::Load(_) => summary.set_arg(0, read),
            Op::Store(_) => {
                summary.set_arg(0, ArgEffects::CAPTURE);
                summary.set_arg(1, write);
            }
            Op::Accumulate(_) => summary.set_arg(0, read | write),
            Op::AtomicRmw(..) => {
                summary.set_arg(0, read | write);
                summary.set_arg(1, ArgEffects::CAPTURE);
            }
            Op::CmpXchg { .. } => {
                summary.set_arg(0, read | write);
                summary.set_arg(1, ArgEffects::empty());
                summary.set_arg(2, ArgEffects::CAPTURE);
            }
            Op::MemCopy { .. } => {
                summary.set_arg(0, write);
                summary.set_arg(1, read);
            }
            Op::MemSet(_) => summary.set_arg(0, write),
            Op::Nest(nest) => {
                for input in 0..nest.inputs.len() {
                    summary.set_arg(nest.view(input).start, read);
                }
                for (i, output) in nest.outputs.iter().enumerate() {
                    let effects = match output.combiner {
                        Combiner::Store => write,
                        _ => read | write,
                    };
                    summary.set_arg(nest.output_view(i).start, effects);
                }
            }
            Op::Call(call) | Op::Invoke { call, .. } => {
                return (self.call(call), call_args(call, data));
            }
            // Before it is replaced by the call of a derivative, anything may happen there.
            Op::Request(_) => summary = Summary::anything(),
            Op::Opaque(opaque) | Op::OpaqueTerminator { opaque, .. } => {
                summary = Summary::anything();
                summary.limit(FnFlags::empty(), opaque.memory, &[]);
            }
            _ => {}
        }
        (summary, args)
    }

    /// What the body of a function does, as seen from outside.
    fn body(&self, module: &Module, func: Func) -> Summary {
        let function = &module.funcs[func];
        let mut summary = Summary {
            args: vec![ArgEffects::empty(); function.sig.params.len()],
            further: ArgEffects::empty(),
            ..Summary::none()
        };
        let points_to = PointsTo::new(function, self);
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                let (does, pointers) = self.inst(data);
                summary.other |= does.other;
                summary.plain &= does.plain;
                summary.inaccessible |= does.inaccessible;
                summary.frees_other |= does.frees_other;
                summary.leaves |= does.leaves;
                summary.moves |= does.moves || moves_address(function, &points_to, data);
                // Nobody gets to see what a call found that never returns.
                let returns = !known::never_returns(module, data);
                summary.outside |= does.outside && returns;
                summary.outside |= looks_outside(function, &points_to, data);
                let own = ArgEffects::RETURN | ArgEffects::CAPTURE;
                for (i, &pointer) in pointers.iter().enumerate() {
                    let effects = does.arg(i) - own;
                    if !effects.is_empty() {
                        through(&mut summary, &points_to, pointer, effects);
                    }
                }
                if data.op == Op::Return {
                    for &value in &data.args {
                        through(&mut summary, &points_to, value, ArgEffects::RETURN);
                        summary.finds |= points_to.objects(value).any(|o| o == Object::Unknown);
                    }
                }
            }
        }
        for index in 0..function.sig.params.len() {
            if points_to.is_escaped(Object::Argument(index)) {
                summary.add_arg(index, ArgEffects::CAPTURE);
            }
        }
        for index in kept_in_results(function, &points_to) {
            summary.add_arg(index, ArgEffects::CAPTURE);
        }
        summary.fresh = returns_fresh(function, &points_to);
        summary.leaves |= leaves_memory(function, &points_to);
        summary
    }
}

/// The functions that calls through pointers may reach, for each type that some call has.
fn targets_by_type(module: &Module) -> HashMap<Signature, Vec<Func>> {
    let mut targets = HashMap::new();
    for (_, call) in calls(module) {
        if call.callee == Callee::Indirect && !targets.contains_key(&call.sig) {
            targets.insert(call.sig.clone(), targets_of(module, call));
        }
    }
    targets.retain(|_, funcs: &mut Vec<Func>| !funcs.is_empty());
    targets
}

/// All calls in functions whose bodies are looked into, with these functions.
fn calls(module: &Module) -> impl Iterator<Item = (Func, &Call)> {
    let summarized = |(_, function): &(Func, &Function)| !known::has_no_body_to_look_into(function);
    module
        .funcs
        .iter()
        .filter(summarized)
        .flat_map(|(func, function)| {
            let insts = function
                .blocks()
                .iter()
                .flat_map(|&block| function.block_insts(block));
            insts.filter_map(move |&inst| Some((func, function.inst(inst).op.call()?)))
        })
}

/// The arguments that a call passes, without the callee of an indirect one.
pub fn call_args<'d>(call: &Call, data: &'d InstData) -> &'d [Value] {
    match call.callee {
        Callee::Direct(_) => &data.args,
        Callee::Indirect => data.args.get(1..).unwrap_or_default(),
    }
}

/// Records effects through a pointer in the function's summary.
fn through(summary: &mut Summary, points_to: &PointsTo, pointer: Value, effects: ArgEffects) {
    for object in points_to.objects(pointer) {
        match object {
            Object::Argument(index) => summary.add_arg(index, effects),
            // The function's own memory is nobody else's business.
            Object::Alloca(_) | Object::Allocation(_) => {}
            Object::Global(_) | Object::Unknown => {
                if effects.contains(ArgEffects::READ) {
                    summary.other |= ModRef::READ;
                }
                if effects.contains(ArgEffects::WRITE) {
                    summary.other |= ModRef::WRITE;
                    summary.plain = false;
                }
                summary.frees_other |= effects.contains(ArgEffects::FREE);
            }
        }
    }
}

/// Whether an instruction writes an address that may have been found in memory. Addresses travel as
/// integers too, in copies of structures; floats are never addresses.
fn moves_address(function: &Function, points_to: &PointsTo, data: &InstData) -> bool {
    match data.op {
        Op::Store(_) => {
            let value = data.args[0];
            !function.ty(value).is_float_like()
                && points_to.objects(value).any(|o| o == Object::Unknown)
        }
        Op::AtomicRmw(..) | Op::CmpXchg { .. } | Op::MemCopy { .. } => true,
        _ => false,
    }
}

/// Whether an instruction may get an address from memory that no argument leads to.
fn looks_outside(function: &Function, points_to: &PointsTo, data: &InstData) -> bool {
    let global = |value: Value| {
        let mut objects = points_to.objects(value);
        objects.any(|object| matches!(object, Object::Global(_)))
    };
    match &data.op {
        Op::Load(_) | Op::AtomicRmw(..) | Op::CmpXchg { .. } => global(data.args[0]),
        Op::MemCopy { .. } => global(data.args[1]),
        Op::Store(_) | Op::Return => data.args.first().is_some_and(|&value| global(value)),
        // A constant that is no address, such as that of memory without bytes, leads nowhere.
        Op::Cast(CastOp::IntToPtr) => function.as_int(data.args[0]).is_none(),
        _ => false,
    }
}

/// Whether every returned pointer is memory that the function allocated and showed nobody.
fn returns_fresh(function: &Function, points_to: &PointsTo) -> bool {
    if !function.sig.ret.is_ptr() {
        return false;
    }
    if function.ret.flags.contains(ParamFlags::NOALIAS) {
        return true;
    }
    let mut any = false;
    for &block in function.blocks() {
        let Some(last) = function.terminator(block) else {
            continue;
        };
        let data = function.inst(last);
        if data.op != Op::Return {
            continue;
        }
        for object in points_to.objects(data.args[0]) {
            any = true;
            if !matches!(object, Object::Allocation(_)) || points_to.is_escaped(object) {
                return false;
            }
        }
    }
    any
}

/// Whether memory that the function allocated can be reached when it has returned: from its result,
/// from an argument, or from anywhere else.
fn leaves_memory(function: &Function, points_to: &PointsTo) -> bool {
    let made = |object: &Object| matches!(object, Object::Allocation(_));
    let mut values = outlets(function);
    values.any(|value| points_to.reachable(value).iter().any(made))
        || points_to.escaped().any(|object| made(&object))
}

/// The arguments whose addresses are in memory that the result or another argument leads to: memory
/// that nobody else knows, such as what the function made, or that is the caller's alone.
fn kept_in_results(function: &Function, points_to: &PointsTo) -> BTreeSet<usize> {
    let mut kept = BTreeSet::new();
    for value in outlets(function) {
        for object in points_to.behind(value) {
            if let Object::Argument(index) = object {
                kept.insert(index);
            }
        }
    }
    kept
}

/// The values through which a caller finds memory when a function has returned.
fn outlets(function: &Function) -> impl Iterator<Item = Value> + '_ {
    let returned = function.blocks().iter().filter_map(|&block| {
        let data = function.inst(function.terminator(block)?);
        data.args.first().filter(|_| data.op == Op::Return)
    });
    function.arguments().iter().chain(returned).copied()
}

/// What a function without a body may do.
fn declared(function: &Function) -> Summary {
    let mut summary = match known::known(function) {
        Some(known) => {
            let count = function.sig.params.len().max(6);
            let mut summary = Summary {
                inaccessible: ModRef::all(),
                ..Summary::none()
            };
            for i in 0..count {
                let letters = known.argument(i);
                let mut effects = ArgEffects::empty();
                for (letter, flag) in [
                    ('r', ArgEffects::READ),
                    ('w', ArgEffects::WRITE),
                    ('f', ArgEffects::FREE),
                    ('c', ArgEffects::CAPTURE),
                ] {
                    effects.set(flag, letters.contains(letter));
                }
                if letters.contains(['i', 'x']) {
                    summary.other = ModRef::all();
                }
                summary.leaves |= letters.contains('m');
                if letters.contains('x') {
                    summary.plain = false;
                    summary.frees_other = true;
                    summary.leaves = true;
                    summary.finds = true;
                }
                if known.result == KnownResult::Argument(i) {
                    effects |= ArgEffects::RETURN;
                }
                summary.set_arg(i, effects);
            }
            summary.further = summary.arg(count - 1) - ArgEffects::RETURN;
            // What lets no derivative through copies characters and the like, and no addresses.
            summary.moves = !known.inactive && summary.may_read() && summary.may_write();
            summary.fresh = known.result == KnownResult::Fresh;
            summary.blank = summary.fresh;
            summary
        }
        None => Summary::anything(),
    };
    let attrs = &function.attrs;
    if let Some(info) = known::allocation(function) {
        // What the library keeps in between is out of reach.
        if known::known(function).is_some() || info.freed.is_none() && info.kind != AllocKind::Free
        {
            summary.other = ModRef::empty();
            summary.further = ArgEffects::empty();
            summary.args.clear();
        }
        summary.limit(attrs.flags, attrs.memory, &function.params);
        summary.allocate(&info, function.sig.params.len());
        return summary;
    }
    if function.ret.flags.contains(ParamFlags::NOALIAS) {
        summary.fresh = true;
    }
    summary.limit(attrs.flags, attrs.memory, &function.params);
    // What is reached by a number counts as other memory where attributes speak of arguments.
    let mut excluded = ArgEffects::empty();
    if !attrs.memory.other.contains(ModRef::READ) {
        excluded |= ArgEffects::READ;
    }
    if !attrs.memory.other.contains(ModRef::WRITE) {
        excluded |= ArgEffects::WRITE | ArgEffects::FREE;
    }
    for (i, ty) in function.sig.params.iter().enumerate() {
        if ty.is_int() {
            summary.set_arg(i, summary.arg(i) - excluded);
        }
    }
    if known::is_last(function) {
        summary.only_read();
    }
    summary
}

/// A function and all that it may call, directly or not.
pub fn callees(module: &Module, func: Func) -> Vec<Func> {
    let mut found = vec![func];
    let mut seen = HashSet::from([func]);
    let mut next = 0;
    while let Some(&caller) = found.get(next) {
        next += 1;
        let function = &module.funcs[caller];
        for &block in function.blocks() {
            for &inst in function.block_insts(block) {
                let called = function.inst(inst).op.call();
                let called = called.map(|call| targets_of(module, call));
                let called = called.into_iter().flatten();
                found.extend(called.filter(|&callee| seen.insert(callee)));
            }
        }
    }
    found
}

/// The functions that may call one of these, directly or not, and these themselves.
pub fn callers(module: &Module, of: impl Fn(&Function) -> bool) -> EntitySet<Func> {
    let mut callers: SecondaryMap<Func, Vec<Func>> = SecondaryMap::new();
    let mut open = Vec::new();
    for (func, function) in &module.funcs {
        if of(function) {
            open.push(func);
        }
        let insts = function.blocks().iter();
        for &inst in insts.flat_map(|&block| function.block_insts(block)) {
            let called = function.inst(inst).op.call();
            let called = called.map(|call| targets_of(module, call));
            for callee in called.into_iter().flatten() {
                callers[callee].push(func);
            }
        }
    }
    let mut found: EntitySet<Func> = EntitySet::new();
    while let Some(func) = open.pop() {
        if found.insert(func) {
            open.extend(&callers[func]);
        }
    }
    found
}

/// The functions with bodies, callees before callers where there is no recursion.
fn callees_first(module: &Module) -> Vec<Func> {
    let mut callees: SecondaryMap<Func, Vec<Func>> = SecondaryMap::new();
    for (func, call) in calls(module) {
        if let Callee::Direct(callee) = call.callee {
            callees[func].push(callee);
        }
    }
    let mut seen: SecondaryMap<Func, bool> = SecondaryMap::new();
    let mut order = Vec::new();
    for root in module.funcs.keys() {
        let mut stack = vec![(root, 0)];
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((func, next)) = stack.last_mut() {
            match callees[*func].get(*next) {
                Some(&callee) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[callee], true) {
                        stack.push((callee, 0));
                    }
                }
                None => {
                    if !known::has_no_body_to_look_into(&module.funcs[*func]) {
                        order.push(*func);
                    }
                    stack.pop();
                }
            }
        }
    }
    order
}
