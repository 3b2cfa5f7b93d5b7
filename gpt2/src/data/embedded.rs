//! A text that is always there: the documents of this project.

use include_dir::{Dir, include_dir};

/// Documents in the order of reading; what is listed last is for validation.
const DOCUMENTS: [&str; 11] = [
    include_str!("../../../README.md"),
    include_str!("../../../ARCHITECTURE.md"),
    include_str!("../../../TESTING.md"),
    include_str!("../../../CONTRIBUTING.md"),
    include_str!("../../../docs/requests.md"),
    include_str!("../../../docs/rust.md"),
    include_str!("../../../docs/cargo.md"),
    include_str!("../../../docs/check.md"),
    include_str!("../../../docs/files.md"),
    include_str!("../../../docs/rust-refusals.md"),
    include_str!("../../../docs/from-other-tools.md"),
];

/// A page for each error.
static ERRORS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../docs/errors");

/// The text.
pub fn embedded() -> String {
    let mut pages: Vec<_> = ERRORS.files().collect();
    pages.sort_by_key(|page| page.path());
    let pages = pages.iter().filter_map(|page| page.contents_utf8());
    let mut text = String::new();
    for document in DOCUMENTS.into_iter().chain(pages) {
        text.push_str(document);
        text.push('\n');
    }
    text
}
