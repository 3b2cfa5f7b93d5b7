//! The command line.

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use zymase_core::warnings::LARGE_TAPE;

const EXAMPLES: &str = "\
Examples:
  zymase demo                              see a derivative, nothing else needed
  zymase cc -O2 model.c -o model           a C program that asks for derivatives
  zymase c++ -O2 model.cpp -o model        the same in C++
  zymase opt in.ll -o out.ll               one module, its derivatives added
  zymase opt in.ll --emit core             what Zymase sees
  zymase explain model.c                   what is asked for, kept and recomputed
  zymase check -O2 model.c -lm             compare its derivatives with finite differences

A program asks for the derivative of f by a call:
  double __enzyme_autodiff(void *, ...);
  double slope = __enzyme_autodiff((void *)f, 3.0);    reverse mode
  double slope = __enzyme_fwddiff((void *)f, 3.0, 1.0);  forward mode

Environment:
  ZYMASE_CLANG        the clang that `zymase cc` runs
  ZYMASE_LLVM_PREFIX  a folder with lib/libLLVM.so, instead of the Rust toolchain's";

/// Zymase, a compiler that writes derivatives.
///
/// It takes optimized LLVM code of a program in C, C++, Rust or any other LLVM language, writes
/// forward- and reverse-mode derivatives of the functions that the program asks for, and hands
/// the rest on as it was.
#[derive(Parser)]
#[command(name = "zymase", bin_name = "zymase", version, arg_required_else_help = true, after_long_help = EXAMPLES, after_help = "Try `zymase demo`, or `zymase --help` for examples.")]
pub struct Cli {
    /// Print the page about a code of a message, such as Z0501
    #[arg(long, value_name = "CODE", exclusive = true)]
    pub explain_code: Option<String>,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand)]
pub enum Command {
    Opt(OptArgs),
    Explain(ExplainArgs),
    Demo(DemoArgs),
    Check(CheckArgs),
    /// Compile and link C like clang, with derivatives
    ///
    /// Takes the arguments of clang (any version from 14 to 22, found on PATH, or ZYMASE_CLANG).
    /// Files that ask for no derivative come out as from clang alone. With `--checks`, shadows are
    /// checked when the program runs; with `--check-finite`, it stops where a derivative becomes
    /// NaN or infinite. With `--fast`, differentiated code may be rearranged and approximated.
    /// `--no-warnings`, `--deny-warnings` and `--warn-cache=BYTES` are about the
    /// warnings of Zymase.
    ///
    /// Example: zymase cc -O2 -c a.c && zymase cc -O2 b.c a.o -lm -o prog
    Cc(PassThrough),
    /// Compile and link C++ like clang++, with derivatives
    ///
    /// See `zymase cc --help`.
    #[command(name = "c++")]
    Cxx(PassThrough),
    /// Link bitcode and native objects, with derivatives
    ///
    /// Takes the arguments that compilers pass to a linker driver (cc by default, or what ZYMASE_LINKER
    /// names). Bitcode in objects and archives is compiled, requests in it are served, everything
    /// else is passed on. `--checks`, `--check-finite`, `--fast` and the options about warnings are
    /// those of `zymase cc`.
    ///
    /// Example: zymase ld main.o libmodel.a -lm -o prog
    Ld(PassThrough),
}

/// Build a program, run it, and compare its derivatives with others
///
/// At every call of a request: forward mode, reverse mode and finite differences. Says at which
/// request and in which component they disagree first, and ends with exit code 1 if they do.
///
/// Takes what `zymase cc` takes, C++ if a source is; after `--` come the arguments of the program.
///
/// Example: zymase check -O2 model.c -lm -- input.txt
#[derive(Args)]
pub struct CheckArgs {
    /// The number that random directions come from
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Compare only the first N calls of each request; 0 is all of them
    #[arg(long, value_name = "N", default_value = "0")]
    pub calls: u64,
    /// Arguments of clang, then `--` and those of the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub args: Vec<OsString>,
}

/// Arguments for another tool.
#[derive(Args)]
pub struct PassThrough {
    /// Passed on, except for what concerns derivatives
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

/// Add derivatives to one LLVM module
///
/// Reads text (.ll) or bitcode (.bc), writes the same module in which every request is a call of
/// a derivative. Functions that ask for nothing stay as they are.
#[derive(Args)]
pub struct OptArgs {
    /// The module
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Where to write; standard output if left out
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What to write; by default, what the name of OUT suggests
    #[arg(long)]
    pub emit: Option<Emit>,
    #[command(flatten)]
    pub options: CompileOptions,
}

/// The option that makes programs compare their derivatives with others.
pub const COMPARE: &str = "--check-requests";

/// How derivatives are made.
#[derive(Args, Clone)]
pub struct CompileOptions {
    /// How hard to optimize derivatives
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2")]
    pub level: Level,
    /// What the reverse sweep keeps and what it computes again
    #[arg(long, default_value = "auto")]
    pub plan: Plan,
    /// Check shadows when the program runs, and stop with a message at a null shadow or one that
    /// is the memory it is to be the shadow of
    #[arg(long)]
    pub checks: bool,
    /// Give no warnings
    #[arg(long)]
    pub no_warnings: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub deny_warnings: bool,
    /// Warn of derivatives that keep so many bytes for each call
    #[arg(long, value_name = "BYTES", default_value_t = LARGE_TAPE)]
    pub warn_cache: u64,
    /// Stop when the program runs where an adjoint or tangent becomes NaN or infinite, and name the
    /// operation of the source program that made it
    #[arg(long)]
    pub check_finite: bool,
    /// Rearrange and approximate what differentiated functions compute, as `-ffast-math` does, but
    /// with NaN and infinities where they were
    #[arg(long)]
    pub fast: bool,
    /// Compare every derivative with the other mode and with finite differences when the program
    /// runs (see `zymase check`)
    #[arg(long = "check-requests", hide = true)]
    pub compare: bool,
    /// Print the module after a step, on standard error; may be given several times
    #[arg(long, value_name = "STEP")]
    pub print_after: Vec<Step>,
    /// Whether the user wants to know what loops compute that stay loops
    #[arg(skip)]
    pub tells_loops: bool,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            level: Level::Two,
            plan: Plan::Auto,
            checks: false,
            no_warnings: false,
            deny_warnings: false,
            warn_cache: LARGE_TAPE,
            check_finite: false,
            fast: false,
            compare: false,
            print_after: Vec::new(),
            tells_loops: false,
        }
    }
}

