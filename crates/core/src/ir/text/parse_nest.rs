//! Parses nests.

use super::constants::Literal;
use super::lexer::TokenKind;
use super::parse_body::{Body, Operand, OperandKind};
use super::parse_inst::{Parser, flags};
use super::parser::{Definition, ParseError};
use crate::ir::{self, Access, Combiner, Nest, Op, Output, Type};

type Result<T> = std::result::Result<T, ParseError>;

impl Parser<'_, '_> {
    /// `nest [%i < bound, …] with (%s: type = value, …) { loads, instructions, outputs }`
    pub(super) fn nest(&mut self) -> Result<Op> {
        self.cursor.deepen()?;
        let nest = self.nest_inside();
        self.cursor.depth -= 1;
        nest
    }

    fn nest_inside(&mut self) -> Result<Op> {
        let mut nest = Nest {
            depth: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
            body: ir::Body::new(0),
        };
        let mut body = Body::new(nest.body.func.clone());
        let mut counters: Vec<String> = Vec::new();
        self.cursor.expect('[')?;
        while !self.cursor.eat(']') {
            if !counters.is_empty() {
                self.cursor.expect(',')?;
            }
            let (position, definition) = self.definition()?;
            self.cursor.expect('<')?;
            let bound = self.sum(&counters)?;
            self.out.args.extend(bound);
            counters.push(definition.0.clone());
            body.add_param(self.cursor, position, definition, Type::i64())?;
        }
        nest.depth = counters.len();
        let taken = self.taken()?;
        self.cursor.expect('{')?;
        while self.is_input() {
            let (position, definition) = self.definition()?;
            self.cursor.expect('=')?;
            self.cursor.expect_word("load")?;
            let ty = self.cursor.ty()?;
            body.add_param(self.cursor, position, definition, ty)?;
            nest.inputs.push(self.view(&counters)?);
        }
        let mut values = Vec::new();
        for (position, definition, ty, mut value) in taken {
            body.add_param(self.cursor, position, definition, ty)?;
            if let OperandKind::Constant(_, given @ None) = &mut value.kind {
                *given = Some(ty);
            }
            values.push(value);
        }
        let mut results = Vec::new();
        while !self.cursor.eat('}') {
            let Some(combiner) = self.cursor.peek_word().and_then(Combiner::from_name) else {
                if !results.is_empty() {
                    return Err(self.cursor.unexpected("an output"));
                }
                body.instruction(self.cursor, self.module, nest.body.block())?;
                continue;
            };
            self.cursor.advance();
            let flags = flags(self.cursor);
            results.push(self.cursor.operand()?);
            self.cursor.expect(',')?;
            let access = self.view(&counters)?;
            nest.outputs.push(Output {
                combiner,
                flags,
                access,
            });
        }
        self.out.args.extend(values);
        let (func, results) = body.finish(self.cursor, self.module, &results)?;
        nest.body.func = func;
        nest.body.set_results(results);
        self.finish(Op::Nest(Box::new(nest)))
    }

    /// What the body takes from outside, if anything.
    fn taken(&mut self) -> Result<Vec<(usize, Definition, Type, Operand)>> {
        let mut taken = Vec::new();
        if !self.cursor.eat_word("with") {
            return Ok(taken);
        }
        self.cursor.expect('(')?;
        loop {
            let (position, definition) = self.definition()?;
            self.cursor.expect(':')?;
            let ty = self.cursor.ty()?;
            self.cursor.expect('=')?;
            taken.push((position, definition, ty, self.cursor.operand()?));
            if self.cursor.eat(')') {
                return Ok(taken);
            }
            self.cursor.expect(',')?;
        }
    }

    fn definition(&mut self) -> Result<(usize, Definition)> {
        let position = self.cursor.position();
        let definition = self.cursor.definition()?;
        let definition = definition.ok_or_else(|| self.cursor.unexpected("a value"))?;
        Ok((position, definition))
    }

    /// Whether `name = load` is next.
    fn is_input(&self) -> bool {
        let named = matches!(self.cursor.peek_at(1), TokenKind::Text(_));
        let after = 1 + usize::from(named);
        *self.cursor.peek_at(after) == TokenKind::Punct('=')
            && matches!(self.cursor.peek_at(after + 1), TokenKind::Word(word) if word == "load")
    }

    /// Where a view lies, and how it is accessed.
    fn view(&mut self, counters: &[String]) -> Result<Access> {
        let place = self.sum(counters)?;
        self.out.args.extend(place);
        let mut access = Access::default();
        while self.cursor.eat(',') {
            let word = self.cursor.word()?;
            if !self.access_clause(&word, &mut access)? {
                self.cursor.back();
                return Err(self.cursor.unexpected("a clause of an access"));
            }
        }
        Ok(access)
    }

    /// `operand + factor*counter + …`: the operand, and a factor for each counter.
    fn sum(&mut self, counters: &[String]) -> Result<Vec<Operand>> {
        let mut terms = vec![self.cursor.operand()?];
        let zero = Literal::Number(false, "0".to_string());
        terms.extend(counters.iter().map(|_| Operand {
            kind: OperandKind::Constant(zero.clone(), Some(Type::i64())),
            position: self.cursor.position(),
        }));
        while self.cursor.eat('+') {
            let factor = self.cursor.operand()?;
            self.cursor.expect('*')?;
            let (position, (name, _)) = self.definition()?;
            let Some(counter) = counters.iter().position(|known| *known == name) else {
                let message = format!("{name} is no counter of a loop further out");
                return Err(self.cursor.error_at(position, message));
            };
            terms[1 + counter] = factor;
        }
        Ok(terms)
    }
}
