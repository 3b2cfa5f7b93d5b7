//! Replaces requests by calls that no optimizer can disturb, and remembers what they said.

use super::barriers::{copy_effects, fill_barrier};
use super::bind::bind_functions;
use super::calls::{calls_of, sret_type, target};
use super::complaints as complain;
use super::expose::expose_functions;
use super::grammar::{CallKind, Sweep, call_kind};
use super::hints::insert_hint;
use super::parse::{Argument, Parsed, Source, Word, parse};
use super::places::{complain_at, places_of};
use super::registrations::{Registered, Rule, refuse_annotated_values, registrations};
use super::types::core_type;
use super::{grammar, operands, ruled};
use crate::module::Module;
use crate::permission;
use crate::raw::{c_string, value_name};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::*;
use std::collections::HashSet;
use zymase_core::analysis::types::Hint;
use zymase_core::diagnostic::{Diagnostic, Link, Place, Result};
use zymase_core::ir::{Activity, Mode, RuleKind, Type};

/// Reads all requests and registrations of a module. Afterwards no call of a request function is
/// left in it.
///
/// Pins of several modules may be collected in one place; their numbers go on.
pub fn pin(module: &Module, pins: &mut Pins) -> Result<()> {
    expose_functions(module)?;
    refuse_annotated_values(module)?;
    pins.registered.extend(registrations(module)?);
    let special: Vec<_> = module
        .functions()
        // SAFETY: the functions of a live module are live.
        .filter_map(|function| unsafe {
            let kind = call_kind(&value_name(function))?;
            (LLVMIsDeclaration(function) != 0).then_some((function, kind))
        })
        .collect();
    for (function, kind) in special {
        // SAFETY: `function` is live; its uses are collected before any is removed.
        unsafe {
            for call in calls_of(function)? {
                Site::new(module, call, kind).replace(pins)?;
            }
            if LLVMGetFirstUse(function).is_null() {
                LLVMDeleteFunction(function);
            }
        }
    }
    Ok(())
}

/// What was read from a module.
#[derive(Default, Debug)]
pub struct Pins {
    /// The requests.
    pub requests: Vec<Pinned>,
    /// Functions that were added to the module to stand for something without a derivative.
    pub barriers: Vec<String>,
    /// Functions that were added to the module to stand for something with a rule of its own.
    pub ruled: Vec<String>,
    /// What the program registers.
    pub registered: Vec<Registered>,
    /// Functions that may be computed otherwise than they are written, by the names that
    /// [`permission`] gives them.
    pub fast: HashSet<String>,
    /// Whether derivatives of functions with rules are also taken through their bodies, to compare.
    pub compared: bool,
}

impl Pins {
    /// Whether a function is only run, because it has rules for every mode that is asked for.
    pub fn is_only_run(&self, function: &str) -> bool {
        let rules = self.registered.iter().filter(|r| r.about == function);
        let kinds: Vec<RuleKind> = rules
            .filter_map(|registered| match registered.rule {
                Rule::Derivative(kind, ..) if kind != RuleKind::Like => Some(kind),
                _ => None,
            })
            .collect();
        let serves = |reverse| kinds.iter().any(|kind| kind.serves(reverse));
        let mut modes = self.requests.iter().map(|request| request.parsed.mode);
        !kinds.is_empty() && !self.compared && modes.all(|mode| serves(mode != Mode::Forward))
    }

    /// Gives a complaint the places of requests instead of those of the functions that stand for
    /// them.
    pub fn locate(&self, mut complaint: Box<Diagnostic>) -> Box<Diagnostic> {
        let places = std::mem::take(&mut complaint.places).into_iter();
        let places = places.flat_map(|place| {
            let stands_for = |r: &&Pinned| place.line == 0 && place.function == r.symbol;
            match self.requests.iter().find(stands_for) {
                Some(pinned) => pinned.way(place.link),
                None => vec![place],
            }
        });
        complaint.places = places.collect();
        // The call of a function that stands for a request is where the request is, and an attribute
        // is the place of all that it wrote.
        let spot = |place: &Place| (place.file.clone(), place.line, place.column);
        let places = &mut complaint.places;
        places.dedup_by(|next, place| {
            let same = place.line > 0 && spot(next) == spot(place);
            if same && next.link == Link::Asked {
                *place = next.clone();
            }
            same
        });
        complaint
    }
}

