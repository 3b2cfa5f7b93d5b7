//! The steps from a module with requests to a module with derivatives.

use crate::analysis::activity::globals::Globals;
use crate::analysis::effects::{Effects, callees};
use crate::analysis::loops::Loop;
use crate::chaos::Choice;
use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Link, Place, Result};
use crate::ir::verify::verify_module;
use crate::ir::{
    Builder, Call, Callee, Constant, FnAttrs, Func, Function, Inst, InstData, Mode, Module, Op,
    ParamAttrs, Request, Symbol, Type,
};
use crate::plan::PlanKind;
use crate::planted::Defect;
use crate::raise::{self, Raise};
use crate::report::{OfLoops, Report};
use crate::shadow::record;
use crate::simplify;
use crate::split;
use crate::support;
use crate::synthesis::Synthesis;
use crate::warnings::LARGE_TAPE;
use cranelift_entity::EntityRef;
use std::collections::{BTreeSet, HashSet};

/// What the user chose.
#[derive(Clone, Debug)]
pub struct Options {
    /// How values for the reverse sweep are kept.
    pub plan: PlanKind,
    /// So many bytes of tape for one call are told.
    pub large_tape: u64,
    /// Whether memory of tapes is kept for the next derivative, see
    /// [`tape_memory`](support::tape_memory).
    pub keep_memory: bool,
    /// Whether programs stop where a derivative is not finite.
    pub check_finite: bool,
    /// Whether programs tell how much they put on tapes, see [`count`](crate::reverse::count).
    pub count_tapes: bool,
    /// Which loops become nests, see [`raise`].
    pub raise: Raise,
    /// Whether it is told what loops compute that stay loops, see [`look`](raise::look).
    pub tells_loops: bool,
    /// Whether products of matrices may call kernels, see
    /// [`lower_products`](simplify::lower_products).
    pub kernels: bool,
    /// Functions whose requests need not be served: where one cannot be, the function returns 1.
    pub optional: Vec<Func>,
    /// A mistake to make, for tests of tests.
    #[doc(hidden)]
    pub planted: Option<Defect>,
    /// Makes choices by chance, from this seed, see [`chaos`](crate::chaos).
    pub chaos: Option<u64>,
    /// The only choice that is made by chance, for tests of tests.
    #[doc(hidden)]
    pub chaos_only: Option<Choice>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            plan: PlanKind::default(),
            large_tape: LARGE_TAPE,
            keep_memory: false,
            check_finite: false,
            count_tapes: false,
            raise: Raise::default(),
            tells_loops: false,
            kernels: false,
            optional: Vec::new(),
            planted: None,
            chaos: None,
            chaos_only: None,
        }
    }
}

impl Options {
    /// Whether to make a mistake.
    pub(crate) fn breaks(&self, defect: Defect) -> bool {
        self.planted == Some(defect)
    }
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The functions that were added, in the order they were made.
    pub added: Vec<Func>,
    /// What was decided about each derivative that comes from a body.
    pub reports: Vec<Report>,
    /// What is legal and suspicious.
    pub warnings: Vec<Diagnostic>,
    /// The optional functions whose requests could not be served, and why.
    pub refused: Vec<(Func, Box<Diagnostic>)>,
}

/// Replaces every request in a module by a call of the derivative it asks for.
///
/// Requests in functions that are themselves differentiated come first, so a derivative of a
/// derivative finds the inner one as an ordinary function.
pub fn differentiate(module: &mut Module, options: &Options) -> Result<Outcome> {
    let asking: Vec<Func> = module.funcs.keys().collect();
    serve(module, options, &asking)
}

