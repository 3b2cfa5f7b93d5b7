//! Memory of a known length that is copied: its scalars.

use super::{Kinds, LIKELY, Piece, Shape};

/// The size of a pointer.
const WORD: i64 = 8;

impl Shape {
    /// The scalars in the `len` bytes that a copy moves. What repeats in them more than once may
    /// be an array in a structure, so it says nothing of the rest.
    ///
    /// A word that holds an address at one time and an integer at another, as those of enums do, is
    /// an address: the shadow of an integer is nothing that anybody would miss or follow.
    pub fn copied(&self, len: i64) -> Vec<(i64, Piece)> {
        let mut pieces = self.scalars(0, len, |stride, _| stride >= len && stride != LIKELY);
        let disputed = pieces.iter().filter(|(_, piece)| *piece == Piece::Conflict);
        let disputed: Vec<i64> = disputed.map(|(at, _)| *at).collect();
        for at in disputed {
            let word = at..at + WORD;
            let inside = pieces.iter().filter(|(at, _)| word.contains(at));
            let bytes = inside.filter(|(_, piece)| matches!(piece, Piece::Conflict | Piece::Int));
            if bytes.count() as i64 == WORD && self.is_address_or_integer(at) {
                pieces.retain(|(at, _)| !word.contains(at));
                pieces.push((at, Piece::Ptr));
            }
        }
        pieces.sort_by_key(|(at, _)| *at);
        pieces
    }

    /// Whether the word at an offset was used as an address, and by nobody as a float.
    fn is_address_or_integer(&self, offset: i64) -> bool {
        let word = offset..offset + WORD;
        let elsewhere = word.clone().filter_map(|at| self.in_other_element(at));
        let elsewhere = elsewhere.fold(Kinds::default(), |all, cell| all | cell.kinds());
        let all = self.kinds(offset, WORD) | elsewhere | self.pattern().kinds(offset, WORD);
        let begins = |at: i64| {
            let cells = [self.get(at), self.declared.get(&at), self.likely.get(&at)];
            let mut kinds = cells.into_iter().flatten().map(|cell| cell.kinds());
            kinds.any(|kinds| kinds.contains(Kinds::PTR))
        };
        !all.intersects(Kinds::FLOATS) && word.filter(|&at| begins(at)).eq([offset])
    }
}
