//! The settings of cargo that `cargo zymase` has to know, because it puts something in their place.
//!
//! Cargo reads `.cargo/config.toml` in the folder it runs in and in those above, then the one in
//! its home; a variable such as `CARGO_BUILD_TARGET` counts more than any of them.

use std::path::{Path, PathBuf};
use toml::Table;

/// The settings, those that count more first.
pub struct Config(Vec<(PathBuf, Table)>);

impl Config {
    /// Reads the files. One that cannot be read is cargo's to complain about.
    pub fn read() -> Config {
        let current = std::env::current_dir().unwrap_or_default();
        let mut folders: Vec<PathBuf> = current.ancestors().map(|a| a.join(".cargo")).collect();
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        folders.extend(home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))));
        folders.dedup();
        let tables = folders.into_iter().filter_map(|folder| {
            let names = ["config", "config.toml"];
            let text = names
                .iter()
                .find_map(|name| std::fs::read_to_string(folder.join(name)).ok());
            Some((folder, text?.parse().ok()?))
        });
        Config(tables.collect())
    }

    /// Whether the section `[build]` says something under this name, or its variable does.
    pub fn has(&self, name: &str) -> bool {
        variable(name).is_some() || self.find(name).is_some()
    }

    /// The program that `[build]` or its variable names. A path with a slash is relative to the
    /// folder that has the folder of the file.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        if let Some(program) = variable(name) {
            return Some(PathBuf::from(program));
        }
        let (folder, value) = self.find(name)?;
        let program = value.as_str()?;
        if program.is_empty() || !program.contains('/') {
            return Some(PathBuf::from(program));
        }
        Some(folder.parent().unwrap_or(folder).join(program))
    }

    /// Whether any file names a linker of its own for some target.
    pub fn names_linker(&self) -> bool {
        let mut tables = self.0.iter().map(|(_, table)| table);
        tables.any(|table| table.to_string().contains("linker"))
    }

    fn find(&self, name: &str) -> Option<(&Path, &toml::Value)> {
        self.0.iter().find_map(|(folder, table)| {
            let value = table.get("build")?.get(name)?;
            Some((folder.as_path(), value))
        })
    }
}

/// The variable that stands for a name in `[build]`.
fn variable(name: &str) -> Option<std::ffi::OsString> {
    let name = name.to_uppercase().replace('-', "_");
    std::env::var_os(format!("CARGO_BUILD_{name}"))
}
