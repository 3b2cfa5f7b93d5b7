//! What a derivative is: its key, and the signature that follows from the key.
//!
//! Reverse mode makes a pair of functions, the *augmented* forward sweep and the *gradient*, which
//! share a record in memory, the *frame*, whose size the pair knows. The combined form is both in
//! one function with the frame in its own.
//!
//! | function | parameters | result |
//! | --- | --- | --- |
//! | forward | each primal, its shadows | \[primal result\], tangents of the result |
//! | augmented | each primal, its shadows, the frame | \[primal result\], shadows of a pointer result |
//! | gradient | each primal, its shadows, seeds of the result, the frame | derivatives of `out` arguments |
//! | combined | each primal, its shadows, seeds of the result | \[primal result\], derivatives of `out` arguments |
//!
//! Several results are a structure, one is itself, none is void. With width N, the derivatives of
//! one argument or result are an array of N.

use crate::analysis::types::Shape;
use crate::ir::{
    Activity, Builder, Constant, Func, Function, Global, Mode, Request, ReturnActivity, Signature,
    Type, Value,
};

/// Which memory behind an argument was made while the derivative ran.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Made {
    /// That is not known.
    Unknown,
    /// What may hold pointers; there may be numbers of the caller.
    Pointers,
    /// That, and the memory that the argument itself is the address of.
    Root,
    /// All of it.
    All,
    /// There is none: the argument is null, or the address of nothing.
    Nothing,
}

/// Everything a derivative depends on. Two requests with equal keys share one derivative.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// The function that is differentiated.
    pub func: Func,
    /// Forward or reverse.
    pub reverse: bool,
    /// How many derivatives at once.
    pub width: u32,
    /// The activity of each argument.
    pub args: Vec<Activity>,
    /// The activity of the result.
    pub ret: ReturnActivity,
    /// For each argument, whether the memory behind it may change between the forward and the
    /// reverse sweep.
    pub overwritten: Vec<bool>,
    /// Whether other memory may change meanwhile.
    pub other_overwritten: bool,
    /// What is known of the types behind each argument and, after them, behind the result.
    pub shapes: Vec<Shape>,
    /// For each argument, which memory behind it was made while the derivative ran, so that nobody
    /// looks for derivatives in its shadow afterwards, and none were in it before.
    pub made: Vec<Made>,
    /// The global variables that may hold active floats, or pointers to some, at the start.
    pub globals: Vec<Global>,
    /// Those of them that may hold pointers with shadows.
    pub held: Vec<Held>,
    /// Whether somebody uses the primal result.
    pub primal_needed: bool,
    /// Whether the two sweeps run in one function, so that frame memory outlives the first.
    pub combined: bool,
    /// Whether both sweeps run as a part of another reverse sweep.
    pub replayed: bool,
    /// Whether the ranges that reads depend on are known not to overlap.
    pub disjoint: bool,
    /// Whether 0·∞ is 0 everywhere.
    pub strong_zero: bool,
    /// Whether a shadow that equals its primal means that no derivative flows there.
    pub runtime_activity: bool,
    /// Whether the reverse sweep frees nothing, so that it can run again. The tape is the same.
    pub keep_tape: bool,
    /// Whether memory is freed where nobody can tell whether it was made while the derivative ran, so
    /// that the reverses of allocations have to look for it (see
    /// [`unpaired`](crate::reverse::unpaired)).
    pub settles: bool,
    /// How many derivatives deep this one is where variables have shadows: the shadow of a
    /// variable in a derivative must not be its shadow in the derivative of that derivative.
    pub nesting: u32,
    /// Whether a forward derivative tells what it touches (see [`record`](crate::shadow::record)).
    pub recording: bool,
}

/// After so many turns of a recursion its derivatives are made for what repeats in memory, and not
/// for what is at each offset.
const WITH_OFFSETS: usize = 4;
/// After so many, they are made for any memory.
const WITH_FACTS: usize = 8;

