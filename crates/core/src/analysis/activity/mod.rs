//! What derivatives flow through.
//!
//! A value is *active* if a derivative may flow into its floats from an active argument. A
//! pointer *has a shadow* if the memory behind it may hold active floats, or pointers to such
//! memory. Both spread through instructions and memory until nothing changes. In the end a value
//! stays active only if a derivative may flow on from it.
//!
//! An integer that is loaded from active memory is active too as long as nothing shows that it
//! holds no float; only where it would have to be differentiated is it an error.

mod bits;
mod code_pointers;
pub mod globals;
pub mod lifetimes;
mod objects;
mod useful;

use crate::analysis::effects::{ArgEffects, Effects, call_args};
use crate::analysis::known;
use crate::analysis::targets::targets_of;
use crate::analysis::types::{Kinds, Piece, Types};
use crate::blas;
use crate::derivative::{Held, Key, Made};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{
    Activity as ArgActivity, AllocInfo, Callee, Constant, Edge, Func, Function, Global, Inst,
    InstData, Module, Nest, Op, ReturnActivity, Symbol, Value, ValueDef, is_class_table,
};
use crate::pipeline::Options;
use crate::planted::Defect;
use crate::rules::{self, Partial};
use crate::shadow::moved_operands;
use cranelift_entity::EntitySet;
use globals::Globals;
use objects::{Object, Objects};
use std::collections::{BTreeSet, HashMap};

/// What derivatives flow through in one function, for one choice of active arguments.
#[derive(Clone, Debug)]
pub struct Activity {
    active: EntitySet<Value>,
    shadowed: EntitySet<Value>,
    objects: Objects,
    globals: HashMap<Inst, Vec<Global>>,
    /// The variables that callees touch and that may hold pointers with shadows.
    holders: HashMap<Inst, Vec<Global>>,
    released: BTreeSet<Inst>,
    /// Which memory behind each argument was made while the derivative ran.
    made: Vec<Made>,
    /// The variables that may hold pointers with shadows at the start.
    held: Vec<Held>,
    /// The variables that derivatives flow through.
    exposed: Vec<Global>,
}

impl Activity {
    /// Analyses a function whose arguments have the activities of the key.
    pub fn new(
        module: &Module,
        function: &Function,
        types: &Types,
        effects: &Effects,
        key: &Key,
        options: &Options,
    ) -> Result<Activity> {
        let callees = globals_of_callees(module, function);
        let mut solver = Solver {
            module,
            function,
            types,
            effects,
            key,
            copies: !options.breaks(Defect::CopiesIgnored),
            objects: Objects::new(module, function, types, effects, &callees),
            callees,
            varied: BTreeSet::new(),
            with_shadows: BTreeSet::new(),
            active: EntitySet::new(),
            changed: true,
        };
        solver.start();
        while solver.changed {
            solver.changed = false;
            solver.with_shadows = solver.objects_with_shadows();
            for &block in function.blocks() {
                for &inst in function.block_insts(block) {
                    solver.inst(inst);
                }
            }
        }
        solver.with_shadows = solver.objects_with_shadows();
        let shadowed = code_pointers::without(module, function, &solver.active, solver.shadowed());
        solver.check_allocators()?;
        // Where activity is decided at run time, a pointer may lead anywhere.
        if !key.runtime_activity {
            solver.check(&shadowed)?;
        }
        bits::check(module, function, types, &solver.active)?;
        useful::keep(module, function, key.ret, &mut solver.active);
        Ok(Activity {
            globals: solver.of_calls(Solver::globals_of_call),
            holders: solver.of_calls(Solver::holders_of_call),
            released: lifetimes::released(module, function, effects, &solver.objects),
            made: made(function, types, key),
            held: key.held.clone(),
            exposed: solver.exposed(),
            active: solver.active,
            shadowed,
            objects: solver.objects,
        })
    }

    /// Whether a derivative may flow through the floats in a value.
    pub fn is_active(&self, value: Value) -> bool {
        self.active.contains(value)
    }

    /// Whether a value is, or contains, a pointer to memory with a shadow.
    pub fn has_shadow(&self, value: Value) -> bool {
        self.shadowed.contains(value)
    }

