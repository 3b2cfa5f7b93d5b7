//! Parses modules.
//!
//! Three walks over the tokens: the names of all symbols, then everything but the bodies of
//! functions, then the bodies, which by then may refer to any signature of the module.

use super::constants::{Literal, magnitude, resolve};
use super::cursor::Cursor;
use super::lexer::{TokenKind, tokenize};
use super::parse_body::parse_body;
use crate::ir::{
    Activity, Constant, CustomRule, Func, Function, Global, GlobalData, Initializer, Loc, LocData,
    Module, ParamAttrs, RuleKind, Scope, ScopeData, Signature, SourcePart, SourceType,
    SourceTypeData, Symbol, Tbaa, TbaaData, Type, TypeKind,
};
use std::collections::HashMap;
use std::fmt;

/// Reads a module from its text.
pub fn parse_module(text: &str) -> Result<Module, ParseError> {
    let tokens = tokenize(text)?;
    let symbols = find_symbols(&tokens)?;
    let mut cursor = Cursor::new(&tokens, &symbols);
    let mut module = Module::new();
    let mut bodies = Vec::new();
    while !cursor.at_end() {
        let word = cursor.word()?;
        match word.as_str() {
            "layout" => layout(&mut cursor, &mut module)?,
            "global" => {
                let global = global(&mut cursor)?;
                module.globals.push(global);
            }
            "declare" | "func" => {
                let (function, names) = header(&mut cursor)?;
                let func = module.funcs.push(function);
                if word == "func" {
                    bodies.push((func, names, cursor.position()));
                    cursor.skip_braces()?;
                } else if names.is_some() {
                    return Err(cursor.error("the parameters of a declaration have no names"));
                }
            }
            "rule" => module.rules.push(rule(&mut cursor)?),
            "tbaa" => table_entry(&mut cursor, module.tbaa.len(), |cursor| {
                let name = cursor.text()?;
                let parent = match cursor.eat_word("under") {
                    true => Some(cursor.tbaa()?),
                    false => None,
                };
                module.tbaa.push(TbaaData { name, parent });
                Ok(())
            })?,
            "scope" => table_entry(&mut cursor, module.scopes.len(), |cursor| {
                cursor.expect_word("domain")?;
                let domain = cursor.integer()?;
                module.scopes.push(ScopeData { domain });
                Ok(())
            })?,
            "source" => table_entry(&mut cursor, module.sources.len(), |cursor| {
                module.sources.push(source_type(cursor)?);
                Ok(())
            })?,
            "loc" => table_entry(&mut cursor, module.locs.len(), |cursor| {
                module.locs.push(location(cursor)?);
                Ok(())
            })?,
            _ => {
                cursor.back();
                return Err(cursor.unexpected("a definition"));
            }
        }
    }
    for (func, names, position) in bodies {
        cursor.go_to(position);
        let function = module.funcs[func].clone();
        module.funcs[func] = parse_body(&mut cursor, &module, function, names)?;
    }
    check_references(&cursor, &module)?;
    Ok(module)
}

/// Why and where a text could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// The name that the text gives a value, as its key, and its name in the source program.
pub(super) type Definition = (String, Option<String>);

/// The functions and globals of the text by name.
fn find_symbols(tokens: &[super::lexer::Token]) -> Result<HashMap<String, Symbol>, ParseError> {
    let mut symbols = HashMap::new();
    let (mut funcs, mut globals, mut depth) = (0, 0, 0usize);
    let mut is_func = None;
    for token in tokens {
        match &token.kind {
            TokenKind::Punct('{') => depth += 1,
            TokenKind::Punct('}') => depth = depth.saturating_sub(1),
            TokenKind::Word(word) if depth == 0 => match word.as_str() {
                "func" | "declare" => is_func = Some(true),
                "global" => is_func = Some(false),
                _ => {}
            },
            TokenKind::Symbol(name) if depth == 0 => {
                let symbol = match is_func.take() {
                    Some(true) => Symbol::Func(Func::from_u32(funcs)),
                    Some(false) => Symbol::Global(Global::from_u32(globals)),
                    None => continue,
                };
                match symbol {
                    Symbol::Func(_) => funcs += 1,
                    Symbol::Global(_) => globals += 1,
                }
                if symbols.insert(name.clone(), symbol).is_some() {
                    return Err(ParseError {
                        line: token.line,
                        column: token.column,
                        message: format!("@{name} is defined twice"),
                    });
                }
            }
            _ => {}
        }
    }
    Ok(symbols)
}

