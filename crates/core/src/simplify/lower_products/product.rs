//! Which nests are products of matrices.

use crate::ir::{
    BinaryOp, Builder, Combiner, Flags, FloatKind, Function, InstData, Nest, NestParts, Op,
    UnaryOp, Value,
};

/// A nest that is a product of matrices, and which of its loops are what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The kind of its numbers.
    pub kind: FloatKind,
    /// The input that has the rows, and the one that has the columns.
    pub inputs: [usize; 2],
    /// What all products of elements are multiplied by; also by -1 if so.
    pub factors: Vec<Factor>,
    /// Whether the products are subtracted.
    pub negative: bool,
    /// Rows, columns and inner loops, from the outside in, at least one of each.
    pub loops: [Vec<usize>; 3],
    /// All other loops.
    pub around: Vec<usize>,
}

/// A factor that is the same for a whole product.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Factor {
    /// The element of an input that moves along other loops only.
    Input(usize),
    /// A value of the body: one from outside, or a constant.
    Fixed(Value),
}

/// The products that a nest is the sum of, each as a nest of its own; none if it is something else,
/// or if the order of its sums matters.
pub fn products(function: &Function, data: &InstData) -> Vec<(InstData, Product)> {
    products_over(function, data, None)
}

/// The two loops of a nest that would be a product if the second did not run as often as the counter of
/// the first one says.
pub fn triangle(function: &Function, data: &InstData) -> Option<[usize; 2]> {
    let Op::Nest(nest) = &data.op else {
        return None;
    };
    // What is read may be malformed.
    if data.args.len() < nest.outside() {
        return None;
    }
    let pairs = (0..nest.depth).flat_map(|inner| (0..inner).map(move |outer| [outer, inner]));
    let mut depends = pairs.filter(|&[outer, inner]| {
        let coefficient = data.args[nest.bound(inner)][1 + outer];
        function.as_int(coefficient) != Some(0)
    });
    let levels = depends.next().filter(|_| depends.next().is_none())?;
    let found = products_over(function, data, Some(levels));
    let has_both = |product: &Product| {
        let mut levels = levels.iter();
        levels.all(|level| product.loops.iter().any(|loops| loops.contains(level)))
    };
    let is_product = !found.is_empty() && found.iter().all(|(_, product)| has_both(product));
    is_product.then_some(levels)
}

/// Whether there are kernels for a nest, or for most of it.
pub fn has_kernels(function: &Function, data: &InstData) -> bool {
    !products(function, data).is_empty() || triangle(function, data).is_some()
}

