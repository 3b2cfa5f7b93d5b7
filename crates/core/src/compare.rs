//! Makes requests check themselves: before a derivative runs, the program compares it with the
//! other mode and with finite differences.
//!
//! Before a request, everything that it was given is put into a block of memory, and a function that
//! is linked to the program (`__zymase_check`) gets the block, a description of it, and four
//! functions that do something with it:
//!
//! | function | does |
//! | --- | --- |
//! | primal | calls the function that is differentiated |
//! | recording | runs its forward derivative, which tells what it touches (see [`record`]) |
//! | forward | runs its forward derivative on the tangents in shadows and in the block |
//! | reverse | runs its reverse derivative, and puts derivatives of numbers into the block |
//!
//! One of the last two is the derivative that was asked for; the other is asked for here. Of reverse
//! mode in halves, both run, where the program asks for the first. Each function returns 0, or 1 if
//! there is no such derivative. Everything else happens at run time, in memory,
//! so this is about any language.
//!
//! Derivatives of functions that ask for derivatives themselves are taken of a copy that does not
//! check (see [`Compared::added`]).
//!
//! Before: requests are instructions. After: those of the given functions are preceded by a check.

use crate::analysis::effects::callees;
use crate::derivative::{Key, request_result};
use crate::ir::{
    Access, Activity, Builder, Call, Callee, Constant, FloatKind, FnAttrs, Func, Function, Inst,
    Mode, Module, Op, Request, ReturnActivity, RuleKind, Signature, Symbol, TapeTerms, Type, Value,
};
use crate::shadow::record;
use crate::support::constant_text;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A function that asks for a derivative.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The function; its only request is compared.
    pub func: Func,
    /// Where the request is in the source, for messages.
    pub place: String,
}

/// What was added.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// The functions that are new.
    pub added: Vec<Func>,
    /// Those whose requests need not be served (see [`Options`](crate::pipeline::Options)), with
    /// what they are for.
    pub optional: Vec<(Func, String)>,
}

/// Lets requests check themselves.
pub fn run(module: &mut Module, asking: &[Asking]) -> Compared {
    let mut compared = Compared::default();
    let program: Vec<Func> = module.funcs.keys().collect();
    for Asking { func, place } in asking {
        let function = &module.funcs[*func];
        let Some((inst, request)) = request_of(function) else {
            continue;
        };
        match request.mode {
            Mode::Forward | Mode::Combined | Mode::Augmented => {}
            Mode::Recording | Mode::Gradient | Mode::TapeSize => continue,
        }
        let mut plain = function.clone();
        plain.name = module.fresh_name(&format!("{}.unchecked", function.name));
        plain.local = true;
        plain.origin = None;
        let plain = module.funcs.push(plain);
        compared.added.push(plain);
        for &other in &program {
            if !asking.iter().any(|asking| asking.func == other) {
                redirect(&mut module.funcs[other], *func, plain);
            }
        }
        let comparison = Comparison::new(module, request, place);
        comparison.write(module, *func, inst, &mut compared);
    }
    compared
}

/// The request of a function that has one.
fn request_of(function: &Function) -> Option<(Inst, Request)> {
    let insts = function.blocks().iter();
    let mut insts = insts.flat_map(|&block| function.block_insts(block));
    insts.find_map(|&inst| match &function.inst(inst).op {
        Op::Request(request) if request.mode != Mode::TapeSize => Some((inst, (**request).clone())),
        _ => None,
    })
}

/// Lets calls of one function go to another.
fn redirect(function: &mut Function, from: Func, to: Func) {
    for block in function.blocks().to_vec() {
        for inst in function.block_insts(block).to_vec() {
            if let Op::Call(call) = &mut function.inst_mut(inst).op
                && call.callee == Callee::Direct(from)
            {
                call.callee = Callee::Direct(to);
            }
        }
    }
}

/// Where something lies in the block: its offset, and that of its first shadow; the shadows of
/// several derivatives follow each other.
struct Field {
    ty: Type,
    offset: u64,
    shadows: Option<u64>,
}

/// One request and its block.
struct Comparison {
    request: Request,
    args: Vec<Field>,
    result: Field,
    bytes: u64,
    description: String,
}

