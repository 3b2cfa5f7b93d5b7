//! The tool: GradBench's protocol on stdin and stdout.

use std::process::ExitCode;

fn main() -> ExitCode {
    let input = std::io::BufReader::with_capacity(1 << 20, std::io::stdin().lock());
    match zymase_gradbench::protocol::serve(input, std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("zymase-gradbench: {error}");
            ExitCode::FAILURE
        }
    }
}