/// The products that a nest is, if it does not matter that one loop depends on another.
fn products_over(
    function: &Function,
    data: &InstData,
    ignored: Option<[usize; 2]>,
) -> Vec<(InstData, Product)> {
    let Op::Nest(nest) = &data.op else {
        return Vec::new();
    };
    let product = |data: InstData| match &data.op {
        Op::Nest(nest) => {
            Product::new(function, nest, &data, ignored).map(|product| (data.clone(), product))
        }
        _ => None,
    };
    let terms = terms(nest, data).into_iter().map(product);
    terms.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// A nest as one for each term of what it adds up.
fn terms(nest: &Nest, data: &InstData) -> Vec<InstData> {
    let body = &nest.body.func;
    let [output] = &nest.outputs[..] else {
        return Vec::new();
    };
    // What is read may be malformed.
    let is_free = output.combiner == Combiner::Sum && output.flags.contains(Flags::REASSOC);
    if data.args.len() < nest.outside() || !is_free {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut open = vec![(nest.body.results()[0], false)];
    while let Some((value, negative)) = open.pop() {
        let inst = body.def_inst(value).map(|inst| body.inst(inst));
        match inst.map(|data| (&data.op, &data.args[..])) {
            Some((Op::Binary(BinaryOp::FAdd), &[x, y])) => {
                open.extend([(y, negative), (x, negative)]);
            }
            Some((Op::Binary(BinaryOp::FSub), &[x, y])) => {
                open.extend([(y, !negative), (x, negative)]);
            }
            _ => found.push((value, negative)),
        }
    }
    let term = |(value, negative): (Value, bool)| {
        let mut parts = NestParts::new(nest, &data.args);
        parts.outputs[0].result = match negative {
            true => {
                let block = parts.body.block();
                Builder::new(&mut parts.body.func, block).fneg(value)
            }
            false => value,
        };
        parts.prune();
        InstData {
            loc: data.loc,
            ..parts.join()
        }
    };
    match found.len() {
        1 => vec![data.clone()],
        _ => found.into_iter().map(term).collect(),
    }
}

impl Product {
    /// What product a nest is that adds up one term.
    fn new(
        function: &Function,
        nest: &Nest,
        data: &InstData,
        ignored: Option<[usize; 2]>,
    ) -> Option<Product> {
        let kind = nest.output_type(0).float_kind()?;
        if !matches!(kind, FloatKind::F32 | FloatKind::F64) {
            return None;
        }
        let mut negative = false;
        let mut leaves = Vec::new();
        factors(
            &nest.body.func,
            nest.body.results()[0],
            &mut negative,
            &mut leaves,
        );
        let factor = |&value: &Value| {
            let input = (0..nest.inputs.len()).find(|&i| nest.element(i) == value);
            let is_fixed =
                nest.taken().contains(&value) || nest.body.func.as_const(value).is_some();
            match input {
                Some(input) => Some(Factor::Input(input)),
                None => is_fixed.then_some(Factor::Fixed(value)),
            }
        };
        let factors = leaves.iter().map(factor).collect::<Option<Vec<_>>>()?;
        let pairs = (0..factors.len()).flat_map(|i| (i + 1..factors.len()).map(move |j| [i, j]));
        pairs.into_iter().find_map(|pair| {
            let [Factor::Input(first), Factor::Input(second)] = pair.map(|at| factors[at]) else {
                return None;
            };
            let others = (0..factors.len()).filter(|at| !pair.contains(at));
            let product = Product {
                kind,
                inputs: [first, second],
                factors: others.map(|at| factors[at]).collect(),
                negative,
                loops: [const { Vec::new() }; 3],
                around: Vec::new(),
            };
            product.with_loops(function, nest, data, ignored)
        })
    }

    /// With the roles of the loops, if there is one for each.
    fn with_loops(
        mut self,
        function: &Function,
        nest: &Nest,
        data: &InstData,
        ignored: Option<[usize; 2]>,
    ) -> Option<Product> {
        let moves = |view: usize, level: usize| {
            let distance = data.args[nest.view(view)][1 + level];
            function.as_int(distance) != Some(0)
        };
        let depends = |inner: usize, outer: usize| {
            let coefficient = data.args[nest.bound(inner)][1 + outer];
            ignored != Some([outer, inner]) && function.as_int(coefficient) != Some(0)
        };
        let is_free = |level: usize| {
            let on_others = (0..level).any(|outer| depends(level, outer));
            !on_others && !(level + 1..nest.depth).any(|inner| depends(inner, level))
        };
        let out = nest.inputs.len();
        for level in 0..nest.depth {
            let views = [out, self.inputs[0], self.inputs[1]];
            let role = match views.map(|view| moves(view, level)) {
                [true, true, false] => Some(0),
                [true, false, true] => Some(1),
                [false, true, true] => Some(2),
                _ => None,
            };
            let same = |factor: &Factor| match factor {
                Factor::Input(input) => !moves(*input, level),
                Factor::Fixed(_) => true,
            };
            let is_same = self.factors.iter().all(same);
            match role.filter(|_| is_free(level) && is_same) {
                Some(role) => self.loops[role].push(level),
                None => self.around.push(level),
            }
        }
        let complete = self.loops.iter().all(|loops| !loops.is_empty());
        complete.then_some(self)
    }
}

/// What a value of a body is the product of.
fn factors(body: &Function, value: Value, negative: &mut bool, found: &mut Vec<Value>) {
    /// More are no product that anybody would write.
    const MOST: usize = 8;
    let inst = body.def_inst(value).map(|inst| body.inst(inst));
    match inst.map(|data| (&data.op, &data.args[..])) {
        Some((Op::Binary(BinaryOp::FMul), &[x, y])) if found.len() < MOST => {
            factors(body, x, negative, found);
            factors(body, y, negative, found);
        }
        Some((Op::Unary(UnaryOp::FNeg), &[x])) => {
            *negative = !*negative;
            factors(body, x, negative, found);
        }
        _ => found.push(value),
    }
}
