//! The parameters: how each reaches the thunk, what is checked, what the request says about it.

use super::{Writer, differentiable, marker, must_have_derivative};
use crate::activity::{Activity, Mode, Word};
use crate::forms::{Form, peel};
use crate::function::Parameter;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Type;

impl Writer<'_> {
    pub(super) fn parameter(&mut self, parameter: &Parameter, word: &Word) {
        let Parameter { name, ty, .. } = parameter;
        self.declarations.push(parameter.declaration.clone());
        let shadows = self.shadow_names(name, word);
        for shadow in &shadows {
            let ty = shadow_type(parameter, self.mode);
            self.declarations.push(quote!(#shadow: #ty));
        }
        self.shadows_self |= name == "self" && !shadows.is_empty();
        // Messages name the parameters of the thunk.
        let mut inside = match name == "self" {
            true => format_ident!("self_"),
            false => name.clone(),
        };
        inside.set_span(Span::mixed_site());
        match &parameter.form {
            Form::Value(_) => self.value(parameter, word, &shadows, &inside),
            Form::Fat { .. } => {
                let place = self.place(&quote!(#name));
                let shadows = shadows.iter().map(|shadow| {
                    let place = self.place(&quote!(#shadow));
                    quote!(&raw mut #place)
                });
                let shadows: Vec<_> = shadows.collect();
                self.ask(word, quote!(&raw const #place), &shadows);
                self.thunk_types
                    .push(quote!(&::core::mem::MaybeUninit<#ty>));
                self.passed.push(quote!(#inside.assume_init_read()));
            }
            Form::Slice { elem, mutable } => {
                let pointer = |name: &Ident, mutable: bool| match mutable {
                    true => quote!(#name.as_mut_ptr()),
                    false => quote!(#name.as_ptr()),
                };
                let primal = pointer(name, *mutable);
                let writes = *mutable || self.mode == Mode::Reverse;
                let pointers: Vec<_> = shadows.iter().map(|s| pointer(s, writes)).collect();
                let text = name.to_string();
                let times = match word.activity {
                    Activity::Dualv | Activity::DualvOnly => self.words.width as usize,
                    _ => 1,
                };
                for shadow in &shadows {
                    self.setup.push(quote! {
                        ::zymase::__private::check_length(#text, #name.len(), #shadow.len(), #times);
                    });
                    if times == 1 {
                        self.check_shapes(name, quote!(*#name), quote!(*#shadow), *mutable);
                    }
                }
                if matches!(word.activity, Activity::Dualv | Activity::DualvOnly) {
                    let stride = quote!(#name.len() * ::core::mem::size_of::<#elem>());
                    self.ask_strided(word, stride, primal, &pointers[0]);
                } else {
                    self.ask(word, primal, &pointers);
                }
                self.request.push(marker("enzyme_const"));
                self.request.push(quote!(#name.len()));
                self.thunk_types.push(quote!(#ty));
                self.passed.push(quote!(#inside));
            }
            Form::Thin { mutable, .. } => {
                let primal = address(name, *mutable);
                let writes = *mutable || self.mode == Mode::Reverse;
                for shadow in &shadows {
                    self.check_shapes(name, quote!(*#name), quote!(*#shadow), *mutable);
                }
                let shadows: Vec<_> = shadows.iter().map(|s| address(s, writes)).collect();
                self.ask(word, primal, &shadows);
                self.thunk_types.push(quote!(#ty));
                self.passed.push(quote!(#inside));
            }
            Form::Pointer { .. } => {
                let thin = |name: &Ident| quote!(::zymase::__private::thin(#name));
                let shadows: Vec<_> = shadows.iter().map(thin).collect();
                self.ask(word, thin(name), &shadows);
                self.thunk_types.push(quote!(#ty));
                self.passed.push(quote!(#inside));
            }
            Form::FnPointer(_) => {
                self.ask(word, quote!(#name as *const ()), &[]);
                self.thunk_types.push(quote!(#ty));
                self.passed.push(quote!(#inside));
            }
        }
        self.thunk_names.push(inside);
    }

    /// A parameter by value travels in a place of its own; so do its shadows.
    fn value(&mut self, parameter: &Parameter, word: &Word, shadows: &[Ident], inside: &Ident) {
        let Parameter { name, ty, .. } = parameter;
        if word.activity == Activity::Dual || word.activity == Activity::DualOnly {
            self.setup.push(must_have_derivative(ty, word));
        }
        let mut given: Vec<TokenStream> = shadows.iter().map(|s| quote!(#s)).collect();
        if word.activity == Activity::Active {
            let differentiable = differentiable(ty, word);
            let zeros = quote_spanned!(word.span=> #differentiable::zeros_like(&#name));
            given = vec![zeros; self.words.width as usize];
        }
        for shadow in shadows {
            self.setup.push(quote!(let mut #shadow = #shadow;));
            self.check_shapes(name, quote!(#name), quote!(#shadow), true);
        }
        let given: Vec<Ident> = given.iter().map(|value| self.place(value)).collect();
        let place = self.place(&quote!(#name));
        let addresses: Vec<_> = given.iter().map(|p| quote!(&raw mut #p)).collect();
        self.ask(word, quote!(&raw const #place), &addresses);
        self.thunk_types
            .push(quote!(&::core::mem::MaybeUninit<#ty>));
        self.passed.push(quote!(#inside.assume_init_read()));
        if word.activity == Activity::Active {
            let values: Vec<_> = given.iter().map(|p| quote!(#p.assume_init())).collect();
            self.returns(ty, values);
        }
    }

    fn ask_strided(
        &mut self,
        word: &Word,
        stride: TokenStream,
        primal: TokenStream,
        shadow: &TokenStream,
    ) {
        self.request.push(marker(match word.activity {
            Activity::Dualv => "enzyme_dupv",
            _ => "enzyme_dupnoneedv",
        }));
        self.request.extend([stride, primal, shadow.clone()]);
    }

    /// Compares lengths inside of containers, where the type tells how. A shadow of what may grow
    /// gets the same room.
    fn check_shapes(
        &mut self,
        name: &Ident,
        primal: TokenStream,
        shadow: TokenStream,
        grows: bool,
    ) {
        let text = format!("`{name}`");
        let shapes = match grows {
            true => quote!(Growing(&#primal, &mut #shadow)),
            false => quote!(Shapes(&#primal, &#shadow)),
        };
        self.setup.push(quote! {
            {
                use ::zymase::__private::{CheckNothing as _, CheckShape as _};
                ::zymase::__private::#shapes.check(#text);
            }
        });
    }

    fn shadow_names(&self, name: &Ident, word: &Word) -> Vec<Ident> {
        let base = self.fresh(&format!("d{name}"));
        match word.activity {
            Activity::Const | Activity::Active | Activity::ActiveOnly => Vec::new(),
            Activity::Dualv | Activity::DualvOnly => vec![base],
            _ if self.words.width == 1 => vec![base],
            _ => (0..self.words.width)
                .map(|i| format_ident!("{base}_{i}"))
                .collect(),
        }
    }
}

/// The type of the shadow of a parameter: as in `std::autodiff`, reverse mode writes to it.
fn shadow_type(parameter: &Parameter, mode: Mode) -> TokenStream {
    let ty = &parameter.ty;
    if mode == Mode::Forward {
        return quote!(#ty);
    }
    match (&parameter.form, peel(ty)) {
        (Form::Pointer { elem }, _) => quote!(*mut #elem),
        (_, Type::Reference(reference)) => {
            let (lifetime, elem) = (&reference.lifetime, &reference.elem);
            quote!(& #lifetime mut #elem)
        }
        _ => quote!(#ty),
    }
}

fn address(name: &Ident, mutable: bool) -> TokenStream {
    match mutable {
        true => quote!(::zymase::__private::thin(&raw mut *#name)),
        false => quote!(::zymase::__private::thin(&raw const *#name)),
    }
}
