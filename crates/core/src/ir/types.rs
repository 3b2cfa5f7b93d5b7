//! Types, interned for the life of the process so that a [`Type`] is a copyable word, and the data
//! layout that gives them sizes.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex};

/// An interned type. Two types are equal when they have the same structure.
#[derive(Copy, Clone)]
pub struct Type(&'static TypeKind);

/// The structure of a [`Type`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeKind {
    /// The type of an instruction without a result.
    Void,
    /// An integer of this many bits.
    Int(u32),
    /// A floating-point number.
    Float(FloatKind),
    /// A pointer in this address space.
    Ptr(u32),
    /// A vector of a fixed number of scalars.
    Vector(Type, u32),
    /// An array.
    Array(Type, u64),
    /// A structure; packed ones have no padding.
    Struct {
        /// The types of the fields in order.
        fields: Vec<Type>,
        /// Whether fields follow each other without padding.
        packed: bool,
    },
    /// A type that only the foreign representation understands, by its name there.
    Opaque(String),
}

/// The floating-point formats.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatKind {
    /// IEEE binary16.
    F16,
    /// The upper half of an IEEE binary32.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// The 80-bit format of the x87.
    X86Fp80,
    /// IEEE binary128.
    F128,
}

impl FloatKind {
    /// Every format, smallest first.
    pub const ALL: [FloatKind; 6] = [
        FloatKind::F16,
        FloatKind::Bf16,
        FloatKind::F32,
        FloatKind::F64,
        FloatKind::X86Fp80,
        FloatKind::F128,
    ];

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            FloatKind::F16 => "f16",
            FloatKind::Bf16 => "bf16",
            FloatKind::F32 => "f32",
            FloatKind::F64 => "f64",
            FloatKind::X86Fp80 => "x86_fp80",
            FloatKind::F128 => "f128",
        }
    }

    /// How many bits the format has.
    pub fn bits(self) -> u32 {
        match self {
            FloatKind::F16 | FloatKind::Bf16 => 16,
            FloatKind::F32 => 32,
            FloatKind::F64 => 64,
            FloatKind::X86Fp80 => 80,
            FloatKind::F128 => 128,
        }
    }

    /// How many bytes a store writes.
    pub fn bytes(self) -> u32 {
        self.bits() / 8
    }
}

static INTERNER: LazyLock<Mutex<HashMap<TypeKind, &'static TypeKind>>> =
    LazyLock::new(Mutex::default);

impl Type {
    /// The type of this structure.
    pub fn new(kind: TypeKind) -> Type {
        let mut table = INTERNER.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = table.get(&kind) {
            return Type(known);
        }
        let leaked: &'static TypeKind = Box::leak(Box::new(kind.clone()));
        table.insert(kind, leaked);
        Type(leaked)
    }

