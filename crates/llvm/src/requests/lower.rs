//! Gives the functions that stand for requests a body in core.
//!
//! Such a function takes what the C calling convention passed (floats widened to `f64` by a
//! variadic call, memory for a large result) and returns what the program expects. Its body is the
//! request with conversions around it; the optimizer inlines it.
//!
//! Before: the targets are imported. After: every pinned request is one instruction of core.

use super::allocators;
use super::checks::Checks;
use super::complaints as complain;
use super::parse::Source;
use super::pin::{Pinned, Pins};
use super::registrations::{Registered, Rule};
use super::ruled::Borrow;
use crate::known::math_function;
use zymase_core::derivative::{augmented_results, bundle, bundle_values, request_result};
use zymase_core::diagnostic::{Diagnostic, Result};
use zymase_core::ir::{
    Access, Builder, CastOp, CustomRule, DataLayout, FloatKind, FnFlags, Func, Function,
    GlobalData, MathFn, ModRef, Mode, Module, Op, ParamFlags, Request, RuleKind, Signature,
    TapeTerms, Type, Value,
};

/// Adds all requests to a module of core, and marks what the program registered. Gives the
/// functions that are new or have a body now: those that stand for requests, and what they call.
/// Requests whose functions have bodies are served already. `thorough` requests check their shadows.
pub fn lower(module: &mut Module, pins: &Pins, thorough: bool) -> Result<Vec<Func>> {
    for registered in &pins.registered {
        let flag = match &registered.rule {
            Rule::Derivative(kind, parts, handles) => {
                let rule = custom_rule(module, registered, *kind, parts);
                let rule = rule.map(|rule| CustomRule {
                    handles: handles.clone(),
                    ..rule
                });
                add_rule(module, registered, rule)?;
                continue;
            }
            Rule::Like(name) => {
                let body = like(module, registered, name);
                let body = body.map_err(|complaint| registered.complain(complaint))?;
                let rule = body.and_then(|body| {
                    let parts = [body];
                    custom_rule(module, registered, RuleKind::Like, &parts)
                });
                add_rule(module, registered, rule)?;
                continue;
            }
            Rule::Recompute => FnFlags::RECOMPUTE,
            Rule::Inactive => FnFlags::INACTIVE,
            Rule::NoFree => FnFlags::NOFREE,
            Rule::InactiveGlobal => {
                let named = |g: &GlobalData| g.name == registered.about;
                if let Some((_, global)) = module.globals.iter_mut().find(|(_, g)| named(g)) {
                    global.inactive = true;
                }
                continue;
            }
            Rule::Borrows(borrowed) => {
                if let Some(func) = module.func_by_name(&registered.about) {
                    limit_to_borrowed(&mut module.funcs[func], borrowed);
                }
                continue;
            }
            Rule::Allocator(allocator) => {
                allocators::mark(module, &registered.about, allocator);
                continue;
            }
            // Its code has flags by now, see `permission`.
            Rule::Fast | Rule::Unsupported => continue,
        };
        if let Some(func) = module.func_by_name(&registered.about) {
            module.funcs[func].attrs.flags |= flag;
        }
    }
    for name in &pins.barriers {
        if let Some(func) = module.func_by_name(name) {
            module.funcs[func].attrs.flags |= FnFlags::INACTIVE;
        }
    }
    let before = module.funcs.len();
    let mut lowered = Vec::new();
    let served = |pinned: &&Pinned| {
        let known = module.func_by_name(&pinned.symbol);
        known.is_some_and(|func| !module.funcs[func].is_declaration())
    };
    let open: Vec<&Pinned> = pins.requests.iter().filter(|p| !served(p)).collect();
    for pinned in open {
        let func = lower_request(module, pinned, thorough);
        lowered.push(func.map_err(|complaint| pinned.complain(complaint))?);
    }
    let new: Vec<Func> = module.funcs.keys().skip(before).collect();
    let known: Vec<Func> = lowered.into_iter().filter(|f| !new.contains(f)).collect();
    Ok([known, new].concat())
}

/// Says of a function that borrows what it is given what it does not do. The optimizer is not told,
/// because it would believe it of the program's own state too, such as a pool of threads.
fn limit_to_borrowed(function: &mut Function, borrowed: &[Borrow]) {
    for (param, borrow) in function.params.iter_mut().zip(borrowed) {
        let limits = match borrow {
            Borrow::Not => ParamFlags::empty(),
            Borrow::Read => ParamFlags::NOCAPTURE | ParamFlags::READONLY,
            Borrow::Written => ParamFlags::NOCAPTURE,
        };
        param.flags |= limits;
    }
    function.attrs.memory.other &= ModRef::READ;
    function.attrs.flags |= FnFlags::NOFREE;
}

