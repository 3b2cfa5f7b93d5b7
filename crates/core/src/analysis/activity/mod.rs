//! What derivatives flow through.
//!
//! A value is *active* if a derivative may flow into its floats from an active argument. A
//! pointer *has a shadow* if the memory behind it may hold active floats, or pointers to such
//! memory. Both spread through instructions and memory until nothing changes. In the end a value
//! stays active only if a derivative may flow on from it.
//!
//! An integer that is loaded from active memory is active too as long as nothing shows that it
//! holds no float; only where it would have to be differentiated is it an error.

mod address_bits;
mod bits;
mod checks;
mod code_pointers;
pub mod formatting;
pub mod globals;
pub mod keepable;
pub mod lifetimes;
mod objects;
mod passed;
pub mod places;
mod solver;
mod useful;

use crate::analysis::effects::{Effects, call_args};
use crate::analysis::known;
use crate::analysis::types::Types;
use crate::blas;
use crate::chaos::Choice;
use crate::derivative::{Held, Key, Made};
use crate::diagnostic::Result;
use crate::ir::{
    AllocInfo, Callee, FnFlags, Func, Function, Global, Inst, InstData, Module, Op, Value,
};
use crate::pipeline::Options;
use crate::planted::Defect;
use cranelift_entity::EntitySet;
use keepable::Keepable;
use objects::{Object, Objects};
use places::Places;
use solver::{Solver, globals_of_callees};
use std::collections::{BTreeSet, HashMap};

/// What derivatives flow through in one function, for one choice of active arguments.
#[derive(Clone, Debug)]
pub struct Activity {
    active: EntitySet<Value>,
    shadowed: EntitySet<Value>,
    objects: Objects,
    /// Memory that may hold active floats.
    varied: BTreeSet<Object>,
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
    /// The calls that reach memory with shadows and memory without from one argument.
    mixing: BTreeSet<Inst>,
}

