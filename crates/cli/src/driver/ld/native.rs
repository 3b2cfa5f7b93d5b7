//! What the native code says that a unit of bitcode lies beside.

use crate::args::Level;
use object::{Object, ObjectSymbol};
use std::collections::HashMap;
use zymase_llvm::requests::{COMMON_PREFIX, is_request};

/// How a unit is native already.
pub struct Native {
    /// The level of optimization, if the compiler wrote it down.
    pub level: Option<Level>,
    /// Whether it still calls requests.
    pub asks: bool,
    /// What it defines for others, and whether another definition may replace that; only for
    /// objects of rustc. Other compilers leave out functions that they have inlined everywhere, so
    /// what is not here may still be in the bitcode.
    pub defines: Option<HashMap<String, bool>>,
    /// The symbols of other units that it was optimized together with, under names which only that
    /// gave them.
    borrows: Vec<String>,
}

impl Native {
    /// Reads an object; `name` is that of its file or member.
    pub fn read(name: &str, object: &[u8], level: Option<Level>) -> Native {
        let by_rustc = name.trim_end_matches(')').ends_with(".rcgu.o");
        Native {
            level,
            asks: request(object).is_some(),
            defines: by_rustc.then(|| symbols(object)),
            borrows: if by_rustc {
                borrowed(object)
            } else {
                Vec::new()
            },
        }
    }

    /// Whether it uses what another unit has only in its native code.
    pub fn borrows_from(&self, other: &Native) -> bool {
        let defined = |name| other.defines.as_ref().is_some_and(|d| d.contains_key(name));
        self.borrows.iter().any(defined)
    }
}

/// What a native object defines for others, and whether another definition may replace it. A shared
/// library defines nothing that a derivative could be taken of, and whatever the program defines
/// comes before it.
pub fn symbols(object: &[u8]) -> HashMap<String, bool> {
    let file = object::File::parse(object).ok();
    let file = file.filter(|file| file.kind() == object::ObjectKind::Relocatable);
    let symbols = file.iter().flat_map(|file| file.symbols());
    let defined = symbols.filter(|symbol| symbol.is_definition() && symbol.is_global());
    defined
        .filter_map(|symbol| Some((symbol.name().ok()?.to_string(), symbol.is_weak())))
        .collect()
}

/// The request that a native object calls, if it does.
pub fn request(object: &[u8]) -> Option<String> {
    memchr::memmem::find(object, COMMON_PREFIX.as_bytes())?;
    undefined(object).find(|name| is_request(name))
}

/// rustc optimizes the parts of a crate together. What only one of them could see gets a name for
/// all of them, with this in it.
const PROMOTED: &str = ".llvm.";

fn borrowed(object: &[u8]) -> Vec<String> {
    if memchr::memmem::find(object, PROMOTED.as_bytes()).is_none() {
        return Vec::new();
    }
    undefined(object)
        .filter(|name| name.contains(PROMOTED))
        .collect()
}

/// The symbols that an object needs from others.
fn undefined(object: &[u8]) -> impl Iterator<Item = String> {
    let file = object::File::parse(object).ok();
    let names = file.iter().flat_map(|file| {
        let symbols = file.symbols().filter(|symbol| symbol.is_undefined());
        symbols
            .filter_map(|symbol| symbol.name().ok().map(str::to_string))
            .collect::<Vec<_>>()
    });
    names.collect::<Vec<_>>().into_iter()
}
