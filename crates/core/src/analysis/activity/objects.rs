//! Which memory each pointer leads to, told apart by what the caller said of it.
//!
//! [`points_to`](crate::analysis::points_to) asks whether two pointers may meet, so what is
//! behind pointers in memory is all one to it. Here the question is whose memory it is: all that
//! can be reached from one argument, however many pointers lie between, has the activity that the
//! caller gave the argument.

use super::globals::Globals;
use super::places::{Outcome, Places};
use crate::analysis::effects::{ArgEffects, Effects, Summary, call_args};
use crate::analysis::known;
use crate::analysis::types::{Piece, Types};
use crate::ir::{
    Callee, CastOp, Constant, Edge, Function, Global, Inst, InstData, ModRef, Module, Op, Symbol,
    UnaryOp, Value, ValueDef, is_class_table,
};
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Memory of which all parts have the same activity.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Object {
    /// Made by this instruction: frame memory, an allocation, or what a callee made and left in its
    /// result or behind its arguments.
    Local(Inst),
    /// All that is reached from an argument.
    Argument(usize),
    /// A global variable.
    Global(Global),
    /// All that pointers in a variable led to when the function was entered.
    Held(Global),
    /// Code: the address of a function.
    Code,
    /// Anything else.
    Foreign,
}

impl Object {
    /// Whether this function does not know whose memory it is.
    pub fn is_unknown(self) -> bool {
        matches!(self, Object::Held(_) | Object::Foreign)
    }
}

/// The objects that values lead to.
#[derive(Clone, Default, Debug)]
pub struct Objects {
    /// The values that are, or hold, addresses.
    addresses: EntitySet<Value>,
    /// The words of unknown type that are only moved from one memory to another.
    words: EntitySet<Value>,
    /// The pointers to memory that holds numbers only: no address is found there.
    to_numbers: EntitySet<Value>,
    values: SecondaryMap<Value, BTreeSet<Object>>,
    contents: BTreeMap<Object, BTreeSet<Object>>,
    /// The constants of which all addresses in them are known.
    fixed: BTreeSet<Global>,
    returned: BTreeSet<Object>,
    /// The objects that can be reached after the function returns.
    outliving: BTreeSet<Object>,
    changed: bool,
}

/// How a function is followed.
#[derive(Copy, Clone)]
pub(super) struct Following {
    /// Whether a pointer may lead anywhere if nobody seems to have put it where it was found.
    pub suspicious: bool,
    /// Whether integers hold addresses where nothing is known of them.
    pub unknown_addresses: bool,
}

impl Objects {
    /// Follows all pointers of a function. Integers hold addresses only where the analysis of
    /// types has seen somebody use them so; a length beside a pointer leads nowhere. `touched` are
    /// the variables that callees touch, `places` where they leave addresses.
    pub fn new(
        module: &Module,
        function: &Function,
        types: &Types,
        effects: &Effects,
        touched: &HashMap<Inst, Globals>,
        places: &Places,
    ) -> Objects {
        let following = Following {
            suspicious: true,
            unknown_addresses: false,
        };
        Objects::follow(module, function, types, effects, touched, places, following)
    }

