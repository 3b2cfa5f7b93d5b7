//! `#[fast]`: a permission to compute a function otherwise than it is written.
//!
//! The function calls another at its start, which the linker takes away. What it learns from the call
//! is which function this was, after all inlining: debug information says so.

use crate::wrapped::{Written, no_words, refused};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Result};

/// The function, which says at its start what is permitted.
pub fn fast(words: TokenStream, function: TokenStream) -> TokenStream {
    let marked = no_words(words, "fast").and_then(|()| marked(function.clone()));
    marked.unwrap_or_else(|complaint| refused(function, complaint))
}

fn marked(function: TokenStream) -> Result<TokenStream> {
    let Written {
        attributes,
        visibility,
        signature,
        body,
    } = syn::parse2(function)?;
    if let Some(word) = &signature.constness {
        let message = "`#[fast]` cannot stand on a function that the compiler itself may run";
        return Err(Error::new_spanned(word, message));
    }
    if let Some(word) = &signature.asyncness {
        let message = "`#[fast]` cannot stand on an async function, which has no derivative";
        return Err(Error::new_spanned(word, message));
    }
    let statements = &body.stmts;
    Ok(quote! {
        #(#attributes)*
        #visibility #signature {
            ::zymase::__private::fast_math();
            #(#statements)*
        }
    })
}
