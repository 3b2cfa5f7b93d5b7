//! The pass pipelines before import and after export.

use crate::ll::{self, Val};
use crate::long_blocks::{has_block_above, is_longer};
use crate::module::Module;
use crate::moved_sizes;
use crate::passes::PassOptions;
use crate::sunk_stores;
use crate::target::{OptLevel, TargetMachine};
use crate::vector_math;
use llvm_sys::core::LLVMRemoveEnumAttributeAtIndex;
use llvm_sys::support::LLVMParseCommandLineOptions;
use std::collections::HashSet;
use zymase_core::diagnostic::Result;

/// Brings a module into the form that analyses like: optimized as by `-O2`, but with the structure
/// of its loops left alone, every cycle with one entry, every loop with one preheader, one latch
/// and exits of its own.
pub fn prepare(module: &Module) -> Result<()> {
    bring_into_form(module, true)
}

/// The same form without optimization: for measuring what it is worth to differentiate after
/// optimization rather than before.
pub fn prepare_unoptimized(module: &Module) -> Result<()> {
    bring_into_form(module, false)
}

fn bring_into_form(module: &Module, optimized: bool) -> Result<()> {
    for function in module.functions() {
        allow_optimization(function);
    }
    agree_on_machine(module);
    let structure = KeepStructure::new(module);
    let machine = TargetMachine::for_module(module, OptLevel::Default)?;
    // Handlers of exceptions go first: nothing comes back from one to be reversed, see
    // [`unwinding`](crate::unwinding).
    let optimize = |pipeline| module.run_passes(pipeline, Some(&machine), PassOptions::STRUCTURE);
    if optimized {
        sunk_stores::separate(module)?;
    }
    let mut outcome = match optimized {
        true => optimize("function(lower-invoke,simplifycfg),default<O2>"),
        false => optimize("function(lower-invoke,simplifycfg)"),
    };
    for _ in 0..DEPTH_OF_MOVES {
        if outcome.is_ok() && optimized && moved_sizes::mark(module) {
            outcome = optimize("default<O2>");
        }
    }
    // What was not optimized before has its stores merged only now that calls are inlined. Variables
    // become registers before that would happen again.
    if outcome.is_ok() && optimized && sunk_stores::separate(module)? {
        outcome = optimize("default<O2>");
    }
    structure.lift(module);
    outcome?;
    // Irreducible cycles are made reducible first where the optimizer left any; that can leave
    // dead branches, which the cleanup folds without turning loops around again. The pass that does
    // it knows branches only, and crashes at a switch into a cycle. The cleanup also sees masks of
    // sign bits for what they are, which it could not as long as float registers were forbidden.
    // Where one round of it is not enough, `instcombine` by itself would end the process.
    let pipeline = "function(lower-switch,fix-irreducible,instcombine<no-verify-fixpoint>,\
                    simplifycfg<keep-loops>,loop-simplify,lcssa)";
    optimize(pipeline)
}

/// Through how many calls the size of what is moved may come. Calls of functions that call each
/// other would be inlined for ever.
const DEPTH_OF_MOVES: usize = 4;

/// Keeps the structure of code through the optimizer, by attributes that functions have for a
/// while. No vectors, and no loops made of recursion: a call that comes last has a derivative that
/// costs nothing to keep, while the arguments of its iterations as a loop would have to be cached.
struct KeepStructure {
    vectors: ForbidVectors,
    /// The functions that always said so.
    without_tail_calls: HashSet<String>,
}

const NO_TAIL_CALLS: &str = "disable-tail-calls";

impl KeepStructure {
    fn new(module: &Module) -> KeepStructure {
        let context = module.context().raw();
        let mut keep = KeepStructure {
            vectors: ForbidVectors::new(module, |_| true),
            without_tail_calls: HashSet::new(),
        };
        for function in module.functions().filter(|&f| !ll::is_declaration(f)) {
            if ll::string_attribute(function, NO_TAIL_CALLS).is_none() {
                ll::set_string_attribute(context, function, NO_TAIL_CALLS, "true");
            } else {
                keep.without_tail_calls.insert(ll::name(function));
            }
        }
        keep
    }

