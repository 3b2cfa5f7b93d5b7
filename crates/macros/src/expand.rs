//! Writes the derivative beside its function: a safe function that checks its arguments, makes
//! places for values and results, and asks for the derivative of a thunk.

use crate::activity::{Activity, Mode, Word};
use crate::attribute::Words;
use crate::forms::{Form, peel};
use crate::function::{Function, Parameter};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::{Error, Result, Type};

/// The function as it is, and its derivative.
pub fn beside(mode: Mode, words: TokenStream, function: TokenStream) -> TokenStream {
    let derivative = derivative(mode, words, function.clone());
    let derivative = derivative.unwrap_or_else(|complaint| complaint.to_compile_error());
    quote!(#function #derivative)
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
            outcome: Outcome::default(),
        }
    }

    fn parameter(&mut self, parameter: &Parameter, word: &Word) {
        let Parameter { name, ty, .. } = parameter;
        self.declarations.push(parameter.declaration.clone());
        let shadows = self.shadow_names(name, word);
        for shadow in &shadows {
            let ty = shadow_type(parameter, self.mode);
            self.declarations.push(quote!(#shadow: #ty));
        }
        let inside = local("p", self.thunk_names.len());
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

    /// The result, which the thunk writes to a place of its own.
    fn result(&mut self, ty: &Type, word: &Word) {
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
                    false => quote!(#differentiable::from_shadow(&*#out.as_ptr(), #place.as_ptr())),
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

    /// A value in memory that its owner no longer drops: the thunk takes it from there.
    fn place(&mut self, value: &TokenStream) -> Ident {
        let place = local("place", self.setup.len());
        self.setup
            .push(quote!(let mut #place = ::core::mem::MaybeUninit::new(#value);));
        place
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
        let (_, _, clause) = generics.split_for_impl();
        let parameters = (!generics.params.is_empty()).then(|| {
            let parameters = &generics.params;
            quote!(<#parameters>)
        });
        let doc = format!(
            "The derivative of [`{}`]({}{}) in {}.",
            self.function.name,
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
                        |#(#names,)* result| unsafe { result.write(#called); };
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
                    ) = |#(#names,)* seed, result, sum| unsafe {
                        let value = #called;
                        *sum = #differentiable::dot(&value, seed);
                        result.write(value);
                    };
                    ::zymase::__private::#name(
                        thunk as *const () #(, #request)*,
                        #constant, &raw const #seed,
                        #dup, &raw mut #out, &raw mut shadow,
                        #dup, &raw mut sum, &raw mut one
                    );
                    // The shadow of what the result owns was made on the way, and is of no use now.
                    drop(#differentiable::from_shadow(&*#out.as_ptr(), shadow.as_ptr()));
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

fn is_float(ty: &Type) -> bool {
    matches!(peel(ty), Type::Path(path) if path.path.is_ident("f64") || path.path.is_ident("f32"))
}
