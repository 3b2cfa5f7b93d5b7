//! wip
use std::time::Instant;
use zymase_gpt2::layers::product::Blocked;
use zymase_gpt2::*;
fn main() {
    let small = Config {
        positions: 16,
        vocabulary: 61,
        padded_vocabulary: 64,
        layers: 3,
        heads: 4,
        channels: 32,
    };
    let config = if std::env::args().nth(1).as_deref() == Some("big") {
        Config::GPT2_124M
    } else {
        small
    };
    let (b, t) = if config == small { (3, 16) } else { (4, 64) };
    let mut seed = 1u64;
    let mut next = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((seed >> 40) as f32) / (1u64 << 24) as f32 - 0.5
    };
    let mut p = Parameters::zeros(&config);
    for t in p.tensors_mut() {
        for x in t {
            *x = 0.1 * next();
        }
    }
    let tokens: Vec<u32> = (0..b * t)
        .map(|i| (i as u32 * 7919 + 13) % config.vocabulary as u32)
        .collect();
    let targets: Vec<u32> = (0..b * t)
        .map(|i| (i as u32 * 104729 + 5) % config.vocabulary as u32)
        .collect();
    let mut g = Parameters::zeros(&config);
    let mut h = Parameters::zeros(&config);
    for _ in 0..2 {
        let s = Instant::now();
        let l = model::loss::<Blocked>(&p, &config, &tokens, &targets, t);
        println!("forward {l} {:?}", s.elapsed());
        let s = Instant::now();
        let l = by_hand::loss::<Blocked>(&p, &mut h, &config, &tokens, &targets, t, 1.0);
        println!("by hand {l} {:?}", s.elapsed());
        let s = Instant::now();
        let l = model::d_loss::<Blocked>(&p, &mut g, &config, &tokens, &targets, t, 1.0);
        println!("synthesized {l} {:?}", s.elapsed());
    }
    for ((name, a), b) in parameters::NAMES.iter().zip(g.tensors()).zip(h.tensors()) {
        let m = b.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let e = a
            .iter()
            .zip(b)
            .fold(0.0f32, |m, (x, y)| m.max((x - y).abs()));
        println!("{name} {m:e} {:e}", e / m);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!(
        "{}",
        status.lines().find(|l| l.starts_with("VmHWM")).unwrap()
    );
}
