//! Run-time values.
//!
//! Every float carries a tangent, and every byte of an integer may carry a [`Tag`]: a piece of a
//! float's tangent or of a pointer's provenance, or the mark of a byte that was never written.
//! So floats and pointers may travel as integers and come back whole. A tangent of zero is never
//! recorded, which makes a run without seeds a plain run at no extra cost.

use super::memory::ObjectId;
use crate::ir::{FloatKind, soft};
use std::fmt;

/// A run-time value. Its type is known where it stands.
#[derive(Clone, PartialEq, Debug)]
pub enum Val {
    /// An integer of at most 128 bits.
    Int(Int),
    /// A float.
    Float(Float),
    /// A pointer.
    Ptr(Pointer),
    /// The result of a broken promise, of any type. Undef is treated as poison.
    Poison,
    /// The parts of a vector, array or structure.
    Aggregate(Vec<Val>),
}

/// What a byte is besides its value.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub enum Tag {
    /// Nothing more than its value.
    #[default]
    Plain,
    /// Never written, or poison.
    Poison,
    /// Byte `index` of a pointer into an object.
    Pointer {
        /// The object.
        object: ObjectId,
        /// Which byte of the pointer.
        index: u8,
    },
    /// Byte `index` of a float with a tangent.
    Tangent {
        /// The tangent of the whole float.
        tangent: f64,
        /// Which byte of the float.
        index: u8,
        /// How many bytes the float has.
        size: u8,
    },
}

/// The tags of an integer's bytes, lowest first.
pub(super) type Tags = [Tag; 16];

/// An integer with what its bytes remember.
#[derive(Clone, PartialEq, Debug)]
pub struct Int {
    width: u32,
    bits: u128,
    tags: Option<Box<Tags>>,
}

impl Int {
    /// A plain integer, cut to `width` bits.
    pub fn new(width: u32, bits: u128) -> Int {
        Int {
            width,
            bits: bits & mask(width),
            tags: None,
        }
    }

    /// An integer whose bytes have tags; those past the width are ignored.
    pub(super) fn tagged(width: u32, bits: u128, mut tags: Tags) -> Int {
        let bytes = width.div_ceil(8) as usize;
        tags[bytes..].fill(Tag::Plain);
        let plain = tags[..bytes].iter().all(|tag| *tag == Tag::Plain);
        Int {
            tags: (!plain).then(|| Box::new(tags)),
            ..Int::new(width, bits)
        }
    }

    /// The number of bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The value, zero-extended.
    pub fn unsigned(&self) -> u128 {
        self.bits
    }

    /// The value, sign-extended.
    pub fn signed(&self) -> i128 {
        sign_extend(self.width, self.bits)
    }

    /// The tags of the bytes.
    pub(super) fn tags(&self) -> Tags {
        self.tags.as_deref().copied().unwrap_or_default()
    }

    /// Whether no byte has a tag.
    pub(super) fn is_plain(&self) -> bool {
        self.tags.is_none()
    }

    /// Whether some byte is poison.
    pub(super) fn has_poison(&self) -> bool {
        self.tags.as_ref().is_some_and(|t| t.contains(&Tag::Poison))
    }

    /// The object, if this is a whole pointer as an integer.
    pub(super) fn object(&self) -> Option<ObjectId> {
        if self.width != 64 {
            return None;
        }
        whole_pointer(&self.tags.as_ref()?[..8])
    }

    /// A pointer as an integer of `width` bits.
    pub(super) fn from_pointer(width: u32, pointer: Pointer) -> Int {
        let mut tags = Tags::default();
        tags[..8].copy_from_slice(&pointer.tags());
        Int::tagged(width, u128::from(pointer.address), tags)
    }
}

/// A float with its tangent.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Float {
    /// The format.
    pub kind: FloatKind,
    /// The bit pattern.
    pub bits: u128,
    /// The derivative along the seeds, as a double in every format.
    pub tangent: f64,
}

impl Float {
    /// The float nearest to a number.
    pub fn new(kind: FloatKind, number: f64, tangent: f64) -> Float {
        Float {
            kind,
            bits: soft::from_f64(kind, number),
            tangent,
        }
    }

    /// The number.
    pub fn number(&self) -> f64 {
        soft::to_f64(self.kind, self.bits)
    }

    /// The tags of its bytes.
    pub(super) fn tags(&self) -> Tags {
        let mut tags = Tags::default();
        if self.tangent != 0.0 {
            let size = self.kind.bytes() as u8;
            for index in 0..size {
                tags[index as usize] = Tag::Tangent {
                    tangent: self.tangent,
                    index,
                    size,
                };
            }
        }
        tags
    }
}

/// An address that knows the object it was derived from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The object it may access, if any.
    pub object: Option<ObjectId>,
    /// The address.
    pub address: u64,
}

impl Pointer {
    /// The null pointer.
    pub const NULL: Pointer = Pointer {
        object: None,
        address: 0,
    };

    /// The pointer some bytes further.
    pub fn offset(self, bytes: i64) -> Pointer {
        Pointer {
            address: self.address.wrapping_add_signed(bytes),
            ..self
        }
    }

