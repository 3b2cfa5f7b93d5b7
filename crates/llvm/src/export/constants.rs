//! Types and constants.
//!
//! Core's structures have no names, LLVM's may. Each structure of core has one type in LLVM, the
//! first that import saw; values of another type with the same fields are adapted where they come
//! in and where they go out.

use super::Exporter;
use crate::ll::{self, LLVMTypeKind as K, Ty, Val};
use crate::origin::Origins;
use llvm_sys::core::*;
use zymase_core::ir::{self, Constant, FloatKind, Func, Signature, Symbol, Type, TypeKind};

impl Origins {
    /// The LLVM type that values of a type of core have.
    pub(super) fn llvm_type(&mut self, ty: Type) -> Ty {
        let c = self.context;
        match ty.kind() {
            TypeKind::Void => ll::void_type(c),
            TypeKind::Int(bits) => ll::int_type(c, *bits),
            TypeKind::Float(FloatKind::F16) => ll::half_type(c),
            TypeKind::Float(FloatKind::Bf16) => ll::bfloat_type(c),
            TypeKind::Float(FloatKind::F32) => ll::float_type(c),
            TypeKind::Float(FloatKind::F64) => ll::double_type(c),
            TypeKind::Float(FloatKind::X86Fp80) => ll::x87_type(c),
            TypeKind::Float(FloatKind::F128) => ll::quad_type(c),
            TypeKind::Ptr(space) => ll::pointer_type(c, *space),
            TypeKind::Vector(element, lanes) => ll::vector_type(self.llvm_type(*element), *lanes),
            TypeKind::Array(element, len) => ll::array_type(self.llvm_type(*element), *len),
            TypeKind::Struct { fields, packed } => {
                if let Some(&known) = self.types.get(&ty) {
                    return known;
                }
                let fields: Vec<Ty> = fields.iter().map(|f| self.llvm_type(*f)).collect();
                let made = ll::struct_type(c, &fields, *packed);
                self.types.insert(ty, made);
                made
            }
            // Only import makes opaque types, and it enters them.
            TypeKind::Opaque(_) => match self.types.get(&ty) {
                Some(&known) => known,
                None => ll::struct_type(c, &[], false),
            },
        }
    }

    /// The LLVM type of a function.
    pub(super) fn function_type(&mut self, sig: &Signature) -> Ty {
        let params: Vec<Ty> = sig.params.iter().map(|p| self.llvm_type(*p)).collect();
        ll::function_type(self.llvm_type(sig.ret), &params, sig.variadic)
    }

    /// A constant of a type.
    pub(super) fn constant(&mut self, module: &ir::Module, ty: Type, constant: &Constant) -> Val {
        let foreign = self.llvm_type(ty);
        self.constant_as(module, foreign, constant)
    }

    fn constant_as(&mut self, module: &ir::Module, ty: Ty, constant: &Constant) -> Val {
        match constant {
            Constant::Int(n) => ll::int_constant(ty, *n),
            Constant::Float(bits) => {
                let words = [*bits as u64, (*bits >> 64) as u64];
                // SAFETY: two words are as many as the widest format needs.
                unsafe { LLVMConstFPFromBits(ty, words.as_ptr()) }
            }
            Constant::Zero => ll::null(ty),
            Constant::Undef => ll::undef(ty),
            Constant::Poison => ll::poison(ty),
            Constant::Address(symbol, offset) => self.address(module, *symbol, *offset),
            // Import entered the origin of every opaque constant.
            Constant::Opaque(origin) => self.value(*origin).unwrap_or_else(|| ll::poison(ty)),
            Constant::Aggregate(parts) => {
                let kind = ll::type_kind(ty);
                let mut values: Vec<Val> = parts
                    .iter()
                    .enumerate()
                    .map(|(i, part)| {
                        let part_ty = match kind {
                            K::LLVMStructTypeKind => ll::field_type(ty, i as u32),
                            _ => ll::element_type(ty),
                        };
                        self.constant_as(module, part_ty, part)
                    })
                    .collect();
                let (start, len) = (values.as_mut_ptr(), values.len());
                // SAFETY: LLVM copies `len` values, which have the types of the parts.
                unsafe {
                    match kind {
                        K::LLVMStructTypeKind => LLVMConstNamedStruct(ty, start, len as u32),
                        K::LLVMVectorTypeKind => LLVMConstVector(start, len as u32),
                        _ => LLVMConstArray2(ll::element_type(ty), start, len as u64),
                    }
                }
            }
        }
    }

    fn address(&mut self, module: &ir::Module, symbol: Symbol, offset: i64) -> Val {
        let origin = match symbol {
            Symbol::Func(func) => module.funcs[func].origin,
            Symbol::Global(global) => module.globals[global].origin,
        };
        let known = origin.and_then(|origin| self.value(origin));
        let base = known.unwrap_or_else(|| match symbol {
            Symbol::Func(func) => super::declare_named(self, &module.funcs[func]),
            Symbol::Global(global) => self.global(module, &module.globals[global]),
        });
        if offset == 0 {
            return base;
        }
        let mut index = ll::int_constant(ll::int_type(self.context, 64), offset as u64 as u128);
        // SAFETY: base is a global value, and LLVM copies the index.
        unsafe { LLVMConstGEP2(ll::int_type(self.context, 8), base, &mut index, 1) }
    }

