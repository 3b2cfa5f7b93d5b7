// The modules of the driver, which name each other from the root of their crate: a target includes
// this text in its own root.

#[path = "../../crates/cli/src/driver/args.rs"]
mod args;
#[path = "../../crates/cli/src/driver/cc/arguments.rs"]
mod clang_arguments;
#[path = "../../crates/cli/src/driver/compile.rs"]
mod compile;
#[path = "../../crates/cli/src/driver/embedded.rs"]
mod embedded;
#[path = "../../crates/cli/src/driver/journal.rs"]
mod journal;
#[path = "../../crates/cli/src/driver/ld/mod.rs"]
mod ld;
#[path = "../../crates/cli/src/driver/output.rs"]
mod output;
#[path = "../../crates/cli/src/driver/report.rs"]
mod report;
#[path = "../../crates/cli/src/driver/tools.rs"]
mod tools;

/// No program is linked here.
mod check {
    use std::ffi::OsStr;
    use std::path::{Path, PathBuf};

    pub fn runtime(_: &OsStr, _: &Path) -> zymase_core::diagnostic::Result<PathBuf> {
        Ok(PathBuf::new())
    }
}

/// As in the driver.
mod cc {
    pub(crate) use crate::clang_arguments as arguments;
}