/// A variable that may hold pointers with shadows.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Held {
    /// The variable.
    pub global: Global,
    /// Whether all memory that these pointers lead to was made while the derivative ran.
    pub made: bool,
}

impl Key {
    /// The key of what a request asks for.
    pub fn of_request(request: &Request) -> Key {
        let count = request.args.len();
        let combined = request.mode == Mode::Combined;
        // Between two halves of reverse mode anybody may write, except where the caller promises.
        let mut overwritten = vec![!combined; count];
        for &position in &request.tape.not_overwritten {
            if let Some(may_change) = overwritten.get_mut(position as usize) {
                *may_change = false;
            }
        }
        Key {
            func: request.func,
            reverse: !request.mode.is_forward(),
            width: request.width,
            args: request.args.clone(),
            ret: request.ret,
            overwritten,
            other_overwritten: !combined,
            shapes: vec![Shape::default(); count],
            made: vec![Made::Unknown; count],
            globals: Vec::new(),
            held: Vec::new(),
            // All requests for halves of one derivative have one key but for `keep_tape`.
            primal_needed: request.primal_return || request.mode.is_split(),
            combined,
            replayed: false,
            disjoint: false,
            strong_zero: request.strong_zero,
            runtime_activity: request.runtime_activity,
            keep_tape: request.tape.keep && request.mode == Mode::Gradient,
            settles: false,
            nesting: 0,
            recording: request.mode == Mode::Recording,
        }
    }

    /// Forgets what an outer call of the same function did not know, so that recursion that hands
    /// on ever new facts ends; more of it the more turns it has taken.
    pub fn widen(&mut self, outer: &Key, turns: usize) {
        for (shape, known) in self.shapes.iter_mut().zip(&outer.shapes) {
            *shape = match turns {
                0..WITH_OFFSETS => shape.common(known),
                WITH_OFFSETS..WITH_FACTS => shape.common(known).repeating(),
                _ => Shape::default(),
            };
        }
        if turns >= WITH_FACTS {
            self.overwritten.fill(true);
            self.other_overwritten = true;
            self.made.fill(Made::Unknown);
        }
    }

    /// The primal parameters, each followed by its shadows.
    pub fn primal_and_shadow_params(&self, primal: &Signature) -> Vec<Type> {
        let mut params = Vec::new();
        for (&ty, activity) in primal.params.iter().zip(&self.args) {
            let copies = 1 + activity.shadow_count(self.width);
            params.extend(std::iter::repeat_n(ty, copies));
        }
        params
    }

    /// The types of the seeds of the result: the adjoints of its floats. A result of pointers
    /// alone has none; one that has floats beside pointers does.
    pub fn seeds(&self, primal: &Signature) -> Vec<Type> {
        let seeded = match self.ret {
            ReturnActivity::Active => true,
            ReturnActivity::Dup => !primal.ret.scalar().is_ptr(),
            ReturnActivity::Const => false,
        };
        match seeded && self.reverse {
            true => vec![primal.ret; self.width as usize],
            false => Vec::new(),
        }
    }

    /// The parts of the result of the forward derivative, or of the augmented sweep.
    pub fn forward_results(&self, primal: &Signature) -> Vec<Type> {
        let derivative = match self.ret {
            ReturnActivity::Active => !self.reverse,
            ReturnActivity::Dup => true,
            ReturnActivity::Const => false,
        };
        let mut parts = Vec::new();
        if self.primal_needed && !primal.ret.is_void() {
            parts.push(primal.ret);
        }
        if derivative {
            parts.push(batch(primal.ret, self.width));
        }
        parts
    }

    /// The derivatives of `out` arguments.
    pub fn gradient_results(&self, primal: &Signature) -> Vec<Type> {
        let outs = primal.params.iter().zip(&self.args);
        outs.filter(|(_, activity)| **activity == Activity::Out)
            .map(|(&ty, _)| batch(ty, self.width))
            .collect()
    }