    /// The structure of this type.
    pub fn kind(self) -> &'static TypeKind {
        self.0
    }

    /// No value.
    pub fn void() -> Type {
        Type::new(TypeKind::Void)
    }

    /// An integer of `bits` bits.
    pub fn int(bits: u32) -> Type {
        Type::new(TypeKind::Int(bits))
    }

    /// A truth value.
    pub fn i1() -> Type {
        Type::int(1)
    }

    /// A 64-bit integer.
    pub fn i64() -> Type {
        Type::int(64)
    }

    /// A floating-point type.
    pub fn float(kind: FloatKind) -> Type {
        Type::new(TypeKind::Float(kind))
    }

    /// IEEE binary64.
    pub fn f64() -> Type {
        Type::float(FloatKind::F64)
    }

    /// A pointer in the default address space.
    pub fn ptr() -> Type {
        Type::new(TypeKind::Ptr(0))
    }

    /// A vector of `lanes` elements.
    pub fn vector(element: Type, lanes: u32) -> Type {
        Type::new(TypeKind::Vector(element, lanes))
    }

    /// An array of `len` elements.
    pub fn array(element: Type, len: u64) -> Type {
        Type::new(TypeKind::Array(element, len))
    }

    /// A structure with natural alignment.
    pub fn structure(fields: Vec<Type>) -> Type {
        Type::new(TypeKind::Struct {
            fields,
            packed: false,
        })
    }

    /// Whether this is the type of no value.
    pub fn is_void(self) -> bool {
        matches!(self.kind(), TypeKind::Void)
    }

    /// Whether this is an integer (not a vector of them).
    pub fn is_int(self) -> bool {
        matches!(self.kind(), TypeKind::Int(_))
    }

    /// Whether this is a pointer (not a vector of them).
    pub fn is_ptr(self) -> bool {
        matches!(self.kind(), TypeKind::Ptr(_))
    }

    /// The format, if this is a floating-point scalar.
    pub fn float_kind(self) -> Option<FloatKind> {
        match self.kind() {
            TypeKind::Float(kind) => Some(*kind),
            _ => None,
        }
    }

    /// The number of bits, if this is an integer scalar.
    pub fn int_bits(self) -> Option<u32> {
        match self.kind() {
            TypeKind::Int(bits) => Some(*bits),
            _ => None,
        }
    }

    /// The type of one lane of a vector, or the type itself.
    pub fn scalar(self) -> Type {
        match self.kind() {
            TypeKind::Vector(element, _) => *element,
            _ => self,
        }
    }

    /// The number of lanes, if this is a vector.
    pub fn lanes(self) -> Option<u32> {
        match self.kind() {
            TypeKind::Vector(_, lanes) => Some(*lanes),
            _ => None,
        }
    }

    /// This type with its scalar replaced: `f64` for `<4 x i64>` gives `<4 x f64>`.
    pub fn with_scalar(self, scalar: Type) -> Type {
        match self.kind() {
            TypeKind::Vector(_, lanes) => Type::vector(scalar, *lanes),
            _ => scalar,
        }
    }

    /// Whether this is a float or a vector of floats.
    pub fn is_float_like(self) -> bool {
        self.scalar().float_kind().is_some()
    }

    /// Whether this is an integer or a vector of integers.
    pub fn is_int_like(self) -> bool {
        self.scalar().is_int()
    }

    /// Whether values of this type consist of numbered parts (a structure, array or vector).
    pub fn is_aggregate(self) -> bool {
        matches!(
            self.kind(),
            TypeKind::Vector(..) | TypeKind::Array(..) | TypeKind::Struct { .. }
        )
    }

    /// How many numbered parts a value of this type has.
    pub fn part_count(self) -> u64 {
        match self.kind() {
            TypeKind::Vector(_, n) => u64::from(*n),
            TypeKind::Array(_, n) => *n,
            TypeKind::Struct { fields, .. } => fields.len() as u64,
            _ => 0,
        }
    }

    /// The type of part `index` of an aggregate, if there is one.
    pub fn part(self, index: u64) -> Option<Type> {
        match self.kind() {
            TypeKind::Vector(t, n) => (index < u64::from(*n)).then_some(*t),
            TypeKind::Array(t, n) => (index < *n).then_some(*t),
            TypeKind::Struct { fields, .. } => fields.get(index as usize).copied(),
            _ => None,
        }
    }

    /// The type found by following `path` into nested aggregates.
    pub fn at_path(self, path: &[u32]) -> Option<Type> {
        path.iter()
            .try_fold(self, |ty, &index| ty.part(u64::from(index)))
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Type {}

impl Hash for Type {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            TypeKind::Void => write!(f, "void"),
            TypeKind::Int(bits) => write!(f, "i{bits}"),
            TypeKind::Float(kind) => write!(f, "{}", kind.name()),
            TypeKind::Ptr(0) => write!(f, "ptr"),
            TypeKind::Ptr(space) => write!(f, "ptr({space})"),
            TypeKind::Vector(element, lanes) => write!(f, "<{lanes} x {element}>"),
            TypeKind::Array(element, len) => write!(f, "[{len} x {element}]"),
            TypeKind::Struct { fields, packed } => {
                let (open, close) = if *packed { ("<{", "}>") } else { ("{", "}") };
                write!(f, "{open}")?;
                for (i, field) in fields.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{field}")?;
                }
                write!(f, "{close}")
            }
            TypeKind::Opaque(name) => write!(f, "opaque {name:?}"),
        }
    }
}

/// The sizes and alignments of types on the target. Zymase targets 64-bit little-endian machines;
/// importers check that the foreign layout agrees with this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// Bytes of a pointer.
    pub pointer_bytes: u32,
    /// The largest alignment of an integer, in bytes.
    pub max_int_align: u32,
    /// The largest alignment of a vector, in bytes (its size rounded up to a power of two below).
    pub max_vector_align: u32,
}

impl Default for DataLayout {
    fn default() -> DataLayout {
        DataLayout {
            pointer_bytes: 8,
            max_int_align: 16,
            max_vector_align: u32::MAX,
        }
    }
}

impl DataLayout {
    /// How many bytes a store of this type writes; opaque types have none.
    pub fn store_size(&self, ty: Type) -> u64 {
        match ty.kind() {
            TypeKind::Void | TypeKind::Opaque(_) => 0,
            TypeKind::Int(bits) => u64::from(bits.div_ceil(8)),
            TypeKind::Float(kind) => u64::from(kind.bytes()),
            TypeKind::Ptr(_) => u64::from(self.pointer_bytes),
            TypeKind::Vector(element, lanes) => {
                (self.vector_lane_bits(*element) * u64::from(*lanes)).div_ceil(8)
            }
            TypeKind::Array(element, len) => self.size(*element).saturating_mul(*len),
            TypeKind::Struct { .. } => self.struct_layout(ty).1,
        }
    }

