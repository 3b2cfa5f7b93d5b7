//! The derivatives that have been made or are being made: one for each key.

use crate::analysis::effects::{Effects, callees, callers};
use crate::analysis::known;
use crate::analysis::types::Summaries;
use crate::blas;
use crate::chaos::Choice;
use crate::custom;
use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::forward;
use crate::ir::{
    Activity, AllocKind, Builder, Constant, CustomRule, FnFlags, Func, Function, Module, Op,
    Signature, Symbol, Type, Value, ValueDef,
};
use crate::pipeline::Options;
use crate::plan::PlanKind;
use crate::planted::Defect;
use crate::primal::Primal;
use crate::report::Report;
use crate::reverse::{self, Bodies, delayed, unpaired, versions};
use crate::shadow::globals::ShadowGlobals;
use crate::shadow::record;
use crate::support::Callable;
use crate::warnings::Warnings;
use cranelift_entity::{EntityRef, EntitySet};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A function of more instructions than this is large.
const LARGE_FUNCTION: usize = 3_000;
/// How many derivatives of one function may be begun while another one of it is being made.
const MOST_AGAIN: usize = 512;
/// So many of them count as one more turn of the recursion.
const CALLS_IN_A_TURN: usize = 8;

/// A module whose functions are being differentiated.
pub struct Synthesis {
    /// The module. Derivatives are added to it.
    pub module: Module,
    /// What the user chose.
    pub options: Options,
    /// Whether derivatives of derivatives are asked for.
    pub is_nested: bool,
    /// What was decided, for `explain`.
    pub reports: Vec<Report>,
    forwards: HashMap<Key, Func>,
    pairs: HashMap<Key, Pair>,
    combined: HashMap<Key, Func>,
    frame_sizes: HashMap<Key, Func>,
    /// The keys of these four, in the order they came. A key that was there before something is made
    /// on trial is not touched by that, so what comes later is all there is to forget.
    keys: Vec<(Kind, Key)>,
    /// What is known of [`Synthesis::array_check`].
    array_checks: HashMap<Key, Option<Callable>>,
    shadow_globals: ShadowGlobals,
    /// What is known of [`Synthesis::has_list`].
    lists: HashMap<(Func, bool), bool>,
    /// The functions of the program that need such a list, one set for each way to settle memory, as
    /// long as none of them changes; and how many functions there were.
    with_lists: HashMap<bool, (usize, EntitySet<Func>)>,
    /// The functions that are asked for and free memory of which nobody can tell who made it.
    unpaired: HashSet<Func>,
    /// Whether such memory was found since this was last set.
    pub found_unpaired: bool,
    /// The keys whose derivatives are being made, outermost first.
    open: Vec<Key>,
    /// How many derivatives of a function were begun while another one of it was being made, for
    /// what is being made now.
    again: HashMap<Func, usize>,
    /// The keys that have no derivative, and why: functions that a pointer may lead to are tried
    /// wherever it does.
    refused: HashMap<Key, Box<Diagnostic>>,
    /// What the functions of the program do with memory, as long as none of them changes.
    effects: Option<Rc<Effects>>,
    /// What they say about types, for as long.
    summaries: Summaries,
    /// The functions of derivatives, in the order they were begun.
    declared: Vec<Func>,
    /// How many calls through pointers lie between the request and what is being made.
    pub dispatches: usize,
    /// What is suspicious.
    pub warnings: Warnings,
}

/// What had been made at some time, see [`Synthesis::made`].
pub struct Made {
    reports: usize,
    open: usize,
    declared: usize,
    keys: usize,
}

/// What a key was found to stand for.
#[derive(Copy, Clone)]
enum Kind {
    Forward,
    Pair,
    Combined,
    FrameSize,
}

/// The two functions of a reverse-mode derivative in split form.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The forward sweep.
    pub augmented: Func,
    /// The reverse sweep.
    pub gradient: Func,
    /// The size of the frame they share; none while the pair is being made.
    pub frame_bytes: Option<u64>,
    /// Which parameters the reverse sweep uses; none while the pair is being made.
    pub used: Option<Vec<bool>>,
}

