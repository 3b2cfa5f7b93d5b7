//! Values as bytes: what a store writes, a load reads, and a bitcast looks at again.

use super::memory::Byte;
use super::trap::Trap;
use super::value::{Float, Int, Pointer, Tag, Tags, Val, mask, whole_float, whole_pointer};
use crate::ir::{DataLayout, Type, TypeKind};

/// The most parts that an aggregate value may have.
const PART_LIMIT: u64 = 1 << 20;
/// The most bytes that an aggregate value may have.
const BYTE_LIMIT: u64 = 1 << 24;

/// Appends the bytes of a value.
pub(super) fn encode(
    layout: &DataLayout,
    ty: Type,
    value: &Val,
    out: &mut Vec<Byte>,
) -> Result<(), Trap> {
    check_type(layout, ty)?;
    if ty.is_aggregate() {
        return encode_parts(layout, ty, value, out);
    }
    let size = layout.store_size(ty) as usize;
    let (bits, tags) = match (ty.kind(), value) {
        (_, Val::Poison) => (0, [Tag::Poison; 16]),
        (TypeKind::Int(width), Val::Int(int)) if int.width() == *width => {
            (int.unsigned(), int.tags())
        }
        (TypeKind::Float(kind), Val::Float(float)) if float.kind == *kind => {
            (float.bits, float.tags())
        }
        (TypeKind::Ptr(_), Val::Ptr(pointer)) => {
            let mut tags = Tags::default();
            tags[..8].copy_from_slice(&pointer.tags());
            (u128::from(pointer.address), tags)
        }
        _ => return Err(Trap::malformed(format!("{value:?} is no value of {ty}"))),
    };
    let bytes = bits.to_le_bytes();
    out.extend((0..size).map(|i| Byte {
        value: bytes[i],
        tag: tags[i],
    }));
    Ok(())
}

fn encode_parts(
    layout: &DataLayout,
    ty: Type,
    value: &Val,
    out: &mut Vec<Byte>,
) -> Result<(), Trap> {
    let start = out.len();
    let size = layout.store_size(ty) as usize;
    if ty.lanes().is_some() && !layout.is_byte_addressable(ty) {
        return encode_bits(ty, value, size, out);
    }
    for index in 0..ty.part_count() {
        if let Some(part) = ty.part(index) {
            let offset = layout.part_offset(ty, index) as usize;
            out.resize(start + offset, Byte::POISON);
            encode(layout, part, value.part(index as usize), out)?;
        }
    }
    out.resize(start + size, Byte::POISON);
    Ok(())
}

/// A vector whose lanes are no whole bytes is packed bit by bit; one poison lane spoils it all.
fn encode_bits(ty: Type, value: &Val, size: usize, out: &mut Vec<Byte>) -> Result<(), Trap> {
    let width = ty.scalar().int_bits().unwrap_or(1) as usize;
    let mut bytes = vec![0u8; size];
    for lane in 0..ty.part_count() as usize {
        let bits = match value.part(lane) {
            Val::Int(int) if !int.has_poison() => int.unsigned(),
            Val::Poison | Val::Int(_) => {
                out.extend(vec![Byte::POISON; size]);
                return Ok(());
            }
            other => return Err(Trap::malformed(format!("{other:?} is no lane of {ty}"))),
        };
        for bit in 0..width {
            let at = lane * width + bit;
            bytes[at / 8] |= ((bits >> bit & 1) as u8) << (at % 8);
        }
    }
    out.extend(bytes.into_iter().map(Byte::plain));
    Ok(())
}

/// The value that bytes are when read as a type.
pub(super) fn decode(layout: &DataLayout, ty: Type, bytes: &[Byte]) -> Result<Val, Trap> {
    check_type(layout, ty)?;
    if ty.is_aggregate() {
        return decode_parts(layout, ty, bytes);
    }
    let mut bits = [0u8; 16];
    let mut tags = Tags::default();
    for (i, byte) in bytes.iter().enumerate().take(16) {
        bits[i] = byte.value;
        tags[i] = byte.tag;
    }
    let bits = u128::from_le_bytes(bits);
    let used = &tags[..bytes.len().min(16)];
    let poison = used.contains(&Tag::Poison);
    Ok(match ty.kind() {
        TypeKind::Int(_) if used.iter().all(|tag| *tag == Tag::Poison) => Val::Poison,
        TypeKind::Int(width) => Val::Int(Int::tagged(*width, bits, tags)),
        _ if poison => Val::Poison,
        TypeKind::Float(kind) => Val::Float(Float {
            kind: *kind,
            bits,
            tangent: whole_float(used).unwrap_or(0.0),
        }),
        TypeKind::Ptr(_) => Val::Ptr(Pointer {
            object: whole_pointer(used),
            address: bits as u64,
        }),
        _ => return Err(Trap::unsupported(format!("a value of type {ty}"))),
    })
}

