//! What must not be, once it is known what derivatives flow through: each is a refusal.

use super::globals;
use super::objects::Object;
use super::solver::Solver;
use super::{CallKind, call_kind};
use crate::analysis::effects::{ArgEffects, call_args};
use crate::analysis::types::Kinds;
use crate::derivative::Made;
use crate::diagnostic::{Code, Diagnostic, Result, rust_parameter};
use crate::ir::{Activity as ArgActivity, Callee, Inst, InstData, Nest, Op, Value, is_class_table};
use cranelift_entity::EntitySet;

impl Solver<'_> {
    /// Derivatives must not flow through pointers that may lead to memory with a shadow and to
    /// memory without one, nor into memory of which nobody knows who reads it.
    pub(super) fn check(&self, shadowed: &EntitySet<Value>) -> Result<()> {
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
    pub(super) fn check_allocators(&self) -> Result<()> {
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
                Code::AllocatorState,
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
    pub(super) fn check_lost_outputs(
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
    pub(super) fn loses_derivative(&self, data: &InstData, shadowed: &EntitySet<Value>) -> bool {
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
    pub(super) fn check_unknown(&self, pointer: Value, data: &InstData) -> Result<()> {
        let mut objects = self.objects.of(pointer).iter();
        match objects.find(|object| object.is_unknown()) {
            Some(&object) => self.check_object(object, data),
            None => Ok(()),
        }
    }

    /// A function without a body may use global variables that derivatives flow through, and
    /// nobody could tell how.
    pub(super) fn check_stranger(&self, inst: Inst, data: &InstData) -> Result<()> {
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
            Code::MayTouchGlobal,
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
    pub(super) fn check_rule(&self, data: &InstData) -> Result<()> {
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
            Code::RuleAndGlobal,
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

    pub(super) fn check_object(&self, object: Object, data: &InstData) -> Result<()> {
        let (what, help) = match object {
            Object::Argument(i) if self.key.made[i] == Made::Nothing => return Ok(()),
            Object::Argument(i) if self.key.args[i] == ArgActivity::Const => (
                match rust_parameter(self.function, i) {
                    Some(name) => format!("to memory of the parameter `{name}`, which is const"),
                    None => format!("to memory of argument {}, which is const", i + 1),
                },
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
            Code::MaybeActive,
            "cannot tell whether memory has a derivative",
            format!("a derivative flows through a pointer that may lead {what}"),
            help,
        )
        .at(self.module, data.loc)
        .in_function(&self.function.name))
    }
}

/// The refusal of a variable that needs a shadow and cannot get one.
fn active_global(name: &str) -> Box<Diagnostic> {
    Diagnostic::new(
        Code::GlobalWithoutShadow,
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
