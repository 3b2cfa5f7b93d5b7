//! Control flow: branches, loops, ways out of them, calls.

use super::{Around, Env, Lowering, return_type};
use crate::tree::{
    Args, Base, Cond, Expr, Form, Goal, Kind, OWNER, Returns, SLOTS, Slot, Stmt, Trips,
};
use std::collections::BTreeSet;

impl Lowering<'_> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    /// Leaves the block on an edge that is written later; none if control does not get here.
    fn leave(&mut self) -> Option<(usize, Env)> {
        if self.dead {
            return None;
        }
        let (id, text) = self.open_edge();
        self.line(&format!("jump {text}"));
        Some((id, self.env.clone()))
    }

    pub(super) fn branches(&mut self, cond: &Cond, then: &[Stmt], other: &[Stmt]) {
        if self.dead {
            return;
        }
        let cond = self.cond(cond);
        let env = self.env.clone();
        let mut meeting = Vec::new();
        let (yes, no) = (self.block_name(), self.block_name());
        if other.is_empty() {
            let (id, text) = self.open_edge();
            self.line(&format!("branch {cond}, {yes}, {text}"));
            meeting.push((id, env.clone()));
        } else {
            self.line(&format!("branch {cond}, {yes}, {no}"));
        }
        self.start(&yes);
        self.stmts(then);
        meeting.extend(self.leave());
        if !other.is_empty() {
            self.start(&no);
            self.env = env;
            self.stmts(other);
            meeting.extend(self.leave());
        }
        self.merge(meeting);
    }

    pub(super) fn switch(&mut self, value: &crate::tree::Int, arms: &[Vec<Stmt>]) {
        if self.dead {
            return;
        }
        let value = self.int(value);
        let value = self.value(&format!("and {value}, 3:i64"));
        let env = self.env.clone();
        let mut meeting = Vec::new();
        let mut cases = String::new();
        let blocks: Vec<String> = arms.iter().map(|_| self.block_name()).collect();
        for (n, block) in blocks.iter().enumerate() {
            cases.push_str(&format!("{n}: {block}, "));
        }
        // Two cases share an edge to the meeting point.
        for n in arms.len()..arms.len() + 2 {
            let (id, text) = self.open_edge();
            meeting.push((id, env.clone()));
            cases.push_str(&match n == arms.len() {
                true => format!("{n}: {text}, "),
                false => format!("default: {text}"),
            });
        }
        self.line(&format!("switch {value}, {cases}"));
        for (block, arm) in blocks.iter().zip(arms) {
            self.start(block);
            self.env = env.clone();
            self.stmts(arm);
            meeting.extend(self.leave());
        }
        self.merge(meeting);
    }

    pub(super) fn repeat(&mut self, form: Form, trips: &Trips, body: &[Stmt]) {
        if self.dead {
            return;
        }
        let mut carried = assigned(body);
        if let Form::Pointer(slot) = form {
            carried.insert(slot);
        }
        let limit = match trips {
            Trips::Const(n) | Trips::While(_, n) => format!("{}:i64", n % 6),
            Trips::Int(int) => {
                let int = self.int(int);
                self.value(&format!("and {int}, 3:i64"))
            }
        };
        let header = self.block_name();
        let counter = self.fresh();
        let (first, step, ty) = match form {
            Form::Down => {
                let narrow = self.value(&format!("trunc {limit} : i32"));
                (narrow, "add {}, -1:i32", "i32")
            }
            _ => ("0:i64".to_string(), "add nsw {}, 1:i64", "i64"),
        };
        let entry: Vec<String> = std::iter::once(first)
            .chain(carried.iter().map(|&slot| self.get(slot)))
            .collect();
        self.line(&format!("jump {header}({})", entry.join(", ")));
        self.enter_header(&header, &format!("{counter}: {ty}"), &carried);
        self.loops.push(Around {
            breaks: Vec::new(),
            continues: Vec::new(),
            buffers: self.buffers.len(),
        });
        if form != Form::DoWhile {
            self.test(form, trips, &counter, &limit);
        }
        self.stmts(body);
        let around = self.leave();
        if let Some(l) = self.loops.last_mut() {
            l.continues.extend(around);
        }
        let continues = match self.loops.last_mut() {
            Some(l) => std::mem::take(&mut l.continues),
            None => Vec::new(),
        };
        self.merge(continues);
        if !self.dead {
            if let Form::Pointer(slot) = form {
                // It stays within the array: from the first element to the fifth.
                self.bump(slot, &counter);
            }
            let next = self.value(&step.replace("{}", &counter));
            if form == Form::DoWhile {
                self.test(form, trips, &next, &limit);
            }
            let back: Vec<String> = std::iter::once(next)
                .chain(carried.iter().map(|&slot| self.get(slot)))
                .collect();
            self.line(&format!("jump {header}({})", back.join(", ")));
        }
        self.dead = true;
        if let Some(l) = self.loops.pop() {
            self.merge(l.breaks);
        }
    }

    fn bump(&mut self, slot: Slot, counter: &str) {
        let at = self.get(slot);
        let next = self.value(&format!("address {at} + 8"));
        let base = self.lasting(Base::Buffer);
        let base = self.base(base);
        let enough = self.value(&format!("icmp sge {counter}, 3:i64"));
        let foreign = self.value(&format!("icmp eq {counter}, 0:i64"));
        let start = self.value(&format!("select {enough}, {base}, {next} : ptr"));
        let value = self.value(&format!("select {foreign}, {base}, {start} : ptr"));
        self.set(slot, value);
    }

    /// Leaves the innermost loop when it has run often enough.
    fn test(&mut self, form: Form, trips: &Trips, counter: &str, limit: &str) {
        let more = match form {
            Form::Down => self.value(&format!("icmp sgt {counter}, 0:i32")),
            _ => self.value(&format!("icmp slt {counter}, {limit}")),
        };
        let more = match trips {
            Trips::While(cond, _) => {
                let holds = self.cond(cond);
                self.value(&format!("and {more}, {holds} : i1"))
            }
            _ => more,
        };
        let (id, text) = self.open_edge();
        let on = self.block_name();
        self.line(&format!("branch {more}, {on}, {text}"));
        let env = self.env.clone();
        if let Some(l) = self.loops.last_mut() {
            l.breaks.push((id, env));
        }
        self.start(&on);
    }

    /// Frees the heap buffers that were opened after the first `keep`.
    pub(super) fn free_buffers(&mut self, keep: usize) {
        let open: Vec<String> = self.buffers[keep..]
            .iter()
            .rev()
            .filter(|(_, heap)| *heap)
            .map(|(buffer, _)| buffer.clone())
            .collect();
        for buffer in open {
            self.line(&format!("call @free({buffer})"));
        }
    }

    /// Goes somewhere else if a condition holds.
    fn if_then(&mut self, cond: &Cond, then: impl FnOnce(&mut Self)) {
        if self.dead {
            return;
        }
        let cond = self.cond(cond);
        let (yes, no) = (self.block_name(), self.block_name());
        self.line(&format!("branch {cond}, {yes}, {no}"));
        let env = self.env.clone();
        self.start(&yes);
        then(self);
        self.start(&no);
        self.env = env;
    }

    pub(super) fn leave_loop(&mut self, cond: &Cond, again: bool) {
        let Some(keep) = self.loops.last().map(|l| l.buffers) else {
            return;
        };
        self.if_then(cond, |s| {
            s.free_buffers(keep);
            let edge = s.leave();
            if let Some(l) = s.loops.last_mut() {
                match again {
                    true => l.continues.extend(edge),
                    false => l.breaks.extend(edge),
                }
            }
        });
    }

    pub(super) fn return_if(&mut self, cond: &Cond, result: &Expr) {
        self.if_then(cond, |s| s.return_now(Some(result)));
    }

    /// Returns; with no expression, a simple value.
    pub(super) fn return_now(&mut self, result: Option<&Expr>) {
        let value = match (self.routine.returns, result) {
            (Returns::Nothing, _) => None,
            (Returns::Pointer, None) => Some("%p".to_string()),
            (Returns::Pointer, Some(_)) => {
                let first = self.value("icmp sgt %n, 1:i64");
                Some(self.value(&format!("select {first}, %q, %p : ptr")))
            }
            (Returns::Double, None) => Some(self.value("fmul %u, 0.5:f64 : f64")),
            (Returns::Double, Some(expr)) => Some(self.expr(expr)),
            (Returns::Doubles, expr) => {
                let x = expr.map_or("%u".to_string(), |expr| self.expr(expr));
                let one = self.value(&format!(
                    "insert {{0.5, 1.5}}:{{f64, f64}}, {x}, [1] : {{f64, f64}}"
                ));
                Some(self.value(&format!("insert {one}, %u, [0] : {{f64, f64}}")))
            }
        };
        self.free_buffers(0);
        // Whether these arrays exist is known only at the end; the marks are replaced there.
        self.line("<free heap>");
        let owned = self.get(OWNER);
        self.line(&format!("<free owned {owned}>"));
        match value {
            Some(value) => self.line(&format!("return {value}")),
            None => self.line("return"),
        }
        self.dead = true;
    }

    /// A call of a function, or through a pointer to one of two.
    pub(super) fn call(
        &mut self,
        callee: usize,
        other: Option<(&Cond, usize)>,
        args: &Args,
        result: Slot,
    ) {
        let Some((helper, other)) = self.program.callee(self.number, callee, other) else {
            return;
        };
        if self.dead {
            return;
        }
        let recursive = helper.recursive || other.is_some_and(|(_, _, other)| other.recursive);
        let depth = if recursive { "2:i64" } else { "%n" };
        let fixed = self.fixed_value();
        let mut args = args.clone();
        if let Args::Active(x, y, _) | Args::FixedFloat(x, y) = &mut args
            && helper.returns == Returns::Pointer
        {
            (*x, *y) = (self.lasting(*x), self.lasting(*y));
        }
        if let Args::MixedPointer(x, _) = &mut args
            && helper.returns == Returns::Pointer
        {
            *x = self.lasting(*x);
        }
        let (first, second, float) = match &args {
            Args::MixedPointer(first, float) if helper.reads_second && self.is_main() => {
                let first = self.base(*first);
                (first, "%c".to_string(), self.expr(float))
            }
            Args::Fixed if self.is_main() => ("%c".to_string(), "%c".to_string(), fixed),
            Args::Active(first, second, float) => {
                let (first, second) = (self.base(*first), self.base(*second));
                (first, second, self.expr(float))
            }
            Args::FixedFloat(first, second) => {
                let (first, second) = (self.base(*first), self.base(*second));
                (first, second, fixed)
            }
            Args::MixedPointer(first, float) => {
                let first = self.base(*first);
                (first.clone(), first, self.expr(float))
            }
            Args::Fixed => ("%p".to_string(), "%p".to_string(), fixed),
        };
        let is_fixed = matches!(args, Args::Fixed) && self.is_main();
        let args = format!("({first}, {second}, {float}, {depth})");
        // Some calls go through a pointer, which may lead to any helper of this type.
        let pointer = match other {
            Some((cond, other, _)) => {
                let cond = self.cond(cond);
                let either = format!("select {cond}, @helper{callee}:ptr, @helper{other}:ptr");
                Some(self.value(&format!("{either} : ptr")))
            }
            None if (callee + result).is_multiple_of(8) && !is_fixed => {
                Some(self.value(&format!("freeze @helper{callee}:ptr : ptr")))
            }
            None => None,
        };
        let text = match pointer {
            Some(pointer) => {
                let returned = match helper.returns {
                    Returns::Nothing => " -> void",
                    other => return_type(other),
                };
                format!("*{pointer}{args} : (ptr, ptr, f64, i64){returned}")
            }
            None => format!("@helper{callee}{args}"),
        };
        self.make_call(&text, helper.returns, result, is_fixed);
    }

    pub(super) fn recurse(&mut self, first: Base, float: &Expr, result: Slot) {
        let (Some(number), true) = (self.number, self.routine.recursive) else {
            return;
        };
        if self.dead {
            return;
        }
        let first = self.lasting(first);
        let first = self.base(first);
        let float = self.expr(float);
        let depth = self.value("sub %n, 1:i64");
        let text = format!("@helper{number}({first}, %q, {float}, {depth})");
        self.make_call(&text, self.routine.returns, result, false);
    }

    fn make_call(&mut self, text: &str, returns: Returns, result: Slot, fixed: bool) {
        match returns {
            Returns::Nothing => self.line(&format!("call {text}")),
            Returns::Double => {
                let value = self.value(&format!("call {text}"));
                match (SLOTS[result], fixed) {
                    (Kind::Float, _) | (Kind::Fixed, true) => self.set(result, value),
                    _ => {}
                }
            }
            Returns::Pointer => {
                let value = self.value(&format!("call {text}"));
                if SLOTS[result] == Kind::Ptr && !fixed {
                    self.set(result, value);
                }
            }
            Returns::Doubles => {
                let value = self.value(&format!("call {text}"));
                if SLOTS[result] == Kind::Float {
                    let x = self.value(&format!("extract {value}, [0] : f64"));
                    let y = self.value(&format!("extract {value}, [1] : f64"));
                    let sum = self.value(&format!("fsub {x}, {y} : f64"));
                    self.set(result, sum);
                }
            }
        }
    }

    /// A float that no derivative flows through.
    fn fixed_value(&mut self) -> String {
        let slot = SLOTS.iter().position(|kind| *kind == Kind::Fixed);
        match slot {
            Some(slot) => self.get(slot),
            None => "0.5:f64".to_string(),
        }
    }
}

