//! The arguments of clang: which are sources, which are for compiling, which for linking.

use crate::args::CompileOptions;
use crate::ld::level;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What clang is asked to do.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Compile and link.
    Link,
    /// Compile to objects.
    Object,
    /// Compile to assembly or LLVM text.
    Assembly,
    /// Something without code: preprocess, check, answer a question.
    Other,
}

/// The arguments of clang, sorted.
pub struct Arguments {
    /// The arguments as they were given.
    pub given: Vec<OsString>,
    /// What to do.
    pub mode: Mode,
    /// The sources.
    pub sources: Vec<OsString>,
    /// Options for compiling a source.
    pub compile: Vec<OsString>,
    /// Everything for the link, in order, with a mark where sources were.
    link: Vec<Link>,
    /// The language that `-x` says.
    language: Option<OsString>,
    output: Option<PathBuf>,
    /// What options of ours say.
    options: CompileOptions,
    /// Where standard input was put, because it is read more than once.
    pub standard_input: Option<PathBuf>,
}

enum Link {
    Argument(OsString),
    Source,
}

/// Options whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-idirafter",
    "-iquote",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xclang",
    "-mllvm",
    "-Xpreprocessor",
    "-Xassembler",
    "-target",
    "-arch",
    "-L",
    "-l",
    "-Xlinker",
    "-T",
    "-u",
    "-z",
    "-rpath",
    "-framework",
    "-B",
    "--sysroot",
    "-e",
    "-cxx-isystem",
    "--param",
    "-gcc-toolchain",
];

/// Options with a value that only matter for the link.
const LINK_ONLY: &[&str] = &[
    "-L",
    "-l",
    "-Xlinker",
    "-T",
    "-u",
    "-z",
    "-rpath",
    "-framework",
    "-e",
];

/// Options that write dependencies; they must do so once.
const DEPENDENCIES: &[&str] = &["-MD", "-MMD", "-MP", "-MG", "-MV"];
const DEPENDENCIES_WITH_VALUE: &[&str] = &["-MF", "-MT", "-MQ", "-MJ"];

impl Arguments {
    /// Sorts the arguments.
    pub fn read(args: &[OsString]) -> Arguments {
        let mut sorted = Arguments {
            given: args
                .iter()
                .filter(|a| !CompileOptions::is_ours(a))
                .cloned()
                .collect(),
            mode: Mode::Link,
            sources: Vec::new(),
            compile: Vec::new(),
            link: Vec::new(),
            language: None,
            output: None,
            options: CompileOptions::default(),
            standard_input: None,
        };
        let mut args = args.iter();
        while let Some(argument) = args.next() {
            if sorted.options.read(argument) {
                sorted.link.push(Link::Argument(argument.clone()));
                continue;
            }
            let text = argument.to_string_lossy().into_owned();
            match text.as_str() {
                "-c" => sorted.set(Mode::Object),
                "-S" => sorted.set(Mode::Assembly),
                "-E" | "-M" | "-MM" | "-fsyntax-only" | "-###" | "--version" | "-v"
                | "-dumpversion" | "-dumpmachine" | "--help" => sorted.mode = Mode::Other,
                "-o" => sorted.output = args.next().map(PathBuf::from),
                "-x" => sorted.language = args.next().cloned(),
                _ if text.starts_with("-print-") || text.starts_with("--print-") => {
                    sorted.mode = Mode::Other
                }
                _ if text.starts_with("-o") && text.len() > 2 => {
                    sorted.output = Some(PathBuf::from(&text[2..]))
                }
                _ if WITH_VALUE.contains(&text.as_str()) => {
                    let both: Vec<OsString> = std::iter::once(argument)
                        .chain(args.next())
                        .cloned()
                        .collect();
                    if !LINK_ONLY.contains(&text.as_str()) {
                        sorted.compile.extend(both.iter().cloned());
                    }
                    sorted.link.extend(both.into_iter().map(Link::Argument));
                }
                _ if text.starts_with('-') && text != "-" => sorted.add_option(argument),
                _ if sorted.is_source(argument) => {
                    sorted.sources.push(argument.clone());
                    sorted.link.push(Link::Source);
                }
                _ => sorted.link.push(Link::Argument(argument.clone())),
            }
        }
        if sorted.sources.is_empty() && sorted.mode != Mode::Link {
            sorted.mode = Mode::Other;
        }
        if sorted.sources.is_empty()
            && sorted
                .link
                .iter()
                .all(|l| matches!(l, Link::Argument(a) if a.to_string_lossy().starts_with('-')))
        {
            sorted.mode = Mode::Other;
        }
        sorted
    }

    fn set(&mut self, mode: Mode) {
        if self.mode != Mode::Other {
            self.mode = mode;
        }
    }

