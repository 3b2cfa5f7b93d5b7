//! A function that is being differentiated, with everything the analyses know about it.

use crate::analysis::Callees;
use crate::analysis::activity::Activity;
use crate::analysis::activity::keepable::Keepable;
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::analysis::effects::Effects;
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::overwrite::{Because, Overwrite, Overwritten, Window};
use crate::analysis::relocation::relocations;
use crate::analysis::trip_count::{TripCount, trip_counts};
use crate::analysis::types::{Kinds, LONGEST_COPY, Piece, Shape, Types, factor};
use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{
    BinaryOp, Block, FloatKind, Function, Inst, InstData, Loc, Module, Op, Region, SourcePart,
    SourceTypeData, Value,
};
use crate::pipeline::Options;
use crate::planted::Defect;
use crate::raise::describe::describe;
use crate::reverse::obstacles::{self, Obstacle};
use crate::simplify::canonical_loops::{self, Canonical, NotCanonical};
use crate::simplify::dispatch_calls::{self, Dispatched};
use crate::simplify::raise_moves::{self, Moves};
use crate::simplify::read_back::{self, Stored};
use crate::simplify::{
    choose_undefined, copy_operands, expand_nests, hoist_loads, recognize_absolute_values,
    split_loads,
};
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// How many bytes of memory are looked at for a pointer.
pub const LOOKED_AT: i64 = 64;

/// A function in canonical form and its analyses.
pub struct Primal {
    /// What is asked for.
    pub key: Key,
    /// The function.
    pub function: Function,
    /// Its loop counters and exit blocks.
    pub canonical: Canonical,
    /// Its control-flow graph.
    pub cfg: Cfg,
    /// Its dominators.
    pub dominators: Dominators,
    /// Its loops.
    pub loops: Loops,
    /// Its blocks in reverse postorder.
    pub order: Vec<Block>,
    /// What is at each byte.
    pub types: Types,
    /// How often its loops run.
    pub trip_counts: SecondaryMap<Loop, TripCount>,
    /// What it reads that is still there when the reverse sweep runs.
    pub overwrite: Overwrite,
    /// Values that the function stores, and loads behind these stores.
    pub stored: Rc<Vec<Stored>>,
    /// The memory whose frees could wait for the reverse sweep.
    pub keepable: Keepable,
    /// What calls do with memory.
    pub effects: Rc<Effects>,
    /// What derivatives flow through.
    pub activity: Activity,
    /// The direct calls that calls through pointers have become.
    pub dispatched: HashMap<Inst, Dispatched>,
    /// The nests that have become loops.
    pub expanded: Vec<Expanded>,
    /// The nests that read copies of what is overwritten before their reverse runs.
    pub copied: HashMap<Inst, Loss>,
    /// A mistake to make, for tests of tests.
    planted: Option<Defect>,
}

/// A nest that has become loops, for want of a derivative as a nest.
pub struct Expanded {
    /// What it computed.
    pub shape: String,
    /// How many loops it had.
    pub loops: usize,
    /// Where it was.
    pub loc: Option<Loc>,
    /// What stood in the way.
    pub loss: Loss,
}

/// What stands in the way of a derivative of nests.
#[derive(Clone)]
pub struct Loss {
    /// What it is.
    pub obstacle: Obstacle,
    /// Where it is.
    pub by: Option<Loc>,
}

