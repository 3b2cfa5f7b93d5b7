//! What the body of a request checks when it runs: that shadows can be shadows, if the user asked
//! for such checks, and that a tape has room in memory whose size is not known before.

use super::parse::Argument;
use super::pin::Pinned;
use zymase_core::checks;
use zymase_core::ir::{
    Activity, Builder, Constant, Global, Mode, Module, Op, Request, Symbol, Type, Value,
};
use zymase_core::support::{Callable, constant_text};

/// The checks of one request.
pub struct Checks {
    shadow: Option<Callable>,
    /// For each argument, what to say if a shadow is missing and if it is the argument itself.
    shadows: Vec<Option<[Global; 2]>>,
    room: Option<(Callable, Global)>,
}

impl Checks {
    /// Prepares the checks of a request; `thorough` is what the user asks for with `--checks`.
    pub fn new(module: &mut Module, pinned: &Pinned, request: &Request, thorough: bool) -> Checks {
        let place = match pinned.places.first() {
            Some(place) => format!("{}:{}: ", place.file, place.line),
            None => format!("in `{}`: ", pinned.caller),
        };
        let mut text = |message: String| {
            let place = place.replace('%', "%%");
            constant_text(module, format!("zymase: {place}{message}\n\0"))
        };
        let target = &pinned.target;
        let room = pinned.parsed.tape_room.map(|_| {
            text(format!(
                "the tape of `{target}` at %p does not fit into as many bytes as enzyme_allocated \
                 says; __enzyme_augmentsize gives how many it needs"
            ))
        });
        let thorough = thorough && request.mode != Mode::TapeSize;
        let arguments = pinned.parsed.args.iter().enumerate();
        let shadows: Vec<Option<[Global; 2]>> = arguments
            .map(|(position, Argument { activity, .. })| {
                let checked = thorough && matches!(activity, Activity::Dup | Activity::DupNoNeed);
                let number = position + 1;
                checked.then(|| {
                    [
                        text(format!(
                            "the shadow of argument {number} of `{target}` is null, but the \
                             argument is not (%p); pass memory of the same layout, or write \
                             enzyme_const before the argument if it has no derivative"
                        )),
                        text(format!(
                            "argument {number} of `{target}` is its own shadow (%p), so \
                             derivatives would be mixed up with values; pass other memory of the \
                             same layout as its shadow"
                        )),
                    ]
                })
            })
            .collect();
        Checks {
            shadow: shadows
                .iter()
                .any(Option::is_some)
                .then(|| checks::shadow(module)),
            shadows,
            room: room.map(|message| (checks::room(module), message)),
        }
    }

    /// Checks a shadow of the argument at a position.
    pub fn shadow(&self, builder: &mut Builder<'_>, position: usize, primal: Value, shadow: Value) {
        let messages = self.shadows.get(position).copied().flatten();
        if let (Some((func, sig)), Some(messages)) = (&self.shadow, messages)
            && builder.func.ty(primal).is_ptr()
        {
            let mut args = vec![primal, shadow];
            args.extend(messages.map(|message| address(builder, message)));
            builder.call(*func, sig.clone(), args);
        }
    }

    /// Checks that a tape fits into so many bytes.
    pub fn room(&self, builder: &mut Builder<'_>, request: &Request, tape: Value, given: Value) {
        let Some(((func, sig), message)) = &self.room else {
            return;
        };
        let size = Request {
            mode: Mode::TapeSize,
            ..request.clone()
        };
        let needed = builder.value(Op::Request(Box::new(size)), Vec::new(), Type::i64());
        let message = address(builder, *message);
        builder.call(*func, sig.clone(), vec![given, needed, tape, message]);
    }
}

fn address(builder: &mut Builder<'_>, text: Global) -> Value {
    let address = Constant::Address(Symbol::Global(text), 0);
    builder.func.constant(Type::ptr(), address)
}