/// How a function is differentiated other than through its body.
enum Given {
    /// By a rule of the program.
    Rule(CustomRule),
    /// As a subprogram of linear algebra.
    Blas(blas::Routine),
}

impl Synthesis {
    /// Starts with no derivative made.
    pub fn new(module: Module, options: Options) -> Synthesis {
        Synthesis {
            warnings: Warnings::new(&module),
            is_nested: asks_for_nested(&module),
            module,
            options,
            reports: Vec::new(),
            forwards: HashMap::new(),
            pairs: HashMap::new(),
            combined: HashMap::new(),
            frame_sizes: HashMap::new(),
            keys: Vec::new(),
            array_checks: HashMap::new(),
            shadow_globals: ShadowGlobals::default(),
            lists: HashMap::new(),
            with_lists: HashMap::new(),
            unpaired: HashSet::new(),
            found_unpaired: false,
            open: Vec::new(),
            again: HashMap::new(),
            refused: HashMap::new(),
            effects: None,
            summaries: Summaries::default(),
            declared: Vec::new(),
            dispatches: 0,
        }
    }

    /// Forgets facts of a key that a recursive call would hand on from turn to turn.
    pub fn widen(&self, key: &mut Key) {
        let mut open = self.open.iter().rev().filter(|open| open.func == key.func);
        if let Some(innermost) = open.next() {
            // Recursion goes deep, or wide: several calls, each with facts of its own.
            let begun = self.again.get(&key.func).copied().unwrap_or(0);
            let turns = (1 + open.count()).max(begun / CALLS_IN_A_TURN);
            key.widen(innermost, turns);
        }
    }

    /// Notes that a derivative is being made. Of a recursive function there may be only so many:
    /// what cannot be forgotten (which arguments have shadows) may change with each call.
    fn begin(&mut self, key: &Key) -> Result<()> {
        if self.open.is_empty() {
            self.again.clear();
        }
        let inside = self.open.iter().any(|open| open.func == key.func);
        let again = self.again.entry(key.func).or_default();
        *again += usize::from(inside);
        if inside && *again > MOST_AGAIN {
            let name = &self.module.funcs[key.func].name;
            return Err(Diagnostic::new(
                Code::EndlessRecursion,
                format!("the recursion of `{name}` needs too many derivatives"),
                format!(
                    "its calls of itself differ in which arguments have derivatives, each needs a \
                     derivative of its own, and {MOST_AGAIN} were not enough"
                ),
                "pass what has a derivative and what has none in the same places in each call, \
                 or pass all pointers as enzyme_dup",
            )
            .in_function(name));
        }
        self.open.push(key.clone());
        Ok(())
    }

    /// Forgets what was known of functions: one of the program has changed, or derivatives are
    /// part of the program now.
    pub fn program_changed(&mut self) {
        self.effects = None;
        self.refused.clear();
        self.with_lists.clear();
        self.summaries = Summaries::default();
    }

    /// The function of a key, with everything the analyses know about it.
    fn primal(&mut self, key: &Key) -> Result<Primal> {
        let new = || Rc::new(Effects::new(&self.module));
        let effects = self.effects.get_or_insert_with(new).clone();
        let primal = Primal::new(
            &mut self.module,
            key.clone(),
            effects,
            &mut self.summaries,
            &self.options,
        )?;
        self.warnings.note_primal(&self.module, &primal);
        Ok(primal)
    }

    /// Tries to make a derivative of a function that a pointer may lead to, which may turn out not
    /// to be needed. If that fails, everything is
    /// as before, except that the functions that were begun stay in the module without a use.
    pub fn attempt<T>(&mut self, make: impl FnOnce(&mut Synthesis) -> Result<T>) -> Result<T> {
        self.dispatches += 1;
        let outcome = self.undoing(make);
        self.dispatches -= 1;
        outcome
    }

