//! The inputs of a link: which of them are bitcode, or contain it.

use super::arguments::Arguments;
use super::display;
use crate::output;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_llvm::requests::{COMMON_PREFIX, is_request};

/// Everything that is linked.
pub struct Inputs {
    /// One for each argument, in order.
    pub inputs: Vec<Input>,
    /// All bitcode.
    pub units: Vec<Unit>,
}

/// An argument of the link.
pub enum Input {
    /// Goes on as it is.
    Passed(OsString),
    /// A bitcode object.
    Object(usize),
    /// An archive with bitcode in it.
    Archive(Archive),
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
    /// What it is.
    pub content: Content,
}

/// What a member of an archive is.
pub enum Content {
    /// Native code or anything else.
    Native(Vec<u8>),
    /// Bitcode.
    Unit(usize),
}

/// One module of bitcode.
pub struct Unit {
    /// What messages call it.
    pub name: String,
    /// The bitcode.
    pub bytes: Vec<u8>,
    /// Whether the code that is linked is native already, and this is only a copy beside it.
    pub native: bool,
    /// Whether it is a member of an archive, which is linked only if something needs it.
    pub optional: bool,
}

impl Unit {
    /// Whether a symbol of this name may occur. Bitcode has names as plain bytes.
    pub fn mentions(&self, name: &str) -> bool {
        memchr::memmem::find(&self.bytes, name.as_bytes()).is_some()
    }
}

impl Inputs {
    /// Looks at every argument that names a file.
    pub fn read(arguments: &Arguments) -> Result<Inputs> {
        let mut inputs = Inputs {
            inputs: Vec::new(),
            units: Vec::new(),
        };
        let mut is_output = false;
        for argument in &arguments.all {
            let input = match file_of(argument, arguments) {
                Some(path) if !is_output => inputs.read_file(&path)?,
                _ => None,
            };
            is_output = argument == "-o";
            inputs
                .inputs
                .push(input.unwrap_or_else(|| Input::Passed(argument.clone())));
        }
        Ok(inputs)
    }

    /// An input to be compiled, or none if the file goes on as it is.
    fn read_file(&mut self, path: &Path) -> Result<Option<Input>> {
        let bytes = output::read(path)?;
        if is_bitcode(&bytes) {
            return Ok(Some(Input::Object(self.add(
                display(path),
                bytes,
                false,
                false,
            ))));
        }
        if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
            return self.read_archive(path, &bytes);
        }
        match embedded_bitcode(&bytes) {
            Some(embedded) => {
                self.add(display(path), embedded, true, false);
            }
            None => refuse_native_requests(path, &bytes)?,
        }
        Ok(None)
    }

    fn read_archive(&mut self, path: &Path, bytes: &[u8]) -> Result<Option<Input>> {
        let broken = |reason: String| {
            let message = format!("cannot read the archive {}", path.display());
            Diagnostic::new(message, reason, "")
        };
        let archive = ArchiveFile::parse(bytes).map_err(|e| broken(e.to_string()))?;
        let mut members = Vec::new();
        for member in archive.members() {
            let member = member.map_err(|e| broken(e.to_string()))?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let data = match member.is_thin() {
                true => output::read(&path.with_file_name(&name))?,
                false => member
                    .data(bytes)
                    .map_err(|e| broken(e.to_string()))?
                    .to_vec(),
            };
            let unit_name = format!("{}({name})", path.display());
            let content = if is_bitcode(&data) {
                Content::Unit(self.add(unit_name, data, false, true))
            } else {
                if let Some(embedded) = embedded_bitcode(&data) {
                    self.add(unit_name, embedded, true, true);
                }
                Content::Native(data)
            };
            members.push(Member { name, content });
        }
        let rewritten = members
            .iter()
            .any(|member| matches!(member.content, Content::Unit(_)));
        let path = path.to_path_buf();
        Ok(rewritten.then_some(Input::Archive(Archive { path, members })))
    }

    fn add(&mut self, name: String, bytes: Vec<u8>, native: bool, optional: bool) -> usize {
        self.units.push(Unit {
            name,
            bytes,
            native,
            optional,
        });
        self.units.len() - 1
    }
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

/// Whether these bytes are bitcode, plain or in a wrapper.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B])
}

/// Refuses a native object that asks for a derivative: nobody can write it.
fn refuse_native_requests(path: &Path, bytes: &[u8]) -> Result<()> {
    if memchr::memmem::find(bytes, COMMON_PREFIX.as_bytes()).is_none() {
        return Ok(());
    }
    let Ok(file) = object::File::parse(bytes) else {
        return Ok(());
    };
    let names = file.symbols().filter(|symbol| symbol.is_undefined());
    let mut names = names.filter_map(|symbol| symbol.name().ok().map(str::to_string));
    match names.find(|name| is_request(name)) {
        None => Ok(()),
        Some(name) => Err(Diagnostic::new(
            format!("{} calls `{name}`, but has no bitcode", path.display()),
            "derivatives are written from bitcode, and another compiler made native code of it",
            "compile the file with `zymase cc`, or with clang and -flto",
        )),
    }
}

/// The bitcode that a compiler left beside native code.
fn embedded_bitcode(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = object::File::parse(bytes).ok()?;
    let section = file.section_by_name(".llvmbc")?;
    let data = section.data().ok()?;
    is_bitcode(data).then(|| data.to_vec())
}
