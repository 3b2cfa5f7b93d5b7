//! What constants say about single bytes of integers.

use crate::ir::{BinaryOp, CastOp, Flags, Function, Op, Type, Value};

/// A byte of an integer, if it is the same in every run: no derivative flows through it.
pub fn known_byte(function: &Function, value: Value, byte: i64, depth: u32) -> Option<u8> {
    if let Some(n) = function.as_int(value) {
        return Some(n.checked_shr(8 * byte as u32).unwrap_or(0) as u8);
    }
    let inst = function.def_inst(value)?;
    let data = function.inst(inst);
    match &data.op {
        Op::Cast(CastOp::ZExt) => {
            let inner = function.ty(data.args[0]).int_bits()?;
            let bytes = i64::from(inner.div_ceil(8));
            (byte >= bytes).then_some(0)
        }
        Op::Binary(BinaryOp::Shl) if depth < 4 => {
            let bits = function.as_int(data.args[1])? as i64;
            if (byte + 1) * 8 <= bits {
                return Some(0);
            }
            let below = byte - bits / 8;
            (bits % 8 == 0).then(|| known_byte(function, data.args[0], below, depth + 1))?
        }
        Op::Binary(BinaryOp::LShr) => {
            let bits = function.as_int(data.args[1])? as i64;
            let width = i64::from(function.ty(value).int_bits()?);
            (byte * 8 >= width - bits).then_some(0)
        }
        Op::Binary(BinaryOp::Or) if depth < 4 => {
            let x = known_byte(function, data.args[0], byte, depth + 1)?;
            Some(x | known_byte(function, data.args[1], byte, depth + 1)?)
        }
        Op::Binary(BinaryOp::And) if depth < 4 => {
            let x = known_byte(function, data.args[0], byte, depth + 1);
            match (x, known_byte(function, data.args[1], byte, depth + 1)) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (x, y) => Some(x? & y?),
            }
        }
        _ => None,
    }
}

/// The operation that the optimizer made this one of: a product or quotient by a power of two becomes
/// a shift that loses no bits. A shift by whole bytes may still be about parts of a value.
pub(super) fn before_optimizing(
    function: &Function,
    op: BinaryOp,
    flags: Flags,
    args: &[Value],
) -> BinaryOp {
    let loses_nothing = flags.intersects(Flags::NUW | Flags::NSW);
    let by_parts = function.as_int(args[1]).is_none_or(|bits| bits % 8 == 0);
    match op {
        BinaryOp::Shl if loses_nothing && !by_parts => BinaryOp::Mul,
        BinaryOp::LShr if flags.contains(Flags::EXACT) && !by_parts => BinaryOp::UDiv,
        _ => op,
    }
}

/// Whether a bitwise operation with a constant can only be about an integer: the constant neither
/// takes whole bytes nor touches the sign bit alone.
pub(super) fn is_flag_mask(op: BinaryOp, mask: i128, ty: Type) -> bool {
    let bits = ty.int_bits().unwrap_or(0).min(127);
    let all = (1i128 << bits).wrapping_sub(1);
    let mask = mask & all;
    let bytes = mask.to_le_bytes();
    let whole = bytes.iter().all(|&b| b == 0 || b == 0xff);
    let signs: [i128; 3] = [0x8000_0000, 1 << 63, 0x8000_0000_8000_0000];
    let sign = signs.iter().any(|&s| mask == s || mask == all ^ s);
    !whole && !sign && op != BinaryOp::Or
}
