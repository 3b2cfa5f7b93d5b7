//! Warnings: what is legal and suspicious.
//!
//! Derivatives that are zero whatever the numbers are, derivatives that are lost in memory without
//! a shadow, and tapes that are very large. Each is noted where it is found, under the key of the
//! derivative that is being made; callers take over what concerns their own arguments and tape; and
//! only the requests tell, because only there can something be done about it. None may be a false
//! alarm: what is not known for certain is not told.

use crate::analysis::activity::{CallKind, call_kind};
use crate::analysis::effects::call_args;
use crate::analysis::loops::Loop;
use crate::analysis::trip_count::Count;
use crate::analysis::types::{Kinds, Piece};
use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Link, Place, add_places, rust_parameter};
use crate::ir::{Activity, Function, Inst, InstData, Module, Op, Request, ReturnActivity, Value};
use crate::primal::Primal;
use crate::reverse::{Augmented, Layout};
use cranelift_entity::EntityRef;
use std::collections::{BTreeMap, HashMap};

/// So many bytes of tape for one call are told by default.
pub const LARGE_TAPE: u64 = 1 << 30;

/// What is known of the derivatives that have been made.
#[derive(Default)]
pub struct Warnings {
    /// How many functions the program has; others are ours, and nobody can change them.
    program: usize,
    noted: HashMap<Key, Noted>,
}

/// What is known of one derivative.
#[derive(Clone, Default)]
struct Noted {
    /// What has a derivative that is always zero.
    zero: Vec<Zero>,
    /// The const arguments that active floats are written behind, and where.
    lost: BTreeMap<usize, Vec<Place>>,
    /// How many bytes are kept at least.
    kept: u128,
    /// The loop that keeps most of them.
    most: Option<Heavy>,
}

/// What has a derivative that is always zero.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Zero {
    /// With respect to an argument.
    Argument(usize),
    /// That of what is written to the memory of an argument.
    Output(usize),
    /// That of the result.
    Result,
}

/// A loop that keeps much.
#[derive(Clone)]
struct Heavy {
    bytes: u128,
    iterations: u128,
    record: u64,
    places: Vec<Place>,
}

impl Warnings {
    /// Nothing is known yet of a program.
    pub fn new(module: &Module) -> Warnings {
        Warnings {
            program: module.funcs.len(),
            noted: HashMap::new(),
        }
    }

    /// Notes what the analyses know of a function.
    pub fn note_primal(&mut self, module: &Module, primal: &Primal) {
        let noted = self.noted.entry(primal.key.clone()).or_default();
        // Whether memory has a derivative is known only when the program runs.
        if primal.key.runtime_activity || primal.key.func.index() >= self.program {
            return;
        }
        noted.zero = zero_derivatives(module, primal);
        for (_, data) in insts(&primal.function) {
            for pointer in lossy_writes(module, primal, data) {
                if let Some(argument) = const_argument(primal, pointer) {
                    noted.lost.entry(argument).or_insert_with(|| {
                        let mut places = Vec::new();
                        let name = &primal.function.name;
                        add_places(&mut places, module, data.loc, name, Link::Inlined);
                        places
                    });
                }
            }
        }
    }

    /// Takes over what concerns the arguments of a call.
    pub fn note_call(&mut self, module: &Module, primal: &Primal, inst: Inst, callee: &Key) {
        let data = primal.function.inst(inst);
        let (Some(call), Some(inner)) = (data.op.call(), self.noted.get(callee)) else {
            return;
        };
        let args = call_args(call, data);
        let mut lost = Vec::new();
        for (&position, places) in &inner.lost {
            let argument = args.get(position).copied();
            if let Some(own) = argument.and_then(|value| const_argument(primal, value)) {
                lost.push((own, self.called(module, primal, data, places)));
            }
        }
        let noted = self.noted.entry(primal.key.clone()).or_default();
        for (argument, places) in lost {
            noted.lost.entry(argument).or_insert(places);
        }
    }

