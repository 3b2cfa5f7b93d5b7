//! Checks that derivatives are finite do not change them: in the interpreter, which computes in the
//! order of the text, they are the same bit for bit.

use zymase_core::ir::text::parse_module;
use zymase_core::pipeline::Options;
use zymase_testgen::grow::grow;
use zymase_testgen::lower::lower;
use zymase_testgen::referee::Derivatives;
use zymase_testgen::trial::{Verdict, arguments, trial};

const SEEDS: u64 = 60;

#[test]
fn checks_change_nothing() {
    let checked = Options {
        check_finite: true,
        ..Options::default()
    };
    let mut compared = 0;
    for seed in 0..SEEDS {
        let program = grow(seed);
        let text = lower(&program);
        let usable = matches!(trial(&program, &Options::default()), Verdict::Agrees(_));
        // Nests become loops under checks, which sum in another order.
        if !usable || text.contains("nest") {
            continue;
        }
        let module = parse_module(&text).unwrap();
        let args = arguments(2);
        let [plain, checked] = [Options::default(), checked.clone()].map(|options| {
            let derivatives = Derivatives::new(&module, "f", &args, &options).ok();
            let [_, forward, reverse] = derivatives.unwrap().gradients(&args).unwrap();
            let bits = forward.into_iter().chain(reverse).map(f64::to_bits);
            bits.collect::<Vec<u64>>()
        });
        assert_eq!(plain, checked, "seed {seed}\n{text}");
        compared += 1;
    }
    assert!(
        compared > SEEDS / 3,
        "only {compared} programs are compared"
    );
}
