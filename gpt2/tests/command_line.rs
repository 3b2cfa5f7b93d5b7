//! The program as it is used: what it says, what it writes, and how it refuses.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use zymase_gpt2::checkpoint::Checkpoint;

fn gpt2(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpt2"));
    command
        .current_dir(folder)
        .args(arguments.split_whitespace());
    command
}

fn run(folder: &Path, arguments: &str) -> Output {
    gpt2(folder, arguments).output().unwrap()
}

/// Runs and gives what was said; it must succeed.
fn said(folder: &Path, arguments: &str) -> String {
    let output = run(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// A model that is trained in no time.
const TINY: &str = "--layers 1 --heads 2 --channels 8 --length 8 --batch 2 --backward by-hand";

#[test]
fn with_nothing_but_few_steps_it_trains_and_writes() {
    let folder = tempfile::tempdir().unwrap();
    let text = said(
        folder.path(),
        "--steps 2 --batch 1 --length 16 --accumulate 2",
    );
    for part in [
        "GPT-2 with",
        "the built-in text",
        "validation 6.",
        "A sample:",
        "The ",
        "Took",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    let file = folder.path().join("gpt2-run/checkpoint.safetensors");
    assert_eq!(Checkpoint::read(&file).unwrap().training.unwrap().step, 2);
    let picture = fs::read_to_string(folder.path().join("gpt2-run/loss.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("validation"));
}

#[test]
fn everything_that_is_written_can_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    said(here, &format!("train --steps 3 --tokenizer bytes {TINY}"));
    let sample = |file: &str| said(here, &format!("sample {file} --prompt ab --tokens 20"));
    let text = sample("");
    assert!(text.starts_with("ab"));
    said(here, "convert gpt2-run/checkpoint.safetensors model.bin");
    said(here, "export model.bin model.safetensors");
    assert_eq!(sample("model.bin"), text);
    assert_eq!(sample("model.safetensors"), text);

    fs::write(
        here.join("text.txt"),
        "some text that is long enough. ".repeat(20),
    )
    .unwrap();
    said(here, "tokenize text.txt bytes.bin --model model.bin");
    said(here, "tokenize text.txt gpt2.bin");
    let from = "train --data bytes.bin --steps 2 --batch 2 --length 8 --backward by-hand";
    said(here, &format!("{from} --from model.bin --out second"));
    // A new run keeps what an earlier one has saved.
    said(
        here,
        &format!("{from} --from model.safetensors --out second"),
    );
    assert!(here.join("second/earlier-1.safetensors").exists());
    let more = "train --resume second/checkpoint.safetensors --steps 4 --backward by-hand";
    said(here, more);
    let file = here.join("second/checkpoint.safetensors");
    assert_eq!(Checkpoint::read(&file).unwrap().training.unwrap().step, 4);
}

#[test]
fn what_was_wrong_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("empty.txt"), "").unwrap();
    fs::write(here.join("latin.txt"), b"caf\xe9").unwrap();
    fs::write(here.join("short.txt"), "short").unwrap();
    fs::write(
        here.join("text.txt"),
        "some text that is long enough. ".repeat(50),
    )
    .unwrap();
    fs::write(here.join("file"), "").unwrap();
    said(here, &format!("--out run --steps 1 {TINY}"));
    said(here, "convert run/checkpoint.safetensors model.safetensors");
    said(here, "convert model.safetensors model.bin");
    said(here, "tokenize text.txt gpt2.bin");
    let whole = fs::read(here.join("model.safetensors")).unwrap();
    fs::write(here.join("cut.safetensors"), &whole[..whole.len() / 2]).unwrap();
    let table = [
        ("--data missing.txt", "missing.txt: cannot read"),
        ("--data empty.txt", "empty.txt: empty"),
        ("--data latin.txt", "latin.txt: not UTF-8 at byte 3"),
        ("--data short.txt", "short.txt: too short"),
        ("--data .", ".: cannot read"),
        (
            "--data gpt2.bin --tokenizer bytes --batch 1 --length 8",
            "is not in the vocabulary of 256",
        ),
        (
            "--data gpt2.bin --tokenizer learned",
            "nothing can be learned",
        ),
        ("--heads 5", "96 channels cannot be divided among 5 heads"),
        ("--layers 0", "layers must not be 0"),
        ("--positions 4", "do not fit into a model with 4 positions"),
        ("--length 0", "--length is 0"),
        ("--steps 0", "--steps is 0"),
        ("--accumulate 0", "--accumulate is 0"),
        ("--batch 18446744073709551615", "--batch is"),
        ("--channels 2000000000 --heads 1", "of memory"),
        ("--layers 2147483647", "of memory"),
        ("--vocabulary 10", "--vocabulary is 10"),
        (
            "--vocabulary 300 --tokenizer gpt2",
            "--tokenizer learned only",
        ),
        ("--learning-rate NaN", "--learning-rate is NaN"),
        ("--beta2 1", "--beta2 is 1"),
        (
            "--steps 20 --warmup 0 --learning-rate 1e30 --clip 0",
            "diverged",
        ),
        ("--out file", "file: cannot create"),
        ("--out file/inside", "cannot create"),
        (
            "train --resume",
            "gpt2-run/checkpoint.safetensors: cannot read",
        ),
        ("train --resume model.safetensors", "a model only"),
        (
            "train --resume cut.safetensors",
            "cut.safetensors: truncated or corrupt",
        ),
        ("train --from text.txt", "text.txt: truncated or corrupt"),
        (
            "train --resume run/checkpoint.safetensors --length 9",
            "do not fit",
        ),
        ("train --from model.bin", "does not say which tokenizer"),
        ("sample", "gpt2-run/checkpoint.safetensors: cannot read"),
        ("sample model.bin", "does not say which tokenizer"),
        (
            "sample model.safetensors --temperature NaN",
            "--temperature is NaN",
        ),
        (
            "sample cut.safetensors",
            "cut.safetensors: truncated or corrupt",
        ),
        ("tokenize latin.txt a.bin", "latin.txt: not UTF-8 at byte 3"),
        (
            "tokenize text.txt missing/a.bin",
            "missing/a.bin: cannot write",
        ),
        (
            "convert model.safetensors model.pt",
            "let it end in .safetensors or .bin",
        ),
        (
            "convert model.safetensors missing/model.bin",
            "missing/model.bin: cannot write",
        ),
    ];
    for (arguments, expected) in table {
        let arguments = match arguments.strip_prefix("--") {
            Some(_) if arguments.contains("--out") => format!("{arguments} {TINY}"),
            Some(_) => format!("{arguments} --out new --backward by-hand"),
            None => arguments.to_string(),
        };
        let output = run(here, &arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {error}");
        assert!(error.starts_with("error: "), "{arguments}: {error}");
        assert!(error.contains(expected), "{arguments}: {error}");
        assert_eq!(error.lines().count(), 1, "{arguments}: {error}");
    }
    // Nothing was written by what was refused, but for the folder of what diverged later.
    assert!(!here.join("new/checkpoint.safetensors").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let options = format!("{TINY} --steps 400 --validate-every 20 --threads 2");
    said(here, &format!("train --out whole {options}"));
    let mut child = gpt2(here, &format!("train --out parts {options}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .find(|line| line.as_ref().unwrap().starts_with("step    20"))
        .unwrap()
        .unwrap();
    // SAFETY: the process is a child that was not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let rest: Vec<String> = lines.map(|line| line.unwrap()).collect();
    assert!(child.wait().unwrap().success());
    assert!(
        rest.iter().any(|line| line.starts_with("Stopped")),
        "{rest:?}"
    );
    let read = |name: &str| Checkpoint::read(&here.join(name)).unwrap();
    let step = read("parts/checkpoint.safetensors").training.unwrap().step;
    assert!((20..400).contains(&step), "{step}");
    said(
        here,
        "train --resume parts/checkpoint.safetensors --backward by-hand",
    );
    let whole = read("whole/checkpoint.safetensors");
    assert!(read("parts/checkpoint.safetensors") == whole);
}

#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    use std::os::unix::process::CommandExt;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    said(here, &format!("--out run --steps 2 {TINY}"));
    let file = here.join("run/checkpoint.safetensors");
    let before = fs::read(&file).unwrap();
    let limited = |arguments: &str| {
        let mut command = gpt2(here, arguments);
        // SAFETY: both calls are allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // Files may have 20000 bytes, and what is more is an error instead of a signal.
                let limit = libc::rlimit {
                    rlim_cur: 20000,
                    rlim_max: 20000,
                };
                libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                Ok(())
            });
        }
        command.output().unwrap()
    };
    for arguments in [
        "train --resume run/checkpoint.safetensors --steps 4 --backward by-hand",
        "convert run/checkpoint.safetensors run/copy.bin",
    ] {
        let output = limited(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(
            error.contains("cannot write") && error.contains("make room"),
            "{error}"
        );
    }
    assert!(fs::read(&file).unwrap() == before);
    let mut names: Vec<_> = fs::read_dir(here.join("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["checkpoint.safetensors", "loss.svg"]);
}
