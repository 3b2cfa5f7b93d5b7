//! Reads a module of LLVM into core's IR.
//!
//! Before: any module that LLVM accepts, for a 64-bit little-endian machine. After: a module of
//! core in which everything has its place. What core does not model is opaque and keeps a handle
//! to its origin; nothing is left out except blocks that control never reaches. Of the debug records
//! of variables only what they say about types is read.
//!
//! Phases: symbols get their entities first, so that bodies and initializers can refer to each
//! other in any order; then attributes and initializers; then bodies, one function at a time, in
//! reverse postorder so that definitions come before uses.

mod address;
mod attributes;
mod call;
mod constants;
mod elements;
mod function;
mod globals;
mod instruction;
mod metadata;
mod sources;
mod types;
mod variants;

use crate::Module;
use crate::ll::{self, Ctx, Data, Md, Ty, Val};
use crate::origin::{Imported, Origins};
use crate::reachable::{ADDRESS_TAKEN, is_address_taken};
use crate::requests::noted_variables;
use attributes::AttributeKinds;
use metadata::MetadataKinds;
use std::collections::{HashMap, HashSet};
use zymase_core::diagnostic::{Code, Diagnostic, Result};
use zymase_core::ir::{self, Func, Function, Loc, Scope, SourceType, Symbol, Tbaa, Type};

/// Reads a module. The module must not be changed by passes as long as the result is in use.
pub fn import(llvm: &Module) -> Result<Imported> {
    let mut importer = Importer::new(llvm)?;
    importer.declare_symbols(llvm);
    importer.read_globals();
    for (func, value) in importer.functions.clone() {
        if ll::is_function(value) && !ll::is_declaration(value) {
            importer.read_body(func, value);
        }
    }
    match importer.refusal {
        Some(diagnostic) => Err(diagnostic),
        None => Ok(Imported {
            module: importer.module,
            origins: importer.origins,
        }),
    }
}

/// The state of an import.
struct Importer {
    context: Ctx,
    layout: Data,
    module: ir::Module,
    origins: Origins,
    /// Where every global value of LLVM is in core: a symbol and an offset.
    symbols: HashMap<Val, (Symbol, i64)>,
    /// The names of variables that are only declared here and defined in the program.
    variables: HashSet<String>,
    functions: Vec<(Func, Val)>,
    types: HashMap<Ty, Type>,
    locs: HashMap<Md, Loc>,
    scope_names: HashMap<Md, (String, String)>,
    tbaa: HashMap<Val, Option<Tbaa>>,
    scopes: HashMap<Val, Scope>,
    domains: HashMap<Val, u32>,
    sources: HashMap<Md, Option<SourceType>>,
    /// Types of integers alone.
    integers: HashMap<Md, Option<SourceType>>,
    /// The type of a character, once there is one.
    character: Option<SourceType>,
    /// What the functions of scopes move.
    moved_types: HashMap<Md, Option<SourceType>>,
    /// The expression of debug information that says nothing.
    empty_expression: Md,
    kinds: MetadataKinds,
    attributes: AttributeKinds,
    /// The first reason to refuse the whole module.
    refusal: Option<Box<Diagnostic>>,
}

impl Importer {
    fn new(llvm: &Module) -> Result<Importer> {
        let context = llvm.context().raw();
        let layout = ll::module_layout(llvm.raw());
        let little = ll::byte_order(layout) == llvm_sys::target::LLVMByteOrdering::LLVMLittleEndian;
        if !little || ll::pointer_size(layout) != 8 {
            return Err(Diagnostic::new(
                Code::Target,
                format!("cannot read a module for the target {:?}", llvm.triple()),
                "its machine is not a 64-bit little-endian one",
                "compile for x86-64, AArch64 or another 64-bit little-endian machine",
            ));
        }
        let mut module = ir::Module::new();
        module.layout.max_int_align = ll::abi_align(layout, ll::int_type(context, 128));
        Ok(Importer {
            context,
            layout,
            module,
            origins: Origins::new(llvm),
            symbols: HashMap::new(),
            variables: noted_variables(llvm),
            functions: Vec::new(),
            types: HashMap::new(),
            locs: HashMap::new(),
            scope_names: HashMap::new(),
            tbaa: HashMap::new(),
            scopes: HashMap::new(),
            domains: HashMap::new(),
            sources: HashMap::new(),
            integers: HashMap::new(),
            character: None,
            moved_types: HashMap::new(),
            empty_expression: ll::empty_expression(llvm.raw()),
            kinds: MetadataKinds::new(context),
            attributes: AttributeKinds::new(),
            refusal: None,
        })
    }

