//! GradBench's protocol: one message in a line of JSON, one line in answer.

use crate::evals;
use crate::evaluation::{Outcome, Request};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use std::borrow::Cow;
use std::io::{self, BufRead, Write};

/// What is read of a message.
#[derive(Deserialize)]
struct Message<'a> {
    id: i64,
    kind: Cow<'a, str>,
    module: Option<Cow<'a, str>>,
    function: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// Answers messages until there are no more. What is not a message is an error.
pub fn serve(mut messages: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while messages.read_until(b'\n', &mut line)? > 0 {
        let message = serde_json::from_slice(&line)
            .map_err(|error| io::Error::other(format!("cannot read a message: {error}")))?;
        answers.write_all(&answer(&message))?;
        answers.flush()?;
        line.clear();
    }
    Ok(())
}

/// The line that answers a message.
fn answer(message: &Message) -> Vec<u8> {
    let id = message.id;
    let answer = match &*message.kind {
        "start" => json!({"id": id, "tool": "zymase"}),
        "define" => match module(message) {
            Ok(_) => json!({"id": id, "success": true}),
            Err(error) => json!({"id": id, "success": false, "error": error}),
        },
        "evaluate" => match evaluate(message) {
            Ok(answer) => {
                // The output may be long: it is written once, and not read again.
                let timings = json!(answer.timings);
                let mut line = format!(r#"{{"id":{id},"success":true,"output":"#).into_bytes();
                line.extend(answer.output);
                line.extend(format!(r#","timings":{timings}}}{}"#, '\n').bytes());
                return line;
            }
            Err(error) => json!({"id": id, "success": false, "error": error}),
        },
        _ => json!({"id": id}),
    };
    format!("{answer}\n").into_bytes()
}

fn evaluate(message: &Message) -> Outcome {
    let function = message
        .function
        .as_deref()
        .ok_or("the message names no function")?;
    let input = message.input.ok_or("the message has no input")?;
    module(message)?(&Request { function, input })
}

fn module(message: &Message) -> Result<evals::Module, String> {
    let name = message
        .module
        .as_deref()
        .ok_or("the message names no module")?;
    evals::find(name).ok_or(format!("no module {name}"))
}