impl Activity {
    /// Analyses a function whose arguments have the activities of the key.
    pub fn new(
        module: &Module,
        function: &Function,
        types: &Types,
        effects: &Effects,
        places: &Places,
        key: &Key,
        options: &Options,
    ) -> Result<Activity> {
        let callees = globals_of_callees(module, function, &effects.bodies);
        let objects = Objects::new(module, function, types, effects, &callees, places);
        let mut solver = Solver {
            module,
            function,
            types,
            effects,
            key,
            copies: !options.breaks(Defect::CopiesIgnored),
            passed: passed::find(module, function, effects, &objects),
            objects,
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
        let mut shadowed =
            code_pointers::without(module, function, &solver.active, solver.shadowed());
        solver.check_allocators()?;
        // Where activity is decided at run time, a pointer may lead anywhere.
        if !key.runtime_activity {
            solver.check(&shadowed)?;
        }
        bits::check(module, function, types, &solver.active)?;
        address_bits::check(module, function, types, effects, &shadowed)?;
        useful::keep(module, function, key.ret, &mut solver.active, &mut shadowed);
        Ok(Activity {
            globals: solver.of_calls(Solver::globals_of_call),
            holders: solver.of_calls(Solver::holders_of_call),
            released: {
                let mut released = lifetimes::released(module, function, effects, &solver.objects);
                if options.flips(Choice::DelayFree, &function.name) {
                    // Copies of operands are freed in functions that, before there were any, had no
                    // reason for a list of what is freed later.
                    released.retain(|&inst| {
                        let call = function.inst(inst).op.call();
                        call.is_some_and(|call| call.attrs.flags.contains(FnFlags::MUST_SUCCEED))
                    });
                }
                released
            },
            made: made(function, types, key),
            held: key.held.clone(),
            exposed: solver.exposed(),
            mixing: solver.mixing(),
            active: solver.active,
            varied: solver.varied,
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

    /// Whether a value is a word of unknown type that may be an address of memory with a shadow.
    pub fn is_word(&self, value: Value) -> bool {
        self.shadowed.contains(value) && self.objects.is_word(value)
    }

    /// Whether there may be active floats in the memory that a pointer leads to.
    pub fn holds_active(&self, pointer: Value) -> bool {
        let mut objects = self.objects.of(pointer).iter();
        objects.any(|object| self.varied.contains(object))
    }

    /// The arguments whose memory a value may lead to.
    pub fn arguments_behind(&self, value: Value) -> impl Iterator<Item = usize> + '_ {
        let objects = self.objects.of(value).iter();
        objects.filter_map(|object| match object {
            Object::Argument(argument) => Some(*argument),
            _ => None,
        })
    }

    /// Whether a value may lead to memory that no argument leads to and that the function has not made.
    pub fn leads_outside(&self, value: Value) -> bool {
        let known = |o: &Object| matches!(o, Object::Argument(_) | Object::Local(_));
        !self.objects.of(value).iter().all(known)
    }

    /// Whether two pointers may lead to the same memory. What one argument leads to another may lead
    /// to as well.
    pub fn may_meet(&self, one: Value, other: Value) -> bool {
        let [one, other] = [one, other].map(|v| self.objects.of(v));
        let foreign = |o: &Object| !matches!(o, Object::Local(_));
        one.iter().any(foreign) && other.iter().any(foreign)
            || one.iter().any(|o| other.contains(o))
    }

    /// The argument behind which all memory is that a pointer leads to.
    pub fn only_argument(&self, pointer: Value) -> Option<usize> {
        let mut objects = self.objects.of(pointer).iter();
        match (objects.next(), objects.next()) {
            (Some(Object::Argument(argument)), None) => Some(*argument),
            _ => None,
        }
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
            let made = reached.iter().all(|object| self.made(object) >= Made::All);
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

    /// Whether a callee reaches memory with a shadow and memory without one from the same argument: a
    /// pointer that it finds there has a shadow, or is its own.
    pub fn is_mixing_call(&self, inst: Inst) -> bool {
        self.mixing.contains(&inst)
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

    /// The memory that the function makes and frees, and that could stay until the reverse sweep.
    pub fn keepable(&self, module: &Module, function: &Function, effects: &Effects) -> Keepable {
        Keepable::new(module, function, effects, &self.objects, |value| {
            self.has_shadow(value)
        })
    }

    /// Whether a pointer leads only to memory that was made while the derivative ran.
    pub fn is_made(&self, pointer: Value) -> bool {
        let objects = self.objects.of(pointer).iter();
        objects.map(|o| self.made(o)).all(|made| made >= Made::All)
    }

    /// Whether a pointer that leads to memory with pointers in it leads only to such memory that
    /// was made while the derivative ran.
    pub fn is_made_with_pointers(&self, pointer: Value) -> bool {
        let objects = self.objects.of(pointer).iter();
        objects
            .map(|o| self.made(o))
            .all(|made| made >= Made::Pointers)
    }

    /// Whether the memory that a pointer is the address of, if not what is found behind it, was
    /// made while the derivative ran.
    pub fn is_made_itself(&self, function: &Function, pointer: Value) -> bool {
        let mut base = pointer;
        while let Some(inst) = function.def_inst(base)
            && let Op::Address { .. } = function.inst(inst).op
        {
            base = function.inst(inst).args[0];
        }
        let argument = function.arguments().iter().position(|&a| a == base);
        let known = argument.and_then(|i| self.made.get(i));
        self.is_made(pointer) || known.is_some_and(|&made| made >= Made::Root)
    }

    /// Which of the memory that can be reached from a pointer was made while the derivative ran.
    pub fn made_behind(&self, function: &Function, pointer: Value) -> Made {
        let reached = self.objects.reached_from(pointer);
        let made = reached.iter().map(|object| self.made(object));
        match made.min().unwrap_or(Made::All) {
            Made::Pointers if self.is_made_itself(function, pointer) => Made::Root,
            made => made,
        }
    }

    fn made(&self, object: &Object) -> Made {
        match object {
            Object::Local(_) | Object::Code => Made::All,
            // Of what is behind an argument, its own memory is only a part.
            Object::Argument(i) => match self.made.get(*i) {
                Some(Made::Root) => Made::Pointers,
                made => made.copied().unwrap_or(Made::Unknown),
            },
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
    // No derivative comes back from a call that never returns, so it is the same call in the
    // derivative. What is thrown goes on somewhere, and takes its value along.
    let is_last = known::never_returns(module, data) && !known::throws(&function.name);
    if known::is_inactive(function) || is_last {
        return CallKind::Inactive;
    }
    match function.is_declaration() {
        true => CallKind::Unknown(format!("`{}`", function.name)),
        false => CallKind::Defined(func),
    }
}