    /// Follows all pointers of a function in a certain way.
    pub(super) fn follow(
        module: &Module,
        function: &Function,
        types: &Types,
        effects: &Effects,
        touched: &HashMap<Inst, Globals>,
        places: &Places,
        following: Following,
    ) -> Objects {
        // A call that is handed memory with a derivative runs a function of the module, and no other
        // call can hand on an address of such memory.
        let effects = effects.within_module();
        let mut objects = Objects {
            words: moved_words(module, function, types),
            ..Objects::default()
        };
        for value in function.values() {
            let pieces = types.pieces(module, function, value);
            let unknown = following.unknown_addresses || objects.words.contains(value);
            let address = |(_, piece): &(i64, Piece)| match piece {
                Piece::Ptr | Piece::Conflict => true,
                Piece::Unknown => unknown,
                Piece::Int | Piece::Float(_) => false,
            };
            if pieces.iter().any(address) {
                objects.addresses.insert(value);
            }
            if function.ty(value).is_ptr() && types.shape(value).holds_no_address() {
                objects.to_numbers.insert(value);
            }
        }
        for (global, data) in &module.globals {
            if data.has_fixed_content() || is_class_table(&data.name) {
                objects.fixed.insert(global);
                let inside = data.fixed_addresses().iter();
                let inside = inside.map(|(_, symbol, _)| match *symbol {
                    Symbol::Global(inner) => Object::Global(inner),
                    Symbol::Func(_) => Object::Code,
                });
                objects
                    .contents
                    .insert(Object::Global(global), inside.collect());
            }
        }
        // Callers pass no address in pieces.
        let pointer_bits = 8 * module.layout.pointer_bytes;
        let narrow = |v: Value| function.ty(v).int_bits().is_some_and(|b| b < pointer_bits);
        for (i, &argument) in function.arguments().iter().enumerate() {
            if !narrow(argument) {
                objects.add(argument, &[Object::Argument(i)].into());
            }
        }
        for value in function.values() {
            if let ValueDef::Const(constant) = function.def(value) {
                objects.constant(value, constant);
            }
        }
        let known = places.of_calls(module, function);
        loop {
            objects.changed = false;
            for &block in function.blocks() {
                for &inst in function.block_insts(block) {
                    match known.get(&inst) {
                        Some(outcomes) => objects.known_call(function, inst, outcomes),
                        None => objects.inst(module, function, effects, touched.get(&inst), inst),
                    }
                }
            }
            if !objects.changed && (!following.suspicious || !objects.suspect(function)) {
                objects.outliving = objects.reached_from_outside();
                return objects;
            }
        }
    }

    /// A pointer that was loaded from memory into which nobody put one may lead anywhere, and so
    /// may one that is followed though only addresses of code were put there. Whether there was
    /// such a pointer that was not suspected yet.
    fn suspect(&mut self, function: &Function) -> bool {
        let followed = followed(function);
        let insts = function
            .blocks()
            .iter()
            .flat_map(|&b| function.block_insts(b));
        let mut found = false;
        for &inst in insts {
            let load = matches!(function.inst(inst).op, Op::Load(_));
            let Some(result) = function.result(inst).filter(|_| load) else {
                continue;
            };
            let code = self.values[result].iter().all(|o| *o == Object::Code);
            let nothing = self.values[result].is_empty() || followed.contains(result);
            if function.ty(result).is_ptr() && code && nothing {
                self.values[result].insert(Object::Foreign);
                found = true;
            }
        }
        found
    }

    /// The objects that a value may be, or hold, an address of.
    pub fn of(&self, value: Value) -> &BTreeSet<Object> {
        &self.values[value]
    }

    /// Whether a value is a word of unknown type that is only moved from one memory to another.
    pub fn is_word(&self, value: Value) -> bool {
        self.words.contains(value)
    }

