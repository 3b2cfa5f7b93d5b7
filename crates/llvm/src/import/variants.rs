//! What debug information says of the variants of an enum.
//!
//! Which variant a value is differs from value to value, so an enum says of its bytes what all
//! variants agree in that say something of them. A variant without data says nothing: the bytes of
//! `Some(x)` hold a float or nothing at all. Where variants disagree nothing is said.

use super::Importer;
use super::sources::{BASE, Part, Parts, is_derived};
use crate::ll::{self, Md};

/// Where LLVM keeps the number of the variant.
const DISCRIMINATOR: usize = 10;

impl Importer {
    /// Adds the scalars of an enum at an offset, given its variants and its size.
    pub(super) fn variants(
        &self,
        variants: Md,
        at: u64,
        bytes: u64,
        depth: u32,
        parts: &mut Parts,
    ) -> Option<()> {
        let mut all = Parts::new();
        let members = self.members(variants);
        for &variant in &members {
            let mut own = Parts::new();
            let base = match is_derived(variant) {
                true => self.node_operand(variant, BASE)?,
                false => return self.put(parts, at, Part::Any(bytes)),
            };
            self.collect(base, ll::type_offset(variant) / 8, depth - 1, &mut own)?;
            for (offset, part) in own {
                agree(&mut all, offset, part);
            }
        }
        match self.node_operand(variants, DISCRIMINATOR) {
            Some(number) if is_derived(number) => {
                let (start, size) = (ll::type_offset(number) / 8, ll::type_size(number) / 8);
                // Where it has no bytes of its own, it is told by values that some field never has.
                if overlapping(&all, start, size).next().is_none() {
                    all.insert(start, Part::Int(size));
                }
            }
            _ if members.len() == 1 => {}
            _ => return self.put(parts, at, Part::Any(bytes)),
        }
        for (offset, part) in all {
            self.put(parts, at + offset, part)?;
        }
        Some(())
    }
}

/// Adds what one variant says to what the others say.
fn agree(all: &mut Parts, at: u64, part: Part) {
    let others: Vec<(u64, Part)> = overlapping(all, at, part.bytes()).collect();
    let start = others.iter().map(|(at, _)| *at).fold(at, u64::min);
    let ends = others.iter().map(|(at, part)| at + part.bytes());
    let end = ends.fold(at + part.bytes(), u64::max);
    let is_integer = |part: Part| matches!(part, Part::Int(_));
    let agreed = match others[..] {
        [] => part,
        [(same, other)] if (same, other) == (at, part) => part,
        // Pointers to different things.
        [(same, Part::Ptr(_))] if same == at && matches!(part, Part::Ptr(_)) => {
            Part::Ptr(std::ptr::null_mut())
        }
        _ if is_integer(part) && others.iter().all(|(_, part)| is_integer(*part)) => {
            Part::Int(end - start)
        }
        _ => Part::Any(end - start),
    };
    for (at, _) in others {
        all.remove(&at);
    }
    all.insert(start, agreed);
}

/// What is said of some of these bytes.
fn overlapping(all: &Parts, at: u64, bytes: u64) -> impl Iterator<Item = (u64, Part)> {
    let before = all.range(..at + bytes);
    let reaching = before.filter(move |(start, part)| **start + part.bytes() > at);
    reaching.map(|(start, part)| (*start, *part))
}
