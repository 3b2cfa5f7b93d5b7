//! The inputs of a link: which of them are bitcode, or contain it.

use super::arguments::Arguments;
use super::native::{self, Native};
use super::{display, kernels};
use crate::{embedded, output};
use object::read::archive::ArchiveFile;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::{Code, Diagnostic, Result};
use zymase_llvm::requests::{Definition, definitions};
use zymase_llvm::{Context, Module};

/// Everything that is linked.
pub struct Inputs {
    /// One for each argument, in order.
    pub inputs: Vec<Input>,
    /// All bitcode.
    pub units: Vec<Unit>,
    /// What is native code without bitcode.
    pub natives: Vec<NativeCode>,
    /// Whether native code refers to kernels.
    pub wants_kernels: bool,
}

/// Native code without bitcode.
pub struct NativeCode {
    /// What messages call it.
    pub name: String,
    /// Whether it is a member of an archive.
    pub archived: bool,
    /// The symbols that it defines for others, and whether another definition may replace them.
    pub symbols: HashMap<String, bool>,
}

/// An argument of the link.
pub enum Input {
    /// Goes on as it is.
    Passed(OsString),
    /// An object that is bitcode, or carries it.
    Object {
        /// Its bitcode.
        unit: usize,
        /// The argument itself.
        argument: OsString,
        /// The file with its bitcode, if that is another one.
        bitcode: Option<PathBuf>,
    },
    /// An archive with bitcode in it.
    Archive {
        /// What is in it.
        archive: Archive,
        /// The argument itself.
        argument: OsString,
    },
}

/// An archive with bitcode in it.
pub struct Archive {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it, in order.
    pub members: Vec<Member>,
}

/// A member of an archive.
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it is as long as it is not compiled.
    pub bytes: Vec<u8>,
    /// Its bitcode, if it is or carries some.
    pub unit: Option<usize>,
}

/// One module of bitcode.
pub struct Unit {
    /// What messages call it.
    pub name: String,
    /// The bitcode.
    pub bytes: Vec<u8>,
    /// Whether it is a member of an archive.
    pub archived: bool,
    /// If the code that is linked is native already, and this is only a copy beside it: how.
    pub native: Option<Native>,
    /// What it defines for others, once somebody has asked. Where the native code is another
    /// compiler's, its symbols tell.
    definitions: OnceCell<HashMap<String, Definition>>,
}

impl Unit {
    /// Whether a symbol of this name may occur. Bitcode has names as plain bytes.
    pub fn mentions(&self, name: &str) -> bool {
        memchr::memmem::find(&self.bytes, name.as_bytes()).is_some()
    }

    /// Whether a compiler left it beside native code in an archive and did not write down how that
    /// was made, as in those of Rust's standard library. It cannot be made again, so single
    /// functions are taken from the bitcode, and the native code stays as it is.
    pub fn is_foreign(&self) -> bool {
        let again = |native: &Native| native.level.is_some() || native.asks;
        self.archived && self.native.as_ref().is_some_and(|native| !again(native))
    }

    /// How it defines a symbol for others.
    pub fn definition(&self, name: &str) -> Result<Definition> {
        let native = self
            .native
            .as_ref()
            .and_then(|native| native.defines.as_ref());
        match native.map(|defines| defines.get(name)) {
            Some(None) => return Ok(Definition::None),
            Some(Some(false)) => return Ok(Definition::Only),
            // Which kind of weak definition it is, only the bitcode knows.
            Some(Some(true)) => {}
            None if self.definitions.get().is_none() && !self.mentions(name) => {
                return Ok(Definition::None);
            }
            None => {}
        }
        let known = match self.definitions.get() {
            Some(known) => known,
            None => {
                let context = Context::new();
                let found = definitions(&Module::parse(&context, &self.bytes, &self.name)?);
                self.definitions.get_or_init(|| found)
            }
        };
        Ok(known.get(name).copied().unwrap_or(Definition::None))
    }
}

impl Inputs {
    /// Looks at every argument that names a file.
    pub fn read(arguments: &Arguments) -> Result<Inputs> {
        let mut inputs = Inputs {
            inputs: Vec::new(),
            units: Vec::new(),
            natives: Vec::new(),
            wants_kernels: false,
        };
        let mut is_output = false;
        for argument in &arguments.all {
            let input = match file_of(argument, arguments) {
                Some(path) if !is_output => inputs.read_file(&path, argument)?,
                _ => None,
            };
            is_output = argument == "-o";
            inputs
                .inputs
                .push(input.unwrap_or_else(|| Input::Passed(argument.clone())));
        }
        Ok(inputs)
    }

