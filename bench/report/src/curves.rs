//! Curves in small panels, one for each function: how often the primal a gradient costs, over the
//! time of the primal, which is the one measure of size that all functions have.

use crate::bars::{Axis, round};
use crate::svg::{Anchor, Svg};

/// Panels, side by side.
pub struct Panels<'a> {
    pub title: &'a str,
    pub axis: &'a str,
    /// Names and colors of curves; the one by hand is dashed.
    pub series: &'a [(&'a str, &'a str)],
    pub panels: Vec<Panel>,
    /// What the vertical axis should not go beyond.
    pub goal: f64,
}

/// The curves of one function, in the order of the series: points with the text of each.
pub struct Panel {
    pub label: String,
    pub curves: Vec<Vec<(f64, f64, String)>>,
}

const COLUMNS: usize = 4;
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 190.0;
const TOP: f64 = 84.0;

/// The ends of the vertical axis, which is logarithmic: what is outside is drawn at its end.
const LEAST: f64 = 0.1;
const MOST: f64 = 64.0;

impl Panels<'_> {
    /// The picture; nothing if there is nothing to show.
    pub fn draw(&self) -> Option<String> {
        if self.panels.is_empty() {
            return None;
        }
        let columns = COLUMNS.min(self.panels.len()).max(2);
        let rows = self.panels.len().div_ceil(columns);
        let width = columns as f64 * WIDTH + 30.0;
        let mut svg = Svg::new(width, TOP + rows as f64 * HEIGHT + 34.0);
        svg.styled_text(16.0, 28.0, self.title, Anchor::Start, 18.0, "#000");
        let is_drawn = |index: usize| {
            self.panels
                .iter()
                .any(|panel| !panel.curves[index].is_empty())
        };
        let drawn = self.series.iter().enumerate();
        let drawn: Vec<_> = drawn
            .filter(|(index, _)| is_drawn(*index))
            .map(|(_, entry)| *entry)
            .collect();
        svg.legend(16.0, 54.0, &drawn);
        let middle = width / 2.0;
        svg.text(
            middle,
            TOP + rows as f64 * HEIGHT + 20.0,
            self.axis,
            Anchor::Middle,
        );
        for (index, panel) in self.panels.iter().enumerate() {
            let x = 20.0 + (index % columns) as f64 * WIDTH;
            let y = TOP + (index / columns) as f64 * HEIGHT;
            self.draw_panel(&mut svg, panel, x, y);
        }
        Some(svg.finish())
    }

    fn draw_panel(&self, svg: &mut Svg, panel: &Panel, x: f64, y: f64) {
        let [left, top, right, bottom] = [x + 32.0, y + 14.0, x + WIDTH - 20.0, y + HEIGHT - 40.0];
        let points = || panel.curves.iter().flatten();
        let least = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let most = points().map(|point| point.0).fold(0.0, f64::max);
        let across = Axis::over(least / 1.5, most * 1.5);
        let highest = points().map(|point| point.1).fold(8.0, f64::max);
        let lowest = points().map(|point| point.1).fold(0.5, f64::min);
        let up = Axis::over(lowest.max(LEAST), (1.2 * highest).min(MOST));
        let to_x = |value: f64| left + (right - left) * across.part(value);
        let to_y = |value: f64| bottom - (bottom - top) * up.part(value).clamp(0.0, 1.0);
        svg.text(left, y + 4.0, &panel.label, Anchor::Start);
        for tick in [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0] {
            if (0.0..=1.0).contains(&up.part(tick)) {
                svg.line([left, to_y(tick), right, to_y(tick)], "#e4e4e4", 1.0, false);
                svg.styled_text(
                    left - 5.0,
                    to_y(tick) + 4.0,
                    &round(tick),
                    Anchor::End,
                    11.0,
                    "#444",
                );
            }
        }
        svg.line(
            [left, to_y(self.goal), right, to_y(self.goal)],
            "#b00",
            1.2,
            true,
        );
        let mut last = f64::NEG_INFINITY;
        for tick in across.ticks() {
            if to_x(tick) - last > 34.0 {
                last = to_x(tick);
                svg.line([last, bottom, last, bottom + 4.0], "#444", 1.0, false);
                svg.styled_text(
                    last,
                    bottom + 17.0,
                    &round(tick),
                    Anchor::Middle,
                    11.0,
                    "#444",
                );
            }
        }
        svg.line([left, bottom, right, bottom], "#444", 1.0, false);
        for (curve, (name, color)) in panel.curves.iter().zip(self.series) {
            let places: Vec<(f64, f64)> =
                curve.iter().map(|(x, y, _)| (to_x(*x), to_y(*y))).collect();
            svg.path(&places, color, *name == "by hand");
            for ((x, y), (_, value, text)) in places.iter().zip(curve) {
                svg.dot(*x, *y, color, &format!("{name}, {text}: {value:.2}"));
            }
        }
    }
}
