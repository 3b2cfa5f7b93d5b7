//! How activity spreads through instructions and memory.

use super::globals::{self, Globals, KnownBodies};
use super::objects::{Object, Objects};
use super::passed::Passed;
use super::{CallKind, call_kind};
use crate::analysis::effects::{ArgEffects, Effects, call_args};
use crate::analysis::targets::targets_of;
use crate::analysis::types::{Kinds, Piece, Types};
use crate::derivative::Key;
use crate::ir::{
    Activity as ArgActivity, Callee, Constant, Edge, Func, Function, Global, Inst, InstData,
    Module, Nest, Op, ReturnActivity, Symbol, Value, ValueDef,
};
use crate::rules::{self, Partial};
use crate::shadow::moved_operands;
use cranelift_entity::EntitySet;
use std::collections::{BTreeSet, HashMap};

/// What is known so far.
pub(super) struct Solver<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) types: &'a Types,
    pub(super) effects: &'a Effects,
    pub(super) key: &'a Key,
    /// Whether copies of memory count.
    pub(super) copies: bool,
    pub(super) objects: Objects,
    /// The global variables that the callees of each call touch.
    pub(super) callees: HashMap<Inst, Globals>,
    /// What callees reach.
    pub(super) passed: Vec<Passed>,
    /// Memory that may hold active floats.
    pub(super) varied: BTreeSet<Object>,
    /// Memory that needs a shadow, as known at the start of the round.
    pub(super) with_shadows: BTreeSet<Object>,
    pub(super) active: EntitySet<Value>,
    pub(super) changed: bool,
}

