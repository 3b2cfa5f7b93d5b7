//! Programs that take turns: the one that is measured, and peers that compute the same.
//!
//! Each is a process that runs one repetition when it gets a line and answers with its time, see
//! `bench/bench.h` and `bench/peers/turns.py`. So repetitions of all of them alternate although they
//! are different programs, and whatever slows the machine down slows down all.

use super::peers::{Kind, Peer};
use super::programs::{Build, Program};
use super::rows::{Answer, PeerTime, Row, Times};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// So long may a peer prepare, or run once.
const PATIENCE: Duration = Duration::from_secs(120);

/// Rounds in which everyone has a turn: so many at least; then until so much time is over.
const FEWEST_ROUNDS: usize = 3;
const MOST_ROUNDS: usize = 16;
const ENOUGH: Duration = Duration::from_millis(1500);

/// In a turn, a function runs so often, because others have emptied the caches; but not for longer
/// than so many milliseconds.
const RUNS: usize = 3;
const LONG_TURN: f64 = 250.0;

/// A peer that has run for so many milliseconds has no more turns with the same function.
const LONG: f64 = 10_000.0;

/// A peer whose result differs by more is not measured.
const TOLERANCE: f64 = 1e-7;

/// How thoroughly to measure.
#[derive(Clone, Copy)]
pub struct Effort {
    /// The smallest sizes, one round.
    pub is_tiny: bool,
}

/// Measures a program beside peers, a row for each of its measurements.
pub fn measure(
    ours: Command,
    peers: &[&Peer],
    build: &Build,
    program: &Program,
    folder: &Path,
    effort: Effort,
) -> Result<Vec<Row>, String> {
    let shared = folder.join("ours.shared");
    let mut ours = Participant::start("Zymase", with_words(ours, &shared, effort), folder)?;
    let mut others: Vec<Other> = peers
        .iter()
        .map(|peer| Other::start(peer, program, build, folder, effort))
        .collect();
    let mut rows = Vec::new();
    while let Some(line) = ours.next_line()? {
        let at = Measurement::read(&line).ok_or_else(|| format!("{line:?} was printed"))?;
        if at.difference > TOLERANCE {
            return Err(format!(
                "{} {} differs by {:e}",
                at.name, at.size, at.difference
            ));
        }
        let result = read_result(&shared)?;
        for other in &mut others {
            other.prepare(&at, &shared, &result);
        }
        let (times, answers) = rounds(&mut ours, &mut others, &at, effort)?;
        let title = (&at.name[..], &at.size[..], &build.label[..]);
        let row = Row::measured(program, title, &times, at.difference, answers);
        rows.push(row.ok_or("nothing was measured")?);
        // The next measurement may share nothing.
        std::fs::remove_file(&shared).ok();
        ours.tell("next")?;
        others.iter_mut().for_each(Other::finish);
    }
    Ok(rows)
}

/// Rounds in which everyone has a turn.
fn rounds(
    ours: &mut Participant,
    others: &mut [Other],
    at: &Measurement,
    effort: Effort,
) -> Result<([Times; 3], Vec<PeerTime>), String> {
    let kinds = &["primal", "gradient", "by hand"][..at.kinds];
    let mut times = [const { Times::new() }; 3];
    let begin = Instant::now();
    let is_enough = |rounds: usize| match effort.is_tiny {
        true => rounds == 1,
        false => rounds == MOST_ROUNDS || (rounds >= FEWEST_ROUNDS && begin.elapsed() > ENOUGH),
    };
    for round in 0.. {
        if is_enough(round) {
            break;
        }
        for (kind, times) in kinds.iter().zip(&mut times) {
            ours.turn(kind, times)?;
        }
        others.iter_mut().for_each(Other::turn);
    }
    Ok((times, others.iter_mut().map(Other::take_answer).collect()))
}

/// What a program says before it measures something.
struct Measurement {
    name: String,
    size: String,
    difference: f64,
    kinds: usize,
}

impl Measurement {
    fn read(line: &str) -> Option<Measurement> {
        let parts: Vec<&str> = line.split('\t').collect();
        let [name, size, difference, kinds] = parts[..] else {
            return None;
        };
        Some(Measurement {
            name: name.to_string(),
            size: size.to_string(),
            difference: difference.parse().ok()?,
            kinds: kinds.parse().ok().filter(|kinds| (2..=3).contains(kinds))?,
        })
    }
}

