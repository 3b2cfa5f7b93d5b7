//! Mathematical functions in vector code: `exp` of eight numbers at once.
//!
//! LLVM vectorizes a loop with a call in it if the call says which functions compute several results at
//! once. The C library has none that could be relied on, so Zymase brings bodies along
//! ([`kernels`]), written for vectors of any width and inlined where they are used: they need no library,
//! and run on every machine with the instructions that it has.
//!
//! They approximate, to less than two units in the last place. So calls are offered vectors only where
//! approximations are permitted (`afn`), see [`permission`](crate::permission).
//!
//! Before [`offer`]: derivatives are written. After: permitted calls name vector functions, which are
//! declared. Then LLVM vectorizes. After [`settle`]: the vector functions that are called have become
//! part of their callers, and nothing else is left of them.

mod code;
mod coefficients;
mod kernels;

use crate::PassOptions;
use crate::known;
use crate::ll::{self, LLVMTypeKind, Ty, Val};
use crate::module::{Module, blocks_of, instructions_of};
use crate::raw::c_string;
use code::{Code, Lane, V};
use llvm_sys::LLVMLinkage::LLVMInternalLinkage;
use llvm_sys::core::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use zymase_core::diagnostic::Result;
use zymase_core::ir::{Flags, FloatKind, MathFn};

/// How a function is computed.
#[derive(Copy, Clone)]
enum Kernel {
    /// On one vector.
    One(for<'c> fn(V<'c>) -> V<'c>),
    /// On two.
    Two(for<'c> fn(V<'c>, V<'c>) -> V<'c>),
    /// On one vector whose numbers are not too large. Otherwise the C library computes them.
    Turns(for<'c> fn(V<'c>) -> V<'c>),
}

/// The functions and the precisions that there are bodies for.
const KERNELS: &[(MathFn, &[Lane], Kernel)] = {
    const BOTH: &[Lane] = &[Lane::F32, Lane::F64];
    const SINGLE: &[Lane] = &[Lane::F32];
    &[
        (MathFn::Exp, BOTH, Kernel::One(kernels::exp)),
        (MathFn::Exp2, BOTH, Kernel::One(kernels::exp2)),
        (MathFn::Expm1, BOTH, Kernel::One(kernels::expm1)),
        (MathFn::Log, BOTH, Kernel::One(kernels::log)),
        (MathFn::Log2, BOTH, Kernel::One(kernels::log2)),
        (MathFn::Log10, BOTH, Kernel::One(kernels::log10)),
        (MathFn::Log1p, BOTH, Kernel::One(kernels::log1p)),
        (MathFn::Tanh, BOTH, Kernel::One(kernels::tanh)),
        (MathFn::Sinh, BOTH, Kernel::One(kernels::sinh)),
        (MathFn::Cosh, BOTH, Kernel::One(kernels::cosh)),
        (MathFn::Erf, BOTH, Kernel::One(kernels::erf)),
        (MathFn::Erfc, SINGLE, Kernel::One(kernels::erfc)),
        (MathFn::Atan, BOTH, Kernel::One(kernels::atan)),
        (MathFn::Asin, SINGLE, Kernel::One(kernels::asin)),
        (MathFn::Acos, SINGLE, Kernel::One(kernels::acos)),
        (MathFn::Sin, BOTH, Kernel::Turns(kernels::sin)),
        (MathFn::Cos, BOTH, Kernel::Turns(kernels::cos)),
        (MathFn::Tan, SINGLE, Kernel::Turns(kernels::tan)),
        (MathFn::Pow, BOTH, Kernel::Two(kernels::pow)),
    ]
};

/// Whether the C library computes two or four numbers one by one in less time than a vector of 16 bytes
/// takes: it looks parts of these functions up in tables.
fn is_fast_alone(function: MathFn, lane: Lane) -> bool {
    use MathFn::{Exp2, Log, Log2, Pow};
    match lane {
        Lane::F32 => function == Pow,
        _ => matches!(function, Exp2 | Log | Log2 | Pow),
    }
}

/// The attribute by which a call names functions on vectors.
const VARIANTS: &str = "vector-function-abi-variant";

/// The variable that keeps the declarations until calls of them are there.
const KEEPER: &str = "__zymase_vector_functions";

