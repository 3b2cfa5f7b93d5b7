//! Parses calls, requests and opaque instructions.

use super::parse_inst::{Parser, nowhere};
use super::parser::ParseError;
use crate::ir::{
    Activity, Call, Callee, FnAttrs, Func, MemoryEffects, Mode, Op, Opaque, Origin, Request,
    ReturnActivity, Signature, Symbol,
};

type Result<T> = std::result::Result<T, ParseError>;

impl Parser<'_, '_> {
    pub(super) fn call(&mut self, invoke: bool) -> Result<Op> {
        let (callee, mut sig) = if self.cursor.eat('*') {
            self.out.args.push(self.cursor.operand()?);
            (Callee::Indirect, None)
        } else {
            let func = self.func()?;
            (
                Callee::Direct(func),
                Some(self.module.funcs[func].sig.clone()),
            )
        };
        let mut args = Vec::new();
        self.cursor.expect('(')?;
        self.cursor.list(')', |cursor| {
            self.out.args.push(cursor.operand()?);
            args.push(cursor.param_attrs()?);
            Ok(())
        })?;
        if self.cursor.eat(':') {
            sig = Some(self.cursor.signature()?);
        }
        if self.cursor.eat_word("result") {
            self.out.ty = Some(self.cursor.ty()?);
        }
        let Some(sig): Option<Signature> = sig else {
            return Err(self.cursor.error("an indirect call needs its signature"));
        };
        let mut call = Box::new(Call {
            callee,
            sig,
            attrs: FnAttrs::default(),
            args,
            convention: 0,
        });
        let (mut normal, mut unwind) = (None, None);
        self.clauses(|this, word| {
            match word {
                "cc" => call.convention = this.cursor.integer()?,
                "to" if invoke => normal = Some(this.cursor.edge()?),
                "unwind" if invoke => unwind = Some(this.cursor.edge()?),
                _ => {
                    this.cursor.back();
                    if !this.cursor.fn_attr(&mut call.attrs)? {
                        this.cursor.advance();
                        return Ok(false);
                    }
                    while this.cursor.fn_attr(&mut call.attrs)? {}
                }
            }
            Ok(true)
        })?;
        if !invoke {
            return Ok(Op::Call(call));
        }
        let (Some(to), Some(from)) = (normal, unwind) else {
            return Err(self.cursor.error("an invoke needs `to` and `unwind`"));
        };
        self.out.edges = vec![to, from];
        Ok(Op::Invoke {
            call,
            normal: nowhere(),
            unwind: nowhere(),
        })
    }

    fn func(&mut self) -> Result<Func> {
        match self.cursor.symbol()? {
            Symbol::Func(func) => Ok(func),
            Symbol::Global(_) => {
                self.cursor.back();
                Err(self.cursor.error("this is no function"))
            }
        }
    }

    pub(super) fn request(&mut self) -> Result<Op> {
        let mode = self.cursor.named("a mode", Mode::from_name)?;
        let func = self.func()?;
        let mut args = Vec::new();
        self.cursor.expect('(')?;
        self.cursor.list(')', |cursor| {
            // Seeds and tapes belong to no parameter.
            if !cursor.eat_word("with") {
                args.push(cursor.named("an activity", Activity::from_name)?);
            }
            while cursor.is_operand(0) {
                self.out.args.push(cursor.operand()?);
            }
            Ok(())
        })?;
        let mut ret = ReturnActivity::Const;
        if self.cursor.eat_arrow() {
            let activity = self.cursor.named("an activity", ReturnActivity::from_name);
            ret = activity?;
        }
        self.result_type()?;
        let mut request = Box::new(Request {
            func,
            mode,
            width: 1,
            args,
            ret,
            primal_return: false,
            strong_zero: false,
            runtime_activity: false,
            tape: Default::default(),
        });
        self.clauses(|this, word| {
            match word {
                "width" => request.width = this.cursor.integer()?,
                "primal_return" => request.primal_return = true,
                "strong_zero" => request.strong_zero = true,
                "runtime_activity" => request.runtime_activity = true,
                "not_overwritten" => {
                    let position = this.cursor.integer()?;
                    request.tape.not_overwritten.push(position);
                }
                "caller_tape" => request.tape.caller = true,
                "tape_bytes" => request.tape.bytes = Some(this.cursor.integer()?),
                "keep_tape" => request.tape.keep = true,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(Op::Request(request))
    }

    pub(super) fn opaque(&mut self, terminator: bool) -> Result<Op> {
        let mut opaque = Box::new(Opaque {
            name: self.cursor.text()?,
            memory: MemoryEffects::default(),
        });
        self.out.args = self.cursor.operands()?;
        self.result_type()?;
        self.clauses(|this, word| {
            match word {
                "memory" => {
                    this.cursor.expect('(')?;
                    opaque.memory = this.cursor.memory()?;
                    this.cursor.expect(')')?;
                }
                "from" => {
                    this.cursor.expect_word("origin")?;
                    this.out.data.origin = Some(Origin::from_u32(this.cursor.entity()?));
                }
                "to" if terminator => {
                    let edge = this.cursor.edge()?;
                    this.out.edges.push(edge);
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if !terminator {
            return Ok(Op::Opaque(opaque));
        }
        let edges = self.out.edges.iter().map(|_| nowhere()).collect();
        Ok(Op::OpaqueTerminator { opaque, edges })
    }
}
