//! Commands of the file tests that print what analyses say.

mod derivatives;
mod nests;

pub use derivatives::{activity, derive, grad, plan, run_requests, types};
pub use nests::{expand, nests, raise, run_raised, run_split, split_triangles};

use std::fmt::Write as _;
use zymase_core::analysis::affine::{AffineValues, Wrap};
use zymase_core::analysis::alias::{Alias, Aliases, Location, Moment};
use zymase_core::analysis::cfg::Cfg;
use zymase_core::analysis::dominators::{Dominators, PostDominators};
use zymase_core::analysis::effects::{ArgEffects, Effects};
use zymase_core::analysis::loops::Loops;
use zymase_core::analysis::overwrite::{Overwrite, Overwritten, Window};
use zymase_core::analysis::points_to::{Object, PointsTo};
use zymase_core::analysis::trip_count::trip_counts;
use zymase_core::ir::text::print_module;
use zymase_core::ir::verify::verify_module;
use zymase_core::ir::{Func, Function, Inst, Module, Op, Value};
use zymase_core::simplify::{canonical_loops, group_accumulations, restore_pointers};

/// The module with every function in canonical form, and what the verifier says of it.
pub fn canonical(module: &Module, _: &[&str]) -> String {
    match canonicalized(module) {
        Err(error) => error,
        Ok(module) => match verify_module(&module) {
            Ok(()) => print_module(&module),
            Err(errors) => errors.iter().map(|error| format!("{error}\n")).collect(),
        },
    }
}

/// The module with pointers in the place of numbers that are addresses.
pub fn restore_pointers(module: &Module, _: &[&str]) -> String {
    rewritten(module, restore_pointers::run)
}

/// The module with sums into neighbouring shadow memory side by side.
pub fn group_sums(module: &Module, _: &[&str]) -> String {
    rewritten(module, group_accumulations::run)
}

/// The module after a pass.
fn rewritten(module: &Module, pass: impl Fn(&mut Function) -> bool) -> String {
    let mut module = module.clone();
    for function in module.funcs.values_mut().filter(|f| !f.is_declaration()) {
        pass(function);
    }
    match verify_module(&module) {
        Ok(()) => print_module(&module),
        Err(errors) => errors.iter().map(|error| format!("{error}\n")).collect(),
    }
}

/// For every block the one that immediately dominates it and the one that does so backwards.
pub fn dominators(module: &Module, _: &[&str]) -> String {
    let mut out = String::new();
    for func in module.funcs.values().filter(|f| !f.is_declaration()) {
        let cfg = Cfg::new(func);
        let dominators = Dominators::new(func, &cfg);
        let after = PostDominators::new(func, &cfg);
        let _ = writeln!(out, "@{}", func.name);
        for &block in cfg.reverse_postorder() {
            let say = |found: Option<_>| {
                found.map_or("nothing".to_string(), |b: zymase_core::ir::Block| {
                    b.to_string()
                })
            };
            let (above, below) = (say(dominators.idom(block)), say(after.ipdom(block)));
            let _ = writeln!(out, "  {block}: below {above}, above {below}");
        }
    }
    out
}

/// Every integer and address of every function as a sum over loop counters, in canonical form.
pub fn affine(module: &Module, _: &[&str]) -> String {
    each_function(module, |_, func| {
        let cfg = Cfg::new(func);
        let dominators = Dominators::new(func, &cfg);
        let Ok(loops) = Loops::new(func, &cfg, &dominators) else {
            return "irreducible\n".to_string();
        };
        let values = AffineValues::new(func, &cfg, &loops);
        let mut out = String::new();
        for &block in cfg.reverse_postorder() {
            for &inst in func.block_insts(block) {
                let Some(result) = func.result(inst) else {
                    continue;
                };
                let form = match func.ty(result) {
                    ty if ty.is_ptr() => values.address(result, block),
                    ty if ty.is_int() => values.integer(result, Wrap::Signed, block),
                    _ => continue,
                };
                let _ = writeln!(out, "  {inst} = {form}");
            }
        }
        out
    })
}

