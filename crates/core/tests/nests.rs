//! Generated nests: they do what their expansion does, bit for bit, and the derivatives of both
//! agree with the oracle.
//!
//! A nest works on arrays of [`LEN`] doubles: inputs on `%a` and `%b`, outputs on `%c` and `%d`,
//! which no input reads unless in place. Every view is placed so that it stays in its array.

use fastrand::Rng;
use std::fmt::Write as _;
use zymase_core::interp::{Machine, Val};
use zymase_core::ir::text::parse_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Module, Op};
use zymase_core::pipeline::Options;
use zymase_core::plan::PlanKind;
use zymase_core::simplify::expand_nests;
use zymase_testgen::referee::{Arg, Derivatives, Tolerance, in_memory};

const LEN: usize = 28;
/// The seeds of every test run; `ZYMASE_SEEDS=start..end` tries others.
const USUAL: std::ops::Range<u64> = 0..50;
/// The value of `%n`.
const N: i64 = 3;

#[test]
fn generated_nests_agree_with_their_expansion() {
    let mut kept = 0;
    let seeds = seeds();
    for seed in seeds.clone() {
        let text = Generator::new(seed).function();
        let fail = |why: String| -> ! { panic!("seed {seed}: {why}\n{text}") };
        let module = parse_module(&text).unwrap_or_else(|e| fail(e.to_string()));
        let mut expanded = module.clone();
        for function in expanded.funcs.values_mut() {
            expand_nests::run(function);
        }
        for module in [&module, &expanded] {
            if let Err(errors) = verify_module(module) {
                fail(format!("{errors:?}"));
            }
        }
        let args = arguments(seed);
        let runs = [&module, &expanded].map(|m| run(m, &args).unwrap_or_else(|e| fail(e)));
        if runs[0] != runs[1] {
            fail(format!(
                "the nest leaves\n{:?}\nthe loops\n{:?}",
                runs[0], runs[1]
            ));
        }
        // Single precision rounds differently in each mode.
        let relative = if text.contains("f32") { 1e-5 } else { 1e-10 };
        let tolerance = Tolerance {
            relative,
            ..Tolerance::default()
        };
        for plan in [PlanKind::Everything, PlanKind::MinCut] {
            let options = Options {
                plan,
                ..Options::default()
            };
            let mut both = vec![("nest", &module)];
            if plan == PlanKind::MinCut {
                both.push(("loops", &expanded));
            }
            for (what, module) in both {
                let derivatives = Derivatives::new(module, "f", &args, &options);
                let derivatives = derivatives.unwrap_or_else(|e| fail(format!("{what}: {e}")));
                if let Err(why) = derivatives.compare(&args, tolerance) {
                    fail(format!("{what}, {plan:?}: {why}"));
                }
                let is_reverse = |name: &str| name.contains(".gradient");
                let added = derivatives.outcome.added.iter();
                let mut added = added.map(|&func| &derivatives.module.funcs[func]);
                kept += usize::from(added.any(|f| is_reverse(&f.name) && nests(f) > 1));
            }
        }
    }
    // Most nests are differentiated as nests; otherwise this would test little.
    let count = (seeds.end - seeds.start) as usize;
    assert!(kept > count / 2, "only {kept} reverses are nests");
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("ZYMASE_SEEDS") else {
        return USUAL;
    };
    let range = text.split_once("..");
    let range = range.and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?));
    range.unwrap_or_else(|| panic!("ZYMASE_SEEDS={text} is not a range such as 0..100"))
}

fn nests(function: &zymase_core::ir::Function) -> usize {
    let insts = function
        .blocks()
        .iter()
        .flat_map(|&b| function.block_insts(b));
    insts
        .filter(|&&inst| matches!(function.inst(inst).op, Op::Nest(_)))
        .count()
}

fn arguments(seed: u64) -> Vec<Arg> {
    let mut rng = Rng::with_seed(seed);
    let mut number = || rng.f64() * 2.0 - 1.0;
    let mut array = || Arg::Dup((0..LEN).map(|_| number()).collect());
    let mut args = vec![array(), array(), array(), array()];
    args.extend([Arg::Out(number()), Arg::Int(N)]);
    args
}

