//! `#[derivative(…)]`: a function whose derivatives are given by other functions.
//!
//! The linker wants the functions of a rule to take, after each pointer, its shadow; so each is a
//! thunk around the function that the program gives, which takes references and numbers.
//!
//! A rule of one function, a pullback that takes what the function took, has no augmented function of
//! the program: the thunk calls the function, and keeps copies of memory that may be overwritten.

use crate::activity::{Activity, Mode, Word};
use crate::forms::{Form, peel};
use crate::function::{Function, Parameter};
use crate::wrapped::{Wrapper, Written, refused};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::token::Paren;
use syn::{Error, LitByteStr, Path, Result, Token, Type};

/// The function, which now comes with its derivatives.
pub fn derivative(words: TokenStream, function: TokenStream) -> TokenStream {
    let written = expand(words, function.clone());
    written.unwrap_or_else(|complaint| refused(function, complaint))
}

fn expand(words: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let words = (|input: ParseStream| Words::parse(input)).parse2(words)?;
    let written: Written = syn::parse2(function.clone())?;
    let function: Function = syn::parse2(function)?;
    let count = function.parameters.len() + usize::from(function.result.is_some());
    if words.activities.len() != count {
        let found = words.activities.len();
        let last = words
            .activities
            .last()
            .map_or(words.start, |word| word.span);
        let message = format!(
            "`{}` needs {count} activities, for its parameters and its result, but {found} are given",
            function.name
        );
        return Err(Error::new(last, message));
    }
    for (parameter, word) in function.parameters.iter().zip(&words.activities) {
        word.check_parameter(&parameter.form, 1)?;
        if word.activity != Activity::Const && matches!(parameter.form, Form::Fat { .. }) {
            let message =
                "a rule can handle references to types with a size and slices: write `Const`";
            return Err(Error::new(word.span, message));
        }
    }
    if let (Some(ty), Some(word)) = (&function.result, words.activities.get(count - 1)) {
        word.check_result(peel(ty))?;
    }
    let rule = Rule::new(&function, &words);
    let thunks = rule.thunks();
    let text = LitByteStr::new(rule.text().as_bytes(), Span::call_site());
    let more = quote! {
        , augmented, gradient, tangent, #text as *const _ as *const ()
    };
    let call = quote!(::zymase::__private::call_with_rule);
    let setup = quote_spanned!(Span::mixed_site()=> #thunks);
    let more = at_mixed_site(more);
    Ok(Wrapper::new(&written, function).around_with(call, more, setup))
}

fn at_mixed_site(tokens: TokenStream) -> TokenStream {
    let moved = tokens.into_iter().map(|mut token| {
        token.set_span(token.span().resolved_at(Span::mixed_site()));
        token
    });
    moved.collect()
}

/// What stands in the parentheses.
struct Words {
    activities: Vec<Word>,
    forward: Option<Path>,
    reverse: Option<Reverse>,
    start: Span,
}

/// What a rule for reverse mode is made of.
enum Reverse {
    /// A function that keeps what the other needs.
    Pair(Path, Path),
    /// A function that finds what the function was given.
    Pullback(Path),
}

impl Words {
    fn parse(input: ParseStream) -> Result<Words> {
        let mut words = Words {
            activities: Vec::new(),
            forward: None,
            reverse: None,
            start: input.span(),
        };
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            if input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                words.rule(&word, input)?;
            } else {
                words.activities.push(Word::read(&word, Mode::Reverse)?);
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if words.forward.is_none() && words.reverse.is_none() {
            let message = "the rule is missing: write `reverse = pullback`, `reverse = (augmented, \
                           pullback)`, `forward = tangent`, or several of these";
            return Err(Error::new(words.start, message));
        }
        Ok(words)
    }

    fn rule(&mut self, word: &Ident, input: ParseStream) -> Result<()> {
        if word == "forward" {
            self.forward = Some(input.parse()?);
            return Ok(());
        }
        if word != "reverse" {
            let message = "a rule is `forward = tangent`, `reverse = pullback` or `reverse = \
                           (augmented, pullback)`";
            return Err(Error::new(word.span(), message));
        }
        if !input.peek(Paren) {
            self.reverse = Some(Reverse::Pullback(input.parse()?));
            return Ok(());
        }
        let inside;
        let parentheses = syn::parenthesized!(inside in input);
        let paths = Punctuated::<Path, Token![,]>::parse_terminated(&inside)?;
        let paths: Vec<Path> = paths.into_iter().collect();
        let Ok([augmented, pullback]) = <[Path; 2]>::try_from(paths) else {
            let message = "in parentheses there are two functions: `(augmented, pullback)`";
            return Err(Error::new(parentheses.span.join(), message));
        };
        self.reverse = Some(Reverse::Pair(augmented, pullback));
        Ok(())
    }
}

/// The parts of the thunks.
struct Rule<'a> {
    function: &'a Function,
    words: &'a Words,
    /// What all thunks take.
    names: Vec<Ident>,
    types: Vec<TokenStream>,
    /// The activity of each, for the linker.
    activities: Vec<&'static str>,
    /// The arguments of the function.
    primals: Vec<TokenStream>,
    /// The arguments of the tangent, and of the pullback behind its tape.
    of_tangent: Vec<TokenStream>,
    of_pullback: Vec<TokenStream>,
    /// Before the pullback: shadows, or memory in their place.
    shadows: Vec<TokenStream>,
    /// After the pullback: where the derivatives of numbers go.
    numbers: Vec<Ident>,
    /// For a pullback that finds what the function was given: what is kept of each parameter, and
    /// how it is found again. Parameters to write to have nothing to be found.
    kept: Vec<TokenStream>,
    again: Vec<TokenStream>,
    /// The arguments of such a pullback.
    given: Vec<TokenStream>,
}

