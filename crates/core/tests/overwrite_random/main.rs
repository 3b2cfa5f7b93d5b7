//! Random programs with loops and memory run in the interpreter while every read and write is
//! recorded: no read that the overwrite analysis calls intact may be overwritten later, and every
//! trip count must be what the loop does.

mod matrices;

use cranelift_entity::EntityRef;
use fastrand::Rng;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use zymase_core::analysis::affine::known_first;
use zymase_core::analysis::cfg::Cfg;
use zymase_core::analysis::dominators::Dominators;
use zymase_core::analysis::effects::Effects;
use zymase_core::analysis::loops::{Loop, Loops};
use zymase_core::analysis::overwrite::{Overwrite, Overwritten, Window};
use zymase_core::analysis::ranges::{Ends, no_counter};
use zymase_core::analysis::trip_count::{TripCount, trip_counts};
use zymase_core::interp::{Machine, Val};
use zymase_core::ir::text::parse_module;
use zymase_core::ir::{
    Access, BinaryOp, Block, Builder, Call, Callee, CastOp, Edge, Flags, Func, Function, Inst,
    InstData, IntPred, Module, Op, ParamAttrs, ParamFlags, Signature, Type, Value,
};
use zymase_core::planted::Defect;
use zymase_core::simplify::canonical_loops::{self, Canonical};

/// Elements of each array; addresses stay within.
const LENGTH: i64 = 4096;

/// Functions that random ones call.
const CALLEES: &str = include_str!("callees.zir");

/// What happened, in order.
#[derive(Clone, Debug)]
enum Event {
    Read {
        inst: i128,
        address: u64,
    },
    Write {
        address: u64,
    },
    /// A call begins, or ends; what a callee reads is the call's.
    Call {
        inst: i128,
    },
    Return,
    Intact {
        inst: i128,
        holds: bool,
    },
    Count {
        expected: i128,
        counter: i128,
        exact: bool,
    },
}

#[test]
fn answers_agree_with_what_happens() {
    let counts = compare(Generator::function, &Window::default());
    let (never, checked, counted) = counts.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        never > 1000 && checked > 50 && counted > 1000,
        "{never} {checked} {counted}"
    );
}

#[test]
fn answers_about_rows_agree_with_what_happens() {
    let counts = compare(matrices::Generator::function, &Window::default());
    let (never, checked, counted) = counts.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        never > 1000 && checked > 50 && counted > 1000,
        "{never} {checked} {counted}"
    );
}

#[test]
fn answers_about_calls_and_sizes_in_memory_agree_with_what_happens() {
    let counts = compare(Generator::function_with_calls, &Window::default());
    let (never, checked, counted) = counts.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        never > 1000 && checked > 20 && counted > 1000,
        "{never} {checked} {counted}"
    );
}

#[test]
fn bounds_that_are_one_off_are_found() {
    let window = Window {
        planted: Some(Defect::BoundsTooTight),
        ..Window::default()
    };
    let found = compare(matrices::Generator::function, &window);
    assert!(found.is_err_and(|error| error.contains("but never")));
}

#[test]
fn iterations_that_are_not_looked_at_are_found() {
    let window = Window {
        planted: Some(Defect::NextIterationIgnored),
        ..Window::default()
    };
    let found = compare(Generator::function_with_calls, &window);
    assert!(found.is_err_and(|error| error.contains("is overwritten")));
}

