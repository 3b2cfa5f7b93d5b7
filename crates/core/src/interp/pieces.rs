//! What becomes of the tags of bytes when integers are computed with.
//!
//! Operations that move whole bytes (shifts by bytes, masks of bytes, joining bytes that do not
//! meet, cutting and extending) move the tags along. The three tricks on the sign bit of a float
//! act on its tangent as the float operation does. Address arithmetic keeps the pointer's object.
//! Everything else destroys what the bytes were pieces of, and spreads poison.

use super::value::{Int, Tag, Tags, mask, whole_float};
use crate::ir::BinaryOp;

/// The bytes that an operation leaves behind.
pub(super) enum Pieces {
    /// The result has these tags.
    Tags(Box<Tags>),
    /// The result is an ordinary integer.
    Plain,
    /// The result is poison.
    Poison,
}

/// The tags of the result of an integer operation on operands of which at least one has tags.
pub(super) fn binary(op: BinaryOp, x: &Int, y: &Int) -> Pieces {
    if let Some(tags) = address_arithmetic(op, x, y) {
        return Pieces::Tags(Box::new(tags));
    }
    let moved = match op {
        BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => shift(op, x, y),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Some(bytewise(op, x, y)),
        BinaryOp::Add if bytes_never_meet(x, y) => Some(bytewise(BinaryOp::Or, x, y)),
        BinaryOp::Sub if y.is_plain() && y.unsigned() == 0 => Some(x.tags()),
        _ => None,
    };
    match moved {
        Some(tags) => Pieces::Tags(Box::new(tags)),
        None if x.has_poison() || y.has_poison() => Pieces::Poison,
        None => Pieces::Plain,
    }
}

/// The integer cut or extended by zeros to a width.
pub(super) fn resize(x: &Int, width: u32) -> Int {
    if x.is_plain() {
        return Int::new(width, x.unsigned());
    }
    let mut tags = x.tags();
    let partial = (width / 8) as usize;
    if !width.is_multiple_of(8) && partial < 16 && tags[partial] != Tag::Poison {
        tags[partial] = Tag::Plain;
    }
    Int::tagged(width, x.unsigned(), tags)
}

/// The integer with its bytes in reverse order.
pub(super) fn swap_bytes(x: &Int) -> Int {
    let bytes = (x.width() / 8) as usize;
    let mut tags = x.tags();
    tags[..bytes].reverse();
    let bits = x.unsigned().swap_bytes() >> (128 - x.width());
    Int::tagged(x.width(), bits, tags)
}

/// A pointer as an integer stays one when a plain integer is added, subtracted, or masks it.
fn address_arithmetic(op: BinaryOp, x: &Int, y: &Int) -> Option<Tags> {
    let pointer = match op {
        BinaryOp::Add | BinaryOp::And | BinaryOp::Or => match (x.object(), y.object()) {
            (Some(_), None) if y.is_plain() => x,
            (None, Some(_)) if x.is_plain() => y,
            _ => return None,
        },
        BinaryOp::Sub if y.is_plain() => x,
        _ => return None,
    };
    pointer.object().map(|_| pointer.tags())
}

fn shift(op: BinaryOp, x: &Int, y: &Int) -> Option<Tags> {
    let amount = u32::try_from(y.unsigned()).ok()?;
    let whole = amount.is_multiple_of(8) && x.width().is_multiple_of(8) && amount < x.width();
    if !whole || !y.is_plain() {
        return None;
    }
    let (bytes, by) = ((x.width() / 8) as usize, (amount / 8) as usize);
    let old = x.tags();
    let mut tags = Tags::default();
    if op == BinaryOp::Shl {
        tags[by..bytes].copy_from_slice(&old[..bytes - by]);
    } else {
        tags[..bytes - by].copy_from_slice(&old[by..bytes]);
        if op == BinaryOp::AShr && old[bytes - 1] == Tag::Poison {
            tags[bytes - by..bytes].fill(Tag::Poison);
        }
    }
    Some(tags)
}

fn bytewise(op: BinaryOp, x: &Int, y: &Int) -> Tags {
    let (xs, ys) = (x.unsigned().to_le_bytes(), y.unsigned().to_le_bytes());
    let (xt, yt) = (x.tags(), y.tags());
    // The byte that leaves the other one as it is, and the one that clears it.
    let (keeps, clears) = match op {
        BinaryOp::And => (0xff, Some(0)),
        _ => (0, None),
    };
    let mut tags = Tags::default();
    for i in 0..x.width().div_ceil(8) as usize {
        let plain = |tag: Tag, byte: u8, value: u8| tag == Tag::Plain && byte == value;
        let cleared =
            clears.is_some_and(|value| plain(xt[i], xs[i], value) || plain(yt[i], ys[i], value));
        tags[i] = if cleared {
            Tag::Plain
        } else if plain(yt[i], ys[i], keeps) {
            xt[i]
        } else if plain(xt[i], xs[i], keeps) {
            yt[i]
        } else if xt[i] == Tag::Poison || yt[i] == Tag::Poison {
            Tag::Poison
        } else {
            Tag::Plain
        };
    }
    sign_tricks(op, x, y, &mut tags);
    sign_tricks(op, y, x, &mut tags);
    tags
}

/// Flipping, clearing or setting the sign bit of a whole float in `x` by plain bytes of `y` is its
/// negation, its magnitude, or its negated magnitude.
fn sign_tricks(op: BinaryOp, x: &Int, y: &Int, tags: &mut Tags) {
    let (xt, yt) = (x.tags(), y.tags());
    let mut at = 0;
    while at < 16 {
        let Tag::Tangent { size, .. } = xt[at] else {
            at += 1;
            continue;
        };
        let end = at + usize::from(size);
        let whole = xt.get(at..end).and_then(whole_float);
        let Some(tangent) = whole.filter(|_| yt[at..end].iter().all(|t| *t == Tag::Plain)) else {
            at += 1;
            continue;
        };
        let bits = 8 * u32::from(size);
        let part = |n: &Int| n.unsigned() >> (8 * at) & mask(bits);
        let sign = 1u128 << (bits - 1);
        let outward = match part(x) {
            float if float & !sign == 0 => 0.0,
            float if float & sign == 0 => tangent,
            _ => -tangent,
        };
        let new = match (op, part(y)) {
            (BinaryOp::Xor, flipped) if flipped == sign => Some(-tangent),
            (BinaryOp::And, kept) if kept == sign - 1 => Some(outward),
            (BinaryOp::Or, set) if set == sign => Some(-outward),
            _ => None,
        };
        if let Some(tangent) = new {
            for (index, tag) in (0..size).zip(&mut tags[at..end]) {
                *tag = match tangent {
                    0.0 => Tag::Plain,
                    tangent => Tag::Tangent {
                        tangent,
                        index,
                        size,
                    },
                };
            }
        }
        at = end;
    }
}

fn bytes_never_meet(x: &Int, y: &Int) -> bool {
    let (xs, ys) = (x.unsigned().to_le_bytes(), y.unsigned().to_le_bytes());
    let (xt, yt) = (x.tags(), y.tags());
    (0..16).all(|i| (xs[i] == 0 && xt[i] == Tag::Plain) || (ys[i] == 0 && yt[i] == Tag::Plain))
}