    fn refuse(&mut self, message: String, reason: impl Into<String>) {
        if self.refusal.is_none() {
            self.refusal = Some(Diagnostic::new(
                Code::Target,
                message,
                reason,
                "compile for x86-64, AArch64 or another 64-bit little-endian machine",
            ));
        }
    }

    fn declare_symbols(&mut self, llvm: &Module) {
        for value in llvm.globals() {
            self.declare_global(value);
        }
        for value in llvm.functions() {
            self.declare_function(value);
        }
        for value in llvm.ifuncs() {
            self.declare_function(value);
        }
        for value in llvm.aliases() {
            self.declare_alias(value);
        }
    }

    fn declare_function(&mut self, value: Val) {
        let sig = self.signature(ll::value_type(value));
        let name = ll::name(value);
        let mut function = match ll::is_function(value) && !ll::is_declaration(value) {
            true => Function::with_entry(name, sig),
            false => Function::new(name, sig),
        };
        function.origin = Some(self.origins.add_value(value));
        function.local = is_local(value);
        if ll::is_function(value) {
            self.function_attributes(value, &mut function);
            let hidden = function.params.iter().filter(|p| p.sret.is_some()).count();
            let seen = function.sig.params.len() - hidden;
            function.params_rewritten = self.source_params(value) != Some(seen);
            function.address_taken =
                is_address_taken(value) || ll::string_attribute(value, ADDRESS_TAKEN).is_some();
        }
        let func = self.module.funcs.push(function);
        self.symbols.insert(value, (Symbol::Func(func), 0));
        self.functions.push((func, value));
    }

    /// An alias that no other module can replace is its aliasee; any other is a symbol that is
    /// defined elsewhere.
    fn declare_alias(&mut self, value: Val) {
        if self.symbols.contains_key(&value) {
            return;
        }
        if !is_replaceable(value) {
            let aliasee = ll::aliasee(value);
            if ll::is_global_alias(aliasee) {
                self.declare_alias(aliasee);
            }
            if let Some(place) = self.address_of(aliasee) {
                self.symbols.insert(value, place);
                return;
            }
        }
        if ll::type_kind(ll::value_type(value)) == ll::LLVMTypeKind::LLVMFunctionTypeKind {
            self.declare_function(value);
        } else {
            self.declare_global(value);
        }
    }

    fn signature(&mut self, ty: Ty) -> ir::Signature {
        let params = ll::param_types(ty);
        ir::Signature {
            params: params.into_iter().map(|t| self.ty(t)).collect(),
            ret: self.ty(ll::return_type(ty)),
            variadic: ll::is_variadic(ty),
        }
    }
}

fn is_local(value: Val) -> bool {
    use ll::LLVMLinkage::*;
    matches!(ll::linkage(value), LLVMInternalLinkage | LLVMPrivateLinkage)
}

/// Whether the linker may take another definition with another meaning.
fn is_replaceable(value: Val) -> bool {
    use ll::LLVMLinkage::*;
    matches!(
        ll::linkage(value),
        LLVMWeakAnyLinkage | LLVMLinkOnceAnyLinkage | LLVMCommonLinkage | LLVMExternalWeakLinkage
    )
}

/// Whether an operand of an instruction is a value, and not a block, metadata or assembly. The
/// arguments of opaque instructions are exactly these operands, in order.
pub(crate) fn is_plain_operand(value: Val) -> bool {
    if value.is_null() || ll::is_block(value) || ll::is_inline_assembly(value) {
        return false;
    }
    let is_token = ll::type_kind(ll::type_of(value)) == ll::LLVMTypeKind::LLVMTokenTypeKind;
    let is_metadata = ll::value_kind(value) == ll::Kind::LLVMMetadataAsValueValueKind;
    let is_no_token = is_token && ll::is_constant(value);
    !is_metadata && !is_no_token
}