impl Primal {
    /// Brings the function of a key into canonical form and analyses it. Nests that have no
    /// derivative as nests are expanded to loops, which have; those whose inputs are overwritten too,
    /// unless they are products of matrices, which get copies of these. Loops that move memory of
    /// which only the whole has a type become copies. Loads through a choice of pointers, of which
    /// one may have a shadow and the other none, become a choice of loads.
    pub fn new(
        module: &mut Module,
        key: Key,
        effects: Rc<Effects>,
        callees: &mut Callees,
        options: &Options,
    ) -> Result<Primal> {
        let mut function = module.funcs[key.func].clone();
        // What is intact when a sweep of its own runs, callers say of what the function reads, not of
        // what it writes.
        let stored = match key.reverse && key.combined {
            true => Rc::new(read_back::run(&mut function)),
            false => Rc::default(),
        };
        let mut effects = effects;
        let mut may_split = true;
        let mut expanded = Vec::new();
        let mut copied = HashMap::new();
        loop {
            let primal = match Primal::analysed(
                module,
                function.clone(),
                key.clone(),
                effects.clone(),
                callees,
                options,
            ) {
                Err(refusal)
                    if refusal.code == Code::MaybeActive
                        && std::mem::take(&mut may_split)
                        && split_loads::run(&mut function) =>
                {
                    continue;
                }
                analysed => analysed?,
            };
            let loops = primal.loops_to_raise(module, &function);
            if !loops.is_empty() {
                raise_moves::run(module, &mut function, &loops);
                effects = Rc::new(effects.extended(module));
                continue;
            }
            if hoist_loads::run(&mut function, &primal.steady_loads()) {
                continue;
            }
            let chosen = obstacles::to_change(&primal, options);
            let Some(&(first, _)) = chosen.first() else {
                return Ok(Primal {
                    expanded,
                    copied,
                    stored,
                    ..primal
                });
            };
            let mut has_changed = false;
            let mut loops = HashSet::new();
            for nest in &chosen {
                let inst = nest.0;
                // What reads copies already and still lacks something is helped by no other ones.
                let lost =
                    obstacles::to_copy(&primal, nest).filter(|_| !copied.contains_key(&inst));
                let new = lost
                    .and_then(|inputs| copy_operands::run(module, &mut function, inst, &inputs));
                match new {
                    Some(new) => {
                        has_changed = true;
                        copied.insert(new, primal.loss(nest.1));
                    }
                    None => {
                        loops.insert(inst);
                        expanded.extend(primal.expanded(nest));
                    }
                }
            }
            if has_changed {
                effects = Rc::new(effects.extended(module));
            }
            has_changed |= expand_nests::expand(&mut function, |inst, _| loops.contains(&inst));
            if !has_changed {
                return Err(primal.refuse(module, first, "a copy of a loop nest"));
            }
        }
    }

    /// What there is to say of a nest that becomes loops.
    fn expanded(&self, &(inst, obstacle): &(Inst, Obstacle)) -> Option<Expanded> {
        let data = self.function.inst(inst);
        let Op::Nest(nest) = &data.op else {
            return None;
        };
        Some(Expanded {
            shape: describe(&self.function, nest, data),
            loops: nest.depth,
            loc: data.loc,
            loss: self.loss(obstacle),
        })
    }

    fn loss(&self, obstacle: Obstacle) -> Loss {
        Loss {
            obstacle,
            by: obstacle.by.and_then(|by| self.function.inst(by).loc),
        }
    }

    /// The loops that move active memory in pieces of which nobody knows the type. Among them may be
    /// addresses, whose shadows must move along in either mode.
    fn loops_to_raise(&self, module: &Module, function: &Function) -> Vec<Moves> {
        let mut loops = raise_moves::find(function);
        loops.retain(|moves| {
            moves.stores.iter().any(|&store| {
                let [value, pointer] = self.function.inst(store).args[..] else {
                    return false;
                };
                let pieces = self.types.pieces(module, &self.function, value);
                let unclear =
                    |(_, piece): &(i64, Piece)| matches!(piece, Piece::Unknown | Piece::Conflict);
                let floats = (self.key.reverse || self.key.recording) && self.is_active(value);
                let addresses = self.has_shadow(value)
                    || self.has_shadow(pointer) && !self.types.shape(pointer).holds_no_address();
                (floats || addresses) && pieces.iter().any(unclear)
            })
        });
        loops
    }

    /// Active loads that are executed in every iteration of a loop and always find the same, with their
    /// blocks and those that lead to their loops.
    fn steady_loads(&self) -> Vec<(Inst, Block, Block)> {
        let mut found = Vec::new();
        if !self.key.reverse {
            return found;
        }
        for &block in &self.order {
            let Some(l) = self.loops.innermost(block) else {
                continue;
            };
            let exits = self.loops.exits(l).iter().map(|exit| exit.from);
            let mut ends = exits.chain(self.loops.latches(l).iter().copied());
            let always = ends.all(|end| self.dominators.dominates(block, end));
            // What is called before may end the program, and then the memory need not be there.
            let calls = |block: Block| {
                let mut insts = self.function.block_insts(block).iter();
                insts.any(|&inst| self.function.inst(inst).op.call().is_some())
            };
            let before = |&&b: &&Block| b != block && self.dominators.dominates(b, block);
            let called = self
                .loops
                .blocks(l)
                .iter()
                .filter(before)
                .any(|&b| calls(b));
            let preheader = self.loops.preheader(l).filter(|_| always && !called);
            let Some(preheader) = preheader else {
                continue;
            };
            for &inst in self.function.block_insts(block) {
                let data = self.function.inst(inst);
                if data.op.call().is_some() {
                    break;
                }
                let result = self.function.result(inst);
                if matches!(data.op, Op::Load(_))
                    && result.is_some_and(|result| self.is_active(result))
                    && self.overwrite.is_steady(inst, self.key.disjoint)
                {
                    found.push((inst, block, preheader));
                }
            }
        }
        found
    }

