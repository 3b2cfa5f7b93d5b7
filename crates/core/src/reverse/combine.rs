//! Puts the forward sweep and the reverse sweep into one function, with the frame they share in
//! its own frame.

use super::Bodies;
use super::delayed::{self, LIST_FIELD, list_access};
use crate::derivative::{Key, bundle_values};
use crate::ir::{Block, Builder, Copied, Function, Op, Signature, Type, Value};
use crate::support::Callable;

/// The combined form of a derivative.
///
/// `release` is what ends a list of delayed frees, where the bodies have one.
pub fn combine(
    bodies: &Bodies,
    key: &Key,
    primal: &Signature,
    name: String,
    release: Vec<Callable>,
) -> Function {
    let sig = key.combined_signature(primal);
    let mut func = Function::with_entry(name, sig);
    func.local = true;
    let params = func.arguments().to_vec();
    let entry = func.entry();
    let shared = key.primal_and_shadow_params(primal).len();
    let ty = Type::array(Type::int(8), bodies.frame_bytes.max(1));
    let frame = Builder::new(&mut func, entry).alloca(ty, 16);
    let head = (!release.is_empty()).then(|| start_list(&mut func, frame));

    let mut forward_args = params[..shared].to_vec();
    forward_args.push(frame);
    forward_args.extend(&params[shared..]);
    let (start, returns) = copy_body(&mut func, &bodies.augmented, &forward_args);

    let mut reverse_args = params.clone();
    reverse_args.push(frame);
    let (reverse_start, reverse_returns) = copy_body(&mut func, &bodies.gradient, &reverse_args);
    Builder::new(&mut func, entry).jump(start, Vec::new());

    // The canonical form has one return, so what the forward sweep returns dominates the reverse
    // sweep.
    let mut forward_result = None;
    for (block, result) in returns {
        forward_result = result;
        Builder::new(&mut func, block).jump(reverse_start, Vec::new());
    }
    let forward_parts = key.forward_results(primal).len();
    let reverse_parts = key.gradient_results(primal).len();
    for (block, result) in reverse_returns {
        let mut builder = Builder::new(&mut func, block);
        for (release, sig) in &release {
            builder.call(*release, sig.clone(), head.into_iter().collect());
        }
        let mut parts = unbundle(&mut builder, forward_result, forward_parts);
        parts.extend(unbundle(&mut builder, result, reverse_parts));
        let result = bundle_values(&mut builder, &parts);
        builder.ret(result);
    }
    func
}

/// The head of an empty list of delayed frees, whose address the frame gets.
fn start_list(func: &mut Function, frame: Value) -> Value {
    let entry = func.entry();
    let mut builder = Builder::new(func, entry);
    let head = builder.alloca(Type::array(Type::ptr(), 2), 8);
    delayed::start(&mut builder, head);
    let field = builder.offset(frame, LIST_FIELD);
    builder.store(head, field, list_access());
    head
}

/// The parts of what [`bundle_values`] has made of several.
pub(super) fn unbundle(
    builder: &mut Builder<'_>,
    value: Option<Value>,
    count: usize,
) -> Vec<Value> {
    match (value, count) {
        (None, _) | (_, 0) => Vec::new(),
        (Some(one), 1) => vec![one],
        (Some(all), n) => (0..n)
            .map(|i| builder.extract(all, vec![i as u32]))
            .collect(),
    }
}

/// Copies the body of a function to the end of another. Returns the copy of its entry, and the
/// blocks that returned, now without a terminator, with what they returned.
///
/// What its entry allocates in the frame is allocated in the entry of the other, which has no
/// terminator yet: LLVM makes registers of allocations there only, and does so before it
/// propagates constants. Adjoints that are zero on entry to a loop are seen to be zero only then.
fn copy_body(
    to: &mut Function,
    from: &Function,
    args: &[Value],
) -> (Block, Vec<(Block, Option<Value>)>) {
    let arguments = from.arguments().iter().copied();
    let known = arguments.zip(args.iter().copied()).collect();
    let copied = Copied::new(to, from, from.blocks(), known, |_, _| false);
    let mut returns = Vec::new();
    for &(block, copy) in &copied.insts {
        let data = to.inst(copy);
        if let Op::Return = data.op {
            returns.push((copied.blocks[&block], data.args.first().copied()));
            continue;
        }
        let is_slot = matches!(data.op, Op::Alloca { .. }) && to.as_int(data.args[0]).is_some();
        match is_slot && block == from.entry() {
            true => to.attach_inst(to.entry(), copy),
            false => to.attach_inst(copied.blocks[&block], copy),
        }
    }
    (copied.blocks[&from.entry()], returns)
}
