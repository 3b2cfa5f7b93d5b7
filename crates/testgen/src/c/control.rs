//! Control flow: branches, loops, ways out of them, calls.

use super::Writer;
use crate::tree::{Args, Base, Cond, Expr, Form, Int, Kind, Returns, SLOTS, Slot, Stmt, Trips};

impl Writer<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    pub(super) fn branches(&mut self, cond: &Cond, then: &[Stmt], other: &[Stmt]) {
        let cond = self.cond(cond);
        self.line(&format!("if {cond} {{"));
        self.stmts(then);
        self.line("} else {");
        self.stmts(other);
        self.line("}");
    }

    pub(super) fn switch(&mut self, value: &Int, arms: &[Vec<Stmt>]) {
        let value = self.int(value);
        self.line(&format!("switch ({value} & 3) {{"));
        for (n, arm) in arms.iter().enumerate() {
            self.line(&format!("case {n}: {{"));
            self.stmts(arm);
            self.line("} break;");
        }
        self.line("}");
    }

    pub(super) fn repeat(&mut self, form: Form, trips: &Trips, body: &[Stmt]) {
        let number = self.fresh();
        let limit = match trips {
            Trips::Const(n) | Trips::While(_, n) => (n % 6).to_string(),
            Trips::Int(int) => format!("{} & 3", self.int(int)),
        };
        let also = match trips {
            Trips::While(cond, _) => format!(" & {}", self.cond(cond)),
            _ => String::new(),
        };
        let (i, last) = (format!("i{number}"), format!("limit{number}"));
        self.line(&format!("{{ long {last} = {limit};"));
        match form {
            Form::DoWhile => {
                self.line(&format!("long {i} = 0;"));
                self.line("do {");
            }
            Form::Down => {
                let test = format!("({i} > 0){also}");
                self.line(&format!("for (int {i} = (int){last}; {test}; {i}--) {{"));
            }
            Form::While | Form::Pointer(_) => {
                // The pointer stays within the array: from the first element to the fifth.
                let bump = match form {
                    Form::Pointer(slot) => {
                        let base = self.base(self.lasting(Base::Buffer));
                        let next = format!("{i} == 0 || {i} >= 3 ? {base} : s{slot} + 1");
                        format!("s{slot} = {next}, ")
                    }
                    _ => String::new(),
                };
                let test = format!("({i} < {last}){also}");
                self.line(&format!("for (long {i} = 0; {test}; {bump}{i}++) {{"));
            }
        }
        self.loops.push((number, self.buffers.len()));
        self.stmts(body);
        self.loops.pop();
        self.line(&format!("continue{number}:;"));
        match form {
            Form::DoWhile => self.line(&format!("}} while ((++{i} < {last}){also});")),
            _ => self.line("}"),
        }
        self.line(&format!("break{number}:; }}"));
    }

    fn free_buffers(&mut self, keep: usize) {
        let open = self.buffers[keep..].iter().rev().filter(|b| b.heap);
        let lines: Vec<String> = open.map(|b| format!("free({});", b.name)).collect();
        lines.iter().for_each(|line| self.line(line));
    }

    /// Goes to a label of the innermost loop if a condition holds.
    pub(super) fn leave_loop(&mut self, cond: &Cond, label: &str) {
        let Some(&(number, buffers)) = self.loops.last() else {
            return;
        };
        let cond = self.cond(cond);
        self.line(&format!("if {cond} {{"));
        self.free_buffers(buffers);
        self.line(&format!("goto {label}{number}; }}"));
    }

    /// Returns; with no expression, a simple value.
    pub(super) fn return_now(&mut self, result: Option<&Expr>) {
        let value = match (self.routine.returns, result) {
            (Returns::Nothing, _) => None,
            (Returns::Pointer, None) => Some("p".to_string()),
            (Returns::Pointer, Some(_)) => Some("n > 1 ? q : p".to_string()),
            (Returns::Double, None) => Some("u * 0.5".to_string()),
            (Returns::Double, Some(expr)) => Some(self.expr(expr)),
            (Returns::Doubles, expr) => {
                let second = expr.map_or("u".to_string(), |expr| self.expr(expr));
                Some(format!("(Doubles){{u, {second}}}"))
            }
        };
        let returns = super::return_type(self.routine.returns);
        match value {
            Some(value) => {
                self.line(&format!("{{ {returns} result = {value};"));
                self.free_buffers(0);
                self.line("<free>");
                self.line("return result; }");
            }
            None => {
                self.free_buffers(0);
                self.line("<free>");
                self.line("return;");
            }
        }
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
        let kept = |base: Base| match helper.returns {
            Returns::Pointer => self.base(self.lasting(base)),
            _ => self.base(base),
        };
        let fixed = || {
            let slot = SLOTS.iter().position(|kind| *kind == Kind::Fixed);
            slot.map_or("0.5".to_string(), |slot| format!("s{slot}"))
        };
        let constant = || "c".to_string();
        let (first, second, float) = match args {
            Args::Active(x, y, float) => (kept(*x), kept(*y), self.expr(float)),
            Args::FixedFloat(x, y) => (kept(*x), kept(*y), fixed()),
            Args::MixedPointer(x, float) if helper.reads_second && self.is_main() => {
                (kept(*x), constant(), self.expr(float))
            }
            Args::MixedPointer(x, float) => (kept(*x), kept(*x), self.expr(float)),
            Args::Fixed if self.is_main() => (constant(), constant(), fixed()),
            Args::Fixed => ("p".to_string(), "p".to_string(), fixed()),
        };
        let is_fixed = matches!(args, Args::Fixed) && self.is_main();
        let recursive = helper.recursive || other.is_some_and(|(_, _, other)| other.recursive);
        let depth = if recursive { "2" } else { "n" };
        let name = match other {
            Some((cond, other, _)) => {
                let cond = self.cond(cond);
                format!("({cond} ? helper{callee} : helper{other})")
            }
            None if (callee + result).is_multiple_of(8) && !is_fixed => {
                format!("pointer_to_helper{callee}")
            }
            None => format!("helper{callee}"),
        };
        let text = format!("{name}({first}, {second}, {float}, {depth})");
        self.make_call(&text, helper.returns, result, is_fixed);
    }

    pub(super) fn recurse(&mut self, first: Base, float: &Expr, result: Slot) {
        let (Some(number), true) = (self.number, self.routine.recursive) else {
            return;
        };
        let first = self.base(self.lasting(first));
        let text = format!("helper{number}({first}, q, {}, n - 1)", self.expr(float));
        self.make_call(&text, self.routine.returns, result, false);
    }

    fn make_call(&mut self, text: &str, returns: Returns, result: Slot, fixed: bool) {
        let kind = SLOTS[result];
        let line = match (returns, kind) {
            (Returns::Double, Kind::Float) => format!("s{result} = {text};"),
            (Returns::Double, Kind::Fixed) if fixed => format!("s{result} = {text};"),
            (Returns::Pointer, Kind::Ptr) if !fixed => format!("s{result} = {text};"),
            (Returns::Doubles, Kind::Float) => format!("s{result} = difference({text});"),
            _ => format!("{text};"),
        };
        self.line(&line);
    }
}