    /// Whether derivatives flow into, through or out of a call.
    pub fn is_active_call(&self, function: &Function, inst: Inst) -> bool {
        let data = function.inst(inst);
        let Some(call) = data.op.call() else {
            return false;
        };
        let mut values = call_args(call, data).iter().copied();
        let reached = |v: Value| self.is_active(v) || self.has_shadow(v);
        !self.globals_of_call(inst).is_empty()
            || values.any(reached)
            || function.result(inst).is_some_and(reached)
    }

    /// The global variables that a callee touches and that may hold active floats, or pointers to
    /// some, when it is called.
    pub fn globals_of_call(&self, inst: Inst) -> &[Global] {
        self.globals.get(&inst).map_or(&[], Vec::as_slice)
    }

    /// The variables that a callee touches and that may hold pointers with shadows when it is called.
    pub fn held_of_call(&self, inst: Inst) -> Vec<Held> {
        let holders = self.holders.get(&inst).into_iter().flatten();
        let held = holders.map(|&global| {
            let reached = self.objects.reached_through(global);
            let made = reached.iter().all(|object| self.made(object) == Made::All);
            Held { global, made }
        });
        held.collect()
    }

    /// Whether a pointer may be one that a variable held at the start, so that it has a shadow only
    /// if it was put there while the derivative ran.
    pub fn was_held(&self, pointer: Value) -> bool {
        let objects = self.objects.of(pointer).iter();
        let mut held = objects.filter_map(|object| match object {
            Object::Held(global) => Some(*global),
            _ => None,
        });
        held.any(|global| self.held.iter().any(|held| held.global == global))
    }

    /// The variables with derivatives that a pointer may lead into without anybody having said so: it
    /// was found in memory that nothing is known of.
    pub fn perhaps_behind(&self, pointer: Value) -> &[Global] {
        let mut objects = self.objects.of(pointer).iter();
        let unknown = objects.any(|object| object.is_unknown()) && !self.has_shadow(pointer);
        match unknown {
            true => &self.exposed,
            false => &[],
        }
    }

    /// Whether the reverse of an allocation ends the shadow of the memory.
    pub fn is_released(&self, allocation: Inst) -> bool {
        self.released.contains(&allocation)
    }

    /// Whether the reverses of allocations end the shadows of all that a pointer leads to.
    pub fn is_released_memory(&self, pointer: Value) -> bool {
        let released = |o: &Object| matches!(o, Object::Local(inst) if self.is_released(*inst));
        self.objects.of(pointer).iter().all(released)
    }

    /// Whether a pointer leads only to memory that was made while the derivative ran.
    pub fn is_made(&self, pointer: Value) -> bool {
        let objects = self.objects.of(pointer).iter();
        objects.map(|o| self.made(o)).all(|made| made == Made::All)
    }

    /// Whether a pointer that leads to memory with pointers in it leads only to such memory that
    /// was made while the derivative ran.
    pub fn is_made_with_pointers(&self, pointer: Value) -> bool {
        let objects = self.objects.of(pointer).iter();
        objects
            .map(|o| self.made(o))
            .all(|made| made >= Made::Pointers)
    }

    /// Which of the memory that can be reached from a pointer was made while the derivative ran.
    pub fn made_behind(&self, pointer: Value) -> Made {
        let reached = self.objects.reached_from(pointer);
        let made = reached.iter().map(|object| self.made(object));
        made.min().unwrap_or(Made::All)
    }

    fn made(&self, object: &Object) -> Made {
        match object {
            Object::Local(_) | Object::Code => Made::All,
            Object::Argument(i) => self.made.get(*i).copied().unwrap_or(Made::Unknown),
            // Nobody frees a constant.
            Object::Global(global) if self.objects.is_fixed(*global) => Made::All,
            Object::Held(global) => {
                let mut held = self.held.iter();
                match held.any(|held| held.global == *global && held.made) {
                    true => Made::All,
                    false => Made::Unknown,
                }
            }
            Object::Global(_) | Object::Foreign => Made::Unknown,
        }
    }
}

/// Which memory behind each argument was made while the derivative ran: what the caller knows, and
/// that there is none with pointers behind an argument that leads to numbers only.
fn made(function: &Function, types: &Types, key: &Key) -> Vec<Made> {
    let arguments = function.arguments().iter().zip(&key.made);
    let made = arguments.map(
        |(&argument, &made)| match types.shape(argument).holds_no_address() {
            true => made.max(Made::Pointers),
            false => made,
        },
    );
    made.collect()
}