/// A rule by the names of its functions; none if the derivatives do not need it.
fn custom_rule(
    module: &Module,
    registered: &Registered,
    kind: RuleKind,
    parts: &[String],
) -> Option<CustomRule> {
    let parts = parts.iter().map(|name| module.func_by_name(name));
    Some(CustomRule {
        func: module.func_by_name(&registered.about)?,
        kind,
        parts: parts.collect::<Option<Vec<Func>>>()?,
        handles: None,
    })
}

fn add_rule(module: &mut Module, registered: &Registered, rule: Option<CustomRule>) -> Result<()> {
    let Some(rule) = rule else { return Ok(()) };
    let expected = module.funcs[rule.func].sig.params.len();
    if let Some(handles) = rule.handles.as_ref().filter(|h| h.len() != expected) {
        let (by, about) = (&registered.by, &registered.about);
        let complaint = complain::wrong_activities(by, about, handles.len(), expected);
        return Err(registered.complain(complaint));
    }
    module.rules.push(rule);
    Ok(())
}

/// Adds a function that does what a function of the mathematical library does, with the types of
/// the function that is like it; gives its name.
fn like(
    module: &mut Module,
    registered: &Registered,
    name: &str,
) -> std::result::Result<Option<String>, Box<Diagnostic>> {
    let about = &registered.about;
    let Some(func) = module.func_by_name(about) else {
        return Ok(None);
    };
    let sig = module.funcs[func].sig.clone();
    let kind = sig.ret.float_kind();
    // The plain name stands for every precision.
    let suffixed = FloatKind::ALL
        .iter()
        .find_map(|&kind| math_function(name, kind));
    let function = MathFn::from_name(name).or(suffixed);
    let function = function.ok_or_else(|| complain::unknown_library_function(about, name))?;
    let floats = kind.is_some() && sig.params.iter().all(|&ty| ty == sig.ret);
    if !floats || sig.variadic || sig.params.len() != function.params().len() {
        let params: Vec<String> = sig.params.iter().map(ToString::to_string).collect();
        let types = format!("({}) -> {}", params.join(", "), sig.ret);
        return Err(complain::unlike(about, name, &types));
    }
    let body_name = module.fresh_name(&format!("zymase.{about}.like.{name}"));
    let mut body = Function::with_entry(&body_name, sig);
    body.local = true;
    let (entry, args) = (body.entry(), body.arguments().to_vec());
    let mut builder = Builder::new(&mut body, entry);
    let result = builder.math(function, args);
    builder.ret(Some(result));
    module.funcs.push(body);
    Ok(Some(body_name))
}

fn lower_request(module: &mut Module, pinned: &Pinned, thorough: bool) -> Result<Func> {
    let func = module
        .func_by_name(&pinned.target)
        .filter(|&func| {
            let has_rule = module.rules_of(func).next().is_some();
            has_rule || !module.funcs[func].is_declaration()
        })
        .ok_or_else(|| complain::only_declared(&pinned.target))?;
    let target = &module.funcs[func];
    let request = Request {
        func,
        mode: pinned.parsed.mode,
        width: pinned.parsed.width,
        args: pinned
            .parsed
            .args
            .iter()
            .map(|argument| argument.activity)
            .collect(),
        ret: pinned.parsed.ret,
        // A result in memory is an argument, its primal is there already.
        primal_return: pinned.parsed.primal_return && !target.sig.ret.is_void(),
        strong_zero: pinned.parsed.strong_zero,
        runtime_activity: pinned.parsed.runtime_activity,
        tape: tape_terms(pinned),
    };
    let result = request_result(&request, target);
    let parts = match request.mode {
        Mode::Augmented => Some(returned_parts(pinned, &module.layout, &request, target)?),
        _ => None,
    };
    if parts.is_none() {
        check_result(pinned, &module.layout, result)?;
    }
    let target = target.clone();
    let checks = Checks::new(module, pinned, &request, thorough);
    let params = target.sig.params.clone();
    let seed = target.sig.ret;
    let scratch = target.params.first().and_then(|first| first.sret);
    let sig = Signature::new(pinned.params.clone(), pinned.ret);
    let mut function = Function::with_entry(&pinned.symbol, sig);
    let entry = function.entry();
    let mut body = Body {
        builder: Builder::new(&mut function, entry),
        pinned,
        layout: &module.layout,
        result_memory: scratch,
        seed,
        checks,
    };
    body.write(request, &params, result, parts);
    Ok(match module.func_by_name(&pinned.symbol) {
        Some(declared) => {
            function.origin = module.funcs[declared].origin;
            module.funcs[declared] = function;
            declared
        }
        None => module.funcs.push(function),
    })
}

