//! Frames and calls.

use super::execute::pointer;
use super::externals::{self, Environment};
use super::machine::Machine;
use super::memory::{ObjectId, ObjectKind};
use super::trap::{Trap, TrapKind};
use super::value::{Pointer, Val};
use crate::ir::{Block, Call, Callee, Func, Function, InstData, Op, Type};

/// A running function.
pub(super) struct Frame {
    pub func: Func,
    pub block: Block,
    /// The position of the next instruction in the block.
    pub next: usize,
    pub values: Vec<Option<Val>>,
    pub objects: Vec<ObjectId>,
    pub cost: u64,
}

impl<'m> Machine<'m> {
    pub(super) fn begin_call(&mut self, data: &'m InstData, call: &'m Call) -> Result<(), Trap> {
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
        let skip = usize::from(call.callee == Callee::Indirect);
        let caller = self.frames.last().map(|f| &self.module.funcs[f.func]);
        let types: Vec<Type> = match caller {
            Some(caller) => data.args[skip..].iter().map(|v| caller.ty(*v)).collect(),
            None => Vec::new(),
        };
        if function.is_declaration() {
            let result = self.call_external(func, call.sig.ret, &types, args)?;
            return self.finish_call(result);
        }
        // An old-style C call has a variadic signature; what counts is what is passed.
        if types != function.sig.params || call.sig.ret != function.sig.ret {
            let message = format!("a call of {} with another signature", function.name);
            return Err(Trap::new(TrapKind::BadCall, message));
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

    pub(super) fn call_external(
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
    pub(super) fn enter(
        &mut self,
        func: Func,
        args: Vec<Val>,
        call: Option<&Call>,
    ) -> Result<(), Trap> {
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
    pub(super) fn leave(&mut self) {
        if let Some(frame) = self.frames.pop() {
            for id in frame.objects {
                self.memory.release_object(id);
            }
            self.memory.give_back(frame.cost);
        }
    }

    /// Ends every function, after a trap.
    pub(super) fn unwind(&mut self) {
        while !self.frames.is_empty() {
            self.leave();
        }
    }

    /// Goes on after the call that the innermost function stands at.
    pub(super) fn finish_call(&mut self, result: Option<Val>) -> Result<(), Trap> {
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

    /// Remembers memory that lives until the innermost function returns.
    pub(super) fn own_object(&mut self, pointer: Pointer) {
        if let Some(frame) = self.frames.last_mut() {
            frame.objects.extend(pointer.object);
        }
    }
}

pub(super) fn wrong_arguments(function: &Function, given: usize) -> Trap {
    let message = format!(
        "{} takes {} arguments and was given {given}",
        function.name,
        function.sig.params.len()
    );
    Trap::new(TrapKind::BadCall, message)
}

pub(super) fn unknown_function(name: &str) -> Trap {
    let message = format!("a call of {name}, which has no body and is not known");
    Trap::new(TrapKind::UnknownFunction, message)
}