    fn add_option(&mut self, argument: &OsString) {
        let text = argument.to_string_lossy();
        let link_only = ["-l", "-L", "-Wl,"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
            || matches!(
                &*text,
                "-shared"
                    | "-static"
                    | "-rdynamic"
                    | "-nostdlib"
                    | "-s"
                    | "-pie"
                    | "-no-pie"
                    | "-static-pie"
            );
        if !link_only {
            self.compile.push(argument.clone());
        }
        // Dependencies were written when the source was compiled.
        if !DEPENDENCIES.contains(&&*text) {
            self.link.push(Link::Argument(argument.clone()));
        }
    }

    fn is_source(&self, argument: &OsStr) -> bool {
        if self
            .language
            .as_deref()
            .is_some_and(|language| language != "none")
        {
            return true;
        }
        let extension = Path::new(argument).extension().and_then(OsStr::to_str);
        let extensions = [
            "c", "i", "cc", "cp", "cpp", "cxx", "c++", "C", "CPP", "ii", "ll", "bc",
        ];
        extension.is_some_and(|extension| extensions.contains(&extension))
    }

    /// A source with the `-x` that was given for it.
    pub fn with_language(&self, source: &OsStr) -> Vec<OsString> {
        let mut args = Vec::new();
        if let Some(language) = &self.language {
            args.extend(["-x".into(), language.clone()]);
        }
        // The folder of our headers would be called unused.
        let extension = Path::new(source).extension().and_then(OsStr::to_str);
        if matches!(extension, Some("ll" | "bc")) {
            args.push("-Wno-unused-command-line-argument".into());
        }
        args.push(match &self.standard_input {
            Some(copy) if source == "-" => copy.clone().into_os_string(),
            _ => source.to_os_string(),
        });
        args
    }

    /// Adds a folder in which headers are looked for after all others.
    pub fn add_include_folder(&mut self, folder: &Path) {
        let option = ["-idirafter".into(), folder.as_os_str().to_os_string()];
        self.compile.extend(option.clone());
        // Without a source clang would call it unused.
        if !self.sources.is_empty() {
            self.given.extend(option);
        }
    }

    /// Whether a source comes from standard input, and is to be compiled.
    pub fn reads_standard_input(&self) -> bool {
        self.mode != Mode::Other && self.sources.iter().any(|source| source == "-")
    }

    /// The options for compiling, without those that write dependencies.
    pub fn without_dependencies(&self) -> Vec<OsString> {
        let mut kept = Vec::new();
        let mut args = self.compile.iter();
        while let Some(argument) = args.next() {
            let text = argument.to_string_lossy();
            if DEPENDENCIES_WITH_VALUE.contains(&&*text) {
                args.next();
            } else if !DEPENDENCIES.contains(&&*text) {
                kept.push(argument.clone());
            }
        }
        kept
    }

    /// Where the dependencies of a source go and what they are of, if they are to be written and
    /// nothing else says so. Clang would take the names from an object that is not the user's.
    pub fn dependencies(&self, source: &OsStr) -> Vec<OsString> {
        let mut args = Vec::new();
        if !self.has("-MD") && !self.has("-MMD") {
            return args;
        }
        let object = match self.mode {
            Mode::Link => Path::new(source).with_extension("o"),
            _ => self.output_of(source),
        };
        let object = match self.mode {
            Mode::Link => object.file_name().map(PathBuf::from).unwrap_or(object),
            _ => object,
        };
        if !self
            .compile
            .iter()
            .any(|a| a.to_string_lossy().starts_with("-MF"))
        {
            let file = self.output.as_ref().unwrap_or(&object).with_extension("d");
            args.extend(["-MF".into(), file.into_os_string()]);
        }
        if !self.has("-MT") && !self.has("-MQ") {
            args.extend(["-MT".into(), object.into_os_string()]);
        }
        args
    }

    /// The arguments of the link, with objects in the places of sources.
    pub fn link_arguments(&self, objects: &[OsString]) -> Vec<OsString> {
        let mut objects = objects.iter();
        let mut args: Vec<OsString> = self
            .link
            .iter()
            .filter_map(|link| match link {
                Link::Argument(argument) => Some(argument.clone()),
                Link::Source => objects.next().cloned(),
            })
            .collect();
        if let Some(output) = &self.output {
            args.extend(["-o".into(), output.clone().into_os_string()]);
        }
        args
    }

    /// Where the output for a source goes.
    pub fn output_of(&self, source: &OsStr) -> PathBuf {
        let extension = match (self.mode, self.writes_bitcode()) {
            (Mode::Assembly, false) => "s",
            (Mode::Assembly, true) => "ll",
            (_, true) if self.has("-emit-llvm") => "bc",
            _ => "o",
        };
        self.output.clone().unwrap_or_else(|| {
            let name = Path::new(source).file_name().unwrap_or(source);
            Path::new(name).with_extension(extension)
        })
    }

    /// Whether the user wants bitcode, not native code.
    pub fn writes_bitcode(&self) -> bool {
        self.has("-emit-llvm")
            || self
                .compile
                .iter()
                .any(|a| a.to_string_lossy().starts_with("-flto"))
    }

    /// Options that add debug information for the analysis of types: none if the user has said
    /// something about it.
    pub fn debug_for_types(&self) -> &'static [&'static str] {
        let said = self.compile.iter().any(|argument| {
            let text = argument.to_string_lossy();
            text.starts_with("-g") && text != "-g0" && !text.starts_with("-gcc")
        });
        match said {
            true => &[],
            // Also of classes whose debug information other files have, like strings.
            false => &["-g", "-fstandalone-debug"],
        }
    }

    /// Options that let clang write alias classes without optimization too, which tell integers
    /// from floats in code that only moves them. The program must not notice.
    pub fn classes_for_types(&self) -> &'static [&'static str] {
        match self.options().level {
            crate::args::Level::Zero => &["-O1", "-U__OPTIMIZE__", "-D__NO_INLINE__=1"],
            _ => &[],
        }
    }

    /// Options that keep the names of arguments, which comparisons of derivatives print.
    pub fn names_for_messages(&self) -> &'static [&'static str] {
        match self.options.compare {
            true => &["-fno-discard-value-names"],
            false => &[],
        }
    }

    fn has(&self, option: &str) -> bool {
        self.compile.iter().any(|argument| argument == option)
    }

    /// How derivatives are made; the last `-O` counts, and without one nothing of the program is
    /// optimized.
    pub fn options(&self) -> CompileOptions {
        let texts = self.compile.iter().filter_map(|argument| argument.to_str());
        let last = texts
            .rev()
            .find_map(|text| text.strip_prefix("-O").and_then(level));
        CompileOptions {
            level: last.unwrap_or(crate::args::Level::Zero),
            ..self.options.clone()
        }
    }
}
