//! Statements other than control flow.

use super::expr::field;
use super::{Buffer, Writer};
use crate::contraction::write::write;
use crate::reduction::{rows, search};
use crate::tree::{ARRAY, Index, Move, Nest, NestForm, REACH, Stmt};

impl Writer<'_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If(cond, then, other) => self.branches(cond, then, other),
            Stmt::Switch(value, arms) => self.switch(value, arms),
            Stmt::Loop(form, trips, body) => self.repeat(*form, trips, body),
            Stmt::Break(cond) => self.leave_loop(cond, "break"),
            Stmt::Continue(cond) => self.leave_loop(cond, "continue"),
            Stmt::Return(cond, result) => {
                let cond = self.cond(cond);
                self.line(&format!("if {cond} {{"));
                self.return_now(Some(result));
                self.line("}");
            }
            Stmt::Call(callee, args, result) => self.call(*callee, None, args, *result),
            Stmt::CallEither(cond, [callee, other], args, result) => {
                self.call(*callee, Some((cond, *other)), args, *result);
            }
            Stmt::Recurse(base, float, result) => self.recurse(*base, float, *result),
            Stmt::Buffer(heap, body) => self.buffer(*heap, body),
            Stmt::Nest(nest) => self.nest(nest),
            Stmt::Points(points) => self.points(points),
            Stmt::Contraction(of) => self.braced(|s| write(s, of)),
            Stmt::Search(of) => self.braced(|s| search::write(s, of)),
            Stmt::RowWise(of) => self.braced(|s| rows::write(s, of)),
            other => {
                if let Some(text) = self.simple(other).or_else(|| self.memory(other)) {
                    self.line(&format!("{text};"));
                }
            }
        }
    }

    /// Something whose variables end with it.
    fn braced(&mut self, inside: impl FnOnce(&mut Self)) {
        self.line("{");
        inside(self);
        self.line("}");
    }

    /// A statement that sets a slot or stores one value.
    fn simple(&self, stmt: &Stmt) -> Option<String> {
        Some(match stmt {
            Stmt::Set(slot, expr) | Stmt::SetFixed(slot, expr) => {
                format!("s{slot} = {}", self.expr(expr))
            }
            Stmt::SetInt(slot, int) => format!("s{slot} = {}", self.int(int)),
            Stmt::SetPtr(slot, base, at) => {
                let base = self.lasting(*base);
                format!("s{slot} = {}", self.element(base, *at, REACH))
            }
            Stmt::SelectPtr(slot, cond, x, y) => {
                let (x, y) = (self.lasting(*x), self.lasting(*y));
                let (cond, x, y) = (self.cond(cond), self.base(x), self.base(y));
                format!("s{slot} = {cond} ? {x} : {y}")
            }
            Stmt::SetLane(slot, index, expr) => {
                format!("s{slot}[{}] = {}", self.index(index, 2), self.expr(expr))
            }
            Stmt::VectorOp(slot, op, place) => {
                let at = match &place.index {
                    Index::Const(n) => self.element(place.base, *n, 2),
                    Index::Int(_) => self.element(place.base, 0, 2),
                };
                let other = format!("load_vector({at})");
                match *op {
                    "shuffle" => {
                        format!("s{slot} = __builtin_shufflevector(s{slot}, {other}, 3, 0)")
                    }
                    "store" => format!("store_vector({at}, s{slot})"),
                    "fadd" => format!("s{slot} = s{slot} + {other}"),
                    "fsub" => format!("s{slot} = s{slot} - {other}"),
                    _ => format!("s{slot} = s{slot} * {other}"),
                }
            }
            Stmt::SetRecord(slot, n, expr) => {
                format!("s{slot}.{} = {}", field(*n), self.expr(expr))
            }
            Stmt::SetRecordInt(slot, int) => format!("s{slot}.n = {}", self.int(int)),
            Stmt::SetSingle(slot, op, expr) => {
                let op = match *op {
                    "fadd" => '+',
                    "fsub" => '-',
                    _ => '*',
                };
                format!("s{slot} = sinf(s{slot} {op} (float)({}))", self.expr(expr))
            }
            Stmt::SetBits(slot, expr) => format!("s{slot} = bits({})", self.expr(expr)),
            Stmt::LoadBits(slot, place) => {
                format!("memcpy(&s{slot}, &{}, 8)", self.place(place))
            }
            Stmt::StoreBits(slot, place) => {
                format!("memcpy(&{}, &s{slot}, 8)", self.place(place))
            }
            Stmt::SetPair(slot, half, expr) => {
                let value = self.expr(expr);
                format!(
                    "s{slot} = set_half(s{slot}, {}, (float)({value}))",
                    half % 2
                )
            }
            Stmt::StorePair(slot, at) => {
                format!("memcpy(&{}, &s{slot}, 8)", self.single(2 * (at % 4)))
            }
            Stmt::LoadPair(slot, at) => {
                format!("memcpy(&s{slot}, &{}, 8)", self.single(2 * (at % 4)))
            }
            Stmt::StoreSingle(at, expr) => {
                format!("{} = (float)({})", self.single(*at), self.expr(expr))
            }
            Stmt::Store(place, expr) => format!("{} = {}", self.place(place), self.expr(expr)),
            Stmt::Accumulate(place, expr) => {
                format!("{} += {}", self.place(place), self.expr(expr))
            }
            Stmt::StoreConst(index, slot) if self.is_main() => {
                format!("c[{}] = s{slot}", self.index(index, ARRAY))
            }
            _ => return None,
        })
    }

    /// A statement that copies memory, or stores into what is more than numbers.
    fn memory(&self, stmt: &Stmt) -> Option<String> {
        let address = |base| self.base(self.lasting(base));
        Some(match stmt {
            Stmt::Move(kind, to, to_at, from, from_at) => {
                let (count, how) = match kind {
                    Move::Integer => (1, "move_bits"),
                    Move::Double => (1, "move_double"),
                    Move::SwappedDoubles => (2, "swap_doubles"),
                    Move::SwappedIntegers => (2, "swap_integers"),
                    Move::Array => (2, "move_array"),
                    Move::Wide => (2, "move_wide"),
                };
                let to = self.element(*to, *to_at, count);
                format!("{how}({to}, {})", self.element(*from, *from_at, count))
            }
            Stmt::MemMove(to, to_at, from, from_at, count) => {
                let to = self.element(*to, *to_at, 3);
                let from = self.element(*from, *from_at, 3);
                format!("memmove({to}, {from}, 8 * {})", self.index(count, 4))
            }
            Stmt::MemCopy(to, from, count) if to.may_copy(*from, self.is_main()) => {
                let (to, from) = (self.base(*to), self.base(*from));
                let copy = if to == from { "memmove" } else { "memcpy" };
                format!("{copy}({to}, {from}, {})", 8 * (1 + count % 4))
            }
            Stmt::CopyFixed(to, at) if self.is_main() => {
                format!("memcpy({}, c, 16)", self.element(*to, *at, 2))
            }
            Stmt::MemSet(base, at, count) => {
                let count = 1 + i64::from(count % 3);
                let to = self.element(*base, *at, count);
                format!("memset({to}, 0, {})", 8 * count)
            }
            Stmt::StoreTable(n, base) => format!("table[{}] = {}", n % 4, address(*base)),
            Stmt::StoreIndirect(n, base) => format!("indirect[{}] = {}", n % 4, address(*base)),
            Stmt::Rotate(int) => format!("rotate(table, {})", self.int(int)),
            Stmt::Update(from, to, expr) => {
                let (from, to) = (self.int(from), self.int(to));
                format!("update(table, {from}, {to}, {})", self.expr(expr))
            }
            Stmt::Choose(slot, x, y, int) => {
                let (x, y) = (address(*x), address(*y));
                format!(
                    "choose(&chosen, {x}, {y}, {}), s{slot} = chosen",
                    self.int(int)
                )
            }
            Stmt::Kernel(kernel, [first, second], [to, other]) => {
                let (first, second) = (self.base(*first), self.base(*second));
                let name = kernel.name();
                format!("s{to} = {name}({first}, {second}, s{to}, s{other}, n)")
            }
            Stmt::Renew => "owner = renewed(owner, p)".to_string(),
            Stmt::StoreField(n, expr) => format!("records[{}].x = {}", n % 4, self.expr(expr)),
            Stmt::StoreFieldInt(n, int) => format!("records[{}].n = {}", n % 4, self.int(int)),
            Stmt::StoreFieldPtr(n, base) => format!("records[{}].p = {}", n % 4, address(*base)),
            Stmt::MoveRecords(to, from, count) => {
                let count = 1 + count % 3;
                let places = 5 - count;
                let (to, from) = (to % places, from % places);
                format!("memmove(records + {to}, records + {from}, {count} * sizeof(Record))")
            }
            Stmt::CopyRecordValue(to, from) => {
                format!("records[{}] = scaled(records[{}])", to % 4, from % 4)
            }
            _ => return None,
        })
    }

    /// Memory for some statements, new every time.
    fn buffer(&mut self, heap: bool, body: &[Stmt]) {
        let name = format!("buffer{}", self.fresh());
        let make = match heap {
            true => "malloc(64)",
            false => "__builtin_alloca(64)",
        };
        self.line("{");
        self.line(&format!("double *{name} = {make};"));
        self.line(&format!(
            "memset({name}, 0, 32), memmove({name} + 4, p, 32);"
        ));
        let freed = format!("free({name});");
        self.buffers.push(Buffer { name, heap });
        body.iter().for_each(|stmt| self.stmt(stmt));
        self.buffers.pop();
        if heap {
            self.line(&freed);
        }
        self.line("}");
    }

    fn nest(&mut self, nest: &Nest) {
        let (is_main, has_buffer) = (self.is_main(), !self.buffers.is_empty());
        let [x, y] = nest.from;
        if [x, y]
            .iter()
            .any(|&from| !nest.to.is_apart(from, is_main, has_buffer))
        {
            return;
        }
        let count = self.index(&nest.count, 4);
        let (t, x, y) = (self.base(nest.to), self.base(x), self.base(y));
        let (loops, x, y, outputs): (&[&str], String, String, Vec<String>) = match nest.form {
            NestForm::Map => (
                &["i < C"],
                format!("{x}[i]"),
                format!("{y}[i]"),
                vec![format!("{t}[i] = F")],
            ),
            NestForm::InPlace => (
                &["i < C"],
                format!("{t}[i]"),
                format!("{x}[i]"),
                vec![format!("{t}[i] = F")],
            ),
            NestForm::Dot => (
                &["i < C"],
                format!("{x}[i]"),
                format!("{y}[i]"),
                vec![format!("{t}[1] += F")],
            ),
            NestForm::MatrixVector => (
                &["i < 2", "j < 2"],
                format!("{x}[2 * i + j]"),
                format!("{y}[j]"),
                vec![format!("{t}[i] += F")],
            ),
            NestForm::Outer => (
                &["i < 2", "j < 2"],
                format!("{x}[i]"),
                format!("{y}[j]"),
                vec![format!("{t}[2 * i + j] += F")],
            ),
            NestForm::Product => (
                &["i < 2", "j < 2", "k < 2"],
                format!("{x}[2 * i + k]"),
                format!("{y}[2 * k + j]"),
                vec![format!("{t}[2 * i + j] += F")],
            ),
            NestForm::Triangle => (
                &["i < C", "j < 1 + i"],
                format!("{x}[j]"),
                format!("{y}[i - j]"),
                vec![format!("{t}[i] += F")],
            ),
            NestForm::Others => (
                &["i < C"],
                format!("{x}[i]"),
                format!("{y}[i]"),
                vec![format!("{t}[0] = fmax({t}[0], F)"), format!("{t}[1] *= F")],
            ),
            NestForm::Halves => (
                &["i < 2"],
                format!("{t}[i]"),
                format!("{x}[i]"),
                vec![format!("{t}[2 + i] = F")],
            ),
        };
        let s = format!("s{}", nest.scalar);
        let value = match nest.body % 6 {
            0 => "x * y".to_string(),
            1 => format!("sin(x) * {s}"),
            2 => format!("tanh(x * {s} + y)"),
            3 => format!("x > 0.1 ? y : {s}"),
            4 => "(double)i * y".to_string(),
            _ => "(y - x) * 0.5".to_string(),
        };
        self.line(&format!("for (long C = {count}, once = 1; once; once = 0)"));
        for condition in loops {
            let variable = &condition[..1];
            self.line(&format!(
                "for (long {variable} = 0; {condition}; {variable}++)"
            ));
        }
        self.line(&format!("{{ double x = {x}, y = {y}, F = {value};"));
        for output in outputs {
            self.line(&format!("{output};"));
        }
        self.line("}");
    }
}