/// A peer, and what became of it.
struct Other {
    peer: &'static str,
    kind: Kind,
    shared: PathBuf,
    /// Why there is nothing to expect of it, for the rest of the program.
    state: Result<Participant, String>,
    /// Why it cannot do what is measured now.
    now: Result<(Times, Times, f64), String>,
}

impl Other {
    fn start(
        peer: &Peer,
        program: &Program,
        build: &Build,
        folder: &Path,
        effort: Effort,
    ) -> Other {
        let shared = folder.join(format!("{}.shared", peer.name));
        let command = peer.command(program, build);
        let state = match peer.kind {
            Kind::SameProgram => {
                Participant::start(peer.name, with_words(command, &shared, effort), folder)
            }
            Kind::Reader if program.shares() => Participant::start(peer.name, command, folder),
            Kind::Reader => Err("this function is not written for it".to_string()),
        };
        Other {
            peer: peer.name,
            kind: peer.kind,
            shared,
            state,
            now: Err(String::new()),
        }
    }

    /// Makes it ready to measure, and compares its result with ours.
    fn prepare(&mut self, at: &Measurement, ours: &Path, result: &[f64]) {
        self.now = match &mut self.state {
            Err(reason) => Err(reason.clone()),
            Ok(participant) => match self.kind {
                Kind::SameProgram => compare_program(participant, at, &self.shared, result),
                Kind::Reader => compare_reader(participant, at, ours, result),
            }
            .map(|difference| (Times::new(), Times::new(), difference)),
        };
        self.notice_end();
    }

    fn turn(&mut self) {
        if let (Ok(participant), Ok((primal, gradient, _))) = (&mut self.state, &mut self.now)
            && primal.total() + gradient.total() < LONG
        {
            let both = participant.turn("primal", primal);
            let both = both.and_then(|()| participant.turn("gradient", gradient));
            if let Err(reason) = both {
                self.now = Err(reason);
            }
        }
        self.notice_end();
    }

    fn take_answer(&mut self) -> PeerTime {
        let now = std::mem::replace(&mut self.now, Err(String::new()));
        PeerTime {
            peer: self.peer,
            answer: now.map(|(primal, gradient, difference)| Answer {
                primal,
                gradient,
                difference,
            }),
        }
    }

    fn finish(&mut self) {
        std::fs::remove_file(&self.shared).ok();
        if let (Kind::SameProgram, Ok(participant)) = (self.kind, &mut self.state)
            && let Err(reason) = participant.tell("next")
        {
            self.state = Err(reason);
        }
    }

    /// A process that has ended answers nothing any more.
    fn notice_end(&mut self) {
        if let (Ok(participant), Err(reason)) = (&mut self.state, &self.now)
            && participant.has_ended()
        {
            self.state = Err(reason.clone());
        }
    }
}

/// The difference of what a peer's own build of the program computes.
fn compare_program(
    participant: &mut Participant,
    at: &Measurement,
    shared: &Path,
    result: &[f64],
) -> Result<f64, String> {
    let line = participant.next_line()?.ok_or("it has ended")?;
    let theirs = Measurement::read(&line).ok_or_else(|| format!("it printed {line:?}"))?;
    if (&theirs.name, &theirs.size) != (&at.name, &at.size) {
        return Err(format!("it measures {} {} now", theirs.name, theirs.size));
    }
    if result.is_empty() && at.kinds < 3 {
        return Err("there is nothing to compare its result with".to_string());
    }
    let difference = match result.is_empty() {
        true => 0.0,
        false => difference(result, &read_result(shared)?)?,
    };
    agreed(difference.max(theirs.difference))
}

/// The difference of what a peer computes of our inputs.
fn compare_reader(
    participant: &mut Participant,
    at: &Measurement,
    shared: &Path,
    result: &[f64],
) -> Result<f64, String> {
    participant.tell(&format!("measure {}\t{}", at.name, shared.display()))?;
    let line = participant.next_line()?.ok_or("it has ended")?;
    if line != "ready" {
        return Err(line.strip_prefix("cannot ").unwrap_or(&line).to_string());
    }
    let mut theirs = shared.as_os_str().to_os_string();
    theirs.push(".result");
    agreed(difference(result, &read_result(Path::new(&theirs))?)?)
}