    /// The distance between consecutive elements of an array of this type.
    pub fn size(&self, ty: Type) -> u64 {
        let align = u64::from(self.align(ty));
        aligned(self.store_size(ty), align)
    }

    /// The natural alignment in bytes.
    pub fn align(&self, ty: Type) -> u32 {
        match ty.kind() {
            TypeKind::Void | TypeKind::Opaque(_) => 1,
            TypeKind::Int(bits) => bits.div_ceil(8).next_power_of_two().min(self.max_int_align),
            TypeKind::Float(kind) => kind.bytes().next_power_of_two(),
            TypeKind::Ptr(_) => self.pointer_bytes,
            TypeKind::Vector(..) => {
                let bytes = self.store_size(ty).next_power_of_two();
                u32::try_from(bytes)
                    .unwrap_or(1 << 31)
                    .clamp(1, self.max_vector_align)
            }
            TypeKind::Array(element, _) => self.align(*element),
            TypeKind::Struct {
                fields,
                packed: false,
            } => fields.iter().map(|f| self.align(*f)).max().unwrap_or(1),
            TypeKind::Struct { packed: true, .. } => 1,
        }
    }

    /// The byte offset of part `index` of an aggregate. Vectors have lanes of whole bytes here;
    /// ask [`is_byte_addressable`](Self::is_byte_addressable) first.
    pub fn part_offset(&self, ty: Type, index: u64) -> u64 {
        match ty.kind() {
            TypeKind::Vector(element, _) => {
                (self.vector_lane_bits(*element) / 8).saturating_mul(index)
            }
            TypeKind::Array(element, _) => self.size(*element).saturating_mul(index),
            TypeKind::Struct { .. } => self
                .struct_layout(ty)
                .0
                .get(index as usize)
                .copied()
                .unwrap_or(0),
            _ => 0,
        }
    }

    /// The byte offset of what `path` leads to inside an aggregate.
    pub fn path_offset(&self, ty: Type, path: &[u32]) -> u64 {
        let mut offset = 0;
        let mut ty = ty;
        for &index in path {
            offset += self.part_offset(ty, u64::from(index));
            match ty.part(u64::from(index)) {
                Some(part) => ty = part,
                None => break,
            }
        }
        offset
    }

    /// Whether every scalar in the type starts and ends at a byte boundary.
    pub fn is_byte_addressable(&self, ty: Type) -> bool {
        match ty.kind() {
            TypeKind::Vector(element, _) => self.vector_lane_bits(*element).is_multiple_of(8),
            TypeKind::Array(element, _) => self.is_byte_addressable(*element),
            TypeKind::Struct { fields, .. } => fields.iter().all(|f| self.is_byte_addressable(*f)),
            TypeKind::Int(bits) => bits.is_multiple_of(8),
            _ => true,
        }
    }

    /// The scalars of a type with their byte offsets, in order. Vector lanes are scalars.
    pub fn scalars(&self, ty: Type) -> Vec<(u64, Type)> {
        let mut out = Vec::new();
        self.collect_scalars(ty, 0, &mut out);
        out
    }

    fn collect_scalars(&self, ty: Type, base: u64, out: &mut Vec<(u64, Type)>) {
        if !ty.is_aggregate() {
            out.push((base, ty));
            return;
        }
        for index in 0..ty.part_count() {
            if let Some(part) = ty.part(index) {
                self.collect_scalars(part, base + self.part_offset(ty, index), out);
            }
        }
    }

    fn vector_lane_bits(&self, element: Type) -> u64 {
        match element.kind() {
            TypeKind::Int(bits) => u64::from(*bits),
            TypeKind::Float(kind) => u64::from(kind.bits()),
            _ => 8 * self.store_size(element),
        }
    }

    fn struct_layout(&self, ty: Type) -> (Vec<u64>, u64) {
        let TypeKind::Struct { fields, packed } = ty.kind() else {
            return (Vec::new(), 0);
        };
        let mut offsets = Vec::with_capacity(fields.len());
        let mut end = 0u64;
        for &field in fields {
            if !packed {
                end = aligned(end, u64::from(self.align(field)));
            }
            offsets.push(end);
            end = end.saturating_add(self.size(field));
        }
        if !packed {
            end = aligned(end, u64::from(self.align(ty)));
        }
        (offsets, end)
    }
}

/// The size rounded up to an alignment. Types too large for any memory have the largest size.
fn aligned(size: u64, align: u64) -> u64 {
    size.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}