/// The same for the requests of some functions only.
pub(crate) fn serve(module: &mut Module, options: &Options, asking: &[Func]) -> Result<Outcome> {
    let first_new = module.funcs.len();
    let mut worklist = Worklist {
        synthesis: Synthesis::new(std::mem::take(module), options.clone()),
        done: HashSet::new(),
        open: Vec::new(),
        raised: HashSet::new(),
        of_loops: OfLoops::default(),
        first_new,
        halves: Vec::new(),
        warnings: Vec::new(),
        refused: Vec::new(),
    };
    let result = asking.iter().try_for_each(|&func| worklist.function(func));
    let pairs = worklist.synthesis.sweeps();
    *module = worklist.synthesis.module;
    result?;
    let derivatives: Vec<Func> = module.funcs.keys().skip(first_new).collect();
    let on_heap = simplify::stack_tapes::on_heap(module, &worklist.halves, &pairs, options);
    simplify::lasting_memory::run(module, &derivatives, &on_heap, options);
    let on_stack = simplify::stack_tapes::run(module, &derivatives, &on_heap, &pairs, options);
    let mut reports = worklist.synthesis.reports;
    for report in &mut reports {
        worklist.of_loops.complete(report);
        report.on_stack = report.sweep.is_some_and(|sweep| on_stack.contains(&sweep));
    }
    // Rules may use functions that no library has; their bodies come into the module as well.
    let mut next = first_new;
    while next < module.funcs.len() {
        simplify::lower_library_calls::run(module, Func::from_u32(next as u32));
        next += 1;
    }
    let added: Vec<Func> = module.funcs.keys().skip(first_new).collect();
    simplify::merge_equal::run(module, &added);
    for &func in &added {
        simplify::group_accumulations::run(&mut module.funcs[func]);
        if options.kernels {
            let few = options
                .flips(Choice::Kernel, &module.funcs[func].name)
                .then_some(1);
            let block = few.map(|_| 2);
            simplify::split_triangles::run(&mut module.funcs[func], block);
            simplify::lower_products::run(module, func, few);
        }
    }
    simplify::check_allocations::run(module, &added);
    if cfg!(debug_assertions) {
        check(module)?;
    }
    Ok(Outcome {
        added: module.funcs.keys().skip(first_new).collect(),
        reports,
        warnings: worklist.warnings,
        refused: worklist.refused,
    })
}

/// A module that we made wrong is our defect; the user gets a message all the same.
fn check(module: &Module) -> Result<()> {
    verify_module(module).map_err(|errors| {
        let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Diagnostic::defect("the derivative is not well formed", all.join("\n"))
    })
}

struct Worklist {
    synthesis: Synthesis,
    /// Functions without requests left.
    done: HashSet<Func>,
    /// Functions whose requests are being replaced, outermost first.
    open: Vec<Func>,
    /// Functions whose loops have been raised.
    raised: HashSet<Func>,
    /// What is to be told of loops.
    of_loops: OfLoops,
    /// How many functions the program has.
    first_new: usize,
    /// The sweeps that the program calls one by one.
    halves: Vec<Func>,
    /// What is suspicious, each thing once.
    warnings: Vec<Diagnostic>,
    refused: Vec<(Func, Box<Diagnostic>)>,
}

impl Worklist {
    /// Replaces the requests of a function, those of the functions it asks for first.
    fn function(&mut self, func: Func) -> Result<()> {
        if self.done.contains(&func) {
            return Ok(());
        }
        let requests = requests_of(&self.synthesis.module.funcs[func]);
        for &(inst, ref request) in &requests {
            self.open.push(func);
            for needed in callees(&self.synthesis.module, request.func) {
                if self.open.contains(&needed) {
                    return Err(self.circular(func, inst, request.func));
                }
                self.function(needed)?;
            }
            // Derivatives that these ask for are among them now.
            let reached = callees(&self.synthesis.module, request.func);
            let mut changed = false;
            for &needed in &reached {
                changed |= self.prepare(needed);
            }
            let mut effects = None;
            for &needed in &reached {
                changed |= self.raise(needed, &mut effects);
            }
            self.open.pop();
            // What is known of functions lasts from one request to the next, as long as they are
            // the same and none of them is a derivative.
            if changed || reached.iter().any(|f| f.index() >= self.first_new) {
                self.synthesis.program_changed();
            }
            let optional = self.synthesis.options.optional.contains(&func);
            let before = optional.then(|| self.synthesis.made());
            let replaced = self.replace(func, inst, request);
            let replaced = replaced.map_err(|complaint| self.blame(complaint, func, inst));
            match (replaced, before) {
                (Err(complaint), Some(before)) => {
                    self.synthesis.go_back(before);
                    self.give_up(func);
                    self.synthesis.program_changed();
                    self.refused.push((func, complaint));
                    break;
                }
                (replaced, _) => replaced?,
            }
            if !optional {
                self.warn(func, inst, request);
            }
        }
        self.done.insert(func);
        Ok(())
    }

    /// Makes a function one that returns 1 and does nothing else.
    fn give_up(&mut self, func: Func) {
        let module = &mut self.synthesis.module;
        let Function { name, sig, .. } = &module.funcs[func];
        let mut function = Function::with_entry(name.clone(), sig.clone());
        function.local = true;
        let (entry, ty) = (function.entry(), function.sig.ret);
        let one = function.iconst(ty, 1);
        Builder::new(&mut function, entry).ret(Some(one));
        module.funcs[func] = function;
    }

