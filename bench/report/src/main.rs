//! Draws what the benchmarks have measured.
//!
//!     zymase-bench-report target/bench/gradients.json target/bench
//!
//! reads the one and writes to the other: pictures, each as SVG and as PNG, and `report.html`, one
//! page with all of them, the tables, the machine and the command.

mod bars;
mod curves;
mod data;
mod page;
mod pictures;
mod png;
mod svg;

use data::Report;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [measured, folder] = &words[..] else {
        eprintln!("usage: zymase-bench-report MEASURED.json FOLDER");
        return ExitCode::FAILURE;
    };
    match write_report(Path::new(measured), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn write_report(measured: &Path, folder: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(measured).map_err(|error| in_file(measured, error))?;
    let report: Report = serde_json::from_str(&text).map_err(|error| in_file(measured, error))?;
    let pictures = pictures::draw(&report);
    for picture in &pictures {
        let path = folder.join(format!("{}.svg", picture.name));
        write(&path, picture.svg.as_bytes())?;
        write(&path.with_extension("png"), &png::render(&picture.svg)?)?;
    }
    write(
        &folder.join("report.html"),
        page::html(&report, &pictures).as_bytes(),
    )
}

fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    std::fs::write(path, content).map_err(|error| in_file(path, error))?;
    println!("written to {}", path.display());
    Ok(())
}

fn in_file(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
