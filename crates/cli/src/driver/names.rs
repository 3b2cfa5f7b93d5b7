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
            Some(path) => out.push_str(given_to_helper(closure(&path))),
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
    // What to do depends on the language, which names show as they are.
    readable.help = diagnostic.help().to_string();
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

/// The function that `grad` and its relatives are given: they ask for the derivative of a closure of
/// theirs that calls it, `<X as zymase::input::Input>::reverse<Y, THE FUNCTION>::{closure#0}`.
fn given_to_helper(path: &str) -> &str {
    let inside = path
        .split_once(" as zymase::input::Input>::")
        .and_then(|(_, method)| method.strip_suffix(">::{closure#0}"));
    let Some((_, arguments)) = inside.and_then(|method| method.split_once('<')) else {
        return path;
    };
    // The function is the last argument, and may have arguments itself.
    let mut depth = 0;
    let outside = |c: char| {
        depth += match c {
            '<' | '(' | '[' => 1,
            '>' | ')' | ']' => -1,
            _ => 0,
        };
        depth == 0 && c == ','
    };
    arguments.rsplit(outside).next().unwrap_or(path).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_helpers_are_given() {
        let check = |path: &str, expected: &str| assert_eq!(given_to_helper(path), expected);
        let reverse = "<[f64] as zymase::input::Input>::reverse";
        check(
            &format!("{reverse}<f64, app::cost>::{{closure#0}}"),
            "app::cost",
        );
        check(
            &format!("{reverse}<[f64; 2], app::fit<f64, (u8, u8)>::{{closure#1}}>::{{closure#0}}"),
            "app::fit<f64, (u8, u8)>::{closure#1}",
        );
        check("app::reverse<f64>", "app::reverse<f64>");
    }

    /// Without debug information only names tell the language.
    #[test]
    fn what_to_do_without_debug_information() {
        use zymase_core::diagnostic::Code;
        let check = |name: &str, expected: &str| {
            let message = Diagnostic::new(Code::UnknownCopyType, "what", "why", "words of C");
            let said = readable_message(&message.in_function(name));
            assert!(said.help().contains(expected), "{name}: {}", said.help());
        };
        check("_ZN5model6energy17h0e1d804fad49f59eE", "-Cdebuginfo=2");
        check("energy", "words of C");
        check("_ZN5model6energyEd", "words of C");
    }

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
