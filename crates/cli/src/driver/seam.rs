//! Where the driver hands a module to core.

use crate::args::{CompileOptions, Plan};
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_core::ir::Module;

/// What core tells about the derivatives it wrote.
pub struct Report {
    /// The plan, in words.
    pub text: String,
}

/// Replaces every request in the module by the call of a derivative.
pub fn differentiate(_module: &mut Module, options: &CompileOptions) -> Result<Report> {
    let plan = match options.plan {
        Plan::Auto => "auto",
        Plan::Everything => "everything",
    };
    Err(Diagnostic::new(
        "this build of Zymase cannot write derivatives yet",
        format!("the differentiator (plan {plan}) is not part of it"),
        "",
    ))
}
