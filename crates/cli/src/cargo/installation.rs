//! Whether everything that a build with derivatives needs is there: the rest of Zymase, a compiler
//! whose bitcode it reads, a linker. What is missing is said once and in one sentence, before cargo
//! starts.

use crate::config::Config;
use crate::{Complaint, Result, cannot_run};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::time::UNIX_EPOCH;
use zymase_core::diagnostic::Code;

/// The version of LLVM that Zymase was built with.
const LLVM: &str = env!("ZYMASE_BUILD_LLVM_VERSION");

/// The compiler in use.
pub struct Compiler {
    /// The machine it runs on, as the name of a target.
    pub host: String,
}

/// Looks for everything, and gives the compiler.
pub fn check(config: &Config) -> Result<Compiler> {
    for part in ["zymase", "zymase-driver", "zymase-linker"] {
        beside(part)?;
    }
    let compiler = compiler(config)?;
    linker(config)?;
    Ok(compiler)
}

/// A program of Zymase, which lies beside this one.
pub fn beside(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().map_err(|e| Complaint {
        code: Code::Installation,
        message: format!("cannot tell where cargo-zymase is installed: {e}"),
    })?;
    let program = own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if program.is_file() {
        return Ok(program);
    }
    let folder = own.parent().unwrap_or(&own);
    Err(Complaint {
        code: Code::Installation,
        message: format!(
            "{name} is missing in {}, where cargo-zymase is; install Zymase again",
            folder.display()
        ),
    })
}

/// Which Zymase this is: its version, and when its compiler was written, because a Zymase that is
/// being worked on keeps its version.
pub fn version() -> String {
    let driver = beside("zymase-driver").ok();
    let written = driver.and_then(|driver| driver.metadata().ok()?.modified().ok());
    let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let seconds = written.map_or(0, |time| time.as_secs());
    format!("{} ({seconds})", env!("CARGO_PKG_VERSION"))
}

/// The compiler that cargo will run, if Zymase can read what it writes.
fn compiler(config: &Config) -> Result<Compiler> {
    let chosen = std::env::var_os("RUSTC").map(PathBuf::from);
    let rustc = chosen
        .or_else(|| config.program("rustc"))
        .unwrap_or("rustc".into());
    let mut command = Command::new(&rustc);
    let output = command
        .arg("-vV")
        .output()
        .map_err(|e| cannot_run(&command, &e))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let (Some(host), Some(release)) = (line("host: "), line("release: ")) else {
        return Err(Complaint {
            code: Code::MissingTool,
            message: format!(
                "{} -vV does not say what it is; is it rustc?",
                rustc.display()
            ),
        });
    };
    let theirs = line("LLVM version: ").unwrap_or("unknown");
    if major(theirs) != major(LLVM) {
        return Err(Complaint {
            code: Code::Installation,
            message: format!(
                "rustc {release} has LLVM {theirs}, and this Zymase was built with LLVM {LLVM}; \
                 install Zymase again with that toolchain, or use one with LLVM {}",
                major(LLVM)
            ),
        });
    }
    Ok(Compiler {
        host: host.to_string(),
    })
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

/// Complains if nothing that can link is there and nobody has named another linker.
fn linker(config: &Config) -> Result<()> {
    let flags = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "ZYMASE_LINKER"];
    let named = config.names_linker()
        || std::env::vars_os().any(|(name, value)| {
            let name = name.to_string_lossy();
            name.ends_with("_LINKER") || flags.contains(&&*name) && mentions(&value, "linker")
        });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path)
        .flat_map(|folder| ["cc", "gcc", "clang"].map(|name| folder.join(name)));
    match named || files.any(|file| file.is_file()) {
        true => Ok(()),
        false => Err(Complaint {
            code: Code::MissingTool,
            message: "no linker found: none of cc, gcc, clang is on PATH; install a C compiler \
                      (`apt install gcc`), or set ZYMASE_LINKER to the path of one"
                .to_string(),
        }),
    }
}

fn mentions(value: &OsStr, word: &str) -> bool {
    value.to_string_lossy().contains(word)
}