/// A function at a precision.
#[derive(Copy, Clone)]
struct Scalar {
    function: MathFn,
    lane: Lane,
    kernel: Kernel,
}

impl Scalar {
    /// What is computed by a call, if there is a body for it and the call permits to use that.
    fn permitted(call: Val) -> Option<Scalar> {
        let permits = crate::fast_math_bits(Flags::AFN);
        if !ll::may_have_fast_math(call) || ll::fast_math(call) & permits == 0 {
            return None;
        }
        let callee = ll::called_value(call);
        if !ll::is_function(callee) || !ll::is_declaration(callee) {
            return None;
        }
        let (lane, kind) = match ll::type_kind(ll::type_of(call)) {
            LLVMTypeKind::LLVMFloatTypeKind => (Lane::F32, FloatKind::F32),
            LLVMTypeKind::LLVMDoubleTypeKind => (Lane::F64, FloatKind::F64),
            _ => return None,
        };
        let name = ll::name(callee);
        let function =
            known::math_intrinsic(&name).or_else(|| known::math_function(&name, kind))?;
        let (_, _, kernel) = KERNELS
            .iter()
            .find(|(known, lanes, _)| *known == function && lanes.contains(&lane))?;
        Some(Scalar {
            function,
            lane,
            kernel: *kernel,
        })
    }

    fn parameters(self) -> usize {
        match self.kernel {
            Kernel::Two(_) => 2,
            _ => 1,
        }
    }

    /// How many numbers a vector may have. What is wider than the registers of a machine is taken
    /// apart, so all of them work everywhere; LLVM chooses what fits.
    fn widths(self) -> &'static [u32] {
        match (self.lane, is_fast_alone(self.function, self.lane)) {
            (Lane::F32, false) => &[2, 4, 8, 16],
            (Lane::F32, true) => &[8, 16],
            (_, false) => &[2, 4, 8],
            (_, true) => &[4, 8],
        }
    }

    /// The name of the function on so many numbers.
    fn vector_name(self, width: u32) -> String {
        let (function, lane) = (self.function.name(), self.lane.name());
        format!("zymase.{function}.{lane}.{width}")
    }

    /// The C function, and LLVM's intrinsic if there is one.
    fn names(self) -> (String, Option<String>) {
        let (kind, suffix) = match self.lane {
            Lane::F32 => (FloatKind::F32, "f32"),
            _ => (FloatKind::F64, "f64"),
        };
        let c_name = known::c_name(self.function, kind).unwrap_or_default();
        let intrinsic = known::intrinsic_of(self.function);
        (c_name, intrinsic.map(|name| format!("{name}.{suffix}")))
    }

    /// The name of what is called until it is known which calls become vectors: LLVM's intrinsic, or
    /// a function that, like an intrinsic, may be called where the program would not.
    fn stand_in(self) -> String {
        let (c_name, intrinsic) = self.names();
        intrinsic.unwrap_or_else(|| format!("{STAND_IN}{c_name}"))
    }

    /// What is called under that name.
    fn callee(self, module: &Module) -> Option<Val> {
        let Some(intrinsic) = known::intrinsic_of(self.function) else {
            return module.function(&self.stand_in());
        };
        let context = module.context().raw();
        // SAFETY: the intrinsic exists and is overloaded on one type of floats.
        unsafe {
            let mut ty = match self.lane {
                Lane::F32 => LLVMFloatTypeInContext(context),
                _ => LLVMDoubleTypeInContext(context),
            };
            let id = LLVMLookupIntrinsicID(intrinsic.as_ptr().cast(), intrinsic.len());
            Some(LLVMGetIntrinsicDeclaration(module.raw(), id, &mut ty, 1))
        }
    }

    /// The body for so many numbers, as text of LLVM.
    fn body(self, width: u32) -> String {
        let code = Code::new(width);
        let parameter = |number| code.parameter(self.lane, number);
        let ty = code.vector(self.lane);
        let mut end = String::new();
        let result = match self.kernel {
            Kernel::One(kernel) => kernel(parameter(0)),
            Kernel::Two(kernel) => kernel(parameter(0), parameter(1)),
            Kernel::Turns(kernel) => {
                let made = kernel(parameter(0));
                let far = parameter(0).abs().not_less(kernels::MOST_TURNS);
                self.one_by_one(width, made, far, &mut end);
                made
            }
        };
        if end.is_empty() {
            end = format!("  ret {ty} {}\n", result.written());
        }
        let parameters: Vec<String> = (0..self.parameters())
            .map(|number| format!("{ty} %p{number}"))
            .collect();
        format!(
            "define {ty} @{}({}) alwaysinline nounwind memory(none) {{\n{}{end}}}\n",
            self.vector_name(width),
            parameters.join(", "),
            code.text(),
        )
    }

    /// The end of a body that leaves everything to the C library if a number is too large for it.
    fn one_by_one(self, width: u32, made: V<'_>, far: V<'_>, end: &mut String) {
        let (ty, lane) = (
            format!("<{width} x {}>", self.lane.name()),
            self.lane.name(),
        );
        let callee = self.stand_in();
        let (made, far) = (made.written(), far.written());
        let _ = write!(
            end,
            "  %far = bitcast <{width} x i1> {far} to i{width}\n  \
               %any = icmp ne i{width} %far, 0\n  \
               br i1 %any, label %each, label %done, !prof !0\neach:\n"
        );
        let mut whole = "poison".to_string();
        for i in 0..width {
            let _ = write!(
                end,
                "  %x{i} = extractelement {ty} %p0, i32 {i}\n  \
                   %y{i} = call {lane} @{callee}({lane} %x{i})\n  \
                   %z{i} = insertelement {ty} {whole}, {lane} %y{i}, i32 {i}\n"
            );
            whole = format!("%z{i}");
        }
        let _ = write!(
            end,
            "  br label %done\ndone:\n  \
               %result = phi {ty} [ {made}, %0 ], [ {whole}, %each ]\n  ret {ty} %result\n"
        );
    }
}