fn agreed(difference: f64) -> Result<f64, String> {
    match difference <= TOLERANCE {
        true => Ok(difference),
        false => Err(format!(
            "its result is another one: it differs by {difference:.1e}"
        )),
    }
}

/// The largest difference, as `agree` of `bench/bench.h` has it.
fn difference(ours: &[f64], theirs: &[f64]) -> Result<f64, String> {
    if ours.len() != theirs.len() {
        let (ours, theirs) = (ours.len(), theirs.len());
        return Err(format!("its result has {theirs} numbers instead of {ours}"));
    }
    let ordinary = ours.iter().map(|x| x.abs()).sum::<f64>() / ours.len() as f64;
    let differences = ours.iter().zip(theirs).map(|(a, b)| {
        let difference = (a - b).abs() / (a.abs() + b.abs() + ordinary);
        match difference.is_nan() {
            true if a == b => 0.0,
            true => f64::INFINITY,
            false => difference,
        }
    });
    Ok(differences.fold(0.0, f64::max))
}

/// The numbers that a file calls `result`, one part after the other.
fn read_result(path: &Path) -> Result<Vec<f64>, String> {
    let Ok(bytes) = std::fs::read(path) else {
        return Ok(Vec::new());
    };
    let (mut rest, mut result) = (&bytes[..], Vec::new());
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(&rest[..end]).into_owned();
        let (name, count) = line.split_once(' ').unwrap_or((&line, ""));
        let count: usize = count.parse().map_err(|_| format!("a file has {line:?}"))?;
        let numbers = rest.get(end + 1..end + 1 + 8 * count);
        let numbers = numbers.ok_or_else(|| format!("a file ends within {name}"))?;
        if name == "result" {
            let (numbers, _) = numbers.as_chunks();
            result.extend(numbers.iter().map(|number| f64::from_le_bytes(*number)));
        }
        rest = &rest[end + 1 + 8 * count..];
    }
    Ok(result)
}

fn with_words(mut command: Command, shared: &Path, effort: Effort) -> Command {
    if effort.is_tiny {
        command.arg("tiny");
    }
    command.arg("turns").arg(shared);
    command
}

/// A process to talk with, line by line.
struct Participant {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    complaints: PathBuf,
}

impl Participant {
    fn start(name: &str, mut command: Command, folder: &Path) -> Result<Participant, String> {
        let complaints = folder.join(format!("{name}.stderr"));
        let file = std::fs::File::create(&complaints).map_err(|error| error.to_string())?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(file);
        let mut child = command
            .spawn()
            .map_err(|error| format!("{command:?} does not start: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("it has no input or output".to_string());
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Participant {
            child,
            input,
            lines,
            complaints,
        })
    }

    fn tell(&mut self, line: &str) -> Result<(), String> {
        let told = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        told.map_err(|_| self.reason())
    }

    /// What it prints next; nothing if it has ended well.
    fn next_line(&mut self) -> Result<Option<String>, String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => {
                self.child.kill().ok();
                self.child.wait().ok();
                Err(format!("it did not answer within {} s", PATIENCE.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => match self.child.wait() {
                Ok(status) if status.success() => Ok(None),
                _ => Err(self.reason()),
            },
        }
    }

    /// Some repetitions, one after the other.
    fn turn(&mut self, kind: &str, times: &mut Times) -> Result<(), String> {
        let mut total = 0.0;
        for _ in 0..RUNS {
            self.tell(kind)?;
            let line = self.next_line()?.ok_or("it has ended")?;
            // A peer that has no function without derivatives says so with a dash.
            if line == "-" {
                break;
            }
            let time: f64 = line.parse().map_err(|_| format!("it printed {line:?}"))?;
            times.add(time);
            total += time;
            if total > LONG_TURN {
                break;
            }
        }
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Why it has ended: the first line of its complaints that names an error, or the last of all.
    fn reason(&mut self) -> String {
        let status = self.child.wait().map(|status| status.to_string());
        let status = status.unwrap_or_else(|error| error.to_string());
        let complaints = std::fs::read(&self.complaints).unwrap_or_default();
        let complaints = String::from_utf8_lossy(&complaints);
        let names_error = |line: &&str| line.to_lowercase().contains("error");
        let line = complaints.lines().find(names_error);
        let line = line
            .or_else(|| complaints.lines().last())
            .unwrap_or_default();
        let line: String = line.chars().take(160).collect();
        format!("{status}: {line}")
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
