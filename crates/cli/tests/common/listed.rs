//! One test for each program of a folder, and one that none is left out.

use std::path::{Path, PathBuf};

/// Makes a test of each program, which calls `check` with its name. The folder is what `$folder` gives.
macro_rules! programs {
    ($folder:ident: $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        #[test]
        fn every_program_is_listed() {
            $crate::listed::all_are_listed($folder(), &[$(stringify!($name)),*]);
        }
    };
}

/// A program that no test runs would go unnoticed.
pub fn all_are_listed(folder: PathBuf, listed: &[&str]) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if let Some(name) = program(&path) {
            assert!(
                listed.contains(&name.as_str()),
                "{name} is not in the list of tests"
            );
        }
    }
}

/// The name of a program: not what programs include, nor what is compiled to be linked with one.
fn program(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?;
    let name = path.file_stem()?.to_str()?;
    let other = name == "check" || name.ends_with(".native");
    (["c", "cpp", "rs"].contains(&extension) && !other).then(|| name.to_string())
}
