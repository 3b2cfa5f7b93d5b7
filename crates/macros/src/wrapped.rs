//! Functions that derivatives do not look into: `#[inactive]`, and those with a derivative of their
//! own ([`rule`](crate::rule)).
//!
//! The function becomes a call that the linker knows, on a thunk with its body. Where no derivative
//! is taken, the linker makes that an ordinary call of the thunk. A function that is only marked
//! could be gone before the linker sees it: inlined, or merged with another of the same code.

use crate::forms::Form;
use crate::function::Function;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Block, Error, FnArg, Pat, Result, Signature, Visibility, parse_quote};

/// `#[inactive]`: no derivative flows through the function.
pub fn inactive(words: TokenStream, function: TokenStream) -> TokenStream {
    let written = no_words(words, "inactive").and_then(|()| {
        let written: Written = syn::parse2(function.clone())?;
        let wrapper = Wrapper::new(&written, syn::parse2(function.clone())?);
        Ok(wrapper.around(quote!(::zymase::__private::call_inactive)))
    });
    written.unwrap_or_else(|complaint| refused(function, complaint))
}

/// The function as it is, for those who call it, and what is wrong with its attribute.
pub fn refused(function: TokenStream, complaint: Error) -> TokenStream {
    let complaint = complaint.to_compile_error();
    quote!(#function #complaint)
}

/// Refuses words of an attribute that takes none.
pub fn no_words(words: TokenStream, attribute: &str) -> Result<()> {
    let message = || format!("`#[{attribute}]` takes no words");
    match words.is_empty() {
        true => Ok(()),
        false => Err(Error::new_spanned(words, message())),
    }
}

/// A function with its body, as it is written.
pub struct Written {
    /// What stands before it.
    pub attributes: Vec<Attribute>,
    /// Who may call it.
    pub visibility: Visibility,
    /// Its name, parameters and result.
    pub signature: Signature,
    /// What it does.
    pub body: Block,
}

impl Parse for Written {
    fn parse(input: ParseStream) -> Result<Written> {
        Ok(Written {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

/// What stands in the place of the function.
pub struct Wrapper<'a> {
    written: &'a Written,
    pub function: Function,
    /// Values in memory, from which the thunk takes them.
    setup: Vec<TokenStream>,
    /// The words of the call: the parameters of the thunk.
    words: Vec<TokenStream>,
    thunk_types: Vec<TokenStream>,
    thunk_names: Vec<Ident>,
    passed: Vec<TokenStream>,
}

impl<'a> Wrapper<'a> {
    /// Reads the parameters of the function.
    pub fn new(written: &'a Written, function: Function) -> Wrapper<'a> {
        let mut wrapper = Wrapper {
            written,
            setup: Vec::new(),
            words: Vec::new(),
            thunk_types: Vec::new(),
            thunk_names: Vec::new(),
            passed: Vec::new(),
            function,
        };
        for (index, parameter) in wrapper.function.parameters.iter().enumerate() {
            let (name, ty) = (&parameter.name, &parameter.ty);
            let inside = format_ident!("p_{index}", span = Span::mixed_site());
            let address = |mutable: bool| match mutable {
                true => quote!(::zymase::__private::thin(&raw mut *#name)),
                false => quote!(::zymase::__private::thin(&raw const *#name)),
            };
            let direct = match &parameter.form {
                Form::Slice { mutable, .. } => {
                    let pointer = match mutable {
                        true => quote!(#name.as_mut_ptr()),
                        false => quote!(#name.as_ptr()),
                    };
                    wrapper.words.extend([pointer, quote!(#name.len())]);
                    true
                }
                Form::Thin { mutable, .. } => {
                    wrapper.words.push(address(*mutable));
                    true
                }
                Form::Pointer { .. } => {
                    wrapper.words.push(quote!(::zymase::__private::thin(#name)));
                    true
                }
                Form::FnPointer(_) => {
                    wrapper.words.push(quote!(#name as *const ()));
                    true
                }
                Form::Fat { .. } | Form::Value(_) => {
                    let place = format_ident!("place_{index}", span = Span::mixed_site());
                    wrapper
                        .setup
                        .push(quote!(let #place = ::core::mem::MaybeUninit::new(#name);));
                    wrapper.words.push(quote!(&raw const #place));
                    false
                }
            };
            match direct {
                true => {
                    wrapper.thunk_types.push(quote!(#ty));
                    wrapper.passed.push(quote!(#inside));
                }
                false => {
                    wrapper
                        .thunk_types
                        .push(quote!(&::core::mem::MaybeUninit<#ty>));
                    wrapper
                        .passed
                        .push(quote!(unsafe { #inside.assume_init_read() }));
                }
            }
            wrapper.thunk_names.push(inside);
        }
        wrapper
    }

    /// The function, whose body is now a call of `call` on the thunk and its words.
    pub fn around(&self, call: TokenStream) -> TokenStream {
        self.around_with(call, quote!(), quote!())
    }

    /// As [`around`](Wrapper::around), with more words after the thunk, and what they need before.
    pub fn around_with(
        &self,
        call: TokenStream,
        more: TokenStream,
        before: TokenStream,
    ) -> TokenStream {
        let Written {
            attributes,
            visibility,
            signature,
            body,
        } = self.written;
        let mut outer = signature.clone();
        outer.generics = self.function.generics.clone();
        for (input, parameter) in outer.inputs.iter_mut().zip(&self.function.parameters) {
            if let FnArg::Typed(typed) = input {
                let (name, ty) = (&parameter.name, &parameter.ty);
                *typed.pat = parse_quote!(#name);
                *typed.ty = ty.clone();
            }
        }
        let patterns = self.patterns();
        let body = instead_of_self(quote!(#body));
        let (setup, words, types) = (&self.setup, &self.words, &self.thunk_types);
        let (names, passed) = (&self.thunk_names, &self.passed);
        let output = &signature.output;
        let span = self.function.name.span().resolved_at(Span::mixed_site());
        let inside = quote_spanned! {span=>
            #[allow(clippy::all, unused_variables, unused_mut)]
            let body = |#(#patterns),*| #output #body;
        };
        let calls = match &self.function.result {
            None => quote_spanned! {span=>
                let thunk: fn(#(#types),*) = |#(#names),*| { #inside body(#(#passed),*) };
                unsafe { #call(thunk as *const () #more #(, #words)*) }
            },
            Some(ty) => quote_spanned! {span=>
                let mut out = ::core::mem::MaybeUninit::<#ty>::uninit();
                let thunk: fn(#(#types,)* &mut ::core::mem::MaybeUninit<#ty>) =
                    |#(#names,)* result| { #inside result.write(body(#(#passed),*)); };
                unsafe {
                    #call(thunk as *const () #more #(, #words)*, &raw mut out);
                    out.assume_init()
                }
            },
        };
        quote! {
            #(#attributes)*
            #visibility #outer {
                #(#setup)*
                #before
                #calls
            }
        }
    }

    /// The parameters of the function as those of a closure.
    fn patterns(&self) -> Vec<TokenStream> {
        let inputs = self.written.signature.inputs.iter();
        let patterns = inputs
            .zip(&self.function.parameters)
            .map(|(input, parameter)| {
                let ty = &parameter.ty;
                let pattern = match input {
                    FnArg::Receiver(receiver) => {
                        let (mutability, this) = (&receiver.mutability, this());
                        quote!(#mutability #this)
                    }
                    FnArg::Typed(typed) => {
                        let pattern: &Pat = &typed.pat;
                        quote!(#pattern)
                    }
                };
                quote!(#pattern: #ty)
            });
        patterns.collect()
    }
}

/// What `self` is called in the thunk, which has none.
fn this() -> Ident {
    Ident::new("this_of_the_method", Span::call_site())
}

fn instead_of_self(tokens: TokenStream) -> TokenStream {
    let renamed = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "self" => {
            let mut this = this();
            this.set_span(ident.span());
            this.into()
        }
        TokenTree::Group(group) => {
            let mut renamed = Group::new(group.delimiter(), instead_of_self(group.stream()));
            renamed.set_span(group.span());
            renamed.into()
        }
        other => other,
    });
    renamed.collect()
}
