//! The function that an attribute stands on.

use crate::forms::Form;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Error, FnArg, GenericParam, Generics, Pat, ReceiverKind, Result, ReturnType, Safety,
    Signature, Type, Visibility, parse_quote,
};

/// A function with or without a body, free or in an `impl` or `trait`.
pub struct Function {
    /// Attributes that say whether it exists at all.
    pub conditions: Vec<Attribute>,
    pub visibility: Visibility,
    pub name: Ident,
    /// The generic parameters of the derivative; `impl Trait` has become one of them.
    pub generics: Generics,
    /// `::<T, N>`, or nothing.
    pub turbofish: TokenStream,
    pub is_unsafe: bool,
    /// Whether it must be called as `Self::name`.
    pub associated: bool,
    pub parameters: Vec<Parameter>,
    /// The type of the result, if there is one.
    pub result: Option<Type>,
}

/// A parameter.
pub struct Parameter {
    /// Its name in the derivative; `self` for a receiver.
    pub name: Ident,
    /// Its declaration in the derivative, as in `&self` or `x: f64`.
    pub declaration: TokenStream,
    pub ty: Type,
    pub form: Form,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> Result<Function> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility: Visibility = input.parse()?;
        if !is_function(input) {
            return Err(input.error("derivatives are taken of functions: this is none"));
        }
        let mut signature: Signature = input.parse()?;
        let body: TokenStream = input.parse()?;
        refuse_what_has_none(&signature)?;

        let explicit = signature.generics.clone();
        let mut named = NamedImpls::default();
        for input in &mut signature.inputs {
            if let FnArg::Typed(typed) = input {
                named.visit_type_mut(&mut typed.ty);
            }
        }
        let mut generics = explicit.clone();
        generics.params.extend(named.parameters);
        let mut mentions = MentionsSelf::default();
        mentions.visit_signature(&signature);
        mentions.visit_body(body);
        let parameters = signature.inputs.iter().enumerate();
        Ok(Function {
            conditions: attributes
                .into_iter()
                .filter(|a| a.path().is_ident("cfg"))
                .collect(),
            visibility,
            turbofish: turbofish(&explicit),
            generics,
            is_unsafe: matches!(signature.safety, Safety::Unsafe(_)),
            associated: mentions.found,
            parameters: parameters
                .map(|(i, input)| parameter(&signature.ident, i, input))
                .collect(),
            result: match &signature.output {
                ReturnType::Default => None,
                ReturnType::Type(_, ty) if is_unit(ty) => None,
                ReturnType::Type(_, ty) => Some((**ty).clone()),
            },
            name: signature.ident,
        })
    }
}

fn is_function(input: ParseStream) -> bool {
    let ahead = input.fork();
    ahead.parse::<Signature>().is_ok() || input.peek(syn::Token![fn])
}

fn refuse_what_has_none(signature: &Signature) -> Result<()> {
    if let Some(word) = &signature.asyncness {
        let message = "an async function returns a future, which has no derivative";
        return Err(Error::new_spanned(word, message));
    }
    if let Some(variadic) = &signature.variadic {
        let message = "a function with any number of arguments cannot be differentiated";
        return Err(Error::new_spanned(variadic, message));
    }
    match &signature.output {
        ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)) => {
            let message = "the type of the result must be written out to have a derivative";
            Err(Error::new_spanned(ty, message))
        }
        ReturnType::Type(_, ty) if matches!(**ty, Type::Reference(_)) => {
            let message = "a function that returns a reference cannot be differentiated: let it \
                           return a value, or write to a parameter `&mut`";
            Err(Error::new_spanned(ty, message))
        }
        _ => Ok(()),
    }
}

fn parameter(function: &Ident, index: usize, input: &FnArg) -> Parameter {
    match input {
        FnArg::Receiver(receiver) => {
            let this = &receiver.self_token;
            let (ty, declaration): (Type, _) = match &receiver.kind {
                ReceiverKind::Reference(_, lifetime, mutability) => (
                    parse_quote!(& #lifetime #mutability Self),
                    quote!(& #lifetime #mutability #this),
                ),
                ReceiverKind::Typed(_, ty) => ((**ty).clone(), quote!(#this: #ty)),
                _ => (parse_quote!(Self), quote!(#this)),
            };
            Parameter {
                name: Ident::new("self", receiver.self_token.span),
                declaration,
                form: Form::of(&ty),
                ty,
            }
        }
        FnArg::Typed(typed) => {
            let name = match &*typed.pat {
                // The thunk calls the function by its name.
                Pat::Ident(pattern) if pattern.ident == *function => {
                    format_ident!("{function}_")
                }
                Pat::Ident(pattern) => pattern.ident.clone(),
                _ => format_ident!("argument_{index}", span = Span::mixed_site()),
            };
            let ty = &typed.ty;
            Parameter {
                declaration: quote!(#name: #ty),
                name,
                form: Form::of(ty),
                ty: (**ty).clone(),
            }
        }
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

fn turbofish(generics: &Generics) -> TokenStream {
    let names = generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(ty) => Some(&ty.ident),
            GenericParam::Const(constant) => Some(&constant.ident),
            _ => None,
        });
    let names: Vec<&Ident> = names.collect();
    match names.is_empty() {
        true => TokenStream::new(),
        false => quote!(::<#(#names),*>),
    }
}

/// Gives `impl Trait` in parameters a name, so that the thunk can be declared.
#[derive(Default)]
struct NamedImpls {
    parameters: Vec<GenericParam>,
}

impl VisitMut for NamedImpls {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        syn::visit_mut::visit_type_mut(self, ty);
        if let Type::ImplTrait(anonymous) = ty {
            let name = format_ident!("Impl{}", self.parameters.len());
            let bounds = &anonymous.bounds;
            self.parameters.push(parse_quote!(#name: #bounds));
            *ty = parse_quote!(#name);
        }
    }
}

/// Whether a function speaks of `Self`, and so stands in an `impl` or a `trait`.
#[derive(Default)]
struct MentionsSelf {
    found: bool,
}

impl MentionsSelf {
    fn visit_body(&mut self, body: TokenStream) {
        if let Ok(block) = syn::parse2::<syn::Block>(body) {
            self.visit_block(&block);
        }
    }
}

impl Visit<'_> for MentionsSelf {
    fn visit_receiver(&mut self, _: &syn::Receiver) {
        self.found = true;
    }

    fn visit_ident(&mut self, ident: &Ident) {
        self.found |= ident == "Self";
    }

    fn visit_macro(&mut self, called: &syn::Macro) {
        self.found |= contains_self(called.tokens.clone());
    }

    /// Items inside have a `Self` of their own.
    fn visit_item(&mut self, _: &syn::Item) {}
}

fn contains_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => contains_self(group.stream()),
        _ => false,
    })
}