impl CompileOptions {
    /// Whether an argument of another tool is an option of ours.
    pub fn is_ours(argument: &OsStr) -> bool {
        CompileOptions::default().read(argument)
    }

    /// Reads an option of ours among those of another tool; whether it was one.
    pub fn read(&mut self, argument: &OsStr) -> bool {
        let text = argument.to_str().unwrap_or_default();
        match text {
            "--checks" => self.checks = true,
            "--check-finite" => self.check_finite = true,
            "--fast" => self.fast = true,
            COMPARE => self.compare = true,
            "--no-warnings" => self.no_warnings = true,
            "--deny-warnings" => self.deny_warnings = true,
            _ => {
                let step = text.strip_prefix("--print-after=");
                if let Some(step) = step.and_then(|step| Step::from_str(step, true).ok()) {
                    self.print_after.push(step);
                    return true;
                }
                let bytes = text.strip_prefix("--warn-cache=");
                match bytes.and_then(|bytes| bytes.parse().ok()) {
                    Some(bytes) => self.warn_cache = bytes,
                    None => return false,
                }
            }
        }
        true
    }
}

/// The seed of choices by chance, for tests: no option, so that any command can be run with it.
pub fn chaos_seed() -> Option<u64> {
    let text = std::env::var_os("ZYMASE_CHAOS")?;
    let seed = text.to_str().and_then(|text| text.parse().ok());
    Some(seed.unwrap_or_else(|| {
        let text = text.to_string_lossy();
        let message = format!(
            "invalid value '{text}' of ZYMASE_CHAOS in the environment: not a number from 0 to {}",
            u64::MAX
        );
        Cli::command()
            .error(ErrorKind::ValueValidation, message)
            .exit()
    }))
}

/// What `zymase opt` writes.
#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// The IR of Zymase, derivatives included
    Core,
    /// LLVM text
    Llvm,
    /// LLVM bitcode
    Bc,
    /// A native object
    Obj,
}

/// Levels of optimization.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum Level {
    #[value(name = "0")]
    Zero,
    #[value(name = "1")]
    One,
    #[value(name = "2")]
    Two,
    #[value(name = "3")]
    Three,
}

impl Level {
    /// The level as a digit.
    pub fn digit(self) -> u8 {
        match self {
            Level::Zero => 0,
            Level::One => 1,
            Level::Two => 2,
            Level::Three => 3,
        }
    }
}

/// Plans for what the reverse sweep needs.
#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Plan {
    /// The cheapest that is legal
    Auto,
    /// Keep every needed value: always legal, the plan that others are tested against
    Everything,
}

/// The steps of the work.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum Step {
    /// Requests are read and pinned (LLVM)
    Requests,
    /// What they reach is cloned (LLVM)
    Isolate,
    /// The clones are optimized (LLVM)
    Prepare,
    /// They are read, with requests as instructions (core)
    Import,
    /// Derivatives are written (core)
    Derivatives,
    /// Derivatives are added to the clones (LLVM)
    Export,
    /// Derivatives are optimized (LLVM)
    Finish,
}

/// Show what a program asks for, and how its derivatives are made
///
/// For every request: the function, the mode and what each argument is. For every derivative, on
/// source lines: what is active, what the reverse sweep keeps, reads or computes again, how many
/// bytes, why, and what overwrites it, how loops and calls are reversed, and what is checked.
///
/// Example: zymase explain --html model.html -O2 -Iinclude model.c
#[derive(Args)]
pub struct ExplainArgs {
    /// Write a page for a browser, which needs nothing else
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub options: CompileOptions,
    /// Modules (.ll or .bc), sources in C or C++ with the arguments of clang for them, objects and
    /// archives
    #[arg(
        value_name = "IN",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub inputs: Vec<OsString>,
}

/// The options of `explain` itself, which may also stand behind its inputs.
const EXPLAIN_OPTIONS: [&str; 3] = ["--html", "--plan", "--print-after"];

/// Arguments of the whole command, those of `explain` itself before the arguments of clang.
pub fn sorted(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args.peekable();
    let mut first: Vec<OsString> = args.by_ref().take(2).collect();
    if first.last().is_none_or(|command| command != "explain") {
        return first.into_iter().chain(args).collect();
    }
    let mut others = Vec::new();
    while let Some(argument) = args.next() {
        let text = argument.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        match EXPLAIN_OPTIONS.contains(&name) {
            true if text.contains('=') => first.push(argument),
            true => first.extend(std::iter::once(argument).chain(args.next())),
            false => others.push(argument),
        }
    }
    first.extend(others);
    first
}

/// Differentiate a small built-in program, run it and check the result
///
/// Needs neither a compiler nor a linker.
#[derive(Args)]
pub struct DemoArgs {
    /// Print the program before running it
    #[arg(long)]
    pub source: bool,
}
