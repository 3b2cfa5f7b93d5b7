//! Constants. A constant has no type of its own: it stands where a type is known.

use super::{Func, Global, Origin};

/// A constant value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// An integer of up to 128 bits, zero-extended.
    Int(u128),
    /// The bit pattern of a float, zero-extended.
    Float(u128),
    /// Zero of any type: the null pointer, all parts of an aggregate zero.
    Zero,
    /// Any value, chosen anew at each use.
    Undef,
    /// The result of a broken promise.
    Poison,
    /// The parts of an aggregate in order.
    Aggregate(Vec<Constant>),
    /// The address of a symbol plus a number of bytes.
    Address(Symbol, i64),
    /// A constant that core does not model.
    Opaque(Origin),
}

/// Something of the module that has an address.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Symbol {
    /// A global variable.
    Global(Global),
    /// A function.
    Func(Func),
}
