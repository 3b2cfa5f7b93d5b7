//! Generated modules survive printing and parsing.
//!
//! The modules are well formed as data but mean nothing: any operation with operands of any type,
//! so that every field of every structure is printed in every combination, valid or not.

use cranelift_entity::EntityRef;
use fastrand::Rng;
use std::collections::HashMap;
use zymase_core::ir::text::{parse_module, print_module};
use zymase_core::ir::*;

#[test]
fn generated_modules_round_trip() {
    for seed in 0..400 {
        let module = Generator::new(seed).module();
        let text = print_module(&module);
        let again = parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(print_module(&again), text, "seed {seed}");
        let (before, after) = (meaning(&module), meaning(&again));
        for (x, y) in before.iter().zip(&after) {
            assert_eq!(x, y, "seed {seed}\n{text}");
        }
        assert_eq!(before.len(), after.len(), "seed {seed}\n{text}");
    }
}

/// Damaged texts are refused or read, but never make the parser panic.
#[test]
fn damaged_texts_do_not_panic() {
    for seed in 0..100 {
        let mut generator = Generator::new(seed);
        let module = generator.module();
        let mut text: Vec<char> = print_module(&module).chars().collect();
        for _ in 0..20 {
            let at = generator.rng.usize(..text.len());
            match generator.rng.u32(..3) {
                0 => _ = text.remove(at),
                1 => text[at] = text[generator.rng.usize(..text.len())],
                _ => text.truncate(text.len() - text.len() / 50),
            }
            let damaged: String = text.iter().collect();
            if let Ok(module) = parse_module(&damaged) {
                print_module(&module);
                let _ = verify::verify_module(&module);
            }
        }
    }
}

/// Everything a module says, in an order and with names that do not depend on its arenas.
fn meaning(module: &Module) -> Vec<String> {
    let mut out = vec![format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        module.layout, module.globals, module.rules, module.tbaa, module.scopes, module.locs
    )];
    for func in module.funcs.values() {
        out.push(format!(
            "{:?} {:?} {:?} {:?} {:?} {} {}",
            func.name, func.sig, func.params, func.ret, func.attrs, func.local, func.address_taken
        ));
        let mut numbers: HashMap<Value, usize> = HashMap::new();
        for &block in func.blocks() {
            let insts = func.block_insts(block).iter();
            let results = insts.filter_map(|&inst| func.result(inst));
            for value in func.block_params(block).iter().copied().chain(results) {
                numbers.insert(value, numbers.len());
            }
        }
        let value = |v: Value| match func.as_const(v) {
            Some(constant) => format!("{}:{constant:?}", func.ty(v)),
            None => format!("{:?} {}", numbers.get(&v), func.ty(v)),
        };
        let blocks: Vec<Block> = func.blocks().to_vec();
        for &block in func.blocks() {
            for &param in func.block_params(block) {
                let name = &func.value(param).name;
                out.push(format!("param {} {name:?}", value(param)));
            }
            for &inst in func.block_insts(block) {
                let mut data = func.inst(inst).clone();
                let mut operands: Vec<String> = data.args.iter().map(|&v| value(v)).collect();
                for edge in data.op.edges_mut() {
                    let target = blocks.iter().position(|&b| b == edge.block);
                    operands.push(format!("to {target:?}"));
                    operands.extend(edge.args.iter().map(|&v| value(v)));
                    edge.block = Block::new(0);
                    edge.args.clear();
                }
                let result = func.result(inst);
                let result = result.map(|v| (value(v), func.value(v).name.clone()));
                out.push(format!(
                    "{result:?} = {:?} {:?} {:?} {:?} {operands:?}",
                    data.op, data.flags, data.loc, data.origin
                ));
            }
        }
    }
    out
}