impl<'a> Rule<'a> {
    fn new(function: &'a Function, words: &'a Words) -> Rule<'a> {
        let mut rule = Rule {
            function,
            words,
            names: Vec::new(),
            types: Vec::new(),
            activities: Vec::new(),
            primals: Vec::new(),
            of_tangent: Vec::new(),
            of_pullback: Vec::new(),
            shadows: Vec::new(),
            numbers: Vec::new(),
            kept: Vec::new(),
            again: Vec::new(),
            given: Vec::new(),
        };
        for (index, parameter) in function.parameters.iter().enumerate() {
            rule.parameter(index, parameter, words.activities[index].activity);
        }
        rule
    }

    /// Whether the rule is a pullback that finds what the function was given.
    fn borrows(&self) -> bool {
        matches!(self.words.reverse, Some(Reverse::Pullback(_)))
    }

    fn takes(&mut self, name: &Ident, ty: TokenStream, activity: &'static str) {
        self.names.push(name.clone());
        self.types.push(ty);
        self.activities.push(activity);
    }

    fn parameter(&mut self, index: usize, parameter: &Parameter, activity: Activity) {
        let (p, d, n) = (local("p", index), local("d", index), local("n", index));
        let ty = &parameter.ty;
        let constant = activity == Activity::Const;
        let mark = match (&parameter.form, self.borrows()) {
            (_, false) | (Form::Pointer { .. } | Form::FnPointer(_), _) => "",
            (form, _) if form.is_mutable() => "!",
            _ => "&",
        };
        let word = match (constant, mark) {
            (true, "&") => "const&",
            (true, "!") => "const!",
            (true, _) => "const",
            (false, "&") => "dup&",
            (false, "!") => "dup!",
            (false, _) => "dup",
        };
        // Its bit in what the linker says of memory that may be overwritten.
        let position = self.activities.iter().filter(|word| !word.is_empty());
        let position = position.count() as u32;
        let private = quote!(::zymase::__private);
        let elem = parameter.form.pointee();
        // The value, the shadow to read from, and the shadow to write to.
        let (primal, tangent, shadow) = match &parameter.form {
            Form::Slice { mutable, .. } => {
                self.takes(&p, quote!(*mut #elem), word);
                self.takes(&d, quote!(*mut #elem), "");
                self.takes(&n, quote!(usize), "const");
                let from = match mutable {
                    true => quote!(::core::slice::from_raw_parts_mut(#p, #n)),
                    false => quote!(::core::slice::from_raw_parts(#p, #n)),
                };
                let scratch = local("scratch", index);
                let shadow = quote!(#private::slice_or(#p, #d, #n, &mut #scratch));
                self.shadows
                    .push(quote!(let mut #scratch = ::std::vec::Vec::new();));
                (from, shadow.clone(), shadow)
            }
            Form::Thin { mutable, .. } => {
                self.takes(&p, quote!(*mut #elem), word);
                self.takes(&d, quote!(*mut #elem), "");
                let from = match mutable {
                    true => quote!(&mut *#p),
                    false => quote!(&*#p),
                };
                let scratch = local("scratch", index);
                let shadow = quote!(#private::value_or(#p, #d, &mut #scratch));
                self.shadows
                    .push(quote!(let mut #scratch = ::core::option::Option::None;));
                (from, shadow.clone(), shadow)
            }
            Form::Pointer { .. } | Form::FnPointer(_) => {
                self.takes(&p, quote!(#ty), word);
                self.takes(&d, quote!(#ty), "");
                (quote!(#p), quote!(#d), quote!(#d))
            }
            Form::Fat { .. } | Form::Value(_) => {
                self.takes(&p, quote!(*mut #ty), word);
                self.takes(&d, quote!(*mut #ty), "");
                let tangent = quote!(#private::tangent_of(#p, #d));
                (quote!(#p.read()), tangent, quote!())
            }
        };
        if !parameter.form.is_mutable() {
            self.keep(index, &parameter.form, &primal, position);
        }
        match activity {
            Activity::Const | Activity::Active => {}
            _ => self.given.push(shadow.clone()),
        }
        self.of_tangent.push(primal.clone());
        if !constant {
            self.of_tangent.push(tangent);
            match activity {
                Activity::Active => self.numbers.push(d),
                _ => self.of_pullback.push(shadow),
            }
        } else if matches!(parameter.form, Form::Slice { .. } | Form::Thin { .. }) {
            self.shadows.pop();
        }
        self.primals.push(primal);
    }

    /// What is kept of a parameter that the function does not write to.
    fn keep(&mut self, index: usize, form: &Form, primal: &TokenStream, position: u32) {
        let (kept, again) = (local("kept", index), local("again", index));
        let private = quote!(::zymase::__private);
        let overwritten = local("overwritten", 0);
        let (keep, found) = match form {
            Form::Slice { .. } => (
                quote!(#private::keep_slice(#primal, #overwritten, #position)),
                quote!(let #again = #private::slice_again(&#kept, #primal);),
            ),
            Form::Thin { .. } => (
                quote!(#private::keep_value(#primal, #overwritten, #position)),
                quote!(let #again = #private::value_again(&#kept, #primal);),
            ),
            Form::Fat { .. } | Form::Value(_) => {
                (quote!(#private::keep(#primal)), quote!(let #again = #kept;))
            }
            Form::Pointer { .. } | Form::FnPointer(_) => (
                quote!(()),
                quote!(let #again = { let () = #kept; #primal };),
            ),
        };
        self.kept
            .push(quote_spanned!(Span::mixed_site()=> let #kept = #keep;));
        self.again.push(found);
        self.given.push(quote!(#again));
    }

    /// The name of the function and the activities of its thunk.
    fn text(&self) -> String {
        let mut words: Vec<&str> = self.activities.clone();
        words.retain(|word| !word.is_empty());
        if self.function.result.is_some() {
            words.push(match (self.active_result(), self.borrows()) {
                (true, false) => "dup",
                (true, true) => "dup!",
                (false, false) => "const",
                (false, true) => "const!",
            });
        }
        format!("{};{}\0", self.function.name, words.join(","))
    }

    fn active_result(&self) -> bool {
        let word = self.words.activities.last();
        self.function.result.is_some() && word.is_some_and(|w| w.activity != Activity::Const)
    }

    /// The thunks `augmented`, `gradient` and `tangent`, each an address or zero.
    fn thunks(&self) -> TokenStream {
        let reverse = match &self.words.reverse {
            Some(Reverse::Pair(augmented, pullback)) => self.reverse(augmented, pullback),
            Some(Reverse::Pullback(pullback)) => self.pullback(pullback),
            None => quote_spanned! {Span::mixed_site()=>
                let (augmented, gradient) = (0 as *const (), 0 as *const ());
            },
        };
        let forward = match &self.words.forward {
            Some(tangent) => self.forward(tangent),
            None => quote_spanned!(Span::mixed_site()=> let tangent = 0 as *const ();),
        };
        quote!(#reverse #forward)
    }

    /// Names and types of what thunks take; memory for the result and its shadow come last.
    fn signature(&self) -> (Vec<Ident>, Vec<TokenStream>) {
        let (mut names, mut types) = (self.names.clone(), self.types.clone());
        if let Some(ty) = &self.function.result {
            names.extend([local("out", 0), local("out", 1)]);
            types.extend([quote!(*mut #ty), quote!(*mut #ty)]);
        }
        (names, types)
    }

    fn reverse(&self, augmented: &Path, pullback: &Path) -> TokenStream {
        let (names, types) = self.signature();
        let out = local("out", 0);
        let (primals, shadows) = (&self.primals, &self.shadows);
        let mut passed = self.of_pullback.clone();
        let keep = match self.function.result {
            Some(_) => quote_spanned! {Span::mixed_site()=>
                let (result, tape) = #augmented(#(#primals),*);
                #out.write(result);
            },
            None => quote_spanned!(Span::mixed_site()=> let tape = #augmented(#(#primals),*);),
        };
        let seed = self.seed(&mut passed);
        let (returned, add) = self.returned();
        // Never called: what one keeps is what the other takes, and if not, that one is to blame.
        let span = pullback.span().resolved_at(Span::mixed_site());
        let same = quote_spanned! {span=>
            let _ = |#(#names),*| gradient(#(#names,)* augmented(#(#names),*));
        };
        quote_spanned! {Span::mixed_site()=>
            let augmented: fn(#(#types),*) -> *mut _ = |#(#names),*| unsafe {
                #keep
                ::std::boxed::Box::into_raw(::std::boxed::Box::new(tape))
            };
            let gradient: fn(#(#types,)* *mut _) = |#(#names,)* tape| unsafe {
                let tape = *::std::boxed::Box::from_raw(tape);
                #(#shadows)*
                #seed
                let #returned = #pullback(tape #(, #passed)*);
                #add
            };
            #same
            let (augmented, gradient) = (augmented as *const (), gradient as *const ());
        }
    }

    /// The thunks of a pullback that finds what the function was given.
    fn pullback(&self, pullback: &Path) -> TokenStream {
        let (names, types) = self.signature();
        let (out, overwritten) = (local("out", 0), local("overwritten", 0));
        let (primals, shadows) = (&self.primals, &self.shadows);
        let (keep, again) = (&self.kept, &self.again);
        let kept = keep_names(&self.function.parameters);
        let (name, turbofish) = (&self.function.name, &self.function.turbofish);
        let function = match self.function.associated {
            true => quote!(Self::#name #turbofish),
            false => quote!(#name #turbofish),
        };
        let call = match self.function.result {
            Some(_) => quote!(#out.write(#function(#(#primals),*));),
            None => quote!(#function(#(#primals),*);),
        };
        let mut passed = self.given.clone();
        let seed = self.seed(&mut passed);
        let (returned, add) = self.returned();
        quote_spanned! {Span::mixed_site()=>
            let augmented: fn(#(#types,)* u64) -> *mut _ = |#(#names,)* #overwritten| unsafe {
                #(#keep)*
                #call
                ::std::boxed::Box::into_raw(::std::boxed::Box::new((#(#kept,)*)))
            };
            let gradient: fn(#(#types,)* *mut _) = |#(#names,)* tape| unsafe {
                let (#(#kept,)*) = *::std::boxed::Box::from_raw(tape);
                #(#again)*
                #(#shadows)*
                #seed
                let #returned = #pullback(#(#passed),*);
                #add
            };
            let _ = |#(#names),*| gradient(#(#names,)* augmented(#(#names,)* 0));
            let (augmented, gradient) = (augmented as *const (), gradient as *const ());
        }
    }

    /// How a pullback gets the derivative of the result, which is its last argument.
    fn seed(&self, passed: &mut Vec<TokenStream>) -> TokenStream {
        if !self.active_result() {
            return quote!();
        }
        let (out, dout) = (local("out", 0), local("out", 1));
        let ty: Option<&Type> = self.function.result.as_ref();
        passed.push(quote_spanned!(Span::mixed_site()=> seed));
        quote_spanned! {Span::mixed_site()=>
            ::zymase::__private::owns_nothing::<#ty>();
            let seed = ::zymase::__private::take_seed(#out, #dout);
        }
    }

    /// What a pullback returns, and what is done with it.
    fn returned(&self) -> (TokenStream, TokenStream) {
        let numbers = &self.numbers;
        let values: Vec<Ident> = (0..numbers.len()).map(|i| local("derivative", i)).collect();
        let returned = match values.as_slice() {
            [] => quote!(()),
            [one] => quote!(#one),
            several => quote!((#(#several),*)),
        };
        let add = quote!(#(::zymase::__private::accumulate(#numbers, #values);)*);
        (returned, add)
    }

    fn forward(&self, tangent: &Path) -> TokenStream {
        let (names, types) = self.signature();
        let (out, dout) = (local("out", 0), local("out", 1));
        let (passed, shadows) = (&self.of_tangent, &self.shadows);
        let called = quote!(#tangent(#(#passed),*));
        let body = match (&self.function.result, self.active_result()) {
            (None, _) => quote!(#called),
            (Some(_), false) => quote!(#out.write(#called)),
            (Some(_), true) => quote_spanned! {Span::mixed_site()=>
                let (result, tangent) = #called;
                #out.write(result);
                ::zymase::__private::give_tangent(#dout, tangent);
            },
        };
        quote_spanned! {Span::mixed_site()=>
            let tangent: fn(#(#types),*) = |#(#names),*| unsafe {
                #(#shadows)*
                #body
            };
            let tangent = tangent as *const ();
        }
    }
}

/// What is kept of the parameters that a function does not write to.
fn keep_names(parameters: &[Parameter]) -> Vec<Ident> {
    let kept = parameters.iter().enumerate();
    let kept = kept.filter(|(_, parameter)| !parameter.form.is_mutable());
    kept.map(|(index, _)| local("kept", index)).collect()
}

fn local(name: &str, index: usize) -> Ident {
    format_ident!("{name}_{index}", span = Span::mixed_site())
}
