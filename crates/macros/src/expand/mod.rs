//! Writes the derivative beside its function: a safe function that checks its arguments, makes
//! places for values and results, and asks for the derivative of a thunk.

mod parameters;
mod result;

use crate::activity::{Activity, Mode, Word};
use crate::attribute::Words;
use crate::forms::peel;
use crate::function::Function;
use crate::wrapped::refused;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::{Error, Result, Type, parse_quote};

/// The function as it is, and its derivative.
pub fn beside(mode: Mode, words: TokenStream, function: TokenStream) -> TokenStream {
    match derivative(mode, words, function.clone()) {
        Ok(derivative) => quote!(#function #derivative),
        Err(complaint) => refused(function, complaint),
    }
}

fn derivative(mode: Mode, words: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let words = Words::read(mode, words)?;
    let function: Function = syn::parse2(function)?;
    let (activities, result) = assign(&words, &function)?;
    let mut writer = Writer::new(mode, &words, &function);
    for (parameter, word) in function.parameters.iter().zip(activities) {
        word.check_parameter(&parameter.form, words.width)?;
        writer.parameter(parameter, word);
    }
    if let (Some(ty), Some(word)) = (&function.result, result) {
        word.check_result(peel(ty))?;
        writer.result(ty, word);
    }
    Ok(writer.finish())
}

/// Which activity belongs to which parameter, and which to the result.
fn assign<'a>(words: &'a Words, function: &Function) -> Result<(&'a [Word], Option<&'a Word>)> {
    let count = function.parameters.len();
    let has_result = function.result.is_some();
    let expected = count + usize::from(has_result);
    let found = words.activities.len();
    let name = &function.name;
    if let Some(surplus) = words.activities.get(expected) {
        let what = match has_result {
            true => "its parameters and its result have",
            false => "its parameters have",
        };
        let message = format!(
            "`{name}` has no place for this activity: {what} {expected}, but {found} are given"
        );
        return Err(Error::new(surplus.span, message));
    }
    if found < expected {
        let missing = match found < count {
            true => format!("parameter `{}`", function.parameters[found].name),
            false => "result".to_string(),
        };
        let message = format!(
            "the activity of the {missing} of `{name}` is missing: {expected} are needed, {found} \
             are given"
        );
        return Err(Error::new(words.end, message));
    }
    Ok((&words.activities[..count], words.activities.get(count)))
}

/// Collects the parts of the derivative.
struct Writer<'a> {
    mode: Mode,
    words: &'a Words,
    function: &'a Function,
    /// Parameters of the derivative.
    declarations: Vec<TokenStream>,
    /// What is checked and prepared before the request.
    setup: Vec<TokenStream>,
    /// The thunk: types and names of its parameters, and what it passes on.
    thunk_types: Vec<TokenStream>,
    thunk_names: Vec<Ident>,
    passed: Vec<TokenStream>,
    /// The words of the request.
    request: Vec<TokenStream>,
    /// Whether `self` has a shadow.
    shadows_self: bool,
    outcome: Outcome,
}

/// What the derivative returns, and what the thunk does with the result of the function.
#[derive(Default)]
struct Outcome {
    /// The primal result, then derivatives of active inputs.
    types: Vec<TokenStream>,
    values: Vec<TokenStream>,
    /// The type of the result of the function, where it has one.
    result: Option<Type>,
    /// The trait of that type, at its activity.
    differentiable: TokenStream,
    /// The result may own memory, and then has to be seeded through a sum.
    by_sum: bool,
    /// Drops a result that nobody wants.
    dropped: TokenStream,
}

