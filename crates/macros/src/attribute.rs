//! What stands in the parentheses of an attribute: a name, perhaps a width, and activities.

use crate::activity::{Mode, Word};
use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Error, LitInt, Result, Token};

/// The words of an attribute.
pub struct Words {
    /// The name of the new function.
    pub name: Ident,
    /// Whether the name was given as `Self::name`.
    pub associated: bool,
    /// How many derivatives at once.
    pub width: u32,
    /// The activities of parameters, then that of the result.
    pub activities: Vec<Word>,
    /// Where to complain if there are too few.
    pub end: Span,
}

impl Words {
    /// Reads the words; every complaint is about one of them.
    pub fn read(mode: Mode, tokens: TokenStream) -> Result<Words> {
        let parser = |input: ParseStream| Words::parse(mode, input);
        parser.parse2(tokens)
    }

    fn parse(mode: Mode, input: ParseStream) -> Result<Words> {
        if input.is_empty() {
            let message = format!(
                "the name of the derivative is missing: write `#[{}(df, …)]`",
                mode.attribute()
            );
            return Err(Error::new(Span::call_site(), message));
        }
        let associated = input.peek(Token![Self]);
        if associated {
            input.parse::<Token![Self]>()?;
            input.parse::<Token![::]>()?;
        }
        let name: Ident = input.parse()?;
        let mut words = Words {
            associated,
            width: 1,
            activities: Vec::new(),
            end: name.span(),
            name,
        };
        let mut first = true;
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            if input.peek(LitInt) {
                let width: LitInt = input.parse()?;
                if !first {
                    let message = "the width stands right after the name of the derivative";
                    return Err(Error::new(width.span(), message));
                }
                words.width = match width.base10_parse() {
                    Ok(0) | Err(_) => {
                        let message =
                            "the width is how many derivatives are computed at once: 1 or more";
                        return Err(Error::new(width.span(), message));
                    }
                    Ok(width) => width,
                };
            } else {
                let word: Ident = input.parse()?;
                words.end = word.span();
                words.activities.push(Word::read(&word, mode)?);
            }
            first = false;
        }
        Ok(words)
    }
}