    /// Makes something; if that fails, all that was made on the way is forgotten.
    fn undoing<T>(&mut self, make: impl FnOnce(&mut Synthesis) -> Result<T>) -> Result<T> {
        let before = self.made();
        let outcome = make(self);
        if outcome.is_err() {
            self.go_back(before);
        }
        outcome
    }

    /// What has been made so far.
    pub fn made(&self) -> Made {
        Made {
            reports: self.reports.len(),
            open: self.open.len(),
            declared: self.declared.len(),
            keys: self.keys.len(),
        }
    }

    /// Forgets all that was made since; the functions stay in the module without a use.
    pub fn go_back(&mut self, before: Made) {
        self.reports.truncate(before.reports);
        self.open.truncate(before.open);
        for (kind, key) in self.keys.drain(before.keys..) {
            match kind {
                Kind::Forward => _ = self.forwards.remove(&key),
                Kind::Pair => _ = self.pairs.remove(&key),
                Kind::Combined => _ = self.combined.remove(&key),
                Kind::FrameSize => _ = self.frame_sizes.remove(&key),
            }
        }
        for func in self.declared.split_off(before.declared) {
            let sig = self.module.funcs[func].sig.clone();
            let mut function = Function::with_entry("", sig);
            function.local = true;
            let entry = function.entry();
            Builder::new(&mut function, entry).effect(Op::Unreachable, Vec::new());
            self.define(func, function);
        }
    }

    fn name(&self, key: &Key, suffix: &str) -> String {
        let base = format!("{}.{suffix}", self.module.funcs[key.func].name);
        self.module.fresh_name(&base)
    }

    fn declare(&mut self, name: String, sig: Signature) -> Func {
        let mut function = Function::new(name, sig);
        function.local = true;
        let func = self.module.funcs.push(function);
        self.declared.push(func);
        func
    }

    fn define(&mut self, func: Func, mut function: Function) {
        function.name = self.module.funcs[func].name.clone();
        self.module.funcs[func] = function;
    }

    /// Defines a derivative that other derivatives call. Who asks that a function is not inlined asks
    /// it for its derivatives: they have one caller more often than not, and the optimizer would put
    /// all of a program into one function, which takes it time that grows with the square. So does
    /// that of a large function.
    fn define_part(&mut self, key: &Key, func: Func, mut function: Function) {
        let asked = self.module.funcs[key.func].attrs.flags;
        function.attrs.flags |= asked & FnFlags::NOINLINE;
        if self.is_large(key) {
            function.attrs.flags |= FnFlags::NOINLINE;
        }
        self.define(func, function);
    }

    /// How a function is differentiated other than through its body.
    fn given(&self, key: &Key) -> Result<Option<Given>> {
        let function = &self.module.funcs[key.func];
        if let Some(routine) = blas::routine(function)
            && self.module.rules_of(key.func).next().is_none()
        {
            blas::check(function, key)?;
            return Ok(Some(Given::Blas(routine)));
        }
        Ok(custom::rule_for(&self.module, key)?.map(Given::Rule))
    }

    /// Both sweeps of a function that is differentiated other than through its body.
    fn given_pair(&mut self, key: &Key) -> Result<Option<Bodies>> {
        Ok(match self.given(key)? {
            Some(Given::Rule(rule)) => Some(custom::reverse(self, key, &rule)?),
            Some(Given::Blas(routine)) => Some(blas::reverse(&mut self.module, key, routine)),
            None => None,
        })
    }

    /// A function that takes what the derivative of a subprogram of linear algebra takes, then a
    /// message, and checks the arrays of derivatives among that, if the user asks for it.
    pub fn array_check(&mut self, key: &Key) -> Result<Option<Callable>> {
        if !self.options.check_finite {
            return Ok(None);
        }
        if let Some(known) = self.array_checks.get(key) {
            return Ok(known.clone());
        }
        let check = match self.given(key)? {
            Some(Given::Blas(routine)) => Some(blas::finite(&mut self.module, key, routine)),
            _ => None,
        };
        self.array_checks.insert(key.clone(), check.clone());
        Ok(check)
    }

