//! The arguments of rustc and rustdoc, as far as they matter here.

use std::ffi::OsString;

/// Arguments of rustc or rustdoc as text, files with arguments opened.
pub struct Arguments(Vec<String>);

impl Arguments {
    /// Reads arguments. Cargo puts those of a long command line into a file, one on each line; a
    /// file that cannot be read is rustc's to complain about.
    pub fn read(args: &[OsString]) -> Arguments {
        let mut all = Vec::new();
        for argument in args {
            let text = argument.to_string_lossy().into_owned();
            let file = text.strip_prefix('@').map(std::fs::read_to_string);
            match file {
                Some(Ok(lines)) => all.extend(lines.lines().map(str::to_string)),
                _ => all.push(text),
            }
        }
        Arguments(all)
    }

    /// Whether a word is there.
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|argument| argument == word)
    }

    /// The values of a long option, as `--name value` or `--name=value`.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().enumerate().filter_map(move |(i, argument)| {
            match argument.strip_prefix(name)? {
                "" => self.0.get(i + 1).map(String::as_str),
                rest => rest.strip_prefix('='),
            }
        })
    }

    /// The last value of a codegen option, as `-C name=value`, `-Cname=value` and so on.
    pub fn codegen(&self, name: &str) -> Option<&str> {
        let mut found = None;
        for (i, argument) in self.0.iter().enumerate() {
            let option = match argument.as_str() {
                "-C" | "--codegen" => self.0.get(i + 1).map(String::as_str),
                _ => argument
                    .strip_prefix("--codegen=")
                    .or_else(|| argument.strip_prefix("-C")),
            };
            let value = option.and_then(|option| option.strip_prefix(name)?.strip_prefix('='));
            found = value.or(found);
        }
        found
    }

    /// Whether an output of this kind is asked for.
    pub fn emits(&self, kind: &str) -> bool {
        let mut kinds = self.values("--emit").flat_map(|kinds| kinds.split(','));
        kinds.any(|one| one == kind)
    }

    /// Whether the code is not to be optimized at all.
    pub fn is_unoptimized(&self) -> bool {
        !self.has("-O") && self.codegen("opt-level").is_none_or(|level| level == "0")
    }

    /// Whether the crate is for other crates to link, rather than a program or a library that the
    /// linker makes.
    pub fn makes_rlib(&self) -> bool {
        let types = self.values("--crate-type").flat_map(|t| t.split(','));
        !self.has("--test") && types.into_iter().any(|t| t == "lib" || t == "rlib")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> Arguments {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        Arguments::read(&words)
    }

    #[test]
    fn options_in_all_their_spellings() {
        let check = |text: &str, target: Option<&str>, linker: Option<&str>| {
            let arguments = arguments(text);
            assert_eq!(arguments.values("--target").last(), target, "{text}");
            assert_eq!(arguments.codegen("linker"), linker, "{text}");
        };
        check("--target a -C linker=b", Some("a"), Some("b"));
        check("--target=a -Clinker=b", Some("a"), Some("b"));
        check("--codegen linker=b --codegen=linker=c", None, Some("c"));
        check("-C linker-plugin-lto -Clinker-flavor=gcc", None, None);
        check("--target-dir=a", None, None);
    }

    #[test]
    fn crates_for_other_crates() {
        let check = |text: &str, expected: bool| {
            assert_eq!(arguments(text).makes_rlib(), expected, "{text}");
        };
        check("--crate-type lib", true);
        check("--crate-type=cdylib,rlib", true);
        check("--crate-type lib --test", false);
        check("--crate-type bin", false);
        check("--crate-type cdylib", false);
    }

    #[test]
    fn arguments_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("arguments");
        std::fs::write(&file, "--target\na b\n").unwrap();
        let arguments = arguments(&format!("@{}", file.display()));
        assert_eq!(arguments.values("--target").last(), Some("a b"));
    }
}
