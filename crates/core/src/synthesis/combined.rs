//! Reverse-mode derivatives in one function: both sweeps one after the other, and where memory may
//! overlap that hardly ever does, a version for each case.

use super::Synthesis;
use super::trial::Kind;
use crate::chaos::Choice;
use crate::derivative::Key;
use crate::diagnostic::Result;
use crate::ir::{Builder, FnFlags, Func, Function, Op, Signature};
use crate::plan::PlanKind;
use crate::plan::Reloads;
use crate::planted::Defect;
use crate::primal::Primal;
use crate::report::Report;
use crate::reverse::{self, Bodies, Touched, delayed, replay, unpaired, versions};

/// A function of more instructions than this is large.
const LARGE_FUNCTION: usize = 3_000;

impl Synthesis {
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
        let mut primal = self.primal(key)?;
        if !self.is_large(key)
            && let Some(before) = replay::outline_where_it_pays(self, &primal)?
        {
            primal = self.primal_with_iterations(key, before)?;
        }
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
                self.reports
                    .extend(bodies.report.take().map(|report| Report {
                        sweep: key.replayed.then_some(func),
                        ..report
                    }));
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
        self.module.funcs[any].attrs.flags |= FnFlags::RARE;
        let disjoint = self.combined(&disjoint)?;
        let sig = key.combined_signature(&sig);
        let function =
            versions::dispatch(&mut self.module, &primal, &conditions, &sig, disjoint, any);
        self.define(func, function);
        Ok(func)
    }

    /// For each argument of a key, whether its reverse adds to the shadow of memory behind it, if that
    /// is all that it does to shadow memory of its caller.
    pub fn added(&mut self, key: &Key) -> Option<Vec<bool>> {
        if let Some(known) = self.added.get(key) {
            return known.clone();
        }
        // A rule of the program may do what it likes. What is refused is told by who asks for it.
        let through_body = matches!(self.given(key), Ok(None));
        let primal = through_body.then(|| self.primal(key).ok()).flatten();
        let added = primal.and_then(|primal| {
            let touched = Touched::by(&self.module, &primal);
            let more = touched.other || touched.takes();
            (!more).then_some(touched.added)
        });
        self.added.insert(key.clone(), added.clone());
        added
    }

    /// The reverse-mode derivative of a callee in one function, if there is one: otherwise there may
    /// still be one in two.
    pub fn combined_part(&mut self, key: &Key) -> Option<Func> {
        if let Some(&func) = self.combined.get(key) {
            return Some(func);
        }
        let made = self.undoing(|synthesis| {
            synthesis.once(key, |synthesis| {
                synthesis.begin(key)?;
                let func = synthesis.combined(key)?;
                synthesis.open.pop();
                Ok(func)
            })
        });
        made.ok()
    }

    /// The function of a key after its iterations have become functions. What is known of types in one
    /// function may not be known in two: if that is missed, the function is what it was before.
    fn primal_with_iterations(&mut self, key: &Key, before: Function) -> Result<Primal> {
        let primal = self.undoing(|synthesis| {
            let primal = synthesis.primal(key)?;
            reverse::planned(synthesis, &primal)?;
            Ok(primal)
        });
        primal.or_else(|_| {
            self.define(key.func, before);
            self.program_changed();
            self.primal(key)
        })
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
            reloads: Reloads::All,
            report: None,
        };
        Ok(self.combine(&bodies, key, sig, name))
    }

    /// Whether a function is so large that its two sweeps stay apart. In one function, what the
    /// first keeps for the second would be thousands of values that live through most of it, in
    /// registers as far as the optimizer can see: the time that it takes with them grows with the
    /// square, and they end up in memory all the same, which is where the frame is.
    pub(super) fn is_large(&self, key: &Key) -> bool {
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
