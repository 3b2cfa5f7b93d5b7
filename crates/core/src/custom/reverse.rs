//! The two sweeps of a function that has a rule for reverse mode.
//!
//! The augmented sweep calls that of the rule and keeps the tape it gives in the frame, one after
//! another if there are several derivatives at once. The reverse sweep hands the rule its tape
//! and returns the derivatives of numbers that were passed by value. A rule that wants to know is told
//! which memory it will not find again.

use super::convention::{self, Augmented, Part, Passed, arguments, list, spread};
use super::finite::{self, check_writes, shadow_positions};
use super::lanes::{self, Lanes, check_activities, frame_memory, get, put};
use super::like;
use crate::analysis::effects::{ArgEffects, Effects};
use crate::derivative::{Key, batch_values, bundle_values};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    Activity, Builder, Constant, CustomRule, DataLayout, Function, Module, Region, ReturnActivity,
    RuleKind, Signature, Type, Value,
};
use crate::plan::Reloads;
use crate::reverse::Bodies;
use crate::synthesis::Synthesis;

/// Writes both sweeps of a function that has a rule.
pub fn reverse(synthesis: &mut Synthesis, key: &Key, rule: &CustomRule) -> Result<Bodies> {
    if rule.kind == RuleKind::Like {
        return like::reverse(synthesis, key, rule);
    }
    let module = &synthesis.module;
    let primal = &module.funcs[key.func];
    convention::check_function(primal)?;
    check_activities(key, primal)?;
    let rule = Rule::new(module, key, rule)?;
    if key.keep_tape && !rule.parts.tape.is_empty() {
        return Err(Diagnostic::new(
            Code::RuleOnce,
            format!(
                "the tape of the custom rule for `{}` cannot be kept",
                primal.name
            ),
            format!(
                "enzyme_nofree lets the reverse sweep run again, and `{}` may free its tape",
                rule.gradient.name
            ),
            "ask for the reverse half without enzyme_nofree",
        ));
    }
    let mut bodies = Bodies {
        augmented: rule.augmented(),
        gradient: rule.gradient(),
        frame_bytes: rule.tape_bytes() * u64::from(key.width),
        delays: false,
        reloads: Reloads::All,
        report: None,
    };
    if synthesis.options.check_finite {
        let rule = finite::Rule {
            func: rule.gradient.func,
            shadows: shadow_positions(&primal.sig.params, rule.gradient.hidden(), shadowed),
            what: "an adjoint",
        };
        check_writes(&mut synthesis.module, &mut bodies.gradient, rule);
    }
    Ok(bodies)
}

struct Rule<'m> {
    layout: &'m DataLayout,
    key: &'m Key,
    primal: &'m Signature,
    augmented: Part,
    gradient: Part,
    /// What the augmented sweep is told of memory that may be overwritten, a bit for each parameter.
    overwritten: Option<u64>,
    /// Where the parts of what the augmented sweep returns are.
    parts: Augmented,
    /// How the reverse sweep takes the seed and the tape.
    seed: Passed,
    tape: Passed,
    /// The arguments that are numbers, the offsets of their derivatives, and whether each is
    /// wanted.
    numbers: Vec<(Type, u64, bool)>,
}

/// Pointers have a shadow in both functions of a rule; numbers do not, their derivatives are
/// returned.
fn shadowed(ty: Type) -> bool {
    ty.is_ptr()
}

impl<'m> Rule<'m> {
    fn new(module: &'m Module, key: &'m Key, rule: &CustomRule) -> Result<Rule<'m>> {
        let layout = &module.layout;
        let function = &module.funcs[key.func];
        let (name, primal) = (function.name.as_str(), &function.sig);
        let [augmented, gradient] = [0, 1].map(|i| Part::new(module, rule.parts[i]));
        let args = arguments(primal, shadowed);

        let overwritten = (rule.kind == RuleKind::Pullback).then(|| overwritten(key));
        let mut taken = args.clone();
        taken.extend(overwritten.map(|_| Type::int(64)));
        let what = "augmented forward sweep";
        let expected = expected_augmented(&taken, primal.ret);
        let misfit = || augmented.misfit(name, what, &expected);
        if augmented.params() != taken {
            return Err(misfit());
        }
        let returned = augmented.returned();
        let parts = Augmented::new(layout, returned, primal.ret).ok_or_else(misfit)?;
        let lacks_shadow = key.ret == ReturnActivity::Dup && parts.shadow.is_none();
        if (key.primal_needed && !primal.ret.is_void() && parts.result.is_none()) || lacks_shadow {
            return Err(misfit());
        }