    fn analysed(
        module: &mut Module,
        mut function: Function,
        key: Key,
        effects: Rc<Effects>,
        callees: &mut Callees,
        options: &Options,
    ) -> Result<Primal> {
        choose_undefined::run(&mut function);
        recognize_absolute_values::run(&mut function);
        let dispatched =
            dispatch_calls::run(module, &mut function, &key, &effects, callees, options);
        let alternatives = dispatch_calls::alternatives(&dispatched);
        claim_memory(&mut function);
        let module: &Module = module;
        // Dispatching may have declared functions that nothing was known of.
        let effects = match dispatched.is_empty() {
            true => effects,
            false => Rc::new(effects.extended(module)),
        };
        let canonical = canonical_loops::run(&mut function).map_err(|cycle| {
            let first = function.block_insts(cycle.block()).first();
            let loc = first.and_then(|&inst| function.inst(inst).loc);
            let (code, reason, help) = match cycle {
                NotCanonical::Irreducible(_) => (
                    Code::Irreducible,
                    cycle.to_string(),
                    "write the loop with one entry, without jumping into its middle",
                ),
                NotCanonical::Unsplittable { .. } => (
                    Code::ComputedJump,
                    "it jumps to an address that it computes, and derivatives need code of their \
                     own on the way"
                        .to_string(),
                    "write jumps to computed labels as a switch",
                ),
            };
            Diagnostic::new(
                code,
                format!("the control flow of `{}` cannot be reversed", function.name),
                reason,
                help,
            )
            .at(module, loc)
            .in_function(&function.name)
        })?;
        let cfg = Cfg::new(&function);
        let dominators = Dominators::new(&function, &cfg);
        let loops = Loops::new(&function, &cfg, &dominators).map_err(|cycle| {
            Diagnostic::new(
                Code::Irreducible,
                format!("the loops of `{}` could not be found", function.name),
                format!("a cycle through {} has two entries", cycle.block),
                "write the loop with one entry",
            )
            .in_function(&function.name)
        })?;
        let types = Types::new(
            module,
            &function,
            &key.shapes,
            &alternatives,
            &mut callees.types,
        );
        types.distrust_tags(module, &mut function);
        let places = &mut callees.places;
        places.learn(module, &function, &effects, &mut callees.types);
        let activity = Activity::new(module, &function, &types, &effects, places, &key, options)?;
        let trip_counts = trip_counts(&function, &cfg, &dominators, &loops);
        let window = Window {
            arguments: match options.breaks(Defect::CallerWritesIgnored) {
                true => Vec::new(),
                false => key.overwritten.clone(),
            },
            other: key.other_overwritten,
            result: !key.combined,
            frame_ends: !key.combined && !options.breaks(Defect::FrameOutlives),
            planted: options.planted,
        };
        let keepable = match key.reverse {
            true => activity.keepable(module, &function, &effects),
            false => Keepable::default(),
        };
        let overwrite = Overwrite::keeping(module, &function, &effects, &window, &keepable);
        let overwrite = overwrite.unwrap_or_default();
        let order = cfg.reverse_postorder().to_vec();
        Ok(Primal {
            key,
            function,
            canonical,
            cfg,
            dominators,
            loops,
            order,
            types,
            trip_counts,
            overwrite,
            stored: Rc::default(),
            keepable,
            effects,
            activity,
            dispatched,
            expanded: Vec::new(),
            copied: HashMap::new(),
            planted: options.planted,
        })
    }

    /// Whether to make a mistake.
    pub(crate) fn breaks(&self, defect: Defect) -> bool {
        self.planted == Some(defect)
    }

    /// Whether the bytes that a load read are intact when the reverse sweep runs.
    pub fn overwritten(&self, load: Inst) -> Overwritten {
        match self.overwrite.read(load) {
            Overwritten::Yes(Because::Inst(_)) if self.breaks(Defect::OverwriteIgnored) => {
                Overwritten::Never
            }
            answer => answer,
        }
    }

