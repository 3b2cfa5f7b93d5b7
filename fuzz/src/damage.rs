//! Changes of bytes, for what has no lines and words.

use fastrand::Rng;

/// Changes bytes at a few places.
pub fn damaged(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.usize(1..=6) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = rng.usize(..bytes.len());
        match rng.u32(..6) {
            0 => bytes[at] = rng.u8(..),
            1 => bytes[at] ^= 1 << rng.u32(..8),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.usize(..5)],
            3 => bytes.truncate(at),
            4 => {
                let end = (at + rng.usize(..64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = rng.usize(..=bytes.len());
                bytes.splice(to..to, part);
            }
            _ => {
                let end = (at + rng.usize(..16)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
    bytes
}
