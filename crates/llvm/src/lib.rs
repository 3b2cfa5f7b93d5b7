//! The border between Zymase and LLVM, and the only crate that names an LLVM type.
