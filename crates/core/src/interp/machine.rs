//! The machine: frames, control flow and calls.

use super::execute::{definite_int, pointer};
use super::externals::{self, Environment};
use super::image;
use super::memory::{Memory, ObjectId, ObjectKind};
use super::trap::{Trap, TrapKind};
use super::value::{Int, Pointer, Val};
use crate::ir::{
    Block, Call, Callee, Constant, DataLayout, Edge, Func, Function, Global, Inst, InstData, Loc,
    Module, Op, Symbol, Type, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// A function of the host that stands for a function without a body.
pub type HostFunction<'m> = Box<dyn FnMut(&mut Memory, &[Val]) -> Result<Option<Val>, Trap> + 'm>;

/// A program with its memory, ready to run functions.
pub struct Machine<'m> {
    /// The memory, which the host may prepare and inspect between calls.
    pub memory: Memory,
    /// What the program has printed.
    pub output: String,
    pub(super) module: &'m Module,
    functions: SecondaryMap<Func, Option<Pointer>>,
    globals: SecondaryMap<Global, Option<Pointer>>,
    code: HashMap<ObjectId, Func>,
    constants: SecondaryMap<Func, Vec<Option<Val>>>,
    host: HashMap<String, HostFunction<'m>>,
    frames: Vec<Frame>,
    depth_limit: usize,
}

/// A running function.
struct Frame {
    func: Func,
    block: Block,
    /// The position of the next instruction in the block.
    next: usize,
    values: Vec<Option<Val>>,
    objects: Vec<ObjectId>,
    cost: u64,
}

impl<'m> Machine<'m> {
    /// A machine with the global variables of a module set up.
    pub fn new(module: &'m Module) -> Result<Machine<'m>, Trap> {
        let mut machine = Machine {
            memory: Memory::new(),
            output: String::new(),
            module,
            functions: SecondaryMap::new(),
            globals: SecondaryMap::new(),
            code: HashMap::new(),
            constants: SecondaryMap::new(),
            host: HashMap::new(),
            frames: Vec::new(),
            depth_limit: 10_000,
        };
        for func in module.funcs.keys() {
            let address = machine.memory.allocate(ObjectKind::Function, 0, 16, true)?;
            machine.functions[func] = Some(address);
            machine.code.extend(address.object.map(|id| (id, func)));
        }
        for (global, data) in &module.globals {
            let known = data.init.as_ref().is_some_and(|init| !init.opaque);
            let align = u64::from(data.align.max(1));
            let address = machine
                .memory
                .allocate(ObjectKind::Global, data.size, align, known)?;
            machine.globals[global] = Some(address);
        }
        for global in module.globals.keys() {
            machine.initialize(global)?;
        }
        Ok(machine)
    }

    /// The machine with another limit on steps; the default is a hundred million.
    pub fn with_step_limit(mut self, steps: u64) -> Machine<'m> {
        self.memory.step_limit = steps;
        self
    }

