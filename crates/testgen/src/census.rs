//! Which constructs a program contains: what is rare in many programs is not tested.

mod contraction;
mod reduction;

use crate::tree::{
    Base, Carries, Cond, Expr, Form, Fun, Goal, Index, Int, Kernel, Near, NestForm, Points,
    Program, Stmt, Trips,
};
use std::collections::BTreeSet;

/// What generated programs must contain.
pub const CONSTRUCTS: &[&str] = &[
    "loop, constant count",
    "loop, count known at entry",
    "loop, count not known",
    "loop that counts down",
    "loop over a pointer",
    "loop in a loop",
    "loop in two loops",
    "loop left early",
    "iteration left early",
    "function left early",
    "branch in a loop",
    "switch",
    "update in place",
    "pointer into an array",
    "pointer to one of two",
    "copy onto itself",
    "copy of varying size",
    "memory cleared",
    "structure in memory",
    "structure copied",
    "structure as a value",
    "array of pointers",
    "array of pointers, varying index",
    "pointer to pointers",
    "array of pointers passed",
    "pointers behind a restricted one",
    "pointer out of a call by reference",
    "pointer out of a call as result",
    "integer out of a float",
    "control flow by a float",
    "decision on equal floats",
    "control flow by an integer out of a float",
    "call",
    "call in a loop",
    "call of a helper in a helper",
    "call with one array twice",
    "recursion",
    "call through a pointer to one of two",
    "allocation in a loop",
    "allocation freed in another iteration",
    "memory in the frame in a loop",
    "global variable",
    "integer cast",
    "single precision",
    "bits of floats",
    "vector",
    "function near its edge",
    "inactive memory",
    "loop nest as one instruction",
    "independent iterations",
    "memory that iterations use one after the other",
    "memory that carries something from iteration to iteration",
    "search for the best of many numbers",
    "searches one after the other",
    "search for a place",
    "candidates that are equal",
    "search by branches",
    "search by the library",
    "search in a search",
    "search among none",
    "best so far read in a search",
    "place of the best so far read in a search",
    "store in a search",
    "search left early",
    "sum beside a search",
    "rows divided by what is computed of them",
    "rows of exponentials",
    "rows of deviations",
    "rows of a certain length",
    "product of a row",
    "rows that are columns",
    "rows in place",
    "map in the loop that adds up",
    "sum of a row in memory",
    "largest of a row by selects",
    "rows in single precision",
    "row without numbers",
    "rows with something odd about them",
    "loops that multiply and add up",
    "product of matrices",
    "matrix and vector",
    "outer product",
    "dot product",
    "products side by side",
    "transposed operand",
    "rows that overlap",
    "rows at the same place",
    "sums in registers",
    "sums in memory",
    "sums in a small array",
    "sum that begins with what is there",
    "sum of two products",
    "subtraction of products",
    "product, maximum or minimum over a loop",
    "two sums in one loop",
    "sum that is scaled",
    "sum through a function",
    "triangular bounds",
    "elements that are not neighbours",
    "products in single precision",
    "products in two precisions",
    "rows divided by their sums",
    "sum read while it grows",
    "operand written while it is read",
    "store beside a sum",
    "only some products added",
    "sum left early",
    "operand read out of order",
    "operand read where data say",
    "loops that run as often as data say",
    "loop that does not run",
    "output on an operand",
    "output a row behind an operand",
    "output in the midst of an operand",
    "output here or there",
    "one matrix twice",
];

/// The constructs in a program, in functions that are called.
pub fn constructs(program: &Program) -> BTreeSet<&'static str> {
    let mut census = Census {
        program,
        seen: BTreeSet::new(),
        found: BTreeSet::new(),
    };
    census.stmts(&program.main.body, At::default());
    census.expr(&program.main.result);
    census.found
}

/// Where a statement stands.
#[derive(Copy, Clone, Default)]
struct At {
    loops: usize,
    helper: bool,
}

struct Census<'a> {
    program: &'a Program,
    /// The helpers that were visited.
    seen: BTreeSet<usize>,
    found: BTreeSet<&'static str>,
}