/// A request, now a call of an external function.
#[derive(Debug)]
pub struct Pinned {
    /// The name of the function that is called in its place.
    pub symbol: String,
    /// The name of the function to differentiate.
    pub target: String,
    /// What the request says; operands are parameters of the new function.
    pub parsed: Parsed,
    /// The types of the new function's parameters.
    pub params: Vec<Type>,
    /// The type of its result.
    pub ret: Type,
    /// If the first parameter is memory for the result, the type of the result.
    pub result_memory: Option<Type>,
    /// Whether the program uses the result.
    pub used: bool,
    /// The function that asks.
    pub caller: String,
    /// Where the request is.
    pub places: Vec<Place>,
}

impl Pinned {
    /// A complaint about this request, with its place.
    pub fn complain(&self, mut complaint: Box<Diagnostic>) -> Box<Diagnostic> {
        complaint.places = self.way(Link::Asked);
        complaint
    }

    /// The place of the request, with the calls it was inlined through.
    fn way(&self, link: Link) -> Vec<Place> {
        let mut way = self.places.clone();
        match way.first_mut() {
            Some(first) => first.link = link,
            None => way.push(Place::function(&self.caller, link)),
        }
        way
    }
}

/// A call of a request function.
struct Site<'a> {
    module: &'a Module,
    call: LLVMValueRef,
    kind: CallKind,
    name: String,
    /// The arguments, without memory for the result.
    args: Vec<LLVMValueRef>,
    result_memory: Option<(LLVMValueRef, Type)>,
}