    /// What can be read back in place of a value that is stored, as it is there when the reverse sweep
    /// runs.
    pub fn read_back(&self) -> impl Iterator<Item = (Value, Value)> {
        let intact = |load: Inst| match self.overwritten(load) {
            Overwritten::Never => true,
            Overwritten::IfOverlap(_) => self.key.disjoint,
            Overwritten::Yes(_) => false,
        };
        // What is loaded from where it stays is as good.
        let is_loaded = move |value: Value| {
            let inst = self.function.def_inst(value);
            let load = inst.filter(|&inst| matches!(self.function.inst(inst).op, Op::Load(_)));
            load.is_some_and(intact)
        };
        let stored = self.stored.iter();
        let stored = stored.filter(move |s| intact(s.load) && !is_loaded(s.value));
        stored.filter_map(|s| Some((s.value, self.function.result(s.load)?)))
    }

    /// Whether the elements of a nest's input are intact when the reverse sweep runs.
    pub fn is_input_intact(&self, nest: Inst, input: usize) -> bool {
        match self.overwrite.input(nest, input) {
            Overwritten::Never => true,
            Overwritten::IfOverlap(_) => self.key.disjoint,
            Overwritten::Yes(because) => {
                self.breaks(Defect::OverwriteIgnored) && matches!(because, Because::Inst(_))
            }
        }
    }

    /// Whether a derivative flows through the floats in a value.
    pub fn is_active(&self, value: Value) -> bool {
        self.activity.is_active(value)
    }

    /// Whether a value is, or contains, a pointer to memory with a shadow.
    pub fn has_shadow(&self, value: Value) -> bool {
        self.activity.has_shadow(value)
    }

    /// The floats in a value with their byte offsets, or what keeps them from being known.
    pub fn float_pieces(&self, module: &Module, value: Value) -> Vec<(i64, FloatKind)> {
        let pieces = self.types.pieces(module, &self.function, value);
        floats(&pieces)
    }

    /// Whether a bitwise instruction moves floats in whole bytes (or flips their signs only), so
    /// that the same instruction on tangents gives the tangent.
    pub fn moves_floats(&self, inst: Inst) -> bool {
        let data = self.function.inst(inst);
        let constant = |i: usize| self.function.as_int(data.args[i]);
        match &data.op {
            Op::Binary(BinaryOp::Shl | BinaryOp::LShr) => {
                constant(1).is_some_and(|bits| bits % 8 == 0)
            }
            Op::Binary(BinaryOp::And) => constant(1)
                .is_some_and(|mask| mask.to_le_bytes().iter().all(|&b| b == 0 || b == 0xff)),
            Op::Binary(BinaryOp::Or) => true,
            Op::Binary(_) => false,
            _ => true,
        }
    }

    /// An instruction in words, for messages.
    pub fn describe(&self, inst: Inst) -> String {
        let data = self.function.inst(inst);
        match &data.op {
            Op::Opaque(opaque) => opaque.name.clone(),
            Op::Math(function) => function.name().to_string(),
            Op::Unary(op) => op.name().to_string(),
            Op::Binary(op) => op.name().to_string(),
            Op::Cast(op) => op.name().to_string(),
            op => {
                let debug = format!("{op:?}");
                let end = debug.find(|c: char| !c.is_alphanumeric());
                debug[..end.unwrap_or(debug.len())].to_lowercase()
            }
        }
    }

    /// The first place in the source program that an instruction knows, for messages about the
    /// function as a whole.
    pub fn first_loc(&self) -> Option<Loc> {
        let blocks = self.function.blocks().iter();
        let mut insts = blocks.flat_map(|&block| self.function.block_insts(block));
        insts.find_map(|&inst| self.function.inst(inst).loc)
    }

    /// The refusal to differentiate an instruction that has no rule.
    pub fn refuse_inst(&self, module: &Module, inst: Inst) -> Box<Diagnostic> {
        let name = self.describe(inst);
        // The name of something foreign is a description already, or one word of LLVM's.
        let what = match &self.function.inst(inst).op {
            Op::Opaque(_) if name.contains(' ') => name,
            Op::Opaque(_) => format!("LLVM's `{name}`"),
            _ => format!("`{name}`"),
        };
        self.refuse(module, inst, &what)
    }

