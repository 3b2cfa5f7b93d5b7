//! Keeps what a link read, so that `cargo zymase explain` can look at it again.
//!
//! rustc removes the objects of a program as soon as it is linked, and cargo links only what has
//! changed. So a link that is asked to (`ZYMASE_KEEP_LINK`) makes a folder beside its output, with
//! other names for those objects and a file `inputs` that lists everything with bitcode. A folder
//! that an earlier link left goes away, and so do files with bitcode that rustc would leave.

use super::arguments::quoted;
use super::inputs::{Input, Inputs};
use crate::output;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::Result;

/// Keeps the inputs of a link with requests, if somebody wants that.
pub fn keep(args: &[OsString], inputs: &Inputs, asks: bool) -> Result<()> {
    if std::env::var_os("ZYMASE_KEEP_LINK").is_none() {
        return Ok(());
    }
    let position = args.iter().position(|argument| argument == "-o");
    let Some(mut folder) = position
        .and_then(|position| args.get(position + 1))
        .cloned()
    else {
        return Ok(());
    };
    folder.push(".zymase");
    let folder = PathBuf::from(folder);
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder).map_err(|e| output::cannot_write(&folder, &e))?;
    }
    if asks {
        keep_in(&folder, inputs)?;
    }
    for input in &inputs.inputs {
        if let Input::Object {
            bitcode: Some(file),
            ..
        } = input
        {
            std::fs::remove_file(file).map_err(|e| output::cannot_write(file, &e))?;
        }
    }
    Ok(())
}

/// Keeps the inputs in a folder.
fn keep_in(folder: &Path, inputs: &Inputs) -> Result<()> {
    std::fs::create_dir(folder).map_err(|e| output::cannot_write(folder, &e))?;
    let mut list = String::new();
    for (number, input) in inputs.inputs.iter().enumerate() {
        let path = match input {
            Input::Passed(_) => continue,
            Input::Archive { archive, .. } => archive.path.clone(),
            Input::Object {
                argument, bitcode, ..
            } => {
                let copy = folder.join(format!("{number}.o"));
                let object = bitcode.as_deref().unwrap_or(Path::new(argument));
                if std::fs::hard_link(object, &copy).is_err() {
                    std::fs::copy(object, &copy).map_err(|e| output::cannot_write(&copy, &e))?;
                }
                copy
            }
        };
        let path = std::path::absolute(&path).unwrap_or(path);
        list.push_str(&quoted(path.as_os_str()));
        list.push('\n');
    }
    output::write(&folder.join("inputs"), list.as_bytes())
}