/// The loops of every function, their trip counts and the addresses of accesses, after it was
/// brought into canonical form.
pub fn loops(module: &Module, _: &[&str]) -> String {
    each_function(module, |_, func| {
        let cfg = Cfg::new(func);
        let dominators = Dominators::new(func, &cfg);
        let Ok(loops) = Loops::new(func, &cfg, &dominators) else {
            return "irreducible\n".to_string();
        };
        let trips = trip_counts(func, &cfg, &dominators, &loops);
        let mut out = String::new();
        for l in loops.iter() {
            let indent = "  ".repeat(loops.depth(l) as usize);
            let _ = writeln!(out, "{indent}{l} runs {}", trips[l]);
        }
        let values = AffineValues::new(func, &cfg, &loops);
        for &block in cfg.reverse_postorder() {
            for &inst in func.block_insts(block) {
                let data = func.inst(inst);
                let pointer = match data.op {
                    Op::Load(_) => data.args[0],
                    Op::Store(_) => data.args[1],
                    _ => continue,
                };
                let _ = writeln!(out, "  {inst} at {}", values.address(pointer, block));
            }
        }
        out
    })
}

/// What every function may do.
pub fn effects(module: &Module, _: &[&str]) -> String {
    let effects = Effects::new(module);
    let mut out = String::new();
    for (func, function) in &module.funcs {
        let summary = effects.function(func);
        let letters = |effects: ArgEffects| {
            let mut text = String::new();
            for (flag, letter) in [
                (ArgEffects::READ, 'r'),
                (ArgEffects::WRITE, 'w'),
                (ArgEffects::FREE, 'f'),
                (ArgEffects::CAPTURE, 'c'),
                (ArgEffects::RETURN, 'R'),
            ] {
                if effects.contains(flag) {
                    text.push(letter);
                }
            }
            if text.is_empty() {
                "-".to_string()
            } else {
                text
            }
        };
        let args: Vec<String> = (0..function.sig.params.len())
            .map(|i| letters(summary.arg(i)))
            .collect();
        let _ = write!(out, "@{}({})", function.name, args.join(", "));
        let _ = write!(out, " other {:?}", summary.other);
        if summary.frees_other {
            let _ = write!(out, " frees");
        }
        if summary.fresh {
            let _ = write!(out, " returns new memory");
        }
        out.push('\n');
    }
    out
}

/// What every pointer of every function may point to.
pub fn points_to(module: &Module, _: &[&str]) -> String {
    let effects = Effects::new(module);
    each_function(module, |_, func| {
        let points_to = PointsTo::new(func, &effects);
        let mut out = String::new();
        let mut say = |value: Value| {
            if !func.ty(value).is_ptr() {
                return;
            }
            let objects: Vec<String> = points_to
                .objects(value)
                .map(|object| {
                    let escaped = if points_to.is_escaped(object) {
                        "!"
                    } else {
                        ""
                    };
                    let text = match object {
                        Object::Alloca(inst) => format!("frame {inst}"),
                        Object::Allocation(inst) => format!("new {inst}"),
                        Object::Argument(i) => format!("argument {i}"),
                        Object::Global(global) => format!("@{}", module.globals[global].name),
                        Object::Unknown => "anything outside".to_string(),
                    };
                    format!("{text}{escaped}")
                })
                .collect();
            let _ = writeln!(out, "  {value}: {}", objects.join(", "));
        };
        for &block in func.blocks() {
            func.block_params(block).iter().copied().for_each(&mut say);
            let results = func.block_insts(block).iter();
            results
                .filter_map(|&inst| func.result(inst))
                .for_each(&mut say);
        }
        out
    })
}

/// For every pair of accesses with a store in it whether they may touch the same byte, in the same
/// iteration and at any two moments.
pub fn alias(module: &Module, _: &[&str]) -> String {
    let effects = Effects::new(module);
    each_function(module, |module, func| {
        let cfg = Cfg::new(func);
        let dominators = Dominators::new(func, &cfg);
        let Ok(loops) = Loops::new(func, &cfg, &dominators) else {
            return "irreducible\n".to_string();
        };
        let points_to = PointsTo::new(func, &effects);
        let aliases = Aliases::new(module, func, &cfg, &loops, &points_to);
        let mut accesses = Vec::new();
        for &block in cfg.reverse_postorder() {
            for &inst in func.block_insts(block) {
                let data = func.inst(inst);
                let (pointer, access, value) = match &data.op {
                    Op::Load(access) => (data.args[0], access, func.result(inst)),
                    Op::Store(access) => (data.args[1], access, Some(data.args[0])),
                    _ => continue,
                };
                let size = value.map(|value| module.layout.store_size(func.ty(value)));
                let access = Some(access);
                let location = Location {
                    pointer,
                    size,
                    access,
                    block,
                };
                accesses.push((
                    inst,
                    location,
                    value.is_some_and(|v| func.result(inst) == Some(v)),
                ));
            }
        }
        let mut out = String::new();
        for (i, (a, first, a_reads)) in accesses.iter().enumerate() {
            for (b, second, b_reads) in &accesses[i + 1..] {
                if *a_reads && *b_reads {
                    continue;
                }
                let text = |moment| match aliases.query(first, second, moment) {
                    Alias::No => "no".to_string(),
                    Alias::May => "may".to_string(),
                    Alias::Must { offset } => format!("at {offset}"),
                };
                let (same, any) = (text(Moment::Same), text(Moment::Any));
                let _ = writeln!(out, "  {a} and {b}: {same}, at any time {any}");
            }
        }
        out
    })
}

