//! Against PyTorch, where it is installed.

use super::model::{Case, config, method};
use super::{assert_near, seed};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use zymase_gpt2::Parameters;
use zymase_gpt2::checkpoint::Checkpoint;
use zymase_gpt2::method::{Backward, Kernel};
use zymase_gpt2::parameters::NAMES;
use zymase_gpt2::random::Random;

/// Whether `python3` finds PyTorch.
fn is_there() -> bool {
    let output = Command::new("python3")
        .args(["-c", "import torch"])
        .output();
    output.is_ok_and(|output| output.status.success())
}

/// The loss and all gradients of a model by PyTorch, in `precision`.
fn by_torch(case: &Case, folder: &Path, precision: &str) -> (f32, Vec<Vec<f32>>) {
    let [model, batch, result] = ["model.bin", "batch", "result"].map(|name| folder.join(name));
    let checkpoint = Checkpoint {
        config: case.config,
        parameters: case.parameters.clone(),
        tokenizer: None,
        training: None,
    };
    checkpoint.write(&model).unwrap();
    let length = [case.length as u32];
    let words = length.iter().chain(&case.tokens).chain(&case.targets);
    let words: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    fs::write(&batch, words).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torch_agreement.py");
    let mut python = Command::new("python3");
    python
        .arg(script)
        .args([&model, &batch, &result])
        .arg(precision);
    let output = python.output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    let bytes = fs::read(&result).unwrap();
    let (numbers, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    let mut numbers = numbers.iter().map(|&number| f32::from_le_bytes(number));
    let loss = numbers.next().unwrap();
    let shape = case.parameters.tensors().map(<[f32]>::len);
    let gradients = shape
        .map(|size| numbers.by_ref().take(size).collect())
        .to_vec();
    assert_eq!(numbers.next(), None);
    (loss, gradients)
}

#[test]
fn gradients_are_those_of_pytorch() {
    if !is_there() {
        // The harness hides what a test prints, but not what goes around it.
        let mut out = std::io::stderr();
        writeln!(
            out,
            "skipped: python3 has no PyTorch to compare gradients with"
        )
        .unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::stream(seed(), 30);
    for (shape, batch, length) in [
        ([4, 4, 64, 32, 300, 320], 3, 29),
        ([1, 1, 9, 4, 7, 7], 1, 3),
    ] {
        let case = Case::new(&mut random, config(shape), batch, length);
        let zeros = Parameters::zeros(&case.config);
        // In double precision it is a reference; in single precision it has errors of its own.
        for precision in ["float64", "float32"] {
            let (expected_loss, expected) = by_torch(&case, folder.path(), precision);
            for (kernel, recompute) in [
                (Kernel::Naive, false),
                (Kernel::Blocked, false),
                (Kernel::Tuned, false),
                (Kernel::Tuned, true),
            ] {
                let method = method(Backward::Synthesized, kernel, recompute);
                let (loss, found) = case.gradient(method, &zeros, 1.0);
                let what = format!("{shape:?} {kernel:?} recompute={recompute} {precision}");
                assert_near(&format!("{what} loss"), &[loss], &[expected_loss], 2e-6);
                for ((name, found), expected) in NAMES.iter().zip(found.tensors()).zip(&expected) {
                    assert_near(&format!("{what} {name}"), found, expected, 3e-5);
                }
            }
        }
    }
}
