//! Keeps what a link read, so that `cargo zymase explain` can look at it again.
//!
//! rustc removes the objects of a program as soon as it is linked, and cargo links only what has
//! changed. So a link that is asked to (`ZYMASE_KEEP_LINK`) makes a folder beside its output, with
//! other names for the objects that derivatives were made from, and a file `inputs` that lists them
//! and all archives with bitcode. A folder that an earlier link left goes away, and so do files with
//! bitcode that rustc would leave.

use super::arguments::quoted;
use super::inputs::{Input, Inputs};
use crate::output;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::Result;

/// How large the folder may become in which the linker keeps compiled bitcode.
const LARGEST_CACHE: &str = "cache_size_bytes=1g";

/// Keeps the units that derivatives were made from, if somebody wants that.
pub fn keep(args: &[OsString], inputs: &Inputs, used: &BTreeSet<usize>) -> Result<()> {
    let Some(mut folder) = output_to_keep(args).cloned() else {
        return Ok(());
    };
    folder.push(".zymase");
    let folder = PathBuf::from(folder);
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder).map_err(|e| output::cannot_write(&folder, &e))?;
    }
    if !used.is_empty() {
        keep_in(&folder, inputs, used)?;
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

/// The options by which a linker keeps what it compiles of bitcode, for the next link.
pub fn cache_options(args: &[OsString]) -> Vec<OsString> {
    let Some(output) = output_to_keep(args) else {
        return Vec::new();
    };
    let folder = Path::new(output).with_file_name("zymase-cache");
    let mut option = OsString::from("--thinlto-cache-dir=");
    option.push(folder);
    let policy = OsString::from(format!("--thinlto-cache-policy={LARGEST_CACHE}"));
    vec!["-Xlinker".into(), option, "-Xlinker".into(), policy]
}

/// The output of a link, if something is to be kept beside it.
fn output_to_keep(args: &[OsString]) -> Option<&OsString> {
    std::env::var_os("ZYMASE_KEEP_LINK")?;
    let position = args.iter().position(|argument| argument == "-o")?;
    args.get(position + 1)
}

/// Keeps the inputs in a folder.
fn keep_in(folder: &Path, inputs: &Inputs, used: &BTreeSet<usize>) -> Result<()> {
    std::fs::create_dir(folder).map_err(|e| output::cannot_write(folder, &e))?;
    let mut list = String::new();
    for (number, input) in inputs.inputs.iter().enumerate() {
        let path = match input {
            Input::Object { unit, .. } if !used.contains(unit) => continue,
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