    /// The refusal of memory whose type nobody knows.
    pub fn undeduced(&self, module: &Module, inst: Inst, how: &str) -> Box<Diagnostic> {
        Diagnostic::new(
            Code::UnknownMemoryType,
            "cannot deduce what type memory holds",
            format!("a derivative flows through it, and the memory {how}"),
            "access it with one type, or say what it holds with __enzyme_float, __enzyme_double, \
             __enzyme_integer or __enzyme_pointer",
        )
        .at(module, self.function.inst(inst).loc)
        .in_function(&self.function.name)
    }

    /// The refusal of a pointer that leads to memory with a derivative and has no shadow.
    pub fn missing_shadow(&self, module: &Module, loc: Option<Loc>) -> Box<Diagnostic> {
        Diagnostic::new(
            Code::MissingPointerShadow,
            "cannot find the shadow of a pointer",
            "a derivative flows through memory behind it, but nothing is known of its shadow",
            "pass the memory as enzyme_dup",
        )
        .at(module, loc)
        .in_function(&self.function.name)
    }

    /// The refusal to differentiate an instruction: `what` is the thing that has no derivative.
    pub fn refuse(&self, module: &Module, inst: Inst, what: &str) -> Box<Diagnostic> {
        Diagnostic::new(
            Code::NoRule,
            format!("cannot differentiate {what}"),
            format!(
                "a derivative flows through it in `{}`, and there is no rule for it",
                self.function.name
            ),
            "pass what it depends on as enzyme_const if no derivative is meant to flow here, \
             or write it with operations that have derivatives",
        )
        .at(module, self.function.inst(inst).loc)
        .in_function(&self.function.name)
    }

    /// The types of memory that is copied, as either side knows them.
    fn copied_shape(&self, data: &InstData) -> Shape {
        let mut shape = self.types.shape(data.args[0]).clone();
        shape.merge(self.types.shape(data.args[1]));
        shape
    }

    /// The scalars in memory that is copied, and the period with which they repeat: that of its
    /// length, if it is known and not too long. None if no period describes the memory.
    fn copied_scalars(&self, data: &InstData, shape: &Shape) -> Option<(i64, Scalars)> {
        match self.function.as_int(data.args[2]) {
            Some(len) if len <= LONGEST_COPY => {
                let len = len as i64;
                Some((len, shape.clone().repeating_element(len).copied(len)))
            }
            _ => shape.period(factor(&self.function, data.args[2]), is_tape(&data.op)),
        }
    }

    /// What is known of memory that is copied, as a declaration: a copy of its shadow moves the
    /// same types, but nobody may ever use the shadow of an integer, say.
    pub fn declaration_of_copied(&self, data: &InstData) -> SourceTypeData {
        let scalars = self.copied_scalars(data, &self.copied_shape(data));
        let (size, pieces) = scalars.unwrap_or_default();
        SourceTypeData {
            size: size as u64,
            parts: declared(pieces),
        }
    }

    /// What a copy of active memory moves. It must be known of every byte, unless the memory is
    /// relocated.
    pub fn copied_pieces(&self, module: &Module, inst: Inst) -> Result<Copied> {
        let data = self.function.inst(inst);
        let shape = self.copied_shape(data);
        // The byte that keeps the memory from having a period, if it can be named.
        let (period, pieces) = self.copied_scalars(data, &shape).unwrap_or_else(|| {
            let pieces = shape.pieces(0, shape.longest_stride());
            let bad = |(_, piece): &(i64, Piece)| matches!(piece, Piece::Unknown | Piece::Conflict);
            let first = pieces.into_iter().find(bad);
            (1, vec![first.unwrap_or((0, Piece::Unknown))])
        });
        let open = |(_, piece): &(i64, Piece)| matches!(piece, Piece::Unknown | Piece::Conflict);
        if pieces.iter().any(open) && self.relocates_shadow(module, inst) {
            return Ok(Copied {
                period,
                pieces,
                words: Vec::new(),
                relocated: true,
            });
        }
        // A pointer anywhere in what is copied tells such memory from that of numbers.
        let pointers = shape.kinds(0, period) & Kinds::PTR;
        let can_move = |kinds| self.moves_bits(inst, kinds | pointers);
        let (pieces, words) = words(&shape, pieces, can_move);
        for (offset, piece) in &pieces {
            let how = match piece {
                Piece::Unknown => "nothing in the program says what type it has",
                Piece::Conflict => "the program uses it with different types",
                _ => continue,
            };
            return Err(Diagnostic::new(
                Code::UnknownCopyType,
                "cannot deduce the type of copied memory",
                format!("a derivative may flow through byte {offset} of it, and {how}"),
                "say it with `__enzyme_double(p);` (or __enzyme_float, __enzyme_integer, \
                 __enzyme_pointer) before the copy, copy field by field, or compile with \
                 optimization (-O1 or more keeps type information)",
            )
            .at(module, data.loc)
            .in_function(&self.function.name));
        }
        match words.is_empty() {
            true => Ok(Copied::new(period, pieces)),
            // Each scalar is moved where it is.
            false => Ok(Copied {
                period,
                pieces,
                words,
                relocated: false,
            }),
        }
    }

