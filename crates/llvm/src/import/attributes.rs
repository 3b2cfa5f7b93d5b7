//! Attributes of functions, parameters, results and call sites.

use super::Importer;
use crate::known;
use crate::ll::{self, Attr, Val};
use std::collections::HashMap;
use zymase_core::analysis::known::rust;
use zymase_core::ir::{
    AllocInfo, AllocKind, FnAttrs, FnFlags, Freed, Function, MemoryEffects, ModRef, ParamAttrs,
    ParamFlags,
};

/// What an attribute of LLVM means to core.
#[derive(Copy, Clone)]
enum Meaning {
    Param(ParamFlags),
    Function(FnFlags),
    Captures,
    Dereferenceable,
    Align,
    ByVal,
    Sret,
    Memory,
    AllocKind,
    AllocSize,
    AllocPtr,
}

/// The numbers of the attributes that core understands.
pub(super) struct AttributeKinds(HashMap<u32, Meaning>);

impl AttributeKinds {
    pub(super) fn new() -> AttributeKinds {
        let named = [
            ("noalias", Meaning::Param(ParamFlags::NOALIAS)),
            ("readonly", Meaning::Param(ParamFlags::READONLY)),
            ("writeonly", Meaning::Param(ParamFlags::WRITEONLY)),
            ("readnone", Meaning::Param(ParamFlags::READNONE)),
            ("nonnull", Meaning::Param(ParamFlags::NONNULL)),
            ("noundef", Meaning::Param(ParamFlags::NOUNDEF)),
            ("returned", Meaning::Param(ParamFlags::RETURNED)),
            ("signext", Meaning::Param(ParamFlags::SIGNEXT)),
            ("zeroext", Meaning::Param(ParamFlags::ZEROEXT)),
            ("inreg", Meaning::Param(ParamFlags::INREG)),
            ("captures", Meaning::Captures),
            ("dereferenceable", Meaning::Dereferenceable),
            ("align", Meaning::Align),
            ("byval", Meaning::ByVal),
            ("sret", Meaning::Sret),
            ("memory", Meaning::Memory),
            ("allockind", Meaning::AllocKind),
            ("allocsize", Meaning::AllocSize),
            ("allocptr", Meaning::AllocPtr),
            ("noreturn", Meaning::Function(FnFlags::NORETURN)),
            ("nounwind", Meaning::Function(FnFlags::NOUNWIND)),
            ("willreturn", Meaning::Function(FnFlags::WILLRETURN)),
            // On parameters it has a bit of its own, see `param_attributes`.
            ("nofree", Meaning::Function(FnFlags::NOFREE)),
            ("noinline", Meaning::Function(FnFlags::NOINLINE)),
            ("nobuiltin", Meaning::Function(FnFlags::NOBUILTIN)),
        ];
        let known = named.map(|(name, meaning)| (ll::attribute_kind_id(name), meaning));
        AttributeKinds(known.into_iter().filter(|(kind, _)| *kind != 0).collect())
    }

    fn meaning(&self, attribute: Attr) -> Option<Meaning> {
        if ll::is_string_attribute(attribute) {
            return None;
        }
        self.0.get(&ll::attribute_kind(attribute)).copied()
    }
}

impl Importer {
    /// Reads the attributes of a function, its parameters and its result.
    pub(super) fn function_attributes(&mut self, value: Val, function: &mut Function) {
        function.attrs = self.fn_attributes(&ll::attributes(value, ll::FUNCTION_INDEX));
        function.ret = self.param_attributes(&ll::attributes(value, 0));
        for (i, param) in function.params.iter_mut().enumerate() {
            *param = self.param_attributes(&ll::attributes(value, i as u32 + 1));
        }
        let by_name = known::allocation(&function.name);
        if let Some(alloc) = &mut function.attrs.alloc {
            alloc.family = ll::string_attribute(value, "alloc-family").unwrap_or_default();
            alloc.ptr_arg = (0..function.params.len() as u32).find(|i| {
                ll::attributes(value, i + 1)
                    .iter()
                    .any(|a| matches!(self.attributes.meaning(*a), Some(Meaning::AllocPtr)))
            });
        } else if function.is_declaration()
            && !function.attrs.flags.contains(FnFlags::NOBUILTIN)
            && let Some((alloc, params)) = by_name
            && function.sig.params.len() == params
        {
            function.attrs.alloc = Some(alloc);
        }
        if rust::hashes(&function.name) {
            function.attrs.flags |= FnFlags::INACTIVE;
        }
        let dealloc = rust::beside(&function.name, "__rust_dealloc");
        if let (Some(alloc), Some(by)) = (&mut function.attrs.alloc, dealloc)
            && alloc.kind == AllocKind::Alloc
        {
            // Size and alignment are the first arguments of all that allocate in Rust.
            let args = vec![None, Some(0), Some(1)];
            alloc.freed = Some(Freed { by, args });
        }
    }

