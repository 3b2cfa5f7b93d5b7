//! The arguments of a link: response files opened, options that concern bitcode read.

use crate::args::{CompileOptions, Level};
use crate::output;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::{Code, Diagnostic, Result};

/// How long a command line may be before it goes into a file.
const LONG: usize = 100_000;

/// The arguments of a link.
pub struct Arguments {
    /// All of them, without response files and without options for a linker that reads bitcode.
    pub all: Vec<OsString>,
    /// The folders of `-L`.
    pub folders: Vec<PathBuf>,
    /// Whether the compilers left optimization to the linker.
    pub lto: bool,
    /// Whether the linker that runs in the end reads the same bitcode as we do.
    pub reads_bitcode: bool,
    /// Whether the linker leaves debug information out of what it writes.
    pub strips_debug: bool,
    /// How derivatives are made.
    pub options: CompileOptions,
}

impl Arguments {
    /// Reads the arguments.
    pub fn read(args: &[OsString]) -> Result<Arguments> {
        let mut arguments = Arguments {
            all: Vec::new(),
            folders: Vec::new(),
            lto: false,
            reads_bitcode: false,
            strips_debug: false,
            options: CompileOptions::default(),
        };
        let opened = open_response_files(args)?;
        arguments.reads_bitcode = is_rust_lld(&opened);
        for argument in opened {
            arguments.add(argument);
        }
        let all = &arguments.all;
        for (position, argument) in all.iter().enumerate() {
            let folder = match argument.to_str().and_then(|text| text.strip_prefix("-L")) {
                Some("") => all.get(position + 1).map(PathBuf::from),
                Some(folder) => Some(PathBuf::from(folder)),
                None => None,
            };
            arguments.folders.extend(folder);
        }
        Ok(arguments)
    }

    /// Whether bitcode that asks for nothing is left to the linker. That one spends the same time
    /// on code that is not to be optimized, so such code is compiled here.
    pub fn leaves_bitcode(&self) -> bool {
        self.reads_bitcode && self.lto && self.options.level != Level::Zero
    }

    fn add(&mut self, argument: OsString) {
        let text = argument.to_string_lossy();
        // A linker that gets no bitcode needs no plugin.
        let plugin = text
            .strip_prefix("-Wl,-plugin-opt=")
            .or(text.strip_prefix("-plugin-opt="));
        if let Some(option) = plugin {
            self.lto = true;
            self.options.level = option
                .strip_prefix('O')
                .and_then(level)
                .unwrap_or(self.options.level);
            if self.reads_bitcode {
                self.all.push(argument);
            }
            return;
        }
        if self.options.read(&argument) {
            return;
        }
        if text.starts_with("-flto") {
            self.lto = true;
            return;
        }
        if let Some(chosen) = text.strip_prefix("-O").and_then(level) {
            self.options.level = chosen;
        }
        let for_linker = text.strip_prefix("-Wl,").unwrap_or_default();
        let strips = ["--strip-debug", "--strip-all", "-S", "-s"];
        self.strips_debug |=
            text == "-s" || for_linker.split(',').any(|option| strips.contains(&option));
        self.all.push(argument);
    }
}

/// Whether the linker is the one that rustc brings along: it has the LLVM that wrote the bitcode,
/// and optimizes the parts of a program together, as rustc does with the parts of a crate.
fn is_rust_lld(args: &[OsString]) -> bool {
    let ours = |text: &str| text.starts_with("-B") && text.ends_with("/gcc-ld");
    args.iter().any(|argument| argument == "-fuse-ld=lld")
        && args
            .iter()
            .any(|argument| argument.to_str().is_some_and(ours))
}

/// The level that the text after `-O` means.
pub fn level(text: &str) -> Option<Level> {
    match text.split(',').next().unwrap_or_default() {
        "0" => Some(Level::Zero),
        "" | "1" | "g" => Some(Level::One),
        "2" | "s" | "z" => Some(Level::Two),
        "3" | "fast" => Some(Level::Three),
        _ => None,
    }
}

/// How many words response files may give in all. Files that name others several times may have
/// more than fit into any memory.
const WORDS: usize = 1 << 20;

/// The arguments with response files replaced by what is in them.
pub fn open_response_files(args: &[OsString]) -> Result<Vec<OsString>> {
    let mut opened = Opened {
        files: Vec::new(),
        room: WORDS.max(args.len()),
        all: Vec::new(),
    };
    opened.add(args)?;
    Ok(opened.all)
}

/// Response files that are being read.
struct Opened {
    /// The files, each named by the one before.
    files: Vec<PathBuf>,
    /// How many more words there may be, names of files included.
    room: usize,
    /// What they give.
    all: Vec<OsString>,
}

impl Opened {
    fn add(&mut self, args: &[OsString]) -> Result<()> {
        for argument in args {
            self.room = self.room.checked_sub(1).ok_or_else(|| {
                Diagnostic::new(
                    Code::InvalidInput,
                    "the response files have too many words",
                    format!("there are more than {WORDS}, with those of files that files name"),
                    "name each file once",
                )
            })?;
            let name = argument.to_str().and_then(|text| text.strip_prefix('@'));
            match name.map(Path::new).filter(|file| file.is_file()) {
                None => self.all.push(argument.clone()),
                Some(file) => self.open(file)?,
            }
        }
        Ok(())
    }

    fn open(&mut self, file: &Path) -> Result<()> {
        let known = file.canonicalize().unwrap_or(file.to_path_buf());
        if self.files.contains(&known) {
            return Err(Diagnostic::new(
                Code::InvalidInput,
                format!("the response file `{}` names itself", file.display()),
                "its words would have no end",
                format!("take `@{}` out of it", file.display()),
            ));
        }
        let bytes = output::read(file)?;
        let words = split(&String::from_utf8_lossy(&bytes));
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        self.files.push(known);
        self.add(&words)?;
        self.files.pop();
        Ok(())
    }
}

/// The words of a response file: separated by white space, quoted by `'`, `"` and `\`.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) if quote != Some('\'') => word.get_or_insert_default().extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The arguments, in a response file if they are too long for a command line.
pub fn shortened(args: Vec<OsString>, scratch: &Path) -> Result<Vec<OsString>> {
    if args
        .iter()
        .map(|argument| argument.len() + 1)
        .sum::<usize>()
        < LONG
    {
        return Ok(args);
    }
    let path = scratch.join("arguments");
    let lines: Vec<String> = args.iter().map(|argument| quoted(argument)).collect();
    output::write(&path, lines.join("\n").as_bytes())?;
    let mut reference = OsString::from("@");
    reference.push(path);
    Ok(vec![reference])
}

/// An argument as response files have it.
pub fn quoted(argument: &OsStr) -> String {
    let text = argument.to_string_lossy();
    let mut quoted = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        if c.is_whitespace() || matches!(c, '\\' | '\'' | '"') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_files_are_split_as_compilers_do() {
        let check = |text: &str, expected: &[&str]| {
            let words = split(text);
            assert_eq!(words, expected, "{text}");
            let again: Vec<String> = words.iter().map(|w| quoted(OsStr::new(w))).collect();
            assert_eq!(split(&again.join("\n")), expected);
        };
        check("a.o  b.o\n-lm", &["a.o", "b.o", "-lm"]);
        check(r#""a b.o" c\ d.o 'e"f'"#, &["a b.o", "c d.o", "e\"f"]);
        check(r#""a\"b""#, &["a\"b"]);
    }
}