struct Generator {
    rng: Rng,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        Generator {
            rng: Rng::with_seed(seed),
        }
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.rng.usize(..items.len())]
    }

    fn name(&mut self) -> String {
        let words = [
            "x",
            "sum",
            "a.b",
            "with space",
            "\"\\\n\u{e9}\u{7f}",
            "v3",
            "",
            "9",
        ];
        self.pick(&words).to_string()
    }

    fn vec<T>(&mut self, max: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.rng.usize(..=max)).map(|_| make(self)).collect()
    }

    fn ty(&mut self, depth: u32) -> Type {
        match self.rng.u32(..if depth == 0 { 6 } else { 10 }) {
            0 => {
                let bits = [1, 7, 8, 32, 64, 127, 128, 200];
                Type::int(self.pick(&bits))
            }
            1 | 2 => Type::float(self.pick(&FloatKind::ALL)),
            3 | 4 => Type::new(TypeKind::Ptr(self.pick(&[0, 0, 3]))),
            5 => Type::new(TypeKind::Opaque(self.name())),
            6 => {
                let scalar = self.pick(&[Type::i1(), Type::f64(), Type::ptr(), Type::int(8)]);
                Type::vector(scalar, self.rng.u32(1..4))
            }
            7 => Type::array(self.ty(depth - 1), self.rng.u64(..3)),
            _ => {
                let fields = self.vec(3, |g| g.ty(depth - 1));
                let packed = self.rng.bool();
                Type::new(TypeKind::Struct { fields, packed })
            }
        }
    }

    fn constant(&mut self, ty: Type, symbols: &[Symbol]) -> Constant {
        let special = self.rng.u32(..12);
        match (special, ty.kind()) {
            (0, _) => Constant::Zero,
            (1, _) => Constant::Undef,
            (2, _) => Constant::Poison,
            (3, _) => Constant::Opaque(Origin::from_u32(self.rng.u32(..9))),
            (4, _) => Constant::Int(self.rng.u128(..)),
            (5, _) => Constant::Float(self.rng.u128(..)),
            (6, _) => {
                let offsets = [0, 8, -8, i64::MIN, i64::MAX];
                Constant::Address(self.pick(symbols), self.pick(&offsets))
            }
            (_, TypeKind::Int(_)) => Constant::Int(self.rng.u128(..) >> self.rng.u32(..128)),
            (7, TypeKind::Float(_)) => Constant::Float(self.rng.u128(..)),
            (_, TypeKind::Float(kind)) => {
                let samples = [
                    0.0,
                    -0.0,
                    1.0,
                    0.1,
                    1e-310,
                    1e300,
                    -2.5,
                    f64::INFINITY,
                    f64::NAN,
                ];
                Constant::Float(soft::from_f64(*kind, self.pick(&samples)))
            }
            _ if ty.is_aggregate() => {
                let extra = u64::from(special == 7);
                let parts = (0..ty.part_count() + extra)
                    .map(|i| self.constant(ty.part(i).unwrap_or(Type::void()), symbols));
                Constant::Aggregate(parts.collect())
            }
            _ => Constant::Zero,
        }
    }

    fn param_attrs(&mut self) -> ParamAttrs {
        if self.rng.bool() {
            return ParamAttrs::default();
        }
        ParamAttrs {
            flags: ParamFlags::from_bits_truncate(self.rng.u32(..)),
            dereferenceable: self.pick(&[0, 8]),
            align: self.pick(&[0, 16]),
            byval: self.rng.bool().then(|| self.ty(1)),
            sret: self.rng.bool().then(|| self.ty(1)),
        }
    }

    fn memory(&mut self) -> MemoryEffects {
        let mut part = || ModRef::from_bits_truncate(self.rng.u8(..));
        MemoryEffects {
            arguments: part(),
            inaccessible: part(),
            other: part(),
        }
    }

    fn fn_attrs(&mut self) -> FnAttrs {
        if self.rng.bool() {
            return FnAttrs::default();
        }
        let alloc = self.rng.bool().then(|| AllocInfo {
            kind: self.pick(AllocKind::ALL),
            zeroed: self.rng.bool(),
            family: self.name(),
            size_args: self.vec(2, |g| g.rng.u32(..3)),
            ptr_arg: self.rng.bool().then(|| self.rng.u32(..3)),
            freed: self.rng.bool().then(|| Freed {
                by: self.name(),
                args: [vec![None], self.vec(2, |g| Some(g.rng.u32(..3)))].concat(),
            }),
        });
        FnAttrs {
            flags: FnFlags::from_bits_truncate(self.rng.u32(..)),
            memory: self.memory(),
            alloc,
        }
    }

    fn signature(&mut self) -> Signature {
        Signature {
            params: self.vec(3, |g| g.ty(2)),
            ret: if self.rng.bool() {
                Type::void()
            } else {
                self.ty(2)
            },
            variadic: self.rng.u32(..4) == 0,
        }
    }

    fn module(&mut self) -> Module {
        let mut module = Module::new();
        if self.rng.bool() {
            module.layout.max_int_align = 8;
            module.layout.max_vector_align = self.rng.u32(..);
        }
        let symbols: Vec<Symbol> = (0..3)
            .map(|i| Symbol::Func(Func::new(i)))
            .chain((0..2).map(|i| Symbol::Global(Global::new(i))))
            .collect();
        for i in 0..2 {
            let init = self.rng.bool().then(|| Initializer {
                bytes: self.vec(5, |g| g.rng.u8(..)),
                relocations: self.vec(2, |g| (g.rng.u64(..), g.pick(&symbols), g.rng.i64(..))),
                opaque: self.rng.bool(),
            });
            module.globals.push(GlobalData {
                name: format!("{}{i}", self.name()),
                size: self.rng.u64(..),
                align: self.rng.u32(..),
                init,
                constant: self.rng.bool(),
                thread_local: self.rng.bool(),
                local: self.rng.bool(),
                inactive: self.rng.bool(),
                source: None,
                origin: None,
            });
        }
        for kind in self.vec(3, |g| g.pick(RuleKind::ALL)) {
            let parts = (0..kind.part_count()).map(|_| Func::new(self.rng.usize(..3)));
            module.rules.push(CustomRule {
                kind,
                parts: parts.collect(),
                func: Func::new(self.rng.usize(..3)),
                handles: match self.rng.bool() {
                    true => Some(self.vec(3, |g| g.pick(Activity::ALL))),
                    false => None,
                },
            });
        }
        for i in 0..3u32 {
            let parent = self.rng.bool().then(|| Tbaa::from_u32(self.rng.u32(..3)));
            let name = self.name();
            module.tbaa.push(TbaaData { name, parent });
            module.scopes.push(ScopeData { domain: i / 2 });
            let inlined_at = self.rng.bool().then(|| Loc::from_u32(self.rng.u32(..3)));
            module.locs.push(LocData {
                file: self.name(),
                line: self.rng.u32(..),
                column: self.rng.u32(..90),
                function: self.name(),
                inlined_at,
                origin: None,
            });
        }
        for i in 0..3 {
            let name = format!("{}{}", self.name(), i + 10);
            let sig = self.signature();
            let mut function = match self.rng.u32(..4) {
                0 => Function::new(name, sig),
                _ => Function::with_entry(name, sig),
            };
            function.params.fill_with(|| self.param_attrs());
            function.ret = self.param_attrs();
            function.attrs = self.fn_attrs();
            function.local = self.rng.bool();
            function.address_taken = self.rng.bool();
            module.funcs.push(function);
        }
        for func in module.funcs.keys().collect::<Vec<_>>() {
            if !module.funcs[func].is_declaration() {
                let mut function = module.funcs[func].clone();
                self.body(&module, &mut function, &symbols);
                module.funcs[func] = function;
            }
        }
        module
    }

    /// Instructions first, operands afterwards, so that values are used before their definition.
    fn body(&mut self, module: &Module, function: &mut Function, symbols: &[Symbol]) {
        for _ in 0..self.rng.usize(..3) {
            let block = function.add_block();
            for _ in 0..self.rng.usize(..3) {
                let ty = self.ty(2);
                function.add_block_param(block, ty);
            }
        }
        if self.rng.bool() {
            let mut layout = function.blocks().to_vec();
            self.rng.shuffle(&mut layout);
            function.set_layout(layout);
        }
        let blocks = function.blocks().to_vec();
        for &block in &blocks {
            for _ in 0..self.rng.usize(1..12) {
                let mut data = InstData::new(self.op(module), Vec::new());
                data.flags = Flags::from_bits_truncate(self.rng.u32(..));
                if self.rng.bool() {
                    data.flags = self.pick(&[Flags::empty(), Flags::FAST, Flags::ADJOINT_SUM]);
                }
                data.loc = self.rng.bool().then(|| Loc::from_u32(self.rng.u32(..3)));
                if matches!(data.op, Op::Opaque(_) | Op::OpaqueTerminator { .. }) {
                    data.origin = self.rng.bool().then(|| Origin::from_u32(self.rng.u32(..9)));
                }
                let ty = match &data.op {
                    Op::Branch { .. } | Op::Switch { .. } | Op::Jump(_) => Type::void(),
                    Op::MemCopy { .. } | Op::Nest(_) => Type::void(),
                    Op::ICmp(_) | Op::FCmp(_) if self.rng.bool() => Type::i1(),
                    Op::Address { .. } if self.rng.bool() => Type::ptr(),
                    op if op.call().is_some() && self.rng.bool() => {
                        op.call().map_or(Type::void(), |call| call.sig.ret)
                    }
                    _ if self.rng.u32(..4) == 0 => Type::void(),
                    _ => self.ty(2),
                };
                function.append_inst(block, data, ty);
            }
        }
        let mut values = Vec::new();
        for &block in &blocks {
            let insts = function.block_insts(block).iter();
            values.extend(insts.filter_map(|&inst| function.result(inst)));
            values.extend(function.block_params(block));
        }
        for &value in &values {
            if self.rng.u32(..3) == 0 {
                let name = self.name();
                function.set_value_name(value, name);
            }
        }
        for &block in &blocks {
            for inst in function.block_insts(block).to_vec() {
                let mut data = function.inst(inst).clone();
                let count = self.operand_count(&data.op);
                let mut operand = |ty: Option<Type>| {
                    if self.rng.bool() && !values.is_empty() {
                        return self.pick(&values);
                    }
                    let ty = match ty {
                        Some(ty) if self.rng.u32(..4) != 0 => ty,
                        _ => self.ty(2),
                    };
                    let constant = self.constant(ty, symbols);
                    function.constant(ty, constant)
                };
                let likely = [Some(Type::ptr()), Some(Type::i64()), None];
                data.args = (0..count).map(|i| operand(likely[i % 3])).collect();
                for edge in data.op.edges_mut() {
                    edge.args = (0..2).map(|_| operand(None)).collect();
                }
                for edge in data.op.edges_mut() {
                    edge.block = self.pick(&blocks);
                }
                if let Op::Call(call) | Op::Invoke { call, .. } = &mut data.op {
                    let first = usize::from(call.callee == Callee::Indirect);
                    call.args = (first..count).map(|_| self.param_attrs()).collect();
                }
                let operand_type = data.args.first().map(|&v| function.ty(v));
                if let Op::Switch { cases, .. } = &mut data.op {
                    let bits = operand_type
                        .and_then(Type::int_bits)
                        .unwrap_or(128)
                        .min(128);
                    for (case, _) in cases {
                        *case >>= 128 - bits;
                    }
                }
                *function.inst_mut(inst) = data;
            }
        }
    }

    fn operand_count(&mut self, op: &Op) -> usize {
        match op {
            Op::Address { scales, .. } => 1 + scales.len(),
            Op::Alloca { .. } | Op::Branch { .. } | Op::Switch { .. } => 1,
            Op::Jump(_) => 0,
            Op::Nest(nest) => nest.outside() + nest.taken().len(),
            Op::Call(call) | Op::Invoke { call, .. } => match call.callee {
                Callee::Direct(_) => self.rng.usize(..4),
                Callee::Indirect => self.rng.usize(1..4),
            },
            _ => self.rng.usize(..4),
        }
    }

    fn access(&mut self) -> Access {
        let atomic = self.rng.bool().then(|| {
            let ordering = self.pick(Ordering::ALL);
            (ordering, self.pick(SyncScope::ALL))
        });
        let mut scopes = || self.vec(2, |g| Scope::from_u32(g.rng.u32(..3)));
        let (scopes, noalias) = (scopes(), scopes());
        Access {
            align: self.pick(&[0, 1, 8]),
            volatile: self.rng.bool(),
            atomic,
            tbaa: self.rng.bool().then(|| Tbaa::from_u32(self.rng.u32(..3))),
            scopes,
            noalias,
            region: self.pick(Region::ALL),
        }
    }

    fn call(&mut self, module: &Module) -> Box<Call> {
        let func = Func::new(self.rng.usize(..3));
        let (callee, sig) = match self.rng.u32(..3) {
            0 => (Callee::Indirect, self.signature()),
            1 => (Callee::Direct(func), self.signature()),
            _ => (Callee::Direct(func), module.funcs[func].sig.clone()),
        };
        Box::new(Call {
            callee,
            sig,
            attrs: self.fn_attrs(),
            args: Vec::new(),
            convention: self.pick(&[0, 8]),
        })
    }

    fn opaque(&mut self) -> Box<Opaque> {
        Box::new(Opaque {
            name: self.name(),
            memory: self.memory(),
        })
    }

    fn nest(&mut self) -> Nest {
        let depth = self.rng.usize(..4);
        let mut body = Body::new(depth);
        let block = body.block();
        let inputs = self.vec(2, Self::access);
        for _ in 0..inputs.len() + self.rng.usize(..3) {
            let ty = self.ty(1);
            body.func.add_block_param(block, ty);
        }
        for _ in 0..self.rng.usize(..5) {
            let op = match self.rng.u32(..7) {
                0 => Op::Unary(self.pick(UnaryOp::ALL)),
                1 => Op::Binary(self.pick(BinaryOp::ALL)),
                2 => Op::ICmp(self.pick(IntPred::ALL)),
                3 => Op::FCmp(self.pick(FloatPred::ALL)),
                4 => Op::Cast(self.pick(CastOp::ALL)),
                5 => Op::Select,
                _ => Op::Math(self.pick(MathFn::ALL)),
            };
            let args = (0..self.rng.usize(..4)).map(|_| self.body_operand(&mut body));
            let mut data = InstData::new(op, args.collect());
            data.flags = Flags::from_bits_truncate(self.rng.u32(..));
            data.loc = self.rng.bool().then(|| Loc::from_u32(self.rng.u32(..3)));
            let ty = self.ty(1);
            body.func.append_inst(block, data, ty);
        }
        let outputs = self.vec(2, |g| Output {
            combiner: g.pick(Combiner::ALL),
            flags: Flags::from_bits_truncate(g.rng.u32(..)),
            access: g.access(),
        });
        let results = outputs.iter().map(|_| self.body_operand(&mut body));
        let results = results.collect();
        body.set_results(results);
        let insts = body.insts().iter().filter_map(|&i| body.func.result(i));
        let values: Vec<Value> = body.params().iter().copied().chain(insts).collect();
        for value in values {
            if self.rng.u32(..3) == 0 {
                let name = self.name();
                body.func.set_value_name(value, name);
            }
        }
        Nest {
            depth,
            inputs,
            outputs,
            body,
        }
    }

    fn body_operand(&mut self, body: &mut Body) -> Value {
        let insts = body.insts().iter().filter_map(|&i| body.func.result(i));
        let values: Vec<Value> = body.params().iter().copied().chain(insts).collect();
        if self.rng.bool() && !values.is_empty() {
            return self.pick(&values);
        }
        let ty = self.ty(1);
        let constant = self.constant(ty, &[Symbol::Func(Func::new(0))]);
        body.func.constant(ty, constant)
    }

    fn op(&mut self, module: &Module) -> Op {
        let edge = || Edge {
            block: Block::new(0),
            args: Vec::new(),
        };
        match self.rng.u32(..30) {
            0 => Op::Unary(self.pick(UnaryOp::ALL)),
            1 => Op::Binary(self.pick(BinaryOp::ALL)),
            2 => Op::ICmp(self.pick(IntPred::ALL)),
            3 => Op::FCmp(self.pick(FloatPred::ALL)),
            4 => Op::Cast(self.pick(CastOp::ALL)),
            5 => Op::Select,
            6 => Op::Math(self.pick(MathFn::ALL)),
            7 => Op::ExtractElement,
            8 => Op::InsertElement,
            9 => Op::Shuffle(self.vec(4, |g| g.rng.i32(..))),
            10 => Op::Extract(self.vec(3, |g| g.rng.u32(..3))),
            11 => Op::Insert(self.vec(3, |g| g.rng.u32(..3))),
            12 => Op::Alloca {
                ty: self.ty(2),
                align: self.pick(&[0, 8]),
            },
            13 => Op::Address {
                offset: self.pick(&[0, 8, -8, i64::MIN, i64::MAX]),
                scales: self.vec(3, |g| g.pick(&[1, -1, 0, 8, -16, i64::MIN])),
            },
            14 => Op::Load(self.access()),
            15 => Op::Store(self.access()),
            16 => Op::Accumulate(self.access()),
            17 => Op::AtomicRmw(self.pick(RmwOp::ALL), self.access()),
            18 => Op::CmpXchg {
                access: self.access(),
                failure: self.pick(Ordering::ALL),
                weak: self.rng.bool(),
            },
            19 => Op::Fence(self.pick(Ordering::ALL), self.pick(SyncScope::ALL)),
            20 => Op::MemCopy {
                overlapping: self.rng.bool(),
                dst: self.access(),
                src: self.access(),
            },
            21 => Op::MemSet(self.access()),
            22 => Op::Call(self.call(module)),
            23 => Op::Request(Box::new(Request {
                func: Func::new(self.rng.usize(..3)),
                mode: self.pick(Mode::ALL),
                width: self.rng.u32(..3),
                args: self.vec(3, |g| g.pick(Activity::ALL)),
                ret: self.pick(ReturnActivity::ALL),
                primal_return: self.rng.bool(),
                strong_zero: self.rng.bool(),
                runtime_activity: self.rng.bool(),
                tape: TapeTerms {
                    not_overwritten: self.vec(3, |g| g.rng.u32(..4)),
                    caller: self.rng.bool(),
                    bytes: self.rng.bool().then(|| self.rng.u64(..)),
                    keep: self.rng.bool(),
                },
            })),
            24 => Op::Opaque(self.opaque()),
            25 => match self.rng.u32(..4) {
                0 => Op::Jump(edge()),
                1 => Op::Branch {
                    then: edge(),
                    other: edge(),
                },
                2 => Op::Return,
                _ => Op::Unreachable,
            },
            26 => Op::Switch {
                cases: self.vec(3, |g| (g.rng.u128(..), edge())),
                default: edge(),
            },
            27 => Op::Invoke {
                call: self.call(module),
                normal: edge(),
                unwind: edge(),
            },
            28 => Op::Nest(Box::new(self.nest())),
            _ => Op::OpaqueTerminator {
                opaque: self.opaque(),
                edges: self.vec(3, |_| edge()),
            },
        }
    }
}