    /// Notes how much a plan keeps: a lower bound, in which a loop of which the program does not say
    /// how often it runs counts once.
    pub fn note_plan(
        &mut self,
        module: &Module,
        primal: &Primal,
        augmented: &Augmented,
        layout: &Layout,
    ) {
        let mut kept = u128::from(layout.frame_bytes());
        let mut most: Option<Heavy> = None;
        let mut consider = |heavy: Heavy| {
            if most.as_ref().is_none_or(|most| most.bytes < heavy.bytes) {
                most = Some(heavy);
            }
        };
        for l in primal.loops.iter() {
            let record = layout.record_bytes(l);
            let iterations = runs(primal, Some(l));
            let bytes = iterations.saturating_mul(record.into());
            kept = kept.saturating_add(bytes);
            if record > 0 {
                let insts = primal.function.block_insts(primal.loops.header(l)).iter();
                let loc = insts.copied().find_map(|i| primal.function.inst(i).loc);
                let mut places = Vec::new();
                add_places(
                    &mut places,
                    module,
                    loc,
                    &primal.function.name,
                    Link::Inlined,
                );
                consider(Heavy {
                    bytes,
                    iterations,
                    record,
                    places,
                });
            }
        }
        let blocks = primal.function.inst_blocks();
        for (&inst, call) in &augmented.calls {
            let Some(inner) = self.noted.get(&call.key) else {
                continue;
            };
            // What a replayed call keeps is gone when it returns.
            let level = blocks[inst].filter(|_| call.split().is_some());
            let level = level.and_then(|block| primal.loops.innermost(block));
            // The frame is a part of the record that it is in.
            let frame = u128::from(layout.callee_frame(inst).bytes);
            let apart = inner.kept.saturating_sub(frame);
            kept = kept.saturating_add(apart.saturating_mul(runs(primal, level)));
            if let Some(heavy) = &inner.most {
                let data = primal.function.inst(inst);
                consider(Heavy {
                    bytes: heavy.bytes.saturating_mul(runs(primal, level)),
                    iterations: heavy.iterations.saturating_mul(runs(primal, level)),
                    places: self.called(module, primal, data, &heavy.places),
                    ..heavy.clone()
                });
            }
        }
        let noted = self.noted.entry(primal.key.clone()).or_default();
        (noted.kept, noted.most) = (kept, most);
    }

    /// What there is to tell about a request.
    pub fn of_request(
        &self,
        module: &Module,
        request: &Request,
        large: u64,
    ) -> Vec<Box<Diagnostic>> {
        let target = &module.funcs[request.func];
        let asked = Key::of_request(request);
        let same = |key: &Key| {
            key.func == asked.func
                && key.args == asked.args
                && key.ret == asked.ret
                && key.reverse == asked.reverse
                && key.combined == asked.combined
        };
        // Versions of one derivative say the same of activity; the largest tape counts.
        let mut found = self.noted.iter().filter(|(key, _)| same(key));
        let Some((_, mut noted)) = found.next() else {
            return Vec::new();
        };
        for (_, other) in found {
            if noted.kept < other.kept {
                noted = other;
            }
        }
        let mut told: Vec<Box<Diagnostic>> = Vec::new();
        for zero in &noted.zero {
            told.extend(tell_zero(target, *zero));
        }
        for (&argument, places) in &noted.lost {
            told.push(tell_lost(target, argument, places));
        }
        if let Some(heavy) = &noted.most
            && noted.kept >= large.into()
        {
            told.push(tell_kept(target, noted.kept, heavy));
        }
        told
    }

    fn called(
        &self,
        module: &Module,
        primal: &Primal,
        data: &InstData,
        inner: &[Place],
    ) -> Vec<Place> {
        let mut places = inner.to_vec();
        add_places(
            &mut places,
            module,
            data.loc,
            &primal.function.name,
            Link::Called,
        );
        places
    }
}

fn insts(function: &Function) -> impl Iterator<Item = (Inst, &InstData)> {
    let blocks = function.blocks().iter();
    let insts = blocks.flat_map(|&block| function.block_insts(block));
    insts.map(|&inst| (inst, function.inst(inst)))
}

