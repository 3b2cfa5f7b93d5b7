//! Writes an archive with the members that were compiled in their places, and a symbol table.

use super::inputs::Archive;
use crate::output;
use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream,
};
use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;
use zymase_core::diagnostic::{Code, Diagnostic, Result};

/// Writes the archive; `objects` are the compiled units.
pub fn write(path: &Path, archive: &Archive, objects: &HashMap<usize, Vec<u8>>) -> Result<()> {
    let member = |name: &str, data: Vec<u8>| {
        NewArchiveMember::new(
            data.into_boxed_slice(),
            &DEFAULT_OBJECT_READER,
            name.to_string(),
        )
    };
    let members: Vec<NewArchiveMember> = archive
        .members
        .iter()
        .map(|entry| {
            let compiled = entry.unit.and_then(|unit| objects.get(&unit));
            member(&entry.name, compiled.unwrap_or(&entry.bytes).clone())
        })
        .collect();
    let mut bytes = Cursor::new(Vec::new());
    write_archive_to_stream(&mut bytes, &members, ArchiveKind::Gnu, false, None).map_err(
        |error| {
            Diagnostic::new(
                Code::CannotWrite,
                format!("cannot write the archive {}", archive.path.display()),
                error.to_string(),
                "make room in the folder for temporary files, or set TMPDIR to another one",
            )
        },
    )?;
    output::write(path, bytes.get_ref())
}
