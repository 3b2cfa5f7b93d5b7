//! A picture of the losses.

use crate::checkpoint::{History, write_safely};
use crate::error::{Error, Result};
use plotters::prelude::*;
use std::io::Write;
use std::path::Path;

/// Draws the losses of training and of validation as SVG, which needs no fonts here.
pub fn draw(history: &History, path: &Path) -> Result<()> {
    let picture = picture(history).map_err(|problem| {
        Error::file(
            path,
            format!("cannot be drawn: {problem}"),
            "nothing else is lost",
        )
    })?;
    write_safely(path, |file| file.write_all(picture.as_bytes()))
}

const TRAINING: RGBColor = RGBColor(0x9d, 0xb4, 0xcf);
const SMOOTH: RGBColor = RGBColor(0x2f, 0x5d, 0x95);
const VALIDATION: RGBColor = RGBColor(0xd0, 0x6b, 0x1f);

fn picture(history: &History) -> std::result::Result<String, String> {
    let training: Vec<(f64, f64)> = (1..)
        .zip(&history.training)
        .map(|(step, &loss)| (f64::from(step), f64::from(loss)))
        .collect();
    let validation: Vec<(f64, f64)> = history
        .validation_steps
        .iter()
        .zip(&history.validation)
        .map(|(&step, &loss)| (f64::from(step), f64::from(loss)))
        .collect();
    let all = || training.iter().chain(&validation);
    let steps = all().fold(1.0f64, |most, &(step, _)| most.max(step));
    let most = all().fold(f64::NEG_INFINITY, |most, &(_, loss)| most.max(loss));
    let least = all().fold(f64::INFINITY, |least, &(_, loss)| least.min(loss));
    let (least, most) = if least <= most {
        (least, most)
    } else {
        (0.0, 1.0)
    };
    let margin = ((most - least) * 0.05).max(0.01);

    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (800, 500)).into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        let mut chart = ChartBuilder::on(&area)
            .caption("Loss", ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(0.0..steps, least - margin..most + margin)
            .map_err(|error| error.to_string())?;
        chart
            .configure_mesh()
            .x_desc("steps")
            .y_desc("cross-entropy, nats per token")
            .x_label_formatter(&|step| format!("{step:.0}"))
            .y_label_formatter(&|loss| format!("{loss:.1}"))
            .light_line_style(WHITE)
            .draw()
            .map_err(|error| error.to_string())?;
        let curves = [
            ("training", smooth(&training), SMOOTH),
            ("validation", validation, VALIDATION),
        ];
        chart
            .draw_series(LineSeries::new(training, TRAINING))
            .map_err(|error| error.to_string())?;
        for (name, curve, color) in curves {
            chart
                .draw_series(LineSeries::new(curve, color.stroke_width(2)))
                .map_err(|error| error.to_string())?
                .label(name)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2))
                });
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE)
            .border_style(BLACK.mix(0.3))
            .draw()
            .map_err(|error| error.to_string())?;
        area.present().map_err(|error| error.to_string())?;
    }
    Ok(svg)
}

/// The means of each step and those around it.
fn smooth(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let around = (curve.len() / 60).max(1);
    (0..curve.len())
        .map(|index| {
            let near = &curve[index.saturating_sub(around)..(index + around + 1).min(curve.len())];
            let sum: f64 = near.iter().map(|&(_, loss)| loss).sum();
            (curve[index].0, sum / near.len() as f64)
        })
        .collect()
}