    /// The tags of its bytes.
    pub(super) fn tags(self) -> [Tag; 8] {
        let mut tags = [Tag::Plain; 8];
        if let Some(object) = self.object {
            for (index, tag) in (0..).zip(&mut tags) {
                *tag = Tag::Pointer { object, index };
            }
        }
        tags
    }
}

impl Val {
    /// A double without a tangent.
    pub fn f64(number: f64) -> Val {
        Val::dual(number, 0.0)
    }

    /// A double with a tangent.
    pub fn dual(number: f64, tangent: f64) -> Val {
        Val::Float(Float::new(FloatKind::F64, number, tangent))
    }

    /// A single-precision float without a tangent.
    pub fn f32(number: f32) -> Val {
        Val::float(FloatKind::F32, f64::from(number), 0.0)
    }

    /// The float of a format nearest to a number, with a tangent.
    pub fn float(kind: FloatKind, number: f64, tangent: f64) -> Val {
        Val::Float(Float::new(kind, number, tangent))
    }

    /// An integer cut to `width` bits.
    pub fn int(width: u32, number: i128) -> Val {
        Val::Int(Int::new(width, number as u128))
    }

    /// A 64-bit integer.
    pub fn i64(number: i64) -> Val {
        Val::int(64, i128::from(number))
    }

    /// A 32-bit integer.
    pub fn i32(number: i32) -> Val {
        Val::int(32, i128::from(number))
    }

    /// A truth value.
    pub fn bool(truth: bool) -> Val {
        Val::int(1, i128::from(truth))
    }

    /// The null pointer.
    pub fn null() -> Val {
        Val::Ptr(Pointer::NULL)
    }

    /// The number, if this is a float.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Val::Float(float) => Some(float.number()),
            _ => None,
        }
    }

    /// The tangent, if this is a float.
    pub fn tangent(&self) -> Option<f64> {
        match self {
            Val::Float(float) => Some(float.tangent),
            _ => None,
        }
    }

    /// The number, sign-extended, if this is an integer without poison.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Val::Int(int) if !int.has_poison() => Some(int.signed()),
            _ => None,
        }
    }

    /// The pointer, if this is one.
    pub fn as_ptr(&self) -> Option<Pointer> {
        match self {
            Val::Ptr(pointer) => Some(*pointer),
            _ => None,
        }
    }

    /// The parts, if this is an aggregate.
    pub fn parts(&self) -> Option<&[Val]> {
        match self {
            Val::Aggregate(parts) => Some(parts),
            _ => None,
        }
    }

    /// Part `index`; a part of poison is poison.
    pub(super) fn part(&self, index: usize) -> &Val {
        match self {
            Val::Aggregate(parts) => parts.get(index).unwrap_or(&Val::Poison),
            _ => &Val::Poison,
        }
    }
}

/// The object, if these are the tags of a whole pointer in order.
pub(super) fn whole_pointer(tags: &[Tag]) -> Option<ObjectId> {
    let Some(&Tag::Pointer { object, .. }) = tags.first() else {
        return None;
    };
    let whole = (0..).zip(tags).all(|(index, tag)| {
        *tag == Tag::Pointer {
            object,
            index: index as u8,
        }
    });
    whole.then_some(object)
}

/// The tangent, if these are the tags of a whole float in order.
pub(super) fn whole_float(tags: &[Tag]) -> Option<f64> {
    let Some(&Tag::Tangent { tangent, .. }) = tags.first() else {
        return None;
    };
    let whole = (0..).zip(tags).all(|(i, tag)| match tag {
        Tag::Tangent {
            tangent: t,
            index,
            size,
        } => {
            t.to_bits() == tangent.to_bits()
                && usize::from(*index) == i
                && usize::from(*size) == tags.len()
        }
        _ => false,
    });
    whole.then_some(tangent)
}

/// All ones in `width` bits.
pub(super) fn mask(width: u32) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

/// The value of `width` bits read as signed.
pub(super) fn sign_extend(width: u32, bits: u128) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    ((bits << shift) as i128) >> shift
}

impl fmt::Display for Val {
    /// Integers as signed numbers, floats as numbers with their tangent if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Val::Int(int) if int.has_poison() => write!(f, "partly poison"),
            Val::Int(int) if int.width() == 1 => write!(f, "{}", int.unsigned() == 1),
            Val::Int(int) => write!(f, "{}", int.signed()),
            Val::Float(x) if x.tangent == 0.0 => write!(f, "{:?}", x.number()),
            Val::Float(x) => write!(f, "{:?} ~ {:?}", x.number(), x.tangent),
            Val::Ptr(Pointer::NULL) => write!(f, "null"),
            Val::Ptr(pointer) => write!(f, "{:#x}", pointer.address),
            Val::Poison => write!(f, "poison"),
            Val::Aggregate(parts) => {
                write!(f, "{{")?;
                for (i, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if i == 0 { "" } else { ", " })?;
                }
                write!(f, "}}")
            }
        }
    }
}
