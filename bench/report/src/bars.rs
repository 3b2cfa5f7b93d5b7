//! Horizontal bars in groups, on a logarithmic axis: a factor of two is as long in both directions.

use crate::svg::{Anchor, LETTERS, Svg, text_width};

/// A picture of bars.
pub struct Bars<'a> {
    pub title: &'a str,
    /// What is to the right of one.
    pub axis: &'a str,
    /// Names and colors of the bars of a group.
    pub series: &'a [(&'a str, &'a str)],
    pub groups: Vec<Group>,
    /// Lines beside the one at one, with text.
    pub marks: &'a [(f64, &'a str)],
}

/// Bars with a common text.
pub struct Group {
    pub label: String,
    /// A value or a reason for its absence, in the order of the series; nothing if the series has
    /// nothing to do with it.
    pub bars: Vec<Option<Result<f64, String>>>,
}

const BAR: f64 = 13.0;
const GAP: f64 = 11.0;
const PLOT: f64 = 560.0;
const TOP: f64 = 96.0;

impl Bars<'_> {
    /// The picture; nothing if there is nothing to show.
    pub fn draw(&self) -> Option<String> {
        let values: Vec<f64> = self
            .groups
            .iter()
            .flat_map(|group| group.bars.iter().flatten())
            .filter_map(|bar| bar.as_ref().ok().copied())
            .collect();
        if values.is_empty() {
            return None;
        }
        let marks = self.marks.iter().map(|(at, _)| *at);
        let all = || values.iter().copied().chain(marks.clone()).chain([1.0]);
        let axis = Axis::over(
            all().fold(f64::INFINITY, f64::min) / 1.15,
            all().fold(0.0, f64::max) * 1.15,
        );
        let widest = self
            .groups
            .iter()
            .map(|group| text_width(&group.label, LETTERS));
        let left = 24.0 + widest.fold(0.0, f64::max);
        let bars = |group: &Group| group.bars.iter().flatten().count();
        let height = |group: &Group| BAR * bars(group).max(1) as f64 + GAP;
        let bottom = TOP + self.groups.iter().map(height).sum::<f64>();
        let width = (left + PLOT + 150.0).max(text_width(self.title, 18.0) + 40.0);
        let mut svg = Svg::new(width, bottom + 56.0);
        svg.styled_text(16.0, 28.0, self.title, Anchor::Start, 18.0, "#000");
        let has_bar = |index: usize| {
            let bars = self
                .groups
                .iter()
                .filter_map(|group| group.bars[index].as_ref());
            bars.count() > 0
        };
        let shown = self.series.iter().enumerate();
        let shown: Vec<_> = shown
            .filter(|(index, _)| has_bar(*index))
            .map(|(_, entry)| *entry)
            .collect();
        svg.legend(16.0, 54.0, &shown);
        for tick in axis.ticks() {
            let x = left + axis.place(tick);
            svg.line([x, TOP - 6.0, x, bottom], "#ddd", 1.0, false);
            svg.text(x, bottom + 18.0, &round(tick), Anchor::Middle);
        }
        svg.text(left + PLOT / 2.0, bottom + 42.0, self.axis, Anchor::Middle);
        let one = left + axis.place(1.0);
        let mut y = TOP;
        for group in &self.groups {
            let middle = y + (height(group) - GAP) / 2.0;
            svg.text(left - 10.0, middle + 4.5, &group.label, Anchor::End);
            for (bar, (name, color)) in group.bars.iter().zip(self.series) {
                match bar {
                    None => continue,
                    Some(Ok(value)) => {
                        let x = left + axis.place(*value);
                        let title = format!("{name}: {value:.3}");
                        let ends = [x.min(one), y, (x - one).abs().max(1.0), BAR - 2.0];
                        svg.rectangle(ends, color, &title);
                        let text = x.max(one) + 5.0;
                        svg.styled_text(
                            text,
                            y + 9.5,
                            &digits(*value),
                            Anchor::Start,
                            11.0,
                            "#444",
                        );
                    }
                    Some(Err(reason)) => {
                        let text = format!("{name}: {reason}");
                        svg.styled_text(one + 5.0, y + 9.5, &text, Anchor::Start, 11.0, "#999");
                    }
                }
                y += BAR;
            }
            if bars(group) == 0 {
                y += BAR;
            }
            y += GAP;
        }
        svg.line([one, TOP - 6.0, one, bottom], "#222", 1.5, false);
        for (at, text) in self.marks {
            let x = left + axis.place(*at);
            svg.line([x, TOP - 6.0, x, bottom], "#b00", 1.2, true);
            svg.styled_text(x, TOP - 12.0, text, Anchor::Middle, 11.0, "#b00");
        }
        Some(svg.finish())
    }
}

/// A logarithmic axis.
pub struct Axis {
    least: f64,
    most: f64,
}

impl Axis {
    pub fn over(least: f64, most: f64) -> Axis {
        Axis { least, most }
    }

    fn place(&self, value: f64) -> f64 {
        PLOT * self.part(value)
    }

    /// Zero at the beginning, one at the end.
    pub fn part(&self, value: f64) -> f64 {
        (value / self.least).ln() / (self.most / self.least).ln()
    }

    /// Round numbers, not too many.
    pub fn ticks(&self) -> Vec<f64> {
        let decades = (self.most / self.least).log10();
        let digits: &[f64] = match decades {
            _ if decades > 3.0 => &[1.0],
            _ if decades > 1.6 => &[1.0, 3.0],
            _ if decades > 0.8 => &[1.0, 2.0, 5.0],
            _ => &[1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        };
        let powers = self.least.log10().floor() as i32..=self.most.log10().ceil() as i32;
        let all =
            powers.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
        all.filter(|tick| (self.least..=self.most).contains(tick))
            .collect()
    }
}

/// A number with three digits.
fn digits(value: f64) -> String {
    match value {
        _ if value >= 99.5 => format!("{value:.0}"),
        _ if value >= 9.95 => format!("{value:.1}"),
        _ if value >= 0.0995 => format!("{value:.2}"),
        _ if value >= 0.00995 => format!("{value:.3}"),
        _ if value >= 0.000995 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

/// A round number, without digits that say nothing.
pub fn round(value: f64) -> String {
    let digits = digits(value);
    match digits.contains('.') && !digits.contains('e') {
        true => digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_string(),
        false => digits,
    }
}
