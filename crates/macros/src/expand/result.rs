//! The result: where the thunk puts it, how it is seeded, what the derivative returns of it.

use super::{Writer, differentiable, local, must_have_derivative};
use crate::activity::{Activity, Mode, Word};
use crate::forms::peel;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Type;

impl Writer<'_> {
    /// The result, which the thunk writes to a place of its own.
    pub(super) fn result(&mut self, ty: &Type, word: &Word) {
        let out = format_ident!("out", span = Span::mixed_site());
        self.setup
            .push(quote!(let mut #out = ::core::mem::MaybeUninit::<#ty>::uninit();));
        self.outcome.result = Some(ty.clone());
        self.outcome.differentiable = differentiable(ty, word);
        let differentiable = self.outcome.differentiable.clone();
        let width = self.words.width as usize;
        let float = is_float(ty);
        if word.activity != Activity::Const {
            self.setup.push(must_have_derivative(ty, word));
        }
        let wants_primal = !matches!(
            word.activity,
            Activity::ActiveOnly | Activity::DualOnly | Activity::DualvOnly
        );
        let tangents = |this: &mut Self| -> Vec<Ident> {
            let place = |i| {
                let place = local("tangent", i);
                this.setup
                    .push(quote!(let mut #place = ::core::mem::MaybeUninit::<#ty>::zeroed();));
                place
            };
            (0..width).map(place).collect()
        };
        match (word.activity, self.mode) {
            (Activity::Const, _) => {
                self.ask(word, quote!(&raw mut #out), &[]);
                self.outcome.types.insert(0, quote!(#ty));
                self.outcome.values.insert(0, quote!(#out.assume_init()));
            }
            (_, Mode::Reverse) => {
                let seed = self.fresh("dret");
                let seeds: Vec<Ident> = match width {
                    1 => {
                        self.declarations.push(quote!(#seed: #ty));
                        vec![seed]
                    }
                    _ => {
                        self.declarations.push(quote!(#seed: [#ty; #width]));
                        let names: Vec<Ident> = (0..width).map(|i| local("seed", i)).collect();
                        self.setup.push(quote!(let [#(#names),*] = #seed;));
                        names
                    }
                };
                self.outcome.by_sum = !float && width == 1;
                if self.outcome.by_sum {
                    // The derivative of such a result may be in memory that does not exist yet.
                    let (seed, kept) = (&seeds[0], local("seed", 0));
                    self.setup.push(quote!(let #kept = #seed;));
                } else {
                    if !float {
                        self.setup
                            .push(quote!(::zymase::__private::owns_nothing::<#ty>();));
                    }
                    let places: Vec<_> = seeds.iter().map(|s| self.place(&quote!(#s))).collect();
                    let places: Vec<_> = places.iter().map(|p| quote!(&raw mut #p)).collect();
                    self.ask(word, quote!(&raw mut #out), &places);
                }
                if wants_primal {
                    self.outcome.types.insert(0, quote!(#ty));
                    self.outcome.values.insert(0, quote!(#out.assume_init()));
                } else {
                    self.outcome.dropped = quote!(drop(#out.assume_init()););
                }
            }
            (_, Mode::Forward) => {
                let places = tangents(self);
                let addresses: Vec<_> = places.iter().map(|p| quote!(&raw mut #p)).collect();
                let read = |place: &Ident| match float {
                    true => quote!(#place.assume_init()),
                    false => {
                        quote!(#differentiable::adopt_shadow(&*#out.as_ptr(), #place.as_ptr()))
                    }
                };
                let mut values: Vec<_> = places.iter().map(read).collect();
                // Only the tangent of a bare number can be read without the number.
                let needed = Word {
                    activity: match float {
                        true => word.activity,
                        false => Activity::Dual,
                    },
                    span: word.span,
                };
                self.ask(&needed, quote!(&raw mut #out), &addresses);
                match wants_primal {
                    true => values.insert(0, quote!(#out.assume_init())),
                    false if float => {}
                    // The result was computed all the same, and may own memory.
                    false => self.outcome.dropped = quote!(drop(#out.assume_init());),
                }
                self.tangents(ty, values);
            }
        }
    }

    /// A result in forward mode: one value, a pair, or an array.
    fn tangents(&mut self, ty: &Type, values: Vec<TokenStream>) {
        let count = values.len();
        let names: Vec<Ident> = (0..count).map(|i| local("value", i)).collect();
        // Tangents are read before the primal result is moved out of its place.
        let order = (0..count).rev().map(|i| {
            let (name, value) = (&names[i], &values[i]);
            quote!(let #name = #value;)
        });
        let order: Vec<_> = order.collect();
        let (ty, value) = match (count, self.words.width) {
            (1, _) => (quote!(#ty), quote!(#(#names)*)),
            (2, 1) => (quote!((#ty, #ty)), quote!((#(#names),*))),
            _ => (quote!([#ty; #count]), quote!([#(#names),*])),
        };
        let dropped = &self.outcome.dropped;
        let value = quote!({ #(#order)* #dropped #value });
        self.outcome.types.push(ty);
        self.outcome.values.push(value);
    }
}

fn is_float(ty: &Type) -> bool {
    matches!(peel(ty), Type::Path(path) if path.path.is_ident("f64") || path.path.is_ident("f32"))
}
