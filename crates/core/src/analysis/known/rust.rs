//! Functions of Rust's standard library, whose symbols are mangled.
//!
//! The symbols of the library that a toolchain ships are mangled in the newer scheme (`_R…`) and
//! have a hash of their crate in them, so they are known by the paths that they stand for.

use super::UNIQUE;
use crate::ir::FloatKind;
use rustc_demangle::try_demangle;

/// What a function of the standard library that no derivative flows through does with the memory
/// behind its arguments, in the letters of the [table](super); none if a symbol is no such function.
/// It formats, prints, reads clocks or asks the system for something.
pub fn inactive(symbol: &str) -> Option<&'static str> {
    if let Some(args) = formatting(symbol) {
        return Some(args);
    }
    // Without this the name of every function of C would be looked into.
    if !symbol.starts_with("_R") {
        return None;
    }
    let path = format!("{:#}", try_demangle(symbol).ok()?);
    let method = path.strip_prefix('<').unwrap_or(&path);
    let formats = method.starts_with("core::fmt::") || method.starts_with("alloc::fmt::");
    let runs_code = RUNS_CODE.iter().any(|start| method.starts_with(start));
    if runs_code || !formats && is_instance_for_program(&path) {
        return None;
    }
    let row = INACTIVE.iter().find(|row| method.starts_with(row.0));
    row.map(|row| row.1)
}

/// Whether a function was compiled for numbers, or for types and functions from outside of the
/// standard library. It holds those numbers and runs those functions, as `LocalKey::with` does, so
/// derivatives may flow through it.
fn is_instance_for_program(path: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    path.split(|c| !is_inside(c))
        .any(|word| match word.split_once("::") {
            Some((root, _)) => {
                !["", "core", "alloc", "std", "std_detect", "__rustc"].contains(&root)
            }
            None => ["f32", "f64", "fn", "dyn"].contains(&word),
        })
}

/// What a function that makes text does with the memory behind its arguments, though the program may
/// have its body: an implementation of `Display`, `Debug` or another trait that formats, and
/// `to_string` and `format`, which run those. Symbols may be mangled in the older scheme.
pub fn formatting(symbol: &str) -> Option<&'static str> {
    // Most names are told apart by this.
    let parts = ["3fmt", "core..fmt..", "alloc..string..", "to_string"];
    if !symbol.starts_with("_R") && !symbol.starts_with("_ZN")
        || !parts.iter().any(|part| symbol.contains(part))
    {
        return None;
    }
    let (symbol, _) = symbol.split_once(UNIQUE).unwrap_or((symbol, ""));
    let path = format!("{:#}", try_demangle(symbol).ok()?);
    if path == "alloc::fmt::format" {
        return Some("wm ri");
    }
    let (implemented, method) = path.rsplit_once(">::")?;
    let (_, of) = implemented.rsplit_once(" as ")?;
    match (of, method) {
        (of, "fmt") if of.starts_with("core::fmt::") => Some("r rwx"),
        ("alloc::string::ToString", "to_string") => Some("wm ri"),
        ("alloc::string::SpecToString", "spec_to_string") => Some("wm ri"),
        _ => None,
    }
}

/// The beginnings of the paths of functions that run a function of the program, which derivatives
/// may flow through.
const RUNS_CODE: [&str; 2] = ["std::sys::thread::", "std::sys::sync::once"];

/// The beginnings of the paths of functions that no derivative flows through, and what they do.
/// What is formatted or printed is read, and no address of it is kept; but an implementation of the
/// program's own may change integers in cells meanwhile.
const INACTIVE: [(&str, &str); 15] = [
    // What is to be formatted is put together first.
    ("core::fmt::rt::", "rwc"),
    ("core::fmt::Arguments", "rc"),
    ("core::fmt::", "rwx"),
    ("alloc::fmt::format", "wm ri"),
    ("std::io::stdio::_print", "ri"),
    ("std::io::stdio::_eprint", "ri"),
    ("std::io::", "rwcx"),
    ("std::time::", "rwcx"),
    ("std::env::", "rwcx"),
    ("std::thread::", "rwcx"),
    ("std::hash::random::", "rwcx"),
    ("std::sys::", "rwcx"),
    ("std::panicking::", "rwcx"),
    // What the processor can do, asked once and kept in a variable.
    ("std_detect::detect::", "rwcx"),
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

/// The precision, if a function is a product of matrices of the crate matrixmultiply.
pub fn matrix_product(symbol: &str) -> Option<FloatKind> {
    // Most names are told apart by this.
    if !symbol.starts_with("_") || !symbol.contains("matrixmultiply") {
        return None;
    }
    match format!("{:#}", try_demangle(symbol).ok()?).as_str() {
        "matrixmultiply::gemm::dgemm" => Some(FloatKind::F64),
        "matrixmultiply::gemm::sgemm" => Some(FloatKind::F32),
        _ => None,
    }
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
            (
                "_ZN46_$LT$disp..P$u20$as$u20$core..fmt..Display$GT$3fmt17hf56ebe032739d6a2E",
                true,
            ),
            (
                "_ZN46_$LT$disp..P$u20$as$u20$core..fmt..Write$GT$9write_str17hf56ebe032739d6a2E",
                false,
            ),
            (
                "_ZN45_$LT$T$u20$as$u20$alloc..string..ToString$GT$9to_string17h917bac690a8a3edaE",
                true,
            ),
            ("_RNvNtCs1_4prog3fmt6square", false),
            ("_RNvNtCs1_3std3env4args", true),
            (
                "_RNvCs1_7___rustc35___rust_no_alloc_shim_is_unstable_v2",
                true,
            ),
            // `<std::thread::local::LocalKey<core::cell::Cell<u8>>>::get`
            (
                "_RNvMNtNtCs1_3std6thread5localINtB2_8LocalKeyINtNtCs2_4core4cell4CellhEE3get",
                true,
            ),
            // `<std::thread::local::LocalKey<core::cell::Cell<f64>>>::get`
            (
                "_RNvMNtNtCs1_3std6thread5localINtB2_8LocalKeyINtNtCs2_4core4cell4CelldEE3get",
                false,
            ),
            // `std::thread::scoped::scope::<prog::cost::{closure#0}>`
            (
                "_RINvNtNtCs1_3std6thread6scoped5scopeNCNvCs3_4prog4cost0E",
                false,
            ),
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
    fn products_of_matrices_are_known() {
        let symbol = "_ZN14matrixmultiply4gemm5dgemm17h5c81877e90f5a6d2E";
        assert_eq!(matrix_product(symbol), Some(FloatKind::F64));
        let symbol = "_RNvNtCs1_14matrixmultiply4gemm5sgemm";
        assert_eq!(matrix_product(symbol), Some(FloatKind::F32));
        assert_eq!(matrix_product("dgemm_"), None);
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