    /// Brings a function into the form that differentiation expects; says whether it was not.
    fn prepare(&mut self, func: Func) -> bool {
        let module = &mut self.synthesis.module;
        let mut changed = simplify::use_library_bodies::run(module, func);
        changed |= simplify::lower_library_calls::run(module, func);
        changed |= simplify::lower_allocations::run(module, func);
        changed |= simplify::restore_pointers::run(&mut module.funcs[func]);
        changed
    }

    /// Raises the loops of a function of the program; says whether it has changed. There is no place
    /// in a nest for what says where a derivative is not finite.
    fn raise(&mut self, func: Func, effects: &mut Option<Effects>) -> bool {
        let options = &self.synthesis.options;
        let is_derivative = func.index() >= self.first_new;
        if is_derivative || options.check_finite || !self.raised.insert(func) {
            return false;
        }
        let module = &mut self.synthesis.module;
        let effects = effects.get_or_insert_with(|| Effects::new(module));
        let name = module.funcs[func].name.clone();
        let wanted = |l: Loop| match options.chance(Choice::Raise, (&name, l)) {
            Some(n) => [Raise::Never, Raise::Worthwhile, Raise::Always][(n % 3) as usize],
            None => options.raise,
        };
        let searches = raise::searches::run(&mut module.funcs[func], &wanted, options.planted);
        let seen = match options.tells_loops {
            true => raise::look::look(module, func, effects),
            false => Vec::new(),
        };
        let raised = raise::run(module, func, effects, &wanted, options.planted);
        self.of_loops.add_seen(module, &name, &seen, &raised);
        self.of_loops.add(module, &name, &searches, &raised);
        raised.changed || !searches.is_empty()
    }

    /// A complaint has come by the request. Functions that are not the program's are no part of the
    /// way, so what is only about them is about the request.
    fn blame(&self, mut complaint: Box<Diagnostic>, func: Func, inst: Inst) -> Box<Diagnostic> {
        let module = &self.synthesis.module;
        let ours = |place: &Place| {
            let named = module.func_by_name(&place.function);
            place.file.is_empty() && named.is_none_or(|named| named.index() >= self.first_new)
        };
        complaint.places.retain(|place| !ours(place));
        let asking = &module.funcs[func];
        complaint.from(module, asking.inst(inst).loc, &asking.name, Link::Asked)
    }

    /// Tells what is suspicious about a request, unless another one like it was told of that.
    fn warn(&mut self, func: Func, inst: Inst, request: &Request) {
        let synthesis = &self.synthesis;
        let (module, large) = (&synthesis.module, synthesis.options.large_tape);
        for told in synthesis.warnings.of_request(module, request, large) {
            let known =
                |other: &Diagnostic| (other.code, &other.message) == (told.code, &told.message);
            if !self.warnings.iter().any(known) {
                self.warnings.push(*self.blame(told, func, inst));
            }
        }
    }

    fn circular(&self, func: Func, inst: Inst, asked: Func) -> Box<Diagnostic> {
        let function = &self.synthesis.module.funcs[func];
        Diagnostic::new(
            Code::OwnDerivative,
            format!(
                "`{}` asks for its own derivative",
                self.synthesis.module.funcs[asked].name
            ),
            "the derivative would have to contain itself",
            "ask for the derivative from outside of the function",
        )
        .at(&self.synthesis.module, function.inst(inst).loc)
        .in_function(&function.name)
    }

