//! Iterators that give pairs of what has a derivative and what has none.

use programs::equal;
use zymase::autodiff_reverse;

/// Rows of a table, chosen by numbers that have no derivative.
fn encode(out: &mut [f64], tokens: &[u32], table: &[f64], channels: usize) {
    for (index, (out, &token)) in out.chunks_exact_mut(channels).zip(tokens).enumerate() {
        let row = &table[token as usize * channels..][..channels];
        for (out, row) in out.iter_mut().zip(row) {
            *out = row * row + index as f64;
        }
    }
}

#[autodiff_reverse(d_loss, Duplicated, Const, Active)]
fn loss(table: &[f64], tokens: &[u32]) -> f64 {
    let mut out = vec![0.0; 2 * tokens.len()];
    encode(&mut out, tokens, table, 2);
    out.iter().sum()
}

fn main() {
    let (table, tokens) = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1]);
    let mut dtable = [0.0; 4];
    d_loss(&table, &mut dtable, &tokens, 1.0);
    equal(&dtable, &[2.0, 4.0, 12.0, 16.0]);
    println!("ok pairs");
}
