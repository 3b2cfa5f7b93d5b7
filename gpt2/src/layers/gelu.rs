//! The nonlinearity of the perceptron, with tanh as GPT-2 has it.

use zymase::{autodiff_reverse, fast};

/// √(2/π).
const SCALE: f32 = 0.797_884_6;
const CUBE: f32 = 0.044_715;

/// out = x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))).
#[autodiff_reverse(d_gelu, Duplicated, Duplicated)]
#[fast]
pub fn gelu(out: &mut [f32], x: &[f32]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = 0.5 * x * (1.0 + (SCALE * (x + CUBE * x * x * x)).tanh());
    }
}

/// Written by hand.
pub mod by_hand {
    use super::{CUBE, SCALE};

    /// The derivative of [`gelu`](super::gelu).
    pub fn gelu(dout: &[f32], x: &[f32], dx: &mut [f32]) {
        for ((dout, &x), dx) in dout.iter().zip(x).zip(dx) {
            let tanh = (SCALE * (x + CUBE * x * x * x)).tanh();
            let inner = SCALE * (1.0 + 3.0 * CUBE * x * x);
            *dx += dout * (0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * inner);
        }
    }
}