impl Comparison {
    fn new(module: &Module, request: Request, place: &str) -> Comparison {
        let target = &module.funcs[request.func];
        let mut bytes = 0;
        let mut room = |ty: Type, count: u64| {
            let start = bytes;
            bytes += count * stride(module, ty);
            start
        };
        let mut field = |ty: Type, has_shadow: bool| Field {
            ty,
            offset: room(ty, 1),
            shadows: has_shadow.then(|| room(ty, request.width.into())),
        };
        let args = target.sig.params.iter().zip(&request.args);
        let args: Vec<Field> = args
            .map(|(&ty, activity)| field(ty, *activity != Activity::Const))
            .collect();
        let result = match target.sig.ret.is_void() {
            true => field(Type::i64(), false),
            false => field(target.sig.ret, request.ret != ReturnActivity::Const),
        };
        let mut comparison = Comparison {
            request,
            args,
            result,
            bytes,
            description: String::new(),
        };
        comparison.description = comparison.describe(module, place);
        comparison
    }

    /// What the run-time part has to know of the request: words about it, one to a line, then where
    /// its numbers and pointers lie.
    fn describe(&self, module: &Module, place: &str) -> String {
        let target = &module.funcs[self.request.func];
        let mut text = format!("{place}\n{}\n", target.name);
        let reached = callees(module, self.request.func);
        let _ = writeln!(text, "{}", rules(module, &reached));
        let _ = writeln!(
            text,
            "{} {} {} {}",
            match self.request.mode {
                Mode::Combined => 1,
                // Nobody knows the adjoints yet.
                Mode::Augmented => 2,
                _ => 0,
            },
            self.request.width,
            record::number(coarsest(module, &reached)),
            i32::from(self.request.ret == ReturnActivity::Active && self.result.shadows.is_some()),
        );
        let mut lines = |letter: char, name: &str, field: &Field| {
            let Some(shadows) = field.shadows else { return };
            let lane = stride(module, field.ty);
            for (at, scalar) in module.layout.scalars(field.ty) {
                let (letter, kind) = match scalar.float_kind() {
                    Some(kind) => (letter, record::number(kind)),
                    None if scalar.is_ptr() && letter == 'v' => ('p', 0),
                    None if scalar.is_ptr() => continue,
                    None => (letter, record::UNTYPED),
                };
                let bytes = match kind {
                    record::UNTYPED => module.layout.store_size(scalar),
                    _ => 1,
                };
                for at in at..at + bytes {
                    let (primal, shadow) = (field.offset + at, shadows + at);
                    let _ = writeln!(text, "{letter} {kind} {primal} {shadow} {lane} {name}");
                }
            }
        };
        for (position, field) in self.args.iter().enumerate() {
            let value = target.arguments().get(position);
            let name = value.and_then(|&value| target.value(value).name.clone());
            let name = name.filter(|name| !name.contains(char::is_whitespace));
            let name = name.unwrap_or(format!("argument{}", position + 1));
            lines('v', &name, field);
        }
        lines('r', "result", &self.result);
        text.push('\0');
        text
    }

    fn write(&self, module: &mut Module, func: Func, inst: Inst, compared: &mut Compared) {
        let base = module.funcs[func].name.clone();
        let mut functions = Vec::new();
        let mut add = |module: &mut Module, word: &str, mut function: Function| {
            function.name = module.fresh_name(&format!("{base}.{word}"));
            function.local = true;
            function.address_taken = true;
            let func = module.funcs.push(function);
            compared.added.push(func);
            functions.push(func);
            func
        };
        let primal = self.primal(module);
        add(module, "primal", primal);
        let name = &module.funcs[self.request.func].name.clone();
        for mode in [Mode::Recording, Mode::Forward, Mode::Combined] {
            let derivative = self.derivative(module, mode);
            let derivative = add(module, mode.name(), derivative);
            // The one that was asked for is refused elsewhere, with its place.
            let mode = match mode {
                Mode::Combined => "reverse mode",
                Mode::Recording => "memory",
                _ => "forward mode",
            };
            let what = format!("{mode} of `{name}`");
            compared.optional.push((derivative, what));
        }
        self.call_check(module, func, inst, &functions);
    }

