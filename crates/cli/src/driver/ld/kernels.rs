//! The kernels: an object that programs are linked with if something in them refers to it.
//!
//! Objects with derivatives refer to kernels by weak symbols and do without where these are null, so
//! they link with any linker. This one looks for such references and gives them their object. The
//! object is the crate `zymase-rt`, made when the driver was built.

use super::arguments::Arguments;
use crate::output;
use object::{Object, ObjectSymbol};
use std::ffi::OsString;
use std::path::Path;
use zymase_core::diagnostic::Result;

/// What all kernels are called at the beginning.
const PREFIX: &str = "__zymase_product_";

/// The kernels for the machine that the driver runs on; empty where there are none.
const KERNELS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernels.o"));

/// Whether a native object refers to a kernel that the object here has, for the same processor.
pub fn are_wanted(object: &[u8]) -> bool {
    if memchr::memmem::find(object, PREFIX.as_bytes()).is_none() {
        return false;
    }
    let (Ok(file), Ok(kernels)) = (object::File::parse(object), object::File::parse(KERNELS))
    else {
        return false;
    };
    let machine = |file: &object::File| (file.format(), file.architecture(), file.is_64());
    let mut symbols = file.symbols().filter(|symbol| symbol.is_undefined());
    machine(&file) == machine(&kernels)
        && symbols.any(|symbol| symbol.name().is_ok_and(|name| name.contains(PREFIX)))
}

/// What a link needs for kernels: arguments that come first and last. Nothing if another link is to
/// follow, or if there is no C library.
pub fn arguments(arguments: &Arguments, scratch: &Path) -> Result<[Option<OsString>; 2]> {
    let none = [
        "-r",
        "-Wl,-r",
        "--relocatable",
        "-Wl,--relocatable",
        "-nostdlib",
        "-nolibc",
    ];
    if arguments
        .all
        .iter()
        .any(|argument| none.iter().any(|none| argument == none))
    {
        return Ok([None, None]);
    }
    let path = scratch.join("kernels.o");
    output::write(&path, KERNELS)?;
    // Where libraries are searched for once, in order, everything that the kernels use comes after
    // them. C libraries that have threads in themselves have an empty library of this name.
    Ok([Some(path.into_os_string()), Some("-lpthread".into())])
}
