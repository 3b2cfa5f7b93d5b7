//! Says in words what a nest computes.

use crate::ir::{BinaryOp, CastOp, Combiner, Function, InstData, Nest, Op, UnaryOp, Value};

/// What a nest is, with its sizes as far as they have names: `matrix product 8×768 by 768×n`.
pub fn describe(function: &Function, nest: &Nest, data: &InstData) -> String {
    // What is read may be malformed.
    if data.args.len() < nest.outside() || nest.outputs.is_empty() {
        return "nothing that is well formed".to_string();
    }
    // One that depends on a loop around it is told by the largest that it may be.
    let size = |level: usize| {
        let bound = &data.args[nest.bound(level)];
        let coefficients = bound[1..].iter().map(|&c| function.as_int(c)).enumerate();
        let depends: Vec<_> = coefficients.filter(|(_, c)| *c != Some(0)).collect();
        match depends[..] {
            [] => name(function, bound[0]),
            [(outer, Some(1))] => {
                let most = data.args[nest.bound(outer).start];
                format!("≤{}", name(function, most))
            }
            [(_, Some(-1))] => format!("≤{}", name(function, bound[0])),
            _ => "?".to_string(),
        }
    };
    let sizes = |levels: &[usize]| {
        let all: Vec<String> = levels.iter().map(|&level| size(level)).collect();
        all.join("·")
    };
    let all: Vec<usize> = (0..nest.depth).collect();
    let shape = |levels: &[usize]| {
        let all: Vec<String> = levels.iter().map(|&level| size(level)).collect();
        all.join("×")
    };
    let moves = |view: usize, level: usize| {
        function.as_int(data.args[nest.view(view)][1 + level]) != Some(0)
    };
    let out = nest.inputs.len();
    let summed: Vec<usize> = all.iter().copied().filter(|&l| !moves(out, l)).collect();
    let kept: Vec<usize> = all.iter().copied().filter(|&l| moves(out, l)).collect();
    let reduced = |what: &str, kept: &[usize], joined: &[usize]| match kept.is_empty() {
        true => format!("{what} over {}", shape(joined)),
        false => format!("{what} over {}, for each of {}", shape(joined), shape(kept)),
    };
    match nest.outputs[0].combiner {
        Combiner::Store => {
            let result = nest.body.results().first().copied();
            let is_element = |i: usize| Some(nest.element(i)) == result;
            let copies = (0..nest.inputs.len()).any(is_element);
            let what = if copies { "copy of" } else { "map over" };
            return format!("{what} {}", shape(&all));
        }
        Combiner::Sum => {}
        combiner => return reduced(reduction(combiner), &kept, &summed),
    }
    let Some([first, second]) = factors(nest) else {
        return reduced("sum", &kept, &summed);
    };
    let role = |roles: [bool; 3]| -> Vec<usize> {
        let has = |&level: &usize| [out, first, second].map(|view| moves(view, level)) == roles;
        all.iter().copied().filter(has).collect()
    };
    let (rows, columns) = (role([true, true, false]), role([true, false, true]));
    let inner = role([false, true, true]);
    let rest = nest.depth - rows.len() - columns.len() - inner.len();
    let what = match (rows.is_empty(), columns.is_empty(), inner.is_empty()) {
        (false, false, false) => {
            let inner = sizes(&inner);
            format!(
                "matrix product {}×{inner} by {inner}×{}",
                sizes(&rows),
                sizes(&columns)
            )
        }
        (false, true, false) => format!("matrix {}×{} by vector", sizes(&rows), sizes(&inner)),
        (true, false, false) => format!("vector by matrix {}×{}", sizes(&inner), sizes(&columns)),
        (false, false, true) => format!("outer product {}×{}", sizes(&rows), sizes(&columns)),
        (true, true, false) => format!("dot product of {}", sizes(&inner)),
        _ => format!("sum of products over {}", shape(&all)),
    };
    match rest {
        0 => what,
        _ => {
            let all_roles = [rows, columns, inner].concat();
            let rest: Vec<usize> = all.into_iter().filter(|l| !all_roles.contains(l)).collect();
            match all_roles.is_empty() {
                true => what,
                false => format!("{what}, for each of {}", shape(&rest)),
            }
        }
    }
}

/// What is left when all elements are joined.
fn reduction(combiner: Combiner) -> &'static str {
    match combiner {
        Combiner::Store | Combiner::Sum => "sum",
        Combiner::Product => "product",
        Combiner::Max | Combiner::Greater | Combiner::NotLess => "maximum",
        Combiner::Min | Combiner::Less | Combiner::NotGreater => "minimum",
    }
}

/// The two inputs whose product is added, apart from factors that are the same at all points.
pub fn factors(nest: &Nest) -> Option<[usize; 2]> {
    let body = &nest.body.func;
    let mut open = vec![*nest.body.results().first()?];
    let mut found = Vec::new();
    while let Some(value) = open.pop() {
        if let Some(input) = (0..nest.inputs.len()).find(|&i| nest.element(i) == value) {
            found.push(input);
        } else if let Some(inst) = body.def_inst(value) {
            match body.inst(inst).op {
                Op::Binary(BinaryOp::FMul) | Op::Unary(UnaryOp::FNeg) => {
                    open.extend(body.inst(inst).args.iter().rev());
                }
                _ => return None,
            }
        }
    }
    <[usize; 2]>::try_from(found).ok()
}

/// What the program calls a size, or the number that it is.
fn name(function: &Function, mut value: Value) -> String {
    loop {
        if let Some(number) = function.as_int(value) {
            return number.to_string();
        }
        if let Some(name) = &function.value(value).name {
            return name.clone();
        }
        let Some(inst) = function.def_inst(value) else {
            return "?".to_string();
        };
        let data = function.inst(inst);
        let number = |i: usize| function.as_int(data.args[i]).is_some();
        value = match data.op {
            Op::Cast(CastOp::SExt | CastOp::ZExt | CastOp::Trunc) => data.args[0],
            Op::Binary(BinaryOp::Add | BinaryOp::Sub) if number(1) => data.args[0],
            Op::Select if number(2) => data.args[1],
            Op::Select if number(1) => data.args[2],
            _ => return "?".to_string(),
        };
    }
}
