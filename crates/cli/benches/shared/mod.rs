//! What the benchmarks share.

use std::process::Command;

/// The clang that `zymase cc` would run.
pub fn clang() -> Result<String, String> {
    let newest_first = (14..=22).rev().map(|version| format!("clang-{version}"));
    let chosen = std::env::var("ZYMASE_CLANG").ok().into_iter();
    chosen
        .chain(["clang".to_string()])
        .chain(newest_first)
        .find(|name| Command::new(name).arg("--version").output().is_ok())
        .ok_or_else(|| {
            "the benchmark needs clang to compile its C programs: install it (`apt install clang`) \
             or set ZYMASE_CLANG to its path"
                .to_string()
        })
}