/// What a call is to differentiation.
#[derive(Clone, Debug)]
pub enum CallKind {
    /// It allocates or frees memory.
    Allocation(AllocInfo),
    /// No derivative flows through it.
    Inactive,
    /// Its body is part of the program, or the program gives its derivative.
    Defined(Func),
    /// Nothing is known of it but this name.
    Unknown(String),
}

/// What a call is to differentiation.
pub fn call_kind(module: &Module, data: &InstData) -> CallKind {
    let func = match data.op.call().map(|call| call.callee) {
        Some(Callee::Direct(func)) => func,
        _ => return CallKind::Unknown("a function pointer".to_string()),
    };
    let function = &module.funcs[func];
    if module.rules_of(func).next().is_some() || blas::routine(function).is_some() {
        return CallKind::Defined(func);
    }
    if let Some(info) = known::allocation(function) {
        return CallKind::Allocation(info);
    }
    if known::is_inactive(function) {
        return CallKind::Inactive;
    }
    match function.is_declaration() {
        true => CallKind::Unknown(format!("`{}`", function.name)),
        false => CallKind::Defined(func),
    }
}

struct Solver<'a> {
    module: &'a Module,
    function: &'a Function,
    types: &'a Types,
    effects: &'a Effects,
    key: &'a Key,
    /// Whether copies of memory count.
    copies: bool,
    objects: Objects,
    /// The global variables that the callees of each call touch.
    callees: HashMap<Inst, Globals>,
    /// Memory that may hold active floats.
    varied: BTreeSet<Object>,
    /// Memory that needs a shadow, as known at the start of the round.
    with_shadows: BTreeSet<Object>,
    active: EntitySet<Value>,
    changed: bool,
}

