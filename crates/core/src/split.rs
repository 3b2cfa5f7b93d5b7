//! Serves requests for one half of reverse mode: the augmented forward sweep, the reverse sweep, or
//! the size of the tape between them.
//!
//! Every reverse-mode derivative is a pair of functions that share a frame, whose memory the caller
//! gives (see [`crate::derivative`]). The tape that the program hands from one half to the other is
//! that frame, on the heap or in memory of the program. Requests with the same function, activities
//! and promises have the same key, so the halves agree about the frame wherever they are asked for.

use crate::derivative::{Key, bundle_values};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    Builder, FnFlags, Func, Function, Inst, InstData, Mode, Op, Request, Signature, Type, UnaryOp,
    Value,
};
use crate::reverse::delayed::{self, LIST_FIELD, list_access};
use crate::reverse::unpaired;
use crate::support;
use crate::synthesis::{Pair, Synthesis};

/// Makes the functions that a request for a half asks for.
pub fn make(synthesis: &mut Synthesis, request: &Request) -> Result<Pair> {
    let asked = Key {
        settles: synthesis.settles(request.func),
        ..Key::of_request(request)
    };
    let key = Key {
        keep_tape: false,
        ..asked.clone()
    };
    let mut pair = synthesis.pair(&key)?;
    let bytes = tape_bytes(synthesis, request, &pair);
    if let Some(given) = request.tape.bytes.filter(|&given| given < bytes) {
        return Err(too_small(synthesis, request, given, bytes));
    }
    if asked.keep_tape {
        let kept = synthesis.pair(&asked)?;
        if kept.frame_bytes != pair.frame_bytes {
            return Err(different(synthesis, request));
        }
        pair.gradient = kept.gradient;
    }
    Ok(pair)
}

/// Replaces a request for a half by a call of these functions.
pub fn replace(synthesis: &mut Synthesis, func: Func, inst: Inst, request: &Request, pair: &Pair) {
    let mut half = Half {
        bytes: tape_bytes(synthesis, request, pair),
        sig: synthesis.module.funcs[request.func].sig.clone(),
        key: Key::of_request(request),
        pair,
        request,
        synthesis,
    };
    half.write(func, inst);
}

/// The size of a tape: the frame and, where memory is freed, behind it the head of the list of what
/// the reverse sweep frees at its end (see [`crate::reverse::delayed`]).
fn tape_bytes(synthesis: &mut Synthesis, request: &Request, pair: &Pair) -> u64 {
    match has_list(synthesis, request) {
        true => list_offset(pair) + delayed::HEAD_BYTES,
        false => pair.frame_bytes.unwrap_or(0).max(1),
    }
}

fn has_list(synthesis: &mut Synthesis, request: &Request) -> bool {
    let key = Key {
        settles: synthesis.settles(request.func),
        ..Key::of_request(request)
    };
    synthesis.has_list(&key)
}

fn list_offset(pair: &Pair) -> u64 {
    pair.frame_bytes.unwrap_or(0).next_multiple_of(8)
}

struct Half<'a> {
    synthesis: &'a mut Synthesis,
    request: &'a Request,
    key: Key,
    sig: Signature,
    pair: &'a Pair,
    bytes: u64,
}