/// Runs random functions. The result counts reads that are intact always and under conditions that
/// held, and loops whose trip counts were known; or it is the first wrong answer.
fn compare(generate: fn(&mut Rng) -> Function, window: &Window) -> Result<(u32, u32, u32), String> {
    let (mut never, mut checked, mut counted) = (0, 0, 0);
    for seed in 0..seeds() {
        let mut random = Rng::with_seed(seed);
        let mut module = parse_module(CALLEES).expect("functions to call");
        let callees = module.funcs.len();
        let tracer = Tracer::declare(&mut module);
        let mut function = generate(&mut random);
        let canonical = canonical_loops::run(&mut function).expect("a reducible function");
        let effects = Effects::new(&module);
        let answers =
            Overwrite::of_function(&module, &function, &effects, window).expect("an answer");
        let original = function.clone();
        tracer.instrument(&mut function, &original, &answers, &canonical);
        for func in module.funcs.keys().take(callees).collect::<Vec<_>>() {
            tracer.record_callee(&mut module.funcs[func]);
        }
        let func = module.funcs.push(function);
        zymase_core::ir::verify::verify_module(&module)
            .unwrap_or_else(|errors| panic!("{seed}: {}", errors[0]));
        let events = run(&module, func, &mut random);
        let mut caller = None;
        for (i, event) in events.iter().enumerate() {
            if let Event::Count {
                expected,
                counter,
                exact,
            } = event
            {
                let fits = if *exact {
                    counter == expected
                } else {
                    counter <= expected
                };
                assert!(fits, "seed {seed}: counted {counter}, expected {expected}");
                counted += 1;
            }
            match event {
                Event::Call { inst } => caller = Some(inst),
                Event::Return => caller = None,
                _ => {}
            }
            let Event::Read { inst, address } = event else {
                continue;
            };
            let inst = caller.unwrap_or(inst);
            let index = Inst::new(*inst as usize);
            // A callee takes care of what it writes itself.
            let (answer, since) = match caller {
                None => (answers.read(index), i),
                Some(_) => {
                    let end = |event: &Event| matches!(event, Event::Return);
                    let end = events[i..].iter().position(end).expect("a call that ends");
                    (answers.argument(index, 0), i + end)
                }
            };
            let holds = match &answer {
                Overwritten::Never => {
                    never += 1;
                    true
                }
                Overwritten::Yes(_) => false,
                Overwritten::IfOverlap(_) => {
                    let held = |e: &Event| match e {
                        Event::Intact { inst: i, holds } => i == inst && *holds,
                        _ => false,
                    };
                    let holds = events.iter().any(held);
                    checked += u32::from(holds);
                    holds
                }
            };
            let overwritten = events[since..].iter().any(|later| match later {
                Event::Write { address: written } => written.abs_diff(*address) < 8,
                _ => false,
            });
            if holds && overwritten {
                return Err(format!(
                    "seed {seed}: inst{inst} is overwritten, but {answer}"
                ));
            }
        }
    }
    Ok((never, checked, counted))
}

/// How many programs to try.
fn seeds() -> u64 {
    let number = std::env::var("ZYMASE_SEEDS").ok();
    number.and_then(|n| n.parse().ok()).unwrap_or(600)
}

fn run(module: &Module, func: Func, random: &mut Rng) -> Vec<Event> {
    let events = Rc::new(RefCell::new(Vec::new()));
    let mut machine = Machine::new(module).expect("a machine");
    for (name, make) in [
        ("trace.read", read_event as fn(&[i128]) -> Event),
        ("trace.write", write_event),
        ("trace.call", |numbers| Event::Call { inst: numbers[0] }),
        ("trace.return", |_| Event::Return),
        ("trace.intact", intact_event),
        ("trace.count", count_event),
    ] {
        let events = events.clone();
        let host = move |_: &mut zymase_core::interp::Memory, args: &[Val]| {
            let numbers: Vec<i128> = args
                .iter()
                .map(|arg| match arg.as_ptr() {
                    Some(pointer) => i128::from(pointer.address),
                    None => arg.as_int().expect("a number"),
                })
                .collect();
            events.borrow_mut().push(make(&numbers));
            Ok(None)
        };
        machine.register(name, Box::new(host));
    }
    let zeros = vec![1.0; LENGTH as usize];
    let a = machine.memory.new_f64s(&zeros).expect("memory");
    let other = machine.memory.new_f64s(&zeros).expect("memory");
    // Two arguments into one array, near or far from each other, or into two.
    let middle = a.offset(8 * LENGTH / 2);
    let b = match random.usize(0..3) {
        0 => other.offset(8 * LENGTH / 2),
        1 => middle,
        _ => middle.offset(8 * random.i64(-100..100)),
    };
    let c = other.offset(8 * LENGTH / 4);
    let n = Val::i64(random.i64(0..7));
    let m = Val::i64(random.i64(0..5));
    let args = [Val::Ptr(middle), Val::Ptr(b), Val::Ptr(c), n, m];
    // The third argument is promised to be alone in its array.
    let args = match b.address.abs_diff(c.address) < 8 * LENGTH as u64 {
        true => {
            let [p, _, c, n, m] = args;
            [p.clone(), p, c, n, m]
        }
        false => args,
    };
    machine.call(func, &args).expect("a program without errors");
    drop(machine);
    Rc::try_unwrap(events).expect("one owner").into_inner()
}