/// The beginning of the names of functions that stand for those of the C library.
const STAND_IN: &str = "zymase.scalar.";

/// Says of calls in a module which functions on vectors compute the same.
pub fn offer(module: &Module) -> Result<()> {
    let permitted: Vec<(Val, Scalar)> = calls(module)
        .filter_map(|call| Some((call, Scalar::permitted(call)?)))
        .collect();
    if permitted.is_empty() {
        return Ok(());
    }
    let mut names = BTreeSet::new();
    let mut text = String::new();
    for (_, scalar) in &permitted {
        if names.insert(scalar.stand_in()) {
            declare(*scalar, &mut text);
        }
    }
    let kept: Vec<String> = text
        .split('@')
        .filter(|part| part.starts_with("zymase."))
        .filter_map(|part| Some(format!("ptr @{}", part.split('(').next()?)))
        .collect();
    let _ = writeln!(
        text,
        "@{KEEPER} = constant [{} x ptr] [{}]",
        kept.len(),
        kept.join(", ")
    );
    link(module, &text)?;
    for (call, scalar) in permitted {
        replace(module, call, scalar);
    }
    Ok(())
}

/// Makes what is left of offers what it was, and calls of vector functions their bodies.
pub fn settle(module: &Module) -> Result<()> {
    // SAFETY: the name is read during the call only; nothing refers to the variable.
    unsafe {
        let keeper = LLVMGetNamedGlobal(module.raw(), c_string(KEEPER).as_ptr());
        if keeper.is_null() {
            return Ok(());
        }
        LLVMDeleteGlobal(keeper);
        for call in calls(module).collect::<Vec<_>>() {
            let len = VARIANTS.len() as u32;
            LLVMRemoveCallSiteStringAttribute(
                call,
                ll::FUNCTION_INDEX,
                VARIANTS.as_ptr().cast(),
                len,
            );
        }
    }
    let mut text = String::from("!0 = !{!\"branch_weights\", i32 1, i32 2000}\n");
    let mut declared = BTreeSet::new();
    let mut called = Vec::new();
    for (function, lanes, kernel) in KERNELS {
        for &lane in *lanes {
            let scalar = Scalar {
                function: *function,
                lane,
                kernel: *kernel,
            };
            for &width in scalar.widths() {
                let Some(vector) = module.function(&scalar.vector_name(width)) else {
                    continue;
                };
                // SAFETY: the function is live; one that nothing uses may go.
                unsafe {
                    if LLVMGetFirstUse(vector).is_null() {
                        LLVMDeleteFunction(vector);
                        continue;
                    }
                }
                called.push(scalar.vector_name(width));
                text.push_str(&scalar.body(width));
                if matches!(kernel, Kernel::Turns(_)) && declared.insert(scalar.stand_in()) {
                    let lane = lane.name();
                    let _ = writeln!(text, "declare {lane} @{}({lane})", scalar.stand_in());
                }
            }
        }
    }
    if !called.is_empty() {
        link(module, &text)?;
        for function in called.iter().filter_map(|name| module.function(name)) {
            // SAFETY: the function is live, and defined here.
            unsafe { LLVMSetLinkage(function, LLVMInternalLinkage) };
        }
        module.run_passes(
            "always-inline,globaldce,function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg)",
            None,
            PassOptions::STRUCTURE,
        )?;
    }
    rename_stand_ins(module);
    Ok(())
}