    /// A variable that core made: defined with its content, or declared if it has none.
    fn global(&mut self, module: &ir::Module, data: &ir::GlobalData) -> Val {
        let name = crate::raw::c_string(&data.name);
        // SAFETY: the module is alive and the name is copied.
        let known = unsafe { LLVMGetNamedGlobal(self.llvm, name.as_ptr()) };
        if !known.is_null() {
            return known;
        }
        let content = data.init.as_ref().filter(|init| !init.opaque);
        let content = content.map(|init| self.content(module, data.size, init));
        let ty = match content {
            Some(value) => ll::type_of(value),
            None => ll::array_type(ll::int_type(self.context, 8), data.size),
        };
        // SAFETY: the content has the type of the variable.
        unsafe {
            let made = LLVMAddGlobal(self.llvm, ty, name.as_ptr());
            ll::set_alignment(made, data.align.max(1));
            LLVMSetThreadLocal(made, data.thread_local.into());
            LLVMSetGlobalConstant(made, data.constant.into());
            if let Some(value) = content {
                LLVMSetInitializer(made, value);
                if data.local {
                    ll::set_linkage(made, ll::LLVMLinkage::LLVMInternalLinkage);
                }
            }
            made
        }
    }

    /// Bytes with addresses among them, as a packed structure.
    fn content(&mut self, module: &ir::Module, size: u64, init: &ir::Initializer) -> Val {
        let mut relocations = init.relocations.clone();
        relocations.sort_by_key(|(at, _, _)| *at);
        let mut parts = Vec::new();
        let mut done = 0;
        for (at, symbol, offset) in relocations {
            parts.push(self.bytes(init, done, at));
            parts.push(self.address(module, symbol, offset));
            done = at + 8;
        }
        parts.push(self.bytes(init, done, size));
        // SAFETY: LLVM copies the parts.
        unsafe { LLVMConstStructInContext(self.context, parts.as_mut_ptr(), parts.len() as u32, 1) }
    }

    /// The bytes of a range; those past the end of the content are zero.
    fn bytes(&mut self, init: &ir::Initializer, from: u64, to: u64) -> Val {
        let byte = ll::int_type(self.context, 8);
        let given = init.bytes.get(from as usize..).unwrap_or_default();
        let len = to.saturating_sub(from) as usize;
        let given = &given[..given.len().min(len)];
        if given.iter().all(|b| *b == 0) {
            return ll::null(ll::array_type(byte, len as u64));
        }
        let mut all = given.to_vec();
        all.resize(len, 0);
        // SAFETY: LLVM copies `len` bytes.
        unsafe { LLVMConstDataArray(byte, all.as_ptr().cast(), len) }
    }
}

impl Exporter<'_> {
    /// A value with the LLVM type that values of `ty` have.
    pub(super) fn adapt(&mut self, value: Val, ty: Type) -> Val {
        let wanted = self.origins.llvm_type(ty);
        self.adapt_to(value, wanted)
    }

    /// A value with this LLVM type, which has the same structure as the value's own.
    pub(super) fn adapt_to(&mut self, value: Val, wanted: Ty) -> Val {
        let own = ll::type_of(value);
        if own == wanted {
            return value;
        }
        let parts = match (ll::type_kind(own), ll::type_kind(wanted)) {
            (K::LLVMStructTypeKind, K::LLVMStructTypeKind) => ll::field_count(wanted),
            (K::LLVMArrayTypeKind, K::LLVMArrayTypeKind) => ll::array_length(wanted) as u32,
            _ => return value,
        };
        let mut whole = ll::poison(wanted);
        for i in 0..parts {
            let part_ty = match ll::type_kind(wanted) {
                K::LLVMStructTypeKind => ll::field_type(wanted, i),
                _ => ll::element_type(wanted),
            };
            let part = self.build(|b| unsafe { LLVMBuildExtractValue(b, value, i, NO_NAME) });
            let part = self.adapt_to(part, part_ty);
            whole = self.build(|b| unsafe { LLVMBuildInsertValue(b, whole, part, i, NO_NAME) });
        }
        whole
    }

    /// Calls a function of LLVM's builder.
    pub(super) fn build(&mut self, f: impl FnOnce(ll::Bld) -> Val) -> Val {
        f(self.builder.0)
    }
}

/// The empty name, for the builder.
pub(super) const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// The functions whose address is in a constant.
pub(super) fn functions_in(constant: &Constant, found: &mut Vec<Func>) {
    match constant {
        Constant::Address(Symbol::Func(func), _) => found.push(*func),
        Constant::Aggregate(parts) => parts.iter().for_each(|p| functions_in(p, found)),
        _ => {}
    }
}
