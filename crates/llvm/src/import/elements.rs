//! Types of memory that generic functions of Rust's library move.
//!
//! `ptr::copy_nonoverlapping::<T>`, `ptr::read::<T>` and their like move values of the type `T`,
//! which is a parameter of theirs in debug information. After inlining, the location of a copy, a
//! load or a store still names the function. So its pointers lead to values of that type. Bytes that
//! functions of strings move are characters.

use super::Importer;
use super::function::Body;
use crate::ll::{self, Md, Val};
use llvm_sys::debuginfo::LLVMMetadataKind as Kind;
use zymase_core::ir::{Declared, SourcePart, SourceType, SourceTypeData, Value};

// Where LLVM keeps things in nodes.
const SCOPE: usize = 1;
const NAME_OF_NAMESPACE: usize = 2;
const TEMPLATE_PARAMETERS: usize = 9;
const NAME_OF_PARAMETER: usize = 0;
const TYPE_OF_PARAMETER: usize = 1;

/// The modules of `core` whose generic functions move values of their parameter `T`. Those of
/// `slice` store lengths and indices too, and move values by means of these.
const MODULES: [&str; 3] = ["ptr", "intrinsics", "mem"];

impl Body<'_> {
    /// Takes note of what the pointers of an instruction lead to, if it belongs to a function that
    /// moves values of a type, and moves whole ones. So many bytes are moved, if that is known.
    pub(super) fn declare_moved(&mut self, inst: Val, pointers: &[Value], bytes: Option<u64>) {
        let location = ll::debug_location(inst);
        if location.is_null() {
            return;
        }
        let moved = self.importer.moved_type(ll::location_scope(location));
        let text = || (bytes.is_none_or(|n| n == 1)).then(|| self.importer.text_at(location))?;
        let Some(source) = moved.or_else(text) else {
            return;
        };
        let size = self.importer.module.sources[source].size;
        if size > 0 && bytes.is_none_or(|bytes| bytes % size == 0) {
            for &pointer in pointers {
                self.declare(pointer, Declared::Element(source));
            }
        }
    }
}

impl Importer {
    /// The type of characters, if a location is in a function of strings, or in functions of the
    /// library that one calls.
    fn text_at(&mut self, mut location: Md) -> Option<SourceType> {
        while !location.is_null() {
            let function = self.function_of(ll::location_scope(location))?;
            let path = self.namespaces(self.node_operand(function, SCOPE)?);
            let [.., module, library] = &path[..] else {
                return None;
            };
            if !["core", "alloc"].contains(&library.as_str()) {
                return None;
            }
            if ["str", "string"].contains(&module.as_str()) || path[0] == "memchr" {
                return Some(self.character());
            }
            location = ll::location_inlined_at(location);
        }
        None
    }

    fn character(&mut self) -> SourceType {
        let sources = &mut self.module.sources;
        *self.character.get_or_insert_with(|| {
            let parts = vec![(0, SourcePart::Int(1))];
            sources.push(SourceTypeData { size: 1, parts })
        })
    }

    /// The type of the values that the function of a scope moves.
    fn moved_type(&mut self, scope: Md) -> Option<SourceType> {
        if let Some(&known) = self.moved_types.get(&scope) {
            return known;
        }
        let parameter = self.moved_parameter(scope);
        let source = parameter.and_then(|ty| self.value_type(ty));
        self.moved_types.insert(scope, source);
        source
    }

    /// The function that a scope is, or is in.
    fn function_of(&self, mut scope: Md) -> Option<Md> {
        while is_kind(scope, Kind::LLVMDILexicalBlockMetadataKind)
            || is_kind(scope, Kind::LLVMDILexicalBlockFileMetadataKind)
        {
            scope = self.node_operand(scope, SCOPE)?;
        }
        is_kind(scope, Kind::LLVMDISubprogramMetadataKind).then_some(scope)
    }

    fn moved_parameter(&self, scope: Md) -> Option<Md> {
        let function = self.function_of(scope)?;
        let path = self.namespaces(self.node_operand(function, SCOPE)?);
        let [.., module, library] = &path[..] else {
            return None;
        };
        if library != "core" || !MODULES.contains(&module.as_str()) {
            return None;
        }
        let parameters = self.node_operand(function, TEMPLATE_PARAMETERS)?;
        let parameters = ll::node_operands(ll::metadata_as_value(self.context, parameters));
        parameters.into_iter().find_map(|parameter| {
            let operands = ll::node_operands(parameter);
            let name = ll::metadata_string(*operands.get(NAME_OF_PARAMETER)?)?;
            let ty = *operands.get(TYPE_OF_PARAMETER)?;
            (name == "T" && !ty.is_null()).then(|| ll::as_metadata(ty))
        })
    }

    /// The names of a namespace and of those around it.
    fn namespaces(&self, mut scope: Md) -> Vec<String> {
        let mut names = Vec::new();
        while is_kind(scope, Kind::LLVMDINamespaceMetadataKind) {
            let operands = ll::node_operands(ll::metadata_as_value(self.context, scope));
            let name = operands.get(NAME_OF_NAMESPACE);
            names.extend(name.and_then(|&name| ll::metadata_string(name)));
            match self.node_operand(scope, SCOPE) {
                Some(around) => scope = around,
                None => break,
            }
        }
        names
    }
}

fn is_kind(node: Md, kind: Kind) -> bool {
    !node.is_null() && ll::metadata_kind(node) as u32 == kind as u32
}
