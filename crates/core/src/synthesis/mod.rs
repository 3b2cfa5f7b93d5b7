//! The derivatives that have been made or are being made: one for each key.

mod combined;
mod trial;

use crate::analysis::Callees;
use crate::analysis::activity::formatting;
use crate::analysis::effects::{Effects, callees, callers};
use crate::analysis::known;
use crate::blas;
use crate::custom;
use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::forward;
use crate::ir::{
    Activity, AllocKind, Builder, Constant, CustomRule, FnFlags, Func, Function, Inst, Module, Op,
    Signature, Symbol, Type, Value, ValueDef,
};
use crate::pipeline::Options;
use crate::plan::Reloads;
use crate::planted::Defect;
use crate::primal::Primal;
use crate::report::Report;
use crate::reverse::{self, Bodies};
use crate::shadow::globals::ShadowGlobals;
use crate::shadow::record;
use crate::support::Callable;
use crate::warnings::Warnings;
use cranelift_entity::{EntityRef, EntitySet};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use trial::Kind;

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
    /// What is known of [`Synthesis::added`].
    added: HashMap<Key, Option<Vec<bool>>>,
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
    /// What they tell their callers, for as long.
    callees: Callees,
    /// A function that formatting runs and that changes numbers, if there is one, once it is known.
    changed_by_formatting: Option<Option<Func>>,
    /// The functions of derivatives, in the order they were begun.
    declared: Vec<Func>,
    /// The calls, by the key of their derivative, that must not run in both sweeps, because they might
    /// decide otherwise the second time.
    pub not_replayed: HashSet<(Key, Inst)>,
    /// How many calls through pointers lie between the request and what is being made.
    pub dispatches: usize,
    /// What is suspicious.
    pub warnings: Warnings,
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
    /// The memory of the program that the reverse sweep reads; none while the pair is being made.
    pub reloads: Option<Reloads>,
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
            added: HashMap::new(),
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
            callees: Callees::default(),
            changed_by_formatting: None,
            declared: Vec::new(),
            not_replayed: HashSet::new(),
            dispatches: 0,
        }
    }

    /// Forgets what was known of functions: one of the program has changed, or derivatives are
    /// part of the program now.
    pub fn program_changed(&mut self) {
        self.effects = None;
        self.refused.clear();
        self.added.clear();
        self.not_replayed.clear();
        self.with_lists.clear();
        self.callees = Callees::default();
        self.changed_by_formatting = None;
    }

    /// The function of a key, with everything the analyses know about it.
    fn primal(&mut self, key: &Key) -> Result<Primal> {
        let new = || Rc::new(Effects::new(&self.module));
        let effects = self.effects.get_or_insert_with(new).clone();
        let primal = Primal::new(
            &mut self.module,
            key.clone(),
            effects,
            &mut self.callees,
            &self.options,
        )?;
        self.check_formatting(&primal)?;
        self.warnings.note_primal(&self.module, &primal);
        Ok(primal)
    }

    /// What formatting runs must not change numbers: no derivative flows through it.
    fn check_formatting(&mut self, primal: &Primal) -> Result<()> {
        let function = &primal.function;
        let blocks = function.blocks().iter();
        let mut insts = blocks.flat_map(|&block| function.block_insts(block));
        let formats = |&&inst: &&Inst| formatting::may_format(&self.module, function.inst(inst));
        let Some(&inst) = insts.find(formats) else {
            return Ok(());
        };
        let (module, callees) = (&self.module, &mut self.callees);
        let find = || formatting::changes_numbers(module, &primal.effects, callees);
        let Some(changing) = *self.changed_by_formatting.get_or_insert_with(find) else {
            return Ok(());
        };
        let changing = &module.funcs[changing].name;
        Err(Diagnostic::new(
            Code::FormattingChanges,
            "cannot tell what formatting does to numbers in memory",
            format!(
                "what is formatted here may run `{changing}`, which writes numbers to memory that \
                 is not its own, and no derivative flows through formatting"
            ),
            "change numbers outside of implementations of `Display`, `Debug` and their like, or \
             format after the derivative",
        )
        .at(module, function.inst(inst).loc)
        .in_function(&function.name))
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
            reloads: None,
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
        pair.reloads = Some(bodies.reloads);
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
            let shadow =
                self.shadow_globals
                    .shadow(&mut self.module, global, instance, key.reverse);
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
