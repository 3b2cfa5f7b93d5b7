//! The thinking half of Zymase: the IR, the analyses, and the synthesis of derivatives.
//!
//! Nothing here knows LLVM, does I/O or is unsafe.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod derivative;
pub mod diagnostic;
pub mod interp;
pub mod ir;
pub mod rules;
pub mod simplify;
