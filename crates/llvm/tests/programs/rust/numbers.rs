//! Arithmetic of every width, panics that are caught, slices, threads and atomics.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn matmul<const N: usize>(a: &[[f64; N]; N], b: &[[f64; N]; N]) -> [[f64; N]; N] {
    let mut c = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..N {
            c[i][j] = (0..N).map(|k| a[i][k] * b[k][j]).sum();
        }
    }
    c
}
fn checked(xs: &[i32], i: usize) -> i32 {
    xs[i] / (xs[i] - 3)
}
struct Noisy(u32);
impl Drop for Noisy {
    fn drop(&mut self) {
        println!("drop {}", self.0);
    }
}
#[unsafe(no_mangle)]
pub extern "C" fn rust_main() {
    std::panic::set_hook(Box::new(|_| {}));
    let a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]];
    println!("{:?}", matmul(&a, &matmul(&a, &a)));
    for i in 0..5 {
        let r = std::panic::catch_unwind(|| {
            let _noisy = Noisy(i);
            checked(&[1, 2, 3, 4], i as usize)
        });
        println!("{:?}", r.ok());
    }
    let mut h = 0xcbf29ce484222325u64;
    for b in "hash me".bytes() {
        h = (h ^ u64::from(b)).wrapping_mul(0x100000001b3);
    }
    println!("{h:x} {} {:?} {}", h.count_ones(), 200u8.checked_add(100), i128::MAX / 3);
    println!("{:?} {} {}", 5i8.overflowing_sub(-125), (-7i32).rem_euclid(3), u64::MAX as f32);
    println!("{} {} {:e}", (1e10f64) as i32, f64::NAN as u8, 1.0f64 / 3.0);
    println!("{:.6} {:.6} {:.6}", 0.5f64.sin().mul_add(2.0, 1.0), 2f64.powf(0.3), 0.7f32.tanh());
    let total = Arc::new(AtomicU64::new(0));
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..4u64)
        .map(|t| {
            let (total, list) = (total.clone(), list.clone());
            std::thread::spawn(move || {
                for i in 0..1000 {
                    total.fetch_add(i * t, Ordering::Relaxed);
                }
                list.lock().unwrap().push(t);
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    let mut seen = list.lock().unwrap().clone();
    seen.sort();
    println!("{} {seen:?}", total.load(Ordering::SeqCst));
    let mut grid = vec![vec![0u8; 8]; 8];
    grid[3][4] = 1;
    let (top, bottom) = grid.split_at_mut(4);
    std::mem::swap(&mut top[3], &mut bottom[0]);
    println!("{}", grid.iter().flatten().enumerate().map(|(i, &x)| i * x as usize).sum::<usize>());
}