/// What a request says about the tape.
fn tape_terms(pinned: &Pinned) -> TapeTerms {
    let arguments = pinned.parsed.args.iter().enumerate();
    let promised = arguments.filter(|(_, argument)| argument.not_overwritten);
    TapeTerms {
        not_overwritten: promised.map(|(position, _)| position as u32).collect(),
        caller: pinned.parsed.caller_tape,
        bytes: pinned.parsed.tape_bytes,
        keep: pinned.parsed.keep_tape,
    }
}

/// Which parts of the result of the augmented half the program's call returns: the tape, then the
/// primal result and its shadow as far as it has room for them. Who gives memory for the tape may
/// leave the tape out.
fn returned_parts(
    pinned: &Pinned,
    layout: &DataLayout,
    request: &Request,
    target: &Function,
) -> Result<std::ops::Range<usize>> {
    let parts = augmented_results(request, target);
    let given = pinned.result_memory.unwrap_or(pinned.ret);
    let starts = 0..=usize::from(pinned.parsed.caller_tape);
    let mut ranges = starts.flat_map(|start| (start + 1..=parts.len()).map(move |end| start..end));
    let fits =
        |range: &std::ops::Range<usize>| same_layout(layout, given, bundle(&parts[range.clone()]));
    match ranges.find(fits) {
        Some(range) => Ok(range),
        None if !pinned.used || given.is_void() => Ok(0..0),
        None => Err(complain::wrong_result(
            &pinned.target,
            given,
            bundle(&parts),
        )),
    }
}

struct Body<'a> {
    builder: Builder<'a>,
    pinned: &'a Pinned,
    layout: &'a DataLayout,
    /// If the target returns its result in memory, the type of the result.
    result_memory: Option<Type>,
    /// The type of the target's result, and so of seeds.
    seed: Type,
    /// What is checked when it runs.
    checks: Checks,
}

