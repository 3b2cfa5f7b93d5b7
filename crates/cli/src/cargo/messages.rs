//! Messages of Zymase among those of rustc.
//!
//! What a linker says, rustc repeats: an error as a note below the whole command line of the link,
//! a warning behind the words "linker stderr". Here both become messages of their own, as if rustc
//! had said them, so that users, editors and cargo's list of warnings see what they are about.

use crate::{Result, cannot_run, exit_code};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

/// Runs rustc, whose messages come one by one as JSON.
pub fn run(mut command: Command) -> Result<ExitCode> {
    command.stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| cannot_run(&command, &e))?;
    let messages = child.stderr.take();
    let mut messages = messages.map(BufReader::new);
    let mut line = Vec::new();
    while let Some(messages) = &mut messages {
        line.clear();
        match messages.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let ours = std::str::from_utf8(&line).ok().and_then(translated);
        let shown = ours.as_deref().map_or(line.as_slice(), str::as_bytes);
        // Cargo has gone away if this cannot be written, and rustc will notice.
        let _ = std::io::stderr().lock().write_all(shown);
    }
    let status = child.wait().map_err(|e| cannot_run(&command, &e))?;
    Ok(exit_code(status))
}

/// The message that a message of rustc contains, if it is one of Zymase.
fn translated(line: &str) -> Option<String> {
    if !line.contains("[Z") {
        return None;
    }
    let mut message: Value = serde_json::from_str(line).ok()?;
    let text = said_by_linker(&message)?.to_string();
    let (head, _) = text.split_once('\n').unwrap_or((&text, ""));
    let (code, title) = head.split_once('[')?.1.split_once("]: ")?;
    let known = code
        .strip_prefix('Z')
        .is_some_and(|digits| digits.parse::<u32>().is_ok());
    if !known {
        return None;
    }
    let (code, title) = (json!({"code": code, "explanation": null}), json!(title));
    message["code"] = code;
    message["message"] = title;
    message["children"] = json!([]);
    message["rendered"] = json!(format!("{}\n\n", text.trim_end()));
    Some(format!("{message}\n"))
}

/// The text of the linker in a message about it.
fn said_by_linker(message: &Value) -> Option<&str> {
    let title = message["message"].as_str()?;
    let ours = |text: &&str| text.starts_with("error[Z") || text.starts_with("warning[Z");
    if let Some(text) = title.strip_prefix("linker stderr: ") {
        return Some(text).filter(ours);
    }
    if !title.starts_with("linking with ") {
        return None;
    }
    let notes = message["children"].as_array()?.iter();
    notes.filter_map(|note| note["message"].as_str()).find(ours)
}

#[cfg(test)]
mod tests {
    use super::translated;
    use serde_json::{Value, json};

    #[test]
    fn what_the_linker_says() {
        let text = "error[Z0501]: cannot do it\n --> a.rs:1:1\n";
        let line = json!({
            "message": "linking with `zymase-linker` failed: exit status: 1", "level": "error",
            "code": null, "spans": [], "rendered": "long",
            "children": [{"message": " \"zymase-linker\""}, {"message": text}]
        });
        let ours: Value = serde_json::from_str(&translated(&line.to_string()).unwrap()).unwrap();
        assert_eq!(ours["message"], "cannot do it");
        assert_eq!(ours["code"]["code"], "Z0501");
        assert_eq!(
            ours["rendered"],
            "error[Z0501]: cannot do it\n --> a.rs:1:1\n\n"
        );
        let line = json!({"message": "linker stderr: warning[Z0901]: zero", "level": "warning"});
        let ours: Value = serde_json::from_str(&translated(&line.to_string()).unwrap()).unwrap();
        assert_eq!(ours["level"], "warning");
        assert_eq!(ours["message"], "zero");
    }

    #[test]
    fn what_others_say() {
        let check = |line: &str| assert_eq!(translated(line), None, "{line}");
        check("not json [Z0501]");
        check(r#"{"message": "mismatched types [Z0501]"}"#);
        check(r#"{"message": "linker stderr: ld: warning: [Z0501]"}"#);
        check(r#"{"message": "linker stderr: error[Zone]: no"}"#);
        check(r#"{"artifact": "a[Z].rmeta"}"#);
    }
}
