//! Parses the body of a function.
//!
//! Instructions are made in the order of the text, with the types of their results, so that
//! everything that can be referred to exists; operands are filled in at the end, when the types of
//! all values and block parameters are known.

use super::constants::{Literal, resolve, resolve_int};
use super::context::{Place, implied_result};
use super::cursor::{Cursor, is_value_number};
use super::lexer::TokenKind;
use super::parse_inst::{Parsed, parse_inst};
use super::parser::{Definition, ParseError};
use crate::ir::{Block, Declared, Function, Inst, Module, Op, Type, Value};
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ParseError>;

/// An operand as written, and where.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) kind: OperandKind,
    pub(super) position: usize,
}

#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    Value(String),
    Constant(Literal, Option<Type>),
}

/// An edge as written.
#[derive(Clone, Debug)]
pub(super) struct EdgeText {
    pub(super) block: String,
    pub(super) position: usize,
    pub(super) args: Vec<Operand>,
}

/// Reads the body that is next into a function that has its header.
pub(super) fn parse_body(
    cursor: &mut Cursor,
    module: &Module,
    function: Function,
    names: Option<Vec<Definition>>,
) -> Result<Function> {
    let mut body = Body::new(function);
    cursor.expect('{')?;
    let mut declared = Vec::new();
    while cursor.eat_word("declared") {
        let operand = cursor.operand()?;
        let declaration = if cursor.eat_word("object") {
            Declared::Object
        } else if cursor.eat_word("integers") {
            Declared::Integers
        } else {
            cursor.expect_word("element")?;
            Declared::Element
        };
        declared.push((operand, declaration(cursor.source()?)));
    }
    let mut header = names;
    while !cursor.eat('}') {
        let block = body.label(cursor, header.take())?;
        while !is_label(cursor) && !cursor.is('}') {
            body.instruction(cursor, module, block)?;
        }
    }
    if body.blocks.is_empty() {
        cursor.back();
        return Err(cursor.error("a body has at least one block"));
    }
    let (operands, declarations): (Vec<_>, Vec<_>) = declared.into_iter().unzip();
    let (mut function, values) = body.finish(cursor, module, &operands)?;
    for (value, declaration) in values.into_iter().zip(declarations) {
        function
            .declared
            .entry(value)
            .or_default()
            .push(declaration);
    }
    Ok(function)
}

/// A body under construction.
pub(super) struct Body {
    function: Function,
    values: HashMap<String, Value>,
    blocks: HashMap<String, Block>,
    pending: Vec<(Inst, Parsed)>,
}

impl Body {
    pub(super) fn new(function: Function) -> Body {
        Body {
            function,
            values: HashMap::new(),
            blocks: HashMap::new(),
            pending: Vec::new(),
        }
    }

    /// Fills in what could not be resolved before, and resolves these operands too.
    pub(super) fn finish(
        mut self,
        cursor: &Cursor,
        module: &Module,
        operands: &[Operand],
    ) -> Result<(Function, Vec<Value>)> {
        for (inst, parsed) in std::mem::take(&mut self.pending) {
            self.fill(cursor, module, inst, parsed)?;
        }
        let operands = operands.iter().map(|o| self.operand(cursor, o, None));
        let operands = operands.collect::<Result<_>>()?;
        Ok((self.function, operands))
    }

    /// A parameter of the first block.
    pub(super) fn add_param(
        &mut self,
        cursor: &Cursor,
        position: usize,
        definition: Definition,
        ty: Type,
    ) -> Result<()> {
        let block = self.function.entry();
        let value = self.function.add_block_param(block, ty);
        self.define(cursor, position, definition, value)
    }

