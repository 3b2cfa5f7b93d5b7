//! Tables, and the file with everything.

use super::options::Options;
use super::{c, model, pictures, torch};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What a process has measured, as the program in C prints it.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Line {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hand_backward_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesized_backward_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hand_gradient_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesized_gradient_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hand_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesized_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_kb: Option<f64>,
}

/// A line, with what has measured it.
#[derive(Serialize)]
pub struct Row {
    pub language: String,
    #[serde(flatten)]
    pub line: Line,
}

impl Row {
    /// What tables and pictures call it.
    pub fn title(&self) -> String {
        let Line { name, variant, .. } = &self.line;
        match variant {
            Some(variant) => format!("{}: {name}, {variant}", self.language),
            None => format!("{}: {name}", self.language),
        }
    }
}

/// The steps of one program: times and peaks of memory, by hand and synthesized.
pub struct Steps {
    pub title: String,
    pub times: [Option<f64>; 2],
    pub peaks: [Option<f64>; 2],
}

/// Steps of two programs.
struct Comparison {
    /// In the file.
    name: &'static str,
    what: &'static str,
    ratio: f64,
    expected: &'static str,
}

/// All that was measured.
#[derive(Default)]
pub struct Report {
    pub rows: Vec<Row>,
    skipped: Vec<String>,
    failures: Vec<String>,
    losses: Option<f64>,
}

impl Report {
    /// Nothing yet.
    pub fn new(options: &Options) -> Report {
        if options.is_tiny {
            eprintln!("With --tiny, the numbers mean nothing.");
        }
        Report::default()
    }

    /// Adds what a process has printed.
    pub fn add(&mut self, language: &str, lines: Vec<Line>) {
        self.rows.extend(lines.into_iter().map(|line| Row {
            language: language.to_string(),
            line,
        }));
    }

    /// Says what is not measured.
    pub fn skip(&mut self, what: &str) {
        eprintln!("skipped: {what}");
        self.skipped.push(what.to_string());
    }

    /// Says what could not be measured: the rest is.
    pub fn fail(&mut self, problem: &str) {
        eprintln!("failed: {problem}");
        self.failures.push(problem.to_string());
    }

    /// How far losses of forty steps are apart, at most.
    pub fn set_losses(&mut self, difference: f64) {
        self.losses = Some(difference);
    }

    /// Prints tables, and writes files.
    pub fn finish(&self, options: &Options) -> Result<(), String> {
        self.print_gradients();
        self.print_steps();
        for Comparison {
            what,
            ratio,
            expected,
            ..
        } in self.comparisons()
        {
            println!("\n{what}: {ratio:.2} ({expected}).");
        }
        if let Some(difference) = self.losses {
            println!(
                "\nForty steps by either gradient: losses differ by at most {difference:.1e} of them."
            );
        }
        let file = options.folder.join("gpt2.json");
        let comparisons: serde_json::Map<_, _> = self
            .comparisons()
            .into_iter()
            .map(|comparison| (comparison.name.to_string(), json!(comparison.ratio)))
            .collect();
        let everything = json!({
            "machine": machine(),
            "is_tiny": options.is_tiny,
            "rows": self.rows,
            "skipped": self.skipped,
            "failures": self.failures,
            "comparisons": comparisons,
            "largest_difference_of_losses": self.losses,
        });
        let text = serde_json::to_string_pretty(&everything).map_err(|error| error.to_string())?;
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        pictures::draw(self, &options.folder)?;
        println!(
            "\nPictures and numbers are in {}.",
            options.folder.display()
        );
        Ok(())
    }

