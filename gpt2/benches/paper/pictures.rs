//! Pictures, as SVG.

use super::report::Report;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::fmt::Display;
use std::path::Path;
use zymase_gpt2::checkpoint::History;

const BY_HAND: RGBColor = RGBColor(0xd0, 0x6b, 0x1f);
const SYNTHESIZED: RGBColor = RGBColor(0x2f, 0x5d, 0x95);
const LIGHT: RGBColor = RGBColor(0x9d, 0xb4, 0xcf);
const GRAY: RGBColor = RGBColor(0x88, 0x88, 0x88);

/// Draws everything that there is something to say about.
pub fn draw(report: &Report, folder: &Path) -> Result<(), String> {
    let over = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
    let ratios = report.rows.iter().filter_map(|row| {
        let line = &row.line;
        let gradient = over(line.synthesized_gradient_ms, line.hand_gradient_ms)?;
        let backward = over(line.synthesized_backward_ms, line.hand_backward_ms);
        Some((row.title(), [backward, Some(gradient)]))
    });
    Bars {
        title: "Synthesized over by hand: shorter is better",
        series: [("backward pass", LIGHT), ("whole gradient", SYNTHESIZED)],
        digits: 2,
        mark: Some(1.0),
        groups: ratios.collect(),
    }
    .draw(&folder.join("ratios.svg"))?;
    let steps = report.steps();
    let times = steps.iter().map(|steps| (steps.title.clone(), steps.times));
    Bars {
        title: "A step of training, milliseconds",
        series: [("by hand", BY_HAND), ("synthesized", SYNTHESIZED)],
        digits: 0,
        mark: None,
        groups: times.collect(),
    }
    .draw(&folder.join("steps.svg"))?;
    let gigabytes = |peak: Option<f64>| peak.map(|kilobytes| kilobytes / 1e6);
    let peaks = steps.iter();
    let peaks = peaks.map(|steps| (steps.title.clone(), steps.peaks.map(gigabytes)));
    Bars {
        title: "The most memory of a step of training, gigabytes",
        series: [("by hand", BY_HAND), ("synthesized", SYNTHESIZED)],
        digits: 2,
        mark: None,
        groups: peaks.collect(),
    }
    .draw(&folder.join("memory.svg"))
}

