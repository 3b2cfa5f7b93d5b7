//! The loop: steps until the last one or until somebody says stop.

use super::Trainer;
use crate::error::{Error, Result};
use crate::progress::Progress;
use std::fs;
use std::path::{Path, PathBuf};

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All steps are done.
    Finished,
    /// It was stopped, and can go on.
    Stopped,
}

/// Trains until all steps are done or `stop` says so, and saves to `file`.
///
/// `is_new` says that what is in `file` belongs to an earlier run: then it is kept under another name.
pub fn run(
    trainer: &mut Trainer,
    file: &Path,
    is_new: bool,
    stop: &dyn Fn() -> bool,
    progress: &mut Progress,
) -> Result<Outcome> {
    let mut saver = Saver {
        file,
        is_new,
        saved: None,
    };
    let settings = trainer.training().settings.clone();
    if trainer.training().step == 0 {
        progress.validation(0, trainer.validate()?);
    }
    let outcome = loop {
        let step = trainer.training().step;
        if step >= settings.steps {
            break Outcome::Finished;
        }
        let made = trainer.step(stop)?;
        let Some(made) = made else {
            break Outcome::Stopped;
        };
        let step = step + 1;
        progress.step(step, made);
        if step.is_multiple_of(settings.validate_every) || step == settings.steps {
            progress.validation(step, trainer.validate()?);
        }
        if settings.save_every > 0 && step.is_multiple_of(settings.save_every) {
            saver.save(trainer, progress)?;
        }
    };
    saver.save(trainer, progress)?;
    progress.finish();
    Ok(outcome)
}

struct Saver<'a> {
    file: &'a Path,
    is_new: bool,
    saved: Option<u64>,
}

impl Saver<'_> {
    fn save(&mut self, trainer: &Trainer, progress: &Progress) -> Result<()> {
        let step = trainer.training().step;
        if self.saved == Some(step) {
            return Ok(());
        }
        if self.is_new
            && let Some(kept) = keep_earlier(self.file)?
        {
            progress.say(&format!(
                "The checkpoint of an earlier run is now {}",
                kept.display()
            ));
        }
        trainer.save(self.file)?;
        self.is_new = false;
        self.saved = Some(step);
        Ok(())
    }
}

/// Gives a file another name, with the first number that is free, if it is there.
fn keep_earlier(file: &Path) -> Result<Option<PathBuf>> {
    if !file.exists() {
        return Ok(None);
    }
    for number in 1u64.. {
        let name = format!("earlier-{number}.safetensors");
        let kept = file.with_file_name(name);
        if !kept.exists() {
            fs::rename(file, &kept).map_err(Error::io(file, "rename"))?;
            return Ok(Some(kept));
        }
    }
    Ok(None)
}
