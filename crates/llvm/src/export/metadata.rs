//! Metadata of instructions: copied from where they were read, and what core knows of aliases.

use super::{Exporter, Mode};
use crate::ll::{self, Md, Val};
use llvm_sys::debuginfo::LLVMMetadataKind;
use zymase_core::ir::{Access, Flags, Inst, Op, Region, Scope};

/// The alias scopes of the regions of memory, in one domain for each function.
pub(super) struct RegionScopes {
    primal: Md,
    tape: Md,
    shadow: Md,
    frame: Md,
}

impl RegionScopes {
    fn of(&self, region: Region) -> Option<Md> {
        match region {
            Region::User => None,
            Region::Primal => Some(self.primal),
            Region::Tape => Some(self.tape),
            Region::Shadow => Some(self.shadow),
            Region::Frame => Some(self.frame),
        }
    }

    /// The scopes that an access in a region does not touch: those of all other regions. An
    /// access of the region `user` may touch any memory.
    fn not_of(&self, region: Region) -> impl Iterator<Item = Md> {
        Region::ALL
            .iter()
            .copied()
            .filter(move |other| region != Region::User && *other != region)
            .filter_map(|other| self.of(other))
    }
}

impl Exporter<'_> {
    /// Scopes for the regions, if the function accesses any but the user's.
    pub(super) fn make_region_scopes(&self) -> Option<RegionScopes> {
        let used = self.function.blocks().iter().any(|&block| {
            self.function.block_insts(block).iter().any(|&inst| {
                let accesses = self.function.inst(inst).op.accesses();
                accesses.iter().any(|access| access.region != Region::User)
            })
        });
        if !used {
            return None;
        }
        let c = self.origins.context;
        let name = |text: &str| ll::make_string(c, text);
        let domain = ll::make_self_node(c, &[name(&self.function.name)]);
        let scope = |text: &str| ll::make_self_node(c, &[domain, name(text)]);
        Some(RegionScopes {
            primal: scope("primal"),
            tape: scope("tape"),
            shadow: scope("shadow"),
            frame: scope("frame"),
        })
    }

    /// Says what core knows about aliases of an access, or of both sides of a copy.
    pub(super) fn attach_alias_metadata(&mut self, value: Val, accesses: &[&Access]) {
        let Some((first, rest)) = accesses.split_first() else {
            return;
        };
        // A copy is in a scope, or out of it, if both its sides are.
        let on_all = |pick: fn(&Access) -> &Vec<Scope>| {
            let everywhere = |scope: &&Scope| rest.iter().all(|other| pick(other).contains(scope));
            let scopes = pick(first).iter().filter(everywhere);
            scopes.copied().collect::<Vec<Scope>>()
        };
        let scopes = on_all(|access| &access.scopes);
        let noalias = on_all(|access| &access.noalias);
        let mut scopes: Vec<Md> = scopes.into_iter().map(|scope| self.scope(scope)).collect();
        let mut noalias: Vec<Md> = noalias.into_iter().map(|scope| self.scope(scope)).collect();
        if let Some(regions) = &self.regions
            && rest.iter().all(|other| other.region == first.region)
        {
            scopes.extend(regions.of(first.region));
            noalias.extend(regions.not_of(first.region));
        }
        self.attach_list(value, "alias.scope", &scopes);
        self.attach_list(value, "noalias", &noalias);
        let same_class = rest.iter().all(|other| other.tbaa == first.tbaa);
        if let Some(class) = first.tbaa.filter(|_| same_class)
            && self.module.tbaa[class].parent.is_some()
            && let Some(&node) = self.origins.tbaa.get(&class)
        {
            let c = self.origins.context;
            let zero = ll::as_metadata(ll::null(ll::int_type(c, 64)));
            let tag = ll::make_node(c, &[node, node, zero]);
            self.attach(value, "tbaa", tag);
        }
    }

    /// The node of a scope, which core may have made itself.
    fn scope(&mut self, scope: Scope) -> Md {
        if let Some(&known) = self.origins.scopes.get(&scope) {
            return known;
        }
        let c = self.origins.context;
        let name = |text: &str| ll::make_string(c, text);
        let domains = self.origins.domains.entry(self.module.scopes[scope].domain);
        let domain =
            *domains.or_insert_with(|| ll::make_self_node(c, &[name("fields of a record")]));
        let node = ll::make_self_node(c, &[domain, name("field")]);
        self.origins.scopes.insert(scope, node);
        node
    }

    fn attach_list(&mut self, value: Val, kind: &str, nodes: &[Md]) {
        if !nodes.is_empty() {
            let list = ll::make_node(self.origins.context, nodes);
            self.attach(value, kind, list);
        }
    }

    fn attach(&mut self, value: Val, kind: &str, node: Md) {
        let c = self.origins.context;
        let kind = ll::metadata_kind_id(c, kind);
        ll::set_metadata(value, kind, ll::metadata_as_value(c, node));
    }

    /// Copies the metadata of what an instruction was read from.
    ///
    /// In a new function the lists of alias scopes come from core alone, loops get a name of their
    /// own, and what ties an instruction to a variable of the original function is left out.
    pub(super) fn attach_metadata(&mut self, inst: Inst, value: Val) {
        let Some(origin) = self.origin_of(inst) else {
            return;
        };
        let c = self.origins.context;
        let is_access = !self.function.inst(inst).op.accesses().is_empty();
        let is_math = matches!(self.function.inst(inst).op, Op::Math(_));
        if !is_math && ll::opcode(origin) != ll::opcode(value) {
            return;
        }
        let kind_of = |name: &str| ll::metadata_kind_id(c, name);
        let (scope, noalias) = (kind_of("alias.scope"), kind_of("noalias"));
        let (assign, in_loop) = (kind_of("DIAssignID"), kind_of("llvm.loop"));
        for (kind, node) in ll::all_metadata(origin) {
            let node = if self.mode == Mode::Replace {
                ll::metadata_as_value(c, node)
            } else if kind == assign {
                std::ptr::null_mut()
            } else if is_access && (kind == scope || kind == noalias) {
                continue;
            } else if kind == in_loop {
                self.own_loop(node)
            } else {
                ll::metadata_as_value(c, node)
            };
            ll::set_metadata(value, kind, node);
        }
    }

    /// Says of the loop that an edge back belongs to that its iterations are not to be put side by
    /// side, if that is so.
    pub(super) fn attach_width(&mut self, inst: Inst, value: Val) {
        if !self.function.inst(inst).flags.contains(Flags::WIDE) {
            return;
        }
        let c = self.origins.context;
        let no = ll::as_metadata(ll::int_constant(ll::int_type(c, 1), 0));
        let enable = ll::make_string(c, "llvm.loop.vectorize.enable");
        let property = ll::make_node(c, &[enable, no]);
        self.attach(value, "llvm.loop", ll::make_self_node(c, &[property]));
    }

    /// A loop's properties under another name, without the locations, which are of another
    /// function.
    fn own_loop(&mut self, node: Md) -> Val {
        if let Some(&known) = self.loops.get(&node) {
            return known;
        }
        let c = self.origins.context;
        let operands = ll::node_operands(ll::metadata_as_value(c, node));
        let properties: Vec<Md> = operands
            .into_iter()
            .skip(1)
            .filter(|operand| !operand.is_null())
            .map(ll::as_metadata)
            .filter(|&m| !is_location(m))
            .collect();
        // A loop without properties, as C++ has them, needs no name.
        let own = match properties.is_empty() {
            true => std::ptr::null_mut(),
            false => ll::metadata_as_value(c, ll::make_self_node(c, &properties)),
        };
        self.loops.insert(node, own);
        own
    }
}

fn is_location(metadata: Md) -> bool {
    matches!(
        ll::metadata_kind(metadata),
        LLVMMetadataKind::LLVMDILocationMetadataKind
    )
}
