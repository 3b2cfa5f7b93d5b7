//! Makes a failing program smaller: leaves out statements, replaces them by what is inside, and
//! puts simple values in place of expressions, while the failure remains.

mod contraction;
mod reduction;

use crate::tree::{
    Args, Cond, Expr, Index, Int, Nest, Points, Program, Returns, Routine, Stmt, Trips,
};

/// The smallest program found with so many tries that still fails.
pub fn shrink(program: &Program, most: usize, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut tries = 0;
    loop {
        let mut smaller = None;
        for candidate in candidates(&best) {
            tries += 1;
            if tries > most {
                return best;
            }
            if fails(&candidate) {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(candidate) => best = candidate,
            None => return best,
        }
    }
}

fn candidates(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for body in bodies(&program.main.body) {
        let mut other = program.clone();
        other.main.body = body;
        all.push(other);
    }
    for (i, helper) in program.helpers.iter().enumerate() {
        for routine in routines(helper) {
            let mut other = program.clone();
            other.helpers[i] = routine;
            all.push(other);
        }
    }
    for result in exprs(&program.main.result) {
        let mut other = program.clone();
        other.main.result = result;
        all.push(other);
    }
    if program.main.returns != Returns::Nothing {
        let mut other = program.clone();
        other.main.returns = Returns::Nothing;
        all.push(other);
    }
    all
}

fn routines(routine: &Routine) -> Vec<Routine> {
    let mut all = Vec::new();
    for body in bodies(&routine.body) {
        all.push(Routine {
            body,
            ..routine.clone()
        });
    }
    for result in exprs(&routine.result) {
        all.push(Routine {
            result,
            ..routine.clone()
        });
    }
    if routine.recursive {
        all.push(Routine {
            recursive: false,
            ..routine.clone()
        });
    }
    all
}

/// Lists of statements that are smaller: halves first, then single steps.
fn bodies(stmts: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut all = Vec::new();
    if stmts.len() > 2 {
        let middle = stmts.len() / 2;
        all.push(stmts[..middle].to_vec());
        all.push(stmts[middle..].to_vec());
    }
    for i in 0..stmts.len() {
        let with = |replacement: Vec<Stmt>| {
            let mut other = stmts[..i].to_vec();
            other.extend(replacement);
            other.extend_from_slice(&stmts[i + 1..]);
            other
        };
        all.push(with(Vec::new()));
        for inner in insides(&stmts[i]) {
            all.push(with(inner));
        }
        for other in variants(&stmts[i]) {
            all.push(with(vec![other]));
        }
    }
    all
}

/// What may stand in place of a statement with statements inside.
fn insides(stmt: &Stmt) -> Vec<Vec<Stmt>> {
    match stmt {
        Stmt::If(_, then, other) => vec![then.clone(), other.clone()],
        Stmt::Switch(_, arms) => arms.clone(),
        // A break or continue may then stand outside of a loop, where it does nothing.
        Stmt::Loop(_, _, body) | Stmt::Buffer(_, body) => vec![body.clone()],
        _ => Vec::new(),
    }
}

/// The same statement with something smaller inside.
fn variants(stmt: &Stmt) -> Vec<Stmt> {
    let mut all = Vec::new();
    match stmt {
        Stmt::If(cond, then, other) => {
            let smaller = bodies(then).into_iter();
            all.extend(smaller.map(|then| Stmt::If(cond.clone(), then, other.clone())));
            let smaller = bodies(other).into_iter();
            all.extend(smaller.map(|other| Stmt::If(cond.clone(), then.clone(), other)));
            let smaller = conds(cond).into_iter();
            all.extend(smaller.map(|cond| Stmt::If(cond, then.clone(), other.clone())));
        }
        Stmt::Switch(value, arms) => {
            for (i, arm) in arms.iter().enumerate() {
                for smaller in bodies(arm) {
                    let mut arms = arms.clone();
                    arms[i] = smaller;
                    all.push(Stmt::Switch(value.clone(), arms));
                }
            }
            for value in ints(value) {
                all.push(Stmt::Switch(value, arms.clone()));
            }
        }
        Stmt::Loop(form, trips, body) => {
            let smaller = bodies(body).into_iter();
            all.extend(smaller.map(|body| Stmt::Loop(*form, trips.clone(), body)));
            if *trips != Trips::Const(2) {
                all.push(Stmt::Loop(*form, Trips::Const(2), body.clone()));
            }
        }
        Stmt::Buffer(heap, body) => {
            all.extend(
                bodies(body)
                    .into_iter()
                    .map(|body| Stmt::Buffer(*heap, body)),
            );
        }
        Stmt::Set(slot, e) => all.extend(exprs(e).into_iter().map(|e| Stmt::Set(*slot, e))),
        Stmt::Store(p, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::Store(p.clone(), e)));
            if p.index != Index::Const(0) {
                let mut place = p.clone();
                place.index = Index::Const(0);
                all.push(Stmt::Store(place, e.clone()));
            }
        }
        Stmt::Accumulate(p, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::Accumulate(p.clone(), e)));
        }
        Stmt::Return(cond, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::Return(cond.clone(), e)));
            all.extend(
                conds(cond)
                    .into_iter()
                    .map(|cond| Stmt::Return(cond, e.clone())),
            );
        }
        Stmt::Nest(nest) if nest.body > 0 || nest.count != Index::Const(2) => {
            all.push(Stmt::Nest(Nest {
                body: 0,
                count: Index::Const(2),
                ..nest.clone()
            }));
        }
        Stmt::Points(points) => all.extend(fewer_points(points)),
        Stmt::Contraction(of) => all.extend(contraction::simpler(of)),
        Stmt::Search(of) => all.extend(reduction::simpler_search(of)),
        Stmt::RowWise(of) => all.extend(reduction::simpler_rows(of)),
        Stmt::Call(callee, Args::Active(x, y, e), slot) => {
            let smaller = exprs(e).into_iter();
            all.extend(smaller.map(|e| Stmt::Call(*callee, Args::Active(*x, *y, e), *slot)));
        }
        Stmt::CallEither(_, [first, second], args, slot) => {
            all.push(Stmt::Call(*first, args.clone(), *slot));
            all.push(Stmt::Call(*second, args.clone(), *slot));
        }
        Stmt::Break(cond) => all.extend(conds(cond).into_iter().map(Stmt::Break)),
        Stmt::Continue(cond) => all.extend(conds(cond).into_iter().map(Stmt::Continue)),
        Stmt::SetInt(slot, int) => {
            all.extend(ints(int).into_iter().map(|int| Stmt::SetInt(*slot, int)));
        }
        Stmt::SetLane(slot, i, e) => {
            all.extend(
                exprs(e)
                    .into_iter()
                    .map(|e| Stmt::SetLane(*slot, i.clone(), e)),
            );
        }
        Stmt::SetRecord(slot, i, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::SetRecord(*slot, *i, e)));
        }
        Stmt::SetSingle(slot, op, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::SetSingle(*slot, op, e)));
        }
        Stmt::SetBits(slot, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::SetBits(*slot, e)));
        }
        Stmt::SetPair(slot, i, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::SetPair(*slot, *i, e)));
        }
        Stmt::StoreSingle(i, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::StoreSingle(*i, e)));
        }
        Stmt::StoreField(i, e) => {
            all.extend(exprs(e).into_iter().map(|e| Stmt::StoreField(*i, e)));
        }
        _ => {}
    }
    all
}

