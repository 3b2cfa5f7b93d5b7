//! A tiny run of all that `cargo bench -p zymase-cli --bench gradients` does: tables, JSON, pictures
//! and the page are there and can be read.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the benchmark's own main")]
#[path = "../benches/gradients/main.rs"]
mod gradients;

use gradients::{Options, run};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_tiny_run_writes_everything() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        levels: vec!["-O2"],
        words: vec!["lse".to_string(), "dot".to_string()],
        is_tiny: true,
        without_rust: true,
        folder: folder.path().to_path_buf(),
    };
    run(&options).unwrap();
    let json = std::fs::read_to_string(folder.path().join("gradients.json")).unwrap();
    let report: Value = serde_json::from_str(&json).unwrap();
    check_rows(&report);
    check_peers(&report);
    for name in ["by-hand", "sizes", "before-optimization", "compile-time"] {
        check_picture(&folder.path().join(name));
    }
    check_page(&folder.path().join("report.html"), &report);
}

fn check_rows(report: &Value) {
    let rows = report["gradients"].as_array().unwrap();
    let count = |name: &str| rows.iter().filter(|row| row["name"] == name).count();
    // Two sizes; and one, with and without `restrict`.
    assert_eq!((count("lse"), count("dot")), (2, 2), "{report:#}");
    for row in rows {
        for time in ["primal_ms", "gradient_ms", "by_hand_ms"] {
            assert!(row[time].as_f64().unwrap() > 0.0, "{row}");
        }
        assert!(row["largest_difference"].as_f64().unwrap() < 1e-12, "{row}");
    }
}

/// A peer has times that belong to the same result, or there is a line about it.
fn check_peers(report: &Value) {
    let lines = |list: &str| {
        let lines = report[list].as_array().unwrap().iter();
        lines
            .map(|line| line.as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    for peer in ["Enzyme", "JAX", "PyTorch", "ADOL-C"] {
        let is_here = report["peers"].get(peer).is_some();
        let skipped = lines("skipped")
            .into_iter()
            .filter(|line| line.starts_with(peer))
            .count();
        assert_eq!(is_here as usize + skipped, 1, "{peer}: {report:#}");
        if is_here {
            let rows = report["gradients"].as_array().unwrap().iter();
            for row in rows.filter(|row| row["flags"] == "-O2") {
                let answer = &row["peers"][peer];
                assert!(answer["gradient_ms"].as_f64().unwrap() > 0.0, "{row}");
                assert!(
                    answer["largest_difference"].as_f64().unwrap() < 1e-12,
                    "{row}"
                );
            }
        }
    }
}

fn check_picture(path: &Path) {
    let svg = std::fs::read_to_string(path.with_extension("svg")).unwrap();
    let svg = roxmltree::Document::parse(&svg).unwrap();
    let width: u32 = svg
        .root_element()
        .attribute("width")
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        svg.descendants()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")))
            .count()
            > 3
    );
    let png = std::fs::read(path.with_extension("png")).unwrap();
    let rest = png.strip_prefix(b"\x89PNG\r\n\x1a\n").unwrap();
    // Pieces of a length, a name of four letters, content and a checksum.
    let (mut rest, mut names) = (rest, Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let (name, content) = after.split_at(4);
        if name == b"IHDR" {
            assert_eq!(content[..4], (2 * width).to_be_bytes());
        }
        names.push(String::from_utf8_lossy(name).into_owned());
        rest = &content[length + 4..];
    }
    assert_eq!(names.first().map(String::as_str), Some("IHDR"));
    assert_eq!(names.last().map(String::as_str), Some("IEND"));
    assert!(names.iter().any(|name| name == "IDAT"));
}

/// It names every function, and needs no other file.
fn check_page(path: &Path, report: &Value) {
    let html = std::fs::read_to_string(path).unwrap();
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let page = roxmltree::Document::parse_with_options(&html, options).unwrap();
    for node in page.descendants() {
        assert!(node.attribute("src").is_none() && node.attribute("href").is_none());
    }
    let pictures = page
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "svg")));
    assert!(pictures.count() >= 4);
    let cells: Vec<&str> = page.descendants().filter_map(|node| node.text()).collect();
    for row in report["gradients"].as_array().unwrap() {
        assert!(cells.contains(&row["name"].as_str().unwrap()), "{row}");
    }
    for text in [
        report["command"].as_str().unwrap(),
        "Over sizes",
        "processor",
    ] {
        assert!(cells.contains(&text), "{text} is not on the page");
    }
}
