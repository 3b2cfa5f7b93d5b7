//! Which definition of a symbol a derivative takes: the one that the linker will take.
//!
//! Among objects, a strong definition wins over weak ones; members of archives count only if no
//! object defines the symbol. Copies that the language promises to be the same (inline functions,
//! templates) are one definition. Where several remain that may differ, the order of the link, or
//! what else a member of an archive is needed for, would decide: that is an error which names both.

use super::inputs::{Inputs, Unit};
use std::collections::BTreeSet;
use zymase_core::diagnostic::{Code, Diagnostic, Result};
use zymase_llvm::requests::Definition;

/// A definition of a symbol.
struct Candidate<'a> {
    file: &'a str,
    archived: bool,
    kind: Definition,
    /// The unit; none if it is native code without bitcode.
    unit: Option<usize>,
}

/// The unit that defines a symbol for the whole program; none if that unit is `present` already, or
/// nobody defines the symbol in bitcode.
pub fn find(inputs: &Inputs, present: &BTreeSet<usize>, name: &str) -> Result<Option<usize>> {
    let mut candidates = Vec::new();
    for (index, unit) in inputs.units.iter().enumerate() {
        let kind = unit.definition(name)?;
        if kind != Definition::None {
            candidates.push(candidate(index, unit, kind));
        }
    }
    for native in &inputs.natives {
        if let Some(&weak) = native.symbols.get(name) {
            candidates.push(Candidate {
                file: &native.name,
                archived: native.archived,
                kind: match weak {
                    true => Definition::Weak,
                    false => Definition::Only,
                },
                unit: None,
            });
        }
    }
    let chosen =
        choose(&candidates).map_err(|(first, second)| two_definitions(name, first, second));
    let chosen = chosen?;
    // Native code has the last word, and a body that a present unit has is not the one that runs.
    if let Some(native) = chosen.filter(|candidate| candidate.unit.is_none())
        && let Some(own) = candidates.iter().find(|c| c.unit.is_some())
    {
        return Err(two_definitions(name, own.file, native.file));
    }
    let chosen = chosen.and_then(|candidate| candidate.unit);
    Ok(chosen.filter(|unit| !present.contains(unit)))
}

/// The units that are part of the program in any case and not `present` yet.
pub fn always_linked(inputs: &Inputs, present: &BTreeSet<usize>) -> Vec<usize> {
    let units = inputs.units.iter().enumerate();
    let units = units.filter(|(index, unit)| !unit.archived && !present.contains(index));
    units.map(|(index, _)| index).collect()
}

fn candidate(index: usize, unit: &Unit, kind: Definition) -> Candidate<'_> {
    Candidate {
        file: &unit.name,
        archived: unit.archived,
        kind,
        unit: Some(index),
    }
}

/// The definition that counts, or two of which either may.
fn choose<'c, 'a>(
    candidates: &'c [Candidate<'a>],
) -> std::result::Result<Option<&'c Candidate<'a>>, (&'a str, &'a str)> {
    let of = |kind, archived| {
        let fits = move |c: &&Candidate| c.kind == kind && c.archived == archived;
        candidates.iter().filter(fits).collect::<Vec<_>>()
    };
    let strong = of(Definition::Only, false);
    if let [first, rest @ ..] = strong.as_slice() {
        return match rest.first() {
            Some(second) => Err((first.file, second.file)),
            None => Ok(Some(first)),
        };
    }
    let same = candidates.iter().find(|c| c.kind == Definition::Shared);
    let mut open = of(Definition::Weak, false);
    // A weak definition in an object keeps members of archives out only as long as nothing else
    // pulls them in.
    open.extend(of(Definition::Only, true));
    open.extend(of(Definition::Weak, true));
    match (open.as_slice(), same) {
        ([], same) => Ok(same),
        ([one], _) => Ok(Some(one)),
        ([first, second, ..], _) => Err((first.file, second.file)),
    }
}

fn two_definitions(name: &str, first: &str, second: &str) -> Box<Diagnostic> {
    Diagnostic::new(
        Code::DefinedTwice,
        format!("`{name}` is defined in {first} and in {second}"),
        "a derivative needs its body, and the two may differ",
        "link only one of them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(candidates: &[(Definition, bool)], expected: std::result::Result<Option<usize>, ()>) {
        let candidates: Vec<Candidate> = candidates
            .iter()
            .enumerate()
            .map(|(index, &(kind, archived))| Candidate {
                file: "file",
                archived,
                kind,
                unit: Some(index),
            })
            .collect();
        let chosen = choose(&candidates).map(|chosen| chosen.and_then(|c| c.unit));
        assert_eq!(chosen.map_err(drop), expected);
    }

    #[test]
    fn as_linkers_choose() {
        use Definition::{Only, Shared, Weak};
        const OBJECT: bool = false;
        const ARCHIVE: bool = true;
        check(&[], Ok(None));
        check(&[(Weak, OBJECT), (Only, OBJECT)], Ok(Some(1)));
        check(&[(Only, ARCHIVE), (Only, OBJECT)], Ok(Some(1)));
        check(&[(Only, OBJECT), (Only, OBJECT)], Err(()));
        check(&[(Weak, OBJECT), (Weak, OBJECT)], Err(()));
        check(&[(Weak, OBJECT), (Only, ARCHIVE)], Err(()));
        check(&[(Only, ARCHIVE), (Only, ARCHIVE)], Err(()));
        check(&[(Shared, OBJECT), (Shared, ARCHIVE)], Ok(Some(0)));
        check(&[(Shared, OBJECT), (Only, OBJECT)], Ok(Some(1)));
    }
}
