//! Parses one instruction, without resolving the names in it.

use super::constants::Literal;
use super::cursor::{Cursor, lower_case};
use super::lexer::TokenKind;
use super::parse_body::{EdgeText, Operand, OperandKind};
use super::parser::ParseError;
use crate::ir::{
    Access, BinaryOp, Block, CastOp, Edge, Flags, FloatPred, InstData, IntPred, MathFn, Module, Op,
    Ordering, Region, RmwOp, SyncScope, Type, UnaryOp,
};

type Result<T> = std::result::Result<T, ParseError>;

/// An instruction whose operands are still names. The edges of the operation lead nowhere yet;
/// `edges` has the texts for them in the same order.
pub(super) struct Parsed {
    pub(super) data: InstData,
    pub(super) args: Vec<Operand>,
    pub(super) edges: Vec<EdgeText>,
    /// The cases of a switch: negative, digits, where.
    pub(super) cases: Vec<(bool, String, usize)>,
    /// The type of the result, if the text says.
    pub(super) ty: Option<Type>,
}

/// Reads the instruction that is next, after the name of its result.
pub(super) fn parse_inst(cursor: &mut Cursor, module: &Module) -> Result<Parsed> {
    let at = cursor.position();
    let word = cursor.word()?;
    let flags = flags(cursor);
    let mut parser = Parser {
        cursor,
        module,
        out: Parsed {
            data: InstData::new(Op::Unreachable, Vec::new()),
            args: Vec::new(),
            edges: Vec::new(),
            cases: Vec::new(),
            ty: None,
        },
    };
    match parser.op(&word)? {
        Some(op) => parser.out.data.op = op,
        None => {
            let message = format!("there is no instruction `{word}`");
            return Err(cursor.error_at(at, message));
        }
    }
    parser.out.data.flags = flags;
    Ok(parser.out)
}

/// The flags that are next.
pub(super) fn flags(cursor: &mut Cursor) -> Flags {
    let mut flags = Flags::empty();
    while let Some(flag) = cursor.peek_word().and_then(flag_of) {
        cursor.advance();
        flags |= flag;
    }
    flags
}

fn flag_of(word: &str) -> Option<Flags> {
    match word {
        "fast" => Some(Flags::FAST),
        _ => Flags::from_name(&lower_case(word)?),
    }
}

/// Reads one instruction into `out`.
pub(super) struct Parser<'p, 't> {
    pub(super) cursor: &'p mut Cursor<'t>,
    pub(super) module: &'p Module,
    pub(super) out: Parsed,
}

impl Parser<'_, '_> {
    fn op(&mut self, word: &str) -> Result<Option<Op>> {
        let op = match word {
            "icmp" => {
                let pred = self.cursor.named("a predicate", IntPred::from_name)?;
                self.plain(Op::ICmp(pred))?
            }
            "fcmp" => {
                let pred = self.cursor.named("a predicate", FloatPred::from_name)?;
                self.plain(Op::FCmp(pred))?
            }
            "math" => {
                let function = self.cursor.named("a function", MathFn::from_name)?;
                self.plain(Op::Math(function))?
            }
            "select" => self.plain(Op::Select)?,
            "extractelement" => self.plain(Op::ExtractElement)?,
            "insertelement" => self.plain(Op::InsertElement)?,
            "return" => self.plain(Op::Return)?,
            "unreachable" => self.plain(Op::Unreachable)?,
            "shuffle" => {
                let mask = self.indices(|cursor| {
                    let lane = cursor.signed()?;
                    i32::try_from(lane).map_err(|_| cursor.error("there is no such lane"))
                })?;
                self.finish(Op::Shuffle(mask))?
            }
            "extract" => {
                let path = self.indices(|cursor| cursor.integer())?;
                self.finish(Op::Extract(path))?
            }
            "insert" => {
                let path = self.indices(|cursor| cursor.integer())?;
                self.finish(Op::Insert(path))?
            }
            "alloca" => self.alloca()?,
            "address" => self.address()?,
            "load" => {
                self.out.ty = Some(self.cursor.ty()?);
                self.out.args = self.cursor.operands()?;
                Op::Load(self.access()?)
            }
            "store" => Op::Store(self.operands_and_access()?),
            "accumulate" => Op::Accumulate(self.operands_and_access()?),
            "memset" => Op::MemSet(self.operands_and_access()?),
            "atomicrmw" => {
                let op = self.cursor.named("an operation", RmwOp::from_name)?;
                Op::AtomicRmw(op, self.operands_and_access()?)
            }
            "cmpxchg" => self.cmpxchg()?,
            "fence" => {
                let (ordering, scope) = self.ordering()?;
                self.plain(Op::Fence(ordering, scope))?
            }
            "memcopy" => self.memcopy(false)?,
            "memmove" => self.memcopy(true)?,
            "nest" => self.nest()?,
            "call" => self.call(false)?,
            "invoke" => self.call(true)?,
            "request" => self.request()?,
            "opaque" => self.opaque(false)?,
            "opaque_terminator" => self.opaque(true)?,
            "jump" => {
                self.out.edges.push(self.cursor.edge()?);
                self.finish(Op::Jump(nowhere()))?
            }
            "branch" => {
                self.out.args.push(self.cursor.operand()?);
                for _ in 0..2 {
                    self.cursor.expect(',')?;
                    self.out.edges.push(self.cursor.edge()?);
                }
                self.finish(Op::Branch {
                    then: nowhere(),
                    other: nowhere(),
                })?
            }
            "switch" => self.switch()?,
            _ => {
                let op = UnaryOp::from_name(word).map(Op::Unary);
                let op = op.or_else(|| BinaryOp::from_name(word).map(Op::Binary));
                match op.or_else(|| CastOp::from_name(word).map(Op::Cast)) {
                    Some(op) => self.plain(op)?,
                    None => return Ok(None),
                }
            }
        };
        Ok(Some(op))
    }

