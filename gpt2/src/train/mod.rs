//! Training: steps, validations, and the loop around them.

mod run;
mod settings;

pub use run::{Outcome, run};
pub use settings::Settings;

use crate::checkpoint::{self, Checkpoint, History, Parts, Training};
use crate::data::{Batch, Data, Loader, Position, validation};
use crate::error::{Error, Result};
use crate::method::{self, Method, Sequences};
use crate::optimizer::{Moments, clip};
use crate::tokenizer::Tokenizer;
use crate::{Config, Parameters};
use std::path::Path;

/// A model that is being trained.
pub struct Trainer {
    checkpoint: Checkpoint,
    training: Training,
    data: Data,
    loader: Loader,
    method: Method,
    /// For each thread, and for their sum.
    gradients: Vec<Parameters>,
}

/// What a step was like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The mean loss before it.
    pub loss: f32,
    /// The norm of the gradient before it was limited.
    pub norm: f64,
}

impl Trainer {
    /// Begins with a model, or goes on if `checkpoint` says from where.
    pub fn new(
        mut checkpoint: Checkpoint,
        settings: Settings,
        data: Data,
        method: Method,
        threads: usize,
    ) -> Result<Trainer> {
        let config = checkpoint.config;
        config.check()?;
        settings.check(config.positions)?;
        data.check(settings.batch, settings.length)?;
        let threads = threads.clamp(1, settings.accumulate);
        check_memory(&config, &settings, threads)?;
        let mut training = checkpoint.training.take().unwrap_or_else(|| Training {
            settings: settings.clone(),
            step: 0,
            position: Position {
                seed: settings.seed,
                ..Position::default()
            },
            tokens: data.len(),
            moments: Moments::zeros(&config),
            history: History::default(),
        });
        if !is_same_data(&training, &settings, &data) {
            // The place in other data means nothing.
            training.position.epoch = training.position.epoch.wrapping_add(1);
            training.position.next = 0;
        }
        training.tokens = data.len();
        training.settings = settings;
        let settings = &training.settings;
        let loader = Loader::new(
            &data,
            (settings.batch, settings.length),
            config.vocabulary,
            training.position,
        );
        let gradients = (0..=threads).map(|_| Parameters::zeros(&config)).collect();
        Ok(Trainer {
            checkpoint,
            training,
            data,
            loader,
            method,
            gradients,
        })
    }

    /// The shape of the model.
    pub fn config(&self) -> &Config {
        &self.checkpoint.config
    }

    /// What was learned so far.
    pub fn parameters(&self) -> &Parameters {
        &self.checkpoint.parameters
    }

    /// How the model reads text.
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        self.checkpoint.tokenizer.as_ref()
    }

    /// Everything else that changes.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// What is learned from.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// How gradients are computed.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Saves all that is needed to go on from here.
    pub fn save(&self, path: &Path) -> Result<()> {
        Parts {
            config: &self.checkpoint.config,
            parameters: &self.checkpoint.parameters,
            tokenizer: self.checkpoint.tokenizer.as_ref(),
            training: Some(&self.training),
        }
        .write(path)
    }

    /// Makes a step, unless `stop` says that it should not be finished: then nothing has changed.
    ///
    /// The result does not depend on how many threads there are: the gradient of each batch is computed
    /// by itself, and they are added in order.
    pub fn step(&mut self, stop: impl Fn() -> bool) -> Result<Option<Step>> {
        let settings = &self.training.settings;
        let (length, accumulate) = (settings.length, settings.accumulate);
        let config = self.checkpoint.config;
        let (sum, of_threads) = self.gradients.split_at_mut(1);
        let sum = &mut sum[0];
        let threads = of_threads.len();
        sum.zero(threads);
        let seed = 1.0 / accumulate as f32;
        let mut loss = 0.0;
        let mut done = 0;
        while done < accumulate {
            if stop() {
                self.loader.go_to(&self.data, self.training.position);
                return Ok(None);
            }
            let wave = of_threads.len().min(accumulate - done);
            let mut batches = Vec::new();
            for _ in 0..wave {
                batches.push(self.loader.next(&self.data)?);
            }
            let (parameters, method) = (&self.checkpoint.parameters, self.method);
            let compute = |batch: &Batch, gradients: &mut Parameters| {
                gradients.zero(1);
                let sequences = sequences(batch, length);
                method::gradient(method, parameters, gradients, &config, sequences, seed)
            };
            loss += each(&batches, of_threads, compute).into_iter().sum::<f32>();
            for gradients in &of_threads[..wave] {
                add(sum, gradients);
            }
            done += wave;
        }
        let loss = loss / accumulate as f32;

        let step = self.training.step;
        let norm = clip(sum, settings.clip);
        if !loss.is_finite() || !norm.is_finite() {
            self.loader.go_to(&self.data, self.training.position);
            return Err(Error::Diverged {
                step: step + 1,
                loss,
                norm,
            });
        }
        let rate = settings.schedule().rate(step);
        let parameters = &mut self.checkpoint.parameters;
        let moments = &mut self.training.moments;
        settings
            .optimizer()
            .update(parameters, sum, moments, step, rate, threads);
        self.training.step += 1;
        self.training.position = self.loader.position();
        self.training.history.training.push(loss);
        Ok(Some(Step { loss, norm }))
    }

    /// The mean loss of the sequences for validation, which is remembered.
    pub fn validate(&mut self) -> Result<f32> {
        let settings = &self.training.settings;
        let config = &self.checkpoint.config;
        let length = settings.length;
        let batches = validation(
            &self.data,
            (settings.batch, length),
            settings.validate_sequences,
            config.vocabulary,
        )?;
        let mut losses = 0.0;
        let mut tokens = 0;
        for wave in batches.chunks(self.gradients.len() - 1) {
            let found = each(wave, &mut vec![(); wave.len()], |batch, ()| {
                let (parameters, kernel) = (&self.checkpoint.parameters, self.method.kernel);
                method::loss(kernel, parameters, config, sequences(batch, length))
            });
            for (loss, batch) in found.into_iter().zip(wave) {
                losses += f64::from(loss) * batch.tokens.len() as f64;
                tokens += batch.tokens.len();
            }
        }
        let loss = (losses / tokens as f64) as f32;
        let history = &mut self.training.history;
        if history.validation_steps.last() != Some(&(self.training.step as u32)) {
            history.validation_steps.push(self.training.step as u32);
            history.validation.push(loss);
        }
        Ok(loss)
    }
}

