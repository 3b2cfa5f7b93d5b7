//! Where functions leave addresses, as their callers see it.
//!
//! The [effects](crate::analysis::effects) of a function tell that it finds addresses in memory and
//! writes some; not that those it wrote are in memory that it made, or that a list was filled with
//! what came from another. Here every body is followed as [`Objects`] follows a function, callees
//! first, and what it did to memory of its caller is kept in the caller's terms.

use super::globals::Globals;
use super::globals_of_callees;
use super::objects::{Following, Object, Objects};
use crate::analysis::effects::{Effects, call_args};
use crate::analysis::known;
use crate::analysis::targets::targets_of;
use crate::analysis::types::{Summaries, Types};
use crate::ir::{Call, Func, Function, Global, Inst, InstData, Module, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Where functions leave addresses: each worked out once, as long as no function changes.
#[derive(Default)]
pub struct Places {
    known: HashMap<Func, Rc<Outcome>>,
}

/// Memory as a function and its caller know it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    /// Made by the function, or its callees.
    Made,
    /// All that is reached from an argument.
    Argument(usize),
    /// A global variable.
    Global(Global),
    /// All that pointers in a variable led to when the function was called.
    Held(Global),
    /// Code.
    Code,
    /// Anything else.
    Foreign,
}

/// What a function has done when it returns.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Outcome {
    /// The places whose addresses are in memory that outlives the call.
    contents: BTreeMap<Place, BTreeSet<Place>>,
    /// Those whose addresses are in its result.
    returned: BTreeSet<Place>,
}

impl Place {
    fn of(object: Object) -> Place {
        match object {
            Object::Local(_) => Place::Made,
            Object::Argument(index) => Place::Argument(index),
            Object::Global(global) => Place::Global(global),
            Object::Held(global) => Place::Held(global),
            Object::Code => Place::Code,
            Object::Foreign => Place::Foreign,
        }
    }
}

impl Outcome {
    /// Adds what can be seen of a body that was followed.
    fn add(&mut self, objects: &Objects) {
        for holder in objects.holders() {
            if matches!(holder, Object::Local(_)) && !objects.outlives(holder) {
                continue;
            }
            // What constants hold everybody knows.
            if matches!(holder, Object::Global(global) if objects.is_fixed(global)) {
                continue;
            }
            let inside = self.contents.entry(Place::of(holder)).or_default();
            inside.extend(objects.contents(holder).map(Place::of));
        }
        self.contents.retain(|_, inside| !inside.is_empty());
        self.returned.extend(objects.returned().map(Place::of));
    }
}

impl Places {
    /// Works out all functions that a function may call.
    pub fn learn(
        &mut self,
        module: &Module,
        function: &Function,
        effects: &Effects,
        summaries: &mut Summaries,
    ) {
        let order = self.new_callees(module, function);
        let mut bodies: HashMap<Func, (Types, HashMap<Inst, Globals>)> = HashMap::new();
        for &func in &order {
            let function = &module.funcs[func];
            let types = Types::new(module, function, &[], &[], summaries);
            let touched = globals_of_callees(module, function, &effects.bodies);
            bodies.insert(func, (types, touched));
            self.known.insert(func, Rc::default());
        }
        let mut callers: HashMap<Func, Vec<Func>> = HashMap::new();
        for &func in &order {
            for callee in callees(module, &module.funcs[func]) {
                callers.entry(callee).or_default().push(func);
            }
        }
        // As long as recursive functions have not told all, a pointer that seems to come from nowhere
        // is no reason for suspicion.
        for suspicious in [false, true] {
            let mut open: HashSet<Func> = order.iter().copied().collect();
            while !open.is_empty() {
                for &func in &order {
                    if !open.remove(&func) {
                        continue;
                    }
                    let (types, touched) = &bodies[&func];
                    let following = Following {
                        suspicious,
                        unknown_addresses: true,
                    };
                    let function = &module.funcs[func];
                    let objects =
                        Objects::follow(module, function, types, effects, touched, self, following);
                    let mut outcome = Outcome::clone(&self.known[&func]);
                    outcome.add(&objects);
                    if *self.known[&func] != outcome {
                        self.known.insert(func, Rc::new(outcome));
                        open.extend(callers.get(&func).into_iter().flatten());
                    }
                }
            }
        }
    }