impl Half<'_> {
    /// Writes the code where the request stands; the request's instruction gives the result.
    fn write(&mut self, func: Func, inst: Inst) {
        // The function is taken out, so that library functions can be declared meanwhile.
        let empty = Function::new(String::new(), self.sig.clone());
        let mut function = std::mem::replace(&mut self.synthesis.module.funcs[func], empty);
        if let Some(block) = function.inst_blocks()[inst] {
            let mut before = function.block_insts(block).to_vec();
            let at = before.iter().position(|&i| i == inst).unwrap_or(0);
            let after = before.split_off(at);
            function.set_block_insts(block, before);
            let InstData { args, loc, .. } = function.inst(inst).clone();
            let mut builder = Builder::new(&mut function, block);
            builder.loc = loc;
            let value = match self.request.mode {
                Mode::Augmented => self.augmented(&mut builder, args),
                Mode::Gradient => self.gradient(&mut builder, args),
                _ => Some(builder.func.iconst(Type::i64(), self.bytes.into())),
            };
            let keep = usize::from(value.is_none() || function.result(inst).is_none());
            if let (0, Some(value)) = (keep, value) {
                *function.inst_mut(inst) = InstData {
                    loc,
                    ..InstData::new(Op::Unary(UnaryOp::Freeze), vec![value])
                };
            }
            for &inst in &after[keep..] {
                function.attach_inst(block, inst);
            }
        }
        self.synthesis.module.funcs[func] = function;
    }

    /// Runs the forward sweep on a new tape, or on the caller's.
    fn augmented(&mut self, builder: &mut Builder<'_>, mut args: Vec<Value>) -> Option<Value> {
        let tape = match self.request.tape.caller {
            true => args.pop()?,
            false => {
                let (malloc, sig) = support::malloc(&mut self.synthesis.module);
                let bytes = builder.func.iconst(Type::i64(), self.bytes.into());
                builder.call(malloc, sig, vec![bytes])?
            }
        };
        if has_list(self.synthesis, self.request) {
            let head = builder.offset(tape, list_offset(self.pair) as i64);
            delayed::start(builder, head);
            let field = builder.offset(tape, LIST_FIELD);
            builder.store(head, field, list_access());
        }
        args.push(tape);
        let parts = self.key.forward_results(&self.sig);
        let sig = self.key.augmented_signature(&self.sig);
        let result = builder.call(self.pair.augmented, sig, args);
        let mut results = vec![tape];
        if let Some(result) = result {
            match parts.len() {
                1 => results.push(result),
                n => results.extend((0..n).map(|i| builder.extract(result, vec![i as u32]))),
            }
        }
        bundle_values(builder, &results)
    }

    /// Runs the reverse sweep, and frees the tape.
    fn gradient(&mut self, builder: &mut Builder<'_>, args: Vec<Value>) -> Option<Value> {
        let tape = args.last().copied();
        let sig = self.key.gradient_signature(&self.sig);
        let result = builder.call(self.pair.gradient, sig, args);
        let Some(tape) = tape.filter(|_| !self.request.tape.keep) else {
            return result;
        };
        if has_list(self.synthesis, self.request) {
            let head = builder.offset(tape, list_offset(self.pair) as i64);
            if self.synthesis.settles(self.request.func) {
                let (forget, sig) = unpaired::forget(&mut self.synthesis.module);
                builder.call(forget, sig, vec![head]);
            }
            let (release, sig) = delayed::release(&mut self.synthesis.module);
            builder.call(release, sig, vec![head]);
        }
        if !self.request.tape.caller {
            let (free, sig) = support::free(&mut self.synthesis.module, "free");
            builder.call_with(free, sig, vec![tape], FnFlags::FREES_OWN);
        }
        result
    }
}

fn too_small(synthesis: &Synthesis, request: &Request, given: u64, bytes: u64) -> Box<Diagnostic> {
    let target = &synthesis.module.funcs[request.func].name;
    Diagnostic::new(
        Code::TapeTooSmall,
        format!("the tape of `{target}` needs {bytes} bytes, but it has {given}"),
        "the forward sweep would write past the memory that enzyme_allocated describes",
        "give it as many bytes as __enzyme_augmentsize says",
    )
}

fn different(synthesis: &Synthesis, request: &Request) -> Box<Diagnostic> {
    let target = &synthesis.module.funcs[request.func].name;
    Diagnostic::defect(
        format!("the two halves of the derivative of `{target}` do not agree about the tape"),
        "a reverse sweep that keeps the tape should need the same values as one that frees it",
    )
}
