//! The parser's place in the tokens, and what is read the same way everywhere: words, numbers,
//! names, lists.

use super::lexer::{Token, TokenKind};
use super::parse_parts::word_literal;
use super::parser::{Definition, ParseError, narrow};
use crate::ir::{Loc, Scope, SourceType, Symbol, Tbaa};
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ParseError>;

/// A place in the tokens.
pub(super) struct Cursor<'t> {
    tokens: &'t [Token],
    position: usize,
    symbols: &'t HashMap<String, Symbol>,
    pub(super) references: References,
    /// How deep the type or constant is that is being read.
    pub(super) depth: u32,
}

/// The largest number of each table referred to, and where.
#[derive(Default)]
pub(super) struct References {
    pub(super) tbaa: Option<(u32, usize)>,
    pub(super) source: Option<(u32, usize)>,
    pub(super) scope: Option<(u32, usize)>,
    pub(super) loc: Option<(u32, usize)>,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(tokens: &'t [Token], symbols: &'t HashMap<String, Symbol>) -> Cursor<'t> {
        Cursor {
            tokens,
            position: 0,
            symbols,
            references: References::default(),
            depth: 0,
        }
    }

    pub(super) fn peek(&self) -> &'t TokenKind {
        self.peek_at(0)
    }

    /// The token after `ahead` others.
    pub(super) fn peek_at(&self, ahead: usize) -> &'t TokenKind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.position + ahead).min(last)].kind
    }

    pub(super) fn at_end(&self) -> bool {
        *self.peek() == TokenKind::End
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn go_to(&mut self, position: usize) {
        self.position = position;
    }

    pub(super) fn advance(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    /// Goes back by one token.
    pub(super) fn back(&mut self) {
        self.position -= 1;
    }

    /// An error at the token that is next.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.position, message)
    }

    pub(super) fn error_at(&self, position: usize, message: impl Into<String>) -> ParseError {
        let token = &self.tokens[position];
        ParseError {
            line: token.line,
            column: token.column,
            message: message.into(),
        }
    }

    pub(super) fn unexpected(&self, expected: &str) -> ParseError {
        self.error(format!("{expected} expected, found {}", self.peek()))
    }

    pub(super) fn is(&self, c: char) -> bool {
        *self.peek() == TokenKind::Punct(c)
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.is(c);
        if found {
            self.advance();
        }
        found
    }

    /// A colon right after the token before it: the type of a constant follows. With space before
    /// it, the type of the result does.
    pub(super) fn eat_tight_colon(&mut self) -> bool {
        !self.tokens[self.position].spaced && self.eat(':')
    }

    pub(super) fn expect(&mut self, c: char) -> Result<()> {
        match self.eat(c) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{c}`"))),
        }
    }

    pub(super) fn eat_ellipsis(&mut self) -> bool {
        let found = *self.peek() == TokenKind::Ellipsis;
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn eat_arrow(&mut self) -> bool {
        let found = *self.peek() == TokenKind::Arrow;
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn peek_word(&self) -> Option<&'t str> {
        match self.peek() {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        match self.eat_word(word) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    pub(super) fn word(&mut self) -> Result<String> {
        self.named("a word", |word| Some(word.to_string()))
    }

    /// A word that `find` knows.
    pub(super) fn named<T>(&mut self, what: &str, find: impl Fn(&str) -> Option<T>) -> Result<T> {
        let found = self.peek_word().and_then(find);
        let found = found.ok_or_else(|| self.unexpected(what))?;
        self.advance();
        Ok(found)
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let TokenKind::Text(text) = self.peek() else {
            return Err(self.unexpected("a text in quotes"));
        };
        self.advance();
        Ok(text.clone())
    }

    pub(super) fn symbol_name(&mut self) -> Result<String> {
        let TokenKind::Symbol(name) = self.peek() else {
            return Err(self.unexpected("a symbol"));
        };
        self.advance();
        Ok(name.clone())
    }

    pub(super) fn symbol(&mut self) -> Result<Symbol> {
        let name = self.symbol_name()?;
        self.symbols
            .get(&name)
            .copied()
            .ok_or_else(|| self.error_at(self.position - 1, format!("there is no @{name}")))
    }

    /// The digits of a number without sign.
    pub(super) fn digits(&mut self) -> Result<String> {
        let TokenKind::Number(digits) = self.peek() else {
            return Err(self.unexpected("a number"));
        };
        self.advance();
        Ok(digits.clone())
    }

    pub(super) fn integer<T: TryFrom<u128>>(&mut self) -> Result<T> {
        let at = self.position;
        let digits = self.digits()?;
        narrow(&digits).map_err(|message| self.error_at(at, message))
    }

    /// An integer after an optional minus.
    pub(super) fn signed(&mut self) -> Result<i64> {
        let negative = self.eat('-');
        self.signed_rest(negative)
    }

    /// The integer after its sign.
    pub(super) fn signed_rest(&mut self, negative: bool) -> Result<i64> {
        let n = i128::from(self.integer::<u64>()?);
        let n = if negative { -n } else { n };
        i64::try_from(n).map_err(|_| self.error_at(self.position - 1, format!("{n} is too large")))
    }

    /// Items with commas between, up to a closing character.
    pub(super) fn list(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(close) {
                return Ok(());
            }
            self.expect(',')?;
        }
    }

    /// Goes past a block in braces.
    pub(super) fn skip_braces(&mut self) -> Result<()> {
        if !self.is('{') {
            return Err(self.unexpected("`{`"));
        }
        let start = self.position;
        let mut depth = 0;
        loop {
            match self.peek() {
                TokenKind::Punct('{') => depth += 1,
                TokenKind::Punct('}') => depth -= 1,
                TokenKind::End => return Err(self.error_at(start, "a `{` without its `}`")),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// The name of a value where it is defined, if one is next.
    pub(super) fn definition(&mut self) -> Result<Option<Definition>> {
        match self.peek() {
            TokenKind::Name(name) => {
                self.advance();
                Ok(Some((format!("%{name}"), Some(name.clone()))))
            }
            TokenKind::Word(word) if is_value_number(word) => {
                self.advance();
                let mut name = None;
                if let TokenKind::Text(_) = self.peek() {
                    name = Some(self.text()?);
                }
                Ok(Some((word.clone(), name)))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn tbaa(&mut self) -> Result<Tbaa> {
        let at = self.position;
        let number = self.entity()?;
        self.references.tbaa = self.references.tbaa.max(Some((number, at)));
        Ok(Tbaa::from_u32(number))
    }

    pub(super) fn source(&mut self) -> Result<SourceType> {
        let at = self.position;
        let number = self.entity()?;
        self.references.source = self.references.source.max(Some((number, at)));
        Ok(SourceType::from_u32(number))
    }

    pub(super) fn scope(&mut self) -> Result<Scope> {
        let at = self.position;
        let number = self.entity()?;
        self.references.scope = self.references.scope.max(Some((number, at)));
        Ok(Scope::from_u32(number))
    }

    pub(super) fn loc(&mut self) -> Result<Loc> {
        let at = self.position;
        let number = self.entity()?;
        self.references.loc = self.references.loc.max(Some((number, at)));
        Ok(Loc::from_u32(number))
    }

    /// A number that an entity can have; the largest is reserved.
    pub(super) fn entity(&mut self) -> Result<u32> {
        let number: u32 = self.integer()?;
        match number {
            u32::MAX => Err(self.error_at(self.position - 1, "the number is too large")),
            _ => Ok(number),
        }
    }

    /// Whether an operand is `ahead` tokens away: not a clause, and not the definition that begins
    /// the next instruction.
    pub(super) fn is_operand(&self, ahead: usize) -> bool {
        let defines = || {
            let next = self.peek_at(ahead + 1);
            matches!(next, TokenKind::Punct('=') | TokenKind::Text(_))
        };
        match self.peek_at(ahead) {
            TokenKind::Word(word) if is_value_number(word) => !defines(),
            TokenKind::Word(word) => word_literal(word).is_some(),
            TokenKind::Name(_) => !defines(),
            TokenKind::Number(_) | TokenKind::Symbol(_) => true,
            TokenKind::Punct('-' | '(' | '{') => true,
            _ => false,
        }
    }
}

/// Whether a word is the number of a value, such as `v12`.
pub(super) fn is_value_number(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or("");
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The name of a flag for its lower-case word.
pub(super) fn lower_case(word: &str) -> Option<String> {
    let lower = word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    lower.then(|| word.to_uppercase())
}