    /// Makes a derivative of a key, unless that was tried before and cannot be.
    fn once<T>(&mut self, key: &Key, make: impl FnOnce(&mut Synthesis) -> Result<T>) -> Result<T> {
        if let Some(refusal) = self.refused.get(key) {
            return Err(refusal.clone());
        }
        let outcome = make(self);
        // If it is not known who made memory, the request is served in another way.
        if let Err(refusal) = &outcome
            && !self.found_unpaired
        {
            self.refused.insert(key.clone(), refusal.clone());
        }
        outcome
    }

    /// The forward derivative of a key.
    pub fn forward(&mut self, key: &Key) -> Result<Func> {
        match self.forwards.get(key) {
            Some(&func) => Ok(func),
            None => self.once(key, |synthesis| synthesis.make_forward(key)),
        }
    }

    fn make_forward(&mut self, key: &Key) -> Result<Func> {
        let name = self.name(key, "forward");
        let sig = key.forward_signature(&self.module.funcs[key.func].sig);
        let func = self.declare(name.clone(), sig);
        self.forwards.insert(key.clone(), func);
        self.keys.push((Kind::Forward, key.clone()));
        self.begin(key)?;
        let function = match self.given(key)? {
            Some(Given::Rule(rule)) if key.recording => self.record_rule(key, &rule, name)?,
            Some(Given::Rule(rule)) => custom::forward(self, key, &rule)?,
            Some(Given::Blas(routine)) => blas::forward(&mut self.module, key, routine),
            None => {
                let primal = self.primal(key)?;
                let function = forward::synthesize(self, &primal, name)?;
                self.reports.push(Report::forward(&self.module, &primal));
                function
            }
        };
        self.open.pop();
        self.define_part(key, func, function);
        Ok(func)
    }

    /// A recording derivative of a function with a rule: through its body where it can be, because a
    /// rule does not tell what it touches, and because a rule is to be checked against something
    /// else.
    fn record_rule(&mut self, key: &Key, rule: &CustomRule, name: String) -> Result<Function> {
        let through_body = match self.module.funcs[key.func].is_declaration() {
            true => None,
            false => self
                .undoing(|synthesis| {
                    let primal = synthesis.primal(key)?;
                    forward::synthesize(synthesis, &primal, name)
                })
                .ok(),
        };
        if let Some(function) = through_body {
            return Ok(function);
        }
        let mut function = custom::forward(self, key, rule)?;
        let params = &self.module.funcs[key.func].sig.params;
        let memory = |(ty, activity): (&Type, &Activity)| {
            ty.scalar().is_ptr() && *activity != Activity::Const
        };
        if params.iter().zip(&key.args).any(memory) {
            let entry = function.entry();
            let rest = function.block_insts(entry).to_vec();
            function.set_block_insts(entry, Vec::new());
            let about = self.module.funcs[key.func].name.clone();
            let mut builder = Builder::new(&mut function, entry);
            record::note_unseen(&mut self.module, &mut builder, &about);
            for inst in rest {
                function.attach_inst(entry, inst);
            }
        }
        Ok(function)
    }

    /// The forward and the reverse sweep of every derivative in split form.
    pub fn sweeps(&self) -> Vec<(Func, Func)> {
        let pairs = self.pairs.values();
        pairs.map(|pair| (pair.augmented, pair.gradient)).collect()
    }

    /// The reverse-mode derivative of a key in split form.
    pub fn pair(&mut self, key: &Key) -> Result<Pair> {
        match self.pairs.get(key) {
            Some(pair) => Ok(pair.clone()),
            None => self.once(key, |synthesis| synthesis.make_pair(key)),
        }
    }

