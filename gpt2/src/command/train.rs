//! `gpt2 train`: a new model, or one that goes on.

use super::sample::write_text;
pub use super::train_arguments::Arguments;
use std::fs;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use zymase_gpt2::checkpoint::Checkpoint;
use zymase_gpt2::data::{Data, Input, embedded};
use zymase_gpt2::error::{Error, Result};
use zymase_gpt2::progress::Progress;
use zymase_gpt2::sample::Sampling;
use zymase_gpt2::tokenizer::Tokenizer;
use zymase_gpt2::train::{self, Outcome, Settings, Trainer};
use zymase_gpt2::{Parameters, curve};

const FILE: &str = "checkpoint.safetensors";

/// Trains a model.
pub fn run(arguments: &Arguments) -> Result<()> {
    let begin = Instant::now();
    let mut folder = arguments.out.clone();
    let resumed = match &arguments.resume {
        None => None,
        Some(Some(file)) => Some(file.clone()),
        Some(None) => Some(folder.clone().unwrap_or("gpt2-run".into()).join(FILE)),
    };
    if folder.is_none()
        && let Some(file) = &resumed
    {
        folder = file.parent().map(Path::to_path_buf);
    }
    let folder = folder.unwrap_or("gpt2-run".into());
    let file = folder.join(FILE);

    let found = match resumed.as_ref().or(arguments.from.as_ref()) {
        Some(path) => Some(Checkpoint::read(path)?),
        None => None,
    };
    let mut settings = Settings::default();
    if let Some(path) = &resumed {
        let training = found.as_ref().and_then(|found| found.training.as_ref());
        let Some(training) = training else {
            return Err(Error::file(
                path,
                "a model only, without where its training is",
                "begin with it by --from",
            ));
        };
        settings = training.settings.clone();
    }
    arguments.change(&mut settings)?;

    let input = match &settings.data {
        None => Input::Text(embedded()),
        Some(path) => Input::read(Path::new(path))?,
    };
    let name = settings.data.as_deref().unwrap_or("the built-in text");
    let checkpoint = match found {
        Some(mut found) => {
            if resumed.is_none() {
                found.training = None;
            }
            found
        }
        None => begin_new(arguments, &settings, &input)?,
    };
    let tokenizer = match (&checkpoint.tokenizer, &input) {
        (Some(tokenizer), _) => tokenizer.clone(),
        // Nothing has to be read.
        (None, Input::Tokens(_)) => Tokenizer::Bytes,
        (None, Input::Text(_)) => {
            return Err(Error::option(
                "the model does not say which tokenizer it is for",
                "give a file of tokens as --data",
            ));
        }
    };
    let data = Data::new(name, &input, &tokenizer)?;
    drop(input);
    if let Some(training) = &checkpoint.training
        && training.tokens != data.len()
    {
        say!("The data is not what it was: it is read from its beginning.");
    }
    let is_new = resumed.as_deref() != Some(&file);
    let method = arguments.method();
    let threads = arguments.threads();
    let mut trainer = Trainer::new(checkpoint, settings, data, method, threads)?;
    fs::create_dir_all(&folder).map_err(Error::io(&folder, "create"))?;
    introduce(&trainer, &folder);

    let stop = on_interrupt()?;
    let settings = &trainer.training().settings;
    let tokens = settings.batch * settings.length * settings.accumulate;
    let is_terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    let mut progress = Progress::new(is_terminal, trainer.training().step, settings.steps, tokens);
    let stopped = || stop.load(Ordering::Relaxed);
    let outcome = train::run(&mut trainer, &file, is_new, &stopped, &mut progress)?;
    let picture = folder.join("loss.svg");
    curve::draw(&trainer.training().history, &picture)?;

    if outcome == Outcome::Finished {
        show(&trainer);
    }
    let step = trainer.training().step;
    say!("Checkpoint: {} (step {step})", file.display());
    say!("Losses:     {}", picture.display());
    if outcome == Outcome::Stopped {
        say!("Stopped; go on by: gpt2 train --resume {}", file.display());
    } else {
        say!("Took {:.0} s.", begin.elapsed().as_secs_f64());
    }
    Ok(())
}

/// A new model; it is made only when it is known that there is memory for it.
fn begin_new(arguments: &Arguments, settings: &Settings, input: &Input) -> Result<Checkpoint> {
    let (config, tokenizer) = arguments.shape(settings, input)?;
    settings.check(config.positions)?;
    config.check()?;
    train::check_memory(&config, settings, arguments.threads())?;
    Ok(Checkpoint {
        config,
        parameters: Parameters::random(&config, settings.seed),
        tokenizer: Some(tokenizer),
        training: None,
    })
}

/// The first Ctrl-C asks for a stop after what is being computed; the second one does not wait.
fn on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = stop.clone();
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("Stopping; once more to stop without a checkpoint.");
    })
    .map_err(|error| Error::option(format!("Ctrl-C cannot be handled: {error}"), "try again"))?;
    Ok(stop)
}

fn introduce(trainer: &Trainer, folder: &Path) {
    let config = trainer.config();
    say!(
        "GPT-2 with {} parameters: {} layers of {} channels, {} heads, {} tokens, {} positions",
        trainer.parameters().count(),
        config.layers,
        config.channels,
        config.heads,
        config.vocabulary,
        config.positions
    );
    let data = trainer.data();
    say!(
        "Text: {}, {} tokens for training and {} for validation",
        data.name(),
        data.training().len(),
        data.validation().len()
    );
    say!("Files go to {}", folder.display());
}

/// A sample of what was learned.
fn show(trainer: &Trainer) {
    if let Some(tokenizer) = trainer.tokenizer() {
        let sampling = Sampling {
            temperature: 0.7,
            top_k: 40,
        };
        let kernel = trainer.method().kernel;
        let model = (trainer.parameters(), trainer.config(), kernel);
        say!("\nA sample:\n");
        write_text(model, tokenizer, "The ", 200, &sampling, 1);
        say!();
    }
}