/// For every read whether the bytes are intact at the end. Arguments: `split` (the frame ends),
/// `other`, `result`, and the numbers of arguments whose memory the caller overwrites.
pub fn overwrite(module: &Module, arguments: &[&str]) -> String {
    let mut window = Window::default();
    for &word in arguments {
        match word {
            "split" => window.frame_ends = true,
            "other" => window.other = true,
            "result" => window.result = true,
            number => {
                let number: usize = number.parse().expect("the number of an argument");
                window
                    .arguments
                    .resize(window.arguments.len().max(number + 1), false);
                window.arguments[number] = true;
            }
        }
    }
    let effects = Effects::new(module);
    each_function(module, |module, func| {
        let answers = Overwrite::of_function(module, func, &effects, &window);
        let Some(answers) = answers else {
            return "no answer\n".to_string();
        };
        let mut out = String::new();
        for &block in func.blocks() {
            for &inst in func.block_insts(block) {
                let data = func.inst(inst);
                match &data.op {
                    Op::Load(_) | Op::MemCopy { .. } => {
                        let _ = writeln!(out, "  {inst}: {}", answers.read(inst));
                    }
                    Op::Nest(nest) => {
                        for input in 0..nest.inputs.len() {
                            let answer = answers.input(inst, input);
                            let _ = writeln!(out, "  {inst}, input {input}: {answer}");
                        }
                    }
                    Op::Call(_) => {
                        let window = answers.window_of_call(inst, false);
                        let _ = writeln!(
                            out,
                            "  {inst}: arguments {:?}, other {}, result {}",
                            window.arguments, window.other, window.result
                        );
                        for i in 0..window.arguments.len() {
                            let answer = answers.argument(inst, i);
                            if let Overwritten::IfOverlap(_) = answer {
                                let _ = writeln!(out, "    argument {i}: {answer}");
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        out
    })
}

fn canonicalized(module: &Module) -> Result<Module, String> {
    let mut module = module.clone();
    for function in module.funcs.values_mut() {
        canonical_loops::run(function).map_err(|error| format!("@{}: {error}", function.name))?;
    }
    Ok(module)
}

/// What is said about each function with a body, in canonical form, with names for entities.
fn each_function(module: &Module, say: impl Fn(&Module, &Function) -> String) -> String {
    let module = match canonicalized(module) {
        Ok(module) => module,
        Err(error) => return error,
    };
    let mut out = String::new();
    for function in module.funcs.values() {
        if !function.is_declaration() {
            let said = named(&module, function, &say(&module, function));
            let _ = write!(out, "@{}\n{said}", function.name);
        }
    }
    out
}

/// Replaces the numbers of values and instructions by their names.
fn named(module: &Module, func: &Function, text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        out.push_str(&name_of(module, func, &word));
        word.clear();
        out.push(c);
    }
    out.pop();
    out
}

fn name_of(module: &Module, func: &Function, word: &str) -> String {
    let number = |prefix: &str| word.strip_prefix(prefix)?.parse::<u32>().ok();
    if let Some(number) = number("inst") {
        let inst = Inst::from_u32(number);
        return match (&func.inst(inst).op, func.result(inst)) {
            (_, Some(result)) => value_name(func, result),
            (Op::Store(_), _) => {
                format!("[store to {}]", value_name(func, func.inst(inst).args[1]))
            }
            (op, _) => match op.call().map(|call| call.callee) {
                Some(zymase_core::ir::Callee::Direct(callee)) => {
                    format!("[call of @{}]", callee_name(module, callee))
                }
                _ => format!("[{op:?}]")
                    .chars()
                    .take_while(|c| c.is_alphabetic() || *c == '[')
                    .chain([']'])
                    .collect(),
            },
        };
    }
    match number("v") {
        Some(number) => value_name(func, Value::from_u32(number)),
        None => word.to_string(),
    }
}

fn callee_name(module: &Module, callee: Func) -> &str {
    &module.funcs[callee].name
}

fn value_name(func: &Function, value: Value) -> String {
    match &func.value(value).name {
        Some(name) => format!("%{name}"),
        None => value.to_string(),
    }
}
