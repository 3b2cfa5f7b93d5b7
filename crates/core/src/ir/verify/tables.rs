//! What stands outside of functions: names, globals, and the tables that instructions refer to.

use super::{VerifyError, check_align, check_symbol};
use crate::ir::{GlobalData, Module, SourcePart};
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use std::collections::HashSet;

/// Checks everything but the functions themselves.
pub(super) fn verify_tables(module: &Module, errors: &mut Vec<VerifyError>) {
    let mut report = |message: String| {
        errors.push(VerifyError {
            function: None,
            block: None,
            inst: None,
            message,
        });
    };
    let layout = &module.layout;
    let sizes = [
        layout.pointer_bytes,
        layout.max_int_align,
        layout.max_vector_align,
    ];
    if !layout.pointer_bytes.is_power_of_two() || sizes.contains(&0) {
        report("the sizes of the layout make no sense".to_string());
    }
    let mut names = HashSet::new();
    let funcs = module.funcs.values().map(|f| &f.name);
    for name in module.globals.values().map(|g| &g.name).chain(funcs) {
        if !names.insert(name) {
            report(format!("there are two symbols @{name}"));
        }
    }
    for data in module.globals.values() {
        if let Err(message) = verify_global(module, data) {
            report(format!("@{}: {message}", data.name));
        }
    }
    for rule in &module.rules {
        let mut funcs = rule.parts.iter().chain([&rule.func]);
        if !funcs.all(|&func| module.funcs.is_valid(func)) {
            report("a rule is about a function that is not there".to_string());
        }
    }
    if let Some(entry) = broken_chain(&module.tbaa, |data| data.parent) {
        report(format!("tbaa {}: no root above it", entry.as_u32()));
    }
    for (source, data) in &module.sources {
        let behind = data.parts.iter().filter_map(|(_, part)| match part {
            SourcePart::Ptr(to) => *to,
            _ => None,
        });
        if behind.into_iter().any(|to| !module.sources.is_valid(to)) {
            report(format!("source {}: refers to nothing", source.as_u32()));
        }
    }
    if let Some(entry) = broken_chain(&module.locs, |data| data.inlined_at) {
        let number = entry.as_u32();
        report(format!("loc {number}: no end to where it is inlined"));
    }
}

fn verify_global(module: &Module, data: &GlobalData) -> Result<(), String> {
    check_align(data.align)?;
    let Some(init) = &data.init else {
        return Ok(());
    };
    if init.bytes.len() as u64 > data.size {
        return Err("the initial content is longer than the variable".to_string());
    }
    for &(at, symbol, _) in &init.relocations {
        check_symbol(module, symbol)?;
        let end = at.checked_add(u64::from(module.layout.pointer_bytes));
        if end.is_none_or(|end| end > data.size) {
            return Err(format!("the address at {at} is outside of the variable"));
        }
    }
    Ok(())
}

/// The first entry whose chain of references leaves the table or never ends.
fn broken_chain<K: EntityRef, D>(
    table: &PrimaryMap<K, D>,
    next: impl Fn(&D) -> Option<K>,
) -> Option<K> {
    // Each entry is walked once: a walk stops at entries of earlier walks, which are known to be
    // good, and has come round when it meets one of its own.
    let mut walk_of: SecondaryMap<K, usize> = SecondaryMap::new();
    for (walk, start) in (1..).zip(table.keys()) {
        let mut at = Some(start);
        while let Some(entry) = at {
            if !table.is_valid(entry) || walk_of[entry] == walk {
                return Some(start);
            }
            if walk_of[entry] != 0 {
                break;
            }
            walk_of[entry] = walk;
            at = next(&table[entry]);
        }
    }
    None
}
