//! Tokens and positions to numbers.

use zymase::autodiff_reverse;

/// Each row is the sum of a row for its token and one for its position.
#[autodiff_reverse(d_encode, Duplicated, Const, Duplicated, Duplicated, Const, Const)]
pub fn encode(
    out: &mut [f32],
    tokens: &[u32],
    wte: &[f32],
    wpe: &[f32],
    length: usize,
    channels: usize,
) {
    for (index, (out, &token)) in out.chunks_exact_mut(channels).zip(tokens).enumerate() {
        let token = &wte[token as usize * channels..][..channels];
        let position = &wpe[index % length * channels..][..channels];
        for ((out, token), position) in out.iter_mut().zip(token).zip(position) {
            *out = token + position;
        }
    }
}

/// Written by hand.
pub mod by_hand {
    /// The derivative of [`encode`](super::encode).
    pub fn encode(
        dout: &[f32],
        tokens: &[u32],
        dwte: &mut [f32],
        dwpe: &mut [f32],
        length: usize,
        channels: usize,
    ) {
        for (index, (dout, &token)) in dout.chunks_exact(channels).zip(tokens).enumerate() {
            let token = &mut dwte[token as usize * channels..][..channels];
            let position = &mut dwpe[index % length * channels..][..channels];
            for ((dout, token), position) in dout.iter().zip(token).zip(position) {
                *token += dout;
                *position += dout;
            }
        }
    }
}
