//! The format safetensors: a tensor for each of the sixteen, `first.…` and `second.…` for the moments
//! of the optimizer, the losses so far, and everything else as JSON in the metadata.

use super::{Checkpoint, History, Parts, Training, count, write_safely};
use crate::data::Position;
use crate::error::{Error, Result};
use crate::optimizer::Moments;
use crate::parameters::{NAMES, shapes};
use crate::tokenizer::Tokenizer;
use crate::train::Settings;
use crate::{Config, Parameters};
use memmap2::Mmap;
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const FORMAT: &str = "zymase-gpt2";
const VERSION: u64 = 1;
const REMEDY: &str = "use a checkpoint that `gpt2 train` or `gpt2 convert` wrote";

/// Reads a model, and where its training is if the file says it.
pub fn read(path: &Path) -> Result<Checkpoint> {
    read_parts(path).map_err(|error| match error {
        Failure::Problem(problem) => Error::file(path, problem, REMEDY),
        Failure::Io(error) => Error::io(path, "read")(error),
    })
}

enum Failure {
    Problem(String),
    Io(std::io::Error),
}

impl From<String> for Failure {
    fn from(problem: String) -> Failure {
        Failure::Problem(problem)
    }
}

fn read_parts(path: &Path) -> std::result::Result<Checkpoint, Failure> {
    let file = File::open(path).map_err(Failure::Io)?;
    if !file.metadata().map_err(Failure::Io)?.is_file() {
        return Err("not a file".to_string().into());
    }
    // SAFETY: the bytes are only read, and copied before this function returns.
    let map = unsafe { Mmap::map(&file) }.map_err(Failure::Io)?;
    let broken = |error| format!("truncated or corrupt ({error})");
    let (_, metadata) = SafeTensors::read_metadata(&map).map_err(broken)?;
    let tensors = SafeTensors::deserialize(&map).map_err(broken)?;
    let metadata: Value = metadata
        .metadata()
        .as_ref()
        .and_then(|metadata| metadata.get(FORMAT))
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or("not a model of this program: nothing in its metadata says the shape".to_string())?;
    if metadata["version"] != VERSION {
        let version = &metadata["version"];
        return Err(format!("version {version} of the format is not known").into());
    }
    let config = config(&metadata["config"])?;
    let tokenizer = match &metadata["tokenizer"] {
        Value::Null => Tokenizer::for_vocabulary(config.vocabulary),
        value => Some(Tokenizer::from_json(value)?),
    };
    if let Some(tokenizer) = &tokenizer
        && tokenizer.vocabulary() != config.vocabulary
    {
        return Err(format!(
            "its tokenizer has {} tokens and its model {}",
            tokenizer.vocabulary(),
            config.vocabulary
        )
        .into());
    }
    let training = match &metadata["training"] {
        Value::Null => None,
        value => Some(training(value, &tensors, &config)?),
    };
    Ok(Checkpoint {
        config,
        parameters: parameters(&tensors, "", &config)?,
        tokenizer,
        training,
    })
}

fn config(value: &Value) -> std::result::Result<Config, String> {
    let size = |name: &str| {
        value[name]
            .as_u64()
            .and_then(|size| usize::try_from(size).ok())
            .ok_or_else(|| format!("its metadata has no size \"{name}\""))
    };
    let config = Config {
        positions: size("positions")?,
        vocabulary: size("vocabulary")?,
        padded_vocabulary: size("padded_vocabulary")?,
        layers: size("layers")?,
        heads: size("heads")?,
        channels: size("channels")?,
    };
    config.check().map_err(|error| error.to_string())?;
    if config.padded_vocabulary > i32::MAX as usize || count(&config).is_none() {
        return Err("its metadata asks for more than can be counted".into());
    }
    Ok(config)
}

fn training(
    value: &Value,
    tensors: &SafeTensors,
    config: &Config,
) -> std::result::Result<Training, String> {
    let settings: Settings = serde_json::from_value(value["settings"].clone())
        .map_err(|error| format!("the settings in its metadata cannot be read ({error})"))?;
    let position: Position = serde_json::from_value(value["position"].clone())
        .map_err(|error| format!("the position in its metadata cannot be read ({error})"))?;
    let number = |name: &str| {
        value[name]
            .as_u64()
            .ok_or_else(|| format!("its metadata has no number \"{name}\""))
    };
    let history = History {
        training: vector(tensors, "losses.training", Dtype::F32, f32::from_le_bytes)?,
        validation_steps: vector(
            tensors,
            "losses.validation_steps",
            Dtype::U32,
            u32::from_le_bytes,
        )?,
        validation: vector(tensors, "losses.validation", Dtype::F32, f32::from_le_bytes)?,
    };
    if history.validation.len() != history.validation_steps.len() {
        return Err("its losses do not belong together".into());
    }
    let step = number("step")?;
    if step != history.training.len() as u64 || step > u32::MAX.into() {
        return Err("its steps and its losses do not belong together".into());
    }
    Ok(Training {
        settings,
        step,
        position,
        tokens: number("tokens")? as usize,
        moments: Moments {
            first: parameters(tensors, "first.", config)?,
            second: parameters(tensors, "second.", config)?,
        },
        history,
    })
}