    /// Operands, the type of the result, and no clause but the location.
    fn plain(&mut self, op: Op) -> Result<Op> {
        self.out.args = self.cursor.operands()?;
        self.finish(op)
    }

    /// The type of the result, and no clause but the location.
    pub(super) fn finish(&mut self, op: Op) -> Result<Op> {
        self.result_type()?;
        self.clauses(|_, _| Ok(false))?;
        Ok(op)
    }

    pub(super) fn result_type(&mut self) -> Result<()> {
        if self.cursor.eat(':') {
            self.out.ty = Some(self.cursor.ty()?);
        }
        Ok(())
    }

    /// What follows after commas. `read` gets each word and says whether it knows it.
    pub(super) fn clauses(
        &mut self,
        mut read: impl FnMut(&mut Self, &str) -> Result<bool>,
    ) -> Result<()> {
        while self.cursor.eat(',') {
            let word = self.cursor.word()?;
            if word == "loc" {
                self.out.data.loc = Some(self.cursor.loc()?);
            } else if !read(self, &word)? {
                self.cursor.back();
                return Err(self.cursor.error(format!("`{word}` does not belong here")));
            }
        }
        Ok(())
    }

    /// Operands, then a list of numbers in brackets.
    fn indices<T>(&mut self, read: impl Fn(&mut Cursor) -> Result<T>) -> Result<Vec<T>> {
        self.out.args = self.cursor.operands()?;
        self.cursor.expect(',')?;
        self.cursor.expect('[')?;
        let mut list = Vec::new();
        self.cursor.list(']', |cursor| {
            list.push(read(cursor)?);
            Ok(())
        })?;
        Ok(list)
    }

    fn alloca(&mut self) -> Result<Op> {
        let ty = self.cursor.ty()?;
        if self.cursor.is(',') && self.cursor.is_operand(1) {
            self.cursor.advance();
            self.out.args = self.cursor.operands()?;
        } else {
            self.out.args = vec![Operand {
                kind: OperandKind::Constant(Literal::Number(false, "1".to_string()), None),
                position: self.cursor.position(),
            }];
        }
        self.result_type()?;
        let mut align = 0;
        self.clauses(|this, word| {
            if word == "align" {
                align = this.cursor.integer()?;
            }
            Ok(word == "align")
        })?;
        Ok(Op::Alloca { ty, align })
    }

    /// `base + scale*index - offset …`
    fn address(&mut self) -> Result<Op> {
        self.out.args.push(self.cursor.operand()?);
        let (mut offset, mut scales) = (0i64, Vec::new());
        loop {
            let negative = self.cursor.eat('-');
            if !negative && !self.cursor.eat('+') {
                break;
            }
            let number = matches!(self.cursor.peek(), TokenKind::Number(_));
            if !number && negative {
                scales.push(-1);
                self.out.args.push(self.cursor.operand()?);
                continue;
            }
            let factor = match number {
                true => self.cursor.signed_rest(negative)?,
                false => 1,
            };
            if number && !self.cursor.eat('*') {
                offset = offset.wrapping_add(factor);
            } else {
                scales.push(factor);
                self.out.args.push(self.cursor.operand()?);
            }
        }
        self.finish(Op::Address { offset, scales })
    }

