//! The parser's place in the tokens, and what is read the same way everywhere: types, attributes,
//! constants.

use super::constants::Literal;
use super::lexer::{Token, TokenKind};
use super::parser::{Definition, ParseError, narrow};
use crate::ir::{
    AllocInfo, AllocKind, FloatKind, FnAttrs, FnFlags, Loc, MemoryEffects, ModRef, ParamAttrs,
    ParamFlags, Scope, Signature, Symbol, Tbaa, Type, TypeKind,
};
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ParseError>;

/// A place in the tokens.
pub(super) struct Cursor<'t> {
    tokens: &'t [Token],
    position: usize,
    symbols: &'t HashMap<String, Symbol>,
    pub(super) references: References,
    /// How deep the type or constant is that is being read.
    depth: u32,
}

/// How deep types and constants may nest; the parser recurses into them.
const MAX_DEPTH: u32 = 200;

/// The largest number of each table referred to, and where.
#[derive(Default)]
pub(super) struct References {
    pub(super) tbaa: Option<(u32, usize)>,
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

    /// Reads something that may contain its like.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.error("this nests too deep"));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    pub(super) fn ty(&mut self) -> Result<Type> {
        self.nested(Self::ty_inside)
    }

    fn ty_inside(&mut self) -> Result<Type> {
        if self.eat('<') {
            if self.eat('{') {
                let fields = self.fields()?;
                self.expect('>')?;
                return Ok(Type::new(TypeKind::Struct {
                    fields,
                    packed: true,
                }));
            }
            let lanes = self.integer()?;
            self.expect_word("x")?;
            let element = self.ty()?;
            self.expect('>')?;
            return Ok(Type::vector(element, lanes));
        }
        if self.eat('[') {
            let len = self.integer()?;
            self.expect_word("x")?;
            let element = self.ty()?;
            self.expect(']')?;
            return Ok(Type::array(element, len));
        }
        if self.eat('{') {
            return Ok(Type::structure(self.fields()?));
        }
        let simple = self.named("a type", simple_type)?;
        if simple == Type::ptr() && self.eat('(') {
            let space = self.integer()?;
            self.expect(')')?;
            return Ok(Type::new(TypeKind::Ptr(space)));
        }
        if let TypeKind::Opaque(_) = simple.kind() {
            return Ok(Type::new(TypeKind::Opaque(self.text()?)));
        }
        Ok(simple)
    }

    fn fields(&mut self) -> Result<Vec<Type>> {
        let mut fields = Vec::new();
        self.list('}', |cursor| {
            fields.push(cursor.ty()?);
            Ok(())
        })?;
        Ok(fields)
    }

    /// A signature, such as `(ptr, ...) -> f64`.
    pub(super) fn signature(&mut self) -> Result<Signature> {
        let mut sig = Signature::new(Vec::new(), Type::void());
        self.expect('(')?;
        self.list(')', |cursor| {
            if sig.variadic {
                return Err(cursor.error("`...` must be the last parameter"));
            }
            if cursor.eat_ellipsis() {
                sig.variadic = true;
            } else {
                sig.params.push(cursor.ty()?);
            }
            Ok(())
        })?;
        if self.eat_arrow() {
            sig.ret = self.ty()?;
        }
        Ok(sig)
    }

    pub(super) fn param_attrs(&mut self) -> Result<ParamAttrs> {
        let mut attrs = ParamAttrs::default();
        while let Some(word) = self.peek_word() {
            if let Some(flag) = lower_case(word).and_then(|w| ParamFlags::from_name(&w)) {
                self.advance();
                attrs.flags |= flag;
                continue;
            }
            if *self.peek_at(1) != TokenKind::Punct('(') {
                break;
            }
            match word {
                "dereferenceable" => attrs.dereferenceable = self.in_parens(Self::integer)?,
                "align" => attrs.align = self.in_parens(Self::integer)?,
                "byval" => attrs.byval = Some(self.in_parens(Self::ty)?),
                "sret" => attrs.sret = Some(self.in_parens(Self::ty)?),
                _ => break,
            }
        }
        Ok(attrs)
    }

    /// What stands in parentheses after a word, which is next.
    fn in_parens<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.advance();
        self.expect('(')?;
        let found = read(self)?;
        self.expect(')')?;
        Ok(found)
    }

    /// Reads one attribute of a function or call, if one is next.
    pub(super) fn fn_attr(&mut self, attrs: &mut FnAttrs) -> Result<bool> {
        let Some(word) = self.peek_word() else {
            return Ok(false);
        };
        if let Some(flag) = lower_case(word).and_then(|w| FnFlags::from_name(&w)) {
            self.advance();
            attrs.flags |= flag;
            return Ok(true);
        }
        match word {
            "memory" => attrs.memory = self.in_parens(Self::memory)?,
            "alloc" => attrs.alloc = Some(self.in_parens(Self::alloc)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The effects after `memory(`.
    pub(super) fn memory(&mut self) -> Result<MemoryEffects> {
        if *self.peek_at(1) == TokenKind::Punct(')') {
            let all = self.named("an effect", mod_ref)?;
            return Ok(MemoryEffects {
                arguments: all,
                inaccessible: all,
                other: all,
            });
        }
        let mut memory = MemoryEffects::NONE;
        loop {
            let part = self.word()?;
            self.expect(':')?;
            let effect = self.named("an effect", mod_ref)?;
            match part.as_str() {
                "arguments" => memory.arguments = effect,
                "inaccessible" => memory.inaccessible = effect,
                "other" => memory.other = effect,
                _ => return Err(self.error(format!("`{part}` is no part of memory"))),
            }
            if !self.eat(',') {
                return Ok(memory);
            }
        }
    }

    fn alloc(&mut self) -> Result<AllocInfo> {
        let kind = self.named("a kind of allocation", AllocKind::from_name)?;
        let mut alloc = AllocInfo {
            kind,
            zeroed: false,
            family: String::new(),
            size_args: Vec::new(),
            ptr_arg: None,
        };
        while self.eat(',') {
            match self.word()?.as_str() {
                "zeroed" => alloc.zeroed = true,
                "family" => alloc.family = self.text()?,
                "ptr" => alloc.ptr_arg = Some(self.integer()?),
                "size" => {
                    alloc.size_args.push(self.integer()?);
                    while self.eat('*') {
                        alloc.size_args.push(self.integer()?);
                    }
                }
                word => return Err(self.error(format!("`{word}` says nothing of an allocation"))),
            }
        }
        Ok(alloc)
    }

    /// A constant without its type.
    pub(super) fn literal(&mut self) -> Result<Literal> {
        self.nested(Self::literal_inside)
    }

    fn literal_inside(&mut self) -> Result<Literal> {
        match self.peek() {
            TokenKind::Number(digits) => {
                self.advance();
                Ok(Literal::Number(false, digits.clone()))
            }
            TokenKind::Punct('-') => {
                self.advance();
                if self.eat_word("inf") {
                    return Ok(Literal::Infinity(true));
                }
                Ok(Literal::Number(true, self.digits()?))
            }
            TokenKind::Symbol(_) => Ok(Literal::Address(self.symbol()?, 0)),
            TokenKind::Punct('(') => {
                self.advance();
                let symbol = self.symbol()?;
                let negative = self.eat('-');
                if !negative {
                    self.expect('+')?;
                }
                let offset = self.signed_rest(negative)?;
                self.expect(')')?;
                Ok(Literal::Address(symbol, offset))
            }
            TokenKind::Punct('{') => {
                self.advance();
                let mut parts = Vec::new();
                self.list('}', |cursor| {
                    parts.push(cursor.literal()?);
                    Ok(())
                })?;
                Ok(Literal::Parts(parts))
            }
            _ => {
                let literal = self.named("a constant", word_literal)?;
                Ok(match literal {
                    Literal::Int(_) => Literal::Int(self.digits()?),
                    Literal::Float(_) => Literal::Float(self.digits()?),
                    Literal::Origin(_) => Literal::Origin(self.entity()?),
                    literal => literal,
                })
            }
        }
    }

    /// Whether an operand, not a clause, is `ahead` tokens away.
    pub(super) fn is_operand(&self, ahead: usize) -> bool {
        match self.peek_at(ahead) {
            TokenKind::Word(word) => is_value_number(word) || word_literal(word).is_some(),
            TokenKind::Name(_) | TokenKind::Number(_) | TokenKind::Symbol(_) => true,
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
    let lower = word.bytes().all(|b| b.is_ascii_lowercase());
    lower.then(|| word.to_uppercase())
}

fn word_literal(word: &str) -> Option<Literal> {
    Some(match word {
        "true" => Literal::True,
        "false" => Literal::False,
        "inf" => Literal::Infinity(false),
        "nan" => Literal::Nan,
        "zero" | "null" => Literal::Zero,
        "undef" => Literal::Undef,
        "poison" => Literal::Poison,
        "int" => Literal::Int(String::new()),
        "float" => Literal::Float(String::new()),
        "origin" => Literal::Origin(0),
        _ => return None,
    })
}

fn mod_ref(word: &str) -> Option<ModRef> {
    match word {
        "none" => Some(ModRef::empty()),
        "read" => Some(ModRef::READ),
        "write" => Some(ModRef::WRITE),
        "readwrite" => Some(ModRef::all()),
        _ => None,
    }
}

/// The type of one word; an opaque one still lacks its name.
fn simple_type(word: &str) -> Option<Type> {
    let floats = FloatKind::ALL.into_iter();
    if let Some(kind) = floats.clone().find(|kind| kind.name() == word) {
        return Some(Type::float(kind));
    }
    match word {
        "void" => Some(Type::void()),
        "ptr" => Some(Type::ptr()),
        "opaque" => Some(Type::new(TypeKind::Opaque(String::new()))),
        _ => {
            let bits: u32 = word.strip_prefix('i')?.parse().ok()?;
            (1..=1 << 23).contains(&bits).then(|| Type::int(bits))
        }
    }
}