impl<'a> Site<'a> {
    unsafe fn new(module: &'a Module, call: LLVMValueRef, kind: CallKind) -> Site<'a> {
        // SAFETY: `call` is a live call or invoke.
        unsafe {
            let callee = LLVMGetCalledValue(call);
            let mut args: Vec<_> = (0..LLVMGetNumArgOperands(call))
                .map(|i| LLVMGetOperand(call, i))
                .collect();
            let result_memory = sret_type(call, callee).map(|ty| (args.remove(0), ty));
            Site {
                module,
                call,
                kind,
                name: grammar::spoken_name(&value_name(callee)),
                args,
                result_memory,
            }
        }
    }

    unsafe fn replace(self, pins: &mut Pins) -> Result<()> {
        // SAFETY: the call is live until it is erased at the end of each of these.
        unsafe {
            let call = self.call;
            let done = match self.kind {
                CallKind::Derivative(sweep) => self.replace_derivative(sweep, pins),
                CallKind::CallInactive => self.replace_by_barrier(true, pins),
                CallKind::CallWithRule => self.replace_by_ruled(pins),
                CallKind::IgnoreDerivatives => self.replace_by_barrier(false, pins),
                CallKind::VirtualReverse => self.replace_by_function(),
                CallKind::TypeHint(hint) => self.replace_by_hint(hint),
                CallKind::Fast => self.note_permission(pins),
                CallKind::Unsupported => Err(complain::unsupported_call(&self.name)),
            };
            done.map_err(|complaint| complain_at(complaint, call))
        }
    }

    unsafe fn replace_derivative(self, sweep: Sweep, pins: &mut Pins) -> Result<()> {
        // SAFETY: arguments of a live call are live.
        unsafe {
            let function = self.function()?;
            if LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)) != 0 {
                return Err(complain::variadic(&value_name(function)));
            }
            let words: Vec<Word> = self.args[1..]
                .iter()
                .map(|&value| operands::word(value))
                .collect();
            let mut parsed = parse(sweep, &target(function), &words)?;
            if !pins.registered.iter().any(Registered::is_derivative) {
                let is_zero = |word: usize| operands::is_float_zero(self.args[1 + word]);
                leave_out_zero_tangents(&mut parsed, is_zero);
            }
            let function = bind_functions(self.module, function, &mut parsed, &self.args[1..]);
            let mut passed: Vec<LLVMValueRef> = Vec::new();
            passed.extend(self.result_memory.map(|(pointer, _)| pointer));
            renumber(&mut parsed, |word| {
                passed.push(self.args[1 + word]);
                passed.len() - 1
            });
            let symbol = format!("__zymase_request_{}", pins.requests.len());
            pins.requests.push(Pinned {
                symbol: symbol.clone(),
                target: value_name(function),
                parsed,
                params: passed
                    .iter()
                    .map(|&value| core_type(LLVMTypeOf(value)))
                    .collect(),
                ret: core_type(LLVMTypeOf(self.call)),
                result_memory: self.result_memory.map(|(_, ty)| ty),
                used: self.result_memory.is_some() || !LLVMGetFirstUse(self.call).is_null(),
                caller: value_name(LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.call))),
                places: places_of(self.call),
            });
            let stand_in = self.declare(&symbol, &passed);
            let result = self.call_instead(stand_in, &passed);
            self.erase(Some(result));
            Ok(())
        }
    }

    /// Replaces the call by one of a new function, which calls the first argument with the others
    /// or returns its only argument. Derivatives see its declaration only.
    unsafe fn replace_by_barrier(self, calls: bool, pins: &mut Pins) -> Result<()> {
        // SAFETY: arguments of a live call are live.
        unsafe {
            let mut passed: Vec<LLVMValueRef> = Vec::new();
            passed.extend(self.result_memory.map(|(pointer, _)| pointer));
            let function = match calls {
                true => Some(self.function()?),
                false => None,
            };
            passed.extend(&self.args[usize::from(calls)..]);
            let symbol = format!("__zymase_inactive_{}", pins.barriers.len());
            let barrier = self.declare(&symbol, &passed);
            fill_barrier(self.module, barrier, function, passed.len())
                .ok_or_else(|| complain::unsupported_call(&self.name))?;
            if let Some(function) = function {
                copy_effects(function, barrier);
            }
            pins.barriers.push(symbol);
            let result = self.call_instead(barrier, &passed);
            self.erase(Some(result));
            Ok(())
        }
    }

    /// Replaces the call by one of a new function that has derivatives of its own.
    unsafe fn replace_by_ruled(self, pins: &mut Pins) -> Result<()> {
        // SAFETY: arguments of a live call are live.
        unsafe {
            let rule = ruled::read(&self.args, &self.name)?;
            let passed = &self.args[ruled::WORDS..];
            let symbol = format!("{} (with rule {})", rule.name, pins.ruled.len());
            let function = self.declare(&symbol, passed);
            fill_barrier(self.module, function, Some(rule.function), passed.len())
                .ok_or_else(|| complain::unsupported_call(&self.name))?;
            let place = places_of(self.call).into_iter().next();
            let borrows = (!rule.borrowed.is_empty()).then_some(Rule::Borrows(rule.borrowed));
            let registered = rule
                .rules
                .into_iter()
                .chain(borrows)
                .map(|rule| Registered {
                    by: format!("the rule of {symbol}"),
                    about: symbol.clone(),
                    rule,
                    place: place.clone(),
                });
            pins.registered.extend(registered);
            pins.ruled.push(symbol);
            let result = self.call_instead(function, passed);
            self.erase(Some(result));
            Ok(())
        }
    }

    /// A function pointer needs no shadow of its own, so any pointer will do: its own value.
    unsafe fn replace_by_function(self) -> Result<()> {
        // SAFETY: the function is live.
        unsafe {
            let function = self.function()?;
            self.erase(Some(function));
            Ok(())
        }
    }

    /// A type hint becomes a call that touches no memory, until the types are known.
    unsafe fn replace_by_hint(self, hint: Hint) -> Result<()> {
        // SAFETY: arguments of a live call are live.
        unsafe {
            let is_pointer = |value: LLVMValueRef| {
                LLVMGetTypeKind(LLVMTypeOf(value)) == llvm_sys::LLVMTypeKind::LLVMPointerTypeKind
            };
            let pointer = self.args.first().copied().filter(|&v| is_pointer(v));
            let used = !LLVMGetFirstUse(self.call).is_null();
            let Some(pointer) = pointer.filter(|_| !used) else {
                return Err(complain::hint_without_pointer(&self.name));
            };
            let bytes = self.args.get(1).map(|&v| operands::word(v));
            let bytes = match bytes {
                Some(Word::Value {
                    constant: Some(n), ..
                }) => i64::try_from(n).ok(),
                _ => None,
            };
            insert_hint(self.module, self.call, hint, pointer, bytes);
            self.erase(None);
            Ok(())
        }
    }

    /// A permission is about the function that the call stood in, wherever it is inlined by now.
    unsafe fn note_permission(self, pins: &mut Pins) -> Result<()> {
        // Where no debug information tells which function that is, nothing is permitted.
        pins.fast
            .extend(permission::name_of_origin(self.module, self.call));
        // SAFETY: the call is live, and nothing but a jump depends on an invoke.
        unsafe {
            if !LLVMIsAInvokeInst(self.call).is_null() {
                return Err(complain::unsupported_call(&self.name));
            }
            self.erase(None);
        }
        Ok(())
    }

    unsafe fn function(&self) -> Result<LLVMValueRef> {
        let Some(&first) = self.args.first() else {
            return Err(complain::no_function(&self.name));
        };
        // SAFETY: arguments of a live call are live.
        unsafe { operands::function(first) }.ok_or_else(|| complain::not_a_function(&self.name))
    }

    /// A new external function that takes `passed` and returns what the call returns.
    unsafe fn declare(&self, symbol: &str, passed: &[LLVMValueRef]) -> LLVMValueRef {
        // SAFETY: types of live values are live; the name is copied.
        unsafe {
            let mut params: Vec<LLVMTypeRef> =
                passed.iter().map(|&value| LLVMTypeOf(value)).collect();
            let ty = LLVMFunctionType(
                LLVMTypeOf(self.call),
                params.as_mut_ptr(),
                params.len() as u32,
                0,
            );
            LLVMAddFunction(self.module.raw(), c_string(symbol).as_ptr(), ty)
        }
    }

    unsafe fn call_instead(&self, function: LLVMValueRef, passed: &[LLVMValueRef]) -> LLVMValueRef {
        let (mut args, count) = (passed.to_vec(), passed.len() as u32);
        let empty = c"".as_ptr();
        // SAFETY: the new call stands right before the old one and has its operands.
        unsafe {
            let builder = LLVMCreateBuilderInContext(self.module.context().raw());
            LLVMPositionBuilderBefore(builder, self.call);
            let ty = LLVMGlobalGetValueType(function);
            let result = match LLVMIsAInvokeInst(self.call).is_null() {
                true => LLVMBuildCall2(builder, ty, function, args.as_mut_ptr(), count, empty),
                false => {
                    let (normal, unwind) =
                        (LLVMGetNormalDest(self.call), LLVMGetUnwindDest(self.call));
                    LLVMBuildInvoke2(
                        builder,
                        ty,
                        function,
                        args.as_mut_ptr(),
                        count,
                        normal,
                        unwind,
                        empty,
                    )
                }
            };
            LLVMDisposeBuilder(builder);
            LLVMInstructionSetDebugLoc(result, LLVMInstructionGetDebugLoc(self.call));
            result
        }
    }

    /// Removes the call and the loads of markers that nothing needs any more.
    unsafe fn erase(self, replacement: Option<LLVMValueRef>) {
        // SAFETY: the call is not used after its uses were replaced; a load without uses may go.
        unsafe {
            if let Some(replacement) = replacement
                && LLVMGetTypeKind(LLVMTypeOf(self.call))
                    != llvm_sys::LLVMTypeKind::LLVMVoidTypeKind
            {
                LLVMReplaceAllUsesWith(self.call, replacement);
            } else if !LLVMGetFirstUse(self.call).is_null() {
                LLVMReplaceAllUsesWith(self.call, LLVMGetPoison(LLVMTypeOf(self.call)));
            }
            LLVMInstructionEraseFromParent(self.call);
            let mut loads: Vec<LLVMValueRef> = self.args;
            loads.sort();
            loads.dedup();
            for load in loads {
                if !LLVMIsALoadInst(load).is_null()
                    && LLVMGetFirstUse(load).is_null()
                    && grammar::marker(&value_name(LLVMGetOperand(load, 0))).is_some()
                {
                    LLVMInstructionEraseFromParent(load);
                }
            }
        }
    }
}