    /// The label of a block with its parameters; the first has those of the header, if named.
    fn label(&mut self, cursor: &mut Cursor, header: Option<Vec<Definition>>) -> Result<Block> {
        if !is_label(cursor) {
            return Err(cursor.unexpected("the label of a block"));
        }
        let position = cursor.position();
        let name = cursor.word()?;
        let block = self.function.add_block();
        if self.blocks.insert(name.clone(), block).is_some() {
            return Err(cursor.error_at(position, format!("there are two blocks `{name}`")));
        }
        if let Some(header) = header {
            let types = self.function.sig.params.clone();
            for (definition, ty) in header.into_iter().zip(types) {
                let value = self.function.add_block_param(block, ty);
                self.define(cursor, position, definition, value)?;
            }
            if cursor.is('(') {
                return Err(cursor.error("the parameters stand in the header already"));
            }
        }
        if cursor.eat('(') {
            cursor.list(')', |cursor| {
                let position = cursor.position();
                let definition = cursor.definition()?;
                let definition = definition.ok_or_else(|| cursor.unexpected("a value"))?;
                cursor.expect(':')?;
                let ty = cursor.ty()?;
                let value = self.function.add_block_param(block, ty);
                self.define(cursor, position, definition, value)
            })?;
        }
        cursor.expect(':')?;
        Ok(block)
    }

    fn define(
        &mut self,
        cursor: &Cursor,
        position: usize,
        (key, name): Definition,
        value: Value,
    ) -> Result<()> {
        if self.values.contains_key(&key) {
            return Err(cursor.error_at(position, format!("{key} is defined twice")));
        }
        if let Some(name) = name {
            self.function.set_value_name(value, name);
        }
        self.values.insert(key, value);
        Ok(())
    }

    pub(super) fn instruction(
        &mut self,
        cursor: &mut Cursor,
        module: &Module,
        block: Block,
    ) -> Result<()> {
        let position = cursor.position();
        let definition = cursor.definition()?;
        if definition.is_some() {
            cursor.expect('=')?;
        }
        let mut parsed = parse_inst(cursor, module)?;
        let ty = match (&definition, parsed.ty) {
            (None, None) => Type::void(),
            (None, Some(ty)) if ty.is_void() => ty,
            (None, Some(_)) => {
                let message = "an instruction without a name for its result has no type";
                return Err(cursor.error_at(position, message));
            }
            (Some(_), Some(ty)) if !ty.is_void() => ty,
            (Some(_), _) => {
                let implied = implied_result(&parsed.data.op, |i| {
                    let operand = parsed.args.get(i)?;
                    self.known_type(operand)
                });
                let implied = implied.filter(|ty| !ty.is_void());
                implied.ok_or_else(|| {
                    cursor.error_at(
                        position,
                        "the type of the result is not known here: add `: type`",
                    )
                })?
            }
        };
        let data = std::mem::replace(
            &mut parsed.data,
            crate::ir::InstData::new(Op::Unreachable, Vec::new()),
        );
        let inst = self.function.append_inst(block, data, ty);
        if let (Some(definition), Some(value)) = (definition, self.function.result(inst)) {
            self.define(cursor, position, definition, value)?;
        }
        self.pending.push((inst, parsed));
        Ok(())
    }

    /// The type of an operand, if the text so far tells.
    fn known_type(&self, operand: &Operand) -> Option<Type> {
        match &operand.kind {
            OperandKind::Value(name) => Some(self.function.ty(*self.values.get(name)?)),
            OperandKind::Constant(_, ty) => *ty,
        }
    }