fn layout(cursor: &mut Cursor, module: &mut Module) -> Result<(), ParseError> {
    cursor.expect_word("pointer")?;
    module.layout.pointer_bytes = cursor.integer()?;
    cursor.expect(',')?;
    cursor.expect_word("int")?;
    module.layout.max_int_align = cursor.integer()?;
    cursor.expect(',')?;
    cursor.expect_word("vector")?;
    module.layout.max_vector_align = cursor.integer()?;
    Ok(())
}

/// `gradient of @f is @augmented, @reverse handles(dup, const)`.
fn rule(cursor: &mut Cursor) -> Result<CustomRule, ParseError> {
    let kind = cursor.named("a kind of rule", RuleKind::from_name)?;
    cursor.expect_word("of")?;
    let func = function(cursor)?;
    cursor.expect_word("is")?;
    let mut parts = vec![function(cursor)?];
    while cursor.eat(',') {
        parts.push(function(cursor)?);
    }
    if parts.len() != kind.part_count() {
        return Err(cursor.error(format!("such a rule has {} parts", kind.part_count())));
    }
    let mut handles = None;
    if cursor.eat_word("handles") {
        let mut words = Vec::new();
        cursor.expect('(')?;
        cursor.list(')', |cursor| {
            words.push(cursor.named("an activity", Activity::from_name)?);
            Ok(())
        })?;
        handles = Some(words);
    }
    Ok(CustomRule {
        func,
        kind,
        parts,
        handles,
    })
}

fn function(cursor: &mut Cursor) -> Result<Func, ParseError> {
    match cursor.symbol()? {
        Symbol::Func(func) => Ok(func),
        Symbol::Global(_) => Err(cursor.error("a rule is about functions")),
    }
}

fn table_entry(
    cursor: &mut Cursor,
    next: usize,
    read: impl FnOnce(&mut Cursor) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let number: usize = cursor.integer()?;
    if number != next {
        cursor.back();
        return Err(cursor.error(format!("entries are numbered in order, {next} is next")));
    }
    cursor.expect('=')?;
    read(cursor)
}

fn location(cursor: &mut Cursor) -> Result<LocData, ParseError> {
    let file = cursor.text()?;
    cursor.expect(':')?;
    let line = cursor.integer()?;
    cursor.expect(':')?;
    let column = cursor.integer()?;
    cursor.expect_word("in")?;
    let function = cursor.text()?;
    let mut inlined_at = None;
    if cursor.eat_word("inlined") {
        cursor.expect_word("at")?;
        inlined_at = Some(cursor.loc()?);
    }
    Ok(LocData {
        file,
        line,
        column,
        function,
        inlined_at,
        origin: None,
    })
}

fn source_type(cursor: &mut Cursor) -> Result<SourceTypeData, ParseError> {
    cursor.expect_word("size")?;
    let size = cursor.integer()?;
    let mut parts = Vec::new();
    cursor.expect('{')?;
    cursor.list('}', |cursor| {
        let at = cursor.integer()?;
        cursor.expect(':')?;
        let part = if cursor.eat_word("int") {
            SourcePart::Int(cursor.integer()?)
        } else if cursor.eat_word("ptr") {
            SourcePart::Ptr(match cursor.eat_word("to") {
                true => Some(cursor.source()?),
                false => None,
            })
        } else {
            let kind = cursor.ty()?.float_kind();
            let kind = kind.ok_or_else(|| cursor.error("a part is int, ptr or a float"))?;
            SourcePart::Float(kind)
        };
        parts.push((at, part));
        Ok(())
    })?;
    Ok(SourceTypeData { size, parts })
}

fn global(cursor: &mut Cursor) -> Result<GlobalData, ParseError> {
    let local = cursor.eat_word("local");
    let constant = cursor.eat_word("constant");
    let thread_local = cursor.eat_word("thread_local");
    let inactive = cursor.eat_word("inactive");
    let name = cursor.symbol_name()?;
    cursor.expect_word("size")?;
    let size = cursor.integer()?;
    cursor.expect_word("align")?;
    let align = cursor.integer()?;
    let source = match cursor.eat_word("source") {
        true => Some(cursor.source()?),
        false => None,
    };
    let mut init = None;
    if cursor.eat('=') {
        init = Some(initializer(cursor)?);
    }
    Ok(GlobalData {
        name,
        size,
        align,
        init,
        constant,
        thread_local,
        local,
        inactive,
        source,
        origin: None,
    })
}