    /// The objects whose addresses may be stored in an object.
    pub fn contents(&self, object: Object) -> impl Iterator<Item = Object> + '_ {
        self.contents.get(&object).into_iter().flatten().copied()
    }

    /// The objects in which addresses may be stored.
    pub fn holders(&self) -> impl Iterator<Item = Object> + '_ {
        self.contents.keys().copied()
    }

    /// All that can be reached through the pointers in a variable.
    pub fn reached_through(&self, global: Global) -> BTreeSet<Object> {
        let mut reached: BTreeSet<Object> = self.contents(Object::Global(global)).collect();
        self.close(&mut reached);
        reached
    }

    /// Whether a variable is a constant that holds no addresses but those among its contents.
    pub fn is_fixed(&self, global: Global) -> bool {
        self.fixed.contains(&global)
    }

    /// The objects that the result may be, or hold, an address of.
    pub fn returned(&self) -> impl Iterator<Item = Object> + '_ {
        self.returned.iter().copied()
    }

    /// Whether an object that the function made can be reached after it returns.
    pub fn outlives(&self, object: Object) -> bool {
        self.outliving.contains(&object)
    }

    fn reached_from_outside(&self) -> BTreeSet<Object> {
        let outside = |holder: &Object| !matches!(holder, Object::Local(_));
        let mut reached: BTreeSet<Object> = self.returned.clone();
        for (holder, contents) in &self.contents {
            if outside(holder) {
                reached.extend(contents);
            }
        }
        self.close(&mut reached);
        reached
    }

    /// Adds all that pointers in these objects lead to.
    fn close(&self, reached: &mut BTreeSet<Object>) {
        let mut open: Vec<Object> = reached.iter().copied().collect();
        while let Some(next) = open.pop() {
            for inner in self.contents(next) {
                if reached.insert(inner) {
                    open.push(inner);
                }
            }
        }
    }

    /// All that can be reached from a pointer, through any number of others.
    pub fn reached_from(&self, pointer: Value) -> BTreeSet<Object> {
        let mut reached = self.values[pointer].clone();
        reached.extend(self.behind(pointer));
        self.close(&mut reached);
        reached
    }

    fn constant(&mut self, value: Value, constant: &Constant) {
        match constant {
            Constant::Address(Symbol::Global(global), _) => {
                self.values[value].insert(Object::Global(*global));
            }
            Constant::Address(Symbol::Func(_), _) => {
                self.values[value].insert(Object::Code);
            }
            Constant::Aggregate(parts) => parts.iter().for_each(|p| self.constant(value, p)),
            Constant::Opaque(_) => {
                self.values[value].insert(Object::Foreign);
            }
            _ => {}
        }
    }

    pub(super) fn add(&mut self, value: Value, objects: &BTreeSet<Object>) {
        if !self.addresses.contains(value) {
            return;
        }
        let known = &mut self.values[value];
        let before = known.len();
        known.extend(objects);
        self.changed |= known.len() != before;
    }

    fn pass(&mut self, from: Value, to: Value) {
        let objects = self.values[from].clone();
        self.add(to, &objects);
    }

    pub(super) fn put(&mut self, holder: Object, objects: &BTreeSet<Object>) {
        match holder {
            // Nobody writes to constants.
            Object::Global(global) if self.fixed.contains(&global) => return,
            // What variables held may be the same memory, or any other that nothing is known of.
            Object::Held(_) => self.put(Object::Foreign, objects),
            _ => {}
        }
        let contents = self.contents.entry(holder).or_default();
        let before = contents.len();
        contents.extend(objects);
        self.changed |= contents.len() != before;
    }

    /// What a load through a pointer may find.
    fn behind(&self, pointer: Value) -> BTreeSet<Object> {
        let mut found = BTreeSet::new();
        if self.to_numbers.contains(pointer) {
            return found;
        }
        for &object in &self.values[pointer] {
            found.extend(self.inside(object));
        }
        found
    }

    /// What a load from an object may find.
    pub(super) fn inside(&self, object: Object) -> BTreeSet<Object> {
        let mut found: BTreeSet<Object> = self.contents(object).collect();
        match object {
            Object::Argument(_) => {
                found.insert(object);
            }
            Object::Global(global) if self.fixed.contains(&global) => {}
            Object::Global(global) | Object::Held(global) => {
                found.insert(Object::Held(global));
                found.extend(self.contents(Object::Held(global)));
                found.extend(self.contents(Object::Foreign));
            }
            Object::Foreign => {
                found.insert(object);
            }
            Object::Local(_) | Object::Code => {}
        }
        found
    }

    /// A call that has done one of these.
    fn known_call(&mut self, function: &Function, inst: Inst, outcomes: &[Rc<Outcome>]) {
        let data = function.inst(inst);
        for edge in data.op.edges() {
            self.edge(function, edge);
        }
        for outcome in outcomes {
            self.outcome(outcome, inst, data, function.result(inst));
        }
    }

    fn inst(
        &mut self,
        module: &Module,
        function: &Function,
        effects: &Effects,
        touched: Option<&Globals>,
        inst: Inst,
    ) {
        let data = function.inst(inst);
        let result = function.result(inst);
        for edge in data.op.edges() {
            self.edge(function, edge);
        }
        match (&data.op, result) {
            (Op::Alloca { .. }, Some(result)) => {
                self.add(result, &[Object::Local(inst)].into());
            }
            (Op::Load(_) | Op::AtomicRmw(..) | Op::CmpXchg { .. }, Some(result)) => {
                let found = self.behind(data.args[0]);
                self.add(result, &found);
            }
            (Op::Store(_), _) => {
                let stored = self.values[data.args[0]].clone();
                for object in self.values[data.args[1]].clone() {
                    self.put(object, &stored);
                }
            }
            (Op::MemCopy { .. }, _) => {
                let copied = self.behind(data.args[1]);
                for object in self.values[data.args[0]].clone() {
                    self.put(object, &copied);
                }
            }
            // Floats alone go through a nest.
            (Op::Nest(_), _) => {}
            (Op::Call(call), result) | (Op::Invoke { call, .. }, result) => match call.callee {
                Callee::Direct(func) if known::moves_characters(&module.funcs[func].name) => {
                    self.opaque_call(&effects.call(call), data, result);
                }
                _ => self.call(effects, touched, inst, data, result),
            },
            (Op::Opaque(_) | Op::Request(_), Some(result)) => {
                self.add(result, &[Object::Foreign].into());
            }
            (Op::Return, _) => {
                if let Some(&value) = data.args.first() {
                    let returned = self.values[value].clone();
                    let before = self.returned.len();
                    self.returned.extend(returned);
                    self.changed |= self.returned.len() != before;
                }
            }
            (Op::Select, Some(result)) => {
                self.pass(data.args[1], result);
                self.pass(data.args[2], result);
            }
            (
                Op::Address { .. }
                | Op::Extract(_)
                | Op::ExtractElement
                | Op::Unary(UnaryOp::Freeze),
                Some(result),
            ) => self.pass(data.args[0], result),
            (Op::Insert(_) | Op::InsertElement | Op::Shuffle(_), Some(result)) => {
                self.pass(data.args[0], result);
                self.pass(data.args[1], result);
            }
            (Op::Cast(op), Some(result)) => {
                let float = matches!(
                    op,
                    CastOp::FpTrunc
                        | CastOp::FpExt
                        | CastOp::SiToFp
                        | CastOp::UiToFp
                        | CastOp::FpToSi
                        | CastOp::FpToUi
                );
                if !float {
                    self.pass(data.args[0], result);
                }
            }
            (Op::Binary(op), Some(result)) if !op.is_float() => {
                self.pass(data.args[0], result);
                self.pass(data.args[1], result);
            }
            _ => {}
        }
    }

    fn edge(&mut self, function: &Function, edge: &Edge) {
        let params = function.block_params(edge.block).to_vec();
        for (&param, &argument) in params.iter().zip(&edge.args) {
            self.pass(argument, param);
        }
    }

    /// A function that moves characters returns the string it was given, or leads to characters.
    fn opaque_call(&mut self, summary: &Summary, data: &InstData, result: Option<Value>) {
        let Some(result) = result else { return };
        let own = |&i: &usize| summary.arg(i).contains(ArgEffects::RETURN);
        match (0..data.args.len()).find(own) {
            Some(i) => self.pass(data.args[i], result),
            None => self.add(result, &[Object::Foreign].into()),
        }
    }

    fn call(
        &mut self,
        effects: &Effects,
        touched: Option<&Globals>,
        inst: Inst,
        data: &InstData,
        result: Option<Value>,
    ) {
        let Some(call) = data.op.call() else { return };
        let summary = effects.call(call);
        let args = call_args(call, data);
        let mut captured = BTreeSet::new();
        let mut returned = BTreeSet::new();
        let mut reachable = BTreeSet::new();
        for (i, &argument) in args.iter().enumerate() {
            let own = self.values[argument].clone();
            let effect = summary.arg(i);
            if effect.contains(ArgEffects::CAPTURE) {
                captured.extend(&own);
                captured.extend(self.behind(argument));
            }
            if effect.contains(ArgEffects::RETURN) {
                returned.extend(&own);
            }
            reachable.extend(self.behind(argument));
        }
        for &global in touched.into_iter().flat_map(|globals| &globals.touched) {
            reachable.extend(self.contents(Object::Global(global)));
        }
        self.close(&mut reachable);
        // What the callee may write: the addresses it keeps, and those it finds.
        let mut written = captured.clone();
        if summary.moves {
            let read = |i: usize| summary.arg(i).contains(ArgEffects::READ);
            for (_, &argument) in args.iter().enumerate().filter(|&(i, _)| read(i)) {
                written.extend(self.behind(argument));
            }
            if summary.other.contains(ModRef::READ) {
                written.extend(&reachable);
                written.extend(self.contents(Object::Foreign));
            }
        }
        for (i, &argument) in args.iter().enumerate() {
            let writes = summary.arg(i).contains(ArgEffects::WRITE);
            let addresses = if writes { &written } else { &captured };
            for object in self.values[argument].clone() {
                self.put(object, addresses);
            }
        }
        // Or in variables, and in memory that this function has no name for.
        if summary.may_place_elsewhere() {
            self.put(Object::Foreign, &written);
            for &global in touched.into_iter().flat_map(|globals| &globals.written) {
                self.put(Object::Global(global), &written);
            }
            for &object in &reachable {
                self.put(object, &written);
            }
        }
        if summary.leaves && !summary.fresh {
            self.leave(&summary, touched, inst, args, &written);
        }
        let Some(result) = result else { return };
        if summary.fresh {
            let made = Object::Local(inst);
            self.add(result, &[made].into());
            if !summary.blank {
                // The callee may have put what it kept there, and addresses of more that it made.
                written.insert(made);
                self.put(made, &written);
            }
            return;
        }
        self.add(result, &returned);
        self.add(result, &captured);
        if summary.leaves {
            self.add(result, &[Object::Local(inst)].into());
        }
        let other = returned.is_empty() && !summary.leaves;
        if summary.finds || other {
            self.add(result, &reachable);
        }
        if other && summary.outside {
            self.add(result, &[Object::Foreign].into());
        }
    }

    /// A callee makes memory that is still there when it has returned. Its address may be wherever
    /// the callee writes, and what the callee got may be in it.
    fn leave(
        &mut self,
        summary: &Summary,
        touched: Option<&Globals>,
        inst: Inst,
        args: &[Value],
        captured: &BTreeSet<Object>,
    ) {
        let made = Object::Local(inst);
        let mut holders = BTreeSet::from([made]);
        for (i, &argument) in args.iter().enumerate() {
            if summary.arg(i).contains(ArgEffects::WRITE) {
                holders.extend(&self.values[argument]);
            }
            if summary.may_place_elsewhere() {
                holders.extend(self.behind(argument));
            }
        }
        if summary.may_place_elsewhere() {
            holders.insert(Object::Foreign);
            let globals = touched.into_iter().flat_map(|globals| &globals.written);
            holders.extend(globals.copied().map(Object::Global));
        }
        let mut contents = captured.clone();
        contents.insert(made);
        for holder in holders {
            self.put(holder, &contents);
        }
    }
}