    /// Puts the operands of a request into a block, and calls the check.
    fn call_check(&self, module: &mut Module, func: Func, request: Inst, functions: &[Func]) {
        let (ptr, long) = (Type::ptr(), Type::i64());
        let sig = Signature::new(vec![ptr; 2 + functions.len()], Type::void());
        let check = module.declare(Function::new("__zymase_check", sig.clone()));
        let description = constant_text(module, self.description.clone());
        let layout = module.layout.clone();
        let function = &mut module.funcs[func];
        let operands = function.inst(request).args.clone();
        let Some(block) = function.inst_blocks()[request] else {
            return;
        };
        let mut before = function.block_insts(block).to_vec();
        let at = before.iter().position(|&inst| inst == request);
        let after = before.split_off(at.unwrap_or(0));
        function.set_block_insts(block, before);
        let mut builder = Builder::new(function, block);
        let memory = builder.alloca(Type::array(long, self.bytes.div_ceil(8).max(1)), 16);
        let mut operands = operands.into_iter();
        for (field, activity) in self.args.iter().zip(&self.request.args) {
            let mut offset = field.offset;
            for number in 0..=activity.shadow_count(self.request.width) {
                let Some(value) = operands.next() else { break };
                put(&mut builder, memory, offset, value);
                let lane = stride_in(&layout, field.ty);
                offset = field.shadows.unwrap_or(0) + number as u64 * lane;
            }
        }
        let mut args = vec![symbol(&mut builder, Symbol::Global(description)), memory];
        let functions = functions.iter();
        args.extend(functions.map(|&func| symbol(&mut builder, Symbol::Func(func))));
        builder.call(check, sig, args);
        for inst in after {
            function.attach_inst(block, inst);
        }
    }

    /// A function that calls the function which is differentiated, with what is in the block.
    fn primal(&self, module: &Module) -> Function {
        let target = &module.funcs[self.request.func];
        let mut function = block_function();
        let (entry, block) = (function.entry(), function.arguments()[0]);
        let mut builder = Builder::new(&mut function, entry);
        let fields = self.args.iter();
        let args = fields.map(|field| get(&mut builder, block, field.offset, field.ty));
        let args: Vec<Value> = args.collect();
        let call = Call {
            callee: Callee::Direct(self.request.func),
            args: target.params.clone(),
            sig: target.sig.clone(),
            attrs: FnAttrs::default(),
            convention: 0,
        };
        let op = Op::Call(Box::new(call));
        match target.sig.ret.is_void() {
            true => {
                builder.effect(op, args);
            }
            false => {
                let result = builder.value(op, args, target.sig.ret);
                put(&mut builder, block, self.result.offset, result);
            }
        }
        finish(builder);
        function
    }

    /// A function that runs a derivative on what is in the block.
    fn derivative(&self, module: &Module, mode: Mode) -> Function {
        let target = &module.funcs[self.request.func];
        let request = self.in_mode(module, mode);
        let key = Key::of_request(&request);
        let mut function = block_function();
        let (entry, block) = (function.entry(), function.arguments()[0]);
        let mut builder = Builder::new(&mut function, entry);
        let mut args = Vec::new();
        for (field, activity) in self.args.iter().zip(&request.args) {
            args.push(get(&mut builder, block, field.offset, field.ty));
            for lane in 0..activity.shadow_count(request.width) as u64 {
                let offset = field.shadows.unwrap_or(0) + lane * stride(module, field.ty);
                args.push(get(&mut builder, block, offset, field.ty));
            }
        }
        let mut places = Vec::new();
        let mut derived = |field: &Field| {
            let lanes = 0..u64::from(request.width);
            let shadows = field.shadows.unwrap_or(0);
            let places_of = lanes.map(|lane| shadows + lane * stride(module, field.ty));
            places.push(places_of.collect::<Vec<u64>>());
        };
        let sig = &target.sig;
        let parts = match mode {
            Mode::Combined => {
                let results = key.gradient_results(sig).len();
                let fields = self.args.iter().zip(&request.args);
                let outs = fields.filter(|(_, activity)| **activity == Activity::Out);
                outs.for_each(|(field, _)| derived(field));
                let before = key.forward_results(sig).len();
                before..before + results
            }
            _ => {
                let parts = key.forward_results(sig).len();
                let tangents = usize::from(request.ret != ReturnActivity::Const && parts > 0);
                if tangents > 0 {
                    derived(&self.result);
                }
                parts - tangents..parts
            }
        };
        let result = request_result(&request, target);
        let count = key.forward_results(sig).len();
        let count = match mode {
            Mode::Combined => count + key.gradient_results(sig).len(),
            _ => count,
        };
        let (op, result, parts, count) = match request.mode {
            Mode::Gradient => {
                let whole = self.first_half(&mut builder, target, &request, &args);
                args.extend(
                    key.seeds(sig)
                        .iter()
                        .map(|&ty| builder.func.fconst(ty, 1.0)),
                );
                args.push(whole);
                let results = key.gradient_results(sig).len();
                (
                    Op::Request(Box::new(request.clone())),
                    result,
                    0..results,
                    results,
                )
            }
            _ => (Op::Request(Box::new(request.clone())), result, parts, count),
        };
        if result.is_void() {
            builder.effect(op, args);
        } else {
            let whole = builder.value(op, args, result);
            for (part, places) in parts.zip(places) {
                let part = match count {
                    1 => whole,
                    _ => builder.extract(whole, vec![part as u32]),
                };
                for (lane, place) in places.into_iter().enumerate() {
                    let value = match request.width {
                        1 => part,
                        _ => builder.extract(part, vec![lane as u32]),
                    };
                    put(&mut builder, block, place, value);
                }
            }
        }
        finish(builder);
        function
    }