fn decode_parts(layout: &DataLayout, ty: Type, bytes: &[Byte]) -> Result<Val, Trap> {
    if ty.lanes().is_some() && !layout.is_byte_addressable(ty) {
        return Ok(decode_bits(ty, bytes));
    }
    let mut parts = Vec::with_capacity(ty.part_count() as usize);
    for index in 0..ty.part_count() {
        if let Some(part) = ty.part(index) {
            let start = layout.part_offset(ty, index) as usize;
            let end = start + layout.store_size(part) as usize;
            let Some(slice) = bytes.get(start..end) else {
                return Err(Trap::malformed(format!("too few bytes for a {ty}")));
            };
            parts.push(decode(layout, part, slice)?);
        }
    }
    Ok(Val::Aggregate(parts))
}

fn decode_bits(ty: Type, bytes: &[Byte]) -> Val {
    let width = ty.scalar().int_bits().unwrap_or(1) as usize;
    if bytes.iter().any(|byte| byte.tag == Tag::Poison) {
        return Val::Poison;
    }
    let bit = |at: usize| u128::from(bytes.get(at / 8).map_or(0, |b| b.value) >> (at % 8) & 1);
    let lane = |lane: usize| {
        let bits = (0..width).map(|i| bit(lane * width + i) << i);
        Val::Int(Int::new(width as u32, bits.sum()))
    };
    Val::Aggregate((0..ty.part_count() as usize).map(lane).collect())
}

/// Zero of a type.
pub(super) fn zero(layout: &DataLayout, ty: Type) -> Result<Val, Trap> {
    check_type(layout, ty)?;
    Ok(match ty.kind() {
        TypeKind::Int(width) => Val::int(*width, 0),
        TypeKind::Float(kind) => Val::float(*kind, 0.0, 0.0),
        TypeKind::Ptr(_) => Val::null(),
        TypeKind::Vector(..) | TypeKind::Array(..) | TypeKind::Struct { .. } => {
            let parts = (0..ty.part_count()).filter_map(|i| ty.part(i));
            Val::Aggregate(parts.map(|p| zero(layout, p)).collect::<Result<_, _>>()?)
        }
        TypeKind::Void | TypeKind::Opaque(_) => {
            return Err(Trap::unsupported(format!("a value of type {ty}")));
        }
    })
}

/// The value with every poison part replaced by zero.
pub(super) fn freeze(layout: &DataLayout, ty: Type, value: &Val) -> Result<Val, Trap> {
    Ok(match value {
        Val::Poison => zero(layout, ty)?,
        Val::Int(int) if int.has_poison() => {
            let mut tags = int.tags();
            let mut keep = 0;
            for (i, tag) in tags.iter_mut().enumerate() {
                if *tag == Tag::Poison {
                    *tag = Tag::Plain;
                } else {
                    keep |= 0xff << (8 * i);
                }
            }
            Val::Int(Int::tagged(int.width(), int.unsigned() & keep, tags))
        }
        Val::Aggregate(parts) => {
            let part = |(i, part): (usize, &Val)| match ty.part(i as u64) {
                Some(part_ty) => freeze(layout, part_ty, part),
                None => Ok(part.clone()),
            };
            let parts = parts.iter().enumerate().map(part);
            Val::Aggregate(parts.collect::<Result<_, _>>()?)
        }
        other => other.clone(),
    })
}

/// Refuses types that no value can have here, and values of absurd size.
pub(super) fn check_type(layout: &DataLayout, ty: Type) -> Result<(), Trap> {
    match ty.kind() {
        TypeKind::Int(width) if *width > 128 || mask(*width) == 0 => {
            Err(Trap::unsupported(format!("an integer of {width} bits")))
        }
        TypeKind::Ptr(_) if layout.pointer_bytes != 8 => {
            Err(Trap::unsupported("pointers of other than 8 bytes"))
        }
        TypeKind::Void | TypeKind::Opaque(_) => {
            Err(Trap::unsupported(format!("a value of type {ty}")))
        }
        TypeKind::Vector(element, lanes) if *lanes as u64 <= PART_LIMIT => {
            check_type(layout, *element)
        }
        TypeKind::Vector(..) | TypeKind::Array(..)
            if ty.part_count() > PART_LIMIT || layout.store_size(ty) > BYTE_LIMIT =>
        {
            Err(Trap::unsupported(format!("a value of type {ty}")))
        }
        _ => Ok(()),
    }
}
