//! `zymase cc` and `zymase c++`: clang, with derivatives.
//!
//! A source that mentions no request is compiled by clang itself, with the arguments it was given;
//! the object also carries its bitcode in a section that linkers drop, so that derivatives in
//! other files can be taken through its functions. A source with requests becomes bitcode, and the
//! derivatives are written when the program is linked, or at once where nothing is missing.

pub(crate) mod arguments;
mod headers;

use crate::args::{CompileOptions, Level};
use crate::compile::{codegen_level, differentiate, no_library};
use crate::tools::{self, Language};
use crate::{embedded, journal, ld, output};
use arguments::{Arguments, Mode};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use zymase_core::diagnostic::Result;
use zymase_llvm::reachable::Wanted;
use zymase_llvm::requests::{
    COMMON_PREFIX, Definition, definition, is_unoptimized, mark_own_debug, mark_unoptimized,
    speaks_to_us, strip_own_debug,
};
use zymase_llvm::{Context, Module, TargetMachine, pipelines, sanitizer};

/// Runs the command, and gives its exit code.
pub fn run(language: Language, args: &[OsString]) -> Result<u8> {
    let clang = tools::clang(language)?;
    let mut arguments = Arguments::read(&ld::open_response_files(args)?);
    let scratch = output::scratch_folder()?;
    if arguments.reads_standard_input() {
        let copy = scratch.path().join("stdin");
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| output::cannot_read(Path::new("standard input"), &error))?;
        output::write(&copy, &bytes)?;
        arguments.standard_input = Some(copy);
    }
    arguments.add_include_folder(&headers::folder(scratch.path())?);
    let compiler = Compiler {
        clang,
        arguments: &arguments,
        scratch: scratch.path(),
    };
    match arguments.mode {
        Mode::Other => tools::run(compiler.clang_command().args(&arguments.given)),
        Mode::Link => compiler.link(),
        Mode::Object | Mode::Assembly => compiler.compile(),
    }
}

/// Everything that would be linked, as bitcode.
pub struct Program {
    /// The arguments of the link.
    pub link: Vec<OsString>,
    /// The file that was made of each source, and the source.
    pub sources: Vec<(String, String)>,
}

/// Bitcode of all sources, also of those without requests, and with the names of variables; or the
/// exit code of a clang that has complained. Modules need no clang.
pub fn bitcode_of_all(
    args: &[OsString],
    level: Level,
    scratch: &Path,
) -> Result<std::result::Result<Program, u8>> {
    let mut all = vec![OsString::from(format!("-O{}", level.digit()))];
    all.extend(ld::open_response_files(args)?);
    let mut arguments = Arguments::read(&all);
    arguments.add_include_folder(&headers::folder(scratch)?);
    arguments.compile.push("-fno-discard-value-names".into());
    let (mut objects, mut sources) = (Vec::new(), Vec::new());
    for (number, source) in arguments.sources.iter().enumerate() {
        let name = source.to_string_lossy().into_owned();
        let extension = Path::new(source).extension().and_then(OsStr::to_str);
        let context = Context::new();
        let module = match extension {
            Some("ll" | "bc") => Module::parse(&context, &output::read(source.as_ref())?, &name)?,
            _ => {
                let compiler = Compiler {
                    clang: tools::clang(Language::C)?,
                    arguments: &arguments,
                    scratch,
                };
                match compiler.unoptimized(source, &context)? {
                    Ok(module) => module,
                    Err(Failed(code)) => return Ok(Err(code)),
                }
            }
        };
        let object = scratch.join(format!("{number}.bc"));
        output::write(&object, &module.to_bitcode())?;
        sources.push((object.display().to_string(), name));
        objects.push(object.into_os_string());
    }
    let link = arguments.link_arguments(&objects);
    Ok(Ok(Program { link, sources }))
}

struct Compiler<'a> {
    clang: PathBuf,
    arguments: &'a Arguments,
    scratch: &'a Path,
}

/// A clang that has complained about something; its exit code is ours.
struct Failed(u8);