fn read_event(numbers: &[i128]) -> Event {
    Event::Read {
        inst: numbers[0],
        address: numbers[1] as u64,
    }
}

fn write_event(numbers: &[i128]) -> Event {
    Event::Write {
        address: numbers[0] as u64,
    }
}

fn intact_event(numbers: &[i128]) -> Event {
    Event::Intact {
        inst: numbers[0],
        holds: numbers[1] != 0,
    }
}

fn count_event(numbers: &[i128]) -> Event {
    Event::Count {
        expected: numbers[0],
        counter: numbers[1],
        exact: numbers[2] != 0,
    }
}

/// The functions that record events.
struct Tracer {
    read: Func,
    write: Func,
    call: Func,
    ret: Func,
    intact: Func,
    count: Func,
}

impl Tracer {
    fn declare(module: &mut Module) -> Tracer {
        let mut declare = |name: &str, params: Vec<Type>| {
            module.declare(Function::new(name, Signature::new(params, Type::void())))
        };
        let (ptr, i64) = (Type::ptr(), Type::i64());
        Tracer {
            read: declare("trace.read", vec![i64, ptr]),
            write: declare("trace.write", vec![ptr]),
            call: declare("trace.call", vec![i64]),
            ret: declare("trace.return", vec![]),
            intact: declare("trace.intact", vec![i64, i64]),
            count: declare("trace.count", vec![i64, i64, i64]),
        }
    }

    /// Adds calls that record every read, write, condition and trip count.
    fn instrument(
        &self,
        func: &mut Function,
        original: &Function,
        answers: &Overwrite,
        canonical: &Canonical,
    ) {
        for &block in original.blocks() {
            let old = original.block_insts(block).to_vec();
            func.set_block_insts(block, Vec::new());
            let mut insts = Vec::new();
            for inst in old {
                let data = original.inst(inst);
                let mut b = Builder::new(func, block);
                match data.op {
                    Op::Load(_) => {
                        let id = b.func.iconst(Type::i64(), inst.index() as i128);
                        self.call(&mut b, self.read, vec![id, data.args[0]]);
                    }
                    Op::Store(_) => self.call(&mut b, self.write, vec![data.args[1]]),
                    _ => {}
                }
                if data.op.call().is_some() {
                    let id = b.func.iconst(Type::i64(), inst.index() as i128);
                    self.call(&mut b, self.call, vec![id]);
                }
                insts.extend(func.block_insts(block));
                func.set_block_insts(block, Vec::new());
                insts.push(inst);
                if data.op.call().is_some() {
                    self.call(&mut Builder::new(func, block), self.ret, Vec::new());
                    insts.extend(func.block_insts(block));
                    func.set_block_insts(block, Vec::new());
                }
            }
            func.set_block_insts(block, insts);
        }
        self.record_conditions(func, original, answers);
        self.record_counts(func, original, canonical);
    }

    /// Adds calls that record every read and write to a function that is called.
    fn record_callee(&self, func: &mut Function) {
        for block in func.blocks().to_vec() {
            let mut insts = Vec::new();
            for inst in func.block_insts(block).to_vec() {
                let data = func.inst(inst).clone();
                func.set_block_insts(block, Vec::new());
                let mut b = Builder::new(func, block);
                match data.op {
                    Op::Load(_) => {
                        let id = b.func.iconst(Type::i64(), 0);
                        self.call(&mut b, self.read, vec![id, data.args[0]]);
                    }
                    Op::Store(_) => self.call(&mut b, self.write, vec![data.args[1]]),
                    _ => {}
                }
                insts.extend(func.block_insts(block));
                insts.push(inst);
            }
            func.set_block_insts(block, insts);
        }
    }

