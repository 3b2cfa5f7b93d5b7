//! What the functions around rules have in common: their arguments for one of several
//! derivatives, and calls of the rule's functions with results in memory.

use super::convention::Part;
use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    Access, Activity, Builder, Call, Callee, DataLayout, Flags, Function, Op, ParamAttrs,
    ParamFlags, Region, Signature, Type, Value,
};
use crate::shadow::choose;

/// The arguments of a derivative, and where they are among its parameters.
pub(super) struct Lanes<'k> {
    key: &'k Key,
    primal: &'k Signature,
    params: Vec<Value>,
}

impl<'k> Lanes<'k> {
    /// Reads the parameters of a derivative.
    pub fn new(key: &'k Key, primal: &'k Signature, function: &Function) -> Lanes<'k> {
        Lanes {
            key,
            primal,
            params: function.arguments().to_vec(),
        }
    }

    /// The arguments for derivative `k`: each primal and, where `shadowed` says so, a shadow, which
    /// is zero or null for an argument without one.
    pub fn arguments(
        &self,
        builder: &mut Builder<'_>,
        k: usize,
        shadowed: impl Fn(Type) -> bool,
    ) -> Vec<Value> {
        let mut position = 0;
        let mut args = Vec::new();
        for (&ty, activity) in self.primal.params.iter().zip(&self.key.args) {
            let count = activity.shadow_count(self.key.width);
            args.push(self.params[position]);
            if shadowed(ty) {
                let none = builder.func.zero(ty);
                let primal = self.params[position];
                let shadow = || self.params[position + 1 + k];
                args.push(match count {
                    0 => none,
                    _ if ty.is_ptr() && self.key.runtime_activity => {
                        choose(builder, primal, shadow(), none, shadow())
                    }
                    _ => shadow(),
                });
            }
            position += 1 + count;
        }
        args
    }

    /// The primal arguments.
    pub fn primals(&self, builder: &mut Builder<'_>) -> Vec<Value> {
        self.arguments(builder, 0, |_| false)
    }

    /// Seed `k` of the result; zero if nothing flows into it.
    pub fn seed(&self, func: &mut Function, k: usize) -> Value {
        let shared = self.key.primal_and_shadow_params(self.primal).len();
        match self.key.seeds(self.primal).is_empty() {
            true => func.zero(self.primal.ret),
            false => self.params[shared + k],
        }
    }

    /// The last parameter: the frame of the two sweeps.
    pub fn frame(&self) -> Value {
        self.params[self.params.len() - 1]
    }
}

/// Refuses activities that the arguments and the result of a rule cannot have.
pub(super) fn check_activities(key: &Key, function: &Function) -> Result<()> {
    let params = function.sig.params.iter();
    for (i, (&ty, activity)) in params.zip(&key.args).enumerate() {
        let fits = match activity {
            Activity::Const => true,
            Activity::Out => ty.is_float_like(),
            Activity::Dup | Activity::DupNoNeed => {
                ty.is_ptr() || (ty.is_float_like() && !key.reverse)
            }
        };
        if !fits {
            return Err(Diagnostic::new(
                Code::RuleSignature,
                format!("a custom rule for `{}` cannot be used", function.name),
                format!(
                    "a derivative flows into argument {}, and rules have no place for one of the \
                     type {ty}",
                    i + 1
                ),
                "pass numbers and pointers as arguments of their own",
            ));
        }
    }
    Ok(())
}

/// Calls a function of a rule. Gives the frame memory that its result is in.
pub(super) fn call(
    builder: &mut Builder<'_>,
    layout: &DataLayout,
    part: &Part,
    mut args: Vec<Value>,
) -> Option<Value> {
    let memory = part
        .returned()
        .map(|ty| frame_memory(builder, layout.size(ty)));
    if part.sret.is_some() {
        args.splice(0..0, memory);
    }
    let call = Call {
        callee: Callee::Direct(part.func),
        args: part.attrs.iter().map(passing).collect(),
        sig: part.sig.clone(),
        attrs: Default::default(),
        convention: 0,
    };
    let op = Op::Call(Box::new(call));
    let inst = builder.inst(op, args, part.sig.ret, Flags::empty());
    if let (Some(value), Some(memory)) = (builder.func.result(inst), memory) {
        put(builder, layout, memory, 0, value, Region::User);
    }
    memory
}

/// What a call must say about an argument so that both sides pass it in the same way.
fn passing(attrs: &ParamAttrs) -> ParamAttrs {
    ParamAttrs {
        flags: attrs.flags & (ParamFlags::SIGNEXT | ParamFlags::ZEROEXT | ParamFlags::INREG),
        dereferenceable: 0,
        ..attrs.clone()
    }
}

/// Memory of the frame.
pub(super) fn frame_memory(builder: &mut Builder<'_>, bytes: u64) -> Value {
    builder.alloca(Type::array(Type::int(8), bytes.max(1)), ALIGN)
}

/// Frames and structures begin at addresses of this alignment.
const ALIGN: u32 = 16;

/// Reads a value at an offset of a structure.
pub(super) fn get(
    builder: &mut Builder<'_>,
    layout: &DataLayout,
    memory: Value,
    at: u64,
    ty: Type,
    region: Region,
) -> Value {
    let address = builder.offset(memory, at as i64);
    builder.load(ty, address, access(layout, at, ty, region))
}

/// Writes a value at an offset of a structure.
pub(super) fn put(
    builder: &mut Builder<'_>,
    layout: &DataLayout,
    memory: Value,
    at: u64,
    value: Value,
    region: Region,
) {
    let ty = builder.func.ty(value);
    let address = builder.offset(memory, at as i64);
    builder.store(value, address, access(layout, at, ty, region));
}

fn access(layout: &DataLayout, at: u64, ty: Type, region: Region) -> Access {
    let known = 1 << at.trailing_zeros().min(ALIGN.trailing_zeros());
    Access {
        align: layout.align(ty).min(known),
        region,
        ..Access::default()
    }
}
