//! The lines of the source program, and the expressions at places in them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Source files, each read once. A file that cannot be read has no lines.
#[derive(Default)]
pub struct Sources {
    files: RefCell<HashMap<String, Rc<Vec<String>>>>,
}

impl Sources {
    /// A line, from 1.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let lines = self.files.borrow().get(file).cloned();
        let lines = lines.unwrap_or_else(|| {
            let bytes = std::fs::read(file).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let lines: Rc<Vec<String>> = Rc::new(text.lines().map(str::to_string).collect());
            self.files
                .borrow_mut()
                .insert(file.to_string(), lines.clone());
            lines
        });
        lines.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// The bytes of the expression that begins at a column, from 1, of a line: a name with its indices,
/// members and arguments, a number, or an operator.
pub fn expression(line: &str, column: u32) -> Option<Range<usize>> {
    let start = (column as usize).checked_sub(1)?;
    if start >= line.len() || !line.is_char_boundary(start) {
        return None;
    }
    let rest = &line[start..];
    let first = rest.chars().next()?;
    let mut end = start;
    if !is_word(first) {
        let symbol = |c: char| !is_word(c) && !c.is_whitespace() && !"()[]{};,\"'".contains(c);
        let operator = rest.find(|c| !symbol(c)).unwrap_or(rest.len());
        return (operator > 0).then_some(start..start + operator);
    }
    loop {
        let rest = &line[end..];
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        end += word;
        let rest = &line[end..];
        end += match rest.chars().next() {
            Some('[' | '(') => match closing(rest) {
                Some(length) => length,
                None => break,
            },
            Some('.') if rest[1..].starts_with(is_word) => 1,
            Some('-') if rest.starts_with("->") && rest[2..].starts_with(is_word) => 2,
            Some(':') if rest.starts_with("::") && rest[2..].starts_with(is_word) => 2,
            _ => break,
        };
    }
    Some(start..end)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How long the text in the brackets that it begins with is.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let check = |line: &str, column: u32, expected: Option<&str>| {
            let found = expression(line, column).map(|range| &line[range]);
            assert_eq!(found, expected, "{line} at {column}");
        };
        check("  sum += a[i * n + k] * b[k];", 10, Some("a[i * n + k]"));
        check("  sum += a[i] * b[k];", 15, Some("*"));
        check("  sum += a[i];", 7, Some("+="));
        check("y = p->next.x + 1;", 5, Some("p->next.x"));
        check("y = std::exp(f(x)[1]);", 5, Some("std::exp(f(x)[1])"));
        check("y = f(x,", 5, Some("f"));
        check("y = 2.5e3;", 5, Some("2.5e3"));
        check("y", 0, None);
        check("y", 2, None);
        check("é = x;", 2, None);
        check("", 1, None);
        check("}", 1, None);
    }
}
