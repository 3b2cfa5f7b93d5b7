//! Functions of Rust's standard library, whose symbols are mangled.
//!
//! The symbols of the library that a toolchain ships are mangled in the newer scheme (`_R…`) and
//! have a hash of their crate in them, so they are known by the paths that they stand for.

use rustc_demangle::try_demangle;

/// What a function of the standard library that no derivative flows through does with the memory
/// behind its arguments, in the letters of the [table](super); none if a symbol is no such function.
/// It formats, prints, reads clocks or asks the system for something.
pub fn inactive(symbol: &str) -> Option<&'static str> {
    // Without this the name of every function of C would be looked into.
    if !symbol.starts_with("_R") {
        return None;
    }
    let path = format!("{:#}", try_demangle(symbol).ok()?);
    let method = path.strip_prefix('<').unwrap_or(&path);
    // A thread runs a function of the program, which derivatives may flow through.
    if method.starts_with("std::sys::thread::") {
        return None;
    }
    let row = INACTIVE.iter().find(|row| method.starts_with(row.0));
    let formats = path.contains(" as core::fmt::").then_some("r rwx");
    row.map(|row| row.1).or(formats)
}

/// The beginnings of the paths of functions that no derivative flows through, and what they do.
/// What is formatted or printed is read, and no address of it is kept.
const INACTIVE: [(&str, &str); 12] = [
    ("core::fmt::", "rwx"),
    ("alloc::fmt::format", "w r"),
    ("std::io::stdio::_print", "r"),
    ("std::io::stdio::_eprint", "r"),
    ("std::io::", "rwcx"),
    ("std::time::", "rwcx"),
    ("std::env::", "rwcx"),
    ("std::thread::", "rwcx"),
    ("std::hash::random::", "rwcx"),
    ("std::sys::", "rwcx"),
    ("std::panicking::", "rwcx"),
    ("__rustc::__rust_no_alloc_shim_is_unstable", "-"),
];

/// Whether a function is one of a hasher of the standard library. Programs have bodies of their own
/// of these. A hash says where something is kept, and no derivative flows through it, whatever it
/// was made of.
pub fn hashes(symbol: &str) -> bool {
    const HASHERS: [&str; 2] = [
        "core::hash::sip::Hasher",
        "std::hash::random::DefaultHasher",
    ];
    // Symbols are in either scheme. The older one is that of C++ as well, with a hash at the end.
    let older = || symbol.starts_with("_ZN") && symbol.ends_with('E') && symbol.contains("17h");
    if !symbol.starts_with("_R") && !older() {
        return false;
    }
    let Ok(path) = try_demangle(symbol) else {
        return false;
    };
    let path = format!("{path:#}");
    let method = path.strip_prefix('<').unwrap_or(&path);
    HASHERS.iter().any(|hasher| method.starts_with(hasher))
}

/// Rust's allocation functions.
const ALLOCATORS: [&str; 4] = [
    "__rust_alloc",
    "__rust_alloc_zeroed",
    "__rust_realloc",
    "__rust_dealloc",
];

/// The plain name of an allocation function of Rust. Its symbol is that, or an item of that name
/// in the crate `__rustc`, which exists in the compiler only.
pub fn allocator(symbol: &str) -> Option<&'static str> {
    let mangled = |plain: &str| {
        let crate_of = symbol.strip_suffix(&format!("{}_{plain}", plain.len()));
        crate_of.is_some_and(|of| of.starts_with("_RNvC") && of.ends_with("7___rustc"))
    };
    let mut names = ALLOCATORS.into_iter();
    names.find(|&plain| symbol == plain || mangled(plain))
}

/// The symbol of another allocation function, by its plain name, that goes with this one.
pub fn beside(symbol: &str, other: &str) -> Option<String> {
    let plain = allocator(symbol)?;
    Some(match symbol == plain {
        true => other.to_string(),
        false => {
            let own = format!("{}_{plain}", plain.len());
            let start = symbol.strip_suffix(&own)?;
            format!("{start}{}_{other}", other.len())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_what_has_no_derivative() {
        for (symbol, inactive) in [
            (
                "_RNvNvNtCslNYArtu3iFV_5alloc3fmt6format12format_inner",
                true,
            ),
            ("_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print", true),
            (
                "_RNvXs7_NtNtCsgEmfK2I1SDS_4core3fmt5floatdNtB7_7Display3fmt",
                true,
            ),
            (
                "_RNvMs5_NtNtCsgEmfK2I1SDS_4core3fmt8buildersNtB5_9DebugList6finish",
                true,
            ),
            ("_RNvNtCs1_4prog3fmt6square", false),
            ("core_fmt", false),
        ] {
            assert_eq!(super::inactive(symbol).is_some(), inactive, "{symbol}");
        }
    }

    #[test]
    fn hashers_are_known_in_both_schemes() {
        let write = "_ZN71_$LT$core..hash..sip..Hasher$LT$S$GT$$u20$as$u20$core..hash..Hasher$GT$5write17h5c81877e90f5a6d2E";
        assert!(hashes(write));
        let other = "_ZN4core4hash11BuildHasher8hash_one17h2d9eced690d38411E";
        assert!(!hashes(other));
        assert!(!hashes("_ZN4core4hash3sip6HasherE"));
    }

    #[test]
    fn allocators_come_together() {
        let alloc = "_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc";
        let realloc = "_RNvCsfLfy6EI15iL_7___rustc14___rust_realloc";
        assert_eq!(allocator(alloc), Some("__rust_alloc"));
        assert_eq!(allocator(realloc), Some("__rust_realloc"));
        assert_eq!(allocator("__rust_dealloc"), Some("__rust_dealloc"));
        assert_eq!(allocator("my__rust_alloc"), None);
        assert_eq!(beside(realloc, "__rust_alloc").as_deref(), Some(alloc));
        assert_eq!(
            beside("__rust_alloc", "__rust_realloc").as_deref(),
            Some("__rust_realloc")
        );
    }
}
