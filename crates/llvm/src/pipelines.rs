//! The pass pipelines before import and after export.

use crate::ll::{self, Val};
use crate::module::Module;
use crate::passes::PassOptions;
use crate::target::{OptLevel, TargetMachine};
use llvm_sys::core::LLVMRemoveEnumAttributeAtIndex;
use llvm_sys::support::LLVMParseCommandLineOptions;
use std::collections::HashSet;
use std::sync::Once;
use zymase_core::diagnostic::Result;

/// Brings a module into the form that analyses like: optimized as by `-O2`, but with the structure
/// of its loops left alone, every cycle with one entry, every loop with one preheader, one latch
/// and exits of its own.
pub fn prepare(module: &Module) -> Result<()> {
    for function in module.functions() {
        allow_optimization(function);
    }
    let vectors = ForbidVectors::new(module);
    let machine = TargetMachine::for_module(module, OptLevel::Default)?;
    // Handlers of exceptions go first: nothing comes back from one to be reversed, see
    // [`unwinding`](crate::unwinding).
    // Irreducible cycles are made reducible first where the optimizer left any; that can leave
    // dead branches, which the cleanup folds without turning loops around again. The pass that does
    // it knows branches only, and crashes at a switch into a cycle.
    let pipeline = "function(lower-invoke,simplifycfg),default<O2>,function(lower-switch,fix-irreducible,instcombine,\
                    simplifycfg<keep-loops>,\
                    loop-simplify,lcssa)";
    let outcome = module.run_passes(pipeline, Some(&machine), PassOptions::STRUCTURE);
    vectors.lift(module);
    outcome
}

/// Keeps code free of vectors that were not there. LLVM 22.1 vectorizes loops even if its options
/// say no, but neither vectorizer touches a function that must not use float registers on its own
/// account. So all functions say so for a while.
struct ForbidVectors {
    kind: u32,
    /// The functions that always said so.
    already: HashSet<String>,
}

impl ForbidVectors {
    fn new(module: &Module) -> ForbidVectors {
        let kind = ll::attribute_kind_id("noimplicitfloat");
        let mut already = HashSet::new();
        for function in module.functions() {
            if !ll::function_attribute(function, ll::FUNCTION_INDEX, kind).is_null() {
                already.insert(ll::name(function));
            } else if !ll::is_declaration(function) {
                let attribute = ll::enum_attribute(module.context().raw(), kind, 0);
                ll::add_function_attribute(function, ll::FUNCTION_INDEX, attribute);
            }
        }
        ForbidVectors { kind, already }
    }

    fn lift(self, module: &Module) {
        for function in module.functions() {
            if !self.already.contains(&ll::name(function)) {
                // SAFETY: the function is live; removing has no precondition.
                unsafe { LLVMRemoveEnumAttributeAtIndex(function, ll::FUNCTION_INDEX, self.kind) };
            }
        }
    }
}

/// Optimizes a module as by `-O3`, with everything that makes code fast.
pub fn finish(module: &Module) -> Result<()> {
    suit_reversed_loops();
    let machine = TargetMachine::for_module(module, OptLevel::Aggressive)?;
    module.run_passes("default<O3>", Some(&machine), PassOptions::ALL)
}

/// Tells LLVM to check at each entry of an inner loop whether arrays overlap, and not once for the
/// loop around it. That one check also demands that the outer loop goes upwards, which those of a
/// reverse sweep do not: it fails always, and vector code never runs.
fn suit_reversed_loops() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let arguments = [c"zymase".as_ptr(), c"-hoist-runtime-checks=false".as_ptr()];
        // SAFETY: the strings end in zero and outlive the call, which keeps no pointer to them. An
        // LLVM that does not know the option ignores it, for the C interface discards errors.
        unsafe { LLVMParseCommandLineOptions(2, arguments.as_ptr(), c"".as_ptr()) };
    });
}

/// `clang -O0` marks every function `optnone` and, because LLVM demands it, `noinline`. Both go.
/// A `noinline` that stands alone was meant by somebody and stays.
fn allow_optimization(function: Val) {
    let optnone = ll::attribute_kind_id("optnone");
    let noinline = ll::attribute_kind_id("noinline");
    if ll::function_attribute(function, ll::FUNCTION_INDEX, optnone).is_null() {
        return;
    }
    for kind in [optnone, noinline] {
        // SAFETY: the function is live; removing what is there has no precondition.
        unsafe { LLVMRemoveEnumAttributeAtIndex(function, ll::FUNCTION_INDEX, kind) };
    }
}