    /// The machine with another limit on nested calls; the default is ten thousand.
    pub fn with_depth_limit(mut self, calls: usize) -> Machine<'m> {
        self.depth_limit = calls;
        self
    }

    /// The machine with another limit on memory, bookkeeping included; the default is one GiB.
    pub fn with_memory_limit(mut self, bytes: u64) -> Machine<'m> {
        self.memory.byte_limit = bytes;
        self
    }

    /// How many steps were done so far: one for each instruction, and more for instructions whose
    /// work grows with a byte count.
    pub fn steps(&self) -> u64 {
        self.memory.steps
    }

    /// How many heap objects have not been freed.
    pub fn live_heap_objects(&self) -> usize {
        self.memory.live_heap_objects()
    }

    /// Gives a function without a body a meaning.
    pub fn register(&mut self, name: impl Into<String>, function: HostFunction<'m>) {
        self.host.insert(name.into(), function);
    }

    /// The address of a symbol.
    pub fn address(&self, symbol: Symbol) -> Val {
        let address = match symbol {
            Symbol::Func(func) => self.functions[func],
            Symbol::Global(global) => self.globals[global],
        };
        Val::Ptr(address.unwrap_or(Pointer::NULL))
    }

    /// Runs a function of this name.
    pub fn call_by_name(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>, Trap> {
        match self.module.func_by_name(name) {
            Some(func) => self.call(func, args),
            None => Err(unknown_function(name)),
        }
    }

    /// Runs a function.
    pub fn call(&mut self, func: Func, args: &[Val]) -> Result<Option<Val>, Trap> {
        self.unwind();
        let function = &self.module.funcs[func];
        let params = &function.sig.params;
        if params.len() != args.len() {
            return Err(wrong_arguments(function, args.len()));
        }
        for (ty, arg) in params.iter().zip(args) {
            image::encode(self.layout(), *ty, arg, &mut Vec::new())?;
        }
        let result = if function.is_declaration() {
            let types = params.clone();
            self.call_external(func, function.sig.ret, &types, args.to_vec())
        } else {
            self.enter(func, args.to_vec(), None)
                .and_then(|()| self.run())
        };
        result.map_err(|trap| self.locate(trap))
    }

    pub(super) fn layout(&self) -> &'m DataLayout {
        &self.module.layout
    }

    fn run(&mut self) -> Result<Option<Val>, Trap> {
        let module = self.module;
        while let Some(frame) = self.frames.last_mut() {
            let function = &module.funcs[frame.func];
            let Some(&inst) = function.block_insts(frame.block).get(frame.next) else {
                return Err(Trap::malformed("a block without a terminator"));
            };
            frame.next += 1;
            self.memory.count_steps(1)?;
            if let Some(result) = self.step(function, inst)? {
                return Ok(result);
            }
        }
        Err(Trap::malformed("no function is running"))
    }

    /// Does one instruction; gives the result if the outermost function returns.
    fn step(&mut self, function: &'m Function, inst: Inst) -> Result<Option<Option<Val>>, Trap> {
        let data = function.inst(inst);
        match &data.op {
            Op::Jump(edge) => self.follow(edge)?,
            Op::Branch { then, other } => {
                let condition = self.operand(data, 0)?;
                let taken = definite_int(&condition, "a branch")?.unsigned() != 0;
                self.follow(if taken { then } else { other })?;
            }
            Op::Switch { cases, default } => {
                let value = self.operand(data, 0)?;
                let value = definite_int(&value, "a switch")?.unsigned();
                let case = cases.iter().find(|(number, _)| *number == value);
                self.follow(case.map_or(default, |(_, edge)| edge))?;
            }
            Op::Return => {
                let result = match data.args.first() {
                    Some(&value) => Some(self.value(value)?),
                    None => None,
                };
                self.leave();
                if self.frames.is_empty() {
                    return Ok(Some(result));
                }
                self.finish_call(result)?;
            }
            Op::Unreachable => {
                let message = "an unreachable instruction was reached";
                return Err(Trap::new(TrapKind::Unreachable, message));
            }
            Op::OpaqueTerminator { opaque, .. } => {
                let message = format!("the instruction {:?}", opaque.name);
                return Err(Trap::unsupported(message));
            }
            Op::Call(call) | Op::Invoke { call, .. } => self.begin_call(data, call)?,
            _ => {
                let ty = function
                    .result(inst)
                    .map_or(Type::void(), |v| function.ty(v));
                let args = self.operands(data)?;
                let result = self.execute(data, &args, ty)?;
                self.set_result(function, inst, result);
            }
        }
        Ok(None)
    }

    fn begin_call(&mut self, data: &'m InstData, call: &'m Call) -> Result<(), Trap> {
        let mut args = self.operands(data)?;
        let func = match call.callee {
            Callee::Direct(func) => func,
            Callee::Indirect if args.is_empty() => {
                return Err(Trap::malformed("an indirect call without a callee"));
            }
            Callee::Indirect => {
                let callee = args.remove(0);
                self.callee_at(pointer(&callee, "a call")?)?
            }
        };
        let function = &self.module.funcs[func];
        if function.is_declaration() {
            let skip = usize::from(call.callee == Callee::Indirect);
            let caller = self.frames.last().map(|f| &self.module.funcs[f.func]);
            let types: Vec<Type> = match caller {
                Some(caller) => data.args[skip..].iter().map(|v| caller.ty(*v)).collect(),
                None => Vec::new(),
            };
            let result = self.call_external(func, call.sig.ret, &types, args)?;
            return self.finish_call(result);
        }
        if call.sig != function.sig {
            let message = format!("a call of {} with another signature", function.name);
            return Err(Trap::new(TrapKind::BadCall, message));
        }
        if args.len() != function.arguments().len() {
            return Err(wrong_arguments(function, args.len()));
        }
        self.enter(func, args, Some(call))
    }

    fn callee_at(&self, pointer: Pointer) -> Result<Func, Trap> {
        let func = pointer.object.and_then(|id| self.code.get(&id).copied());
        match func {
            Some(func) if self.functions[func] == Some(pointer) => Ok(func),
            _ if pointer.address == 0 => {
                let message = "a call through the null pointer";
                Err(Trap::new(TrapKind::NullDereference, message))
            }
            _ => {
                let message = "a call of an address that is no function";
                Err(Trap::new(TrapKind::BadCall, message))
            }
        }
    }

    fn call_external(
        &mut self,
        func: Func,
        ret: Type,
        types: &[Type],
        args: Vec<Val>,
    ) -> Result<Option<Val>, Trap> {
        let function = &self.module.funcs[func];
        let name = &function.name;
        if let Some(host) = self.host.get_mut(name) {
            return host(&mut self.memory, &args);
        }
        let mut environment = Environment {
            layout: &self.module.layout,
            memory: &mut self.memory,
            output: &mut self.output,
            ret,
            types,
            alloc: function.attrs.alloc.as_ref(),
        };
        match externals::call(&mut environment, name, &args)? {
            Some(result) => Ok(result),
            None => Err(unknown_function(name)),
        }
    }

    /// Starts a function with a body.
    fn enter(&mut self, func: Func, args: Vec<Val>, call: Option<&Call>) -> Result<(), Trap> {
        if self.frames.len() >= self.depth_limit {
            let message = format!("more than {} nested calls", self.depth_limit);
            return Err(Trap::new(TrapKind::DepthLimit, message));
        }
        let function = &self.module.funcs[func];
        let cost = (function.value_count() * size_of::<Option<Val>>()) as u64 + 128;
        self.memory.reserve(cost)?;
        let mut frame = Frame {
            func,
            block: function.entry(),
            next: 0,
            values: vec![None; function.value_count()],
            objects: Vec::new(),
            cost,
        };
        for (i, (&param, arg)) in function.arguments().iter().zip(args).enumerate() {
            let at_call = call.and_then(|call| call.args.get(i));
            let attrs = at_call.into_iter().chain(function.params.get(i));
            let by_value = attrs.filter_map(|a| a.byval.map(|ty| (ty, a.align))).next();
            let arg = match by_value {
                Some((ty, align)) => {
                    let copy = self.copy_argument(ty, align, &arg)?;
                    frame.objects.extend(copy.object);
                    Val::Ptr(copy)
                }
                None => arg,
            };
            frame.values[param.as_u32() as usize] = Some(arg);
        }
        self.frames.push(frame);
        Ok(())
    }

    fn copy_argument(&mut self, ty: Type, align: u32, arg: &Val) -> Result<Pointer, Trap> {
        let size = self.layout().size(ty);
        let align = align.max(self.layout().align(ty));
        let source = pointer(arg, "an argument passed by value")?;
        let mut bytes = Vec::new();
        self.memory.count_steps(size / 8)?;
        self.memory.read(source, size, 1, &mut bytes)?;
        let copy = self
            .memory
            .allocate(ObjectKind::Frame, size, align.into(), false)?;
        self.memory.write(copy, &bytes, 1)?;
        Ok(copy)
    }

    /// Ends the innermost function.
    fn leave(&mut self) {
        if let Some(frame) = self.frames.pop() {
            for id in frame.objects {
                self.memory.release_object(id);
            }
            self.memory.give_back(frame.cost);
        }
    }

    /// Ends every function, after a trap.
    fn unwind(&mut self) {
        while !self.frames.is_empty() {
            self.leave();
        }
    }

    /// Goes on after the call that the innermost function stands at.
    fn finish_call(&mut self, result: Option<Val>) -> Result<(), Trap> {
        let module = self.module;
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let function = &module.funcs[frame.func];
        let inst = function.block_insts(frame.block)[frame.next - 1];
        if function.result(inst).is_some() && result.is_none() {
            let message = "a call whose result is used returned none";
            return Err(Trap::new(TrapKind::BadCall, message));
        }
        self.set_result(function, inst, result);
        if let Op::Invoke { normal, .. } = &function.inst(inst).op {
            self.follow(normal)?;
        }
        Ok(())
    }

    fn follow(&mut self, edge: &'m Edge) -> Result<(), Trap> {
        let args: Vec<Val> = edge
            .args
            .iter()
            .map(|&value| self.value(value))
            .collect::<Result<_, _>>()?;
        if let Some(frame) = self.frames.last_mut() {
            let params = self.module.funcs[frame.func].block_params(edge.block);
            if params.len() != args.len() {
                return Err(Trap::malformed(
                    "an edge with too few or too many arguments",
                ));
            }
            for (param, arg) in params.iter().zip(args) {
                frame.values[param.as_u32() as usize] = Some(arg);
            }
            frame.block = edge.block;
            frame.next = 0;
        }
        Ok(())
    }

    fn set_result(&mut self, function: &Function, inst: Inst, result: Option<Val>) {
        if let (Some(value), Some(frame)) = (function.result(inst), self.frames.last_mut()) {
            frame.values[value.as_u32() as usize] = result;
        }
    }

    /// Remembers memory that lives until the innermost function returns.
    pub(super) fn own_object(&mut self, pointer: Pointer) {
        if let Some(frame) = self.frames.last_mut() {
            frame.objects.extend(pointer.object);
        }
    }

    /// The type of an operand of the instruction that runs.
    pub(super) fn operand_type(&self, data: &InstData, index: usize) -> Type {
        match (self.frames.last(), data.args.get(index)) {
            (Some(frame), Some(value)) => self.module.funcs[frame.func].ty(*value),
            _ => Type::void(),
        }
    }

    fn operand(&mut self, data: &InstData, index: usize) -> Result<Val, Trap> {
        match data.args.get(index) {
            Some(&value) => self.value(value),
            None => Err(Trap::malformed("an instruction with too few operands")),
        }
    }

    fn operands(&mut self, data: &InstData) -> Result<Vec<Val>, Trap> {
        data.args.iter().map(|&value| self.value(value)).collect()
    }

    fn value(&mut self, value: Value) -> Result<Val, Trap> {
        let Some(frame) = self.frames.last() else {
            return Err(Trap::malformed("no function is running"));
        };
        let (func, index) = (frame.func, value.as_u32() as usize);
        if let Some(known) = &frame.values[index] {
            return Ok(known.clone());
        }
        if let Some(Some(known)) = self.constants[func].get(index) {
            return Ok(known.clone());
        }
        let data = self.module.funcs[func].value(value);
        let ValueDef::Const(constant) = &data.def else {
            return Err(Trap::malformed(format!(
                "{value} is used before it is defined"
            )));
        };
        let result = self.constant(data.ty, constant)?;
        let known = &mut self.constants[func];
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        known[index] = Some(result.clone());
        Ok(result)
    }

    fn constant(&self, ty: Type, constant: &Constant) -> Result<Val, Trap> {
        let layout = self.layout();
        image::check_type(layout, ty)?;
        Ok(match constant {
            Constant::Int(bits) => match ty.int_bits() {
                Some(width) => Val::Int(Int::new(width, *bits)),
                None => return Err(Trap::malformed(format!("an integer of type {ty}"))),
            },
            Constant::Float(bits) => match ty.float_kind() {
                Some(kind) => Val::Float(super::Float {
                    kind,
                    bits: *bits,
                    tangent: 0.0,
                }),
                None => return Err(Trap::malformed(format!("a float of type {ty}"))),
            },
            Constant::Zero => image::zero(layout, ty)?,
            Constant::Undef | Constant::Poison => Val::Poison,
            Constant::Aggregate(parts) => {
                let part = |(i, part): (usize, &Constant)| match ty.part(i as u64) {
                    Some(part_ty) => self.constant(part_ty, part),
                    None => Err(Trap::malformed(format!("too many parts for {ty}"))),
                };
                let parts = parts.iter().enumerate().map(part);
                Val::Aggregate(parts.collect::<Result<_, _>>()?)
            }
            Constant::Address(symbol, offset) => {
                let base = self.address(*symbol).as_ptr().unwrap_or(Pointer::NULL);
                let address = base.offset(*offset);
                match ty.int_bits() {
                    Some(width) => Val::Int(Int::from_pointer(width, address)),
                    None => Val::Ptr(address),
                }
            }
            Constant::Opaque(_) => {
                return Err(Trap::unsupported("a constant that is not modelled"));
            }
        })
    }

    fn initialize(&mut self, global: Global) -> Result<(), Trap> {
        let data = &self.module.globals[global];
        let (Some(init), Some(address)) = (&data.init, self.globals[global]) else {
            return Ok(());
        };
        if !init.opaque {
            let bytes: Vec<_> = init
                .bytes
                .iter()
                .map(|b| super::memory::Byte::plain(*b))
                .collect();
            self.memory.write(address, &bytes, 1)?;
            for (offset, symbol, addend) in &init.relocations {
                let constant = Constant::Address(*symbol, *addend);
                let value = self.constant(Type::ptr(), &constant)?;
                let mut bytes = Vec::new();
                image::encode(self.layout(), Type::ptr(), &value, &mut bytes)?;
                self.memory
                    .write(address.offset(*offset as i64), &bytes, 1)?;
            }
        }
        if let (true, Some(id)) = (data.constant, address.object) {
            self.memory.protect(id);
        }
        Ok(())
    }

    /// The trap with the functions that were running.
    fn locate(&self, mut trap: Trap) -> Trap {
        const SHOWN: usize = 16;
        for frame in self.frames.iter().rev().take(SHOWN) {
            let function = &self.module.funcs[frame.func];
            let at = frame.next.saturating_sub(1);
            let inst = function.block_insts(frame.block).get(at);
            let loc = inst.and_then(|inst| function.inst(*inst).loc);
            let place = loc.map(|loc| self.place(loc)).unwrap_or_default();
            let line = format!("{}, {}{place}", function.name, frame.block);
            trap.backtrace.push(line);
        }
        trap
    }

    fn place(&self, loc: Loc) -> String {
        let data = &self.module.locs[loc];
        format!(" ({}:{}:{})", data.file, data.line, data.column)
    }
}

fn unknown_function(name: &str) -> Trap {
    let message = format!("a call of {name}, which has no body and is not known");
    Trap::new(TrapKind::UnknownFunction, message)
}

fn wrong_arguments(function: &Function, given: usize) -> Trap {
    let message = format!(
        "{} takes {} arguments and was given {given}",
        function.name,
        function.sig.params.len()
    );
    Trap::new(TrapKind::BadCall, message)
}