impl Compiler<'_> {
    fn clang_command(&self) -> std::process::Command {
        tools::command(self.clang.as_os_str())
    }

    /// Compiles every source to an object, then links.
    fn link(&self) -> Result<u8> {
        let mut objects = Vec::new();
        for (number, source) in self.arguments.sources.iter().enumerate() {
            let stem = Path::new(source).file_stem().unwrap_or_default();
            let object = format!("{number}-{}.o", stem.to_string_lossy());
            let object = self.scratch.join(object);
            let done = match self.requests(source)? {
                Ok(Some(bitcode)) => Ok(output::write(&object, &bitcode)?),
                Ok(None) => self.native(source, &object)?,
                Err(failed) => Err(failed),
            };
            if let Err(Failed(code)) = done {
                return Ok(code);
            }
            objects.push(object.into_os_string());
        }
        ld::link(
            self.clang.clone().into_os_string(),
            &self.arguments.link_arguments(&objects),
        )
    }

    /// Compiles every source to an object or assembly file of its own.
    fn compile(&self) -> Result<u8> {
        for source in &self.arguments.sources {
            let target = self.arguments.output_of(source);
            let done = match self.requests(source)? {
                Ok(Some(bitcode)) => Ok(self.compile_requests(source, &bitcode, &target)?),
                Ok(None) => self.native(source, &target)?,
                Err(failed) => Err(failed),
            };
            if let Err(Failed(code)) = done {
                return Ok(code);
            }
        }
        Ok(0)
    }

    /// The bitcode of a source, if it has requests or says something about functions; nothing
    /// for a source that is clang's alone.
    fn requests(&self, source: &OsStr) -> Result<std::result::Result<Option<Vec<u8>>, Failed>> {
        match self.mentions_requests(source)? {
            Ok(true) => self.bitcode(source),
            Ok(false) => Ok(Ok(None)),
            Err(failed) => Ok(Err(failed)),
        }
    }

    /// Whether a source mentions a request once its headers are read.
    fn mentions_requests(&self, source: &OsStr) -> Result<std::result::Result<bool, Failed>> {
        let text = self.scratch.join("preprocessed");
        let mut command = self.clang_command();
        command
            .args(self.arguments.without_dependencies())
            // Warnings come when the source is compiled.
            .args(["-w", "-E", "-P", "-o"])
            .arg(&text)
            .args(self.arguments.with_language(source));
        let code = tools::run(&mut command)?;
        if code != 0 {
            return Ok(Err(Failed(code)));
        }
        let bytes = output::read(&text)?;
        Ok(Ok(
            memchr::memmem::find(&bytes, COMMON_PREFIX.as_bytes()).is_some()
        ))
    }

    /// Lets clang make the output itself.
    fn native(&self, source: &OsStr, target: &Path) -> Result<std::result::Result<(), Failed>> {
        let mut command = self.clang_command();
        command.args(&self.arguments.compile);
        command.arg(match self.arguments.mode {
            Mode::Assembly => "-S",
            _ => "-c",
        });
        let embeds = self.arguments.mode != Mode::Assembly && !self.arguments.writes_bitcode();
        if embeds {
            command.args(["-Xclang", "-fembed-bitcode=all"]);
        }
        command
            .args(self.arguments.dependencies(source))
            .args(self.arguments.with_language(source))
            .arg("-o")
            .arg(target);
        let code = tools::run(&mut command)?;
        if code != 0 {
            return Ok(Err(Failed(code)));
        }
        if embeds {
            let mut object = output::read(target)?;
            if embedded::rename_section(&mut object) {
                output::write(target, &object)?;
            }
        }
        Ok(Ok(()))
    }

    /// The bitcode of a source with requests, before any optimization; nothing if the words were
    /// only those of a header.
    ///
    /// Clang's own passes would vectorize and unroll the loops that are to be differentiated, fold
    /// markers that the file defines and inline functions that something is registered about. The
    /// file is optimized as it would have been when the derivatives exist. Debug information tells
    /// types where nothing else does, and lines for messages; if the user did not ask for it, it
    /// goes before code is generated.
    fn bitcode(&self, source: &OsStr) -> Result<std::result::Result<Option<Vec<u8>>, Failed>> {
        let context = Context::new();
        let module = match self.unoptimized(source, &context)? {
            Ok(module) => module,
            Err(failed) => return Ok(Err(failed)),
        };
        if !speaks_to_us(&module) {
            return Ok(Ok(None));
        }
        mark_unoptimized(&module);
        if !self.arguments.debug_for_types().is_empty() {
            mark_own_debug(&module);
        }
        Ok(Ok(Some(module.to_bitcode())))
    }

    /// A source as clang understands it, before any optimization.
    fn unoptimized(
        &self,
        source: &OsStr,
        context: &Context,
    ) -> Result<std::result::Result<Module, Failed>> {
        let path = self.scratch.join("module.bc");
        let mut command = self.clang_command();
        command
            .args(&self.arguments.compile)
            .args(["-c", "-emit-llvm", "-fno-lto"])
            .args(["-Xclang", "-disable-llvm-passes"])
            .args(self.arguments.debug_for_types())
            .args(self.arguments.classes_for_types())
            .args(self.arguments.names_for_messages())
            .args(self.arguments.dependencies(source))
            .args(self.arguments.with_language(source))
            .arg("-o")
            .arg(&path);
        let code = tools::run(&mut command)?;
        if code != 0 {
            return Ok(Err(Failed(code)));
        }
        let bytes = output::read(&path)?;
        let name = source.to_string_lossy();
        journal::step(&format!("reading {name}"));
        Ok(Ok(Module::parse(context, &bytes, &name)?))
    }

    /// Compiles a source with requests. If derivatives need functions of other files, or may reach
    /// them through pointers, the output is bitcode, and they are written when the program is
    /// linked.
    fn compile_requests(&self, source: &OsStr, bytes: &[u8], target: &Path) -> Result<()> {
        if self.arguments.writes_bitcode() {
            return output::write(target, bytes);
        }
        let options = self.arguments.options();
        let name = source.to_string_lossy();
        let context = Context::new();
        let module = Module::parse(&context, bytes, &name)?;
        let (mut missing, mut open) = (false, false);
        let mut library = |wanted: Wanted<'_>| {
            match wanted {
                Wanted::Symbol(name) | Wanted::Mentioned(name) => {
                    missing |= !is_library_function(name);
                    open |= definition(&module, name) == Definition::Weak;
                }
                Wanted::Everything => open = true,
            }
            no_library(wanted)
        };
        let outcome = differentiate(&module, &name, &options, &mut library);
        // Other files may have what is missing here, another body for a weak function, or more
        // functions that a pointer may lead to.
        let waits = open || (missing && outcome.is_err());
        if waits && self.arguments.mode == Mode::Object {
            return output::write(target, bytes);
        }
        outcome?;
        let code = generate(&module, bytes, &options, self.arguments.mode)?;
        output::write(target, &code)
    }
}

/// Native code of a module whose requests are served. Its bitcode as it was goes along, for
/// derivatives in other files.
fn generate(
    module: &Module,
    bitcode: &[u8],
    options: &CompileOptions,
    mode: Mode,
) -> Result<Vec<u8>> {
    strip_own_debug(module);
    let machine = TargetMachine::for_module(module, codegen_level(options))?;
    if is_unoptimized(module) {
        journal::step("optimizing the program");
        pipelines::program(module, &machine, options.level.digit())?;
        sanitizer::instrument(module, &machine)?;
    }
    journal::step("generating code");
    match mode {
        Mode::Assembly => machine.emit_assembly(module).map(String::into_bytes),
        _ => {
            embedded::add(module, bitcode, options.level);
            machine.emit_object(module)
        }
    }
}

/// Whether a function is one of the C library, whose bitcode no file of the user's has.
fn is_library_function(name: &str) -> bool {
    zymase_llvm::requests::is_known_function(name)
}