impl Solver<'_> {
    pub(super) fn start(&mut self) {
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
    pub(super) fn activate(&mut self, value: Value) {
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

    pub(super) fn is_active(&self, value: Value) -> bool {
        self.active.contains(value)
    }

    pub(super) fn is_varied(&self, pointer: Value) -> bool {
        let mut objects = self.objects.of(pointer).iter();
        objects.any(|object| self.varied.contains(object))
    }

    /// Active floats are written to the memory behind a pointer.
    pub(super) fn vary(&mut self, pointer: Value) {
        for object in self.objects.of(pointer).clone() {
            self.vary_object(object);
        }
    }

    pub(super) fn vary_object(&mut self, object: Object) {
        if self.has_shadow_of_own(object) {
            self.changed |= self.varied.insert(object);
        }
    }

    pub(super) fn inst(&mut self, inst: Inst) {
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
    pub(super) fn nest(&mut self, nest: &Nest, data: &InstData) {
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

    pub(super) fn edge(&mut self, edge: &Edge) {
        let params = self.function.block_params(edge.block).to_vec();
        for (&param, &argument) in params.iter().zip(&edge.args) {
            if self.is_active(argument) {
                self.activate(param);
            }
        }
    }

    /// A call whose body is known lets derivatives flow from everything it gets to everything it
    /// returns or writes.
    pub(super) fn call(&mut self, inst: Inst, data: &InstData, result: Option<Value>) {
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
    pub(super) fn vary_reachable(&mut self, pointer: Value) {
        let mut reached = self.objects.of(pointer).clone();
        let mut open: Vec<Object> = reached.iter().copied().collect();
        while let Some(object) = open.pop() {
            self.vary_object(object);
            let inner = self.objects.contents(object);
            open.extend(inner.filter(|&inner| reached.insert(inner)));
        }
    }

    pub(super) fn is_deeply_varied(&self, pointer: Value) -> bool {
        let mut objects = self.objects.of(pointer).iter();
        objects.any(|o| self.varied.contains(o) || self.with_shadows.contains(o))
    }

    /// The global variables with shadows that a callee touches. Code that nobody knows may touch all
    /// that are not constant, and so may a pointer that nobody knows.
    pub(super) fn globals_of_call(&self, inst: Inst) -> Vec<Global> {
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
    pub(super) fn holders_of_call(&self, inst: Inst) -> Vec<Global> {
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
    pub(super) fn exposed(&self) -> Vec<Global> {
        let variables = self.varied.iter().filter_map(|object| match *object {
            Object::Global(global) => Some(global),
            _ => None,
        });
        variables
            .filter(|&global| !self.module.globals[global].constant)
            .collect()
    }

    /// What is known of each call, where it is anything.
    pub(super) fn of_calls(
        &self,
        of: fn(&Self, Inst) -> Vec<Global>,
    ) -> HashMap<Inst, Vec<Global>> {
        let calls = self.callees.keys();
        let found = calls.map(|&inst| (inst, of(self, inst)));
        found.filter(|(_, globals)| !globals.is_empty()).collect()
    }

    /// The memory that needs a shadow: it holds active floats, or pointers to memory that does.
    pub(super) fn objects_with_shadows(&self) -> BTreeSet<Object> {
        let mut needs = self.varied.clone();
        // What the caller will find with a shadow must have one, though no active float may be in
        // it yet: memory that is returned as such, or left behind a pointer with a shadow.
        if self.key.ret == ReturnActivity::Dup {
            self.add_with_contents(&mut needs, self.objects.returned());
        }
        loop {
            let before = needs.len();
            let outside: Vec<Object> = needs.iter().copied().filter(|o| !is_local(o)).collect();
            for holder in outside {
                self.add_with_contents(&mut needs, self.objects.contents(holder));
            }
            // Callees know variables that this function does not mention.
            for holder in self.objects.holders() {
                let mut contents = self.objects.contents(holder);
                if self.has_shadow_of_own(holder) && contents.any(|inner| needs.contains(&inner)) {
                    needs.insert(holder);
                }
            }
            for passed in &self.passed {
                if passed.reached.iter().any(|object| needs.contains(object)) {
                    let all = passed.reached.iter().copied();
                    needs.extend(all.filter(is_local));
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

    /// Adds memory that is made here to what needs a shadow, and what is found behind pointers in it.
    fn add_with_contents(&self, needs: &mut BTreeSet<Object>, left: impl Iterator<Item = Object>) {
        let mut open: Vec<Object> = left.filter(is_local).collect();
        let mut seen: BTreeSet<Object> = open.iter().copied().collect();
        while let Some(object) = open.pop() {
            needs.insert(object);
            let inner = self.objects.contents(object).filter(is_local);
            open.extend(inner.filter(|&inner| seen.insert(inner)));
        }
    }

    pub(super) fn has_shadow_of_own(&self, object: Object) -> bool {
        match object {
            Object::Local(_) => true,
            Object::Global(global) => !self.module.globals[global].inactive,
            Object::Argument(i) => self.key.args[i] != ArgActivity::Const,
            Object::Held(global) => self.key.held.iter().any(|held| held.global == global),
            Object::Code | Object::Foreign => false,
        }
    }

    pub(super) fn shadowed(&self) -> EntitySet<Value> {
        let needs = &self.with_shadows;
        let mut shadowed = EntitySet::new();
        // An address may also be looked at as a number: whether it is aligned, say.
        let disputed = |value: Value| {
            let kinds = self.types.shape(value).kinds(0, 8);
            self.function.ty(value).is_int() && kinds == Kinds::PTR | Kinds::INT
        };
        for value in self.function.values() {
            let pieces = || self.types.pieces(self.module, self.function, value);
            if self.objects.of(value).iter().any(|o| needs.contains(o))
                && (pieces().iter().any(|(_, piece)| *piece == Piece::Ptr)
                    || disputed(value)
                    || self.objects.is_word(value))
                && !is_function(self.function, value)
            {
                shadowed.insert(value);
            }
        }
        shadowed
    }
}

/// The global variables that the callees of each call touch if they are differentiated.
pub(super) fn globals_of_callees(
    module: &Module,
    function: &Function,
    bodies: &KnownBodies,
) -> HashMap<Inst, Globals> {
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
                None => Globals::with_bodies(module, func, bodies),
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

/// Whether a value is the address of a function: calls dispatch on the primal one.
fn is_function(function: &Function, value: Value) -> bool {
    matches!(
        function.def(value),
        ValueDef::Const(Constant::Address(Symbol::Func(_), _))
    )
}