    /// The signature of the forward derivative.
    pub fn forward_signature(&self, primal: &Signature) -> Signature {
        let ret = bundle(&self.forward_results(primal));
        Signature::new(self.primal_and_shadow_params(primal), ret)
    }

    /// The signature of the augmented forward sweep.
    pub fn augmented_signature(&self, primal: &Signature) -> Signature {
        let mut params = self.primal_and_shadow_params(primal);
        params.push(Type::ptr());
        Signature::new(params, bundle(&self.forward_results(primal)))
    }

    /// The signature of the forward sweep that is made from a body: where both sweeps are one
    /// function, the first knows the seeds as well.
    pub fn sweep_signature(&self, primal: &Signature) -> Signature {
        let mut sig = self.augmented_signature(primal);
        sig.params.extend(self.early_seeds(primal));
        sig
    }

    /// The seeds that the forward sweep knows.
    pub fn early_seeds(&self, primal: &Signature) -> Vec<Type> {
        match self.combined {
            true => self.seeds(primal),
            false => Vec::new(),
        }
    }

    /// The signature of the reverse sweep.
    pub fn gradient_signature(&self, primal: &Signature) -> Signature {
        let mut params = self.primal_and_shadow_params(primal);
        params.extend(self.seeds(primal));
        params.push(Type::ptr());
        Signature::new(params, bundle(&self.gradient_results(primal)))
    }

    /// The signature of both sweeps in one.
    pub fn combined_signature(&self, primal: &Signature) -> Signature {
        let mut params = self.primal_and_shadow_params(primal);
        params.extend(self.seeds(primal));
        let mut results = self.forward_results(primal);
        results.extend(self.gradient_results(primal));
        Signature::new(params, bundle(&results))
    }
}

/// The type of the result of a request. Readers of requests convert it to what the program's call
/// returns.
pub fn request_result(request: &Request, function: &Function) -> Type {
    let key = Key::of_request(request);
    match request.mode {
        Mode::Forward | Mode::Recording => key.forward_signature(&function.sig).ret,
        Mode::Combined => key.combined_signature(&function.sig).ret,
        Mode::Augmented => bundle(&augmented_results(request, function)),
        Mode::Gradient => key.gradient_signature(&function.sig).ret,
        Mode::TapeSize => Type::i64(),
    }
}

/// The parts of the result of a request for the augmented half: the tape, the primal result, and
/// the shadows of one that is a pointer.
pub fn augmented_results(request: &Request, function: &Function) -> Vec<Type> {
    let mut parts = vec![Type::ptr()];
    parts.extend(Key::of_request(request).forward_results(&function.sig));
    parts
}

/// `width` values of a type as one.
pub fn batch(ty: Type, width: u32) -> Type {
    match width {
        1 => ty,
        n => Type::array(ty, u64::from(n)),
    }
}

/// Several results as one.
pub fn bundle(parts: &[Type]) -> Type {
    match parts {
        [] => Type::void(),
        [one] => *one,
        _ => Type::structure(parts.to_vec()),
    }
}

/// `width` values as one, see [`batch`].
pub fn batch_values(builder: &mut Builder<'_>, values: &[Value]) -> Value {
    match values {
        [one] => *one,
        _ => {
            let ty = Type::array(builder.func.ty(values[0]), values.len() as u64);
            collect(builder, ty, values)
        }
    }
}

/// Several results as one, see [`bundle`].
pub fn bundle_values(builder: &mut Builder<'_>, parts: &[Value]) -> Option<Value> {
    match parts {
        [] => None,
        [one] => Some(*one),
        _ => {
            let fields = parts.iter().map(|&v| builder.func.ty(v)).collect();
            Some(collect(builder, Type::structure(fields), parts))
        }
    }
}

fn collect(builder: &mut Builder<'_>, ty: Type, parts: &[Value]) -> Value {
    let mut whole = builder.func.constant(ty, Constant::Poison);
    for (i, &part) in parts.iter().enumerate() {
        whole = builder.insert(whole, part, vec![i as u32]);
    }
    whole
}
