//! Parses the parts of which everything is made: types, signatures, attributes, constants.

use super::constants::Literal;
use super::cursor::{Cursor, lower_case};
use super::lexer::TokenKind;
use super::parser::ParseError;
use crate::ir::{
    AllocInfo, AllocKind, FloatKind, FnAttrs, FnFlags, Freed, MemoryEffects, ModRef, ParamAttrs,
    ParamFlags, Signature, Type, TypeKind,
};

type Result<T> = std::result::Result<T, ParseError>;

/// How deep types and constants may nest; the parser recurses into them.
const MAX_DEPTH: u32 = 200;

impl Cursor<'_> {
    /// Reads something that may contain its like.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.deepen()?;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Goes one deeper into what may contain its like.
    pub(super) fn deepen(&mut self) -> Result<()> {
        if self.depth == MAX_DEPTH {
            return Err(self.error("this nests too deep"));
        }
        self.depth += 1;
        Ok(())
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
        // An address in parentheses may follow the type of a load.
        let space = self.is('(') && matches!(self.peek_at(1), TokenKind::Number(_));
        if simple == Type::ptr() && space {
            self.advance();
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
            freed: None,
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
                "freed" => alloc.freed = Some(self.freed()?),
                word => return Err(self.error(format!("`{word}` says nothing of an allocation"))),
            }
        }
        Ok(alloc)
    }

    /// What frees memory: `"name" -1 * 0`, where -1 is the memory.
    fn freed(&mut self) -> Result<Freed> {
        let by = self.text()?;
        let mut args = Vec::new();
        loop {
            args.push(u32::try_from(self.signed()?).ok());
            if !self.eat('*') {
                return Ok(Freed { by, args });
            }
        }
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
}

/// The constant that a word begins; some still lack their number.
pub(super) fn word_literal(word: &str) -> Option<Literal> {
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