    /// The functions that a function may call and that are not known yet, callees first where there
    /// is no recursion.
    fn new_callees(&self, module: &Module, function: &Function) -> Vec<Func> {
        let new = |function: &Function| {
            let mut new = callees(module, function);
            new.retain(|func| !self.known.contains_key(func));
            new
        };
        let (mut order, mut seen) = (Vec::new(), HashSet::new());
        let mut stack = vec![(None, new(function).into_iter())];
        while let Some((func, rest)) = stack.last_mut() {
            match rest.next() {
                Some(callee) if seen.insert(callee) => {
                    stack.push((Some(callee), new(&module.funcs[callee]).into_iter()));
                }
                Some(_) => {}
                None => {
                    order.extend(*func);
                    stack.pop();
                }
            }
        }
        order
    }

    /// What each call of a function has done when it returns, one of several outcomes, where that
    /// is known.
    pub(super) fn of_calls(
        &self,
        module: &Module,
        function: &Function,
    ) -> HashMap<Inst, Vec<Rc<Outcome>>> {
        let insts = function.blocks().iter();
        let insts = insts.flat_map(|&block| function.block_insts(block));
        let calls = insts.filter_map(|&inst| {
            let bodies = bodies_of(module, function.inst(inst).op.call()?)?;
            let outcomes = bodies.iter().map(|func| self.known.get(func).cloned());
            Some((inst, outcomes.collect::<Option<_>>()?))
        });
        calls.collect()
    }
}

/// The functions that a function may call and that are followed.
fn callees(module: &Module, function: &Function) -> Vec<Func> {
    let insts = function.blocks().iter();
    let insts = insts.flat_map(|&block| function.block_insts(block));
    let calls = insts.filter_map(|&inst| function.inst(inst).op.call());
    let callees: BTreeSet<Func> = calls
        .filter_map(|call| bodies_of(module, call))
        .flatten()
        .collect();
    callees.into_iter().collect()
}

/// The functions that a call may run, if they are all followed.
fn bodies_of(module: &Module, call: &Call) -> Option<Vec<Func>> {
    let followed = |&func: &Func| {
        let function = &module.funcs[func];
        !known::has_no_body_to_look_into(function)
            && known::allocation(function).is_none()
            && module.rules_of(func).next().is_none()
    };
    let targets = targets_of(module, call);
    (!targets.is_empty() && targets.iter().all(followed)).then_some(targets)
}

impl Objects {
    /// A call of a function that is known has done this.
    pub(super) fn outcome(
        &mut self,
        outcome: &Outcome,
        inst: Inst,
        data: &InstData,
        result: Option<Value>,
    ) {
        let Some(call) = data.op.call() else { return };
        let args = call_args(call, data);
        for (&holder, inside) in &outcome.contents {
            let inside = self.in_caller(inside, inst, args);
            for object in self.in_caller(&[holder].into(), inst, args) {
                self.put(object, &inside);
            }
        }
        if let Some(result) = result {
            let returned = self.in_caller(&outcome.returned, inst, args);
            self.add(result, &returned);
        }
    }

    /// Places of a callee, as the caller knows them.
    fn in_caller(&self, places: &BTreeSet<Place>, inst: Inst, args: &[Value]) -> BTreeSet<Object> {
        let mut objects = BTreeSet::new();
        for &place in places {
            match place {
                Place::Made => _ = objects.insert(Object::Local(inst)),
                Place::Argument(index) => match args.get(index) {
                    Some(&argument) => objects.extend(self.reached_from(argument)),
                    None => _ = objects.insert(Object::Foreign),
                },
                Place::Global(global) => _ = objects.insert(Object::Global(global)),
                Place::Held(global) => objects.extend(self.inside(Object::Global(global))),
                Place::Code => _ = objects.insert(Object::Code),
                Place::Foreign => {
                    objects.insert(Object::Foreign);
                    objects.extend(self.contents(Object::Foreign));
                }
            }
        }
        objects
    }
}
