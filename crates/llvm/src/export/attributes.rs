//! Attributes of new functions and new call sites: what core says, and nothing else.

use super::Exporter;
use crate::ll::{self, Attr, Val};
use crate::origin::Origins;
use zymase_core::ir::{
    Call, FnAttrs, FnFlags, Function, MemoryEffects, ModRef, ParamAttrs, ParamFlags,
};

const PARAM_FLAGS: [(ParamFlags, &str); 11] = [
    (ParamFlags::NOALIAS, "noalias"),
    (ParamFlags::READONLY, "readonly"),
    (ParamFlags::WRITEONLY, "writeonly"),
    (ParamFlags::READNONE, "readnone"),
    (ParamFlags::NOCAPTURE, "captures"),
    (ParamFlags::NONNULL, "nonnull"),
    (ParamFlags::NOUNDEF, "noundef"),
    (ParamFlags::NOFREE, "nofree"),
    (ParamFlags::SIGNEXT, "signext"),
    (ParamFlags::ZEROEXT, "zeroext"),
    (ParamFlags::INREG, "inreg"),
];

const FUNCTION_FLAGS: [(FnFlags, &str); 8] = [
    (FnFlags::NORETURN, "noreturn"),
    (FnFlags::NOUNWIND, "nounwind"),
    (FnFlags::WILLRETURN, "willreturn"),
    (FnFlags::NOFREE, "nofree"),
    (FnFlags::NOINLINE, "noinline"),
    (FnFlags::NOBUILTIN, "nobuiltin"),
    (FnFlags::RARE, "cold"),
    (FnFlags::RARE, "optsize"),
];

/// How an argument is passed; caller and callee must agree on these.
const CONVENTION: ParamFlags = ParamFlags::SIGNEXT
    .union(ParamFlags::ZEROEXT)
    .union(ParamFlags::INREG);

/// Gives a new function the attributes that core knows, and local symbols their linkage.
pub(super) fn set_function_attributes(origins: &mut Origins, function: &Function, target: Val) {
    let add = |index, attribute| ll::add_function_attribute(target, index, attribute);
    for attribute in of_function(origins, &function.attrs) {
        add(ll::FUNCTION_INDEX, attribute);
    }
    for attribute in of_param(origins, &function.ret) {
        add(0, attribute);
    }
    for (i, param) in function.params.iter().enumerate() {
        for attribute in of_param(origins, param) {
            add(i as u32 + 1, attribute);
        }
    }
    if function.local {
        ll::set_linkage(target, ll::LLVMLinkage::LLVMInternalLinkage);
    }
}

/// Gives a new call site the attributes that core knows, and those that say how arguments are
/// passed to the function it calls.
pub(super) fn set_call_attributes(
    origins: &mut Origins,
    call: &Call,
    declared: Option<&Function>,
    made: Val,
) {
    for attribute in of_function(origins, &call.attrs) {
        ll::add_call_attribute(made, ll::FUNCTION_INDEX, attribute);
    }
    for (i, arg) in call.args.iter().enumerate() {
        let mut arg = arg.clone();
        if let Some(param) = declared.and_then(|f| f.params.get(i)) {
            arg.flags |= param.flags & CONVENTION;
            if arg.byval.is_none() && param.byval.is_some() {
                arg.byval = param.byval;
                arg.align = param.align;
            }
            arg.sret = arg.sret.or(param.sret);
        }
        for attribute in of_param(origins, &arg) {
            ll::add_call_attribute(made, i as u32 + 1, attribute);
        }
    }
}

fn of_function(origins: &Origins, attrs: &FnAttrs) -> Vec<Attr> {
    let c = origins.context;
    let mut out: Vec<Attr> = FUNCTION_FLAGS
        .iter()
        .filter(|(flag, _)| attrs.flags.contains(*flag))
        .map(|(_, name)| ll::enum_attribute(c, ll::attribute_kind_id(name), 0))
        .collect();
    if attrs.memory != MemoryEffects::default() {
        let kind = ll::attribute_kind_id("memory");
        out.push(ll::enum_attribute(c, kind, memory_bits(attrs.memory)));
    }
    out
}

fn of_param(origins: &mut Origins, attrs: &ParamAttrs) -> Vec<Attr> {
    let c = origins.context;
    let mut out: Vec<Attr> = PARAM_FLAGS
        .iter()
        .filter(|(flag, _)| attrs.flags.contains(*flag))
        // The number 0 means `none` for `captures` and nothing for the others.
        .map(|(_, name)| ll::enum_attribute(c, ll::attribute_kind_id(name), 0))
        .collect();
    if attrs.dereferenceable != 0 {
        let kind = ll::attribute_kind_id("dereferenceable");
        out.push(ll::enum_attribute(c, kind, attrs.dereferenceable));
    }
    if attrs.align != 0 {
        let kind = ll::attribute_kind_id("align");
        out.push(ll::enum_attribute(c, kind, u64::from(attrs.align)));
    }
    for (name, ty) in [("byval", attrs.byval), ("sret", attrs.sret)] {
        if let Some(ty) = ty.map(|ty| origins.llvm_type(ty)) {
            out.push(ll::type_attribute(c, ll::attribute_kind_id(name), ty));
        }
    }
    out
}

/// Two bits for each of LLVM's six kinds of memory; core's other memory is four of them.
fn memory_bits(effects: MemoryEffects) -> u64 {
    let bits = |effect: ModRef| u64::from(effect.bits());
    let other = bits(effects.other);
    bits(effects.arguments)
        | bits(effects.inaccessible) << 2
        | (2..6).fold(0, |all, location| all | other << (2 * location))
}

impl Exporter<'_> {
    /// Takes from the function that instructions were read from what code generation needs: the
    /// processor, unwind tables, and the personality if something unwinds here.
    pub(super) fn inherit_from_origin(&mut self) {
        let insts = self.function.blocks().iter();
        let insts = insts.flat_map(|&block| self.function.block_insts(block));
        let parents = insts.filter_map(|&inst| {
            let origin = self.origin_of(inst)?;
            let block = ll::parent_block(origin);
            (!block.is_null()).then(|| ll::parent_function(block))
        });
        let mut parents: Vec<Val> = parents.collect();
        parents.dedup();
        let Some(&first) = parents.first() else {
            return;
        };
        let keys = [
            "target-cpu",
            "target-features",
            "tune-cpu",
            "denormal-fp-math",
        ];
        for key in keys {
            if let Some(value) = ll::string_attribute(first, key) {
                ll::set_string_attribute(self.origins.context, self.target, key, &value);
            }
        }
        let uwtable = ll::attribute_kind_id("uwtable");
        let tables = ll::function_attribute(first, ll::FUNCTION_INDEX, uwtable);
        if !tables.is_null() {
            ll::add_function_attribute(self.target, ll::FUNCTION_INDEX, tables);
        }
        let personal = parents.into_iter().find(|&f| ll::has_personality(f));
        if let Some(function) = personal {
            ll::set_personality(self.target, ll::personality(function));
        }
    }
}