    fn lift(self, module: &Module) {
        self.vectors.lift(module);
        for function in module.functions().filter(|&f| !ll::is_declaration(f)) {
            if !self.without_tail_calls.contains(&ll::name(function)) {
                ll::remove_string_attribute(function, NO_TAIL_CALLS);
            }
        }
    }
}

/// Keeps vectors out of some functions for a while. LLVM 22.1 vectorizes loops even if its options
/// say no, but neither vectorizer touches a function that must not use float registers on its own
/// account, nor one that such a function was inlined into.
struct ForbidVectors {
    attribute: u32,
    /// The functions that always said so.
    always: HashSet<String>,
}

impl ForbidVectors {
    fn new(module: &Module, which: impl Fn(Val) -> bool) -> ForbidVectors {
        let attribute = ll::attribute_kind_id("noimplicitfloat");
        let mut always = HashSet::new();
        for function in module.functions().filter(|&f| !ll::is_declaration(f)) {
            if !ll::function_attribute(function, ll::FUNCTION_INDEX, attribute).is_null() {
                always.insert(ll::name(function));
            } else if which(function) {
                let attribute = ll::enum_attribute(module.context().raw(), attribute, 0);
                ll::add_function_attribute(function, ll::FUNCTION_INDEX, attribute);
            }
        }
        ForbidVectors { attribute, always }
    }

    fn lift(self, module: &Module) {
        for function in module.functions().filter(|&f| !ll::is_declaration(f)) {
            if !self.always.contains(&ll::name(function)) {
                // SAFETY: the function is live; removing has no precondition.
                unsafe {
                    LLVMRemoveEnumAttributeAtIndex(function, ll::FUNCTION_INDEX, self.attribute)
                };
            }
        }
    }
}

/// A block of more instructions than this is not searched for vectors: LLVM's time for that grows
/// with the square of them.
const LONG_BLOCK: usize = 10_000;

/// Optimizes a module as by `-O3`, with everything that makes code fast.
pub fn finish(module: &Module) -> Result<()> {
    let machine = TargetMachine::for_module(module, OptLevel::Aggressive)?;
    let forbidden = ForbidVectors::new(module, |f| has_block_above(f, LONG_BLOCK));
    hoist_overlap_checks(false);
    vector_math::offer(module)?;
    let outcome = module.run_passes("default<O3>", Some(&machine), PassOptions::ALL);
    hoist_overlap_checks(true);
    forbidden.lift(module);
    outcome?;
    vector_math::settle(module)?;
    let context = module.context().raw();
    for function in module.functions().filter(|&f| is_longer(f, LARGE)) {
        ll::set_string_attribute(context, function, FINISHED, "true");
    }
    Ok(())
}

/// Optimizes a program whose derivatives are in it, as by `-O<level>`.
pub fn program(module: &Module, machine: &TargetMachine, level: u8) -> Result<()> {
    let forbidden = ForbidVectors::new(module, |f| has_block_above(f, LONG_BLOCK));
    let finished = LeaveFinished::new(module);
    let pipeline = format!("default<O{level}>");
    let outcome = module.run_passes(&pipeline, Some(machine), PassOptions::ALL);
    finished.lift(module);
    forbidden.lift(module);
    outcome
}

/// What a function says that [`finish`] has optimized and that is too large to be inlined.
const FINISHED: &str = "zymase-finished";

/// A derivative of more instructions than this is not optimized twice: that takes as long as once, and
/// finds nothing that inlining did not bring.
const LARGE: usize = 2_000;

/// Keeps the optimizer off finished functions, by attributes that they have for a while.
struct LeaveFinished {
    optnone: u32,
}

