//! The learning rate.

use zymase_gpt2::schedule::Schedule;

const SCHEDULE: Schedule = Schedule {
    peak: 1.0,
    floor: 0.1,
    warmup: 10,
    steps: 111,
};

#[test]
fn the_rate_is_where_it_should_be() {
    let table = [
        (0, 0.1),
        (4, 0.5),
        (9, 1.0),
        (10, 1.0),
        (60, 0.55),
        (110, 0.1),
        (111, 0.1),
        (1_000_000, 0.1),
    ];
    for (step, rate) in table {
        assert!((SCHEDULE.rate(step) - rate).abs() < 1e-12, "step {step}");
    }
}

#[test]
fn it_goes_up_and_then_down() {
    for step in 0..9 {
        assert!(SCHEDULE.rate(step) < SCHEDULE.rate(step + 1));
    }
    for step in 10..110 {
        assert!(SCHEDULE.rate(step) > SCHEDULE.rate(step + 1));
    }
}

#[test]
fn unusual_lengths_have_rates() {
    for (warmup, steps) in [(0, 1), (0, 2), (1, 1), (10, 5), (u32::MAX.into(), 3)] {
        let schedule = Schedule {
            warmup,
            steps,
            ..SCHEDULE
        };
        for step in 0..20 {
            let rate = schedule.rate(step);
            assert!(
                (0.0..=1.0).contains(&rate),
                "{warmup} {steps} {step}: {rate}"
            );
        }
    }
}