        let numbers = numbers(primal, key, rule);
        let derivatives: Vec<Type> = numbers.iter().map(|(ty, _)| *ty).collect();
        let seeds = match primal.ret.is_void() || !is_number(layout, primal.ret) {
            true => Vec::new(),
            false => layout.scalars(primal.ret),
        };
        let tape: Vec<Type> = parts.tape.iter().map(|(_, ty)| *ty).collect();
        let mut all = args.clone();
        all.extend(seeds.iter().map(|_| primal.ret).take(1));
        all.extend(&tape);
        let expected = match derivatives.as_slice() {
            [] => format!("({})", list(&all)),
            [one] => format!("({}) -> {one}", list(&all)),
            several => format!("({}) -> {{{}}}", list(&all), list(several)),
        };
        let misfit = || gradient.misfit(name, "reverse sweep", &expected);
        let (hidden, params) = (gradient.hidden(), gradient.params());
        if params.len() < args.len() || params[..args.len()] != args {
            return Err(misfit());
        }
        let rest = |from: usize| (&params[from..], &gradient.attrs[hidden + from..]);
        let (types, attrs) = rest(args.len());
        let seed = spread(layout, types, attrs, &seeds).ok_or_else(misfit)?;
        let after = args.len() + seed.count();
        let (types, attrs) = rest(after);
        let passed = spread(layout, types, attrs, &parts.tape).ok_or_else(misfit)?;
        if after + passed.count() != params.len() {
            return Err(misfit());
        }
        let offsets = convention::derivatives(layout, gradient.returned(), &derivatives);
        let offsets = offsets.ok_or_else(misfit)?;
        check_repeated(module, key, &augmented, &args)?;
        let numbers = numbers.into_iter().zip(offsets);
        let numbers = numbers.map(|((ty, wanted), at)| (ty, at, wanted));
        Ok(Rule {
            layout,
            key,
            primal,
            overwritten,
            parts,
            seed,
            tape: passed,
            numbers: numbers.collect(),
            augmented,
            gradient,
        })
    }

    /// The room for one tape.
    fn tape_bytes(&self) -> u64 {
        self.parts.tape_bytes(self.layout).next_multiple_of(16)
    }

    fn augmented(&self) -> Function {
        let sig = self.key.augmented_signature(self.primal);
        let mut function = Function::with_entry("", sig);
        function.local = true;
        let lanes = Lanes::new(self.key, self.primal, &function);
        let entry = function.entry();
        let mut builder = Builder::new(&mut function, entry);
        let (mut result, mut shadows) = (None, Vec::new());
        for k in 0..self.key.width as usize {
            let mut args = lanes.arguments(&mut builder, k, shadowed);
            let told = self.overwritten.map(i128::from);
            args.extend(told.map(|bits| builder.func.iconst(Type::int(64), bits)));
            let Some(memory) = lanes::call(&mut builder, self.layout, &self.augmented, args) else {
                continue;
            };
            let frame = builder.offset(lanes.frame(), (k as u64 * self.tape_bytes()) as i64);
            self.copy_tape(&mut builder, (memory, Region::User), (frame, Region::Tape));
            let mut part = |at: Option<u64>| {
                at.map(|at| {
                    let ty = self.primal.ret;
                    get(&mut builder, self.layout, memory, at, ty, Region::User)
                })
            };
            // Each call computes the same result.
            result = result.or_else(|| part(self.parts.result));
            shadows.extend(part(self.parts.shadow));
        }
        let mut parts = Vec::new();
        if self.key.primal_needed {
            parts.extend(result);
        }
        if self.key.ret == ReturnActivity::Dup {
            parts.push(batch_values(&mut builder, &shadows));
        }
        let returned = bundle_values(&mut builder, &parts);
        builder.ret(returned);
        function
    }

    fn gradient(&self) -> Function {
        let sig = self.key.gradient_signature(self.primal);
        let mut function = Function::with_entry("", sig);
        function.local = true;
        let lanes = Lanes::new(self.key, self.primal, &function);
        let entry = function.entry();
        let mut builder = Builder::new(&mut function, entry);
        let mut found: Vec<Vec<Value>> = vec![Vec::new(); self.numbers.len()];
        for k in 0..self.key.width as usize {
            let mut args = lanes.arguments(&mut builder, k, shadowed);
            // What the rule does not look at need not be kept for it.
            for (i, arg) in args.iter_mut().enumerate() {
                if !self.gradient.used[self.gradient.hidden() + i] {
                    let ty = builder.func.ty(*arg);
                    *arg = builder.func.constant(ty, Constant::Undef);
                }
            }
            if self.seed.count() > 0 {
                let seed = lanes.seed(builder.func, k);
                let memory = frame_memory(&mut builder, self.layout.size(self.primal.ret));
                put(&mut builder, self.layout, memory, 0, seed, Region::User);
                self.pass(&mut builder, memory, &self.seed, &mut args);
            }
            if self.tape.count() > 0 {
                let frame = builder.offset(lanes.frame(), (k as u64 * self.tape_bytes()) as i64);
                let memory = frame_memory(&mut builder, self.tape_bytes());
                self.copy_tape(&mut builder, (frame, Region::Tape), (memory, Region::User));
                self.pass(&mut builder, memory, &self.tape, &mut args);
            }
            let memory = lanes::call(&mut builder, self.layout, &self.gradient, args);
            for (found, &(ty, at, _)) in found.iter_mut().zip(&self.numbers) {
                let derivative =
                    memory.map(|m| get(&mut builder, self.layout, m, at, ty, Region::User));
                found.extend(derivative);
            }
        }
        let wanted = found.iter().zip(&self.numbers).filter(|(_, n)| n.2);
        let parts: Vec<Value> = wanted
            .map(|(found, _)| batch_values(&mut builder, found))
            .collect();
        let returned = bundle_values(&mut builder, &parts);
        builder.ret(returned);
        function
    }

    fn copy_tape(
        &self,
        builder: &mut Builder<'_>,
        (from, from_region): (Value, Region),
        (to, to_region): (Value, Region),
    ) {
        for &(at, ty) in &self.parts.tape {
            let value = get(builder, self.layout, from, at, ty, from_region);
            put(builder, self.layout, to, at, value, to_region);
        }
    }

    fn pass(
        &self,
        builder: &mut Builder<'_>,
        memory: Value,
        passed: &Passed,
        args: &mut Vec<Value>,
    ) {
        match passed {
            Passed::Memory => args.push(memory),
            Passed::Values(values) => {
                for &(at, ty) in values {
                    let value = get(builder, self.layout, memory, at, ty, Region::User);
                    args.push(value);
                }
            }
        }
    }
}