/// A tangent that is written as zero says that no derivative comes from its argument, which is what a
/// constant is; directions that are axes have such tangents. One argument at least stays as it is. A
/// rule of the program may want to see zeros, so this is for programs without any.
fn leave_out_zero_tangents(parsed: &mut Parsed, is_zero: impl Fn(usize) -> bool) {
    let is_zero = |argument: &&mut Argument| {
        let zero = |shadow: &Source| matches!(shadow, Source::Operand(word) if is_zero(*word));
        !argument.shadows.is_empty() && argument.shadows.iter().all(zero)
    };
    let with_shadows = |argument: &&Argument| !argument.shadows.is_empty();
    let all = parsed.args.iter().filter(with_shadows).count();
    let zeros: Vec<&mut Argument> = parsed.args.iter_mut().filter(is_zero).collect();
    if parsed.mode == Mode::Forward && zeros.len() < all {
        for argument in zeros {
            argument.activity = Activity::Const;
            argument.shadows.clear();
        }
    }
}

/// Replaces positions among words by what `place` gives for them, each position once.
fn renumber(parsed: &mut Parsed, mut place: impl FnMut(usize) -> usize) {
    let mut known = std::collections::HashMap::new();
    let mut at = |word: &mut usize| *word = *known.entry(*word).or_insert_with(|| place(*word));
    for argument in &mut parsed.args {
        for source in std::iter::once(&mut argument.primal).chain(&mut argument.shadows) {
            match source {
                Source::Operand(word) => at(word),
                Source::Strided { base, stride, .. } => {
                    at(base);
                    at(stride);
                }
                Source::Scratch | Source::Result(_) => {}
            }
        }
    }
    parsed
        .seeds
        .iter_mut()
        .chain(&mut parsed.tape)
        .chain(&mut parsed.tape_room)
        .for_each(&mut at);
}
