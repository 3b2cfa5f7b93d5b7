//! Which memory each pointer of a function may point to.
//!
//! Memory is divided into abstract objects: each `alloca`, each allocating call, what each argument
//! points to, each global variable, and the rest. For every value there is the set of objects it
//! may hold an address of, and for every object the set of objects whose addresses are stored in
//! it; both grow until nothing changes, whatever the order of execution. Integers carry addresses
//! too, so that a pointer that travels as a number is not lost.
//!
//! An object *escapes* when its address may be found by code that is not looked at: it is stored in
//! memory that others reach, or kept by a callee. [`Object::Unknown`] stands for all memory that
//! others reach: every escaped object, every global, what arguments point to.

use super::effects::{ArgEffects, Effects, Summary};
use crate::ir::{
    BinaryOp, Block, CastOp, Constant, Function, Global, Inst, InstData, ModRef, Nest, Op,
    ParamFlags, Symbol, Type, TypeKind, UnaryOp, Value,
};
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeMap, BTreeSet};

/// An abstract object.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Object {
    /// Memory of the frame, by the `alloca`; all of its executions.
    Alloca(Inst),
    /// Memory that a call returned as new; all executions of the call.
    Allocation(Inst),
    /// What pointers computed from this argument point to.
    Argument(usize),
    /// A global variable.
    Global(Global),
    /// Any memory that code outside of the function can reach.
    Unknown,
}

/// The objects behind every pointer of a function.
#[derive(Clone, Debug)]
pub struct PointsTo {
    values: SecondaryMap<Value, BTreeSet<Object>>,
    contents: BTreeMap<Object, BTreeSet<Object>>,
    escaped: BTreeSet<Object>,
    /// For each argument whether no pointer from elsewhere reaches its memory.
    noalias: Vec<bool>,
}

impl PointsTo {
    /// Follows the pointers of a function with a body, given the effects of what it calls.
    pub fn new(func: &Function, effects: &Effects) -> PointsTo {
        let mut state = PointsTo {
            values: SecondaryMap::new(),
            contents: BTreeMap::new(),
            escaped: BTreeSet::new(),
            noalias: func
                .params
                .iter()
                .map(|p| p.flags.contains(ParamFlags::NOALIAS) || p.byval.is_some())
                .collect(),
        };
        for value in func.values() {
            if let Some(constant) = func.as_const(value) {
                let mut set = BTreeSet::new();
                collect_constant(constant, &mut set);
                state.values[value] = set;
            }
        }
        for (i, &argument) in func.arguments().iter().enumerate() {
            // A number may be an address just as well, but of memory that is reached otherwise.
            let object = match carries_pointers(func.ty(argument)) {
                true => Object::Argument(i),
                false => Object::Unknown,
            };
            state.values[argument].insert(object);
            // That nobody else knows the memory says nothing of the addresses in it.
            state
                .contents
                .insert(object, BTreeSet::from([Object::Unknown]));
        }
        let mut solver = Solver {
            func,
            effects,
            state,
            changed: true,
        };
        while solver.changed {
            solver.changed = false;
            for &block in func.blocks() {
                solver.block(block);
            }
        }
        solver.state
    }

    /// The objects that a value may hold an address of. None of them: it is null, or no pointer.
    pub fn objects(&self, value: Value) -> impl Iterator<Item = Object> + '_ {
        self.values[value].iter().copied()
    }

    /// The objects that a value leads to, through any number of pointers in memory. What is
    /// behind memory that others reach is [`Object::Unknown`].
    pub fn reachable(&self, value: Value) -> BTreeSet<Object> {
        let mut found = self.behind(value);
        found.extend(self.objects(value));
        found
    }

    /// The objects that a value leads to through at least one pointer in memory.
    pub fn behind(&self, value: Value) -> BTreeSet<Object> {
        let inside = |object: Object| {
            let outside = self.is_reachable_from_outside(object);
            let unknown = outside.then_some(Object::Unknown);
            let contents = self.contents.get(&object).into_iter().flatten();
            contents.copied().chain(unknown)
        };
        let mut found = BTreeSet::new();
        let mut work: Vec<Object> = self.objects(value).flat_map(inside).collect();
        while let Some(object) = work.pop() {
            if found.insert(object) {
                work.extend(inside(object));
            }
        }
        found
    }

    /// Whether code that is not looked at may know the address of an object.
    pub fn is_escaped(&self, object: Object) -> bool {
        self.escaped.contains(&object)
    }

    /// The objects whose addresses code that is not looked at may know.
    pub fn escaped(&self) -> impl Iterator<Item = Object> + '_ {
        self.escaped.iter().copied()
    }

    /// Whether an object can be reached by code that is not looked at.
    pub fn is_reachable_from_outside(&self, object: Object) -> bool {
        !self.is_private(object) || self.is_escaped(object)
    }

    /// Whether two objects may have bytes in common.
    pub fn may_overlap(&self, a: Object, b: Object) -> bool {
        use Object::{Alloca, Allocation, Argument, Global, Unknown};
        if a == b {
            return true;
        }
        match (a, b) {
            (Unknown, other) | (other, Unknown) => self.is_reachable_from_outside(other),
            // Memory that the function makes is not there when its arguments are made.
            (Alloca(_) | Allocation(_) | Global(_), Alloca(_) | Allocation(_) | Global(_)) => false,
            (Argument(_), Alloca(_) | Allocation(_)) | (Alloca(_) | Allocation(_), Argument(_)) => {
                false
            }
            (Argument(i), Global(_)) | (Global(_), Argument(i)) => !self.is_noalias(i),
            (Argument(i), Argument(j)) => !self.is_noalias(i) && !self.is_noalias(j),
        }
    }

    fn is_noalias(&self, argument: usize) -> bool {
        self.noalias.get(argument).copied().unwrap_or(false)
    }

    /// Whether nobody else knows the object unless it escapes.
    fn is_private(&self, object: Object) -> bool {
        match object {
            Object::Alloca(_) | Object::Allocation(_) => true,
            Object::Argument(i) => self.is_noalias(i),
            Object::Global(_) | Object::Unknown => false,
        }
    }
}