    /// Puts in the operands of an instruction.
    fn fill(&mut self, cursor: &Cursor, module: &Module, inst: Inst, parsed: Parsed) -> Result<()> {
        let result = self.function.result(inst);
        let result = result.map_or(Type::void(), |v| self.function.ty(v));
        let mut op = self.function.inst(inst).op.clone();
        let value_types: Vec<Option<Type>> = parsed
            .args
            .iter()
            .map(|operand| match &operand.kind {
                OperandKind::Value(_) => self.known_type(operand),
                OperandKind::Constant(..) => None,
            })
            .collect();
        let mut args = Vec::with_capacity(parsed.args.len());
        for (index, operand) in parsed.args.iter().enumerate() {
            let place = Place {
                module,
                ret: self.function.sig.ret,
                op: &op,
                result,
            };
            let implied = place.implied(index, |i| value_types.get(i).copied().flatten());
            args.push(self.operand(cursor, operand, implied)?);
        }
        if let Op::Switch { cases, .. } = &mut op {
            let bits = args.first().and_then(|&v| self.function.ty(v).int_bits());
            for ((case, _), (negative, digits, at)) in cases.iter_mut().zip(&parsed.cases) {
                let resolved = resolve_int(*negative, digits, bits.unwrap_or(128));
                *case = resolved.map_err(|message| cursor.error_at(*at, message))?;
            }
        }
        for (edge, text) in op.edges_mut().into_iter().zip(&parsed.edges) {
            let Some(&block) = self.blocks.get(&text.block) else {
                let message = format!("there is no block `{}`", text.block);
                return Err(cursor.error_at(text.position, message));
            };
            edge.block = block;
            for (index, operand) in text.args.iter().enumerate() {
                let param = self.function.block_params(block).get(index);
                let implied = param.map(|&v| self.function.ty(v));
                edge.args.push(self.operand(cursor, operand, implied)?);
            }
        }
        let data = self.function.inst_mut(inst);
        data.op = op;
        data.args = args;
        Ok(())
    }

    fn operand(
        &mut self,
        cursor: &Cursor,
        operand: &Operand,
        implied: Option<Type>,
    ) -> Result<Value> {
        let fail = |message: String| cursor.error_at(operand.position, message);
        match &operand.kind {
            OperandKind::Value(name) => {
                let known = self.values.get(name).copied();
                known.ok_or_else(|| fail(format!("{name} is not defined")))
            }
            OperandKind::Constant(literal, ty) => {
                let Some(ty) = ty.or(implied) else {
                    return Err(fail(
                        "this constant needs its type, as in `0:i64`".to_string(),
                    ));
                };
                let constant = resolve(literal, ty).map_err(fail)?;
                Ok(self.function.constant(ty, constant))
            }
        }
    }
}

/// A word that a colon follows, with parameters between or not. Instructions begin with a word
/// too, but only addresses stand in parentheses right after it.
fn is_label(cursor: &Cursor) -> bool {
    match cursor.peek() {
        TokenKind::Word(word) if !is_value_number(word) => match cursor.peek_at(1) {
            TokenKind::Punct(':') => true,
            TokenKind::Punct('(') => !matches!(cursor.peek_at(2), TokenKind::Symbol(_)),
            _ => false,
        },
        _ => false,
    }
}

impl Cursor<'_> {
    pub(super) fn operand(&mut self) -> Result<Operand> {
        let position = self.position();
        let kind = match self.peek() {
            TokenKind::Name(name) => {
                self.advance();
                OperandKind::Value(format!("%{name}"))
            }
            TokenKind::Word(word) if is_value_number(word) => {
                self.advance();
                OperandKind::Value(word.clone())
            }
            _ if self.is_operand(0) => {
                let literal = self.literal()?;
                let ty = match self.eat_tight_colon() {
                    true => Some(self.ty()?),
                    false => None,
                };
                OperandKind::Constant(literal, ty)
            }
            _ => return Err(self.unexpected("an operand")),
        };
        Ok(Operand { kind, position })
    }

    /// Operands with commas between, as long as operands follow.
    pub(super) fn operands(&mut self) -> Result<Vec<Operand>> {
        let mut operands = Vec::new();
        if !self.is_operand(0) {
            return Ok(operands);
        }
        operands.push(self.operand()?);
        while self.is(',') && self.is_operand(1) {
            self.advance();
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    pub(super) fn edge(&mut self) -> Result<EdgeText> {
        let position = self.position();
        let block = self.word()?;
        let mut args = Vec::new();
        if self.eat('(') {
            self.list(')', |cursor| {
                args.push(cursor.operand()?);
                Ok(())
            })?;
        }
        Ok(EdgeText {
            block,
            position,
            args,
        })
    }
}
