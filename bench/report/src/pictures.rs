//! The pictures of a report.

use crate::bars::{Bars, Group};
use crate::curves::{Panel, Panels};
use crate::data::{Gradient, Report};

/// A picture, and what to say of it.
pub struct Picture {
    pub name: &'static str,
    pub text: &'static str,
    pub svg: String,
}

const ZYMASE: &str = "#0072b2";
const RUST: &str = "#56b4e9";
const BY_HAND: &str = "#888888";

/// What the benchmark says of peers that have functions of their own, but not this one.
const NOT_WRITTEN: &str = "this function is not written for it";

/// Peers in the order of pictures and tables, with their colors.
pub const PEERS: [(&str, &str); 4] = [
    ("Enzyme", "#d55e00"),
    ("JAX", "#009e73"),
    ("PyTorch", "#cc79a7"),
    ("ADOL-C", "#e69f00"),
];

/// All pictures for which there is something to show.
pub fn draw(report: &Report) -> Vec<Picture> {
    let pictures = [
        (
            "by-hand",
            "The time of the gradient written by hand over that of Zymase's, at the largest size: \
             to the right of one, Zymase's is faster. The dashed line is the goal.",
            by_hand(report),
        ),
        (
            "peers",
            "The time of another tool's gradient over that of Zymase's, measured in turns, one \
             thread each: to the right of one, Zymase's is faster. The largest size for which \
             there is another tool. JAX, PyTorch and ADOL-C have some of the functions only; of \
             those that are tried, a missing bar says why it is missing.",
            peers(report),
        ),
        (
            "sizes",
            "Gradient over primal, over problem sizes. The dashed red line is the goal, where the \
             gradient by hand reaches it. Point at a dot for the size.",
            sizes(report),
        ),
        (
            "before-optimization",
            "How much slower a gradient is that is made before the function is optimized.",
            before(report),
        ),
        (
            "compile-time",
            "The time that Zymase takes to compile a program with its derivatives, over clang's \
             for the program without them.",
            compilation(report),
        ),
    ];
    let pictures = pictures.into_iter();
    pictures
        .filter_map(|(name, text, svg)| svg.map(|svg| Picture { name, text, svg }))
        .collect()
}

/// The row with the slowest primal.
fn largest<'a>(rows: impl Iterator<Item = &'a Gradient>) -> Option<&'a Gradient> {
    rows.max_by(|a, b| a.primal_ms.total_cmp(&b.primal_ms))
}

fn by_hand(report: &Report) -> Option<String> {
    let group = |name: &&str| {
        let rows = [false, true].map(|is_rust| {
            let rows = report.rows(name, is_rust);
            largest(rows.filter(|row| row.gradient_over_by_hand.is_some()))
        });
        let label = rows.iter().flatten().next()?.title();
        let bar = |row: Option<&Gradient>| Some(Ok(1.0 / row?.gradient_over_by_hand?));
        let bars = rows.map(bar).into_iter().collect();
        Some(Group { label, bars })
    };
    Bars {
        title: "Speed-up over gradients written by hand",
        axis: "by hand / Zymase (logarithmic)",
        series: &[("Zymase, C and C++", ZYMASE), ("Zymase, Rust", RUST)],
        groups: report.names().iter().filter_map(group).collect(),
        marks: &[(1.0 / 1.2, "goal")],
    }
    .draw()
}

fn peers(report: &Report) -> Option<String> {
    let series: Vec<(&str, &str)> = PEERS
        .into_iter()
        .filter(|(peer, _)| report.peers.contains_key(*peer))
        .collect();
    let group = |name: &&str| {
        let has_time = |row: &&Gradient| row.peers.values().any(|peer| peer.over_ours.is_some());
        let row = largest(report.rows(name, false).filter(has_time))?;
        let bar = |(name, _): &(&str, &str)| {
            let peer = row.peers.get(*name)?;
            match (peer.over_ours, &peer.refused) {
                (Some(ratio), _) => Some(Ok(ratio)),
                (_, Some(reason)) if reason == NOT_WRITTEN => None,
                (_, Some(reason)) => Some(Err(brief(reason))),
                _ => None,
            }
        };
        let bars = series.iter().map(bar).collect();
        Some(Group {
            label: row.title(),
            bars,
        })
    };
    Bars {
        title: "Speed-up over other tools",
        axis: "other tool / Zymase (logarithmic)",
        series: &series,
        groups: report.names().iter().filter_map(group).collect(),
        marks: &[],
    }
    .draw()
}

