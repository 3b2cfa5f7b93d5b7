//! A layer whose activation function is C's.

unsafe extern "C" {
    fn activate(x: f64) -> f64;
}

/// The sum of the activations of a chain of values.
///
/// # Safety
/// There are `len` values behind the pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn layer(values: *const f64, len: i32) -> f64 {
    let values = unsafe { std::slice::from_raw_parts(values, len as usize) };
    let mut sum = 0.0;
    for (i, pair) in values.windows(2).enumerate() {
        sum += (1.0 + i as f64) * unsafe { activate(pair[0] * pair[1]) };
    }
    sum + values.iter().map(|v| v.powi(3)).sum::<f64>()
}