struct Solver<'a> {
    func: &'a Function,
    effects: &'a Effects,
    state: PointsTo,
    changed: bool,
}

type Set = BTreeSet<Object>;

impl Solver<'_> {
    fn block(&mut self, block: Block) {
        let func = self.func;
        for &inst in func.block_insts(block) {
            self.inst(inst, func.inst(inst));
        }
        for edge in func.edges(block) {
            for (&param, &arg) in func.block_params(edge.block).iter().zip(&edge.args) {
                let set = self.set(arg);
                self.add(param, &set);
            }
        }
    }

    fn inst(&mut self, inst: Inst, data: &InstData) {
        let result = self.func.result(inst);
        let args = &data.args;
        match &data.op {
            Op::Alloca { .. } => self.add_result(result, [Object::Alloca(inst)]),
            // The difference of two addresses is none.
            Op::Binary(BinaryOp::Sub) if self.is_address(args[0]) && self.is_address(args[1]) => {}
            Op::Binary(
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::LShr,
            )
            | Op::Unary(UnaryOp::Freeze)
            | Op::Cast(
                CastOp::Bitcast
                | CastOp::AddrSpaceCast
                | CastOp::PtrToInt
                | CastOp::Trunc
                | CastOp::ZExt
                | CastOp::SExt,
            )
            | Op::ExtractElement
            | Op::InsertElement
            | Op::Shuffle(_)
            | Op::Extract(_)
            | Op::Insert(_) => self.add_operands(result, args),
            // What is added to a pointer leads nowhere else in its object, unless there is none.
            Op::Address { .. } => match self.func.as_const(args[0]) {
                Some(_) => self.add_operands(result, args),
                None => self.add_operands(result, &args[..1]),
            },
            Op::Select => self.add_operands(result, &args[1..]),
            Op::Cast(CastOp::IntToPtr) => {
                self.add_operands(result, args);
                if !is_below_memory(self.func, args[0]) {
                    self.add_result(result, [Object::Unknown]);
                }
            }
            Op::Load(_) => {
                let found = self.loaded(args[0]);
                self.add_result(result, found);
            }
            Op::Store(_) => {
                let stored = self.set(args[0]);
                self.store(args[1], &stored);
            }
            Op::AtomicRmw(..) => {
                let stored = self.set(args[1]);
                self.store(args[0], &stored);
                let found = self.loaded(args[0]);
                self.add_result(result, found);
            }
            Op::CmpXchg { .. } => {
                let stored = self.set(args[2]);
                self.store(args[0], &stored);
                let found = self.loaded(args[0]);
                self.add_result(result, found);
            }
            Op::MemCopy { .. } => {
                let found = self.loaded(args[1]);
                self.store(args[0], &found);
            }
            Op::Nest(nest) => self.nest(nest, args),
            Op::Call(_) | Op::Invoke { .. } => {
                let (summary, pointers) = self.effects.inst(data);
                self.call(inst, &summary, pointers);
            }
            Op::Opaque(_) | Op::OpaqueTerminator { .. } | Op::Request(_) => {
                for &arg in args {
                    let set = self.set(arg);
                    self.escape(&set);
                }
                self.add_result(result, [Object::Unknown]);
            }
            _ => {}
        }
    }

    /// A nest computes numbers, but it may also copy what it reads as a number.
    fn nest(&mut self, nest: &Nest, args: &[Value]) {
        for (output, &result) in nest.body.results().iter().enumerate() {
            for copied in nest.body.copied(result) {
                let input = (0..nest.inputs.len()).find(|&i| nest.element(i) == copied);
                let found = match input {
                    Some(input) => self.loaded(args[nest.view(input).start]),
                    None => Set::new(),
                };
                self.store(args[nest.output_view(output).start], &found);
            }
        }
    }

    fn call(&mut self, inst: Inst, summary: &Summary, pointers: &[Value]) {
        let result = self.func.result(inst);
        let returns_pointer = result.is_some_and(|v| carries_pointers(self.func.ty(v)));
        let writes = (0..pointers.len()).any(|i| summary.arg(i).contains(ArgEffects::WRITE));
        let reads = (0..pointers.len()).any(|i| summary.arg(i).contains(ArgEffects::READ));
        let keeps = writes
            || returns_pointer
            || summary.frees_other
            || summary.other.contains(ModRef::WRITE);
        let mut returned = Set::new();
        for (i, &pointer) in pointers.iter().enumerate() {
            let effects = summary.arg(i);
            let set = self.set(pointer);
            if effects.contains(ArgEffects::CAPTURE) {
                self.escape(&set);
            }
            // Addresses that the callee finds behind the pointer may be kept, too.
            if keeps && effects.contains(ArgEffects::READ) {
                for &object in &set {
                    let found = self.content(object);
                    self.escape(&found);
                }
            }
            if effects.contains(ArgEffects::WRITE) {
                self.store(pointer, &Set::from([Object::Unknown]));
            }
            if effects.contains(ArgEffects::RETURN) {
                returned.extend(set);
            }
        }
        if summary.fresh && returns_pointer {
            let fresh = Object::Allocation(inst);
            if reads || !summary.blank {
                self.add_content(fresh, &Set::from([Object::Unknown]));
            }
            self.add_result(result, [fresh]);
        } else {
            returned.insert(Object::Unknown);
            self.add_result(result, returned);
        }
    }

    fn set(&self, value: Value) -> Set {
        self.state.values[value].clone()
    }

    fn content(&self, object: Object) -> Set {
        self.state
            .contents
            .get(&object)
            .cloned()
            .unwrap_or_default()
    }

    /// Whether a number is the address of something, and nothing else.
    fn is_address(&self, value: Value) -> bool {
        let inst = self.func.def_inst(value);
        inst.is_some_and(|inst| self.func.inst(inst).op == Op::Cast(CastOp::PtrToInt))
    }

    /// What a load through a pointer may find. Numbers and floats are followed as well, for
    /// structures with pointers in them are copied as such.
    fn loaded(&self, pointer: Value) -> Set {
        let mut found = Set::new();
        for object in self.set(pointer) {
            found.extend(self.content(object));
            if self.state.is_reachable_from_outside(object) {
                found.insert(Object::Unknown);
            }
        }
        found
    }

    fn store(&mut self, pointer: Value, stored: &Set) {
        for object in self.set(pointer) {
            self.add_content(object, stored);
        }
    }

    fn add_content(&mut self, object: Object, stored: &Set) {
        if self.state.is_reachable_from_outside(object) {
            self.escape(stored);
        }
        let content = self.state.contents.entry(object).or_default();
        let before = content.len();
        content.extend(stored);
        self.changed |= content.len() != before;
    }

    fn escape(&mut self, objects: &Set) {
        let mut work: Vec<Object> = objects.iter().copied().collect();
        while let Some(object) = work.pop() {
            if object == Object::Unknown || !self.state.escaped.insert(object) {
                continue;
            }
            self.changed = true;
            let content = self.state.contents.entry(object).or_default();
            content.insert(Object::Unknown);
            work.extend(content.iter().copied());
        }
    }

    fn add_operands(&mut self, result: Option<Value>, operands: &[Value]) {
        for &operand in operands {
            let set = self.set(operand);
            self.add_result(result, set);
        }
    }

    fn add_result(&mut self, result: Option<Value>, set: impl IntoIterator<Item = Object>) {
        if let Some(value) = result {
            let set = set.into_iter().collect();
            self.add(value, &set);
        }
    }

    fn add(&mut self, value: Value, set: &Set) {
        let known = &mut self.state.values[value];
        let before = known.len();
        known.extend(set);
        self.changed |= known.len() != before;
    }
}

/// Whether values of a type may hold pointers as pointers.
fn carries_pointers(ty: Type) -> bool {
    match ty.kind() {
        TypeKind::Ptr(_) | TypeKind::Opaque(_) => true,
        TypeKind::Vector(element, _) | TypeKind::Array(element, _) => carries_pointers(*element),
        TypeKind::Struct { fields, .. } => fields.iter().any(|field| carries_pointers(*field)),
        TypeKind::Void | TypeKind::Int(_) | TypeKind::Float(_) => false,
    }
}

fn collect_constant(constant: &Constant, set: &mut Set) {
    match constant {
        Constant::Address(Symbol::Global(global), _) => {
            set.insert(Object::Global(*global));
        }
        Constant::Opaque(_) => {
            set.insert(Object::Unknown);
        }
        Constant::Aggregate(parts) => parts.iter().for_each(|part| collect_constant(part, set)),
        _ => {}
    }
}

/// No memory has an address below.
const PAGE: i128 = 4096;

/// Whether a number is the address of nothing: zero, or the alignment that Rust takes for the address
/// of memory without bytes.
pub fn is_below_memory(func: &Function, number: Value) -> bool {
    func.as_int(number).is_some_and(|n| (0..PAGE).contains(&n))
}
