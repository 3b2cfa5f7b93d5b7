//! Prints what stands around the operands of an instruction: flags before, clauses after.

use super::names::quote_if_needed;
use super::printer::fn_attrs_words;
use crate::ir::{
    Access, Call, Flags, Func, InstData, Module, Ordering, Region, Request, SyncScope, Type,
};

/// How memory is accessed.
pub(super) fn access_clauses(access: &Access) -> Vec<String> {
    let mut clauses = Vec::new();
    if access.align != 0 {
        clauses.push(format!("align {}", access.align));
    }
    if access.volatile {
        clauses.push("volatile".to_string());
    }
    if let Some((ordering, scope)) = access.atomic {
        clauses.push(format!("atomic {}", ordering_text(ordering, scope)));
    }
    if let Some(tbaa) = access.tbaa {
        clauses.push(format!("tbaa {}", tbaa.as_u32()));
    }
    for (word, scopes) in [("scopes", &access.scopes), ("noalias", &access.noalias)] {
        if !scopes.is_empty() {
            let list: Vec<u32> = scopes.iter().map(|scope| scope.as_u32()).collect();
            clauses.push(format!("{word}({})", joined(&list)));
        }
    }
    if access.region != Region::User {
        clauses.push(format!("region {}", access.region.name()));
    }
    clauses
}

pub(super) fn function_name(module: &Module, func: Func) -> String {
    match module.funcs.get(func) {
        Some(function) => format!("@{}", quote_if_needed(&function.name)),
        None => format!("missing{}", func.as_u32()),
    }
}

pub(super) fn call_clauses(call: &Call) -> Vec<String> {
    let convention = (call.convention != 0).then(|| format!("cc {}", call.convention));
    let words = fn_attrs_words(&call.attrs);
    let attrs = (!words.is_empty()).then(|| words.join(" "));
    convention.into_iter().chain(attrs).collect()
}

pub(super) fn request_clauses(request: &Request) -> Vec<String> {
    let mut clauses = Vec::new();
    if request.width != 1 {
        clauses.push(format!("width {}", request.width));
    }
    for (set, word) in [
        (request.primal_return, "primal_return"),
        (request.strong_zero, "strong_zero"),
        (request.runtime_activity, "runtime_activity"),
        (request.tape.caller, "caller_tape"),
        (request.tape.keep, "keep_tape"),
    ] {
        if set {
            clauses.push(word.to_string());
        }
    }
    let promised = request.tape.not_overwritten.iter();
    clauses.extend(promised.map(|position| format!("not_overwritten {position}")));
    let bytes = request.tape.bytes.iter();
    clauses.extend(bytes.map(|bytes| format!("tape_bytes {bytes}")));
    clauses
}

pub(super) fn origin_clause(data: &InstData) -> Option<String> {
    let origin = data.origin?;
    Some(format!("from origin {}", origin.as_u32()))
}

pub(super) fn flags_text(flags: Flags) -> String {
    let mut words = Vec::new();
    let mut rest = flags;
    if flags.contains(Flags::FAST) {
        words.push("fast".to_string());
        rest.remove(Flags::FAST);
    }
    words.extend(rest.iter_names().map(|(name, _)| name.to_lowercase()));
    words.join(" ")
}

pub(super) fn ordering_text(ordering: Ordering, scope: SyncScope) -> String {
    match scope {
        SyncScope::System => ordering.name().to_string(),
        _ => format!("{} {}", ordering.name(), scope.name()),
    }
}

/// A case of a switch, as the signed number of the width of the operand.
pub(super) fn case_text(case: u128, ty: Option<Type>) -> String {
    match ty.and_then(Type::int_bits) {
        Some(bits @ 1..=127) if case >> (bits - 1) == 1 => {
            format!("-{}", (1u128 << bits) - case)
        }
        Some(128) => (case as i128).to_string(),
        _ => case.to_string(),
    }
}

pub(super) fn signed_text(n: i64) -> String {
    let sign = if n < 0 { '-' } else { '+' };
    format!("{sign} {}", n.unsigned_abs())
}

pub(super) fn joined<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    items.join(", ")
}

/// The words that are not empty, with spaces between.
pub(super) fn spaced(words: &[&str]) -> String {
    let words: Vec<&str> = words.iter().copied().filter(|w| !w.is_empty()).collect();
    words.join(" ")
}