    fn record_conditions(&self, func: &mut Function, original: &Function, answers: &Overwrite) {
        let entry = original.entry();
        // Conditions may mention what the entry computes before anything is written.
        let known = known_first(original, entry);
        let is_known = |inst: &Inst| known.contains(inst);
        let insts = func.block_insts(entry).to_vec();
        let (first, rest): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(is_known);
        func.set_block_insts(entry, first);
        for &block in original.blocks() {
            for &inst in original.block_insts(block) {
                let answer = match original.inst(inst).op {
                    Op::Load(_) => answers.read(inst),
                    Op::Call(_) => answers.argument(inst, 0),
                    _ => continue,
                };
                let Overwritten::IfOverlap(conditions) = answer else {
                    continue;
                };
                let mut b = Builder::new(func, entry);
                let mut holds = b.func.iconst(Type::i1(), 1);
                let no = b.func.iconst(Type::i1(), 0);
                for condition in conditions {
                    let apart = condition.read.materialize_disjoint(
                        &condition.write,
                        &mut b,
                        &mut Ends::new(),
                        &no_counter,
                    );
                    holds = b.select(holds, apart, no);
                }
                let holds = b.cast(CastOp::ZExt, holds, Type::i64());
                let id = b.func.iconst(Type::i64(), inst.index() as i128);
                self.call(&mut b, self.intact, vec![id, holds]);
            }
        }
        let mut insts = func.block_insts(entry).to_vec();
        insts.extend(rest);
        func.set_block_insts(entry, insts);
    }

    fn record_counts(&self, func: &mut Function, original: &Function, canonical: &Canonical) {
        let cfg = Cfg::new(original);
        let dominators = Dominators::new(original, &cfg);
        let loops = Loops::new(original, &cfg, &dominators).expect("a reducible function");
        let trips = trip_counts(original, &cfg, &dominators, &loops);
        let counter = |l: Loop| canonical.counters[&loops.header(l)];
        let by_header: HashMap<Block, Loop> = loops.iter().map(|l| (loops.header(l), l)).collect();
        let mut expected: HashMap<Loop, Value> = HashMap::new();
        for l in loops.iter() {
            let preheader = loops.preheader(l).expect("a canonical loop");
            let mut insts = func.block_insts(preheader).to_vec();
            let jump = insts.pop().expect("a terminator");
            func.set_block_insts(preheader, insts);
            let mut b = Builder::new(func, preheader);
            if let Some(count) = trips[l].materialize(&mut b, &counter) {
                expected.insert(l, count);
            }
            let mut insts = func.block_insts(preheader).to_vec();
            insts.push(jump);
            func.set_block_insts(preheader, insts);
        }
        for (&exit, header) in &canonical.exits {
            let l = by_header[header];
            let Some(&count) = expected.get(&l) else {
                continue;
            };
            let TripCount { exact, .. } = trips[l];
            let rest = func.block_insts(exit).to_vec();
            func.set_block_insts(exit, Vec::new());
            let mut b = Builder::new(func, exit);
            let exact = b.func.iconst(Type::i64(), i128::from(exact));
            self.call(&mut b, self.count, vec![count, counter(l), exact]);
            let mut insts = func.block_insts(exit).to_vec();
            insts.extend(rest);
            func.set_block_insts(exit, insts);
        }
    }

    fn call(&self, b: &mut Builder, callee: Func, args: Vec<Value>) {
        let params = args.iter().map(|&arg| b.func.ty(arg)).collect();
        let call = Call {
            callee: Callee::Direct(callee),
            args: vec![ParamAttrs::default(); args.len()],
            sig: Signature::new(params, Type::void()),
            attrs: Default::default(),
            convention: 0,
        };
        b.effect(Op::Call(Box::new(call)), args);
    }
}