    /// Reads attributes of a function or call site.
    pub(super) fn fn_attributes(&self, attributes: &[Attr]) -> FnAttrs {
        let mut out = FnAttrs::default();
        let mut alloc: Option<(u64, Option<u64>)> = None;
        for &attribute in attributes {
            let value = || ll::attribute_value(attribute);
            match self.attributes.meaning(attribute) {
                Some(Meaning::Function(flag)) => out.flags |= flag,
                Some(Meaning::Memory) => out.memory = memory_effects(value()),
                Some(Meaning::AllocKind) => alloc.get_or_insert((0, None)).0 = value(),
                Some(Meaning::AllocSize) => alloc.get_or_insert((0, None)).1 = Some(value()),
                _ => {}
            }
        }
        out.alloc = alloc.and_then(|(kind, size)| alloc_info(kind, size));
        out
    }

    /// Reads attributes of a parameter, an argument or a result.
    pub(super) fn param_attributes(&mut self, attributes: &[Attr]) -> ParamAttrs {
        let mut out = ParamAttrs::default();
        for &attribute in attributes {
            let value = || ll::attribute_value(attribute);
            match self.attributes.meaning(attribute) {
                Some(Meaning::Param(flag)) => out.flags |= flag,
                Some(Meaning::Function(FnFlags::NOFREE)) => out.flags |= ParamFlags::NOFREE,
                Some(Meaning::Captures) if value() == 0 => out.flags |= ParamFlags::NOCAPTURE,
                Some(Meaning::Dereferenceable) => out.dereferenceable = value(),
                Some(Meaning::Align) => out.align = value() as u32,
                Some(Meaning::ByVal) => out.byval = Some(self.ty(ll::attribute_type(attribute))),
                Some(Meaning::Sret) => out.sret = Some(self.ty(ll::attribute_type(attribute))),
                _ => {}
            }
        }
        out
    }
}

/// Decodes `memory(…)`: two bits, read and write, for each kind of memory.
fn memory_effects(bits: u64) -> MemoryEffects {
    let at = |location: u32| ModRef::from_bits_truncate((bits >> (2 * location)) as u8 & 3);
    // Locations 2 (errno), 4 and 5 (memory special to the target) are other memory to core.
    MemoryEffects {
        arguments: at(0),
        inaccessible: at(1),
        other: at(2) | at(3) | at(4) | at(5),
    }
}

/// Decodes `allockind(…)` and `allocsize(…)`.
fn alloc_info(kind: u64, size: Option<u64>) -> Option<AllocInfo> {
    const ALLOC: u64 = 1;
    const REALLOC: u64 = 2;
    const FREE: u64 = 4;
    const ZEROED: u64 = 16;
    let which = match kind {
        k if k & ALLOC != 0 => AllocKind::Alloc,
        k if k & REALLOC != 0 => AllocKind::Realloc,
        k if k & FREE != 0 => AllocKind::Free,
        _ => return None,
    };
    let mut size_args = Vec::new();
    if let Some(packed) = size {
        size_args.push((packed >> 32) as u32);
        if packed as u32 != u32::MAX {
            size_args.push(packed as u32);
        }
    }
    Some(AllocInfo {
        kind: which,
        zeroed: kind & ZEROED != 0,
        family: String::new(),
        size_args,
        ptr_arg: None,
        freed: None,
    })
}
