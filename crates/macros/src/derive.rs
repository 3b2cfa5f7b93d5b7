//! `#[derive(Differentiable)]`: a structure field by field.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, Index, Member, Result, parse_quote};

/// The implementation of `zymase::Differentiable` for a structure.
pub fn differentiable(item: TokenStream) -> TokenStream {
    let written = syn::parse2(item).and_then(implementation);
    written.unwrap_or_else(|complaint| complaint.to_compile_error())
}

fn implementation(item: DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let Data::Struct(data) = &item.data else {
        let message = "`Differentiable` can be derived for structures: which numbers an enum or a \
                       union holds is known at run time only";
        return Err(Error::new_spanned(name, message));
    };
    let fields = fields(&data.fields);
    let active = || fields.iter().filter(|field| !field.constant);
    let mut generics = item.generics.clone();
    let parameters: Vec<_> = generics.type_params().map(|p| p.ident.clone()).collect();
    for parameter in parameters {
        let clause = generics.make_where_clause();
        clause
            .predicates
            .push(parse_quote!(#parameter: ::zymase::Differentiable));
    }
    let (parameters, arguments, clause) = generics.split_for_impl();

    let owns = fields.iter().map(|field| {
        let ty = &field.field.ty;
        match field.constant {
            true => quote!(::core::mem::needs_drop::<#ty>()),
            false => {
                let differentiable = field.differentiable();
                quote!(#differentiable::OWNS_MEMORY)
            }
        }
    });
    let members: Vec<_> = fields.iter().map(|field| &field.member).collect();
    let zeros = fields.iter().map(|field| {
        let member = &field.member;
        match field.constant {
            true => quote!(::core::clone::Clone::clone(&self.#member)),
            false => {
                let differentiable = field.differentiable();
                quote!(#differentiable::zeros_like(&self.#member))
            }
        }
    });
    let shadows = fields.iter().map(|field| {
        let member = &field.member;
        match field.constant {
            true => quote!(::core::clone::Clone::clone(&self.#member)),
            false => {
                let differentiable = field.differentiable();
                quote! {
                    unsafe {
                        #differentiable::adopt_shadow(&self.#member, &raw const (*shadow).#member)
                    }
                }
            }
        }
    });
    let each = |call: &dyn Fn(&Member, TokenStream) -> TokenStream| -> Vec<TokenStream> {
        let call = |field: &Part| call(&field.member, field.differentiable());
        active().map(call).collect()
    };
    let dimensions = each(&|m, of| quote!(#of::dimension(&self.#m)));
    let flattened = each(&|m, of| quote!(#of::flatten(&self.#m, into);));
    let unflattened = each(&|m, of| quote!(#of::unflatten(&mut self.#m, from);));
    let dots = each(&|m, of| quote!(#of::dot(&self.#m, &other.#m)));
    let sums = each(&|m, of| quote!(#of::accumulate(&mut self.#m, &other.#m);));
    let shapes = each(&|m, of| quote!(#of::check_shape(&self.#m, &shadow.#m)?;));
    let rooms = each(&|m, of| quote!(#of::make_room(&mut self.#m, &primal.#m);));
    Ok(quote! {
        // SAFETY: every field is `Differentiable` itself or constant, and the shape of a structure
        // is that of its fields.
        #[automatically_derived]
        #[allow(clippy::all, unused_variables)]
        unsafe impl #parameters ::zymase::Differentiable for #name #arguments #clause {
            const OWNS_MEMORY: bool = false #(|| #owns)*;

            fn zeros_like(&self) -> Self {
                #name { #(#members: #zeros),* }
            }

            fn dimension(&self) -> usize {
                0 #(+ #dimensions)*
            }

            fn flatten(&self, into: &mut ::std::vec::Vec<f64>) {
                #(#flattened)*
            }

            fn unflatten(&mut self, from: &mut ::core::slice::Iter<'_, f64>) {
                #(#unflattened)*
            }

            fn dot(&self, other: &Self) -> f64 {
                0.0 #(+ #dots)*
            }

            fn accumulate(&mut self, other: &Self) {
                #(#sums)*
            }

            fn check_shape(&self, shadow: &Self) -> ::core::result::Result<(), ::zymase::ShapeError> {
                #(#shapes)*
                ::core::result::Result::Ok(())
            }

            fn make_room(&mut self, primal: &Self) {
                #(#rooms)*
            }

            unsafe fn adopt_shadow(&self, shadow: *const Self) -> Self {
                #name { #(#members: #shadows),* }
            }
        }
    })
}

/// A field.
struct Part<'a> {
    field: &'a Field,
    member: Member,
    constant: bool,
}

impl Part<'_> {
    /// The trait of its type, at the type: that is where to complain if there is none.
    fn differentiable(&self) -> TokenStream {
        let ty = &self.field.ty;
        quote_spanned!(ty.span()=> <#ty as ::zymase::Differentiable>)
    }
}

fn fields(fields: &Fields) -> Vec<Part<'_>> {
    let member = |(index, field): (usize, _)| {
        let field: &Field = field;
        Part {
            member: match &field.ident {
                Some(name) => Member::Named(format_ident!("{name}")),
                None => Member::Unnamed(Index::from(index)),
            },
            constant: field.attrs.iter().any(|a| a.path().is_ident("constant")),
            field,
        }
    };
    fields.iter().enumerate().map(member).collect()
}
