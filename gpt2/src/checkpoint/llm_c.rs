//! The layout of llm.c: 256 numbers of 32 bits, of which the first are a magic number, the version and
//! the shape; then the tensors in the order of [`NAMES`](crate::parameters::NAMES), numbers of 32 bits.

use super::{Checkpoint, Parts, count, sizes, write_safely};
use crate::error::{Error, Result};
use crate::tokenizer::Tokenizer;
use crate::{Config, Parameters};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

/// What a file begins with.
pub const MAGIC: u32 = 20240326;
/// Numbers of 32 bits, and a padded vocabulary.
const VERSION: u32 = 3;
const HEADER: usize = 1024;
const REMEDY: &str = "get the file again";

/// Reads a model.
pub fn read(path: &Path) -> Result<Checkpoint> {
    let complain = |problem: String| Error::file(path, problem, REMEDY);
    let mut file = File::open(path).map_err(Error::io(path, "read"))?;
    let found = file.metadata().map_err(Error::io(path, "read"))?.len();
    if found < HEADER as u64 {
        return Err(complain(format!(
            "truncated: {found} bytes are less than a header"
        )));
    }
    let mut header = [0; HEADER];
    file.read_exact(&mut header)
        .map_err(Error::io(path, "read"))?;
    let config = config(path, &header)?;

    // Nothing is allocated before the size that the header asks for is that of the file.
    let expected = file_size(&config)
        .ok_or_else(|| complain("its header asks for more than can be counted".into()))?;
    if found != expected {
        let problem = if found < expected {
            "truncated"
        } else {
            "bytes after the end"
        };
        return Err(complain(format!(
            "{problem}: a model of this shape has {expected} bytes, and the file has {found}"
        )));
    }
    let sizes = sizes(&config).unwrap_or_default();
    let mut tensors = [const { Vec::new() }; 16];
    for (tensor, size) in tensors.iter_mut().zip(sizes) {
        *tensor = numbers(&mut file, size).map_err(Error::io(path, "read"))?;
    }
    Ok(Checkpoint {
        config,
        parameters: Parameters::from_tensors(tensors),
        tokenizer: Tokenizer::for_vocabulary(config.vocabulary),
        training: None,
    })
}

/// The shape that a header says.
fn config(path: &Path, header: &[u8; HEADER]) -> Result<Config> {
    let number = |index: usize| {
        let bytes = [0, 1, 2, 3].map(|byte| header[index * 4 + byte]);
        i32::from_le_bytes(bytes)
    };
    if number(0) as u32 != MAGIC {
        return Err(Error::file(
            path,
            "not a model (it does not begin with 20240326)",
            REMEDY,
        ));
    }
    if number(1) as u32 != VERSION {
        return Err(Error::file(
            path,
            format!("version {} of the format is not known", number(1)),
            "export it with version 3, which has numbers of 32 bits",
        ));
    }
    let size = |index: usize| {
        usize::try_from(number(index)).map_err(|_| {
            let problem = format!("corrupt header: size {} is {}", index - 1, number(index));
            Error::file(path, problem, REMEDY)
        })
    };
    let config = Config {
        positions: size(2)?,
        vocabulary: size(3)?,
        layers: size(4)?,
        heads: size(5)?,
        channels: size(6)?,
        padded_vocabulary: size(7)?,
    };
    config
        .check()
        .map_err(|error| Error::file(path, format!("corrupt header: {error}"), REMEDY))?;
    Ok(config)
}

/// How many bytes the file of a model has; none if it is more than can be counted.
pub fn file_size(config: &Config) -> Option<u64> {
    let bytes = count(config)? as u64 * 4;
    bytes.checked_add(HEADER as u64)
}

fn numbers(file: &mut File, count: usize) -> std::io::Result<Vec<f32>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count)?;
    let mut buffer = vec![0; 1 << 20];
    while numbers.len() < count {
        let bytes = &mut buffer[..((count - numbers.len()) * 4).min(1 << 20)];
        file.read_exact(bytes)?;
        let (chunks, _) = bytes.as_chunks::<4>();
        numbers.extend(chunks.iter().map(|&chunk| f32::from_le_bytes(chunk)));
    }
    Ok(numbers)
}

/// Writes a model.
pub fn write(parts: Parts, path: &Path) -> Result<()> {
    let config = parts.config;
    let mut header = [0; HEADER];
    let shape = [
        config.positions,
        config.vocabulary,
        config.layers,
        config.heads,
        config.channels,
        config.padded_vocabulary,
    ];
    let mut words = vec![MAGIC, VERSION];
    for size in shape {
        let size = i32::try_from(size).map_err(|_| {
            let problem = format!("a size of {size} does not fit into the header");
            Error::file(path, problem, "choose .safetensors")
        })?;
        words.push(size as u32);
    }
    for (index, word) in words.into_iter().enumerate() {
        header[index * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
    write_safely(path, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(&header)?;
        for tensor in parts.parameters.tensors() {
            for number in tensor {
                out.write_all(&number.to_le_bytes())?;
            }
        }
        out.flush()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_model_has_the_published_size() {
        assert_eq!(file_size(&Config::GPT2_124M), Some(497_904_640));
    }
}