/// The beginning of a reason, for which there is room.
fn brief(reason: &str) -> String {
    let first = reason.split(':').next().unwrap_or_default();
    match first.starts_with("exit status") || first.starts_with("signal") {
        true => "does not compile it".to_string(),
        false => first.to_string(),
    }
}

fn sizes(report: &Report) -> Option<String> {
    let point = |row: &Gradient, ratio: f64| (row.primal_ms, ratio, row.title());
    let ours = |name: &str, is_rust: bool| {
        let rows = report.rows(name, is_rust);
        sorted(
            rows.map(|row| point(row, row.gradient_over_primal))
                .collect(),
        )
    };
    let by_hand = |name: &str| {
        let rows = report.rows(name, false);
        sorted(
            rows.filter_map(|row| Some(point(row, row.by_hand_ms? / row.primal_ms)))
                .collect(),
        )
    };
    let enzyme = |name: &str| {
        let rows = report.rows(name, false);
        let ratio = |row: &Gradient| Some(row.peers.get("Enzyme")?.gradient_ms? / row.primal_ms);
        sorted(
            rows.filter_map(|row| Some(point(row, ratio(row)?)))
                .collect(),
        )
    };
    let panel = |name: &&str| {
        let panel = Panel {
            label: name.to_string(),
            curves: vec![
                by_hand(name),
                enzyme(name),
                ours(name, true),
                ours(name, false),
            ],
        };
        panel
            .curves
            .iter()
            .any(|curve| curve.len() > 1)
            .then_some(panel)
    };
    Panels {
        title: "Gradient over primal, over problem sizes",
        axis: "time of the primal in ms (both axes are logarithmic)",
        series: &[
            ("by hand", BY_HAND),
            ("Enzyme", PEERS[0].1),
            ("Zymase, Rust", RUST),
            ("Zymase, C and C++", ZYMASE),
        ],
        panels: report.names().iter().filter_map(panel).collect(),
        goal: 4.0,
    }
    .draw()
}

fn sorted(mut points: Vec<(f64, f64, String)>) -> Vec<(f64, f64, String)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The largest size of each function.
fn before(report: &Report) -> Option<String> {
    let rows = &report.unoptimized;
    let is_last = |index: usize| {
        let name = &rows[index].name;
        name.is_empty() || !rows[index + 1..].iter().any(|later| later.name == *name)
    };
    let last = rows.iter().enumerate().filter(|(index, _)| is_last(*index));
    let groups = last.map(|(_, row)| Group {
        label: match row.name.is_empty() {
            true => row.program.clone(),
            false => format!("{} {}", row.name, row.size).trim().to_string(),
        },
        bars: vec![Some(row.ratio.ok_or_else(|| "refused".to_string()))],
    });
    Bars {
        title: "Differentiated before the function is optimized",
        axis: "before / after (logarithmic)",
        series: &[("Zymase", ZYMASE)],
        groups: groups.collect(),
        marks: &[],
    }
    .draw()
}

fn compilation(report: &Report) -> Option<String> {
    let group = report.compilation.iter().map(|row| Group {
        label: row.program.clone(),
        bars: vec![Some(Ok(row.ratio))],
    });
    Bars {
        title: "Time to compile with derivatives",
        axis: "zymase / clang -O2 without derivatives (logarithmic)",
        series: &[("Zymase", ZYMASE)],
        groups: group.collect(),
        marks: &[(3.0, "goal")],
    }
    .draw()
}