    /// Runs the first half of reverse mode; gives the tape.
    fn first_half(
        &self,
        builder: &mut Builder<'_>,
        target: &Function,
        gradient: &Request,
        args: &[Value],
    ) -> Value {
        let request = Request {
            mode: Mode::Augmented,
            ..gradient.clone()
        };
        let result = request_result(&request, target);
        let op = Op::Request(Box::new(request));
        let whole = builder.value(op, args.to_vec(), result);
        match result.is_aggregate() {
            true => builder.extract(whole, vec![0]),
            false => whole,
        }
    }

    /// The request, or that of the other mode which has the same derivatives.
    fn in_mode(&self, module: &Module, mode: Mode) -> Request {
        if self.request.mode == Mode::Augmented && mode == Mode::Combined {
            // The tape lies on the heap, whatever the program does with its own.
            let not_overwritten = self.request.tape.not_overwritten.clone();
            return Request {
                mode: Mode::Gradient,
                tape: TapeTerms {
                    not_overwritten,
                    ..TapeTerms::default()
                },
                ..self.request.clone()
            };
        }
        if mode == self.request.mode {
            return self.request.clone();
        }
        let params = &module.funcs[self.request.func].sig.params;
        let activity = |(&activity, &ty): (&Activity, &Type)| {
            let memory = module.layout.scalars(ty).iter().any(|(_, ty)| ty.is_ptr());
            match (mode, activity) {
                (_, Activity::Const) => Activity::Const,
                (Mode::Combined, _) if memory => activity,
                (Mode::Combined, _) if ty.is_float_like() => Activity::Out,
                (Mode::Combined, _) => Activity::Const,
                (_, Activity::Out) => Activity::Dup,
                (_, activity) => activity,
            }
        };
        Request {
            mode,
            args: self.request.args.iter().zip(params).map(activity).collect(),
            primal_return: false,
            tape: TapeTerms::default(),
            ..self.request.clone()
        }
    }
}

/// A function that takes a block.
fn block_function() -> Function {
    Function::with_entry("", Signature::new(vec![Type::ptr()], Type::int(32)))
}

fn finish(mut builder: Builder<'_>) {
    let zero = builder.func.iconst(Type::int(32), 0);
    builder.ret(Some(zero));
}

fn get(builder: &mut Builder<'_>, block: Value, offset: u64, ty: Type) -> Value {
    let address = builder.offset(block, offset as i64);
    builder.load(ty, address, Access::aligned(8))
}

fn put(builder: &mut Builder<'_>, block: Value, offset: u64, value: Value) {
    let address = builder.offset(block, offset as i64);
    builder.store(value, address, Access::aligned(8));
}

fn symbol(builder: &mut Builder<'_>, symbol: Symbol) -> Value {
    let address = Constant::Address(symbol, 0);
    builder.func.constant(Type::ptr(), address)
}

/// How far apart values of a type are in a block.
fn stride(module: &Module, ty: Type) -> u64 {
    stride_in(&module.layout, ty)
}

fn stride_in(layout: &crate::ir::DataLayout, ty: Type) -> u64 {
    layout.size(ty).next_multiple_of(8)
}

/// The functions with derivatives of the program's own, and what these are.
fn rules(module: &Module, reached: &[Func]) -> String {
    let used =
        |rule: &&crate::ir::CustomRule| rule.kind != RuleKind::Like && reached.contains(&rule.func);
    let about: BTreeSet<String> = module
        .rules
        .iter()
        .filter(used)
        .map(|rule| {
            let part = rule.parts.last().map(|&part| &module.funcs[part].name);
            let part = part.map_or("", String::as_str);
            format!("`{}` ({part})", module.funcs[rule.func].name)
        })
        .collect();
    let about: Vec<String> = about.into_iter().collect();
    about.join(", ")
}

/// The float format with the fewest digits that the functions compute with, or double precision.
fn coarsest(module: &Module, reached: &[Func]) -> FloatKind {
    let mut found = FloatKind::F64;
    for &func in reached {
        let function = &module.funcs[func];
        for value in function.values() {
            let scalars = module.layout.scalars(function.ty(value));
            for kind in scalars.iter().filter_map(|(_, ty)| ty.float_kind()) {
                if kind.bits() < found.bits() {
                    found = kind;
                }
            }
        }
    }
    found
}