/// Horizontal bars, in groups of two.
struct Bars {
    title: &'static str,
    series: [(&'static str, RGBColor); 2],
    /// After the point.
    digits: usize,
    /// Where a line goes.
    mark: Option<f64>,
    groups: Vec<(String, [Option<f64>; 2])>,
}

const BAR: i32 = 13;
const GAP: i32 = 10;
const LEFT: i32 = 360;
const PLOT: f64 = 420.0;
const TOP: i32 = 76;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Bars {
    /// Nothing is drawn if there is nothing to show.
    fn draw(&self, file: &Path) -> Result<(), String> {
        let values = || {
            self.groups
                .iter()
                .flat_map(|(_, bars)| bars.iter().flatten())
        };
        let most = values().copied().chain(self.mark).fold(0.0, f64::max);
        if values().next().is_none() || most <= 0.0 {
            return Ok(());
        }
        let heights = self.groups.iter().map(|(_, bars)| height(bars));
        let bottom = TOP + heights.sum::<i32>();
        let size = ((LEFT + 90) as u32 + PLOT as u32, (bottom + 12) as u32);
        let area = SVGBackend::new(file, size).into_drawing_area();
        let drawn = self.draw_on(&area, most, bottom);
        drawn.map_err(|error| format!("{}: {error}", file.display()))
    }

    fn draw_on(&self, area: &Area, most: f64, bottom: i32) -> Result<(), String> {
        let place = |value: f64| LEFT + (PLOT * value.max(0.0) / most) as i32;
        area.fill(&WHITE).map_err(text)?;
        write(area, self.title, (14, 12), 18, BLACK)?;
        for ((name, color), x) in self.series.iter().zip([LEFT, LEFT + 160]) {
            let corners = [(x, 44), (x + 12, 56)];
            area.draw(&Rectangle::new(corners, color.filled()))
                .map_err(text)?;
            write(area, name, (x + 18, 43), 13, BLACK)?;
        }
        let mut y = TOP;
        for (label, bars) in &self.groups {
            let middle = y + (height(bars) - GAP) / 2;
            write(area, label, (14, middle - 7), 13, BLACK)?;
            for (bar, (_, color)) in bars.iter().zip(&self.series) {
                let Some(value) = *bar else {
                    continue;
                };
                let corners = [(LEFT, y), (place(value), y + BAR - 2)];
                area.draw(&Rectangle::new(corners, color.filled()))
                    .map_err(text)?;
                let digits = format!("{value:.*}", self.digits);
                write(area, &digits, (place(value) + 5, y - 1), 12, GRAY)?;
                y += BAR;
            }
            y += GAP;
        }
        if let Some(mark) = self.mark {
            let line = [(place(mark), TOP - 6), (place(mark), bottom - GAP + 4)];
            area.draw(&PathElement::new(line, BLACK)).map_err(text)?;
        }
        area.present().map_err(text)
    }
}

fn height(bars: &[Option<f64>; 2]) -> i32 {
    BAR * bars.iter().flatten().count() as i32 + GAP
}

fn write(
    area: &Area,
    words: &str,
    place: (i32, i32),
    size: i32,
    color: RGBColor,
) -> Result<(), String> {
    let style = ("sans-serif", size).into_font().color(&color);
    area.draw(&Text::new(words, place, style)).map_err(text)
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// Draws losses on each other: wide lines for the synthesized gradient, thin ones for that by hand.
pub fn draw_losses(synthesized: &History, by_hand: &History, file: &Path) -> Result<(), String> {
    let training = |history: &History| points((1..).zip(&history.training));
    let validation = |history: &History| {
        let steps = history.validation_steps.iter().map(|&step| step as i32);
        points(steps.zip(&history.validation))
    };
    let curves = [
        ("training, synthesized", training(synthesized), LIGHT, 7),
        ("training, by hand", training(by_hand), SYNTHESIZED, 1),
        (
            "validation, synthesized",
            validation(synthesized),
            RGBColor(0xf0, 0xc0, 0x98),
            7,
        ),
        ("validation, by hand", validation(by_hand), BY_HAND, 1),
    ];
    let all = || curves.iter().flat_map(|(_, points, _, _)| points);
    let most = all().fold(f64::NEG_INFINITY, |most, point| most.max(point.1));
    let least = all().fold(f64::INFINITY, |least, point| least.min(point.1));
    let steps = all().fold(1.0f64, |most, point| most.max(point.0));
    let area = SVGBackend::new(file, (800, 500)).into_drawing_area();
    area.fill(&WHITE).map_err(text)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Forty steps by either gradient", ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..steps, least - 0.1..most + 0.1)
        .map_err(text)?;
    chart
        .configure_mesh()
        .x_desc("steps")
        .y_desc("cross-entropy, nats per token")
        .x_label_formatter(&|step| format!("{step:.0}"))
        .y_label_formatter(&|loss| format!("{loss:.1}"))
        .light_line_style(WHITE)
        .draw()
        .map_err(text)?;
    for (name, points, color, width) in curves {
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(width)))
            .map_err(text)?
            .label(name)
            .legend(move |(x, y)| {
                PathElement::new([(x, y), (x + 20, y)], color.stroke_width(width))
            });
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE)
        .border_style(GRAY)
        .draw()
        .map_err(text)?;
    area.present().map_err(text)
}

fn points<'a>(losses: impl Iterator<Item = (i32, &'a f32)>) -> Vec<(f64, f64)> {
    losses
        .map(|(step, &loss)| (f64::from(step), f64::from(loss)))
        .collect()
}