fn initializer(cursor: &mut Cursor) -> Result<Initializer, ParseError> {
    let mut init = Initializer::default();
    cursor.expect('{')?;
    cursor.list('}', |cursor| {
        if cursor.eat_word("bytes") {
            let digits = cursor.text()?;
            let bytes = decode_hex(&digits);
            let bytes = bytes.ok_or_else(|| cursor.error("bytes are pairs of hex digits"))?;
            init.bytes.extend(bytes);
        } else if cursor.eat_word("at") {
            let at = cursor.integer()?;
            match cursor.literal()? {
                Literal::Address(symbol, offset) => init.relocations.push((at, symbol, offset)),
                _ => return Err(cursor.error("an address must follow `at`")),
            }
        } else if cursor.eat_word("opaque") {
            init.opaque = true;
        } else {
            // A number of a type, for those who write by hand.
            let ty = cursor.ty()?;
            let literal = cursor.literal()?;
            let constant = resolve(&literal, ty).map_err(|message| cursor.error(message))?;
            match (ty.kind(), constant) {
                (TypeKind::Int(bits), Constant::Int(n)) if bits % 8 == 0 && *bits <= 128 => {
                    init.bytes.extend(&n.to_le_bytes()[..*bits as usize / 8]);
                }
                (TypeKind::Float(kind), Constant::Float(n)) => {
                    init.bytes.extend(&n.to_le_bytes()[..kind.bytes() as usize]);
                }
                _ => return Err(cursor.error("only numbers of whole bytes initialize a global")),
            }
        }
        Ok(())
    })?;
    Ok(init)
}

fn decode_hex(digits: &str) -> Option<Vec<u8>> {
    let nibbles: Option<Vec<u32>> = digits
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect();
    let nibbles = nibbles?;
    let pairs = nibbles.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    Some(pairs.map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

/// A function up to its body, and the names of its parameters if they are given here.
fn header(cursor: &mut Cursor) -> Result<(Function, Option<Vec<Definition>>), ParseError> {
    let local = cursor.eat_word("local");
    let address_taken = cursor.eat_word("address_taken");
    let name = cursor.symbol_name()?;
    let mut sig = Signature::new(Vec::new(), Type::void());
    let mut params: Vec<ParamAttrs> = Vec::new();
    let mut names = Vec::new();
    cursor.expect('(')?;
    cursor.list(')', |cursor| {
        if sig.variadic {
            return Err(cursor.error("`...` must be the last parameter"));
        }
        if cursor.eat_ellipsis() {
            sig.variadic = true;
            return Ok(());
        }
        if let Some(definition) = cursor.definition()? {
            names.push(definition);
            cursor.expect(':')?;
        }
        sig.params.push(cursor.ty()?);
        params.push(cursor.param_attrs()?);
        Ok(())
    })?;
    let mut ret = ParamAttrs::default();
    if cursor.eat_arrow() {
        ret = cursor.param_attrs()?;
        sig.ret = cursor.ty()?;
    }
    let count = sig.params.len();
    if !names.is_empty() && names.len() != count {
        return Err(cursor.error("either all parameters have names or none"));
    }
    let mut function = Function::new(name, sig);
    function.params = params;
    function.ret = ret;
    function.local = local;
    function.address_taken = address_taken;
    while cursor.fn_attr(&mut function.attrs)? {}
    let names = (!names.is_empty()).then_some(names);
    Ok((function, names))
}

/// Every entry of a table that the text refers to must be there.
fn check_references(cursor: &Cursor, module: &Module) -> Result<(), ParseError> {
    let refs = &cursor.references;
    let missing = [
        refs.tbaa
            .filter(|(n, _)| !module.tbaa.is_valid(Tbaa::from_u32(*n)))
            .map(|r| ("tbaa", r)),
        refs.scope
            .filter(|(n, _)| !module.scopes.is_valid(Scope::from_u32(*n)))
            .map(|r| ("scope", r)),
        refs.source
            .filter(|(n, _)| !module.sources.is_valid(SourceType::from_u32(*n)))
            .map(|r| ("source", r)),
        refs.loc
            .filter(|(n, _)| !module.locs.is_valid(Loc::from_u32(*n)))
            .map(|r| ("loc", r)),
    ];
    match missing.into_iter().flatten().next() {
        Some((what, (number, position))) => {
            Err(cursor.error_at(position, format!("there is no {what} {number}")))
        }
        None => Ok(()),
    }
}

/// The number of a token as an index or size.
pub(super) fn narrow<T: TryFrom<u128>>(digits: &str) -> Result<T, String> {
    let n = magnitude(digits)?;
    T::try_from(n).map_err(|_| format!("{digits} is too large"))
}