/// How often a loop body, or the function, runs for each call, as far as the program says it.
fn runs(primal: &Primal, level: Option<Loop>) -> u128 {
    let enclosing = primal.loops.enclosing(level);
    enclosing.fold(1, |runs: u128, l| {
        let trips = &primal.trip_counts[l];
        match trips.count {
            Count::Constant(count) if trips.exact => runs.saturating_mul(u128::from(count) + 1),
            _ => runs,
        }
    })
}

/// The argument without a derivative behind which all memory is that a pointer leads to.
fn const_argument(primal: &Primal, pointer: Value) -> Option<usize> {
    let argument = primal.activity.only_argument(pointer)?;
    (primal.key.args.get(argument) == Some(&Activity::Const)).then_some(argument)
}

/// The pointers behind which an instruction itself writes active floats, while they have no shadow.
fn lossy_writes(module: &Module, primal: &Primal, data: &InstData) -> Vec<Value> {
    let floats = |value: Value| {
        let pieces = primal.types.pieces(module, &primal.function, value);
        let float = |(_, piece): &(i64, Piece)| matches!(piece, Piece::Float(_));
        primal.is_active(value) && pieces.iter().any(float)
    };
    let written = match &data.op {
        Op::Store(_) if floats(data.args[0]) => vec![data.args[1]],
        Op::Accumulate(_) if floats(data.args[1]) => vec![data.args[0]],
        Op::MemCopy { .. } => {
            let [to, from] = [data.args[0], data.args[1]];
            let kinds = primal.types.shape(from).kinds(0, 8);
            match primal.activity.holds_active(from) && kinds.intersects(Kinds::FLOATS) {
                true => vec![to],
                false => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    let lost = |&pointer: &Value| !primal.has_shadow(pointer);
    written.into_iter().filter(lost).collect()
}

/// What has a derivative that is zero for all numbers, because no derivative flows from there to
/// anything that has one outside.
fn zero_derivatives(module: &Module, primal: &Primal) -> Vec<Zero> {
    let (function, key) = (&primal.function, &primal.key);
    let flows = flows_behind(module, primal);
    let inputs = || (0..key.args.len()).filter(|&i| key.args[i] != Activity::Const);
    let mut zero = Vec::new();
    for i in inputs() {
        let argument = function.arguments()[i];
        let flows = match key.args[i].shadow_count(1) > 0 && function.ty(argument).is_ptr() {
            // Memory of integers is passed with a shadow for the sake of its neighbours.
            true => flows[i] || !primal.types.shape(argument).may_hold_floats(),
            false => primal.is_active(argument),
        };
        if !flows {
            zero.push(match writes_floats_behind(primal, i) {
                true => Zero::Output(i),
                false => Zero::Argument(i),
            });
        }
    }
    let returned = insts(function).filter(|(_, data)| matches!(data.op, Op::Return));
    let mut returned = returned.flat_map(|(_, data)| &data.args);
    let has_result = key.ret != ReturnActivity::Const && function.sig.ret.is_float_like();
    let others = flows.iter().any(|&flows| flows);
    if has_result && !others && inputs().next().is_some() && !returned.any(|&v| primal.is_active(v))
    {
        return vec![Zero::Result];
    }
    zero
}

/// For each argument, whether derivatives flow out of the memory behind it, or into it.
fn flows_behind(module: &Module, primal: &Primal) -> Vec<bool> {
    let mut flows = vec![false; primal.key.args.len()];
    for (inst, data) in insts(&primal.function) {
        let result_flows = primal
            .function
            .result(inst)
            .is_some_and(|v| primal.is_active(v));
        let used: &[Value] = match &data.op {
            Op::Load(_) if result_flows => &data.args[..1],
            Op::Load(_) | Op::MemSet(_) | Op::Address { .. } | Op::ICmp(_) => &[],
            Op::Store(_) if primal.is_active(data.args[0]) => &data.args[..],
            // Memory that is put behind another pointer is out of sight.
            Op::Store(_) => &data.args[..1],
            Op::Jump(_) | Op::Branch { .. } | Op::Switch { .. } | Op::Select => &[],
            Op::Call(_) | Op::Invoke { .. } => match call_kind(module, data) {
                CallKind::Inactive | CallKind::Allocation(_) => &[],
                _ => &data.args[..],
            },
            _ => &data.args[..],
        };
        for &value in used {
            for argument in primal.activity.arguments_behind(value) {
                flows[argument] = true;
            }
        }
    }
    flows
}

/// Whether the function stores floats behind an argument.
fn writes_floats_behind(primal: &Primal, argument: usize) -> bool {
    insts(&primal.function).any(|(_, data)| {
        matches!(data.op, Op::Store(_))
            && primal.function.ty(data.args[0]).is_float_like()
            && (primal.activity.arguments_behind(data.args[1])).any(|behind| behind == argument)
    })
}

/// The argument in the words of the source program; none where that may have other ones.
fn argument_name(target: &Function, index: usize) -> Option<String> {
    let hidden = target.params.iter().filter(|p| p.sret.is_some()).count();
    let same = !target.params_rewritten && index >= hidden;
    let position = || same.then(|| format!("argument {}", index + 1 - hidden));
    let named = rust_parameter(target, index).map(|name| format!("`{name}`"));
    Some(format!("{} of `{}`", named.or_else(position)?, target.name))
}

fn tell_zero(target: &Function, zero: Zero) -> Option<Box<Diagnostic>> {
    Some(match zero {
        Zero::Argument(index) => Diagnostic::new(
            Code::ZeroDerivative,
            format!(
                "the derivative with respect to {} is always zero",
                argument_name(target, index)?
            ),
            "nothing that the function returns, or leaves in memory with a shadow, depends on it \
             in a way that has a derivative",
            "pass it as enzyme_const if that is meant; otherwise look for what was meant to depend \
             on it",
        ),
        Zero::Output(index) => Diagnostic::new(
            Code::ZeroDerivative,
            format!(
                "the derivative of what is written to {} is always zero",
                argument_name(target, index)?
            ),
            "it does not depend on any active argument in a way that has a derivative",
            "pass what it depends on as active arguments, or pass this one as enzyme_const if that \
             is meant",
        ),
        Zero::Result => Diagnostic::new(
            Code::ZeroDerivative,
            format!("the derivative of `{}` is always zero", target.name),
            "its result does not depend on any active argument in a way that has a derivative",
            "pass what the result depends on as active arguments, or write enzyme_const_return if \
             that is meant",
        ),
    })
}

fn tell_lost(target: &Function, argument: usize, places: &[Place]) -> Box<Diagnostic> {
    let name = argument_name(target, argument);
    let name = name.unwrap_or_else(|| format!("an argument of `{}`", target.name));
    let mut told = Diagnostic::new(
        Code::LostDerivative,
        format!("active values are written to the memory of {name}, which is const"),
        "what is read from const memory has no derivative, so the derivatives of these values are \
         lost there",
        "pass the memory as enzyme_dup with a shadow of zeros, or let the function use memory of \
         its own",
    );
    told.places = places.to_vec();
    told
}

fn tell_kept(target: &Function, kept: u128, heavy: &Heavy) -> Box<Diagnostic> {
    let mut told = Diagnostic::new(
        Code::LargeTape,
        format!(
            "the derivative of `{}` keeps at least {} for each call",
            target.name,
            readable(kept)
        ),
        format!(
            "the reverse sweep needs {} bytes of each iteration here, and there are {} of them",
            heavy.record, heavy.iterations
        ),
        "see what is kept and why with `zymase explain`; pointers that are `restrict` let more be \
         read again; or raise the limit with --warn-cache=BYTES",
    );
    told.places = heavy.places.clone();
    told
}

/// A number of bytes in words.
fn readable(bytes: u128) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fitting = units.into_iter().find(|&(_, shift)| bytes >> shift > 0);
    match fitting {
        Some((unit, shift)) => {
            let tenths = (bytes * 10) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}
