//! Writing SVG.

use std::fmt::Write;

/// A picture that grows.
pub struct Svg {
    body: String,
    width: f64,
    height: f64,
}

/// Where a text begins, ends or has its middle.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// The size of letters.
pub const LETTERS: f64 = 13.0;

/// How wide a text is, about.
pub fn text_width(text: &str, size: f64) -> f64 {
    0.6 * size * text.chars().count() as f64
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Svg {
        Svg {
            body: String::new(),
            width,
            height,
        }
    }

    pub fn rectangle(&mut self, [x, y, width, height]: [f64; 4], color: &str, title: &str) {
        let title = escaped(title);
        self.add(format_args!(
            "<rect x='{x:.1}' y='{y:.1}' width='{width:.1}' height='{height:.1}' fill='{color}'>\
             <title>{title}</title></rect>"
        ));
    }

    pub fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], color: &str, width: f64, is_dashed: bool) {
        let dashes = if is_dashed {
            " stroke-dasharray='5 4'"
        } else {
            ""
        };
        self.add(format_args!(
            "<line x1='{x1:.1}' y1='{y1:.1}' x2='{x2:.1}' y2='{y2:.1}' stroke='{color}' \
             stroke-width='{width}'{dashes}/>"
        ));
    }

    pub fn path(&mut self, points: &[(f64, f64)], color: &str, is_dashed: bool) {
        let dashes = if is_dashed {
            " stroke-dasharray='5 4'"
        } else {
            ""
        };
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        self.add(format_args!(
            "<polyline points='{points}' fill='none' stroke='{color}' stroke-width='2'{dashes}/>"
        ));
    }

    pub fn dot(&mut self, x: f64, y: f64, color: &str, title: &str) {
        let title = escaped(title);
        self.add(format_args!(
            "<circle cx='{x:.1}' cy='{y:.1}' r='3.5' fill='{color}'><title>{title}</title></circle>"
        ));
    }

    pub fn text(&mut self, x: f64, y: f64, text: &str, anchor: Anchor) {
        self.styled_text(x, y, text, anchor, LETTERS, "#222");
    }

    pub fn styled_text(
        &mut self,
        x: f64,
        y: f64,
        text: &str,
        anchor: Anchor,
        size: f64,
        color: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.add(format_args!(
            "<text x='{x:.1}' y='{y:.1}' text-anchor='{anchor}' font-size='{size}' \
             fill='{color}'>{text}</text>"
        ));
    }

    /// A colored square for each name, from left to right.
    pub fn legend(&mut self, x: f64, y: f64, entries: &[(&str, &str)]) {
        let mut x = x;
        for (name, color) in entries {
            self.rectangle([x, y - 10.0, 12.0, 12.0], color, name);
            self.text(x + 18.0, y, name, Anchor::Start);
            x += 42.0 + text_width(name, LETTERS);
        }
    }

    /// The whole picture.
    pub fn finish(self) -> String {
        let Svg {
            body,
            width,
            height,
        } = self;
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0}' height='{height:.0}' \
             viewBox='0 0 {width:.0} {height:.0}' font-family=\"Ubuntu, 'DejaVu Sans', \
             sans-serif\">\n<rect width='100%' height='100%' fill='white'/>\n{body}</svg>\n"
        )
    }

    fn add(&mut self, element: std::fmt::Arguments) {
        writeln!(self.body, "{element}").expect("a string takes everything");
    }
}

/// Text that cannot be taken for markup.
pub fn escaped(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    text.replace('\'', "&#39;").replace('"', "&quot;")
}
