//! The commands.

/// `println!`, but for nobody who reads: that is no reason to stop.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

pub mod convert;
pub mod sample;
pub mod tokenize;
pub mod train;
mod train_arguments;
