//! One page with everything, which needs no other file.

use crate::data::{Gradient, Report};
use crate::pictures::{PEERS, Picture};
use crate::svg::escaped;
use std::fmt::Write;

const STYLE: &str = "
body { font: 15px/1.5 Ubuntu, 'DejaVu Sans', sans-serif; margin: 2em auto; max-width: 1200px; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px; }
th, td { padding: 2px 9px; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
th { position: sticky; top: 0; background: #fff; border-bottom: 1px solid #444; }
th.text, td.text { text-align: left; }
td.reason { text-align: left; white-space: normal; }
td.above { color: #b00; font-weight: bold; }
td.none { color: #999; }
figure { margin: 1em 0 2em; overflow-x: auto; }
figcaption { max-width: 75ch; }
pre { background: #f4f4f4; padding: 0.6em 1em; overflow-x: auto; }
.wide { overflow-x: auto; }
";

/// The page.
pub fn html(report: &Report, pictures: &[Picture]) -> String {
    let mut page = String::new();
    write!(
        page,
        "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'/>\n<title>Zymase: how fast \
         gradients are</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>How fast gradients \
         are</h1>\n{}{}{}{}{}{}{}</body>\n</html>\n",
        how(report),
        figures(pictures),
        gradients(report),
        variations(report),
        unoptimized(report),
        compilation(report),
        left_out(report),
    )
    .expect("a string takes everything");
    page
}

/// The command, the machine, and what numbers mean.
fn how(report: &Report) -> String {
    let command = escaped(&report.command);
    let machine = report
        .machine
        .iter()
        .map(|(name, value)| vec![text(name), text(value)]);
    let peers = report
        .peers
        .iter()
        .map(|(name, version)| vec![text(name), text(version)]);
    let about = table(&[], machine.chain(peers).collect());
    format!(
        "<pre>{command}</pre>\n{about}<p>Times are processor time in milliseconds, the fastest of \
         repetitions that alternate: primal, gradient by Zymase, gradient by hand and, at the last \
         level of optimization, those of other tools, which have one thread each, as Zymase has. \
         Spread is how far the median lies above the fastest. A tool whose result is not the same \
         is not measured. See <code>bench/README.md</code> for the programs.</p>\n"
    )
}

fn figures(pictures: &[Picture]) -> String {
    let figure = |picture: &Picture| {
        let (text, svg) = (escaped(picture.text), &picture.svg);
        format!("<figure>\n{svg}<figcaption>{text}</figcaption>\n</figure>\n")
    };
    pictures.iter().map(figure).collect()
}

fn gradients(report: &Report) -> String {
    let peers: Vec<&str> = PEERS.iter().map(|(peer, _)| *peer).collect();
    let peers: Vec<&str> = peers
        .into_iter()
        .filter(|peer| report.peers.contains_key(*peer))
        .collect();
    let mut header = vec![
        "function",
        "size",
        "language",
        "flags",
        "primal",
        "gradient",
        "/ primal",
        "by hand",
        "/ by hand",
        "spread",
        "differs",
    ];
    let over: Vec<String> = peers.iter().map(|peer| format!("{peer} / ours")).collect();
    for (peer, over) in peers.iter().zip(&over) {
        header.extend([*peer, over]);
    }
    let row = |row: &Gradient| {
        let by_hand_is_dear = row
            .by_hand_ms
            .is_some_and(|by_hand| by_hand > 4.0 * row.primal_ms);
        let mut cells = vec![
            text(&row.name),
            text(&row.size),
            text(&row.language),
            text(&row.flags),
            time(Some(row.primal_ms)),
            time(Some(row.gradient_ms)),
            ratio(
                Some(row.gradient_over_primal),
                if by_hand_is_dear { f64::MAX } else { 4.0 },
            ),
            time(row.by_hand_ms),
            ratio(row.gradient_over_by_hand, 1.2),
            format!("<td>{:.0} %</td>", row.spread_percent),
            format!("<td>{:.0e}</td>", row.largest_difference),
        ];
        for name in &peers {
            cells.extend(peer_cells(row, name));
        }
        cells
    };
    let rows = report.gradients.iter().map(row).collect();
    format!(
        "<h2>Gradients</h2>\n<div class='wide'>{}</div>\n",
        table(&header, rows)
    )
}

fn peer_cells(row: &Gradient, name: &str) -> [String; 2] {
    let none = || "<td class='none'>–</td>".to_string();
    let Some(peer) = row.peers.get(name) else {
        return [none(), none()];
    };
    let title = match (&peer.refused, peer.primal_ms, peer.spread_percent) {
        (Some(reason), _, _) => reason.clone(),
        (_, Some(primal), Some(spread)) => format!("primal {primal:.3} ms, spread {spread:.0} %"),
        _ => String::new(),
    };
    let title = escaped(&title);
    match (peer.gradient_ms, peer.over_ours) {
        (Some(gradient), Some(over)) => [
            format!("<td title='{title}'>{gradient:.3}</td>"),
            format!("<td title='{title}'>{over:.2}</td>"),
        ],
        _ => [format!("<td class='none' title='{title}'>–</td>"), none()],
    }
}

fn variations(report: &Report) -> String {
    let row = |row: &crate::data::Variation| {
        vec![
            text(&row.name),
            ratio(Some(row.least_ratio), f64::MAX),
            ratio(Some(row.most_ratio), f64::MAX),
            ratio(Some(row.varies), 3.0),
        ]
    };
    let header = ["function", "least", "most", "varies"];
    format!(
        "<h2>Over sizes</h2>\n<p>Gradient over primal, over sizes whose primal takes more than a \
         millisecond.</p>\n{}",
        table(&header, report.sizes.iter().map(row).collect())
    )
}

fn unoptimized(report: &Report) -> String {
    let row = |row: &crate::data::Unoptimized| {
        let name = if row.name.is_empty() {
            &row.program
        } else {
            &row.name
        };
        let mut cells = vec![text(name), text(&row.size)];
        match &row.refused {
            Some(reason) => cells.push(format!(
                "<td class='reason' colspan='3'>{}</td>",
                escaped(reason)
            )),
            None => cells.extend([
                time(row.after_ms),
                time(row.before_ms),
                ratio(row.ratio, f64::MAX),
            ]),
        }
        cells
    };
    let header = ["function", "size", "after", "before", "before / after"];
    format!(
        "<h2>Differentiated before or after optimization</h2>\n{}",
        table(&header, report.unoptimized.iter().map(row).collect())
    )
}

fn compilation(report: &Report) -> String {
    let row = |row: &crate::data::Compilation| {
        vec![
            text(&row.program),
            format!("<td>{:.0}</td>", row.clang_ms),
            format!("<td>{:.0}</td>", row.zymase_ms),
            ratio(Some(row.ratio), 3.0),
        ]
    };
    let header = ["program", "clang", "zymase", "ratio"];
    format!(
        "<h2>Time to compile (-O2 -c)</h2>\n{}",
        table(&header, report.compilation.iter().map(row).collect())
    )
}

fn left_out(report: &Report) -> String {
    let mut lists = String::new();
    for (title, lines) in [
        ("Skipped", &report.skipped),
        ("Not measured", &report.refused),
        ("Failed", &report.failures),
    ] {
        if !lines.is_empty() {
            let items: String = lines
                .iter()
                .map(|line| format!("<li>{}</li>\n", escaped(line)))
                .collect();
            lists.push_str(&format!("<h2>{title}</h2>\n<ul>\n{items}</ul>\n"));
        }
    }
    lists
}

fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let is_text = |name: &str| ["function", "size", "language", "flags", "program"].contains(&name);
    let head = |name: &&str| match is_text(name) {
        true => format!("<th class='text'>{name}</th>"),
        false => format!("<th>{name}</th>"),
    };
    let header: String = header.iter().map(head).collect();
    let rows: String = rows
        .iter()
        .map(|row| format!("<tr>{}</tr>\n", row.concat()))
        .collect();
    format!("<table>\n<tr>{header}</tr>\n{rows}</table>\n")
}

fn text(text: &str) -> String {
    format!("<td class='text'>{}</td>", escaped(text))
}

fn time(milliseconds: Option<f64>) -> String {
    match milliseconds {
        Some(milliseconds) => format!("<td>{milliseconds:.3}</td>"),
        None => "<td class='none'>–</td>".to_string(),
    }
}

/// Marked if it is above what is expected.
fn ratio(ratio: Option<f64>, expected: f64) -> String {
    match ratio {
        Some(ratio) if ratio > expected => format!("<td class='above'>{ratio:.2}</td>"),
        Some(ratio) => format!("<td>{ratio:.2}</td>"),
        None => "<td class='none'>–</td>".to_string(),
    }
}
