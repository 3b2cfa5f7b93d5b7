//! Locations, type-based alias classes and alias scopes.

use super::Importer;
use crate::ll::{self, Ctx, Md, Val};
use llvm_sys::debuginfo::LLVMMetadataKind as Kind;
use zymase_core::ir::{Access, Loc, LocData, Scope, ScopeData, Tbaa, TbaaData};

/// The numbers of the metadata kinds that core understands.
pub(super) struct MetadataKinds {
    tbaa: u32,
    pub(super) dbg: u32,
    alias_scope: u32,
    noalias: u32,
}

impl MetadataKinds {
    pub(super) fn new(context: Ctx) -> MetadataKinds {
        MetadataKinds {
            tbaa: ll::metadata_kind_id(context, "tbaa"),
            dbg: ll::metadata_kind_id(context, "dbg"),
            alias_scope: ll::metadata_kind_id(context, "alias.scope"),
            noalias: ll::metadata_kind_id(context, "noalias"),
        }
    }
}

impl Importer {
    /// The source location of an instruction.
    pub(super) fn location(&mut self, inst: Val) -> Option<Loc> {
        self.location_of(ll::debug_location(inst))
    }

    fn location_of(&mut self, metadata: Md) -> Option<Loc> {
        if metadata.is_null() {
            return None;
        }
        if let Some(&known) = self.locs.get(&metadata) {
            return Some(known);
        }
        // Chains of inlined calls are as long as the program's nesting; each link is read once.
        let inlined_at = self.location_of(ll::location_inlined_at(metadata));
        let (file, function) = self.scope_name(ll::location_scope(metadata));
        let origin = self.origins.add_metadata(metadata);
        let loc = self.module.locs.push(LocData {
            file,
            line: ll::location_line(metadata),
            column: ll::location_column(metadata),
            function,
            inlined_at,
            origin: Some(origin),
        });
        self.locs.insert(metadata, loc);
        Some(loc)
    }

    /// How many parameters a function has in the source program, if debug information says it.
    pub(super) fn source_params(&self, function: Val) -> Option<usize> {
        let operand = |node: Md, wanted: Kind| {
            let operands = ll::node_operands(ll::metadata_as_value(self.context, node));
            let wanted = wanted as u32;
            let operands = operands.into_iter().filter(|v| !v.is_null());
            let mut operands = operands.map(ll::as_metadata);
            operands.find(|&node| ll::metadata_kind(node) as u32 == wanted)
        };
        let subprogram = Some(ll::subprogram(function)).filter(|node| !node.is_null())?;
        let ty = Kind::LLVMDISubroutineTypeMetadataKind;
        let list = Kind::LLVMMDTupleMetadataKind;
        let types = operand(operand(subprogram, ty)?, list)?;
        // The first is that of the result.
        let types = ll::node_operands(ll::metadata_as_value(self.context, types));
        types.len().checked_sub(1)
    }

    /// The file and the function of a scope.
    fn scope_name(&mut self, scope: Md) -> (String, String) {
        if let Some(known) = self.scope_names.get(&scope) {
            return known.clone();
        }
        let file = ll::file_name(ll::scope_file(scope));
        // Lexical blocks have their scope at 1, subprograms their name at 2.
        let mut function = String::new();
        let mut next = scope;
        while !next.is_null() {
            let operands = ll::node_operands(ll::metadata_as_value(self.context, next));
            match ll::metadata_kind(next) {
                Kind::LLVMDILexicalBlockMetadataKind | Kind::LLVMDILexicalBlockFileMetadataKind => {
                    next = match operands.get(1) {
                        Some(&parent) if !parent.is_null() => ll::as_metadata(parent),
                        _ => std::ptr::null_mut(),
                    };
                }
                Kind::LLVMDISubprogramMetadataKind => {
                    let name = operands.get(2).and_then(|&v| ll::metadata_string(v));
                    function = name.unwrap_or_default();
                    break;
                }
                _ => break,
            }
        }
        let named = (file, function);
        self.scope_names.insert(scope, named.clone());
        named
    }

    /// Adds to an access what the metadata of its instruction says about aliases.
    pub(super) fn alias_metadata(&mut self, inst: Val, access: &mut Access) {
        let tag = ll::metadata(inst, self.kinds.tbaa);
        if !tag.is_null() {
            access.tbaa = self.tbaa_of_tag(tag);
        }
        access.scopes = self.scope_list(ll::metadata(inst, self.kinds.alias_scope));
        access.noalias = self.scope_list(ll::metadata(inst, self.kinds.noalias));
    }

    /// The class of an access tag: for the path form the type of what is accessed in the end.
    fn tbaa_of_tag(&mut self, tag: Val) -> Option<Tbaa> {
        let operands = ll::node_operands(tag);
        match operands.first() {
            Some(&first) if is_node(first) && operands.len() >= 3 => {
                let access = operands[1];
                is_node(access).then(|| self.tbaa_class(access)).flatten()
            }
            _ => self.tbaa_class(tag),
        }
    }

    fn tbaa_class(&mut self, node: Val) -> Option<Tbaa> {
        if let Some(&known) = self.tbaa.get(&node) {
            return known;
        }
        // Guards against cycles, which only broken metadata has.
        self.tbaa.insert(node, None);
        let operands = ll::node_operands(node);
        // Nodes are {name, parent, …}, or {parent, size, name, …} in the newer format.
        let (name, parent) = match operands.first() {
            Some(&first) if is_node(first) => (operands.get(2).copied(), Some(first)),
            first => (first.copied(), operands.get(1).copied()),
        };
        let name = name.and_then(ll::metadata_string)?;
        let parent = parent
            .filter(|&p| is_node(p))
            .and_then(|p| self.tbaa_class(p));
        let class = self.module.tbaa.push(TbaaData { name, parent });
        self.origins.tbaa.insert(class, ll::as_metadata(node));
        self.tbaa.insert(node, Some(class));
        Some(class)
    }

    fn scope_list(&mut self, list: Val) -> Vec<Scope> {
        if list.is_null() {
            return Vec::new();
        }
        let nodes = ll::node_operands(list);
        nodes
            .into_iter()
            .filter(|&node| is_node(node))
            .map(|node| self.alias_scope(node))
            .collect()
    }

    fn alias_scope(&mut self, node: Val) -> Scope {
        if let Some(&known) = self.scopes.get(&node) {
            return known;
        }
        let domain = ll::node_operands(node).get(1).copied();
        let domain = domain.unwrap_or(std::ptr::null_mut());
        let next = self.domains.len() as u32;
        let domain = *self.domains.entry(domain).or_insert(next);
        let scope = self.module.scopes.push(ScopeData { domain });
        self.origins.scopes.insert(scope, ll::as_metadata(node));
        self.scopes.insert(node, scope);
        scope
    }
}

fn is_node(value: Val) -> bool {
    !value.is_null() && ll::is_metadata_node(value)
}
