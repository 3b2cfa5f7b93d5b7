//! Names of Rust functions as people write them.
//!
//! Messages and explanations call a function what the linker calls it. For C that is its name; for
//! Rust it is a long code for its path, which is put into words again here, just before somebody
//! reads it.

use zymase_core::diagnostic::Diagnostic;

/// A text in which names of Rust functions are paths.
pub fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("_ZN").into_iter().chain(rest.find("_R")).min() {
        let word = &rest[start..];
        let length = word.find(|c: char| !is_part(c)).unwrap_or(word.len());
        // A full stop behind a name ends the sentence.
        let word = word[..length].trim_end_matches('.');
        let inside = rest[..start].ends_with(is_part);
        let path = rustc_demangle::try_demangle(word).ok();
        let path = path.filter(|_| !inside).map(|path| format!("{path:#}"));
        out.push_str(&rest[..start]);
        match path {
            Some(path) => out.push_str(closure(&path)),
            None => out.push_str(word),
        }
        rest = &rest[start + word.len()..];
    }
    out.push_str(rest);
    out
}

/// A message in which names of Rust functions are paths.
pub fn readable_message(diagnostic: &Diagnostic) -> Diagnostic {
    let mut readable = diagnostic.clone();
    for text in [
        &mut readable.message,
        &mut readable.reason,
        &mut readable.help,
    ] {
        *text = self::readable(text);
    }
    for place in &mut readable.places {
        place.function = self::readable(&place.function);
    }
    readable
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')
}

/// A closure is called through a function of the library, `<the closure as FnOnce<...>>::call_once`,
/// which nobody has written.
fn closure(path: &str) -> &str {
    let inner = path
        .strip_prefix('<')
        .filter(|_| path.ends_with("::call_once"));
    let end = inner.and_then(|inner| inner.find(" as core::ops::function::Fn"));
    match (inner, end) {
        (Some(inner), Some(end)) => &inner[..end],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths() {
        let check = |text: &str, expected: &str| assert_eq!(readable(text), expected);
        check(
            "the call of `_ZN5model6energy17h0e1d804fad49f59eE` is",
            "the call of `model::energy` is",
        );
        check(
            "_RNvC6_123foo3bar and _RNvC6_123foo3bar.",
            "123foo::bar and 123foo::bar.",
        );
        check(
            "in _RNSNvYNCNvCs1_3app3own0INtNtNtCs2_4core3ops8function6FnOnceTEE9call_once.",
            "in _RNSNvYNCNvCs1_3app3own0INtNtNtCs2_4core3ops8function6FnOnceTEE9call_once.",
        );
        check(
            "of _ZN3Foo3barEv, _ZNot, _R and MY_Rate",
            "of _ZN3Foo3barEv, _ZNot, _R and MY_Rate",
        );
    }

    #[test]
    fn closures_have_the_name_of_their_function() {
        let check = |path: &str, expected: &str| assert_eq!(closure(path), expected);
        check(
            "<app::own::{closure#0} as core::ops::function::FnOnce<(&[f64], &mut f64)>>::call_once",
            "app::own::{closure#0}",
        );
        check("app::call_once", "app::call_once");
    }
}