/// The integers of the size of an address, and of unknown type, that are loaded for nothing but to be
/// stored. What moves structures in words handles the pointers in them this way.
fn moved_words(module: &Module, function: &Function, types: &Types) -> EntitySet<Value> {
    let bits = 8 * module.layout.pointer_bytes;
    let mut words = EntitySet::new();
    let blocks = function.blocks().iter();
    for &inst in blocks.flat_map(|&block| function.block_insts(block)) {
        if let (Op::Load(_), Some(result)) = (&function.inst(inst).op, function.result(inst))
            && function.ty(result).int_bits() == Some(bits)
            && types
                .pieces(module, function, result)
                .iter()
                .all(|(_, p)| *p == Piece::Unknown)
        {
            words.insert(result);
        }
    }
    let blocks = function.blocks().iter();
    for &inst in blocks.flat_map(|&block| function.block_insts(block)) {
        let data = function.inst(inst);
        let stored = matches!(data.op, Op::Store(_)).then(|| data.args[0]);
        let used = data.args.iter().copied().filter(|&v| Some(v) != stored);
        let passed = data
            .op
            .edges()
            .into_iter()
            .flat_map(|edge| edge.args.iter().copied());
        for value in used.chain(passed) {
            words.remove(value);
        }
    }
    words
}

/// The values that memory is accessed through, or addresses are computed from.
fn followed(function: &Function) -> EntitySet<Value> {
    let mut followed = EntitySet::new();
    let blocks = function.blocks().iter();
    for &inst in blocks.flat_map(|&block| function.block_insts(block)) {
        let data = function.inst(inst);
        let pointers = match &data.op {
            Op::Load(_) | Op::MemSet(_) | Op::Address { .. } => &data.args[..1],
            Op::Store(_) => &data.args[1..2],
            Op::MemCopy { .. } => &data.args[..2],
            _ => continue,
        };
        for &pointer in pointers {
            followed.insert(pointer);
        }
    }
    followed
}