    /// Whether a copy relocates memory that was made while the derivative ran, so that its shadow can
    /// move as a whole in either sweep. No adjoint is in such memory before the reverse sweep.
    fn relocates_shadow(&self, module: &Module, copy: Inst) -> bool {
        let from = self.function.inst(copy).args[1];
        self.activity.has_shadow(from)
            && !self.key.runtime_activity
            && (self.activity.is_made(from) || self.is_made_as_holder(from))
            && relocations(module, &self.function).contains(copy)
    }

    /// Whether a copy can move words that were used as these kinds though nobody knows what they
    /// are: a constant number of them, in memory that was made while the derivative ran. No adjoint
    /// is in such memory before the reverse sweep, so shadow bits that are not zero are those of a
    /// pointer. Of memory that may be the caller's, it must be known that there are pointers in it.
    fn moves_bits(&self, inst: Inst, kinds: Kinds) -> bool {
        let data = self.function.inst(inst);
        let disjoint = matches!(data.op, Op::MemCopy { overlapping, .. } if !overlapping);
        let len = self.function.as_int(data.args[2]);
        let made = |&pointer: &Value| match kinds.contains(Kinds::PTR) {
            _ if !self.activity.has_shadow(pointer) => true,
            true => self.is_made_as_holder(pointer),
            false => self.activity.is_made(pointer),
        };
        disjoint
            && len.is_some_and(|len| len <= LONGEST_COPY && len % 8 == 0)
            && !self.key.runtime_activity
            && data.args[..2].iter().all(made)
    }

    /// Whether the memory that a pointer is the address of is certainly of the kind that holds
    /// pointers, or made here anyway, and if it holds pointers, was made while the derivative ran.
    /// A word that is a pointer or a float shows nothing, for the address may be one of numbers of
    /// the caller at other times; a pointer that is never a float does.
    pub fn is_made_as_holder(&self, pointer: Value) -> bool {
        let shape = self.types.shape(pointer);
        let mut words = (0..LOOKED_AT).step_by(8);
        let holds_pointer =
            |kinds: Kinds| kinds.contains(Kinds::PTR) && !kinds.intersects(Kinds::FLOATS);
        let activity = &self.activity;
        activity.is_made_itself(&self.function, pointer)
            || activity.is_made_with_pointers(pointer)
                && words.any(|at| holds_pointer(shape.kinds(at, 8)))
    }

    /// Whether memory behind a pointer is used for floats and for pointers, at different times.
    pub fn is_mixed(&self, pointer: Value, bytes: i64) -> bool {
        let kinds = self.types.shape(pointer).kinds(0, bytes);
        kinds.contains(Kinds::PTR) && kinds.intersects(Kinds::FLOATS)
    }
}

/// Scalars with their offsets.
pub type Scalars = Vec<(i64, Piece)>;

/// Scalars as parts of a declaration, those that are known.
pub fn declared(pieces: Scalars) -> Vec<(u64, SourcePart)> {
    let part = |(at, piece): (i64, Piece)| {
        let part = match piece {
            Piece::Int => SourcePart::Int(1),
            Piece::Float(kind) => SourcePart::Float(kind),
            Piece::Ptr => SourcePart::Ptr(None),
            Piece::Unknown | Piece::Conflict => return None,
        };
        Some((at as u64, part))
    };
    pieces.into_iter().filter_map(part).collect()
}