/// The bits of all arrays after a run.
fn run(module: &Module, args: &[Arg]) -> Result<Vec<u64>, String> {
    let text = |t: zymase_core::interp::Trap| t.to_string();
    let mut machine = Machine::new(module).map_err(text)?;
    let values = in_memory(&mut machine, args).map_err(text)?;
    machine.call_by_name("f", &values).map_err(text)?;
    let mut bits = Vec::new();
    for array in values.iter().filter_map(Val::as_ptr) {
        let numbers = machine.memory.f64s(array, LEN).map_err(text)?;
        bits.extend(numbers.iter().map(|x| x.to_bits()));
    }
    Ok(bits)
}

struct Generator {
    rng: Rng,
    text: String,
    next: usize,
}

/// The loops of a nest: the text of each bound, and the largest counter.
struct Domain {
    bounds: Vec<String>,
    most: Vec<i64>,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        Generator {
            rng: Rng::with_seed(seed),
            text: String::new(),
            next: 0,
        }
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.rng.usize(..items.len())].clone()
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%t{}", self.next)
    }

    /// A function with one or two nests, in a loop or not, and perhaps a store behind them.
    fn function(mut self) -> String {
        let alias = self.pick(&[" noalias", ""]);
        let params = ["a", "b", "c", "d"]
            .map(|name| format!("%{name}: ptr{alias}, "))
            .concat();
        let _ = writeln!(self.text, "func @f({params}%u: f64, %n: i64) {{\nentry:");
        let looping = self.rng.u8(..3) == 0;
        if looping {
            self.text.push_str("    jump loop(0)\nloop(%round: i64):\n");
        }
        for _ in 0..self.rng.usize(1..=2) {
            self.nest();
        }
        if self.rng.u8(..4) == 0 {
            let array = self.pick(&["%a", "%b", "%c"]);
            let _ = writeln!(self.text, "    store %u, {array}, align 8");
        }
        if looping {
            self.text.push_str(
                "    %next = add %round, 1\n    %more = icmp slt %next, 2\n    \
                 branch %more, loop(%next), done\ndone:\n",
            );
        }
        self.text.push_str("    return\n}\n");
        self.text
    }

    fn domain(&mut self) -> Domain {
        let mut domain = Domain {
            bounds: Vec::new(),
            most: Vec::new(),
        };
        for level in 0..self.rng.usize(1..=3) {
            let (bound, most) = match self.rng.u8(..5) {
                0 => ("2".to_string(), 1),
                1 if level > 0 => {
                    let outer = self.rng.usize(..level);
                    (format!("1 + 1*%i{outer}"), domain.most[outer])
                }
                2 if level > 0 => {
                    let outer = self.rng.usize(..level);
                    (format!("%n + -1*%i{outer}"), N - 1)
                }
                3 => ("0".to_string(), 0),
                _ => ("%n".to_string(), N - 1),
            };
            domain.bounds.push(bound);
            domain.most.push(most);
        }
        domain
    }

    /// The place of a view with these distances, in elements, in an array.
    fn place(&mut self, array: &str, domain: &Domain, distances: &[i64]) -> String {
        let reach = |sign: i64| {
            let moves = distances.iter().zip(&domain.most);
            moves.map(|(d, most)| (sign * d).max(0) * most).sum::<i64>()
        };
        let base = self.name();
        let first = reach(-1) + self.rng.i64(0..LEN as i64 - reach(1) - reach(-1));
        let _ = writeln!(self.text, "    {base} = address {array} + {}", 8 * first);
        let mut place = base;
        for (level, distance) in distances.iter().enumerate() {
            if *distance == 0 {
                continue;
            }
            // A distance that is not known when the program is read.
            let factor = match self.rng.u8(..3) {
                0 => {
                    let factor = self.name();
                    let least = 8 * distance - 24;
                    let _ = writeln!(self.text, "    {factor}a = mul %n, 8");
                    let _ = writeln!(self.text, "    {factor} = add {factor}a, {least}");
                    factor
                }
                _ => (8 * distance).to_string(),
            };
            let _ = write!(place, " + {factor}*%i{level}");
        }
        place
    }

    fn nest(&mut self) {
        let domain = self.domain();
        let depth = domain.most.len();
        let any = |this: &mut Self| -> Vec<i64> {
            (0..depth)
                .map(|_| this.pick(&[0, 0, 1, 1, 2, 3, -1]))
                .collect()
        };
        // Elements of a store are apart.
        let mut apart = vec![1; depth];
        for level in (0..depth - 1).rev() {
            apart[level] = apart[level + 1] * (1 + domain.most[level + 1]);
        }
        let mut inputs = Vec::new();
        for _ in 0..self.rng.usize(1..=3) {
            let array = self.pick(&["%a", "%b"]);
            let distances = any(self);
            inputs.push(self.place(array, &domain, &distances));
        }
        let mut outputs = Vec::new();
        for array in ["%c", "%d"] {
            match self.rng.u8(..8) {
                0 if !outputs.is_empty() => {}
                0..=2 => {
                    let place = self.place(array, &domain, &apart);
                    if self.rng.bool() {
                        inputs.push(place.clone());
                    }
                    outputs.push(("store", place));
                }
                3 => {
                    let combiner = self.pick(&["product", "max", "min"]);
                    let distances = any(self);
                    outputs.push((combiner, self.place(array, &domain, &distances)));
                }
                4 => {
                    // Two sums that may meet.
                    for _ in 0..2 {
                        let distances = any(self);
                        outputs.push(("sum reassoc", self.place(array, &domain, &distances)));
                    }
                }
                _ => {
                    let distances = any(self);
                    outputs.push(("sum", self.place(array, &domain, &distances)));
                }
            }
        }
        let bounds = domain.bounds.iter().enumerate();
        let bounds: Vec<String> = bounds
            .map(|(i, bound)| format!("%i{i} < {bound}"))
            .collect();
        let bounds = bounds.join(", ");
        let _ = writeln!(self.text, "    nest [{bounds}] with (%u: f64 = %u) {{");
        let mut values = vec!["%u".to_string(), "0.5".to_string()];
        for place in &inputs {
            let value = self.name();
            let _ = writeln!(self.text, "        {value} = load f64 {place}, align 8");
            values.push(value);
        }
        if self.rng.u8(..3) == 0 {
            let value = self.name();
            let level = self.rng.usize(..depth);
            let _ = writeln!(self.text, "        {value} = sitofp %i{level} : f64");
            values.push(value);
        }
        self.compute(&mut values);
        for (combiner, place) in &outputs {
            let result = self.pick(&values[values.len() / 2..]);
            let result = match result.starts_with('%') {
                true => result,
                false => format!("{result}:f64"),
            };
            let _ = writeln!(self.text, "        {combiner} {result}, {place}, align 8");
        }
        self.text.push_str("    }\n");
    }

    fn compute(&mut self, values: &mut Vec<String>) {
        for _ in 0..self.rng.usize(..6) {
            let (x, y) = (self.pick(values), self.pick(values));
            let typed = |v: &str| {
                if v.starts_with('%') {
                    v.to_string()
                } else {
                    format!("{v}:f64")
                }
            };
            let value = self.name();
            let text = match self.rng.u8(..10) {
                0 => format!("math sin {x} : f64"),
                1 => format!("fsub {x}, {y} : f64"),
                2 => format!("fneg {x} : f64"),
                3 => {
                    let _ = writeln!(
                        self.text,
                        "        {value}c = fcmp olt {}, 0.25:f64",
                        typed(&x)
                    );
                    format!("select {value}c, {x}, {y} : f64")
                }
                4 => {
                    let _ = writeln!(self.text, "        {value}s = fptrunc {} : f32", typed(&x));
                    format!("fpext {value}s : f64")
                }
                5 => format!("fadd {x}, {y} : f64"),
                6 => format!("math tanh {x} : f64"),
                _ => format!("fmul {x}, {y} : f64"),
            };
            let _ = writeln!(self.text, "        {value} = {text}");
            values.push(value);
        }
    }
}