/// The calls in a module.
fn calls(module: &Module) -> impl Iterator<Item = Val> {
    // SAFETY: blocks and instructions of a live module are live.
    module.functions().flat_map(|function| unsafe {
        let instructions = blocks_of(function).flat_map(|block| instructions_of(block));
        instructions.filter(|&inst| ll::is_call(inst))
    })
}

fn link(module: &Module, text: &str) -> Result<()> {
    module.link(Module::parse(
        module.context(),
        text.as_bytes(),
        "vector_math.ll",
    )?)
}

/// Declares a function, and those on vectors.
fn declare(scalar: Scalar, text: &mut String) {
    let pure = "nocallback nofree nosync nounwind speculatable willreturn memory(none)";
    let mut add = |name: &str, ty: &str| {
        let types = vec![ty; scalar.parameters()].join(", ");
        let _ = writeln!(text, "declare {ty} @{name}({types}) {pure}");
    };
    if scalar.names().1.is_none() {
        add(&scalar.stand_in(), scalar.lane.name());
    }
    for &width in scalar.widths() {
        let ty = format!("<{width} x {}>", scalar.lane.name());
        add(&scalar.vector_name(width), &ty);
    }
}

/// Replaces a call by one of what stands for the function, which names the functions on vectors.
fn replace(module: &Module, call: Val, scalar: Scalar) {
    let context = module.context().raw();
    let name = scalar.stand_in();
    let Some(callee) = scalar.callee(module) else {
        return;
    };
    let letters = "v".repeat(scalar.parameters());
    let variants: Vec<String> = scalar
        .widths()
        .iter()
        .map(|&width| {
            let vector = scalar.vector_name(width);
            format!("_ZGV_LLVM_N{width}{letters}_{name}({vector})")
        })
        .collect();
    let variants = variants.join(",");
    // SAFETY: the new call stands right before the old one and has its operands and type.
    unsafe {
        let mut args: Vec<Val> = (0..LLVMGetNumArgOperands(call))
            .map(|i| LLVMGetOperand(call, i))
            .collect();
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, call);
        let ty: Ty = ll::value_type(callee);
        let count = args.len() as u32;
        let made = LLVMBuildCall2(builder, ty, callee, args.as_mut_ptr(), count, c"".as_ptr());
        LLVMDisposeBuilder(builder);
        ll::set_fast_math(made, ll::fast_math(call));
        ll::set_debug_location(made, ll::debug_location(call));
        let attribute = LLVMCreateStringAttribute(
            context,
            VARIANTS.as_ptr().cast(),
            VARIANTS.len() as u32,
            variants.as_ptr().cast(),
            variants.len() as u32,
        );
        ll::add_call_attribute(made, ll::FUNCTION_INDEX, attribute);
        LLVMReplaceAllUsesWith(call, made);
        LLVMInstructionEraseFromParent(call);
    }
}

/// Calls the C library where calls stayed what they were.
fn rename_stand_ins(module: &Module) {
    for function in module.functions().collect::<Vec<_>>() {
        let name = ll::name(function);
        let Some(c_name) = name.strip_prefix(STAND_IN) else {
            continue;
        };
        // SAFETY: both functions are live and of the same type; one without uses may go.
        unsafe {
            match module.function(c_name) {
                Some(known) => {
                    LLVMReplaceAllUsesWith(function, known);
                    LLVMDeleteFunction(function);
                }
                None => LLVMSetValueName2(function, c_name.as_ptr().cast(), c_name.len()),
            }
        }
    }
}