fn parameters(
    tensors: &SafeTensors,
    prefix: &str,
    config: &Config,
) -> std::result::Result<Parameters, String> {
    let mut parts = [const { Vec::new() }; 16];
    for ((part, name), shape) in parts.iter_mut().zip(NAMES).zip(shapes(config)) {
        let name = format!("{prefix}{name}");
        let tensor = tensors
            .tensor(&name)
            .map_err(|_| format!("it has no tensor \"{name}\""))?;
        if tensor.shape() != shape {
            return Err(format!(
                "tensor \"{name}\" has the shape {:?}, and that of this model is {shape:?}",
                tensor.shape()
            ));
        }
        *part = vector(tensors, &name, Dtype::F32, f32::from_le_bytes)?;
    }
    Ok(Parameters::from_tensors(parts))
}

/// The numbers of a tensor.
fn vector<T>(
    tensors: &SafeTensors,
    name: &str,
    kind: Dtype,
    number: fn([u8; 4]) -> T,
) -> std::result::Result<Vec<T>, String> {
    let tensor = tensors
        .tensor(name)
        .map_err(|_| format!("it has no tensor \"{name}\""))?;
    if tensor.dtype() != kind {
        let found = tensor.dtype();
        return Err(format!(
            "tensor \"{name}\" is of {found:?}, not of {kind:?}"
        ));
    }
    let (chunks, _) = tensor.data().as_chunks::<4>();
    Ok(chunks.iter().map(|&chunk| number(chunk)).collect())
}

/// Writes a model, and where its training is if it is known.
pub fn write(parts: Parts, path: &Path) -> Result<()> {
    let config = parts.config;
    let mut metadata = json!({
        "version": VERSION,
        "config": {
            "positions": config.positions,
            "vocabulary": config.vocabulary,
            "padded_vocabulary": config.padded_vocabulary,
            "layers": config.layers,
            "heads": config.heads,
            "channels": config.channels,
        },
        "tokenizer": parts.tokenizer.map(Tokenizer::to_json),
    });
    let mut tensors: Vec<Tensor> = named("", parts.parameters, config).collect();
    if let Some(training) = parts.training {
        metadata["training"] = json!({
            "settings": training.settings,
            "step": training.step,
            "position": training.position,
            "tokens": training.tokens,
        });
        tensors.extend(named("first.", &training.moments.first, config));
        tensors.extend(named("second.", &training.moments.second, config));
        let history = &training.history;
        let mut flat = |name: &str, length, data| {
            tensors.push(Tensor {
                name: name.into(),
                shape: vec![length],
                data,
            });
        };
        let (steps, validation) = (&history.validation_steps, &history.validation);
        flat(
            "losses.training",
            history.training.len(),
            Data::F32(&history.training),
        );
        flat("losses.validation", validation.len(), Data::F32(validation));
        flat("losses.validation_steps", steps.len(), Data::U32(steps));
    }
    let metadata = HashMap::from([(FORMAT.to_string(), metadata.to_string())]);
    let header = header(&tensors, metadata).map_err(Error::io(path, "write"))?;
    // Tensors are written one by one: all of them in memory once more could be too much.
    write_safely(path, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(&header)?;
        for tensor in &tensors {
            match tensor.data {
                Data::F32(data) => write_all(&mut out, data.iter().map(|x| x.to_le_bytes()))?,
                Data::U32(data) => write_all(&mut out, data.iter().map(|x| x.to_le_bytes()))?,
            }
        }
        out.flush()
    })
}

fn write_all(out: &mut impl Write, numbers: impl Iterator<Item = [u8; 4]>) -> io::Result<()> {
    for number in numbers {
        out.write_all(&number)?;
    }
    Ok(())
}

/// The length of the header, and the header: padded with spaces so that tensors are aligned.
fn header(tensors: &[Tensor], metadata: HashMap<String, String>) -> io::Result<Vec<u8>> {
    let mut end = 0;
    let infos = tensors.iter().map(|tensor| {
        let start = end;
        end += tensor.shape.iter().product::<usize>() * 4;
        let info = TensorInfo {
            dtype: match tensor.data {
                Data::F32(_) => Dtype::F32,
                Data::U32(_) => Dtype::U32,
            },
            shape: tensor.shape.clone(),
            data_offsets: (start, end),
        };
        (tensor.name.clone(), info)
    });
    let metadata = Metadata::new(Some(metadata), infos.collect())
        .map_err(|error| io::Error::other(error.to_string()))?;
    let mut text = serde_json::to_vec(&metadata)?;
    text.resize(text.len().next_multiple_of(8), b' ');
    Ok([&(text.len() as u64).to_le_bytes()[..], &text].concat())
}

fn named<'a>(
    prefix: &str,
    parameters: &'a Parameters,
    config: &Config,
) -> impl Iterator<Item = Tensor<'a>> {
    let tensors = parameters.tensors().into_iter().zip(shapes(config));
    NAMES
        .iter()
        .zip(tensors)
        .map(move |(name, (tensor, shape))| Tensor {
            name: format!("{prefix}{name}"),
            shape,
            data: Data::F32(tensor),
        })
}

struct Tensor<'a> {
    name: String,
    shape: Vec<usize>,
    data: Data<'a>,
}

enum Data<'a> {
    F32(&'a [f32]),
    U32(&'a [u32]),
}