    fn print_gradients(&self) {
        println!("Milliseconds, the fastest of several by turns.\n");
        println!(
            "| | shape | forward | backward by hand | synthesized | ratio | gradient by hand | \
             synthesized | ratio | over forward | differs |"
        );
        println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
        for row in &self.rows {
            let line = &row.line;
            if line.forward_ms.is_none() && line.synthesized_gradient_ms.is_none() {
                continue;
            }
            println!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.title(),
                line.shape.as_deref().unwrap_or_default(),
                time(line.forward_ms),
                time(line.hand_backward_ms),
                time(line.synthesized_backward_ms),
                ratio(line.synthesized_backward_ms, line.hand_backward_ms),
                time(line.hand_gradient_ms),
                time(line.synthesized_gradient_ms),
                ratio(line.synthesized_gradient_ms, line.hand_gradient_ms),
                ratio(
                    line.synthesized_gradient_ms.or(line.hand_gradient_ms),
                    line.forward_ms
                ),
                line.difference
                    .map_or(String::new(), |difference| format!("{difference:.0e}")),
            );
        }
    }

    fn print_steps(&self) {
        let steps = self.steps();
        if steps.is_empty() {
            return;
        }
        println!(
            "\nSteps (forward, backward, AdamW) in milliseconds, and peaks of memory in MB.\n"
        );
        println!("| | step by hand | synthesized | ratio | memory by hand | synthesized | ratio |");
        println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
        for Steps {
            title,
            times,
            peaks,
        } in steps
        {
            let peak =
                |peak: Option<f64>| peak.map_or(String::new(), |kb| format!("{:.0}", kb / 1e3));
            println!(
                "| {title} | {} | {} | {} | {} | {} | {} |",
                time(times[0]),
                time(times[1]),
                ratio(times[1], times[0]),
                peak(peaks[0]),
                peak(peaks[1]),
                ratio(peaks[1], peaks[0]),
            );
        }
    }

    /// The steps of each program.
    pub fn steps(&self) -> Vec<Steps> {
        let mut steps: Vec<Steps> = Vec::new();
        for row in &self.rows {
            let line = &row.line;
            let has_time = line.hand_ms.is_some() || line.synthesized_ms.is_some();
            if !has_time && line.peak_kb.is_none() {
                continue;
            }
            let title = row.title().replace(" step", "").replace(" memory", "");
            let at = steps.iter().position(|steps| steps.title == title);
            let at = at.unwrap_or_else(|| {
                steps.push(Steps {
                    title,
                    times: [None; 2],
                    peaks: [None; 2],
                });
                steps.len() - 1
            });
            if has_time {
                steps[at].times = [line.hand_ms, line.synthesized_ms];
            } else {
                let is_synthesized = line.method.as_deref() == Some("synthesized");
                steps[at].peaks[usize::from(is_synthesized)] = line.peak_kb;
            }
        }
        steps
    }

    /// Steps of different programs, as far as they were measured.
    fn comparisons(&self) -> Vec<Comparison> {
        let find = |language: &str, variant: Option<&str>| {
            let row = self.rows.iter().find(|row| {
                row.language == language
                    && row.line.variant.as_deref() == variant
                    && (row.line.hand_ms.is_some() || row.line.synthesized_ms.is_some())
            });
            row.map(|row| (row.line.hand_ms, row.line.synthesized_ms))
        };
        let synthesized = |language, variant| find(language, variant)?.1;
        let by_hand = |language, variant| find(language, variant)?.0;
        let tuned = synthesized("Rust", Some(model::TUNED));
        let plain = synthesized("Rust", Some(model::PLAIN));
        let clang = by_hand(c::PLAIN, None);
        let c = synthesized("C, Zymase", None);
        let compiled = synthesized(torch::LANGUAGE, Some(torch::COMPILED));
        let all = [
            (
                "rust_step_over_plain_c",
                "A step in plain C (clang, by hand) over one in Rust (tuned)",
                clang,
                tuned,
                "expected: at least 2.5",
            ),
            (
                "loops_over_tuned",
                "A step in Rust with plain loops over one with the tuned product",
                plain,
                tuned,
                "expected: at most 1.1",
            ),
            (
                "loops_over_torch",
                "A step in Rust with plain loops over one in PyTorch, compiled",
                plain,
                compiled,
                "expected: at most 1",
            ),
            (
                "plain_c_over_c",
                "A step in plain C (clang, by hand) over a synthesized one in C",
                clang,
                c,
                "expected: at least 3",
            ),
            (
                "c_over_torch",
                "A synthesized step in C over one in PyTorch, compiled",
                c,
                compiled,
                "expected: at most 1",
            ),
        ];
        let all = all.into_iter().filter_map(|(name, what, a, b, expected)| {
            Some(Comparison {
                name,
                what,
                ratio: a? / b?,
                expected,
            })
        });
        all.collect()
    }
}

fn time(time: Option<f64>) -> String {
    match time {
        None => String::new(),
        Some(time) if time >= 100.0 => format!("{time:.0}"),
        Some(time) if time >= 10.0 => format!("{time:.1}"),
        Some(time) => format!("{time:.2}"),
    }
}

fn ratio(a: Option<f64>, b: Option<f64>) -> String {
    match (a, b) {
        (Some(a), Some(b)) => format!("{:.2}", a / b),
        _ => String::new(),
    }
}

/// The processor, and how many of its cores there are.
fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{cores} cores of {model}")
}
