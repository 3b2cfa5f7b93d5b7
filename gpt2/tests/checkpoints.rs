//! Checkpoints come back as they were, and wrong ones are refused.

use crate::common::{METHOD, TINY, bits, model, refused, trainer};
use std::fs;
use zymase_gpt2::checkpoint::{Checkpoint, write_safely};
use zymase_gpt2::data::embedded;
use zymase_gpt2::parameters::{NAMES, shapes};
use zymase_gpt2::tokenizer::{Learned, Tokenizer};
use zymase_gpt2::{Config, Parameters};

#[test]
fn models_come_back_from_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    let learned = Tokenizer::Learned(Learned::learn(&embedded(), 300));
    let odd = Config {
        vocabulary: 300,
        padded_vocabulary: 384,
        ..TINY
    };
    let mut other = Checkpoint {
        config: odd,
        parameters: Parameters::random(&odd, 3),
        tokenizer: Some(learned),
        training: None,
    };
    // Bits that arithmetic would change.
    other.parameters.lnfb[0] = f32::from_bits(0x7fc0_1234);
    other.parameters.lnfb[1] = -0.0;
    for checkpoint in [model(), other] {
        for name in ["a.safetensors", "a.bin"] {
            let file = folder.path().join(name);
            checkpoint.write(&file).unwrap();
            let mut found = Checkpoint::read(&file).unwrap();
            assert_eq!(bits(&found.parameters), bits(&checkpoint.parameters));
            if name == "a.bin" {
                // It has no place for the tokenizer.
                found.tokenizer = checkpoint.tokenizer.clone();
            }
            assert_eq!(found.config, checkpoint.config);
            assert_eq!(found.tokenizer, checkpoint.tokenizer);
            assert_eq!(found.training, None);
        }
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        2,
        "a temporary file is left"
    );
}

#[test]
fn training_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.safetensors");
    let mut trainer = trainer(METHOD, 2);
    trainer.validate().unwrap();
    for _ in 0..3 {
        trainer.step(|| false).unwrap();
    }
    trainer.validate().unwrap();
    trainer.save(&file).unwrap();
    let found = Checkpoint::read(&file).unwrap();
    assert_eq!(found.training.as_ref(), Some(trainer.training()));
    assert_eq!(&found.parameters, trainer.parameters());
    // Anybody's reader finds the tensors by their names and shapes.
    let bytes = fs::read(&file).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    for prefix in ["", "first.", "second."] {
        for (name, shape) in NAMES.iter().zip(shapes(&TINY)) {
            let tensor = tensors.tensor(&format!("{prefix}{name}")).unwrap();
            assert_eq!(tensor.shape(), shape);
        }
    }
}

#[test]
fn wrong_safetensors_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("good.safetensors");
    let mut trainer = trainer(METHOD, 1);
    trainer.step(|| false).unwrap();
    trainer.save(&file).unwrap();
    let good = fs::read(&file).unwrap();
    let length = u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    let text = String::from_utf8(good[8..][..length].to_vec()).unwrap();
    // The same file with something else in its header, of another length.
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let text = text.replacen(from, to, 1);
        let length = (text.len() as u64).to_le_bytes();
        [&length[..], text.as_bytes(), &good[8 + length_of(&good)..]].concat()
    };
    let huge = [&u64::MAX.to_le_bytes()[..], &good[8..]].concat();
    let big = [&50_000_000u64.to_le_bytes()[..], &good[8..]].concat();
    let longer = [&good[..], &[0; 4]].concat();
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", vec![], "truncated or corrupt"),
        ("one", vec![1], "truncated or corrupt"),
        ("noise", vec![b'x'; 5000], "truncated or corrupt"),
        (
            "cut",
            good[..good.len() - 1].to_vec(),
            "truncated or corrupt",
        ),
        ("cut-header", good[..100].to_vec(), "truncated or corrupt"),
        ("long", longer, "truncated or corrupt"),
        ("huge-header", huge, "truncated or corrupt"),
        ("big-header", big, "truncated or corrupt"),
        (
            "foreign",
            with("zymase-gpt2", "other"),
            "not a model of this program",
        ),
        (
            "version",
            with("\\\"version\\\":1", "\\\"version\\\":9"),
            "version 9",
        ),
        (
            "shape",
            with("\\\"layers\\\":2", "\\\"layers\\\":3"),
            "has the shape [2, 8]",
        ),
        (
            "heads",
            with("\\\"heads\\\":2", "\\\"heads\\\":3"),
            "cannot be divided",
        ),
        (
            "size",
            with("\\\"channels\\\":8", "\\\"channels\\\":-8"),
            "no size \"channels\"",
        ),
        (
            "many",
            with("\\\"channels\\\":8", "\\\"channels\\\":2000000000"),
            "more than can be counted",
        ),
        (
            "tokenizer",
            with("\\\"bytes\\\"", "\\\"gpt2\\\""),
            "its tokenizer has 50257 tokens",
        ),
        (
            "unknown",
            with("\\\"bytes\\\"", "\\\"words\\\""),
            "a tokenizer that is not known",
        ),
        (
            "name",
            with("\"qkvw\"", "\"qkww\""),
            "it has no tensor \"qkvw\"",
        ),
        (
            "moment",
            with("\"first.wte\"", "\"third.wte\""),
            "it has no tensor \"first.wte\"",
        ),
        (
            "steps",
            with("\\\"step\\\":1", "\\\"step\\\":2"),
            "do not belong together",
        ),
        (
            "settings",
            with("\\\"clip\\\"", "\\\"clap\\\""),
            "the settings",
        ),
    ];
    for (name, bytes, expected) in table {
        let error = refused(folder.path(), name, &bytes);
        assert!(error.contains(expected), "{name}: {error}");
    }
}

fn length_of(file: &[u8]) -> usize {
    u64::from_le_bytes(file[..8].try_into().unwrap()) as usize
}

#[test]
fn any_cut_or_change_of_a_header_is_an_error_or_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let seed = 21;
    println!("seed {seed}");
    let mut random = zymase_gpt2::random::Random::new(seed);
    for name in ["a.safetensors", "a.bin"] {
        let file = folder.path().join(name);
        model().write(&file).unwrap();
        let good = fs::read(&file).unwrap();
        for _ in 0..300 {
            let mut bytes = good.clone();
            if random.below(3) == 0 {
                bytes.truncate(random.below(good.len()));
            }
            for _ in 0..random.below(4) {
                let at = random.below(bytes.len().clamp(1, 2048));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.bits() as u8;
                }
            }
            fs::write(&file, bytes).unwrap();
            // It must only not panic.
            let _ = Checkpoint::read(&file);
        }
    }
}

#[test]
fn a_write_that_fails_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.safetensors");
    model().write(&file).unwrap();
    let before = fs::read(&file).unwrap();
    let error = write_safely(&file, |out| {
        use std::io::Write;
        out.write_all(b"half")?;
        Err(std::io::ErrorKind::StorageFull.into())
    });
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("a.safetensors") && error.contains("make room"),
        "{error}"
    );
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn places_where_nothing_can_be_written_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("folder.bin");
    fs::create_dir(&inside).unwrap();
    let missing = folder.path().join("missing").join("a.bin");
    for (path, expected) in [
        (inside.as_path(), "cannot write"),
        (&missing, "cannot write"),
        (
            &folder.path().join("a.txt"),
            "let it end in .safetensors or .bin",
        ),
    ] {
        let error = model().write(path).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