    fn operands_and_access(&mut self) -> Result<Access> {
        self.out.args = self.cursor.operands()?;
        self.result_type()?;
        self.access()
    }

    fn access(&mut self) -> Result<Access> {
        let mut access = Access::default();
        self.clauses(|this, word| this.access_clause(word, &mut access))?;
        Ok(access)
    }

    pub(super) fn access_clause(&mut self, word: &str, access: &mut Access) -> Result<bool> {
        match word {
            "align" => access.align = self.cursor.integer()?,
            "volatile" => access.volatile = true,
            "atomic" => access.atomic = Some(self.ordering()?),
            "tbaa" => access.tbaa = Some(self.cursor.tbaa()?),
            "region" => access.region = self.cursor.named("a region", Region::from_name)?,
            "scopes" | "noalias" => {
                let list = match word {
                    "scopes" => &mut access.scopes,
                    _ => &mut access.noalias,
                };
                self.cursor.expect('(')?;
                self.cursor.list(')', |cursor| {
                    list.push(cursor.scope()?);
                    Ok(())
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn ordering(&mut self) -> Result<(Ordering, SyncScope)> {
        let ordering = self.cursor.named("an ordering", Ordering::from_name)?;
        let scope = self.cursor.peek_word().and_then(SyncScope::from_name);
        if scope.is_some() {
            self.cursor.advance();
        }
        Ok((ordering, scope.unwrap_or(SyncScope::System)))
    }

    fn cmpxchg(&mut self) -> Result<Op> {
        let weak = self.cursor.eat_word("weak");
        self.out.args = self.cursor.operands()?;
        self.result_type()?;
        let mut access = Access::default();
        let mut failure = None;
        self.clauses(|this, word| {
            if word == "failure" {
                failure = Some(this.cursor.named("an ordering", Ordering::from_name)?);
                return Ok(true);
            }
            this.access_clause(word, &mut access)
        })?;
        let Some(failure) = failure else {
            return Err(self.cursor.error("a cmpxchg needs its `failure` ordering"));
        };
        Ok(Op::CmpXchg {
            access,
            failure,
            weak,
        })
    }

    fn memcopy(&mut self, overlapping: bool) -> Result<Op> {
        self.out.args = self.cursor.operands()?;
        let (mut dst, mut src) = (Access::default(), Access::default());
        self.clauses(|this, word| {
            let side = match word {
                "dst" => &mut dst,
                "src" => &mut src,
                _ => return Ok(false),
            };
            this.cursor.expect('(')?;
            loop {
                let word = this.cursor.word()?;
                if !this.access_clause(&word, side)? {
                    this.cursor.back();
                    return Err(this.cursor.unexpected("a clause of an access"));
                }
                if !this.cursor.eat(',') {
                    break;
                }
            }
            this.cursor.expect(')')?;
            Ok(true)
        })?;
        Ok(Op::MemCopy {
            overlapping,
            dst,
            src,
        })
    }

    /// `switch v0, 1: block1, -2: block2(v1), default: block3`
    fn switch(&mut self) -> Result<Op> {
        self.out.args.push(self.cursor.operand()?);
        loop {
            self.cursor.expect(',')?;
            if self.cursor.eat_word("default") {
                self.cursor.expect(':')?;
                self.out.edges.push(self.cursor.edge()?);
                break;
            }
            let at = self.cursor.position();
            let negative = self.cursor.eat('-');
            let digits = self.cursor.digits()?;
            self.cursor.expect(':')?;
            self.out.edges.push(self.cursor.edge()?);
            self.out.cases.push((negative, digits, at));
        }
        let cases = self.out.cases.iter().map(|_| (0, nowhere())).collect();
        self.finish(Op::Switch {
            cases,
            default: nowhere(),
        })
    }
}

/// An edge that is filled in later.
pub(super) fn nowhere() -> Edge {
    Edge {
        block: Block::from_u32(0),
        args: Vec::new(),
    }
}
