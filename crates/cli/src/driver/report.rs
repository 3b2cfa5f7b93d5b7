//! Shows a diagnostic on the terminal, with the lines of the source program it is about.

use crate::names::readable_message;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use std::io::IsTerminal;
use std::ops::Range;
use zymase_core::diagnostic::{Diagnostic, Place, Severity};

/// Prints a diagnostic on standard error.
pub fn print(diagnostic: &Diagnostic) {
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let renderer = match colours {
        true => Renderer::styled(),
        false => Renderer::plain(),
    };
    eprintln!("{}", render(&readable_message(diagnostic), &renderer));
}

fn render(diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let code = diagnostic.code.to_string();
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(code.as_str());
    let mut elements: Vec<Element<'_>> = Vec::new();
    let (first, left_out, last) = diagnostic.shown_places();
    for (depth, place) in first.iter().enumerate() {
        elements.push(show(place, depth));
    }
    if left_out > 0 {
        let text = format!("{left_out} more calls on the way are not shown");
        elements.push(Level::NOTE.message(text).into());
    }
    for place in last {
        elements.push(show(place, first.len()));
    }
    if let Some(reason) = unless_empty(&diagnostic.reason) {
        elements.push(Level::NOTE.message(reason).into());
    }
    if let Some(help) = unless_empty(diagnostic.help()) {
        elements.push(Level::HELP.message(help).into());
    }
    renderer.render(&[Group::with_title(title).elements(elements)])
}

fn unless_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// A place with its source line; without, if the file cannot be read.
fn show(place: &Place, depth: usize) -> Element<'_> {
    if place.file.is_empty() {
        let text = match depth {
            0 => format!(
                "in function `{}`; compile with -g to see the line",
                place.function
            ),
            _ => format!("{} in function `{}`", place.link.name(), place.function),
        };
        return Level::NOTE.message(text).into();
    }
    let label = match depth {
        0 => format!("in `{}`", place.function),
        _ => format!("{} here, in `{}`", place.link.name(), place.function),
    };
    let source = std::fs::read_to_string(&place.file).ok();
    let span = source.as_deref().and_then(|source| span(source, place));
    match (source, span) {
        (Some(source), Some(span)) => {
            let kind = match depth {
                0 => AnnotationKind::Primary,
                _ => AnnotationKind::Context,
            };
            Snippet::source(source)
                .path(place.file.as_str())
                .annotation(kind.span(span).label(label))
                .into()
        }
        _ => {
            let mut origin = Origin::path(place.file.as_str()).line(place.line as usize);
            if place.column != 0 {
                origin = origin.char_column(place.column as usize);
            }
            origin.into()
        }
    }
}

/// The word at a place.
fn span(source: &str, place: &Place) -> Option<Range<usize>> {
    let line_index = (place.line as usize).checked_sub(1)?;
    let line = source.split_inclusive('\n').nth(line_index)?;
    let line_start = line.as_ptr() as usize - source.as_ptr() as usize;
    let text = line.trim_end();
    let column = match (place.column as usize).checked_sub(1) {
        Some(column) if text.is_char_boundary(column) && column < text.len() => column,
        _ => text.len() - text.trim_start().len(),
    };
    let word = text[column..].find(|c: char| !c.is_alphanumeric() && c != '_');
    let length = match word {
        Some(0) | None => text[column..].len(),
        Some(length) => length,
    };
    Some(line_start + column..line_start + column + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use zymase_core::diagnostic::{Code, Link};

    fn check(places: Vec<Place>, expected: Expect) {
        let mut diagnostic =
            Diagnostic::new(Code::Defect, "cannot do it", "of a reason", "do that");
        diagnostic.places = places;
        expected.assert_eq(&render(&diagnostic, &Renderer::plain()));
    }

    fn place(file: &str, line: u32, column: u32) -> Place {
        Place {
            file: file.to_string(),
            line,
            column,
            function: "f".to_string(),
            link: Link::Inlined,
        }
    }

    #[test]
    fn without_debug_information() {
        check(
            vec![place("", 0, 0)],
            expect![[r#"
                error[Z0001]: cannot do it
                 |
                 = note: in function `f`; compile with -g to see the line
                 = note: of a reason
                 = help: do that"#]],
        );
    }

    #[test]
    fn without_source() {
        check(
            vec![place("nowhere.c", 3, 7)],
            expect![[r#"
                error[Z0001]: cannot do it
                --> nowhere.c:3:7
                 = note: of a reason
                 = help: do that"#]],
        );
    }

    #[test]
    fn with_source_and_inlining() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        std::fs::write(&path, "int g;\n\nvoid f() {\n    call(g, 1);\n}\n").unwrap();
        let path = path.display().to_string();
        let mut diagnostic = Diagnostic::new(Code::Defect, "cannot do it", "", "do that");
        diagnostic.places = vec![place(&path, 4, 5), place(&path, 3, 0)];
        let text = render(&diagnostic, &Renderer::plain()).replace(&path, "a.c");
        expect![[r#"
            error[Z0001]: cannot do it
             --> a.c:4:5
              |
            4 |     call(g, 1);
              |     ^^^^ in `f`
              |
             ::: a.c:3:1
              |
            3 | void f() {
              | ---- inlined here, in `f`
              |
              = help: do that"#]]
        .assert_eq(&text);
    }
}