    fn replace(&mut self, func: Func, inst: Inst, request: &Request) -> Result<()> {
        let target = &self.synthesis.module.funcs[request.func];
        let loc = self.synthesis.module.funcs[func].inst(inst).loc;
        let has_rules = self
            .synthesis
            .module
            .rules_of(request.func)
            .next()
            .is_some();
        if target.is_declaration() && !has_rules {
            return Err(Diagnostic::new(
                Code::OnlyDeclared,
                format!("cannot differentiate `{}`", target.name),
                "it is only declared here, its body is not part of the program",
                "compile the file that defines it with zymase too and link both",
            ));
        }
        let primal = target.sig.clone();
        let touched = Globals::new(&self.synthesis.module, request.func).touched;
        let key = Key {
            nesting: self.synthesis.shadow_globals().nesting_above(&touched),
            ..Key::of_request(request)
        };
        let settling = |synthesis: &Synthesis| Key {
            settles: synthesis.settles(request.func),
            ..key.clone()
        };
        let pairs = self.synthesis.sweeps();
        simplify::stack_tapes::keep_on_heap(&mut self.synthesis.module, request.func, &pairs);
        let (derivative, sig) = match request.mode {
            Mode::Forward | Mode::Recording => (
                self.synthesis.forward(&key)?,
                key.forward_signature(&primal),
            ),
            Mode::Combined => (
                self.synthesis
                    .serve(request.func, |s| s.combined(&settling(s)))?,
                key.combined_signature(&primal),
            ),
            Mode::Augmented | Mode::Gradient | Mode::TapeSize => {
                let pair = self
                    .synthesis
                    .serve(request.func, |s| split::make(s, request))?;
                // A reverse sweep that keeps the tape is not the partner of the forward sweep.
                self.halves.extend([pair.augmented, pair.gradient]);
                if request.mode == Mode::Augmented {
                    self.zero_shadow_globals(func, inst, &[pair.augmented, pair.gradient]);
                }
                split::replace(&mut self.synthesis, func, inst, request, &pair);
                return Ok(());
            }
        };
        let seeds = match request.mode {
            Mode::Combined => key.seeds(&primal),
            _ => Vec::new(),
        };
        self.zero_shadow_globals(func, inst, &[derivative]);
        let function = &mut self.synthesis.module.funcs[func];
        let mut args = function.inst(inst).args.clone();
        for ty in seeds {
            if !ty.is_float_like() {
                return Err(no_seed(ty));
            }
            args.push(function.fconst(ty, 1.0));
        }
        let call = Call {
            callee: Callee::Direct(derivative),
            args: vec![ParamAttrs::default(); args.len()],
            sig,
            attrs: FnAttrs::default(),
            convention: 0,
        };
        *function.inst_mut(inst) = InstData {
            op: Op::Call(Box::new(call)),
            loc,
            ..InstData::new(Op::Unreachable, args)
        };
        Ok(())
    }
}

impl Worklist {
    /// A global variable has no derivative before the function that is differentiated runs:
    /// whatever an earlier derivative left in its shadow is gone.
    fn zero_shadow_globals(&mut self, func: Func, request: Inst, derivatives: &[Func]) {
        let module = &self.synthesis.module;
        let touched = derivatives.iter();
        let touched = touched.flat_map(|&func| Globals::new(module, func).touched);
        let touched: BTreeSet<_> = touched.collect();
        let shadows = self.synthesis.shadow_globals();
        let shadows = shadows.to_be_zeroed(&self.synthesis.module, &touched);
        let asking = &self.synthesis.module.funcs[func];
        let recording =
            matches!(&asking.inst(request).op, Op::Request(r) if r.mode == Mode::Recording);
        let blocks = asking.inst_blocks();
        let Some(block) = blocks[request].filter(|_| !shadows.is_empty()) else {
            return;
        };
        let module = &mut self.synthesis.module;
        let made = recording.then(|| record::made(module));
        let mut before = module.funcs[func].block_insts(block).to_vec();
        let at = before.iter().position(|&inst| inst == request);
        let after = before.split_off(at.unwrap_or(0));
        module.funcs[func].set_block_insts(block, before);
        for shadow in shadows {
            let size = module.globals[shadow].size;
            let mut builder = Builder::new(&mut module.funcs[func], block);
            let address = Constant::Address(Symbol::Global(shadow), 0);
            let address = builder.func.constant(Type::ptr(), address);
            let bytes = builder.func.iconst(Type::i64(), size.into());
            support::zero_bytes(&mut builder, address, bytes);
            // What was in a variable has no derivative, so it is none of what is compared.
            if let Some((made, sig)) = made.clone() {
                builder.call(made, sig, vec![address, bytes]);
            }
        }
        for inst in after {
            module.funcs[func].attach_inst(block, inst);
        }
    }
}

/// The seed of a number is 1. Several numbers have none, and zero would be a silent zero.
fn no_seed(ty: Type) -> Box<Diagnostic> {
    Diagnostic::new(
        Code::NoSeed,
        format!("a result of the type {ty} has no seed"),
        "reverse mode starts from the derivative of one number with respect to itself",
        "return the result through a pointer, and put the seeds in its shadow",
    )
}

/// Whether a function still asks for derivatives.
pub fn asks(function: &Function) -> bool {
    !requests_of(function).is_empty()
}

/// The requests of a function.
pub(crate) fn requests_of(function: &Function) -> Vec<(Inst, Request)> {
    let mut found = Vec::new();
    for &block in function.blocks() {
        for &inst in function.block_insts(block) {
            if let Op::Request(request) = &function.inst(inst).op {
                found.push((inst, (**request).clone()));
            }
        }
    }
    found
}

/// The names of the steps, for `--print-after`.
pub const STEPS: &[&str] = &["import", "differentiate"];