/// The slots that statements may set.
fn assigned(stmts: &[Stmt]) -> BTreeSet<Slot> {
    let mut slots = BTreeSet::new();
    for stmt in stmts {
        match stmt {
            Stmt::Set(slot, _)
            | Stmt::Kernel(_, _, [slot, _])
            | Stmt::SetFixed(slot, _)
            | Stmt::SetInt(slot, _)
            | Stmt::SetPtr(slot, ..)
            | Stmt::SelectPtr(slot, ..)
            | Stmt::SetLane(slot, ..)
            | Stmt::VectorOp(slot, ..)
            | Stmt::SetRecord(slot, ..)
            | Stmt::SetRecordInt(slot, _)
            | Stmt::SetSingle(slot, ..)
            | Stmt::SetBits(slot, _)
            | Stmt::LoadBits(slot, _)
            | Stmt::SetPair(slot, ..)
            | Stmt::LoadPair(slot, _)
            | Stmt::Choose(slot, ..)
            | Stmt::Call(_, _, slot)
            | Stmt::CallEither(_, _, _, slot)
            | Stmt::Recurse(_, _, slot) => {
                slots.insert(*slot);
            }
            Stmt::If(_, then, other) => {
                slots.extend(assigned(then));
                slots.extend(assigned(other));
            }
            Stmt::Switch(_, arms) => arms.iter().for_each(|arm| slots.extend(assigned(arm))),
            Stmt::Loop(form, _, body) => {
                slots.extend(assigned(body));
                if let Form::Pointer(slot) = form {
                    slots.insert(*slot);
                }
            }
            Stmt::Buffer(_, body) => slots.extend(assigned(body)),
            Stmt::Renew => {
                slots.insert(OWNER);
            }
            Stmt::Contraction(of) => {
                slots.insert(of.result);
            }
            Stmt::Search(of) => {
                slots.insert(of.result);
            }
            Stmt::RowWise(of) => {
                slots.insert(of.result);
            }
            Stmt::Points(points) => {
                if let Goal::Sum(slot) = points.goal {
                    slots.insert(slot);
                }
            }
            _ => {}
        }
    }
    slots
}