impl LeaveFinished {
    fn new(module: &Module) -> LeaveFinished {
        let optnone = ll::attribute_kind_id("optnone");
        for function in finished(module) {
            // LLVM wants one and forbids the other beside the attribute that matters.
            let optsize = ll::attribute_kind_id("optsize");
            // SAFETY: the function is live; removing has no precondition.
            unsafe { LLVMRemoveEnumAttributeAtIndex(function, ll::FUNCTION_INDEX, optsize) };
            for kind in [ll::attribute_kind_id("noinline"), optnone] {
                let attribute = ll::enum_attribute(module.context().raw(), kind, 0);
                ll::add_function_attribute(function, ll::FUNCTION_INDEX, attribute);
            }
        }
        LeaveFinished { optnone }
    }

    fn lift(self, module: &Module) {
        for function in finished(module) {
            // SAFETY: the function is live; removing has no precondition.
            unsafe { LLVMRemoveEnumAttributeAtIndex(function, ll::FUNCTION_INDEX, self.optnone) };
        }
    }
}

fn finished(module: &Module) -> impl Iterator<Item = Val> {
    let functions = module.functions();
    functions.filter(|&function| ll::string_attribute(function, FINISHED).is_some())
}

/// Tells LLVM whether to check once for an outer loop that the arrays of an inner one do not overlap,
/// as it does by default, or at each entry of the inner loop. The one check also demands that the
/// outer loop goes upwards, which those of a reverse sweep do not: it fails always, and vector code
/// never runs. The option is one of the whole process, so it is put back for the program itself.
fn hoist_overlap_checks(hoist: bool) {
    let option = match hoist {
        true => c"-hoist-runtime-checks=true",
        false => c"-hoist-runtime-checks=false",
    };
    let arguments = [c"zymase".as_ptr(), option.as_ptr()];
    // SAFETY: the strings end in zero and outlive the call, which keeps no pointer to them. An LLVM
    // that does not know the option ignores it, for the C interface discards errors.
    unsafe { LLVMParseCommandLineOptions(2, arguments.as_ptr(), c"".as_ptr()) };
}

/// What functions say of the machine that they are for.
const MACHINE: [&str; 3] = ["target-cpu", "target-features", "tune-cpu"];

/// Lets functions that say nothing of the machine be for that of all others, if it is one: nothing
/// that uses features of a machine is inlined into a function that does not say that it has them.
/// Among functions of the program there are none; those that stand for requests are such when the
/// derivatives that they ask for are there.
fn agree_on_machine(module: &Module) {
    let said = |function| MACHINE.map(|key| ll::string_attribute(function, key));
    let defined: Vec<Val> = module
        .functions()
        .filter(|&f| !ll::is_declaration(f))
        .collect();
    let (silent, others): (Vec<Val>, Vec<Val>) = defined
        .into_iter()
        .partition(|&function| said(function).iter().all(Option::is_none));
    let mut machines = others.into_iter().map(said);
    let Some(machine) = machines
        .next()
        .filter(|first| machines.all(|m| m == *first))
    else {
        return;
    };
    for function in silent {
        for (key, value) in MACHINE.iter().zip(&machine) {
            if let Some(value) = value {
                ll::set_string_attribute(module.context().raw(), function, key, value);
            }
        }
    }
}

/// Takes away what keeps the optimizer from its work. `clang -O0` marks every function `optnone` and,
/// because LLVM demands it, `noinline`; a `noinline` that stands alone was meant by somebody and
/// stays. Code for small programs is inlined too little: what a function of a container moves is
/// known in the caller. Derivatives are made to be fast anyway.
fn allow_optimization(function: Val) {
    let optnone = ll::attribute_kind_id("optnone");
    let mut kinds = vec!["optsize", "minsize"];
    if !ll::function_attribute(function, ll::FUNCTION_INDEX, optnone).is_null() {
        kinds.extend(["optnone", "noinline"]);
    }
    for kind in kinds.into_iter().map(ll::attribute_kind_id) {
        // SAFETY: the function is live; removing has no precondition.
        unsafe { LLVMRemoveEnumAttributeAtIndex(function, ll::FUNCTION_INDEX, kind) };
    }
}
