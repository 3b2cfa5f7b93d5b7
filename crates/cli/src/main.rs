//! The `zymase` command.

fn main() {}