impl Solver<'_> {
    fn start(&mut self) {
        let arguments = self.function.arguments();
        for (i, (&argument, activity)) in arguments.iter().zip(&self.key.args).enumerate() {
            if *activity == ArgActivity::Const {
                continue;
            }
            self.activate(argument);
            if activity.shadow_count(1) > 0 {
                self.varied.insert(Object::Argument(i));
            }
        }
        let globals = self.key.globals.iter().copied();
        self.varied.extend(globals.map(Object::Global));
        let held = self.key.held.iter();
        self.varied
            .extend(held.map(|held| Object::Held(held.global)));
    }

    /// Marks a value as active if it can hold floats.
    fn activate(&mut self, value: Value) {
        if self.active.contains(value) || matches!(self.function.def(value), ValueDef::Const(_)) {
            return;
        }
        let pieces = self.types.pieces(self.module, self.function, value);
        let holds = |(_, piece): &(i64, Piece)| !matches!(piece, Piece::Int | Piece::Ptr);
        if pieces.iter().any(holds) {
            self.active.insert(value);
            self.changed = true;
        }
    }

    fn is_active(&self, value: Value) -> bool {
        self.active.contains(value)
    }

    fn is_varied(&self, pointer: Value) -> bool {
        let mut objects = self.objects.of(pointer).iter();
        objects.any(|object| self.varied.contains(object))
    }

    /// Active floats are written to the memory behind a pointer.
    fn vary(&mut self, pointer: Value) {
        for object in self.objects.of(pointer).clone() {
            self.vary_object(object);
        }
    }

    fn vary_object(&mut self, object: Object) {
        if self.has_shadow_of_own(object) {
            self.changed |= self.varied.insert(object);
        }
    }

    fn inst(&mut self, inst: Inst) {
        let data = self.function.inst(inst);
        let result = self.function.result(inst);
        for edge in data.op.edges() {
            self.edge(edge);
        }
        match (&data.op, result) {
            (Op::Load(_), Some(result)) if self.is_varied(data.args[0]) => self.activate(result),
            (Op::Load(_), _) => {}
            (Op::AtomicRmw(..) | Op::CmpXchg { .. }, Some(result)) => {
                if self.is_varied(data.args[0]) {
                    self.activate(result);
                }
                if data.args[1..].iter().any(|&v| self.is_active(v)) {
                    self.vary(data.args[0]);
                }
            }
            (Op::Store(_), _) if self.is_active(data.args[0]) => self.vary(data.args[1]),
            (Op::Accumulate(_), _) if self.is_active(data.args[1]) => self.vary(data.args[0]),
            (Op::MemCopy { .. }, _) if self.copies && self.is_varied(data.args[1]) => {
                self.vary(data.args[0]);
            }
            (Op::Nest(nest), _) => self.nest(nest, data),
            (Op::Call(_) | Op::Invoke { .. }, result) => self.call(inst, data, result),
            (Op::Opaque(_), Some(result)) if data.args.iter().any(|&v| self.is_active(v)) => {
                self.activate(result);
            }
            (op, Some(result)) => {
                if let Some(positions) = moved_operands(op) {
                    let address = matches!(op, Op::Address { .. });
                    if !address && positions.iter().any(|&p| self.is_active(data.args[p])) {
                        self.activate(result);
                    }
                } else if let Some(rule) = rules::rule_for(op) {
                    let flows = |(i, &v): (usize, &Value)| {
                        self.is_active(v) && *rule.partial(i) != Partial::Zero
                    };
                    if data.args.iter().enumerate().any(flows) {
                        self.activate(result);
                    }
                } else if data.args.iter().any(|&v| self.is_active(v)) {
                    self.activate(result);
                }
            }
            _ => {}
        }
    }

    /// Outputs that depend on active elements or values are active.
    fn nest(&mut self, nest: &Nest, data: &InstData) {
        let inputs = (0..nest.inputs.len())
            .filter(|&i| self.is_varied(data.args[nest.view(i).start]))
            .map(|i| nest.element(i));
        let taken = nest.taken().iter().zip(&data.args[nest.outside()..]);
        let taken = taken.filter(|(_, value)| self.is_active(**value));
        let active = inputs.chain(taken.map(|(&param, _)| param));
        let varied = rules::body::varied(&nest.body, active);
        for (i, &result) in nest.body.results().iter().enumerate() {
            if varied.contains(result) {
                self.vary(data.args[nest.output_view(i).start]);
            }
        }
    }

    fn edge(&mut self, edge: &Edge) {
        let params = self.function.block_params(edge.block).to_vec();
        for (&param, &argument) in params.iter().zip(&edge.args) {
            if self.is_active(argument) {
                self.activate(param);
            }
        }
    }

    /// A call whose body is known lets derivatives flow from everything it gets to everything it
    /// returns or writes.
    fn call(&mut self, inst: Inst, data: &InstData, result: Option<Value>) {
        match call_kind(self.module, data) {
            CallKind::Allocation(_) | CallKind::Inactive => return,
            CallKind::Defined(_) | CallKind::Unknown(_) => {}
        }
        let Some(call) = data.op.call() else { return };
        let summary = self.effects.call(call);
        let args = call_args(call, data);
        let flows = !self.globals_of_call(inst).is_empty()
            || args.iter().enumerate().any(|(i, &v)| {
                let reads = summary
                    .arg(i)
                    .intersects(ArgEffects::READ | ArgEffects::CAPTURE)
                    || summary.other.contains(crate::ir::ModRef::READ);
                self.is_active(v) || (reads && self.is_deeply_varied(v))
            });
        if !flows {
            return;
        }
        // No part of a float comes back as a truth value.
        let truth = |v: Value| self.function.ty(v).int_bits() == Some(1);
        if let Some(result) = result.filter(|&v| !truth(v)) {
            self.activate(result);
            self.vary_reachable(result);
        }
        for global in self
            .callees
            .get(&inst)
            .map_or(BTreeSet::new(), |g| g.written.clone())
        {
            self.vary_object(Object::Global(global));
        }
        for (i, &v) in args.iter().enumerate() {
            let writes = summary
                .arg(i)
                .intersects(ArgEffects::WRITE | ArgEffects::CAPTURE);
            if writes || summary.other.contains(crate::ir::ModRef::WRITE) {
                self.vary_reachable(v);
            }
        }
    }

    /// A callee may write active floats to all that it can reach from a pointer, and what it
    /// returns may lead to memory that it has filled.
    fn vary_reachable(&mut self, pointer: Value) {
        let mut reached = self.objects.of(pointer).clone();
        let mut open: Vec<Object> = reached.iter().copied().collect();
        while let Some(object) = open.pop() {
            self.vary_object(object);
            let inner = self.objects.contents(object);
            open.extend(inner.filter(|&inner| reached.insert(inner)));
        }
    }

    fn is_deeply_varied(&self, pointer: Value) -> bool {
        let mut objects = self.objects.of(pointer).iter();
        objects.any(|o| self.varied.contains(o) || self.with_shadows.contains(o))
    }

    /// The global variables with shadows that a callee touches. Code that nobody knows may touch all
    /// that are not constant, and so may a pointer that nobody knows.
    fn globals_of_call(&self, inst: Inst) -> Vec<Global> {
        let Some(globals) = self.callees.get(&inst) else {
            return Vec::new();
        };
        let with_shadow = |global: &Global| {
            let object = Object::Global(*global);
            self.varied.contains(&object) || self.with_shadows.contains(&object)
        };
        match globals.by_pointer || (globals.finds_pointers && globals.uses_floats) {
            true => {
                let all = self.module.globals.iter();
                let all = all.filter(|(_, data)| !data.constant);
                let mut found: BTreeSet<Global> = all.map(|(global, _)| global).collect();
                found.extend(&globals.touched);
                found.into_iter().filter(with_shadow).collect()
            }
            false => {
                let touched = globals.touched.iter().copied();
                touched.filter(with_shadow).collect()
            }
        }
    }

    /// Those of them that may hold pointers with shadows.
    fn holders_of_call(&self, inst: Inst) -> Vec<Global> {
        let mut globals = self.globals_of_call(inst);
        globals.retain(|&global| {
            let mut contents = self.objects.contents(Object::Global(global));
            !self.objects.is_fixed(global)
                && (self.has_shadow_of_own(Object::Held(global))
                    || contents.any(|object| self.with_shadows.contains(&object)))
        });
        globals
    }

    /// The variables that may hold active floats.
    fn exposed(&self) -> Vec<Global> {
        let variables = self.varied.iter().filter_map(|object| match *object {
            Object::Global(global) => Some(global),
            _ => None,
        });
        variables
            .filter(|&global| !self.module.globals[global].constant)
            .collect()
    }

    /// What is known of each call, where it is anything.
    fn of_calls(&self, of: fn(&Self, Inst) -> Vec<Global>) -> HashMap<Inst, Vec<Global>> {
        let calls = self.callees.keys();
        let found = calls.map(|&inst| (inst, of(self, inst)));
        found.filter(|(_, globals)| !globals.is_empty()).collect()
    }

    /// The memory that needs a shadow: it holds active floats, or pointers to memory that does.
    fn objects_with_shadows(&self) -> BTreeSet<Object> {
        let mut needs = self.varied.clone();
        // What the caller will find with a shadow must have one, though no active float may be in
        // it yet: memory that is returned as such, or left behind a pointer with a shadow.
        if self.key.ret == ReturnActivity::Dup {
            needs.extend(self.objects.returned().filter(is_local));
        }
        loop {
            let before = needs.len();
            let outside: Vec<Object> = needs.iter().copied().filter(|o| !is_local(o)).collect();
            for holder in outside {
                needs.extend(self.objects.contents(holder).filter(is_local));
            }
            // Callees know variables that this function does not mention.
            for holder in self.objects.holders() {
                let mut contents = self.objects.contents(holder);
                if self.has_shadow_of_own(holder) && contents.any(|inner| needs.contains(&inner)) {
                    needs.insert(holder);
                }
            }
            for value in self.function.values() {
                // A pointer with a shadow has one wherever it leads.
                if self.objects.of(value).iter().any(|o| needs.contains(o)) {
                    let all = self.objects.of(value).iter().copied();
                    needs.extend(all.filter(|&object| self.has_shadow_of_own(object)));
                }
                for &object in self.objects.of(value) {
                    let leads = |inner: Object| needs.contains(&inner);
                    if !needs.contains(&object)
                        && self.has_shadow_of_own(object)
                        && self.objects.contents(object).any(leads)
                    {
                        needs.insert(object);
                    }
                }
                // The shadow of a pointer must be one whichever memory it leads to.
                let objects = self.objects.of(value);
                if objects.iter().any(|o| needs.contains(o)) {
                    let own = objects.iter().filter(|&&o| self.has_shadow_of_own(o));
                    needs.extend(own.copied());
                }
            }
            if needs.len() == before {
                return needs;
            }
        }
    }

    fn has_shadow_of_own(&self, object: Object) -> bool {
        match object {
            Object::Local(_) => true,
            Object::Global(global) => !self.module.globals[global].inactive,
            Object::Argument(i) => self.key.args[i] != ArgActivity::Const,
            Object::Held(global) => self.key.held.iter().any(|held| held.global == global),
            Object::Code | Object::Foreign => false,
        }
    }

    fn shadowed(&self) -> EntitySet<Value> {
        let needs = &self.with_shadows;
        let mut shadowed = EntitySet::new();
        for value in self.function.values() {
            let pieces = || self.types.pieces(self.module, self.function, value);
            if self.objects.of(value).iter().any(|o| needs.contains(o))
                && pieces().iter().any(|(_, piece)| *piece == Piece::Ptr)
                && !is_function(self.function, value)
            {
                shadowed.insert(value);
            }
        }
        shadowed
    }

    /// Derivatives must not flow through pointers that may lead to memory with a shadow and to
    /// memory without one, nor into memory of which nobody knows who reads it.
    fn check(&self, shadowed: &EntitySet<Value>) -> Result<()> {
        for &block in self.function.blocks() {
            for &inst in self.function.block_insts(block) {
                let data = self.function.inst(inst);
                let args = &data.args;
                let views;
                let pointers = match (&data.op, self.function.result(inst)) {
                    (Op::Load(_), Some(result)) if self.is_active(result) => &args[..1],
                    (Op::Store(_), _) => &args[1..],
                    (Op::Accumulate(_), _) if self.is_active(args[1]) => &args[..1],
                    (Op::MemCopy { .. }, _) if shadowed.contains(args[0]) => &args[..2],
                    (Op::MemCopy { .. }, _) => &args[..0],
                    (Op::MemSet(_), _) => &args[..1],
                    (Op::Nest(nest), _) => {
                        self.check_lost_outputs(nest, data, shadowed)?;
                        let count = nest.inputs.len() + nest.outputs.len();
                        let bases = (0..count).map(|view| args[nest.view(view).start]);
                        views = bases.collect::<Vec<Value>>();
                        &views[..]
                    }
                    (Op::Call(_) | Op::Invoke { .. }, _) => match call_kind(self.module, data) {
                        CallKind::Allocation(_) | CallKind::Inactive => continue,
                        CallKind::Defined(_) | CallKind::Unknown(_) => &args[..],
                    },
                    _ => continue,
                };
                // What goes to const memory is not differentiated, the caller said so; what goes to
                // memory that nothing is known of would be lost.
                if let Op::Store(_) = data.op
                    && self.is_active(args[0])
                    && !shadowed.contains(args[1])
                {
                    self.check_unknown(args[1], data)?;
                }
                if let Op::MemCopy { .. } = data.op
                    && self.is_varied(args[1])
                    && self
                        .types
                        .shape(args[1])
                        .kinds(0, 8)
                        .intersects(Kinds::FLOATS)
                    && !shadowed.contains(args[0])
                {
                    self.check_unknown(args[0], data)?;
                }
                self.check_stranger(inst, data)?;
                self.check_rule(data)?;
                if let CallKind::Defined(_) = call_kind(self.module, data)
                    && self.loses_derivative(data, shadowed)
                {
                    self.check_object(Object::Foreign, data)?;
                }
                for &pointer in pointers.iter().filter(|&&p| shadowed.contains(p)) {
                    for &object in self.objects.of(pointer) {
                        self.check_object(object, data)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// In reverse mode shadows are used after their primals were freed, so nobody but an allocator
    /// may change what it knows of its memory.
    fn check_allocators(&self) -> Result<()> {
        let state = match self.key.reverse {
            true => globals::of_allocators(self.module),
            false => return Ok(()),
        };
        let blocks = self.function.blocks().iter().filter(|_| !state.is_empty());
        for &inst in blocks.flat_map(|&block| self.function.block_insts(block)) {
            let data = self.function.inst(inst);
            let pointer = match &data.op {
                Op::Store(_) => Some(data.args[1]),
                Op::MemSet(_) | Op::MemCopy { .. } => Some(data.args[0]),
                _ => None,
            };
            let objects = pointer.into_iter().flat_map(|p| self.objects.of(p));
            let stored = objects.filter_map(|object| match object {
                Object::Global(global) => Some(global),
                _ => None,
            });
            let called = self.callees.get(&inst).into_iter();
            let mut written = stored.chain(called.flat_map(|globals| &globals.written));
            let Some((variable, allocator)) =
                written.find_map(|global| Some((*global, *state.get(global)?)))
            else {
                continue;
            };
            let variable = &self.module.globals[variable].name;
            let allocator = &self.module.funcs[allocator].name;
            return Err(Diagnostic::new(
                format!("cannot tell what becomes of shadows that `{allocator}` allocates"),
                format!(
                    "`{variable}`, in which it keeps what it knows, is changed here, so memory may \
                     be taken back that the reverse sweep still needs"
                ),
                "free each piece of memory with the function that is registered for it, and take \
                 back all of it only after the derivative",
            )
            .at(self.module, data.loc)
            .in_function(&self.function.name));
        }
        Ok(())
    }

    /// A nest must not write active floats to memory that nothing is known of.
    fn check_lost_outputs(
        &self,
        nest: &Nest,
        data: &InstData,
        shadowed: &EntitySet<Value>,
    ) -> Result<()> {
        let read = (0..nest.inputs.len()).any(|i| self.is_varied(data.args[nest.view(i).start]));
        let taken = data.args[nest.outside()..]
            .iter()
            .any(|&v| self.is_active(v));
        for output in 0..nest.outputs.len() {
            let base = data.args[nest.output_view(output).start];
            if (read || taken) && !shadowed.contains(base) {
                self.check_unknown(base, data)?;
            }
        }
        Ok(())
    }

    /// Whether a callee may write active floats to memory that nothing is known of.
    fn loses_derivative(&self, data: &InstData, shadowed: &EntitySet<Value>) -> bool {
        let Some(call) = data.op.call() else {
            return false;
        };
        let (summary, args) = (self.effects.call(call), call_args(call, data));
        let flows = args.iter().enumerate().any(|(i, &v)| {
            let reads = summary.arg(i).contains(ArgEffects::READ);
            self.is_active(v) || (reads && self.is_deeply_varied(v))
        });
        let lost = |(i, v): (usize, &Value)| {
            summary.arg(i).contains(ArgEffects::WRITE)
                && !shadowed.contains(*v)
                && self.objects.of(*v).iter().any(|o| o.is_unknown())
        };
        flows && args.iter().enumerate().any(lost)
    }

    /// A pointer without a shadow must not lead to memory that this function knows nothing of.
    fn check_unknown(&self, pointer: Value, data: &InstData) -> Result<()> {
        let mut objects = self.objects.of(pointer).iter();
        match objects.find(|object| object.is_unknown()) {
            Some(&object) => self.check_object(object, data),
            None => Ok(()),
        }
    }

    /// A function without a body may use global variables that derivatives flow through, and
    /// nobody could tell how.
    fn check_stranger(&self, inst: Inst, data: &InstData) -> Result<()> {
        let stranger = match (self.callees.get(&inst), data.op.call()) {
            (Some(globals), _) => globals.stranger,
            (None, Some(call)) => match call.callee {
                Callee::Direct(func) => globals::stranger(self.module, func),
                Callee::Indirect => None,
            },
            _ => None,
        };
        let varied = self.with_shadows.iter().find_map(|object| match *object {
            Object::Global(global) => (!self.module.globals[global].constant).then_some(global),
            _ => None,
        });
        let (Some(stranger), Some(global)) = (stranger, varied) else {
            return Ok(());
        };
        let name = &self.module.funcs[stranger].name;
        let variable = &self.module.globals[global].name;
        Err(Diagnostic::new(
            format!("cannot tell what `{name}` does with the global variable `{variable}`"),
            format!(
                "a derivative flows through the variable, and `{name}`, whose body is not part of \
                 the program, might read or write it"
            ),
            format!(
                "compile the file that defines `{name}` with zymase too, or, if it leaves the \
                 variable alone, mark it: `void *__enzyme_inactivefn_{name} = (void *){name};`"
            ),
        )
        .at(self.module, data.loc)
        .in_function(&self.function.name))
    }

    /// A derivative that somebody wrote for a function has no shadows of variables, so none may flow
    /// through those that the function uses.
    fn check_rule(&self, data: &InstData) -> Result<()> {
        let Some(Callee::Direct(func)) = data.op.call().map(|call| call.callee) else {
            return Ok(());
        };
        if self.module.rules_of(func).next().is_none() {
            return Ok(());
        }
        let used = globals::behind_rules(self.module, func).touched;
        let mut varied = used.into_iter().filter(|&global| {
            !self.module.globals[global].constant
                && self.with_shadows.contains(&Object::Global(global))
        });
        let Some(global) = varied.next() else {
            return Ok(());
        };
        let name = &self.module.funcs[func].name;
        let variable = &self.module.globals[global].name;
        Err(Diagnostic::new(
            format!("the custom rule for `{name}` cannot be used"),
            format!(
                "`{name}` uses the global variable `{variable}`, a derivative flows through that, \
                 and rules speak of arguments and results only"
            ),
            format!(
                "pass what is in `{variable}` as an argument, or, if no derivative is meant to \
                 flow through it, mark it: `void *__enzyme_inactive_global_{variable} = \
                 &{variable};`"
            ),
        )
        .at(self.module, data.loc)
        .in_function(&self.function.name))
    }

    fn check_object(&self, object: Object, data: &InstData) -> Result<()> {
        let (what, help) = match object {
            Object::Argument(i) if self.key.args[i] == ArgActivity::Const => (
                format!("to memory of argument {}, which is const", i + 1),
                "pass that argument as enzyme_dup with a shadow, or keep the two apart",
            ),
            Object::Foreign => (
                "to memory that this function knows nothing of".to_string(),
                "pass the memory as an enzyme_dup argument",
            ),
            Object::Held(global) if !self.has_shadow_of_own(object) => (
                format!(
                    "to memory that the variable `{}` led to before",
                    self.module.globals[global].name
                ),
                "pass the memory as an enzyme_dup argument",
            ),
            // A pointer that was loaded from an object of a class may be its virtual table as far as
            // is known here, but nobody finds a number there, nor a pointer to one.
            Object::Global(global) if is_class_table(&self.module.globals[global].name) => {
                return Ok(());
            }
            Object::Global(global) if self.module.globals[global].inactive => (
                format!(
                    "to `{}`, which is marked as inactive",
                    self.module.globals[global].name
                ),
                "keep the two apart, or take the mark away",
            ),
            Object::Global(global) if self.module.globals[global].init.is_none() => {
                let refusal = active_global(&self.module.globals[global].name);
                let refusal = refusal.at(self.module, data.loc);
                return Err(refusal.in_function(&self.function.name));
            }
            _ => return Ok(()),
        };
        Err(Diagnostic::new(
            "cannot tell whether memory has a derivative",
            format!("a derivative flows through a pointer that may lead {what}"),
            help,
        )
        .at(self.module, data.loc)
        .in_function(&self.function.name))
    }
}

/// The global variables that the callees of each call touch if they are differentiated.
fn globals_of_callees(module: &Module, function: &Function) -> HashMap<Inst, Globals> {
    let mut known: HashMap<Func, Globals> = HashMap::new();
    let mut found = HashMap::new();
    let insts = function.blocks().iter();
    for &inst in insts.flat_map(|&block| function.block_insts(block)) {
        let data = function.inst(inst);
        let Some(call) = data.op.call() else { continue };
        let callees = match call_kind(module, data) {
            CallKind::Defined(func) => vec![func],
            _ if call.callee == Callee::Indirect => targets_of(module, call),
            _ => continue,
        };
        let mut all = Globals {
            by_pointer: call.callee == Callee::Indirect,
            ..Globals::default()
        };
        for func in callees {
            let globals = || match module.rules_of(func).next() {
                Some(_) => globals::behind_rules(module, func),
                None => Globals::new(module, func),
            };
            all.merge(known.entry(func).or_insert_with(globals));
        }
        found.insert(inst, all);
    }
    found
}

/// Whether the function itself, or a callee, makes an object.
fn is_local(object: &Object) -> bool {
    matches!(object, Object::Local(_))
}

/// The refusal of a variable that needs a shadow and cannot get one.
fn active_global(name: &str) -> Box<Diagnostic> {
    Diagnostic::new(
        format!("a derivative flows through the global variable `{name}`, which has no shadow"),
        "it is defined outside of the program that Zymase sees, so other code may read and write \
         it while a derivative is computed",
        format!(
            "compile the file that defines it with zymase too, pass a pointer to it as an \
             enzyme_dup argument, or, if no derivative is meant to flow through it, mark it: \
             `void *__enzyme_inactive_global_{name} = &{name};`"
        ),
    )
}

/// Whether a value is the address of a function: calls dispatch on the primal one.
fn is_function(function: &Function, value: Value) -> bool {
    matches!(
        function.def(value),
        ValueDef::Const(Constant::Address(Symbol::Func(_), _))
    )
}
