//! What is behind a pointer, held once for all pointers that lead to the same.
//!
//! The nodes of a tree point to each other, so what is behind one contains what is behind the
//! others several times over, to the depth at which shapes end. Such a shape is huge when it is
//! written down and small when equal parts are shared. So the parts are shared: whoever makes
//! what was made before gets the same one, two of them are compared by their addresses first, and
//! what was learned by one from another is remembered. All of this is about speed: the answers
//! are those of plain shapes.

use super::{Cell, Shape};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A shape that is shared.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Node>);

#[derive(Debug)]
struct Node {
    shape: Shape,
    hash: u64,
    /// How many pointers in a row lead on from a pointer to this shape.
    height: u32,
}

/// What was made so far, forgotten once it is this much.
const MOST_REMEMBERED: usize = 1 << 16;

#[derive(Default)]
struct Made {
    shapes: HashSet<Shared>,
    merged: HashMap<(Shared, Shared, u32), Shared>,
}

thread_local! {
    static MADE: RefCell<Made> = RefCell::default();
}

impl Shared {
    /// A shape to be shared.
    pub fn new(shape: Shape) -> Shared {
        let mut hasher = DefaultHasher::new();
        shape.hash(&mut hasher);
        let height = match shape.is_empty() {
            true => 0,
            false => 1 + shape.cells().map(Cell::height).max().unwrap_or(0),
        };
        let hash = hasher.finish();
        let made = Shared(Arc::new(Node {
            shape,
            hash,
            height,
        }));
        MADE.with_borrow_mut(|all| {
            if let Some(same) = all.shapes.get(&made) {
                return same.clone();
            }
            if all.shapes.len() >= MOST_REMEMBERED {
                *all = Made::default();
            }
            all.shapes.insert(made.clone());
            made
        })
    }

    /// How many pointers in a row lead on from a pointer to this shape.
    pub(super) fn height(&self) -> u32 {
        self.0.height
    }

    /// This shape with what another one knows, following so many pointers.
    pub(super) fn merged(&self, other: &Shared, depth: u32) -> Shared {
        let key = (self.clone(), other.clone(), depth);
        if let Some(known) = MADE.with_borrow(|all| all.merged.get(&key).cloned()) {
            return known;
        }
        let mut both = self.0.shape.clone();
        let merged = match both.merge_limited(other, depth) {
            true => Shared::new(both),
            false => self.clone(),
        };
        MADE.with_borrow_mut(|all| {
            if all.merged.len() >= MOST_REMEMBERED {
                all.merged.clear();
            }
            all.merged.insert(key, merged.clone());
        });
        merged
    }
}

impl Default for Shared {
    fn default() -> Shared {
        Shared::new(Shape::default())
    }
}

impl Deref for Shared {
    type Target = Shape;

    fn deref(&self) -> &Shape {
        &self.0.shape
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Shared) -> bool {
        let same = Arc::ptr_eq(&self.0, &other.0);
        same || (self.0.hash == other.0.hash && self.0.shape == other.0.shape)
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}