    fn make_pair(&mut self, key: &Key) -> Result<Pair> {
        let sig = self.module.funcs[key.func].sig.clone();
        let name = self.name(key, "augmented");
        let augmented = self.declare(name, key.augmented_signature(&sig));
        let name = self.name(key, "reverse");
        let gradient = self.declare(name, key.gradient_signature(&sig));
        let mut pair = Pair {
            augmented,
            gradient,
            frame_bytes: None,
            used: None,
        };
        self.pairs.insert(key.clone(), pair.clone());
        self.keys.push((Kind::Pair, key.clone()));
        self.begin(key)?;
        let bodies = match self.given_pair(key)? {
            Some(bodies) => bodies,
            None => {
                let primal = self.primal(key)?;
                reverse::synthesize(self, &primal)?
            }
        };
        self.open.pop();
        self.reports.extend(bodies.report.map(|report| Report {
            sweep: Some(augmented),
            ..report
        }));
        let uses = bodies.gradient.use_counts();
        let params = bodies.gradient.arguments().iter();
        pair.used = Some(params.map(|&param| uses[param] > 0).collect());
        self.define_part(key, augmented, bodies.augmented);
        self.define_part(key, gradient, bodies.gradient);
        pair.frame_bytes = Some(bodies.frame_bytes);
        self.pairs.insert(key.clone(), pair.clone());
        if let Some(&size) = self.frame_sizes.get(key) {
            self.define_frame_size(size, bodies.frame_bytes);
        }
        Ok(pair)
    }

    fn define_frame_size(&mut self, size: Func, bytes: u64) {
        let mut function = Function::with_entry("", Signature::new(vec![], Type::i64()));
        function.local = true;
        let entry = function.entry();
        let bytes = function.iconst(Type::i64(), bytes.max(1).into());
        Builder::new(&mut function, entry).ret(Some(bytes));
        self.define(size, function);
    }

    /// The reverse-mode derivative of a key in one function.
    pub fn combined(&mut self, key: &Key) -> Result<Func> {
        if let Some(&func) = self.combined.get(key) {
            return Ok(func);
        }
        let sig = self.module.funcs[key.func].sig.clone();
        let name = self.name(key, "gradient");
        let func = self.declare(name.clone(), key.combined_signature(&sig));
        self.combined.insert(key.clone(), func);
        self.keys.push((Kind::Combined, key.clone()));
        if let Some(bodies) = self.given_pair(key)? {
            let function = reverse::combine(&bodies, key, &sig, name, Vec::new());
            self.define(func, function);
            return Ok(func);
        }
        if self.flips(Choice::Split, key) {
            let function = self.combined_from_calls(key, &sig, name)?;
            self.define(func, function);
            return Ok(func);
        }
        let primal = self.primal(key)?;
        let disjoint = Key {
            disjoint: true,
            ..key.clone()
        };
        // Memory that does not overlap may leave nests as they are that must be expanded otherwise,
        // so it is the reads of that version that count.
        let versions = self.options.plan == PlanKind::MinCut && !key.disjoint;
        let versions = versions && !self.flips(Choice::OneVersion, key);
        let nests = versions && has_nests(&self.module.funcs[key.func]);
        let without_overlap = nests.then(|| self.primal(&disjoint)).transpose()?;
        let judged = without_overlap.as_ref().unwrap_or(&primal);
        let conditions = match versions {
            true => versions::conditions(judged),
            false => Vec::new(),
        };
        let told = self.reports.len();
        let function = match self.is_large(key) {
            true => self.combined_from_calls(key, &sig, name)?,
            false => {
                let mut bodies = reverse::synthesize(self, &primal)?;
                self.reports.extend(bodies.report.take());
                self.combine(&bodies, key, &sig, name)
            }
        };
        if let Some(report) = self.reports[told..].last_mut()
            && !conditions.is_empty()
        {
            report.add_checks(&self.module, judged, &conditions);
        }
        if conditions.is_empty() {
            self.define(func, function);
            return Ok(func);
        }
        if self.options.breaks(Defect::OverlapUnchecked) {
            let disjoint = self.combined(&disjoint)?;
            let function = forwarding(disjoint, key.combined_signature(&sig));
            self.define(func, function);
            return Ok(func);
        }
        let any = self.name(key, "gradient.overlapping");
        let any = self.declare(any, function.sig.clone());
        self.define(any, function);
        let disjoint = self.combined(&disjoint)?;
        let sig = key.combined_signature(&sig);
        let function = versions::dispatch(&primal, &conditions, &sig, disjoint, any);
        self.define(func, function);
        Ok(func)
    }

