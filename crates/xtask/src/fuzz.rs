//! `cargo xtask fuzz`: generated programs from new seeds, in all trials, until time is up.
//!
//! A few threads take seeds from one counter. What fails is made small, printed with its seed and
//! saved; the end is a summary by kind of trial, and exit code 1 if anything was wrong.

use crate::trials::{Trial, of_seed};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zymase_testgen::grow::grow;
use zymase_testgen::tally::Tally;
use zymase_testgen::trial::Verdict;

/// How long, with what, and where findings go.
#[derive(clap::Args)]
pub struct Args {
    /// How long to go on.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The first seed; others follow in order.
    #[arg(long, default_value_t = 1_000_000)]
    seed: u64,
    /// How many programs are tried at once [default: the number of cores].
    #[arg(long)]
    jobs: Option<usize>,
    /// The folder that small programs that fail are saved in.
    #[arg(long, default_value = "target/fuzz")]
    save: PathBuf,
    /// One program of so many is also compiled as C; 0 for none.
    #[arg(long, default_value_t = 1)]
    native_every: u64,
    /// The `zymase` to compile C with; built if it is not given.
    #[arg(long)]
    zymase: Option<PathBuf>,
    /// Stop after so many different failures.
    #[arg(long, default_value_t = 20)]
    failures: usize,
}

/// Walks over programs are deep.
const STACK: usize = 256 << 20;

/// A trial that takes longer is worth a line.
const SLOW: Duration = Duration::from_secs(20);

/// Tries programs; 1 if something was wrong.
pub fn run(args: &Args) -> ExitCode {
    let zymase = match (&args.zymase, args.native_every) {
        (Some(path), _) => path.clone(),
        (None, 0) => PathBuf::new(),
        (None, _) => match build() {
            Some(path) => path,
            None => return ExitCode::from(2),
        },
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let session = Session {
        args,
        zymase,
        start: Instant::now(),
        next: AtomicU64::new(args.seed),
        finished: AtomicU64::new(0),
        done: AtomicBool::new(false),
        tallies: Mutex::new(BTreeMap::new()),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..args.jobs.unwrap_or(cores).max(1))
            .filter_map(|_| {
                let thread = std::thread::Builder::new().stack_size(STACK);
                thread.spawn_scoped(scope, || session.work()).ok()
            })
            .collect();
        scope.spawn(|| session.show_progress());
        for worker in workers {
            // A worker that panics has said why.
            let _ = worker.join();
        }
        session.done.store(true, Ordering::Relaxed);
    });
    session.summary()
}

/// Builds the compiler; where it is.
fn build() -> Option<PathBuf> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".to_string());
    let built = Command::new(cargo)
        .args(["build", "--release", "-p", "zymase"])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("error: zymase does not build");
        return None;
    }
    // It is beside this program.
    let own = std::env::current_exe().ok()?;
    Some(own.parent()?.join("zymase"))
}

struct Session<'a> {
    args: &'a Args,
    zymase: PathBuf,
    start: Instant,
    next: AtomicU64,
    /// How many programs went through all their trials.
    finished: AtomicU64,
    done: AtomicBool,
    /// What came of trials, by kind.
    tallies: Mutex<BTreeMap<String, Tally>>,
}

impl Session<'_> {
    fn is_over(&self) -> bool {
        let wrong = self.totals().wrong;
        self.start.elapsed().as_secs() >= self.args.seconds || wrong >= self.args.failures
    }

    fn work(&self) {
        while !self.is_over() {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            let every = self.args.native_every;
            let with_native = every > 0 && seed.is_multiple_of(every);
            for trial in of_seed(seed, with_native) {
                self.try_seed(seed, &trial);
            }
            self.finished.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn try_seed(&self, seed: u64, trial: &Trial) {
        let program = grow(seed);
        let start = Instant::now();
        let verdict = trial.verdict(&self.zymase, &program);
        if start.elapsed() > SLOW {
            let seconds = start.elapsed().as_secs_f64();
            self.say(&format!("seed {seed}, {trial}: took {seconds:.0} s"));
        }
        if let Verdict::Wrong(why) = &verdict {
            self.say(&format!("seed {seed}, {trial}: wrong; making it smaller"));
            let small = trial.shrunk(&self.zymase, &program, why);
            let text = trial.text(&small);
            self.say(&format!("seed {seed}, {trial}: {why}\n{text}"));
            let path = self.args.save.join(trial.file_name(seed));
            match save(&path, &commented(trial, seed, why, &text)) {
                Ok(()) => self.say(&format!("saved as {}", path.display())),
                Err(error) => self.say(&format!("cannot save {}: {error}", path.display())),
            }
        }
        let mut tallies = self.tallies.lock().unwrap_or_else(|e| e.into_inner());
        let tally = tallies.entry(trial.to_string()).or_default();
        tally.add(seed.to_string(), verdict);
    }

    /// Prints a line without disturbing the one that shows progress.
    fn say(&self, text: &str) {
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
        println!("{text}");
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        let tallies = self.tallies.lock().unwrap_or_else(|e| e.into_inner());
        for tally in tallies.values() {
            totals.trials += tally.total();
            totals.agree += tally.agree;
            totals.refused += tally.refusals();
            totals.wrong += tally.wrong.len();
        }
        totals
    }

    fn show_progress(&self) {
        let (wait, end) = match std::io::stderr().is_terminal() {
            true => (1, ""),
            false => (30, "\n"),
        };
        let mut next = Instant::now() + Duration::from_secs(wait);
        while !self.done.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(200));
            if Instant::now() >= next {
                next += Duration::from_secs(wait);
                if end.is_empty() {
                    eprint!("\r\x1b[K");
                }
                eprint!("{}{end}", self.progress());
                let _ = std::io::stderr().flush();
            }
        }
        if end.is_empty() {
            eprintln!();
        }
    }

    fn progress(&self) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let programs = self.finished.load(Ordering::Relaxed);
        let t = self.totals();
        format!(
            "{seconds:.0} s: {programs} programs, {} trials: {} agree, {} refused, {} wrong; \
             {:.2} programs per second",
            t.trials,
            t.agree,
            t.refused,
            t.wrong,
            programs as f64 / seconds
        )
    }

    fn summary(&self) -> ExitCode {
        println!("{}", self.progress());
        let tallies = self.tallies.lock().unwrap_or_else(|e| e.into_inner());
        for (trial, tally) in tallies.iter() {
            println!("{trial}: {tally}");
            for (seed, why) in &tally.wrong {
                let first = why.lines().next().unwrap_or_default();
                println!("wrong: seed {seed}, {trial}: {first}");
            }
        }
        let wrong = tallies.values().any(|tally| !tally.wrong.is_empty());
        ExitCode::from(u8::from(wrong))
    }
}

/// What came of all trials.
#[derive(Default)]
struct Totals {
    trials: usize,
    agree: usize,
    refused: usize,
    wrong: usize,
}

/// A program with what is wrong with it.
fn commented(trial: &Trial, seed: u64, why: &str, text: &str) -> String {
    let mut all = format!("{} seed {seed}, {trial}\n", trial.comment());
    for line in why.lines().take(8) {
        all += &format!("{} {line}\n", trial.comment());
    }
    all + text
}

fn save(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}
