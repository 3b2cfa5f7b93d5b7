//! The thinking half of Zymase: the IR, the analyses, and the synthesis of derivatives.
//!
//! Nothing here knows LLVM, does I/O or is unsafe.
#![forbid(unsafe_code)]

pub mod analysis;
mod blas;
pub mod chaos;
pub mod checks;
pub mod compare;
mod custom;
pub mod derivative;
pub mod diagnostic;
mod finite;
pub mod forward;
pub mod interp;
pub mod ir;
pub mod pipeline;
pub mod plan;
pub mod planted;
pub mod primal;
pub mod raise;
pub mod report;
pub mod reverse;
pub mod rounds;
pub mod rules;
pub mod shadow;
pub mod simplify;
mod split;
pub mod support;
pub mod synthesis;
pub mod warnings;
