//! Calls: memory intrinsics, mathematical functions, and everything else.

use super::function::Body;
use super::instruction::flags;
use crate::known;
use crate::ll::{self, LLVMTypeKind, Val};
use zymase_core::ir::{
    Access, Block, Call, Callee, Edge, FnFlags, MathFn, MathParam, MemoryEffects, Op, ParamAttrs,
    Symbol, TypeKind, Value,
};

impl Body<'_> {
    /// Reads a call.
    pub(super) fn call(&mut self, inst: Val) {
        if ll::is_debug_intrinsic(inst) {
            return;
        }
        if let Some(name) = self.unmodeled(inst) {
            let memory = self.effects(inst);
            return self.append_opaque(inst, &name, memory);
        }
        let callee = ll::called_value(inst);
        if ll::is_function(callee) {
            let name = ll::name(callee);
            if ll::intrinsic_id(callee) != 0 && self.memory_intrinsic(inst, &name) {
                return;
            }
            // The address of a variable of the thread that runs is its address as it is written.
            if name.starts_with("llvm.threadlocal.address") {
                let address = self.operand(ll::operand(inst, 0));
                return self.define(inst, address);
            }
            if let Some(function) = self.math(inst, callee, &name) {
                let args = self.arguments(inst);
                let op = Op::Math(function);
                let flags = flags(inst, &op);
                self.append(inst, op, args, flags);
                return;
            }
        }
        let (call, args) = self.plain_call(inst);
        let op = Op::Call(Box::new(call));
        let flags = flags(inst, &op);
        self.append(inst, op, args, flags);
    }

    /// Reads an invoke.
    pub(super) fn invoke(&mut self, inst: Val) {
        if let Some(name) = self.unmodeled(inst) {
            let memory = self.effects(inst);
            return self.append_opaque(inst, &name, memory);
        }
        let (call, args) = self.plain_call(inst);
        let nowhere = |block: Block| Edge {
            block,
            args: Vec::new(),
        };
        let op = Op::Invoke {
            call: Box::new(call),
            normal: nowhere(self.block),
            unwind: nowhere(self.block),
        };
        let flags = flags(inst, &op);
        let made = self.append(inst, op, args, flags);
        self.fill_edges(made, &[ll::successor(inst, 0), ll::successor(inst, 1)]);
    }

    /// What a call is that core does not model, if it is one.
    fn unmodeled(&mut self, inst: Val) -> Option<String> {
        let callee = ll::called_value(inst);
        if ll::is_inline_assembly(callee) {
            return Some("inline assembly".into());
        }
        let name = || match ll::name(callee) {
            name if name.is_empty() => "a function pointer".to_string(),
            name => name,
        };
        if ll::bundle_count(inst) > 0 {
            return Some(format!("call of {} with operand bundles", name()));
        }
        let twice = ll::attribute_kind_id("returns_twice");
        let returns_twice = ll::call_attributes(inst, ll::FUNCTION_INDEX)
            .into_iter()
            .chain(match ll::is_function(callee) {
                true => ll::attributes(callee, ll::FUNCTION_INDEX),
                false => Vec::new(),
            })
            .any(|a| ll::is_enum_attribute(a) && ll::attribute_kind(a) == twice);
        if returns_twice {
            return Some(format!("call of {}, which returns twice", name()));
        }
        let foreign = |v: Val| {
            matches!(
                ll::type_kind(ll::type_of(v)),
                LLVMTypeKind::LLVMMetadataTypeKind | LLVMTypeKind::LLVMTokenTypeKind
            )
        };
        let args = ll::arg_count(inst);
        (foreign(inst) || (0..args).any(|i| foreign(ll::operand(inst, i)))).then(name)
    }

    fn arguments(&mut self, inst: Val) -> Vec<Value> {
        (0..ll::arg_count(inst))
            .map(|i| self.operand(ll::operand(inst, i)))
            .collect()
    }

    fn call_attrs(&mut self, inst: Val) -> zymase_core::ir::FnAttrs {
        let attributes = ll::call_attributes(inst, ll::FUNCTION_INDEX);
        self.importer.fn_attributes(&attributes)
    }

    /// What a call may do with memory, as call site and function say.
    fn effects(&mut self, inst: Val) -> MemoryEffects {
        let site = self.call_attrs(inst).memory;
        let callee = ll::called_value(inst);
        if ll::is_inline_assembly(callee) && !touches_memory(inst, callee) {
            return MemoryEffects {
                inaccessible: site.inaccessible,
                ..MemoryEffects::NONE
            };
        }
        if site != MemoryEffects::default() || !ll::is_function(callee) {
            return site;
        }
        let attributes = ll::attributes(callee, ll::FUNCTION_INDEX);
        self.importer.fn_attributes(&attributes).memory
    }

    fn plain_call(&mut self, inst: Val) -> (Call, Vec<Value>) {
        let foreign = ll::called_value(inst);
        let direct = match self.importer.symbols.get(&foreign) {
            Some(&(Symbol::Func(func), 0)) => Some(func),
            _ => None,
        };
        let mut args = Vec::new();
        let callee = match direct {
            Some(func) => Callee::Direct(func),
            None => {
                args.push(self.operand(foreign));
                Callee::Indirect
            }
        };
        args.extend(self.arguments(inst));
        let attributes: Vec<ParamAttrs> = (0..ll::arg_count(inst))
            .map(|i| {
                let attributes = ll::call_attributes(inst, i + 1);
                self.importer.param_attributes(&attributes)
            })
            .collect();
        let call = Call {
            callee,
            sig: self.importer.signature(ll::called_type(inst)),
            attrs: self.call_attrs(inst),
            args: attributes,
            convention: ll::call_convention(inst),
        };
        (call, args)
    }

    /// Reads a copy or fill of memory; false if it is not one.
    fn memory_intrinsic(&mut self, inst: Val, name: &str) -> bool {
        let is = |base: &str| name.starts_with(base) && !name.contains("element.unordered");
        let copies = is("llvm.memcpy.") || is("llvm.memmove.");
        if !copies && (!is("llvm.memset.") || name.contains("pattern")) {
            return false;
        }
        // Whether the access is observable is a constant by LLVM's rules.
        let volatile = ll::int_zext(ll::operand(inst, 3)) != 0;
        let args = (0..3).map(|i| self.operand(ll::operand(inst, i)));
        let args: Vec<Value> = args.collect();
        let dst = self.side(inst, 0, volatile);
        let op = match copies {
            true => Op::MemCopy {
                overlapping: is("llvm.memmove."),
                dst,
                src: self.side(inst, 1, volatile),
            },
            false => Op::MemSet(dst),
        };
        let pointers = if copies { &args[..2] } else { &args[..1] };
        let bytes = self.function.as_int(args[2]);
        self.declare_moved(inst, pointers, bytes.and_then(|n| n.try_into().ok()));
        self.append(inst, op, args, zymase_core::ir::Flags::empty());
        true
    }

    /// The access on one side of a copy, whose pointer is the argument at `position`.
    fn side(&mut self, inst: Val, position: u32, volatile: bool) -> Access {
        let attributes = ll::call_attributes(inst, position + 1);
        let attributes = self.importer.param_attributes(&attributes);
        let mut access = Access::aligned(attributes.align);
        access.volatile = volatile;
        self.importer.alias_metadata(inst, &mut access);
        access
    }

    /// The mathematical function that a call computes.
    fn math(&mut self, inst: Val, callee: Val, name: &str) -> Option<MathFn> {
        let result = self.importer.ty(ll::type_of(inst));
        let kind = result.scalar().float_kind()?;
        let function = if ll::intrinsic_id(callee) != 0 {
            known::math_intrinsic(name)?
        } else {
            let plain = ll::is_declaration(callee)
                && ll::call_convention(inst) == 0
                && result.lanes().is_none()
                && !self.is_nobuiltin(inst, callee);
            plain.then(|| known::math_function(name, kind)).flatten()?
        };
        let sig = self.importer.signature(ll::called_type(inst));
        let params = function.params();
        let fits = sig.params.len() == params.len()
            && !sig.variadic
            && sig
                .params
                .iter()
                .zip(params)
                .all(|(ty, param)| match param {
                    MathParam::Float => *ty == result,
                    MathParam::Int => ty.is_int_like(),
                })
            && !matches!(result.kind(), TypeKind::Opaque(_));
        fits.then_some(function)
    }

    fn is_nobuiltin(&mut self, inst: Val, callee: Val) -> bool {
        let site = self.call_attrs(inst);
        let declared = self
            .importer
            .fn_attributes(&ll::attributes(callee, ll::FUNCTION_INDEX));
        (site.flags | declared.flags).contains(FnFlags::NOBUILTIN) || is_strict(inst)
    }
}

/// Whether inline assembly may read or write memory of the program. Assembly that does must say so
/// by an operand or by the clobber `memory`; without them it may do what it likes with the machine
/// (`cpuid`, a comment), but variables stay what they are. Assembly without instructions does nothing,
/// whatever it says to keep optimizers from looking through it, as `black_box` of Rust.
fn touches_memory(inst: Val, assembly: Val) -> bool {
    if ll::assembly_instructions(assembly).trim().is_empty() {
        return false;
    }
    let constraints = ll::assembly_constraints(assembly);
    let pointer = |v: Val| ll::type_kind(ll::type_of(v)) == LLVMTypeKind::LLVMPointerTypeKind;
    constraints
        .split(',')
        .any(|c| c == "~{memory}" || c.contains('*'))
        || (0..ll::arg_count(inst)).any(|i| pointer(ll::operand(inst, i)))
}

/// Whether the call is in code that reads or sets the floating-point environment.
fn is_strict(inst: Val) -> bool {
    let strict = ll::attribute_kind_id("strictfp");
    ll::call_attributes(inst, ll::FUNCTION_INDEX)
        .into_iter()
        .any(|a| ll::is_enum_attribute(a) && ll::attribute_kind(a) == strict)
}