/// The same loop with less in it.
fn fewer_points(points: &Points) -> Vec<Stmt> {
    let mut all = Vec::new();
    if points.scratch.is_some() {
        all.push(Points {
            scratch: None,
            ..points.clone()
        });
    }
    for i in 0..points.parts.len() {
        let mut parts = points.parts.clone();
        parts.remove(i);
        all.push(Points {
            parts,
            ..points.clone()
        });
    }
    for (count, inner) in [
        (Index::Const(1), points.inner.clone()),
        (points.count.clone(), Index::Const(0)),
    ] {
        if (&count, &inner) != (&points.count, &points.inner) {
            all.push(Points {
                count,
                inner,
                ..points.clone()
            });
        }
    }
    all.into_iter().map(Stmt::Points).collect()
}

/// Simpler expressions: a constant, the operands, and simpler operands.
fn exprs(expr: &Expr) -> Vec<Expr> {
    let mut all = Vec::new();
    if matches!(expr, Expr::Const(_)) {
        return all;
    }
    all.push(Expr::Const(0.5));
    match expr {
        Expr::Slot(_) => return all,
        Expr::Fun(fun, x) => {
            all.push((**x).clone());
            let smaller = exprs(x).into_iter();
            all.extend(smaller.map(|x| Expr::Fun(*fun, Box::new(x))));
        }
        Expr::Via(via, x) => {
            all.push((**x).clone());
            let smaller = exprs(x).into_iter();
            all.extend(smaller.map(|x| Expr::Via(*via, Box::new(x))));
        }
        Expr::Fun2(fun, x, y) => {
            all.extend([(**x).clone(), (**y).clone()]);
            for x in exprs(x) {
                all.push(Expr::Fun2(*fun, Box::new(x), y.clone()));
            }
            for y in exprs(y) {
                all.push(Expr::Fun2(*fun, x.clone(), Box::new(y)));
            }
        }
        Expr::Select(cond, x, y) => {
            all.extend([(**x).clone(), (**y).clone()]);
            for cond in conds(cond) {
                all.push(Expr::Select(Box::new(cond), x.clone(), y.clone()));
            }
            for x in exprs(x) {
                all.push(Expr::Select(cond.clone(), Box::new(x), y.clone()));
            }
            for y in exprs(y) {
                all.push(Expr::Select(cond.clone(), x.clone(), Box::new(y)));
            }
        }
        Expr::Load(place) if place.index != Index::Const(0) => {
            let mut place = place.clone();
            place.index = Index::Const(0);
            all.push(Expr::Load(place));
        }
        _ => {}
    }
    all.push(Expr::Slot(0));
    all
}

fn conds(cond: &Cond) -> Vec<Cond> {
    match cond {
        Cond::Float(pred, x, number) => {
            let smaller = exprs(x).into_iter();
            smaller.map(|x| Cond::Float(pred, x, *number)).collect()
        }
        Cond::Tie(pred, x) => {
            let smaller = exprs(x).into_iter();
            smaller.map(|x| Cond::Tie(pred, x)).collect()
        }
        Cond::Int(pred, x, number) => {
            let smaller = ints(x).into_iter();
            smaller.map(|x| Cond::Int(pred, x, *number)).collect()
        }
    }
}

fn ints(int: &Int) -> Vec<Int> {
    match int {
        Int::Const(_) => Vec::new(),
        Int::Argument => vec![Int::Const(1)],
        Int::Narrow(x, _) => vec![(**x).clone(), Int::Const(1)],
        Int::Add(x, y) | Int::Mul(x, y) => vec![(**x).clone(), (**y).clone(), Int::Const(1)],
        _ => vec![Int::Argument, Int::Const(1)],
    }
}