/// The parameters behind which memory may be overwritten before the reverse sweep. Of those that are
/// too many for bits, all are.
fn overwritten(key: &Key) -> u64 {
    let bits = key.overwritten.iter().enumerate();
    let bits = bits.filter(|(_, overwritten)| **overwritten);
    let bits = bits.map(|(i, _)| u32::try_from(i).ok().and_then(|i| 1u64.checked_shl(i)));
    bits.fold(0, |all, bit| bit.map_or(u64::MAX, |bit| all | bit))
}

/// Whether a value is made of floats alone.
fn is_number(layout: &DataLayout, ty: Type) -> bool {
    let mut scalars = layout.scalars(ty).into_iter();
    scalars.all(|(_, ty)| ty.float_kind().is_some())
}

/// The arguments whose derivatives the rule returns, and whether each is wanted.
fn numbers(primal: &Signature, key: &Key, rule: &CustomRule) -> Vec<(Type, bool)> {
    let handled = |i: usize| match &rule.handles {
        Some(handles) => handles[i] != Activity::Const,
        None => true,
    };
    let args = primal.params.iter().zip(&key.args).enumerate();
    args.filter(|(i, (ty, _))| ty.is_float_like() && handled(*i))
        .map(|(_, (&ty, &activity))| (ty, activity == Activity::Out))
        .collect()
}

fn expected_augmented(args: &[Type], result: Type) -> String {
    let args = list(args);
    if result.is_void() {
        format!("({args}), returning the tape or nothing")
    } else if result.is_ptr() {
        format!("({args}) -> {{tape, {result}, {result}}}: tape, result and shadow of the result")
    } else {
        format!("({args}) -> {result}, or -> {{tape, {result}}}")
    }
}

/// With several derivatives at once a function of the rule is called for each, so it must not
/// change what it reads.
pub(super) fn check_repeated(module: &Module, key: &Key, part: &Part, args: &[Type]) -> Result<()> {
    if key.width == 1 {
        return Ok(());
    }
    let effects = Effects::new(module);
    let summary = effects.function(part.func);
    let changes = |i: usize| {
        let both = ArgEffects::READ | ArgEffects::WRITE;
        args[i].is_ptr() && summary.arg(i + part.hidden()).contains(both)
    };
    // Shadows come after their primals, and differ from call to call.
    let mut position = 0;
    for ty in &module.funcs[key.func].sig.params {
        if changes(position) || module.funcs[key.func].sig.ret.is_ptr() {
            let name = &module.funcs[key.func].name;
            return Err(Diagnostic::new(
                Code::RuleOnce,
                format!("the custom rule for `{name}` cannot give several derivatives at once"),
                format!(
                    "`{}` would be called {} times, and it may change memory that it reads, or \
                     return new memory",
                    part.name, key.width
                ),
                "ask for one derivative at a time",
            ));
        }
        position += 1;
        position += usize::from(args.get(position) == Some(ty) && ty.is_ptr());
    }
    Ok(())
}

impl Passed {
    /// How many parameters it takes.
    fn count(&self) -> usize {
        match self {
            Passed::Values(values) => values.len(),
            Passed::Memory => 1,
        }
    }
}
