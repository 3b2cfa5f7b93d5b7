//! wip
use std::time::Instant;
use zymase_gpt2::layers::tuned::Tuned as Blocked;
use zymase_gpt2::*;
fn kernels() {
    use zymase_gpt2::layers::*;
    let time = |name: &str, f: &mut dyn FnMut()| {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let s = Instant::now();
            f();
            best = best.min(s.elapsed().as_secs_f64());
        }
        println!("{name} {:.3} ms", best * 1e3);
    };
    let (rows, c, oc) = (256, 768, 768);
    let mut seed = 1u64;
    let mut next = move || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((seed >> 40) as f32) / (1u64 << 24) as f32 - 0.5
    };
    let mut v = |n: usize| -> Vec<f32> { (0..n).map(|_| next()).collect() };
    let (x, w, b, mut out) = (v(rows * c), v(c * oc), v(oc), v(rows * oc));
    let (mut dx, mut dw, mut db, dout) = (v(rows * c), v(c * oc), v(oc), v(rows * oc));
    time("blocked forward", &mut || {
        product::blocked(&mut out, &x, &w, &b, c)
    });
    time("blocked hand", &mut || {
        product::by_hand::blocked(&dout, (&x, &mut dx), (&w, &mut dw), &mut db, c)
    });
    time("blocked synthesized (with forward)", &mut || {
        let mut dout = dout.clone();
        product::d_blocked(
            &mut out, &mut dout, &x, &mut dx, &w, &mut dw, &b, &mut db, c,
        )
    });
    time("naive forward", &mut || {
        product::naive(&mut out, &x, &w, &b, c)
    });
    time("naive hand", &mut || {
        product::by_hand::naive(&dout, (&x, &mut dx), (&w, &mut dw), &mut db, c)
    });
    time("naive synthesized (with forward)", &mut || {
        let mut dout = dout.clone();
        product::d_naive(
            &mut out, &mut dout, &x, &mut dx, &w, &mut dw, &b, &mut db, c,
        )
    });
    time("layer norm forward", &mut || {
        layer_norm::layer_norm(&mut out, &x, &w[..c], &b)
    });
    time("layer norm hand", &mut || {
        layer_norm::by_hand::layer_norm(&dout, (&x, &mut dx), (&w[..c], &mut dw[..c]), &mut db)
    });
    time("layer norm synthesized", &mut || {
        let mut dout = dout.clone();
        layer_norm::d_layer_norm(
            &mut out,
            &mut dout,
            &x,
            &mut dx,
            &w[..c],
            &mut dw[..c],
            &b,
            &mut db,
        )
    });
    let (qkv, mut dqkv, mut att) = (v(rows * c * 3), v(rows * c * 3), v(rows * 12 * 64));
    let mut datt = v(rows * 12 * 64);
    time("attention forward", &mut || {
        attention::attention(&mut out, &mut att, &qkv, 64, 768, 12)
    });
    time("attention hand", &mut || {
        attention::by_hand::attention(&dout, &att, (&qkv, &mut dqkv), 64, 768, 12)
    });
    time("attention synthesized", &mut || {
        let mut dout = dout.clone();
        datt.fill(0.0);
        attention::d_attention(
            &mut out, &mut dout, &mut att, &mut datt, &qkv, &mut dqkv, 64, 768, 12,
        )
    });
    let (h, mut dh, mut g, dg) = (
        v(rows * 3072),
        v(rows * 3072),
        v(rows * 3072),
        v(rows * 3072),
    );
    time("gelu forward", &mut || gelu::gelu(&mut g, &h));
    time("gelu hand", &mut || gelu::by_hand::gelu(&dg, &h, &mut dh));
    time("gelu synthesized", &mut || {
        let mut dg = dg.clone();
        gelu::d_gelu(&mut g, &mut dg, &h, &mut dh)
    });
    let (l, mut dl) = (v(rows * 50304), v(rows * 50304));
    let targets: Vec<u32> = (0..256).collect();
    time("cross forward", &mut || {
        cross_entropy::cross_entropy(&l, &targets, 50257, 50304);
    });
    time("cross hand", &mut || {
        cross_entropy::by_hand::cross_entropy(&l, &mut dl, &targets, 50257, 50304, 1.0)
    });
    time("cross synthesized", &mut || {
        cross_entropy::d_cross_entropy(&l, &mut dl, &targets, 50257, 50304, 1.0);
    });
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("kernels") {
        return kernels();
    }
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
    for _ in 0..std::env::args().nth(2).map_or(2, |n| n.parse().unwrap()) {
        let s = Instant::now();
        let l = model::loss::<Blocked, false>(&p, &config, &tokens, &targets, t);
        println!("forward {l} {:?}", s.elapsed());
        let s = Instant::now();
        let l = by_hand::loss::<Blocked>(&p, &mut h, &config, &tokens, &targets, t, 1.0);
        println!("by hand {l} {:?}", s.elapsed());
        let s = Instant::now();
        let l = if std::env::args().nth(3).as_deref() == Some("r") {
            model::d_loss::<Blocked, true>(&p, &mut g, &config, &tokens, &targets, t, 1.0)
        } else if std::env::args().nth(3).is_some() {
            by_hand::loss::<zymase_gpt2::layers::product::Naive>(
                &p, &mut g, &config, &tokens, &targets, t, 1.0,
            )
        } else {
            model::d_loss::<Blocked, false>(&p, &mut g, &config, &tokens, &targets, t, 1.0)
        };
        println!("synthesized {l} {:?}", s.elapsed());
    }
    for ((name, a), b) in parameters::NAMES.iter().zip(g.tensors()).zip(h.tensors()) {
        let m = b.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let e = a
            .iter()
            .zip(b)
            .fold(0.0f32, |m, (x, y)| m.max((x - y).abs()));
        println!("{name} {m:e} {:e}", e / m);
        // EINDEX
        let i = a
            .iter()
            .zip(b)
            .enumerate()
            .fold((0, 0.0f32), |m, (i, (x, y))| {
                if (x - y).abs() > m.1 {
                    (i, (x - y).abs())
                } else {
                    m
                }
            })
            .0;
        println!("   at {i}: {} {}", a[i], b[i]);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!(
        "{}",
        status.lines().find(|l| l.starts_with("VmHWM")).unwrap()
    );
}
