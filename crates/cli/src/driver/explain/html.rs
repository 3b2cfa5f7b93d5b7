//! The reports as one page for a browser: a summary, then every derivative beside its source.
//!
//! The page needs nothing from outside and runs no code, which it also tells the browser: its
//! policy allows its own styles only. Whatever comes from the program goes through [`escaped`].

use super::Explained;
use super::lines::{Annotated, fact_class};
use super::sources::Sources;
use crate::names::readable;
use std::fmt::Write;
use zymase_core::diagnostic::Place;
use zymase_core::report::{Form, Lines, OfNest, Records, Report, Trips, Version, What};
use zymase_llvm::requests::Pinned;

const STYLE: &str = include_str!("page.css");

/// The page.
pub fn page(explained: &[Explained]) -> String {
    let names: Vec<&str> = explained.iter().map(|file| file.name.as_str()).collect();
    let title = format!("Derivatives of {}", escaped(&names.join(", ")));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    requests(&mut page, explained);
    let reports: Vec<&Report> = explained.iter().flat_map(|e| &e.done.reports).collect();
    if !reports.is_empty() {
        summary(&mut page, &reports);
        filters(&mut page);
        let sources = Sources::default();
        for (number, report) in reports.iter().enumerate() {
            derivative(&mut page, number, report, &sources);
        }
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// Text as it stands in a page.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in readable(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Other control characters are not allowed in a page.
            '\t' | '\n' => escaped.push(c),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn requests(page: &mut String, explained: &[Explained]) {
    let all = explained.iter().flat_map(|file| &file.done.pins.requests);
    let all: Vec<&Pinned> = all.collect();
    if all.is_empty() {
        page.push_str("<p>It asks for no derivative.</p>\n");
        return;
    }
    page.push_str("<h2>Asked for</h2>\n<div class=\"scroll\"><table id=\"requests\">\n<tr><th>function</th><th>derivative</th><th>where</th><th>arguments</th><th>result</th></tr>\n");
    for pinned in all {
        let parsed = &pinned.parsed;
        let mut mode = parsed.mode.name().to_string();
        if parsed.width > 1 {
            let _ = write!(mode, ", {} at once", parsed.width);
        }
        let place = pinned.places.first().map(ToString::to_string);
        let arguments = parsed.args.iter().map(|argument| argument.activity.name());
        let arguments: Vec<&str> = arguments.collect();
        let _ = writeln!(
            page,
            "<tr><td><code>{}</code></td><td>{mode}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&pinned.target),
            escaped(&place.unwrap_or_default()),
            arguments.join(", "),
            parsed.ret.name()
        );
    }
    page.push_str("</table></div>\n");
}

/// What the source program calls the function of a report.
fn name(report: &Report) -> &str {
    match &report.place {
        Some(place) if !place.function.is_empty() => &place.function,
        _ => &report.function,
    }
}

fn form(report: &Report) -> String {
    let form = match report.form {
        Form::Forward => "forward",
        Form::Combined => "reverse",
        Form::Split => "reverse, two sweeps",
    };
    let version = match report.version {
        Version::Only => "",
        Version::Overlapping => ", if memory overlaps",
        Version::Disjoint => ", if memory does not overlap",
    };
    let width = match report.width {
        1 => String::new(),
        width => format!(", {width} at once"),
    };
    format!("{form}{version}{width}")
}

fn summary(page: &mut String, reports: &[&Report]) {
    page.push_str("<h2>Made</h2>\n<div class=\"scroll\"><table id=\"summary\">\n<tr><th>derivative of</th><th>form</th><th class=\"count\">bytes per call</th><th>bytes per iteration</th><th class=\"count\">cached</th><th class=\"count\">kept</th><th class=\"count\">reloaded</th><th class=\"count\">recomputed</th><th class=\"count\">loops</th><th class=\"count\">calls</th><th class=\"count\">checks</th></tr>\n");
    for (number, report) in reports.iter().enumerate() {
        let totals = report.totals();
        let _ = write!(
            page,
            "<tr><td><a href=\"#d{number}\"><code>{}</code></a></td><td>{}</td>",
            escaped(name(report)),
            form(report)
        );
        if report.form == Form::Forward {
            page.push_str("<td class=\"count none\">–</td><td class=\"none\">–</td>");
        } else {
            let loops = per_iteration(number, report).into_iter();
            let loops: Vec<String> = loops
                .map(|(bytes, place)| format!("{bytes} at {place}"))
                .collect();
            let (class, loops) = match loops.is_empty() {
                true => (" class=\"none\"", "0".to_string()),
                false => ("", loops.join("<br/>")),
            };
            let bytes = report.frame_bytes;
            let _ = write!(
                page,
                "<td class=\"count\">{bytes}</td><td{class}>{loops}</td>"
            );
        }
        for count in [
            totals.cached,
            totals.kept,
            totals.reloaded,
            totals.recomputed,
            totals.loops,
            totals.calls,
            totals.checks,
        ] {
            let class = if count == 0 { "count none" } else { "count" };
            let _ = write!(page, "<td class=\"{class}\">{count}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

/// What loops keep, each with its line.
fn per_iteration(number: usize, report: &Report) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    for fact in &report.facts {
        if let What::Loop(l) = &fact.what
            && l.bytes > 0
        {
            let place = match fact.places.first() {
                Some(place) => link(number, report, place),
                None => escaped(&l.name),
            };
            parts.push((l.bytes, place));
        }
    }
    parts
}

fn filters(page: &mut String) {
    page.push_str("<div class=\"filters\"><span class=\"quiet\">Show</span>\n");
    for (class, label) in [
        ("cached", "cached: on the tape"),
        ("kept", "kept: in the frame"),
        ("reloaded", "reloaded: read from memory again"),
        ("recomputed", "recomputed"),
        ("loop", "loops"),
        ("call", "calls"),
        ("check", "checks of overlap"),
        ("active", "active"),
    ] {
        let _ = writeln!(
            page,
            "<label><input type=\"checkbox\" id=\"show-{class}\" checked=\"checked\"/> \
             <span class=\"tag {class}\">{label}</span></label>"
        );
    }
    page.push_str("</div>\n");
}

fn derivative(page: &mut String, number: usize, report: &Report, sources: &Sources) {
    let _ = write!(
        page,
        "<details class=\"derivative\" id=\"d{number}\" open=\"open\">\n<summary><h2><code>{}</code> \
         <span class=\"quiet\">{}</span></h2></summary>\n<p>",
        escaped(name(report)),
        form(report)
    );
    let arguments = report.arguments.iter().enumerate();
    let arguments = arguments.map(|(position, argument)| {
        let name = escaped(&argument.called(position));
        let overwritten = match argument.overwritten {
            true => " (may be overwritten between the sweeps)",
            false => "",
        };
        format!("<code>{name}</code> {}{overwritten}", argument.activity)
    });
    let arguments: Vec<String> = arguments.collect();
    if !arguments.is_empty() {
        let _ = write!(page, "{}; ", arguments.join(", "));
    }
    let _ = write!(page, "result {}.", report.result);
    if report.form != Form::Forward {
        let _ = write!(page, " Each call keeps {} bytes", report.frame_bytes);
        let loops = per_iteration(number, report);
        for (bytes, place) in &loops {
            let _ = write!(
                page,
                ", and {bytes} for each iteration of the loop at {place}"
            );
        }
        page.push('.');
    }
    if report.on_stack {
        page.push_str(" Its tapes are on a stack of their own.");
    }
    if name(report) != report.function {
        let _ = write!(
            page,
            " <span class=\"quiet\">Symbol <code>{}</code>.</span>",
            escaped(&report.function)
        );
    }
    page.push_str("</p>\n");
    loops(page, number, report);
    Annotated::new(number, report).write(page, sources);
    page.push_str("</details>\n");
}

fn loops(page: &mut String, number: usize, report: &Report) {
    if !report.facts.iter().any(|fact| fact_class(fact) == "loop") {
        return;
    }
    page.push_str("<div class=\"scroll\"><table class=\"loops\">\n<tr><th>loop</th><th class=\"count\">depth</th><th>iterations</th><th class=\"count\">bytes per iteration</th><th>tape</th></tr>\n");
    for fact in &report.facts {
        let place = fact.places.first().map(|place| link(number, report, place));
        match &fact.what {
            What::Loop(l) => {
                let place = place.unwrap_or_else(|| escaped(&l.name));
                let mut iterations = match l.trips {
                    Trips::Constant(n) => format!("always {n}"),
                    Trips::Before => "counted before it begins".to_string(),
                    Trips::After => "counted while it runs".to_string(),
                };
                if l.exits > 1 {
                    let _ = write!(iterations, ", left from {} places", l.exits);
                }
                let tape = match &l.records {
                    Records::None => "none".to_string(),
                    Records::Inside => "on the tape around it".to_string(),
                    Records::Growing => "grows while it runs".to_string(),
                    Records::Before(root) => match &root.place {
                        Some(root) => format!("allocated before {}", link(number, report, root)),
                        None => format!("allocated before {}", escaped(&root.name)),
                    },
                };
                let _ = writeln!(
                    page,
                    "<tr><td>{place}</td><td class=\"count\">{}</td><td>{iterations}</td>\
                     <td class=\"count\">{}</td><td>{tape}</td></tr>",
                    l.depth, l.bytes
                );
            }
            What::Nest(nest) if !matches!(nest.derivative, OfNest::Loops(_)) => {
                let range = nest.lines.as_ref().map(|lines| range_link(number, lines));
                let _ = writeln!(
                    page,
                    "<tr><td>{}</td><td class=\"count\">{}</td><td>{}, {}</td>\
                     <td class=\"count\">0</td><td>none</td></tr>",
                    range.or(place).unwrap_or_default(),
                    nest.loops,
                    escaped(&nest.shape),
                    nest.derivative
                );
            }
            _ => {}
        }
    }
    page.push_str("</table></div>\n");
}

/// A link to a line of the source beside a derivative, with the file if that is another one.
pub fn link(number: usize, report: &Report, place: &Place) -> String {
    let own = report
        .place
        .as_ref()
        .is_none_or(|own| own.file == place.file);
    let name = match own {
        true => format!("line {}", place.line),
        false => {
            let file = place.file.rsplit('/').next().unwrap_or_default();
            format!("{}:{}", escaped(file), place.line)
        }
    };
    format!("<a href=\"#{}\">{name}</a>", anchor(number, place))
}

/// A link to the first of some lines of the source beside a derivative.
pub fn range_link(number: usize, lines: &Lines) -> String {
    let first = lines.places().next();
    let anchor = first.map_or(String::new(), |first| anchor(number, &first));
    format!("<a href=\"#{anchor}\">{lines}</a>")
}

/// The name of a line of the source beside a derivative.
pub fn anchor(number: usize, place: &Place) -> String {
    let file: String = place
        .file
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    format!("d{number}-{file}-{}", place.line)
}