impl Census<'_> {
    fn note(&mut self, construct: &'static str) {
        debug_assert!(CONSTRUCTS.contains(&construct), "{construct}");
        self.found.insert(construct);
    }

    fn note_if(&mut self, condition: bool, construct: &'static str) {
        if condition {
            self.note(construct);
        }
    }

    fn stmts(&mut self, stmts: &[Stmt], at: At) {
        for stmt in stmts {
            self.stmt(stmt, at);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, at: At) {
        match stmt {
            Stmt::Set(_, e) | Stmt::SetFixed(_, e) => self.expr(e),
            Stmt::SetRecord(_, _, e) => {
                self.note("structure as a value");
                self.expr(e);
            }
            Stmt::SetRecordInt(_, int) => {
                self.note("structure as a value");
                self.int(int);
            }
            Stmt::SetInt(_, int) => self.int(int),
            Stmt::SetPtr(_, base, _) => {
                self.note("pointer into an array");
                self.base(*base);
            }
            Stmt::SelectPtr(_, cond, x, y) => {
                self.note("pointer to one of two");
                self.cond(cond);
                self.bases(&[*x, *y]);
            }
            Stmt::SetLane(_, _, e) => {
                self.note("vector");
                self.expr(e);
            }
            Stmt::VectorOp(_, _, place) => {
                self.note("vector");
                self.base(place.base);
            }
            Stmt::SetSingle(_, _, e) | Stmt::StoreSingle(_, e) | Stmt::SetPair(_, _, e) => {
                self.note("single precision");
                self.expr(e);
            }
            Stmt::StorePair(..) | Stmt::LoadPair(..) => self.note("single precision"),
            Stmt::SetBits(_, e) => {
                self.note("bits of floats");
                self.expr(e);
            }
            Stmt::LoadBits(_, place) | Stmt::StoreBits(_, place) => {
                self.note("bits of floats");
                self.base(place.base);
            }
            Stmt::Store(place, e) => {
                let loaded = Expr::Load(place.clone());
                self.note_if(contains(e, &loaded), "update in place");
                self.base(place.base);
                self.index(&place.index);
                self.expr(e);
            }
            Stmt::Accumulate(place, e) => {
                self.note("update in place");
                self.base(place.base);
                self.index(&place.index);
                self.expr(e);
            }
            Stmt::StoreConst(..) | Stmt::CopyFixed(..) => self.note("inactive memory"),
            Stmt::Move(_, to, _, from, _) => self.bases(&[*to, *from]),
            Stmt::MemMove(to, _, from, _, count) => {
                self.note_if(to == from, "copy onto itself");
                self.note_if(matches!(count, Index::Int(_)), "copy of varying size");
                self.bases(&[*to, *from]);
            }
            Stmt::MemCopy(to, from, _) => self.bases(&[*to, *from]),
            Stmt::MemSet(to, ..) => {
                self.note("memory cleared");
                self.base(*to);
            }
            Stmt::StoreTable(_, base) => {
                self.note("array of pointers");
                self.base(*base);
            }
            Stmt::StoreIndirect(_, base) => {
                self.note("pointer to pointers");
                self.base(*base);
            }
            Stmt::Rotate(int) => {
                self.note("array of pointers passed");
                self.int(int);
            }
            Stmt::Update(from, to, expr) => {
                self.note("pointers behind a restricted one");
                self.int(from);
                self.int(to);
                self.expr(expr);
            }
            Stmt::Choose(_, x, y, int) => {
                self.note("pointer out of a call by reference");
                self.bases(&[*x, *y]);
                self.int(int);
            }
            Stmt::Kernel(kernel, bases, _) => {
                self.note(match kernel {
                    Kernel::Walk => "loop over a pointer",
                    Kernel::Sweep | Kernel::Eliminate => "loop in a loop",
                    Kernel::Mix | Kernel::Blend => "call",
                    Kernel::Exchange => "structure copied",
                });
                self.note_if(bases[0] == bases[1], "call with one array twice");
                self.bases(bases);
            }
            Stmt::Renew => {
                self.note_if(at.loops > 0, "allocation freed in another iteration");
            }
            Stmt::StoreField(_, e) => {
                self.note("structure in memory");
                self.expr(e);
            }
            Stmt::StoreFieldInt(..) | Stmt::StoreFieldPtr(..) => self.note("structure in memory"),
            Stmt::MoveRecords(..) | Stmt::CopyRecordValue(..) => self.note("structure copied"),
            Stmt::Nest(nest) => {
                self.note("loop nest as one instruction");
                self.note_if(nest.form == NestForm::InPlace, "update in place");
                self.bases(&nest.from);
                self.base(nest.to);
            }
            control => self.control(control, at),
        }
    }

    fn control(&mut self, stmt: &Stmt, at: At) {
        match stmt {
            Stmt::If(cond, then, other) => {
                self.note_if(at.loops > 0, "branch in a loop");
                self.cond(cond);
                self.stmts(then, at);
                self.stmts(other, at);
            }
            Stmt::Switch(value, arms) => {
                self.note("switch");
                self.control_int(value);
                for arm in arms {
                    self.stmts(arm, at);
                }
            }
            Stmt::Loop(form, trips, body) => {
                self.note(match trips {
                    Trips::Const(_) => "loop, constant count",
                    Trips::Int(_) => "loop, count known at entry",
                    Trips::While(..) => "loop, count not known",
                });
                match trips {
                    Trips::Const(_) => {}
                    Trips::Int(int) => self.control_int(int),
                    Trips::While(cond, _) => self.cond(cond),
                }
                self.note_if(*form == Form::Down, "loop that counts down");
                self.note_if(matches!(form, Form::Pointer(_)), "loop over a pointer");
                self.note_if(at.loops > 0, "loop in a loop");
                self.note_if(at.loops > 1, "loop in two loops");
                let loops = at.loops + 1;
                self.stmts(body, At { loops, ..at });
            }
            Stmt::Break(cond) => {
                self.note_if(at.loops > 0, "loop left early");
                self.cond(cond);
            }
            Stmt::Continue(cond) => {
                self.note_if(at.loops > 0, "iteration left early");
                self.cond(cond);
            }
            Stmt::Return(cond, e) => {
                self.note("function left early");
                self.cond(cond);
                self.expr(e);
            }
            Stmt::Call(callee, _, result) => self.call(*callee, *result, at),
            Stmt::CallEither(cond, callees, _, result) => {
                self.note("call through a pointer to one of two");
                self.cond(cond);
                for &callee in callees {
                    self.call(callee, *result, at);
                }
            }
            Stmt::Recurse(..) => self.note("recursion"),
            Stmt::Points(points) => self.points(points),
            Stmt::Contraction(of) => {
                contraction::note(of, &mut |construct| self.note(construct));
                self.bases(&[of.to.base, of.from[0].base, of.from[1].base]);
                let deep = at.loops + of.axes().len();
                self.note_if(deep > 1, "loop in a loop");
                self.note_if(deep > 2, "loop in two loops");
            }
            Stmt::Search(of) => {
                reduction::note_search(of, &mut |construct| self.note(construct));
                self.bases(&of.from);
            }
            Stmt::RowWise(of) => {
                reduction::note_rows(of, &mut |construct| self.note(construct));
                self.bases(&of.from);
            }
            Stmt::Buffer(heap, body) => {
                self.note_if(at.loops > 0 && *heap, "allocation in a loop");
                self.note_if(at.loops > 0 && !*heap, "memory in the frame in a loop");
                self.stmts(body, at);
            }
            _ => {}
        }
    }

    fn points(&mut self, points: &Points) {
        let carries = points.scratch.map(|scratch| scratch.carries);
        let sum = matches!(points.goal, Goal::Sum(_));
        self.note_if(sum && carries.is_none(), "independent iterations");
        match carries {
            None => {}
            Some(Carries::Nothing) => {
                self.note("memory that iterations use one after the other");
            }
            Some(_) => self.note("memory that carries something from iteration to iteration"),
        }
        self.bases(&points.from);
        if let Goal::Element(base) = points.goal {
            self.base(base);
        }
    }

    fn call(&mut self, callee: usize, result: usize, at: At) {
        let program = self.program;
        let Some(helper) = program.helpers.get(callee) else {
            return;
        };
        self.note("call");
        self.note_if(at.loops > 0, "call in a loop");
        self.note_if(at.helper, "call of a helper in a helper");
        let pointer = crate::tree::SLOTS[result] == crate::tree::Kind::Ptr;
        self.note_if(pointer, "pointer out of a call as result");
        if self.seen.insert(callee) {
            let inside = At {
                loops: 0,
                helper: true,
            };
            self.stmts(&helper.body, inside);
            self.expr(&helper.result);
        }
    }

    fn bases(&mut self, bases: &[Base]) {
        bases.iter().for_each(|base| self.base(*base));
    }

    fn base(&mut self, base: Base) {
        match base {
            Base::Global => self.note("global variable"),
            Base::Slot(_) => self.note("pointer into an array"),
            Base::Table(_) => self.note("array of pointers"),
            Base::TableAt(_) => self.note("array of pointers, varying index"),
            Base::Indirect(_) => self.note("pointer to pointers"),
            Base::Field(_) => self.note("structure in memory"),
            _ => {}
        }
    }

    fn index(&mut self, index: &Index) {
        if let Index::Int(int) = index {
            self.int(int);
        }
    }

    fn int(&mut self, int: &Int) {
        match int {
            Int::Add(x, y) | Int::Mul(x, y) => {
                self.int(x);
                self.int(y);
            }
            Int::Narrow(x, _) => {
                self.note("integer cast");
                self.int(x);
            }
            Int::Rounded(x) => {
                self.note("integer out of a float");
                self.expr(x);
            }
            Int::OfRecord(_) => self.note("structure as a value"),
            Int::OfField(_) => self.note("structure in memory"),
            Int::Const(_) | Int::Slot(_) | Int::Argument => {}
        }
    }

    /// An integer that decides which way the program goes.
    fn control_int(&mut self, int: &Int) {
        let by_float = match int {
            Int::Rounded(_) => true,
            Int::Add(x, y) | Int::Mul(x, y) => {
                [x, y].iter().any(|part| matches!(***part, Int::Rounded(_)))
            }
            Int::Narrow(x, _) => matches!(**x, Int::Rounded(_)),
            _ => false,
        };
        self.note_if(by_float, "control flow by an integer out of a float");
        self.int(int);
    }

    fn cond(&mut self, cond: &Cond) {
        match cond {
            Cond::Float(_, x, _) => {
                self.note("control flow by a float");
                self.expr(x);
            }
            Cond::Tie(_, x) => {
                self.note("decision on equal floats");
                self.expr(x);
            }
            Cond::Int(_, x, _) => self.control_int(x),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Load(place) => {
                self.base(place.base);
                self.index(&place.index);
            }
            Expr::LoadConst(_) => self.note("inactive memory"),
            Expr::Fun(fun, x) => {
                let usual = [Near::Square(1.125), Near::Sine(0.7), Near::Tanh(1.0)];
                let near = matches!(fun, Fun::Within(_, near) if !usual.contains(near));
                self.note_if(near, "function near its edge");
                self.expr(x);
            }
            Expr::Fun2(_, x, y) => {
                self.expr(x);
                self.expr(y);
            }
            Expr::Select(cond, x, y) => {
                self.cond(cond);
                self.expr(x);
                self.expr(y);
            }
            Expr::OfInt(int) => self.int(int),
            Expr::Via(_, x) => self.expr(x),
            Expr::Lane(..) => self.note("vector"),
            Expr::RecordField(..) => self.note("structure as a value"),
            Expr::OfSingle(_) | Expr::OfPair(..) | Expr::LoadSingle(_) => {
                self.note("single precision");
            }
            Expr::OfBits(_) => self.note("bits of floats"),
            Expr::LoadField(_) => self.note("structure in memory"),
            Expr::Slot(_) | Expr::Const(_) => {}
        }
    }
}

/// Whether an expression has another as a part.
fn contains(expr: &Expr, part: &Expr) -> bool {
    expr == part
        || match expr {
            Expr::Fun(_, x) | Expr::Via(_, x) => contains(x, part),
            Expr::Fun2(_, x, y) | Expr::Select(_, x, y) => contains(x, part) || contains(y, part),
            _ => false,
        }
}
