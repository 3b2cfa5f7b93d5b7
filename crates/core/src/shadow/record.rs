//! Notes of what a forward derivative touches, for those who check derivatives (see
//! [`compare`](crate::compare)).
//!
//! Nobody but the derivative knows which memory behind an argument has derivatives, and where the
//! shadow of each number is. A recording derivative is a forward derivative that tells, at every
//! access through a pointer with a shadow, both addresses and what is there; and of memory that it
//! makes or frees, that it does. What takes these notes is linked to the program.
//!
//! | function | is told |
//! | --- | --- |
//! | `__zymase_check_access(primal, shadow, bytes, period, what, place)` | the numbers at every `period` in so many bytes; `what` is the number of the format in [`FloatKind::ALL`] and 1, or 0 for a pointer, 253 for bytes that are used as different types, 254 for those of which no type is known, 255 for those that become the same in every run; and 256 for a write and 65536 for each derivative before this one |
//! | `__zymase_check_made(memory, bytes)` | memory that did not exist before |
//! | `__zymase_check_freed(memory)` | memory that exists no longer |
//! | `__zymase_check_unseen(name)` | a function that accesses memory without telling |

use super::Walk;
use crate::analysis::types::{Piece, known_byte};
use crate::ir::{
    AllocInfo, Builder, Constant, FloatKind, Function, Global, Inst, InstData, Module, Op,
    Signature, Symbol, Type, Value,
};
use crate::support::{self, Callable, constant_text};

/// A byte that is used as different types.
const DISPUTED: i128 = 253;
/// A byte of which nothing is known.
pub const UNTYPED: i128 = 254;
/// A byte that becomes the same in every run.
const CLEARED: i128 = 255;
/// The bit of `what` that says that memory is written.
const WRITES: i128 = 1 << 8;
/// The bits of `what` from which on the number of the derivative stands.
const LANE: u32 = 16;

impl Walk<'_> {
    /// Tells of a load or store, if this derivative tells such things.
    pub(super) fn note_access(&mut self, inst: Inst, data: &InstData) {
        match (&data.op, self.primal.function.result(inst)) {
            (Op::Load(_), Some(result)) => self.note_value(inst, data.args[0], result, false),
            (Op::Store(_), _) => self.note_value(inst, data.args[1], data.args[0], true),
            (Op::Accumulate(_), _) => self.note_value(inst, data.args[0], data.args[1], true),
            (Op::MemSet(_), _) => self.note_set(inst, data),
            _ => {}
        }
    }

    /// Tells of the numbers and pointers in `value`, which is loaded from or stored to a pointer, and
    /// of bytes in it of which nobody knows what they are.
    fn note_value(&mut self, inst: Inst, pointer: Value, value: Value, writes: bool) {
        if !self.primal.key.recording || !self.primal.has_shadow(pointer) {
            return;
        }
        let (module, function) = (&self.synthesis.module, &self.primal.function);
        let pieces = self.primal.types.pieces(module, function, value);
        let same = |at: i64| writes && known_byte(function, value, at, 0).is_some();
        let told = pieces.iter().filter_map(|(offset, piece)| match piece {
            Piece::Unknown if same(*offset) => Some((*offset, CLEARED, 1)),
            piece => code(piece, module).map(|(what, bytes)| (*offset, what, bytes)),
        });
        let mut told: Vec<(i64, i128, i128)> = told.collect();
        // Bytes side by side are told of at once.
        told.dedup_by(|next, last| {
            let bytes = next.2 == 1 && next.1 == last.1 && next.0 == last.0 + last.2 as i64;
            last.2 += i128::from(bytes);
            bytes
        });
        for (offset, what, bytes) in told {
            let period = if what >= DISPUTED { 1 } else { bytes };
            let length = self.func.iconst(Type::i64(), bytes);
            self.note(inst, pointer, offset, (length, period), what, writes);
        }
    }

    /// Tells of memory whose bytes become all the same.
    fn note_set(&mut self, inst: Inst, data: &InstData) {
        if self.primal.key.recording && self.primal.has_shadow(data.args[0]) {
            let mut builder = self.builder(Some(inst));
            let length = support::extend(&mut builder, data.args[2], Type::i64());
            self.note(inst, data.args[0], 0, (length, 1), CLEARED, true);
        }
    }

    /// Tells of what a copy reads and writes. Where the types are not known, nobody can tell.
    pub(super) fn note_copy(&mut self, inst: Inst, data: &InstData) {
        if !self.primal.key.recording {
            return;
        }
        let pieces = self.primal.copied_pieces(&self.synthesis.module, inst);
        let pieces = pieces.ok().filter(|pieces| !pieces.relocated);
        let sides = [(data.args[0], true), (data.args[1], false)];
        for (pointer, writes) in sides
            .into_iter()
            .filter(|(p, _)| self.primal.has_shadow(*p))
        {
            let Some(pieces) = &pieces else {
                let name = self.primal.function.name.clone();
                let mut builder = Builder::new(&mut self.func, self.block);
                note_unseen(&mut self.synthesis.module, &mut builder, &name);
                continue;
            };
            let length = data.args[2];
            let length = support::extend(&mut self.builder(Some(inst)), length, Type::i64());
            for (offset, piece) in pieces.scalars() {
                let Some((what, _)) = code(piece, &self.synthesis.module) else {
                    continue;
                };
                let mut builder = self.builder(Some(inst));
                let before = builder.func.iconst(Type::i64(), (*offset).into());
                let rest = builder.sub(length, before);
                let range = (rest, pieces.period.into());
                self.note(inst, pointer, *offset, range, what, writes);
            }
            for &(offset, _) in &pieces.words {
                let bytes = self.synthesis.module.layout.pointer_bytes;
                let bytes = self.func.iconst(Type::i64(), bytes.into());
                self.note(inst, pointer, offset, (bytes, 1), UNTYPED, writes);
            }
        }
    }

    /// Tells of an access at an offset from a pointer, for each derivative at once.
    fn note(
        &mut self,
        inst: Inst,
        pointer: Value,
        offset: i64,
        (length, period): (Value, i128),
        what: i128,
        writes: bool,
    ) {
        let place = self.place(inst);
        let access = access_note(&mut self.synthesis.module);
        let shadows = self.shadows_of(pointer);
        for (lane, shadow) in shadows.into_iter().enumerate() {
            let what = what | if writes { WRITES } else { 0 } | ((lane as i128) << LANE);
            let mut builder = self.builder(Some(inst));
            let [primal, shadow] = [pointer, shadow].map(|p| builder.offset(p, offset));
            let period = builder.func.iconst(Type::i64(), period);
            let what = builder.func.iconst(Type::i64(), what);
            let place = address(&mut builder, place);
            let args = vec![primal, shadow, length, period, what, place];
            builder.call(access.0, access.1.clone(), args);
        }
    }

    fn place(&mut self, inst: Inst) -> Global {
        let module = &mut self.synthesis.module;
        let loc = self.primal.function.inst(inst).loc;
        let place = loc.map(|loc| &module.locs[loc]);
        let place = place.map_or(String::new(), |loc| format!("{}:{}", loc.file, loc.line));
        constant_text(module, format!("{place}\0"))
    }

    /// Tells that memory is new.
    pub(super) fn note_made(&mut self, inst: Inst, memory: Value, bytes: Value) {
        if self.primal.key.recording {
            let (made, sig) = made(&mut self.synthesis.module);
            let args = vec![memory, bytes];
            self.builder(Some(inst)).call(made, sig, args);
        }
    }

    /// Tells of new memory of the frame.
    pub(super) fn note_alloca(&mut self, inst: Inst, size: i128, count: Value) {
        if let (true, Some(memory)) = (self.primal.key.recording, self.func.result(inst)) {
            let mut builder = self.builder(Some(inst));
            let count = support::extend(&mut builder, count, Type::i64());
            let size = builder.func.iconst(Type::i64(), size);
            let bytes = builder.mul(count, size);
            self.note_made(inst, memory, bytes);
        }
    }

    /// Tells that memory is about to be freed.
    pub(super) fn note_freed(&mut self, inst: Inst, data: &InstData, info: &AllocInfo) {
        let memory = data.args[info.ptr_arg.unwrap_or(0) as usize];
        // How much there is, only the library of C can tell.
        let known = info.family == "malloc" || info.family.starts_with("_Zn");
        if !self.primal.key.recording || !self.primal.has_shadow(memory) || !known {
            return;
        }
        let sig = Signature::new(vec![Type::ptr()], Type::void());
        let freed = Function::new("__zymase_check_freed", sig.clone());
        let freed = self.synthesis.module.declare(freed);
        self.builder(Some(inst)).call(freed, sig, vec![memory]);
    }
}

