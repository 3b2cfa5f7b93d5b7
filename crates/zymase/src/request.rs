//! The words of a request, as the linker reads them.
//!
//! The functions and markers below are never defined. The linker knows calls of these functions by
//! the beginning of their names, and replaces them by calls of derivatives. Without it, linking
//! fails, and the missing symbol is a sentence that says what to do.

use crate::Differentiable;

unsafe extern "C-unwind" {
    /// Reverse mode: the forward and the reverse sweep of a thunk.
    #[link_name = "__enzyme_autodiff: this program asks for derivatives; build it with 'cargo zymase build'"]
    pub fn autodiff(thunk: *const (), ...);

    /// Forward mode.
    #[link_name = "__enzyme_fwddiff: this program asks for derivatives; build it with 'cargo zymase build'"]
    pub fn fwddiff(thunk: *const (), ...);

    /// Calls a thunk that no derivative flows through.
    #[link_name = "__enzyme_call_inactive: this program is for derivatives; build it with 'cargo zymase build'"]
    pub fn call_inactive(thunk: *const (), ...);

    /// Calls a thunk that comes with its derivatives: the augmented sweep, the gradient and the
    /// tangent, each a thunk too or null, and a text with a name and activities.
    #[link_name = "__enzyme_call_with_rule: this program is for derivatives; build it with 'cargo zymase build'"]
    pub fn call_with_rule(thunk: *const (), ...);

    /// The next argument has no derivative.
    #[link_name = "enzyme_const: this program asks for derivatives; build it with 'cargo zymase build'"]
    pub static enzyme_const: u8;
    /// The next argument has a shadow.
    #[link_name = "enzyme_dup: this program asks for derivatives; build it with 'cargo zymase build'"]
    pub static enzyme_dup: u8;
    /// As `enzyme_dup`, and what is written there is not needed.
    #[link_name = "enzyme_dupnoneed: this program asks for derivatives; build it with 'cargo zymase build'"]
    pub static enzyme_dupnoneed: u8;
    /// As `enzyme_dup`, with several shadows at a stride in bytes.
    #[link_name = "enzyme_dupv: this program asks for derivatives; build it with 'cargo zymase build'"]
    pub static enzyme_dupv: u8;
    /// As `enzyme_dupnoneed`, with several shadows at a stride in bytes.
    #[link_name = "enzyme_dupnoneedv: this program asks for derivatives; build it with 'cargo zymase build'"]
    pub static enzyme_dupnoneedv: u8;
    /// The number of derivatives at once follows.
    #[link_name = "enzyme_width: this program asks for derivatives; build it with 'cargo zymase build'"]
    pub static enzyme_width: u8;
}

unsafe extern "C" {
    /// Permits to compute the function around the call otherwise than it is written.
    #[link_name = "__enzyme_fast_math: this program is for derivatives; build it with 'cargo zymase build'"]
    pub safe fn fast_math();
}

/// The address of a value with a size known at compile time. A thunk takes a reference to it in
/// one word; a reference that takes two has to be written as one in the signature.
#[inline(always)]
pub fn thin<T: ?Sized>(pointer: *const T) -> *const () {
    const {
        assert!(
            size_of::<*const T>() == size_of::<*const ()>(),
            "write the type of this parameter as `&[T]`: behind its name, the attribute cannot \
             see that it is a slice"
        );
    }
    pointer.cast()
}

/// Compiles if the derivative of a result can be given before the result exists.
#[inline(always)]
pub fn owns_nothing<T: Differentiable>() {
    const {
        assert!(
            !T::OWNS_MEMORY,
            "several derivatives at once cannot be asked for a result that owns memory"
        );
    }
}