/// Writes a random function: statements that load and store at affine addresses, in loops and
/// under conditions.
struct Generator<'r> {
    random: &'r mut Rng,
    bases: Vec<Value>,
    plain: bool,
    sizes: Vec<Value>,
    counters: Vec<Value>,
    calls: bool,
    last: Value,
}

impl Generator<'_> {
    fn function(random: &mut Rng) -> Function {
        Generator::write(random, false)
    }

    /// The same with calls, and with sizes that are found in memory.
    fn function_with_calls(random: &mut Rng) -> Function {
        Generator::write(random, true)
    }

    fn write(random: &mut Rng, calls: bool) -> Function {
        let (ptr, i64) = (Type::ptr(), Type::i64());
        let sig = Signature::new(vec![ptr, ptr, ptr, i64, i64], Type::void());
        let mut func = Function::with_entry("f", sig);
        func.params[2].flags |= ParamFlags::NOALIAS;
        let arguments = func.arguments().to_vec();
        let entry = func.entry();
        let mut b = Builder::new(&mut func, entry);
        let frame = b.alloca(Type::array(Type::f64(), LENGTH as u64), 8);
        let middle = b.offset(frame, 8 * LENGTH / 2);
        let last = b.func.fconst(Type::f64(), 1.5);
        let mut generator = Generator {
            random,
            bases: Vec::new(),
            plain: false,
            sizes: vec![arguments[3], arguments[4]],
            counters: Vec::new(),
            calls,
            last,
        };
        if calls && generator.random.bool() {
            let from = generator.random.usize(0..2);
            generator.sizes[1] = generator.size_in_memory(&mut b, arguments[from]);
        }
        // Few bases and plain strides make accesses meet more often.
        let all = [arguments[0], arguments[1], arguments[2], middle];
        for _ in 0..generator.random.usize(1..=4) {
            generator.bases.push(all[generator.random.usize(0..4)]);
        }
        generator.plain = generator.random.bool();
        generator.statements(&mut b, 3);
        b.ret(None);
        func
    }

    /// A small number that depends on what is behind a pointer.
    fn size_in_memory(&mut self, b: &mut Builder, pointer: Value) -> Value {
        let at = b.offset(pointer, 8 * self.random.i64(-2..3));
        let bits = b.load(Type::i64(), at, Access::aligned(8));
        let five = b.func.iconst(Type::i64(), 5);
        b.binary(BinaryOp::URem, bits, five)
    }

    fn call(&mut self, b: &mut Builder) {
        let (callee, pointers) =
            [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 2)][self.random.usize(0..6)];
        let mut args: Vec<Value> = (0..pointers).map(|_| self.address(b)).collect();
        for _ in 0..2 {
            let size = match (self.random.usize(0..8), self.counters.last()) {
                (0, Some(&counter)) => counter,
                (1 | 2, _) => b.func.iconst(Type::i64(), self.random.i128(-1..4)),
                _ => self.sizes[self.random.usize(0..2)],
            };
            args.push(size);
        }
        let params: Vec<Type> = args.iter().map(|&arg| b.func.ty(arg)).collect();
        b.call(
            Func::new(callee),
            Signature::new(params, Type::void()),
            args,
        );
    }

    fn statements(&mut self, b: &mut Builder, depth: usize) {
        for _ in 0..self.random.usize(1..=3) {
            match self.random.usize(0..if depth == 0 { 4 } else { 8 }) {
                0..4 if self.calls && self.random.bool() => self.call(b),
                0 | 1 => {
                    let at = self.address(b);
                    // The frame is not written before, so what is read is not used.
                    b.load(Type::f64(), at, Access::aligned(8));
                }
                2 | 3 => {
                    let at = self.address(b);
                    b.store(self.last, at, Access::aligned(8));
                }
                4 => self.choice(b, depth - 1),
                _ => self.counted_loop(b, depth - 1),
            }
        }
    }

    fn address(&mut self, b: &mut Builder) -> Value {
        let base = self.bases[self.random.usize(0..self.bases.len())];
        let mut at = b.offset(base, 8 * self.random.i64(-3..4));
        for (i, counter) in self.counters.clone().into_iter().enumerate() {
            let at_size = match self.plain {
                true => usize::from(i + 1 == self.counters.len()),
                false => self.random.usize(0..8),
            };
            let scale = [0, 8, 8, 8, -8, 16, 32, 8][at_size];
            if at_size == 7 {
                let size = self.sizes[self.random.usize(0..2)];
                let product = b.mul(counter, size);
                at = b.element(at, product, scale);
            } else if scale != 0 {
                at = b.element(at, counter, scale);
            }
        }
        at
    }

    fn choice(&mut self, b: &mut Builder, depth: usize) {
        let seven = b.func.iconst(Type::i64(), 1);
        let on = match self.counters.last() {
            Some(&counter) => counter,
            None => self.sizes[0],
        };
        let condition = b.icmp(IntPred::Sgt, on, seven);
        let then = b.func.add_block();
        let join = b.func.add_block();
        b.branch(condition, edge(then, &[]), edge(join, &[]));
        b.block = then;
        self.statements(b, depth);
        b.jump(join, Vec::new());
        b.block = join;
    }

    /// `for (i = start; i PRED end; i += step)`, tested at the top or at the bottom, and maybe
    /// left early.
    fn counted_loop(&mut self, b: &mut Builder, depth: usize) {
        let narrow = self.random.usize(0..4) == 0;
        let ty = if narrow { Type::int(32) } else { Type::i64() };
        let step = [1, 1, 1, 2, 3, -1, -2][self.random.usize(0..7)];
        let pred = match step > 0 {
            true => [IntPred::Slt, IntPred::Sle, IntPred::Ne][self.random.usize(0..3)],
            false => [IntPred::Sgt, IntPred::Sge, IntPred::Ne][self.random.usize(0..3)],
        };
        let pred = if i64::abs(step) != 1 && pred == IntPred::Ne {
            if step > 0 { IntPred::Slt } else { IntPred::Sgt }
        } else {
            pred
        };
        let size = match self.random.bool() {
            true => b.func.iconst(Type::i64(), self.random.i128(1..6)),
            false => self.sizes[self.random.usize(0..2)],
        };
        let size = if narrow {
            b.cast(CastOp::Trunc, size, ty)
        } else {
            size
        };
        let zero = b.func.iconst(ty, 0);
        let (start, end) = if step > 0 { (zero, size) } else { (size, zero) };
        let (header, body, after) = (b.func.add_block(), b.func.add_block(), b.func.add_block());
        let i = b.func.add_block_param(header, ty);
        // A test at the bottom that waits for equality must not miss it the first time.
        let top = pred == IntPred::Ne || self.random.bool();
        b.jump(header, vec![start]);
        b.block = header;
        match top {
            true => {
                let more = b.icmp(pred, i, end);
                b.branch(more, edge(body, &[]), edge(after, &[]));
            }
            false => b.jump(body, Vec::new()),
        }
        b.block = body;
        let wide = if narrow {
            b.cast(CastOp::SExt, i, Type::i64())
        } else {
            i
        };
        self.counters.push(wide);
        self.statements(b, depth);
        if self.random.usize(0..4) == 0 {
            let two = b.func.iconst(Type::i64(), 2);
            let leave = b.icmp(IntPred::Eq, wide, two);
            let next = b.func.add_block();
            b.branch(leave, edge(after, &[]), edge(next, &[]));
            b.block = next;
            self.statements(b, 0);
        }
        self.counters.pop();
        let step = b.func.iconst(ty, i128::from(step));
        let mut add = InstData::new(Op::Binary(BinaryOp::Add), vec![i, step]);
        if narrow || self.random.bool() {
            add.flags = Flags::NSW;
        }
        let at = b.block;
        let add = b.func.append_inst(at, add, ty);
        let next = b.func.result(add).expect("a sum");
        match top {
            true => b.jump(header, vec![next]),
            false => {
                let more = b.icmp(pred, next, end);
                b.branch(more, edge(header, &[next]), edge(after, &[]));
            }
        }
        b.block = after;
    }
}

fn edge(block: Block, args: &[Value]) -> Edge {
    Edge {
        block,
        args: args.to_vec(),
    }
}
