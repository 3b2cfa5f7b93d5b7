//! Loops as data: what a region of the control-flow graph computes, as a tree of loops with writes
//! at its leaves.
//!
//! Every write has a *place*, whose address is affine in the counters of the loops around it, and a
//! value, which is an expression of what is loaded, of counters and of values from outside. Loads
//! and writes carry the moment at which the program makes them, in the order of its text; what is
//! loaded is used later, so whoever moves a load to its use has to look at the writes in between.

use crate::analysis::affine::{Affine, Base};
use crate::analysis::loops::Loop;
use crate::ir::{Access, Combiner, Flags, InstData, Loc, Type, Value};
use std::collections::HashMap;

/// An expression of a [`Tree`].
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Id(pub usize);

/// A point in the text of the program: later ones come later in each iteration of the loops around.
pub type Moment = usize;

/// What a region computes.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The expressions.
    pub nodes: Vec<Node>,
    /// What it does, in order.
    pub items: Vec<Item>,
    /// What code after the region gets from it; nothing where it does not use it.
    pub results: Vec<Option<Id>>,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Node {
    /// A value from outside of the region, or a constant.
    Outside(Value),
    /// An integer that is affine in the counters.
    Integer(Affine, Type),
    /// What is in memory.
    Load(Place, Moment),
    /// An operation: an instruction without operands, the type of its result, its operands.
    Op(InstData, Type, Vec<Id>),
}

/// A number in memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// Its address.
    pub address: Affine,
    /// How it is accessed.
    pub access: Access,
    /// Its type.
    pub ty: Type,
}

impl Place {
    /// Whether two places are the same number in the same iteration.
    pub fn is(&self, other: &Place) -> bool {
        self.address == other.address && self.ty == other.ty
    }

    /// Whether this is a certain piece of frame memory.
    pub fn is_at(&self, slot: Value) -> bool {
        self.address.base == Some(Base::Value(slot))
    }

    /// Whether this is one of some slots.
    pub fn is_at_slot(&self, slots: &HashMap<Value, Value>) -> bool {
        slots.values().any(|&slot| self.is_at(slot))
    }

    /// The number of bytes.
    pub fn size(&self) -> i128 {
        self.ty.float_kind().map_or(0, |kind| kind.bytes().into())
    }
}

/// Something that a region does.
#[derive(Clone, Debug)]
pub enum Item {
    /// A loop, and the conditions under which it runs at all.
    Loop(Loop, Vec<(Value, bool)>, Vec<Item>),
    /// A write to memory.
    Write(Write),
}

/// A write to memory.
#[derive(Clone, Debug)]
pub struct Write {
    /// Where to.
    pub place: Place,
    /// What is stored, added and so on.
    pub value: Id,
    /// How it is joined with what is there.
    pub join: Join,
    /// When.
    pub at: Moment,
    /// The place in the source program.
    pub loc: Option<Loc>,
}

/// How a written number is joined with what is there.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Join {
    /// What is done with both.
    pub combiner: Combiner,
    /// How that may be rounded.
    pub flags: Flags,
}

impl Join {
    /// The number takes the place of what was there.
    pub const STORE: Join = Join {
        combiner: Combiner::Store,
        flags: Flags::empty(),
    };

    /// Whether the number takes the place of what was there.
    pub fn is_store(self) -> bool {
        self.combiner == Combiner::Store
    }

    /// Whether several numbers may be joined with the same place in any order.
    pub fn is_free(self) -> bool {
        !self.is_store() && self.flags.contains(Flags::REASSOC)
    }
}

impl Tree {
    /// A new expression.
    pub fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        Id(self.nodes.len() - 1)
    }

    /// An expression.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0]
    }

    /// Calls `f` on all loads of an expression.
    pub fn for_each_load(&self, id: Id, f: &mut dyn FnMut(Id, &Place, Moment)) {
        match self.node(id) {
            Node::Load(place, at) => f(id, place, *at),
            Node::Op(_, _, args) => args.iter().for_each(|&arg| self.for_each_load(arg, f)),
            Node::Outside(_) | Node::Integer(..) => {}
        }
    }

    /// Whether an expression loads from a certain piece of frame memory.
    pub fn loads_from(&self, id: Id, slot: Value) -> bool {
        let mut found = false;
        self.for_each_load(id, &mut |_, place, _| found |= place.is_at(slot));
        found
    }

    /// Whether an expression is what a certain piece of frame memory holds, and nothing else.
    pub fn is_load_from(&self, id: Id, slot: Value) -> bool {
        matches!(self.node(id), Node::Load(place, _) if place.is_at(slot))
    }
}

impl Item {
    /// Calls `f` on every write in the item.
    pub fn for_each_write<'a>(&'a self, f: &mut dyn FnMut(&'a Write)) {
        match self {
            Item::Loop(_, _, items) => items.iter().for_each(|item| item.for_each_write(f)),
            Item::Write(write) => f(write),
        }
    }

    /// Calls `f` on every write in the item, to change it.
    pub fn for_each_write_mut(&mut self, f: &mut dyn FnMut(&mut Write)) {
        match self {
            Item::Loop(_, _, items) => items.iter_mut().for_each(|item| item.for_each_write_mut(f)),
            Item::Write(write) => f(write),
        }
    }
}
