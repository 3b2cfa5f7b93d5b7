//! Statements other than control flow.

use super::expr::number;
use super::{Lowering, Memory};
use crate::contraction::write::write;
use crate::reduction::{rows, search};
use crate::tree::{ARRAY, Base, Index, Move, OWNER, Stmt};

impl Lowering<'_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        if self.dead {
            return;
        }
        match stmt {
            Stmt::If(cond, then, other) => self.branches(cond, then, other),
            Stmt::Switch(value, arms) => self.switch(value, arms),
            Stmt::Loop(form, trips, body) => self.repeat(*form, trips, body),
            Stmt::Break(cond) => self.leave_loop(cond, false),
            Stmt::Continue(cond) => self.leave_loop(cond, true),
            Stmt::Return(cond, result) => self.return_if(cond, result),
            Stmt::Call(callee, args, result) => self.call(*callee, None, args, *result),
            Stmt::CallEither(cond, [callee, other], args, result) => {
                self.call(*callee, Some((cond, *other)), args, *result);
            }
            Stmt::Recurse(base, float, result) => self.recurse(*base, float, *result),
            Stmt::Buffer(heap, body) => self.buffer(*heap, body),
            Stmt::Nest(nest) => self.nest(nest),
            Stmt::Points(points) => self.points(points),
            Stmt::Contraction(of) => write(self, of),
            Stmt::Search(of) => search::write(self, of),
            Stmt::RowWise(of) => rows::write(self, of),
            other => self.simple(other),
        }
    }

    fn simple(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set(slot, expr) | Stmt::SetFixed(slot, expr) => {
                let value = self.expr(expr);
                self.set(*slot, value);
            }
            Stmt::SetInt(slot, int) => {
                let value = self.int(int);
                self.set(*slot, value);
            }
            Stmt::SetPtr(slot, base, at) => {
                let base = self.lasting(*base);
                let value = self.element(base, *at, crate::tree::REACH);
                self.set(*slot, value);
            }
            Stmt::SelectPtr(slot, cond, x, y) => {
                let cond = self.cond(cond);
                let (x, y) = (self.lasting(*x), self.lasting(*y));
                let (x, y) = (self.base(x), self.base(y));
                let value = self.value(&format!("select {cond}, {x}, {y} : ptr"));
                self.set(*slot, value);
            }
            Stmt::SetLane(slot, index, expr) => {
                let (vector, index) = (self.get(*slot), self.index(index, 2));
                let value = self.expr(expr);
                let text = format!("insertelement {vector}, {value}, {index} : <2 x f64>");
                let value = self.value(&text);
                self.set(*slot, value);
            }
            Stmt::VectorOp(slot, op, place) => {
                let vector = self.get(*slot);
                let at = match &place.index {
                    Index::Const(n) => self.element(place.base, *n, 2),
                    Index::Int(_) => self.element(place.base, 0, 2),
                };
                let other = self.value(&format!("load <2 x f64> {at}, align 8"));
                let text = match *op {
                    "shuffle" => format!("shuffle {vector}, {other}, [3, 0] : <2 x f64>"),
                    "store" => {
                        self.line(&format!("store {vector}, {at}, align 8"));
                        return;
                    }
                    op => format!("{op} {vector}, {other} : <2 x f64>"),
                };
                let value = self.value(&text);
                self.set(*slot, value);
            }
            Stmt::SetRecord(slot, field, expr) => {
                let record = self.get(*slot);
                let value = self.expr(expr);
                let path = 2 * (field % 2);
                let text = format!("insert {record}, {value}, [{path}] : {{f64, i64, f64}}");
                let value = self.value(&text);
                self.set(*slot, value);
            }
            Stmt::SetRecordInt(slot, int) => {
                let record = self.get(*slot);
                let value = self.int(int);
                let value = self.value(&format!(
                    "insert {record}, {value}, [1] : {{f64, i64, f64}}"
                ));
                self.set(*slot, value);
            }
            Stmt::SetSingle(slot, op, expr) => {
                let old = self.get(*slot);
                let value = self.expr(expr);
                let value = self.value(&format!("fptrunc {value} : f32"));
                let value = self.value(&format!("{op} {old}, {value} : f32"));
                let value = self.value(&format!("math sin {value} : f32"));
                self.set(*slot, value);
            }
            Stmt::SetBits(slot, expr) => {
                let value = self.expr(expr);
                let value = self.value(&format!("bitcast {value} : i64"));
                self.set(*slot, value);
            }
            Stmt::LoadBits(slot, place) => {
                let at = self.place(place);
                let value = self.value(&format!("load i64 {at}, align 8"));
                self.set(*slot, value);
            }
            Stmt::StoreBits(slot, place) => {
                let value = self.get(*slot);
                let at = self.place(place);
                self.line(&format!("store {value}, {at}, align 8"));
            }
            Stmt::SetPair(slot, half, expr) => {
                let old = self.get(*slot);
                let value = self.expr(expr);
                let single = self.value(&format!("fptrunc {value} : f32"));
                let bits = self.value(&format!("bitcast {single} : i32"));
                let wide = self.value(&format!("zext {bits} : i64"));
                let (mask, wide) = match half % 2 {
                    0 => ("0xffffffff00000000", wide),
                    _ => ("0xffffffff", self.value(&format!("shl {wide}, 32:i64"))),
                };
                let kept = self.value(&format!("and {old}, {mask}:i64"));
                let value = self.value(&format!("or {kept}, {wide} : i64"));
                self.set(*slot, value);
            }
            Stmt::StorePair(slot, at) => {
                let value = self.get(*slot);
                let at = self.single(2 * (at % 4));
                self.line(&format!("store {value}, {at}, align 4"));
            }
            Stmt::LoadPair(slot, at) => {
                let at = self.single(2 * (at % 4));
                let value = self.value(&format!("load i64 {at}, align 4"));
                self.set(*slot, value);
            }
            Stmt::StoreSingle(at, expr) => {
                let value = self.expr(expr);
                let value = self.value(&format!("fptrunc {value} : f32"));
                let at = self.single(*at);
                self.line(&format!("store {value}, {at}, align 4"));
            }
            Stmt::Store(place, expr) => {
                let value = self.expr(expr);
                let at = self.place(place);
                self.line(&format!("store {value}, {at}, align 8"));
            }
            Stmt::Accumulate(place, expr) => {
                let value = self.expr(expr);
                let at = self.place(place);
                self.line(&format!("accumulate {at}, {value}, align 8"));
            }
            Stmt::StoreConst(index, slot) => {
                if self.is_main() {
                    let value = self.get(*slot);
                    let index = self.index(index, ARRAY);
                    let at = self.value(&format!("address %c + 8*{index}"));
                    self.line(&format!("store {value}, {at}, align 8"));
                }
            }
            other => self.memory(other),
        }
    }

    fn memory(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Move(kind, to, to_at, from, from_at) => {
                self.move_doubles(*kind, (*to, *to_at), (*from, *from_at));
            }
            Stmt::MemMove(to, to_at, from, from_at, count) => {
                // At most three elements, so that every base is large enough.
                let to = self.element(*to, *to_at, 3);
                let from = self.element(*from, *from_at, 3);
                let count = self.index(count, 4);
                let bytes = self.value(&format!("mul {count}, 8:i64"));
                self.line(&format!("memmove {to}, {from}, {bytes}"));
            }
            Stmt::MemCopy(to, from, count) => {
                if !to.may_copy(*from, self.is_main()) {
                    return;
                }
                let (to, from) = (self.base(*to), self.base(*from));
                let bytes = 8 * (1 + i64::from(count % 4));
                self.line(&format!("memcopy {to}, {from}, {bytes}:i64"));
            }
            Stmt::CopyFixed(to, at) if self.is_main() => {
                let to = self.element(*to, *at, 2);
                self.line(&format!("memcopy {to}, %c, 16:i64"));
            }
            Stmt::MemSet(base, at, count) => {
                let count = 1 + i64::from(count % 3);
                let to = self.element(*base, *at, count);
                self.line(&format!("memset {to}, 0:i8, {}:i64, align 8", 8 * count));
            }
            Stmt::StoreTable(n, base) => {
                let base = self.lasting(*base);
                let value = self.base(base);
                self.touch(Memory::Table);
                let at = self.value(&format!("address %table + {}", 8 * (n % 4)));
                self.line(&format!("store {value}, {at}, align 8"));
            }
            Stmt::StoreIndirect(n, base) => {
                let base = self.lasting(*base);
                let value = self.base(base);
                self.touch(Memory::Table);
                self.touch(Memory::Indirect);
                let table = self.value("load ptr %indirect, align 8");
                let at = self.value(&format!("address {table} + {}", 8 * (n % 4)));
                self.line(&format!("store {value}, {at}, align 8"));
            }
            Stmt::Rotate(int) => {
                let int = self.int(int);
                self.touch(Memory::Table);
                self.line(&format!("call @rotate(%table, {int})"));
            }
            Stmt::Update(from, to, expr) => {
                let (from, to, value) = (self.int(from), self.int(to), self.expr(expr));
                self.touch(Memory::Table);
                self.line(&format!("call @update(%table, {from}, {to}, {value})"));
            }
            Stmt::Choose(slot, x, y, int) => {
                let (x, y) = (self.lasting(*x), self.lasting(*y));
                let (x, y, int) = (self.base(x), self.base(y), self.int(int));
                self.touch(Memory::Chosen);
                self.line(&format!("call @choose(%chosen, {x}, {y}, {int})"));
                let value = self.value("load ptr %chosen, align 8");
                self.set(*slot, value);
            }
            Stmt::Kernel(kernel, [first, second], [to, other]) => {
                let (first, second) = (self.base(*first), self.base(*second));
                let (x, y) = (self.get(*to), self.get(*other));
                let name = kernel.name();
                let value = self.value(&format!("call @{name}({first}, {second}, {x}, {y}, %n)"));
                self.set(*to, value);
            }
            Stmt::Renew => self.renew(),
            Stmt::StoreField(n, expr) => {
                let value = self.expr(expr);
                let at = self.record(*n, 0);
                self.line(&format!("store {value}, {at}, align 8"));
            }
            Stmt::StoreFieldInt(n, int) => {
                let value = self.int(int);
                let at = self.record(*n, 8);
                self.line(&format!("store {value}, {at}, align 8"));
            }
            Stmt::StoreFieldPtr(n, base) => {
                let base = self.lasting(*base);
                let value = self.base(base);
                let at = self.record(*n, 16);
                self.line(&format!("store {value}, {at}, align 8"));
            }
            Stmt::MoveRecords(to, from, count) => {
                let count = 1 + i64::from(count % 3);
                let last = (4 - count) as u8;
                let (to, from) = (
                    self.record(to % (last + 1), 0),
                    self.record(from % (last + 1), 0),
                );
                self.line(&format!("memmove {to}, {from}, {}:i64", 32 * count));
            }
            Stmt::CopyRecordValue(to, from) => {
                let ty = "{f64, i64, ptr, f32, f32}";
                let from = self.record(*from, 0);
                let value = self.value(&format!("load {ty} {from}, align 8"));
                let float = self.value(&format!("extract {value}, [0] : f64"));
                let more = self.value(&format!("fmul {float}, {} : f64", number(0.75)));
                let value = self.value(&format!("insert {value}, {more}, [0] : {ty}"));
                let to = self.record(*to, 0);
                self.line(&format!("store {value}, {to}, align 8"));
            }
            _ => {}
        }
    }

    fn move_doubles(&mut self, kind: Move, to: (Base, u8), from: (Base, u8)) {
        let count = match kind {
            Move::Integer | Move::Double => 1,
            _ => 2,
        };
        let to = self.element(to.0, to.1, count);
        let from = self.element(from.0, from.1, count);
        let ty = match kind {
            Move::Integer => "i64",
            Move::Double => "f64",
            Move::SwappedDoubles => "<2 x f64>",
            Move::SwappedIntegers => "<2 x i64>",
            Move::Array => "[2 x f64]",
            Move::Wide => "i128",
        };
        let mut value = self.value(&format!("load {ty} {from}, align 8"));
        if matches!(kind, Move::SwappedDoubles | Move::SwappedIntegers) {
            value = self.value(&format!("shuffle {value}, {value}, [1, 0] : {ty}"));
        }
        self.line(&format!("store {value}, {to}, align 8"));
    }

    /// Another array takes the place of the owned one.
    fn renew(&mut self) {
        let old = self.base(Base::Owned);
        let new = self.value("call @malloc(64)");
        let high = self.value(&format!("address {new} + 32"));
        self.line(&format!("memmove {new}, {old}, 32:i64"));
        self.line(&format!("memmove {high}, %p, 32:i64"));
        self.line(&format!("call @free({old})"));
        let index = self.value("and %n, 7:i64");
        let typed = self.value(&format!("address {new} + 8*{index}"));
        self.value(&format!("load f64 {typed}, align 8"));
        self.set(OWNER, new);
    }

    /// Memory for some statements. Nothing keeps its address when they are done.
    fn buffer(&mut self, heap: bool, body: &[Stmt]) {
        let buffer = match heap {
            true => self.value("call @malloc(64)"),
            false => self.value("alloca [8 x f64], align 8"),
        };
        let high = self.value(&format!("address {buffer} + 32"));
        self.line(&format!("memset {buffer}, 0:i8, 32:i64, align 8"));
        self.line(&format!("memmove {high}, %p, 32:i64"));
        let index = self.value("and %n, 7:i64");
        let typed = self.value(&format!("address {buffer} + 8*{index}"));
        self.value(&format!("load f64 {typed}, align 8"));
        self.buffers.push((buffer, heap));
        for stmt in body {
            self.stmt(stmt);
        }
        if let Some((buffer, true)) = self.buffers.pop() {
            self.line(&format!("call @free({buffer})"));
        }
    }
}