/// Whether the data is that of an earlier part of the training.
fn is_same_data(training: &Training, settings: &Settings, data: &Data) -> bool {
    let shape = |settings: &Settings| (settings.data.clone(), settings.length);
    training.tokens == data.len() && shape(&training.settings) == shape(settings)
}

fn sequences(batch: &Batch, length: usize) -> Sequences<'_> {
    Sequences {
        tokens: &batch.tokens,
        targets: &batch.targets,
        length,
    }
}

/// `compute` of each batch, on as many threads as there are batches, in order.
fn each<T: Send>(
    batches: &[Batch],
    parts: &mut [T],
    compute: impl Fn(&Batch, &mut T) -> f32 + Sync,
) -> Vec<f32> {
    let compute = &compute;
    let mut work = batches.iter().zip(parts);
    let Some((own, part)) = work.next() else {
        return Vec::new();
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = work
            .map(|(batch, part)| scope.spawn(move || compute(batch, part)))
            .collect();
        let mut losses = vec![compute(own, part)];
        for other in others {
            losses.push(other.join().unwrap_or(f32::NAN));
        }
        losses
    })
}

fn add(sum: &mut Parameters, gradients: &Parameters) {
    for (sum, gradients) in sum.tensors_mut().into_iter().zip(gradients.tensors()) {
        for (sum, gradient) in sum.iter_mut().zip(gradients) {
            *sum += gradient;
        }
    }
}

/// Whether there is enough memory: it is better to say so now than to be stopped later.
pub fn check_memory(config: &Config, settings: &Settings, threads: usize) -> Result<()> {
    let threads = threads.clamp(1, settings.accumulate);
    let needed = (|| {
        let parameters = checkpoint::count(config)?.checked_mul(threads + 4)?;
        let tokens = settings.batch.checked_mul(settings.length)?;
        let row = config.channels.checked_mul(16)?;
        let row = row.checked_add(config.heads.checked_mul(settings.length)?)?;
        let row = row.checked_mul(config.layers)?;
        let row = row.checked_add(config.padded_vocabulary.checked_mul(2)?)?;
        let activations = tokens.checked_mul(row)?.checked_mul(threads)?;
        parameters.checked_add(activations)
    })();
    let is_there = needed.is_some_and(|numbers| {
        let mut probe: Vec<f32> = Vec::new();
        probe.try_reserve_exact(numbers).is_ok()
    });
    if is_there {
        return Ok(());
    }
    let gigabytes = needed.map_or(f64::INFINITY, |numbers| numbers as f64 * 4e-9);
    Err(Error::option(
        format!("training this model needs about {gigabytes:.0} GB of memory, which is not there"),
        "choose a smaller model, --batch, --length or --threads",
    ))
}
