//! The machine: its public face, and control flow.

use super::calls::{Frame, unknown_function, wrong_arguments};
use super::execute::definite_int;
use super::image;
use super::memory::{Memory, ObjectId, ObjectKind};
use super::trap::{Trap, TrapKind};
use super::value::{Float, Int, Pointer, Val};
use crate::ir::{
    DataLayout, Edge, FloatKind, Func, Function, Global, Inst, InstData, Loc, Module, Op, Symbol,
    Type, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;
use std::collections::{HashMap, HashSet};

/// A function of the host that stands for a function without a body.
pub type HostFunction<'m> = Box<dyn FnMut(&mut Memory, &[Val]) -> Result<Option<Val>, Trap> + 'm>;

/// A program with its memory, ready to run functions.
pub struct Machine<'m> {
    /// The memory, which the host may prepare and inspect between calls.
    pub memory: Memory,
    /// What the program has printed.
    pub output: String,
    pub(super) module: &'m Module,
    pub(super) functions: SecondaryMap<Func, Option<Pointer>>,
    pub(super) globals: SecondaryMap<Global, Option<Pointer>>,
    pub(super) code: HashMap<ObjectId, Func>,
    constants: SecondaryMap<Func, Vec<Option<Val>>>,
    pub(super) host: HashMap<String, HostFunction<'m>>,
    pub(super) frames: Vec<Frame>,
    pub(super) depth_limit: usize,
    /// The functions whose results are rounded by chance.
    rounding: Option<Rounding>,
    /// Making a type takes a lock, so the one that most stores have is kept.
    void: Type,
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
            rounding: None,
            void: Type::void(),
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

    /// The machine with functions whose floats are rounded in another way, in the last bit and by
    /// chance: as if they were compiled by another compiler, or with fused instructions. What is
    /// computed in them again need not come out the same.
    pub fn with_rounding_by_chance(mut self, named: impl Fn(&str) -> bool) -> Machine<'m> {
        let funcs = self.module.funcs.iter();
        let funcs = funcs.filter(|(_, function)| named(&function.name));
        self.rounding = Some(Rounding {
            funcs: funcs.map(|(func, _)| func).collect(),
            state: 1,
        });
        self
    }

    /// The result of float arithmetic as the running function rounds it.
    pub(super) fn rounded(&mut self, result: Val) -> Val {
        let (Some(rounding), Some(frame)) = (&mut self.rounding, self.frames.last()) else {
            return result;
        };
        match rounding.funcs.contains(&frame.func) {
            true => rounding.nudge(result),
            false => result,
        }
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
                let value = definite_int(&value, "a switch")?;
                let same = |number| Int::new(value.width(), number).unsigned() == value.unsigned();
                let case = cases.iter().find(|(number, _)| same(*number));
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
                let ty = function.result(inst).map_or(self.void, |v| function.ty(v));
                let args = self.operands(data)?;
                let result = self.execute(data, &args, ty)?;
                self.set_result(function, inst, result);
            }
        }
        Ok(None)
    }

    pub(super) fn follow(&mut self, edge: &'m Edge) -> Result<(), Trap> {
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

    pub(super) fn set_result(&mut self, function: &Function, inst: Inst, result: Option<Val>) {
        if let (Some(value), Some(frame)) = (function.result(inst), self.frames.last_mut()) {
            frame.values[value.as_u32() as usize] = result;
        }
    }

    /// The type of an operand of the instruction that runs.
    pub(super) fn operand_type(&self, data: &InstData, index: usize) -> Type {
        match (self.frames.last(), data.args.get(index)) {
            (Some(frame), Some(value)) => self.module.funcs[frame.func].ty(*value),
            _ => self.void,
        }
    }

    fn operand(&mut self, data: &InstData, index: usize) -> Result<Val, Trap> {
        match data.args.get(index) {
            Some(&value) => self.value(value),
            None => Err(Trap::malformed("an instruction with too few operands")),
        }
    }

    pub(super) fn operands(&mut self, data: &InstData) -> Result<Vec<Val>, Trap> {
        data.args.iter().map(|&value| self.value(value)).collect()
    }

    pub(super) fn value(&mut self, value: Value) -> Result<Val, Trap> {
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

/// Rounding by chance.
struct Rounding {
    funcs: HashSet<Func>,
    state: u64,
}

impl Rounding {
    /// A float or its neighbour; any other value as it is.
    fn nudge(&mut self, value: Val) -> Val {
        let Val::Float(float) = &value else {
            return value;
        };
        let number = float.number();
        if float.kind != FloatKind::F64 || !number.is_normal() {
            return value;
        }
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1);
        let neighbour = match self.state >> 62 {
            0 => number.next_up(),
            1 => number.next_down(),
            _ => number,
        };
        Val::Float(Float::new(float.kind, neighbour, float.tangent))
    }
}