    /// Puts both sweeps into one function, which ends what they have begun.
    fn combine(&mut self, bodies: &Bodies, key: &Key, sig: &Signature, name: String) -> Function {
        let release = bodies.delays.then(|| delayed::release(&mut self.module));
        let forget = key.settles.then(|| unpaired::forget(&mut self.module));
        let release = forget.into_iter().chain(release).collect();
        reverse::combine(bodies, key, sig, name, release)
    }

    /// The combined form of a derivative, in which both sweeps stay functions of their own.
    fn combined_from_calls(
        &mut self,
        key: &Key,
        sig: &Signature,
        name: String,
    ) -> Result<Function> {
        let split = Key {
            combined: false,
            ..key.clone()
        };
        let pair = self.pair(&split)?;
        let bodies = Bodies {
            augmented: forwarding(pair.augmented, split.augmented_signature(sig)),
            gradient: forwarding(pair.gradient, split.gradient_signature(sig)),
            frame_bytes: pair.frame_bytes.unwrap_or(0),
            delays: self.has_list(key),
            report: None,
        };
        Ok(self.combine(&bodies, key, sig, name))
    }

    /// Whether a function is so large that its two sweeps stay apart. In one function, what the
    /// first keeps for the second would be thousands of values that live through most of it, in
    /// registers as far as the optimizer can see: the time that it takes with them grows with the
    /// square, and they end up in memory all the same, which is where the frame is.
    fn is_large(&self, key: &Key) -> bool {
        let function = &self.module.funcs[key.func];
        let sizes = function
            .blocks()
            .iter()
            .map(|&b| function.block_insts(b).len());
        sizes.sum::<usize>() > LARGE_FUNCTION
    }

    /// Whether to choose otherwise than for speed for a derivative.
    fn flips(&self, choice: Choice, key: &Key) -> bool {
        let name = &self.module.funcs[key.func].name;
        self.options.flips(choice, name)
    }

    /// A function that gives the size of the frame of a derivative, for calls that allocate it on the
    /// heap: it may still be being made, if the call is recursive.
    pub fn frame_size(&mut self, key: &Key) -> Callable {
        let sig = Signature::new(Vec::new(), Type::i64());
        if let Some(&func) = self.frame_sizes.get(key) {
            return (func, sig);
        }
        let name = self.name(key, "frame_size");
        let func = self.declare(name, sig.clone());
        self.frame_sizes.insert(key.clone(), func);
        self.keys.push((Kind::FrameSize, key.clone()));
        if let Some(bytes) = self.pairs.get(key).and_then(|pair| pair.frame_bytes) {
            self.define_frame_size(func, bytes);
        }
        (func, sig)
    }

    /// Whether the frame of a derivative begins with the address of a list of delayed frees: the
    /// function, or one that it calls, frees memory, or makes some that others may free.
    pub fn has_list(&mut self, key: &Key) -> bool {
        let question = (key.func, key.settles);
        if let Some(&known) = self.lists.get(&question) {
            return known;
        }
        let module = &self.module;
        let find = || {
            let found = callers(module, |function| {
                let info = known::allocation(function);
                info.is_some_and(|info| key.settles || info.kind == AllocKind::Free)
            });
            (module.funcs.len(), found)
        };
        let (size, with_list) = self.with_lists.entry(key.settles).or_insert_with(find);
        if key.func.index() >= *size {
            // It was made since.
            (*size, *with_list) = find();
        }
        let has = with_list.contains(key.func);
        self.lists.insert(question, has);
        has
    }

