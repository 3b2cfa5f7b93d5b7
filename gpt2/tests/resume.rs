//! Training that is saved and loaded goes on as if nothing had happened.

use crate::common::{METHOD, bits, data, settings, trainer};
use std::path::Path;
use zymase_gpt2::checkpoint::Checkpoint;
use zymase_gpt2::method::{Backward, Method};
use zymase_gpt2::train::Trainer;

/// Loads a checkpoint with the settings that it has.
fn load(path: &Path, threads: usize) -> Trainer {
    let checkpoint = Checkpoint::read(path).unwrap();
    let settings = checkpoint.training.as_ref().unwrap().settings.clone();
    Trainer::new(checkpoint, settings, data(), METHOD, threads).unwrap()
}

fn steps(trainer: &mut Trainer, count: usize) {
    for _ in 0..count {
        trainer.step(|| false).unwrap().unwrap();
    }
}

fn assert_same(a: &Trainer, b: &Trainer) {
    assert_eq!(bits(a.parameters()), bits(b.parameters()));
    let (a, b) = (a.training(), b.training());
    assert_eq!(bits(&a.moments.first), bits(&b.moments.first));
    assert_eq!(bits(&a.moments.second), bits(&b.moments.second));
    assert_eq!(a, b);
}

#[test]
fn all_steps_at_once_are_the_same_as_in_two_parts() {
    let folder = tempfile::tempdir().unwrap();
    // Saving in the middle of the first epoch, and after the first one.
    for part in [1, 4, 7] {
        let mut whole = trainer(METHOD, 1);
        steps(&mut whole, 2 * part);
        let file = folder.path().join(format!("{part}.safetensors"));
        let mut first = trainer(METHOD, 1);
        steps(&mut first, part);
        first.save(&file).unwrap();
        let mut second = load(&file, 1);
        assert_same(&first, &second);
        steps(&mut second, part);
        assert_same(&whole, &second);
    }
    // Otherwise nothing was seen of a second epoch.
    let mut long = trainer(METHOD, 1);
    steps(&mut long, 14);
    assert!(long.training().position.epoch > 0 || long.training().position.next > 0);
}

#[test]
fn threads_change_nothing() {
    let mut one = trainer(METHOD, 1);
    steps(&mut one, 4);
    one.validate().unwrap();
    for threads in [2, 3, 100] {
        let mut several = trainer(METHOD, threads);
        steps(&mut several, 4);
        several.validate().unwrap();
        assert_same(&one, &several);
    }
}

#[test]
fn a_step_that_is_stopped_changes_nothing() {
    let mut stopped = trainer(METHOD, 1);
    let mut whole = trainer(METHOD, 1);
    steps(&mut stopped, 2);
    let asked = std::cell::Cell::new(0);
    let second_time = || {
        asked.set(asked.get() + 1);
        asked.get() == 2
    };
    assert!(stopped.step(second_time).unwrap().is_none());
    steps(&mut whole, 2);
    assert_same(&stopped, &whole);
    steps(&mut stopped, 2);
    steps(&mut whole, 2);
    assert_same(&stopped, &whole);
}

#[test]
fn both_backward_passes_learn_the_same() {
    let mut synthesized = trainer(
        Method {
            backward: Backward::Synthesized,
            ..METHOD
        },
        2,
    );
    let mut by_hand = trainer(METHOD, 2);
    steps(&mut synthesized, settings().steps as usize);
    steps(&mut by_hand, settings().steps as usize);
    let losses = |trainer: &Trainer| trainer.training().history.training.clone();
    for (a, b) in losses(&synthesized).into_iter().zip(losses(&by_hand)) {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}
