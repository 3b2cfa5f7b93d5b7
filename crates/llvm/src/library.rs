//! Which LLVM this is.

use llvm_sys::core::LLVMGetVersion;

/// The file name of the shared library that this crate was linked with. A launcher looks for it
/// before it starts anything that needs LLVM, because the loader's own message would not say that
/// the toolchain was updated.
pub const LIBRARY_FILE: &str = env!("ZYMASE_LLVM_FILE");

/// The folder where the shared library was when this crate was built.
pub const LIBRARY_DIR: &str = env!("ZYMASE_LLVM_DIR");

/// The version of the LLVM that is loaded: major, minor, patch.
pub fn version() -> (u32, u32, u32) {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the function writes three integers.
    unsafe { LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    (major, minor, patch)
}