/// Takes the words of which some byte has no known type out of the scalars of copied memory, with
/// what they were used as, if all of them can be moved so.
fn words(
    shape: &Shape,
    pieces: Scalars,
    can_move: impl Fn(Kinds) -> bool,
) -> (Scalars, Vec<(i64, Kinds)>) {
    let open = |piece: &Piece| matches!(piece, Piece::Unknown | Piece::Conflict);
    let unknown = pieces.iter().filter(|(_, piece)| open(piece));
    let words: BTreeSet<i64> = unknown.map(|(at, _)| at & !7).collect();
    let used = words.iter().map(|&at| (at, shape.kinds(at, 8)));
    let used: Vec<(i64, Kinds)> = used.collect();
    let size = |piece: &Piece| match piece {
        Piece::Float(kind) => i64::from(kind.bytes()),
        Piece::Ptr => 8,
        _ => 1,
    };
    // What begins before a word must not end in it.
    let cut = |(at, piece): &(i64, Piece)| {
        let last = at + size(piece) - 1;
        at & !7 != last & !7 && (words.contains(&(at & !7)) || words.contains(&(last & !7)))
    };
    if pieces.iter().any(cut) || !used.iter().all(|(_, kinds)| can_move(*kinds)) {
        return (pieces, Vec::new());
    }
    let rest = pieces.into_iter();
    let rest = rest.filter(|(at, _)| !words.contains(&(at & !7))).collect();
    (rest, used)
}

/// Says of all memory that a function of the program accesses that it is the program's. A function
/// that is itself a derivative has said what it knows; where it said nothing, the memory may be of
/// any kind, also one that other instructions name.
fn claim_memory(function: &mut Function) {
    let blocks = function.blocks().iter();
    let insts = blocks.flat_map(|&block| function.block_insts(block));
    let insts: Vec<Inst> = insts.copied().collect();
    let said = |&inst: &Inst| {
        let accesses = function.inst(inst).op.accesses();
        accesses.iter().any(|access| access.region != Region::User)
    };
    if insts.iter().any(said) {
        return;
    }
    for inst in insts {
        for access in function.inst_mut(inst).op.accesses_mut() {
            access.region = Region::Primal;
        }
    }
}

/// Whether an instruction copies records of derivatives.
fn is_tape(op: &Op) -> bool {
    let accesses = op.accesses();
    accesses.iter().all(|access| access.region == Region::Tape)
}

/// What a copy moves: the scalars of one period, which repeats over the whole length.
pub struct Copied {
    /// The length of the period in bytes.
    pub period: i64,
    pieces: Vec<(i64, Piece)>,
    /// The words that hold floats or pointers, and nobody knows which; there are some only if the
    /// length is the period. What they were used as, as far as is known.
    pub words: Vec<(i64, Kinds)>,
    /// Whether the shadow moves as a whole, there and back, because not every type is known.
    pub relocated: bool,
}

impl Copied {
    /// What a copy moves, in the shortest period. If source and destination overlap, the distance
    /// between them is a multiple of that period, or else some bytes would have two types; so
    /// scalars at different offsets in the period never meet and can be moved one after another.
    fn new(len: i64, pieces: Vec<(i64, Piece)>) -> Copied {
        let repeats = |period: i64| {
            // The whole may be a period of something longer itself.
            len % period == 0
                && pieces.iter().all(|(at, piece)| {
                    let next = pieces.binary_search_by_key(&(at + period), |(at, _)| *at);
                    at + period >= len || next.is_ok_and(|next| pieces[next].1 == *piece)
                })
        };
        let starts = pieces.iter().map(|(at, _)| *at).filter(|&at| at > 0);
        let period = starts.chain([len]).find(|&period| repeats(period));
        let period = period.unwrap_or(len);
        let within = |(at, _): &(i64, Piece)| *at < period;
        Copied {
            period,
            pieces: pieces.into_iter().filter(within).collect(),
            words: Vec::new(),
            relocated: false,
        }
    }

    /// The scalars of one period, each with its offset.
    pub fn scalars(&self) -> &[(i64, Piece)] {
        &self.pieces
    }

    /// Where pieces of some kind begin in the period.
    pub fn offsets(&self, wanted: impl Fn(&Piece) -> bool) -> Vec<i64> {
        let pieces = self.pieces.iter().filter(|(_, piece)| wanted(piece));
        pieces.map(|(offset, _)| *offset).collect()
    }
}

/// The floats among pieces.
pub fn floats(pieces: &[(i64, Piece)]) -> Vec<(i64, FloatKind)> {
    let kinds = pieces.iter().filter_map(|(offset, piece)| match piece {
        Piece::Float(kind) => Some((*offset, *kind)),
        _ => None,
    });
    kinds.collect()
}