impl Body<'_> {
    fn write(
        &mut self,
        request: Request,
        params: &[Type],
        result: Type,
        parts: Option<std::ops::Range<usize>>,
    ) {
        let mut args = Vec::new();
        let passes = request.mode != Mode::TapeSize;
        let arguments = self.pinned.parsed.args.iter().zip(params).enumerate();
        for (position, (argument, &ty)) in arguments.filter(|_| passes) {
            let primal = self.source(argument.primal, ty);
            args.push(primal);
            for &shadow in &argument.shadows {
                let shadow = self.source(shadow, ty);
                let checks = &self.checks;
                checks.shadow(&mut self.builder, position, primal, shadow);
                args.push(shadow);
            }
        }
        for &seed in self.pinned.parsed.seeds.iter().filter(|_| passes) {
            args.push(self.cast(self.argument(seed), self.seed));
        }
        if let Some(tape) = self.pinned.parsed.tape.filter(|_| passes) {
            let tape = self.argument(tape);
            if let Some(room) = self.pinned.parsed.tape_room {
                let given = self.cast(self.argument(room), Type::i64());
                let checks = &self.checks;
                checks.room(&mut self.builder, &request, tape, given);
            }
            args.push(tape);
        }
        let op = Op::Request(Box::new(request));
        if result.is_void() {
            self.builder.effect(op, args);
            let nothing = match self.pinned.ret.is_void() {
                true => None,
                false => Some(self.builder.func.zero(self.pinned.ret)),
            };
            return self.builder.ret(nothing);
        }
        let mut value = self.builder.value(op, args, result);
        if !passes && self.pinned.ret.is_int() {
            let size = self.cast(value, self.pinned.ret);
            return self.builder.ret(Some(size));
        }
        let mut ty = result;
        if let Some(parts) = parts.filter(|_| result.is_aggregate()) {
            let parts = parts.map(|i| self.builder.extract(value, vec![i as u32]));
            let parts: Vec<Value> = parts.collect();
            value = bundle_values(&mut self.builder, &parts).unwrap_or(value);
            ty = self.builder.func.ty(value);
        }
        let returned = self.convert_result(value, ty);
        self.builder.ret(returned);
    }

    fn argument(&self, position: usize) -> Value {
        self.builder.func.arguments()[position]
    }

    fn source(&mut self, source: Source, ty: Type) -> Value {
        match source {
            Source::Operand(position) => self.cast(self.argument(position), ty),
            Source::Strided { base, index: 0, .. } => self.argument(base),
            Source::Strided {
                base,
                stride,
                index,
            } => {
                let stride = self.cast(self.argument(stride), Type::i64());
                self.builder
                    .element(self.argument(base), stride, i64::from(index))
            }
            Source::Scratch => {
                let ty = self.result_memory.unwrap_or(Type::i64());
                self.builder.alloca(ty, self.layout.align(ty).max(8))
            }
            Source::Result(part) => {
                let size = self.result_memory.map_or(0, |ty| self.layout.size(ty));
                self.builder
                    .offset(self.argument(0), size as i64 * i64::from(part))
            }
        }
    }

    /// A value as the function wants it: variadic calls widen floats and integers, and integers
    /// are read as signed where a literal was narrower than the parameter.
    fn cast(&mut self, value: Value, to: Type) -> Value {
        let from = self.builder.func.ty(value);
        if from == to {
            return value;
        }
        let op = match (
            from.int_bits(),
            to.int_bits(),
            from.float_kind(),
            to.float_kind(),
        ) {
            (Some(from), Some(to), ..) if from > to => CastOp::Trunc,
            (Some(_), Some(_), ..) => CastOp::SExt,
            (_, _, Some(from), Some(to)) if from.bits() > to.bits() => CastOp::FpTrunc,
            (_, _, Some(_), Some(_)) => CastOp::FpExt,
            _ => CastOp::AddrSpaceCast,
        };
        self.builder.cast(op, value, to)
    }

    /// The derivatives as the program expects them. Both sides have the layout of a C structure,
    /// so memory brings them together.
    fn convert_result(&mut self, value: Value, ty: Type) -> Option<Value> {
        let ret = self.pinned.ret;
        if self.pinned.result_memory.is_some() {
            let access = Access::aligned(self.layout.align(ty));
            let memory = self.argument(0);
            self.builder.store(value, memory, access);
            return None;
        }
        if ret.is_void() || ret == ty {
            return (!ret.is_void()).then_some(value);
        }
        let larger = if self.layout.size(ret) > self.layout.size(ty) {
            ret
        } else {
            ty
        };
        let align = self.layout.align(ret).max(self.layout.align(ty));
        let memory = self.builder.alloca(larger, align);
        self.builder.store(value, memory, Access::aligned(align));
        Some(self.builder.load(ret, memory, Access::aligned(align)))
    }
}

/// Refuses a call whose result is used and cannot be these derivatives.
fn check_result(pinned: &Pinned, layout: &DataLayout, result: Type) -> Result<()> {
    if !pinned.used {
        return Ok(());
    }
    let given = pinned.result_memory.unwrap_or(pinned.ret);
    // A result that the target itself leaves in the memory of the request.
    let in_memory = pinned
        .parsed
        .args
        .iter()
        .any(|argument| matches!(argument.shadows.first(), Some(Source::Result(_))));
    let size = pinned.parsed.mode == Mode::TapeSize && given.is_int();
    let fits = size
        || match result.is_void() {
            true => in_memory,
            false => same_layout(layout, given, result),
        };
    match fits {
        true => Ok(()),
        false => Err(complain::wrong_result(&pinned.target, given, result)),
    }
}

/// Whether a C compiler may pass a structure of type `wanted` as a value of type `given`.
fn same_layout(layout: &DataLayout, given: Type, wanted: Type) -> bool {
    let parts = |ty| layout.scalars(ty);
    if parts(given) == parts(wanted) {
        return true;
    }
    // One float is passed as itself, so anything else is a mistake; several may be packed into
    // vectors and integers that end where the structure does.
    let packed = parts(wanted).len() > 1 && given.float_kind().is_none();
    packed
        && layout.size(given)
            == layout
                .size(wanted)
                .next_multiple_of(u64::from(layout.align(given)).min(4))
}