/// What is told of memory that is new, or of shadows that nobody else knows.
pub fn made(module: &mut Module) -> Callable {
    let sig = Signature::new(vec![Type::ptr(), Type::i64()], Type::void());
    let made = Function::new("__zymase_check_made", sig.clone());
    (module.declare(made), sig)
}

/// Tells that the function of this name accesses memory without telling.
pub fn note_unseen(module: &mut Module, builder: &mut Builder<'_>, name: &str) {
    let sig = Signature::new(vec![Type::ptr()], Type::void());
    let unseen = Function::new("__zymase_check_unseen", sig.clone());
    let unseen = module.declare(unseen);
    let name = constant_text(module, format!("{name}\0"));
    let name = address(builder, name);
    builder.call(unseen, sig, vec![name]);
}

/// Tells of numbers of one format at every `period` in `bytes`, which may be read and written.
pub fn note_numbers(
    module: &mut Module,
    builder: &mut Builder<'_>,
    (primal, shadow, lane): (Value, Value, usize),
    (bytes, period): (Value, Value),
    kind: FloatKind,
) {
    let access = access_note(module);
    let place = constant_text(module, "\0".to_string());
    let what = number(kind) | WRITES | ((lane as i128) << LANE);
    let what = builder.func.iconst(Type::i64(), what);
    let place = address(builder, place);
    let args = vec![primal, shadow, bytes, period, what, place];
    builder.call(access.0, access.1, args);
}

/// The number of a format, as those who take notes know it.
pub fn number(kind: FloatKind) -> i128 {
    let position = FloatKind::ALL.iter().position(|&known| known == kind);
    position.map_or(0, |position| position as i128 + 1)
}

fn access_note(module: &mut Module) -> Callable {
    let (ptr, long) = (Type::ptr(), Type::i64());
    let sig = Signature::new(vec![ptr, ptr, long, long, long, ptr], Type::void());
    let access = Function::new("__zymase_check_access", sig.clone());
    (module.declare(access), sig)
}

fn address(builder: &mut Builder<'_>, text: Global) -> Value {
    let address = Constant::Address(Symbol::Global(text), 0);
    builder.func.constant(Type::ptr(), address)
}

/// The number and size of what a note tells of; of integers, nothing.
fn code(piece: &Piece, module: &Module) -> Option<(i128, i128)> {
    match piece {
        Piece::Float(kind) => Some((number(*kind), kind.bytes().into())),
        Piece::Ptr => Some((0, module.layout.pointer_bytes.into())),
        Piece::Unknown => Some((UNTYPED, 1)),
        Piece::Conflict => Some((DISPUTED, 1)),
        Piece::Int => None,
    }
}
