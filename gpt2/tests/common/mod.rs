//! What several tests need.
#![allow(dead_code)]

use std::fs;
use std::path::Path;
use zymase_gpt2::checkpoint::Checkpoint;
use zymase_gpt2::data::{Data, Input};
use zymase_gpt2::method::{Backward, Kernel, Method};
use zymase_gpt2::tokenizer::Tokenizer;
use zymase_gpt2::train::{Settings, Trainer};
use zymase_gpt2::{Config, Parameters};

/// A model of bytes that is trained in no time.
pub const TINY: Config = Config {
    positions: 12,
    vocabulary: 256,
    padded_vocabulary: 256,
    layers: 2,
    heads: 2,
    channels: 8,
};

/// A few steps with several batches each.
pub fn settings() -> Settings {
    Settings {
        steps: 8,
        batch: 2,
        length: 10,
        accumulate: 3,
        warmup: 2,
        validate_every: 4,
        validate_sequences: 3,
        ..Settings::default()
    }
}

/// The backward pass that does not depend on what the compiler does.
pub const METHOD: Method = Method {
    backward: Backward::ByHand,
    kernel: Kernel::Blocked,
    recompute: false,
};

/// About 2000 bytes of text.
pub fn text() -> String {
    (0..180)
        .map(|number| format!("line {}\n", number * 7919 % 1000))
        .collect()
}

/// The text as bytes.
pub fn data() -> Data {
    Data::new("text", &Input::Text(text()), &Tokenizer::Bytes).unwrap()
}

/// A new model.
pub fn model() -> Checkpoint {
    Checkpoint {
        config: TINY,
        parameters: Parameters::random(&TINY, 7),
        tokenizer: Some(Tokenizer::Bytes),
        training: None,
    }
}

/// Training of a new model.
pub fn trainer(method: Method, threads: usize) -> Trainer {
    Trainer::new(model(), settings(), data(), method, threads).unwrap()
}

/// All bits of parameters.
pub fn bits(parameters: &Parameters) -> Vec<u32> {
    let tensors = parameters.tensors();
    tensors
        .iter()
        .flat_map(|tensor| tensor.iter().map(|number| number.to_bits()))
        .collect()
}

/// Reads bytes as a checkpoint and gives the error.
pub fn refused(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let file = folder.join(name);
    fs::write(&file, bytes).unwrap();
    let error = Checkpoint::read(&file).err();
    let error = error
        .unwrap_or_else(|| panic!("{name} is read"))
        .to_string();
    assert!(error.contains(name) && !error.contains('\n'), "{error}");
    error
}