    /// Makes a derivative that a request for this function asks for; in another way if memory is
    /// freed where nobody can tell who made it.
    pub fn serve<T>(
        &mut self,
        func: Func,
        make: impl Fn(&mut Synthesis) -> Result<T>,
    ) -> Result<T> {
        if self.settles(func) {
            return make(self);
        }
        self.found_unpaired = false;
        let outcome = self.undoing(|synthesis| match make(synthesis) {
            Ok(_) if synthesis.found_unpaired => Err(Diagnostic::defect("", "")),
            outcome => outcome,
        });
        if !self.found_unpaired {
            return outcome;
        }
        self.unpaired.insert(func);
        make(self)
    }

    /// Whether derivatives of a function that is asked for have to find out who made memory.
    pub fn settles(&self, func: Func) -> bool {
        self.unpaired.contains(&func)
    }

    /// The shadow of a value that has none of its own, in one of the derivatives that are made at
    /// once: zero, for a pointer itself, for the address of a global variable that of its shadow.
    pub fn default_shadow(
        &mut self,
        func: &mut Function,
        value: Value,
        key: &Key,
        k: usize,
    ) -> Value {
        let ty = func.ty(value);
        if !ty.scalar().is_ptr() {
            return func.zero(ty);
        }
        if let ValueDef::Const(Constant::Address(Symbol::Global(global), offset)) = func.def(value)
        {
            let (global, offset) = (*global, *offset);
            let data = &self.module.globals[global];
            let own = key.runtime_activity && (data.inactive || data.init.is_none());
            if own || self.options.breaks(Defect::GlobalIsItsShadow) {
                return value;
            }
            let instance = (key.nesting, k);
            let shadow = self
                .shadow_globals
                .shadow(&mut self.module, global, instance);
            return func.constant(ty, Constant::Address(Symbol::Global(shadow), offset));
        }
        value
    }

    /// The shadows of global variables.
    pub fn shadow_globals(&self) -> &ShadowGlobals {
        &self.shadow_globals
    }
}

/// Whether a function whose derivative is asked for asks for one itself, or calls one that does.
fn asks_for_nested(module: &Module) -> bool {
    let requests = module
        .funcs
        .keys()
        .map(|func| (func, requests_of(module, func)));
    let requests: HashMap<Func, Vec<Func>> =
        requests.filter(|(_, asked)| !asked.is_empty()).collect();
    let asked: HashSet<Func> = requests.values().flatten().copied().collect();
    let reaches = |func: &Func| {
        callees(module, *func)
            .iter()
            .any(|f| requests.contains_key(f))
    };
    asked.iter().any(reaches)
}

/// The functions that a function asks for derivatives of.
fn requests_of(module: &Module, func: Func) -> Vec<Func> {
    let function = &module.funcs[func];
    let blocks = function.blocks().iter();
    let insts = blocks.flat_map(|&block| function.block_insts(block));
    let asked = insts.filter_map(|&inst| match &function.inst(inst).op {
        Op::Request(request) => Some(request.func),
        _ => None,
    });
    asked.collect()
}

/// A function that calls another with its arguments.
fn forwarding(func: Func, sig: Signature) -> Function {
    let mut function = Function::with_entry("", sig.clone());
    let (entry, args) = (function.entry(), function.arguments().to_vec());
    let mut builder = Builder::new(&mut function, entry);
    let result = builder.call(func, sig, args);
    builder.ret(result);
    function
}

fn has_nests(function: &Function) -> bool {
    let blocks = function.blocks().iter();
    let mut insts = blocks.flat_map(|&block| function.block_insts(block));
    insts.any(|&inst| matches!(function.inst(inst).op, Op::Nest(_)))
}