impl<'a> Writer<'a> {
    fn new(mode: Mode, words: &'a Words, function: &'a Function) -> Writer<'a> {
        let mut request = Vec::new();
        if words.width > 1 {
            let width = words.width as i32;
            request.push(marker("enzyme_width"));
            request.push(quote!(#width));
        }
        Writer {
            mode,
            words,
            function,
            declarations: Vec::new(),
            setup: Vec::new(),
            thunk_types: Vec::new(),
            thunk_names: Vec::new(),
            passed: Vec::new(),
            request,
            shadows_self: false,
            outcome: Outcome::default(),
        }
    }
    /// Returns a derivative: one value, or one for each of several derivatives at once.
    fn returns(&mut self, ty: &Type, values: Vec<TokenStream>) {
        let count = values.len();
        let (ty, value) = match count {
            1 => (quote!(#ty), values[0].clone()),
            _ => (quote!([#ty; #count]), quote!([#(#values),*])),
        };
        self.outcome.types.push(ty);
        self.outcome.values.push(value);
    }

    fn ask(&mut self, word: &Word, primal: TokenStream, shadows: &[TokenStream]) {
        self.request.push(marker(match word.activity {
            Activity::Const => "enzyme_const",
            Activity::Active | Activity::Duplicated | Activity::Dual | Activity::Dualv => {
                "enzyme_dup"
            }
            _ => "enzyme_dupnoneed",
        }));
        self.request.push(primal);
        self.request.extend(shadows.iter().cloned());
    }

    /// A value in memory that its owner no longer drops: the thunk takes it from there.
    fn place(&mut self, value: &TokenStream) -> Ident {
        let place = local("place", self.setup.len());
        self.setup
            .push(quote!(let mut #place = ::core::mem::MaybeUninit::new(#value);));
        place
    }

    /// A name that no parameter of the function has.
    fn fresh(&self, name: &str) -> Ident {
        let mut name = format_ident!("{name}");
        while self.function.parameters.iter().any(|p| p.name == name) {
            name = format_ident!("{name}_");
        }
        name
    }

    fn finish(self) -> TokenStream {
        let Function {
            conditions,
            visibility,
            generics,
            ..
        } = self.function;
        let (name, declarations) = (&self.words.name, &self.declarations);
        let (setup, outcome) = (&self.setup, &self.outcome.types);
        let values = &self.outcome.values;
        let output = match outcome.as_slice() {
            [] => quote!(),
            [one] => quote!(-> #one),
            several => quote!(-> (#(#several),*)),
        };
        let value = match values.as_slice() {
            [] => quote!(),
            [one] => quote!(#one),
            several => quote!((#(#several),*)),
        };
        let unsafety = self.function.is_unsafe.then(|| quote!(unsafe));
        let (guard, use_guard) = self.guard();
        let asked = self.asked();
        let mut generics = generics.clone();
        if self.shadows_self {
            // A shadow of `self` has its type, which is none that a trait object knows.
            generics
                .make_where_clause()
                .predicates
                .push(parse_quote!(Self: Sized));
        }
        let (_, _, clause) = generics.split_for_impl();
        let parameters = (!generics.params.is_empty()).then(|| {
            let parameters = &generics.params;
            quote!(<#parameters>)
        });
        let doc = format!(
            "The derivative of [`{}{}`] in {}.",
            if self.associated() { "Self::" } else { "" },
            self.function.name,
            self.mode.name()
        );
        quote! {
            #guard
            #[doc = #doc]
            #(#conditions)*
            #[allow(
                clippy::all,
                non_snake_case,
                unused_mut,
                unused_unsafe,
                unused_variables,
                unsafe_op_in_unsafe_fn
            )]
            #[track_caller]
            #visibility #unsafety fn #name #parameters (#(#declarations),*) #output #clause {
                #use_guard
                #(#setup)*
                #asked
                unsafe { #value }
            }
        }
    }

    fn associated(&self) -> bool {
        self.function.associated || self.words.associated
    }

    /// A free function is called by its bare name. If it is in truth a function of a type, that
    /// name may be somebody else's; then a constant beside it is not found, and nothing compiles.
    fn guard(&self) -> (TokenStream, TokenStream) {
        if self.associated() {
            return (quote!(), quote!());
        }
        let name = &self.words.name;
        let conditions = &self.function.conditions;
        let guard = format_ident!(
            "{name}_is_a_function_of_a_type__so_write_Self_{name}",
            span = name.span()
        );
        (
            quote! {
                #(#conditions)*
                #[doc(hidden)]
                #[allow(dead_code, non_upper_case_globals, non_snake_case)]
                const #guard: () = ();
            },
            quote!(let () = #guard;),
        )
    }

    /// The request itself.
    fn asked(&self) -> TokenStream {
        let out = format_ident!("out", span = Span::mixed_site());
        let (types, names) = (&self.thunk_types, &self.thunk_names);
        let (request, passed) = (&self.request, &self.passed);
        let (function, turbofish) = (&self.function.name, &self.function.turbofish);
        let path = match self.associated() {
            true => quote!(Self::#function),
            false => quote!(#function),
        };
        let called = quote!(#path #turbofish(#(#passed),*));
        let name = match self.mode {
            Mode::Forward => format_ident!("fwddiff"),
            Mode::Reverse => format_ident!("autodiff"),
        };
        let span = self.words.name.span().resolved_at(Span::mixed_site());
        let [result, value, given, sum] = ["result", "value", "seed", "sum"].map(|name| {
            let mut name = self.fresh(name);
            name.set_span(span);
            name
        });
        let Some(ty) = &self.outcome.result else {
            return quote_spanned! {span=>
                unsafe {
                    let thunk: fn(#(#types),*) = |#(#names),*| unsafe { #called; };
                    ::zymase::__private::#name(thunk as *const () #(, #request)*);
                }
            };
        };
        let direct = |more: TokenStream| {
            quote_spanned! {span=>
                unsafe {
                    let thunk: fn(#(#types,)* &mut ::core::mem::MaybeUninit<#ty>) =
                        |#(#names,)* #result| unsafe { #result.write(#called); };
                    ::zymase::__private::#name(thunk as *const () #(, #request)* #more);
                }
            }
        };
        if !self.outcome.by_sum {
            return direct(quote!());
        }
        let (dup, dropped) = (marker("enzyme_dup"), &self.outcome.dropped);
        let differentiable = &self.outcome.differentiable;
        let constant = marker("enzyme_const");
        let (seed, place) = (local("seed", 0), local("seed_place", 0));
        let seeded = direct(quote!(, #dup, &raw mut #out, &raw mut #place));
        quote_spanned! {span=>
            if #differentiable::OWNS_MEMORY {
                let (mut sum, mut one) = (0.0f64, 1.0f64);
                let mut shadow = ::core::mem::MaybeUninit::<#ty>::zeroed();
                unsafe {
                    let thunk: fn(
                        #(#types,)*
                        &#ty,
                        &mut ::core::mem::MaybeUninit<#ty>,
                        &mut f64,
                    ) = |#(#names,)* #given, #result, #sum| unsafe {
                        let #value = #called;
                        *#sum = #differentiable::dot(&#value, #given);
                        #result.write(#value);
                    };
                    ::zymase::__private::#name(
                        thunk as *const () #(, #request)*,
                        #constant, &raw const #seed,
                        #dup, &raw mut #out, &raw mut shadow,
                        #dup, &raw mut sum, &raw mut one
                    );
                    // The shadow of what the result owns was made on the way, and is of no use now.
                    drop(#differentiable::adopt_shadow(&*#out.as_ptr(), shadow.as_ptr()));
                    ::zymase::__private::check_seed(&*#out.as_ptr(), &#seed);
                    #dropped
                }
            } else {
                let mut #place = ::core::mem::MaybeUninit::new(#seed);
                #seeded
            }
        }
    }
}

/// The address of a marker; its value could be torn from the request by checks of debug builds.
fn marker(name: &str) -> TokenStream {
    let name = format_ident!("{name}");
    quote!(&raw const ::zymase::__private::#name)
}

/// Fails to compile, at the activity, if the type has no derivative.
fn must_have_derivative(ty: &Type, word: &Word) -> TokenStream {
    let differentiable = differentiable(ty, word);
    quote_spanned!(word.span=> let _ = #differentiable::OWNS_MEMORY;)
}

/// The trait of a type, all of it at the activity: that is where to complain if there is none.
fn differentiable(ty: &Type, word: &Word) -> TokenStream {
    let ty = at(word.span, quote!(#ty));
    quote_spanned!(word.span=> <#ty as ::zymase::Differentiable>)
}

/// The same tokens at another place.
fn at(span: Span, tokens: TokenStream) -> TokenStream {
    let moved = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), at(span, group.stream())).into();
        }
        token.set_span(token.span().located_at(span));
        token
    });
    moved.collect()
}

/// A name that no name of the program can be confused with.
fn local(name: &str, index: usize) -> Ident {
    format_ident!("{name}_{index}", span = Span::mixed_site())
}
