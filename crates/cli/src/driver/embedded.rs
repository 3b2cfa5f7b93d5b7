//! Bitcode that lies beside native code in an object.
//!
//! Clang puts it in the section `.llvmbc`. Plugins of other versions of LLVM look for that name and
//! stumble over bitcode that is newer than they are: an `ar` with such a plugin leaves the object
//! out of the symbol table of an archive. So objects that Zymase makes have the section under
//! another name, of the same length, so that nothing else in the file moves.

use crate::args::Level;
use crate::ld::level;
use object::elf::FileHeader64;
use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection};
use zymase_llvm::Module;

const CLANGS: &str = ".llvmbc";
const OURS: &str = ".zymase";

/// Puts bitcode beside the native code that a module is about to become, as clang does.
pub fn add(module: &Module, bitcode: &[u8], level: Level) {
    let command = format!("-O{}\0", level.digit());
    module.add_excluded_section(OURS, bitcode);
    module.add_excluded_section(".llvmcmd", command.as_bytes());
}

/// The bitcode that a compiler left beside native code, and the level it compiled at.
pub fn read(object: &[u8]) -> Option<(Vec<u8>, Option<Level>)> {
    let file = object::File::parse(object).ok()?;
    let section = file
        .section_by_name(OURS)
        .or_else(|| file.section_by_name(CLANGS))?;
    let data = section.data().ok()?;
    let command = file.section_by_name(".llvmcmd");
    let command = command.and_then(|section| section.data().ok());
    let words = command.unwrap_or_default().split(|&byte| byte == 0);
    let levels = words.filter_map(|word| std::str::from_utf8(word).ok()?.strip_prefix("-O"));
    let level = levels.filter_map(level).next_back();
    is_bitcode(data).then(|| (data.to_vec(), level))
}

/// Whether these bytes are bitcode, plain or in a wrapper.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B])
}

/// Gives the section with bitcode our name for it; false if there is none.
pub fn rename_section(object: &mut [u8]) -> bool {
    let Some(place) = place_of_name(object) else {
        return false;
    };
    match object.get_mut(place..place.saturating_add(CLANGS.len())) {
        Some(name) if name == CLANGS.as_bytes() => name.copy_from_slice(OURS.as_bytes()),
        _ => return false,
    }
    true
}

/// Where in an object the name of the section with bitcode is.
fn place_of_name(object: &[u8]) -> Option<usize> {
    let file = ElfFile64::<Endianness>::parse(object).ok()?;
    let endian = file.endian();
    let section = file.section_by_name(CLANGS)?;
    let name = section.elf_section_header().sh_name(endian);
    let header = FileHeader64::<Endianness>::parse(object).ok()?;
    let strings = header.shstrndx(endian, object).ok()?;
    let sections = header.section_headers(endian, object).ok()?;
    let strings = sections.get(strings as usize)?;
    usize::try_from(strings.sh_offset(endian).checked_add(name.into())?).ok()
}