    /// An input with bitcode, or none if the file has nothing to do with it.
    fn read_file(&mut self, path: &Path, argument: &OsString) -> Result<Option<Input>> {
        let bytes = output::read(path)?;
        let argument = argument.clone();
        if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
            let archive = self.read_archive(path, &bytes)?;
            return Ok(archive.map(|archive| Input::Archive { archive, argument }));
        }
        let bitcode = file_beside(path);
        let unit = match &bitcode {
            Some(file) => Some(self.read_beside(path, &bytes, &output::read(file)?)),
            None => self.read_object(display(path), &bytes, false)?,
        };
        Ok(unit.map(|unit| Input::Object {
            unit,
            argument,
            bitcode,
        }))
    }

    /// The unit of an object whose bitcode is in a file of its own.
    fn read_beside(&mut self, path: &Path, object: &[u8], bitcode: &[u8]) -> usize {
        self.wants_kernels |= kernels::are_wanted(object);
        self.units.push(Unit {
            name: display(path),
            bytes: bitcode.to_vec(),
            archived: false,
            native: Some(Native::read(&display(path), object, None)),
            definitions: OnceCell::new(),
        });
        self.units.len() - 1
    }

    /// The bitcode of an object, if it is or carries some.
    fn read_object(&mut self, name: String, bytes: &[u8], archived: bool) -> Result<Option<usize>> {
        let object = bytes;
        self.wants_kernels |= kernels::are_wanted(object);
        let (bytes, native) = match embedded::is_bitcode(bytes) {
            true => (bytes.to_vec(), None),
            false => match (embedded::read(bytes), native::request(bytes)) {
                (Some((bitcode, level)), _) => (bitcode, Some(Native::read(&name, bytes, level))),
                (None, Some(request)) => return Err(asks_in_vain(&name, &request)),
                (None, None) => {
                    let symbols = native::symbols(bytes);
                    self.natives.push(NativeCode {
                        name,
                        archived,
                        symbols,
                    });
                    return Ok(None);
                }
            },
        };
        let unit = Unit {
            name,
            bytes,
            archived,
            native,
            definitions: OnceCell::new(),
        };
        if unit.is_foreign() {
            let kind = |weak| match weak {
                true => Definition::Weak,
                false => Definition::Only,
            };
            let symbols = native::symbols(object).into_iter();
            let symbols = symbols.map(|(name, weak)| (name, kind(weak)));
            unit.definitions.get_or_init(|| symbols.collect());
        }
        self.units.push(unit);
        Ok(Some(self.units.len() - 1))
    }

    fn read_archive(&mut self, path: &Path, bytes: &[u8]) -> Result<Option<Archive>> {
        let broken = |reason: String| {
            let message = format!("cannot read the archive {}", path.display());
            Diagnostic::new(
                Code::InvalidInput,
                message,
                reason,
                "make the archive again with ar",
            )
        };
        let archive = ArchiveFile::parse(bytes).map_err(|e| broken(e.to_string()))?;
        let mut members = Vec::new();
        for member in archive.members() {
            let member = member.map_err(|e| broken(e.to_string()))?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let bytes = match member.is_thin() {
                true => output::read(&path.with_file_name(&name))?,
                false => member
                    .data(bytes)
                    .map_err(|e| broken(e.to_string()))?
                    .to_vec(),
            };
            let place = format!("{}({name})", path.display());
            let unit = self.read_object(place, &bytes, true)?;
            members.push(Member { name, bytes, unit });
        }
        let has_bitcode = members.iter().any(|member| member.unit.is_some());
        let path = path.to_path_buf();
        Ok(has_bitcode.then_some(Archive { path, members }))
    }
}

/// The file that rustc wrote the bitcode of an object to, as `cargo zymase` asks it to for programs
/// that are not optimized. Only rustc names files like this.
fn file_beside(object: &Path) -> Option<PathBuf> {
    let name = object.file_name()?.to_str()?;
    let bitcode = object.with_file_name(format!("{}.rcgu.bc", name.strip_suffix(".rcgu.o")?));
    bitcode.is_file().then_some(bitcode)
}

/// The file that an argument stands for: itself, or the archive that `-l` finds.
fn file_of(argument: &OsString, arguments: &Arguments) -> Option<PathBuf> {
    let Some(text) = argument.to_str().filter(|text| text.starts_with('-')) else {
        return Some(PathBuf::from(argument)).filter(|path| path.is_file());
    };
    let library = text.strip_prefix("-l").filter(|name| !name.is_empty())?;
    for folder in &arguments.folders {
        // A shared library in the same folder comes first, and then the linker takes that.
        if folder.join(format!("lib{library}.so")).exists() {
            return None;
        }
        let archive = folder.join(format!("lib{library}.a"));
        if archive.is_file() {
            return Some(archive);
        }
    }
    None
}

/// The refusal of a native object that asks for a derivative: nobody can write it.
fn asks_in_vain(object: &str, request: &str) -> Box<Diagnostic> {
    Diagnostic::new(
        Code::NoBitcode,
        format!("{object} calls `{request}`, but has no bitcode"),
        "derivatives are written from bitcode, and another compiler made native code of it",
        "compile the file with `zymase cc`, or with clang and -flto",
    )
}
