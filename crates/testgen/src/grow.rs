//! Statement trees at random.
//!
//! Each seed first chooses which features its program may use, so that some programs are all
//! about one feature and others mix many: rare combinations are then not drowned by common ones.

use crate::tree::{
    Args, Base, Cond, Expr, Form, Fun, Fun2, Index, Int, Kernel, Kind, Move, Near, Nest, NestForm,
    Place, Program, Returns, Routine, SLOTS, Slot, Stmt, Trips, Via,
};
use fastrand::Rng;

/// The program of a seed.
pub fn grow(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let features = Features::new(&mut rng);
    let mut grower = Grower {
        rng,
        features,
        helpers: Vec::new(),
        inside: Inside::default(),
    };
    let count = match (grower.features.calls, grower.features.callbacks) {
        (true, true) => grower.rng.usize(2..=3),
        (true, false) => grower.rng.usize(1..=3),
        (false, _) => 0,
    };
    for _ in 0..count {
        let helper = grower.helper();
        grower.helpers.push(helper);
    }
    let returns = match grower.rng.u8(..8) {
        0 => Returns::Nothing,
        _ => Returns::Double,
    };
    let size = grower.rng.usize(3..=10);
    let main = grower.routine(returns, size, false, false);
    Program {
        helpers: grower.helpers,
        main,
    }
}

/// What a program may use.
#[derive(Debug)]
struct Features {
    branches: bool,
    loops: bool,
    exits: bool,
    calls: bool,
    recursion: bool,
    pointers: bool,
    table: bool,
    records: bool,
    singles: bool,
    bits: bool,
    vectors: bool,
    structures: bool,
    copies: bool,
    heap: bool,
    buffers: bool,
    fixed: bool,
    data_dependent: bool,
    globals: bool,
    nests: bool,
    callbacks: bool,
    owner: bool,
    casts: bool,
    edges: bool,
    deep: bool,
    kernels: bool,
    ties: bool,
}

impl Features {
    fn new(rng: &mut Rng) -> Features {
        let mut on = |one_in: u8| rng.u8(..one_in) == 0;
        let fixed = on(2);
        Features {
            branches: !on(3),
            loops: !on(3),
            exits: on(2),
            calls: on(2),
            recursion: on(3),
            pointers: on(2),
            table: on(4),
            records: on(5),
            singles: on(5),
            bits: on(4),
            vectors: on(4),
            structures: on(4),
            copies: on(3),
            heap: on(3),
            buffers: on(3),
            fixed,
            data_dependent: on(2),
            // A helper that reads an active global must not write behind constant pointers.
            globals: on(3) && !fixed,
            nests: on(4),
            callbacks: on(3),
            owner: on(4),
            casts: on(4),
            edges: on(4),
            deep: on(4),
            kernels: on(4),
            ties: on(6),
        }
    }
}

#[derive(Copy, Clone, Default, Debug)]
struct Inside {
    helper: bool,
    recursive: bool,
    reads_second: bool,
    loops: usize,
    depth: usize,
}

struct Grower {
    rng: Rng,
    features: Features,
    helpers: Vec<Routine>,
    inside: Inside,
}

const SMOOTH: &[&str] = &[
    "sin", "cos", "tanh", "atan", "asinh", "erf", "expm1_", "sin", "tanh",
];
const POSITIVE: &[&str] = &[
    "sqrt", "log", "log2", "log10", "log1p", "cbrt", "lgamma", "acosh",
];
const UNIT: &[&str] = &["asin", "acos", "atanh", "tan"];
const TAMED: &[&str] = &["exp", "exp2", "expm1", "sinh", "cosh", "exp10", "erfc"];
/// Functions where they have large derivatives, or lose digits, but are still smooth.
const EDGES: &[(&str, Near)] = &[
    ("asin", Near::Sine(0.9995)),
    ("acos", Near::Sine(0.9995)),
    ("atanh", Near::Sine(0.999)),
    ("tan", Near::Tanh(1.55)),
    ("log", Near::Square(1e-3)),
    ("log2", Near::Square(1e-3)),
    ("sqrt", Near::Square(1e-4)),
    ("cbrt", Near::Square(1e-3)),
    ("log1p", Near::Tanh(0.999)),
    ("acosh", Near::Square(1.0001)),
    ("exp", Near::Tanh(6.0)),
    ("sinh", Near::Tanh(6.0)),
    ("erfc", Near::Tanh(5.0)),
    ("expm1", Near::Times(1e-7)),
    ("log1p", Near::Square(1e-9)),
    ("tanh", Near::Times(30.0)),
    ("atan", Near::Times(200.0)),
    ("lgamma", Near::Square(1e-2)),
];
const MATH2: &[&str] = &["atan2", "hypot", "fmax", "fmin", "copysign", "fmod", "fdim"];
const FLOAT_PREDS: &[&str] = &["ogt", "olt", "oge", "ole", "ugt", "ult", "une", "oeq"];
const INT_PREDS: &[&str] = &["eq", "ne", "slt", "sgt", "ult", "uge", "sle"];

impl Grower {
    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.rng.usize(..items.len())]
    }

    fn slot(&mut self, kind: Kind) -> Slot {
        let all: Vec<Slot> = (0..SLOTS.len()).filter(|&s| SLOTS[s] == kind).collect();
        self.pick(&all)
    }

    fn helper(&mut self) -> Routine {
        let recursive = self.features.recursion && self.rng.bool();
        let reads_second = self.rng.bool();
        let returns = match self.rng.u8(..6) {
            0 => Returns::Nothing,
            // Functions that may stand for each other have one type.
            _ if self.features.callbacks => Returns::Double,
            1 if !reads_second => Returns::Pointer,
            2 => Returns::Doubles,
            _ => Returns::Double,
        };
        let size = self.rng.usize(1..=5);
        self.inside.helper = true;
        let routine = self.routine(returns, size, recursive, reads_second);
        self.inside.helper = false;
        routine
    }

    fn routine(
        &mut self,
        returns: Returns,
        size: usize,
        recursive: bool,
        reads_second: bool,
    ) -> Routine {
        self.inside.recursive = recursive;
        self.inside.reads_second = reads_second;
        let mut body = self.stmts(size);
        if recursive {
            let base = self.writable();
            let at = self.rng.usize(..=body.len());
            let result = self.result_slot(returns);
            let float = self.bounded();
            body.insert(at, Stmt::Recurse(base, float, result));
        }
        let result = self.expr(2);
        Routine {
            body,
            returns,
            result,
            recursive,
            reads_second,
        }
    }

    fn result_slot(&mut self, returns: Returns) -> Slot {
        match returns {
            Returns::Pointer => self.slot(Kind::Ptr),
            _ => self.slot(Kind::Float),
        }
    }

    fn stmts(&mut self, count: usize) -> Vec<Stmt> {
        (0..count).map(|_| self.stmt()).collect()
    }

    fn block(&mut self) -> Vec<Stmt> {
        self.inside.depth += 1;
        let count = self.rng.usize(1..=4);
        let stmts = self.stmts(count);
        self.inside.depth -= 1;
        stmts
    }

    /// Memory that may be read.
    fn readable(&mut self) -> Base {
        match self.rng.u8(..10) {
            0..=1 => Base::Second,
            _ => self.writable(),
        }
    }

    /// Memory that may be written.
    fn writable(&mut self) -> Base {
        let f = &self.features;
        let mut all = vec![Base::First, Base::First];
        if !self.inside.reads_second {
            all.push(Base::Second);
        }
        if f.heap {
            all.push(Base::Heap);
        }
        if f.globals {
            all.push(Base::Global);
        }
        if f.pointers {
            let slot = self.slot(Kind::Ptr);
            all.extend([Base::Frame, Base::Slot(slot), Base::Slot(slot)]);
        }
        if self.features.table {
            let n = self.rng.u8(..4);
            let slot = self.slot(Kind::Int);
            all.extend([Base::Table(n), Base::Indirect(n), Base::TableAt(slot)]);
        }
        if self.features.records {
            let n = self.rng.u8(..4);
            all.push(Base::Field(n));
        }
        if self.features.buffers {
            all.extend([Base::Buffer, Base::Buffer]);
        }
        if self.features.owner {
            all.extend([Base::Owned, Base::Owned]);
        }
        self.pick(&all)
    }

    fn index(&mut self) -> Index {
        match self.rng.u8(..3) {
            0 => Index::Int(self.int(1)),
            _ => Index::Const(self.rng.u8(..8)),
        }
    }

    fn place(&mut self, write: bool) -> Place {
        Place {
            base: if write {
                self.writable()
            } else {
                self.readable()
            },
            index: self.index(),
        }
    }

    fn int(&mut self, depth: usize) -> Int {
        if depth > 0 && self.features.casts && self.rng.u8(..3) == 0 {
            return Int::Narrow(Box::new(self.int(depth - 1)), self.rng.u8(..3));
        }
        match self.rng.u8(..10) {
            0..=1 => Int::Const(self.rng.i8(-3..6)),
            2..=4 => Int::Slot(self.slot(Kind::Int)),
            5 => Int::Argument,
            6 if depth > 0 => {
                Int::Add(Box::new(self.int(depth - 1)), Box::new(self.int(depth - 1)))
            }
            7 if depth > 0 => {
                Int::Mul(Box::new(self.int(depth - 1)), Box::new(self.int(depth - 1)))
            }
            8 if self.features.data_dependent => Int::Rounded(Box::new(self.expr(0))),
            9 if self.features.structures => Int::OfRecord(self.slot(Kind::Record)),
            8 if self.features.records => Int::OfField(self.rng.u8(..4)),
            _ => Int::Slot(self.slot(Kind::Int)),
        }
    }

    /// A number that no computation is likely to hit.
    fn odd_number(&mut self) -> f64 {
        (self.rng.f64() * 2.0 - 0.8) + 0.000_137
    }

    fn cond(&mut self) -> Cond {
        if self.features.ties && self.rng.u8(..3) == 0 {
            let pred = self.pick(&["oge", "ogt", "oeq", "une"]);
            return Cond::Tie(pred, self.expr(2));
        }
        match self.rng.bool() {
            true => {
                let pred = self.pick(FLOAT_PREDS);
                let number = self.odd_number();
                Cond::Float(pred, self.expr(1), number)
            }
            false => {
                let pred = self.pick(INT_PREDS);
                let number = self.rng.i8(-1..4);
                Cond::Int(pred, self.int(1), number)
            }
        }
    }

    /// A float that does not grow without bound. In nested loops even repeated squares must not,
    /// because derivatives of products make no promise for infinite operands.
    fn bounded(&mut self) -> Expr {
        let inner = Box::new(self.expr(2));
        match self.rng.u8(..4) {
            0 | 2 if self.inside.loops > 1 => Expr::Fun(Fun::Smooth("atan"), inner),
            0 => Expr::Fun2(Fun2::Op("fmul"), inner, Box::new(Expr::Const(0.5))),
            1 => Expr::Fun(Fun::Smooth("tanh"), inner),
            2 => *inner,
            _ => Expr::Fun(Fun::Smooth("sin"), inner),
        }
    }

    fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.rng.u8(..4) == 0 {
            return self.leaf();
        }
        let x = Box::new(self.expr(depth - 1));
        match self.rng.u8(..12) {
            0 => Expr::Fun(self.fun(), x),
            1 => Expr::Fun(self.fun(), x),
            2 => {
                let cond = Box::new(self.cond());
                Expr::Select(cond, x, Box::new(self.expr(depth - 1)))
            }
            3 => match self.via() {
                Some(via) => Expr::Via(via, x),
                None => *x,
            },
            4..=5 => {
                let fun = match self.rng.u8(..8) {
                    0 => Fun2::Pow,
                    1 => Fun2::GuardedDiv,
                    2 => Fun2::Fma,
                    3 => Fun2::Rem,
                    4..=5 => Fun2::SafeDiv,
                    _ => Fun2::Math(self.pick(MATH2)),
                };
                Expr::Fun2(fun, x, Box::new(self.expr(depth - 1)))
            }
            _ => {
                let op = self.pick(&["fadd", "fsub", "fmul", "fmul"]);
                Expr::Fun2(Fun2::Op(op), x, Box::new(self.expr(depth - 1)))
            }
        }
    }

    fn fun(&mut self) -> Fun {
        if self.features.edges && self.rng.u8(..3) == 0 {
            let (name, near) = self.pick(EDGES);
            return Fun::Within(name, near);
        }
        match self.rng.u8(..8) {
            0..=2 => Fun::Smooth(self.pick(SMOOTH).trim_end_matches('_')),
            // Some of them have a kink or a pole at 1.
            3 => Fun::Within(self.pick(POSITIVE), Near::Square(1.125)),
            4 => Fun::Within(self.pick(UNIT), Near::Sine(0.7)),
            5 => Fun::Within(self.pick(TAMED), Near::Tanh(1.0)),
            6 => self.pick(&[Fun::Neg, Fun::Abs]),
            _ => Fun::Powi(self.rng.i8(-2..4)),
        }
    }

    fn via(&mut self) -> Option<Via> {
        let mut all = vec![Via::Freeze];
        if self.features.bits {
            all.extend([Via::Bits, Via::Wide, Via::IntVector]);
        }
        if self.features.singles {
            all.extend([Via::Single, Via::Pair]);
        }
        if self.features.vectors {
            all.push(Via::Vector);
        }
        if self.features.structures {
            all.extend([Via::Structure, Via::Array]);
        }
        Some(self.pick(&all))
    }

    fn leaf(&mut self) -> Expr {
        match self.rng.u8(..16) {
            0 => Expr::Const(0.25 + f64::from(self.rng.u8(..8)) * 0.25),
            1..=5 => Expr::Load(self.place(false)),
            6 if self.features.fixed => Expr::LoadConst(self.index()),
            7 if self.features.fixed => Expr::Slot(self.slot(Kind::Fixed)),
            8 => Expr::OfInt(self.int(1)),
            9 if self.features.vectors => Expr::Lane(self.slot(Kind::Vector), self.index()),
            10 if self.features.structures => {
                Expr::RecordField(self.slot(Kind::Record), self.rng.u8(..2))
            }
            11 if self.features.bits => Expr::OfBits(self.slot(Kind::Bits)),
            12 if self.features.singles => match self.rng.u8(..3) {
                0 => Expr::OfSingle(self.slot(Kind::Single)),
                1 => Expr::OfPair(self.slot(Kind::Pair), self.rng.u8(..2)),
                _ => Expr::LoadSingle(self.rng.u8(..8)),
            },
            13 if self.features.records => match self.features.singles {
                true => Expr::LoadSingle(8 + self.rng.u8(..8)),
                false => Expr::LoadField(self.rng.u8(..4)),
            },
            14 if self.features.records => Expr::LoadField(self.rng.u8(..4)),
            _ => Expr::Slot(self.slot(Kind::Float)),
        }
    }

    fn fixed(&mut self) -> Expr {
        let x = match self.rng.u8(..3) {
            0 => Expr::LoadConst(Index::Const(self.rng.u8(..8))),
            1 => Expr::OfInt(Int::Slot(self.slot(Kind::Int))),
            _ => Expr::Slot(self.slot(Kind::Fixed)),
        };
        let y = Expr::Slot(self.slot(Kind::Fixed));
        let product = Expr::Fun2(Fun2::Op("fmul"), Box::new(x), Box::new(y));
        Expr::Fun(Fun::Smooth("sin"), Box::new(product))
    }

    fn stmt(&mut self) -> Stmt {
        let nested = self.inside.depth < 3 + usize::from(self.features.deep);
        if self.features.nests && self.rng.u8(..4) == 0 {
            return self.nest();
        }
        if self.features.owner && self.rng.u8(..8) == 0 {
            return Stmt::Renew;
        }
        if self.features.kernels && self.rng.u8(..6) == 0 {
            return self.kernel();
        }
        let loops = if self.features.deep { 3 } else { 2 };
        let looping = self.inside.loops > 0;
        match self.rng.u8(..24) {
            0 if looping && self.features.exits => self.exit(),
            1 if looping && nested && self.features.buffers => {
                Stmt::Buffer(self.rng.bool(), self.block())
            }
            0..=3 => Stmt::Set(self.slot(Kind::Float), self.bounded()),
            4..=6 => Stmt::Store(self.place(true), self.bounded()),
            7 => Stmt::SetInt(self.slot(Kind::Int), self.int(1)),
            8..=9 if nested && self.features.branches => self.branching(),
            10..=12 if nested && self.features.loops && self.inside.loops < loops => self.looping(),
            13 if self.features.exits => self.exit(),
            14..=15 if self.features.calls => self.call(),
            16 if self.features.pointers => self.pointer(),
            17 if self.features.table => match self.rng.u8(..5) {
                0..=1 => Stmt::StoreTable(self.rng.u8(..4), self.writable()),
                2..=3 => Stmt::StoreIndirect(self.rng.u8(..4), self.writable()),
                _ => Stmt::Rotate(self.int(1)),
            },
            18 if self.features.copies => self.copy(),
            19 if self.features.records => self.record(),
            20 if self.features.singles => self.single(),
            21 if self.features.bits => self.bits(),
            22 if self.features.vectors => self.vector(),
            22 if self.features.structures => match self.rng.bool() {
                true => Stmt::SetRecord(self.slot(Kind::Record), self.rng.u8(..2), self.bounded()),
                false => Stmt::SetRecordInt(self.slot(Kind::Record), self.int(1)),
            },
            23 if nested && self.features.buffers => Stmt::Buffer(self.rng.bool(), self.block()),
            20 => Stmt::Accumulate(self.place(true), self.bounded()),
            17 | 19 if self.features.fixed => match self.rng.u8(..3) {
                0 => Stmt::StoreConst(self.index(), self.slot(Kind::Fixed)),
                1 => Stmt::CopyFixed(self.writable(), self.rng.u8(..6)),
                _ => Stmt::SetFixed(self.slot(Kind::Fixed), self.fixed()),
            },
            _ => Stmt::Set(self.slot(Kind::Float), self.bounded()),
        }
    }

    fn kernel(&mut self) -> Stmt {
        let all = [
            Kernel::Walk,
            Kernel::Sweep,
            Kernel::Eliminate,
            Kernel::Mix,
            Kernel::Mix,
            Kernel::Blend,
            Kernel::Exchange,
        ];
        let kernel = self.pick(&all);
        let first = self.writable();
        let second = match self.rng.bool() {
            true => first,
            false => self.writable(),
        };
        let slots = [self.slot(Kind::Float), self.slot(Kind::Float)];
        Stmt::Kernel(kernel, [first, second], slots)
    }

    fn nest(&mut self) -> Stmt {
        let mut bases = vec![Base::First, Base::Second, Base::Frame, Base::Heap];
        if self.features.globals {
            bases.push(Base::Global);
        }
        if self.features.buffers {
            bases.push(Base::Buffer);
        }
        let from = [self.pick(&bases), self.pick(&bases)];
        if self.inside.reads_second {
            bases.retain(|&base| base != Base::Second);
        }
        let form = self.pick(&[
            NestForm::Map,
            NestForm::InPlace,
            NestForm::Dot,
            NestForm::MatrixVector,
            NestForm::Outer,
            NestForm::Product,
            NestForm::Triangle,
            NestForm::Others,
            NestForm::Halves,
        ]);
        // Repeated products must not grow without bound.
        let body = match self.inside.loops {
            0 => self.rng.u8(..6),
            _ => self.pick(&[1, 2, 3]),
        };
        let to: Vec<Base> = bases
            .into_iter()
            .filter(|base| !from.contains(base))
            .collect();
        Stmt::Nest(Nest {
            form,
            to: self.pick(&to),
            from,
            count: self.index(),
            body,
            scalar: self.slot(Kind::Float),
        })
    }

    fn branching(&mut self) -> Stmt {
        match self.rng.u8(..4) {
            0 => {
                let count = self.rng.usize(1..=3);
                let value = self.int(1);
                Stmt::Switch(value, (0..count).map(|_| self.block()).collect())
            }
            1 => Stmt::If(self.cond(), self.block(), Vec::new()),
            _ => Stmt::If(self.cond(), self.block(), self.block()),
        }
    }

    fn looping(&mut self) -> Stmt {
        let form = match self.rng.u8(..8) {
            0 if self.features.pointers => Form::Pointer(self.slot(Kind::Ptr)),
            1 => Form::Down,
            2..=4 => Form::DoWhile,
            _ => Form::While,
        };
        let trips = match self.rng.u8(..6) {
            0..=2 => Trips::Const(self.rng.u8(..6)),
            3 if form != Form::Down => Trips::While(self.cond(), self.rng.u8(2..6)),
            _ => Trips::Int(self.int(1)),
        };
        self.inside.loops += 1;
        let body = self.block();
        self.inside.loops -= 1;
        Stmt::Loop(form, trips, body)
    }

    fn exit(&mut self) -> Stmt {
        let cond = self.cond();
        match self.rng.u8(..3) {
            0 if self.inside.loops > 0 => Stmt::Break(cond),
            1 if self.inside.loops > 0 => Stmt::Continue(cond),
            _ => Stmt::Return(cond, self.expr(1)),
        }
    }

    fn call(&mut self) -> Stmt {
        if self.helpers.is_empty() {
            return Stmt::Set(self.slot(Kind::Float), self.bounded());
        }
        let callee = self.rng.usize(..self.helpers.len());
        let reads = self.helpers[callee].reads_second;
        let second = match reads {
            true => self.readable(),
            false => self.writable(),
        };
        let args = match self.rng.u8(..6) {
            0 if self.features.fixed => Args::MixedPointer(self.writable(), self.bounded()),
            1 if self.features.fixed => Args::FixedFloat(self.writable(), second),
            2 if self.features.fixed => Args::Fixed,
            _ => Args::Active(self.writable(), second, self.bounded()),
        };
        let returns = self.helpers[callee].returns;
        let slot = match args {
            Args::Fixed if !self.inside.helper => self.slot(Kind::Fixed),
            _ => self.result_slot(returns),
        };
        let alike = |other: &Routine| other.returns == returns && other.reads_second == reads;
        let others: Vec<usize> = (0..self.helpers.len())
            .filter(|&other| other != callee && alike(&self.helpers[other]))
            .collect();
        let is_fixed = args == Args::Fixed;
        if self.features.callbacks && !is_fixed && !others.is_empty() && self.rng.bool() {
            let other = self.pick(&others);
            return Stmt::CallEither(self.cond(), [callee, other], args, slot);
        }
        Stmt::Call(callee, args, slot)
    }

    fn pointer(&mut self) -> Stmt {
        let slot = self.slot(Kind::Ptr);
        match self.rng.u8(..3) {
            0 => Stmt::SelectPtr(slot, self.cond(), self.writable(), self.writable()),
            1 if self.rng.bool() => {
                Stmt::Choose(slot, self.writable(), self.writable(), self.int(1))
            }
            _ => Stmt::SetPtr(slot, self.writable(), self.rng.u8(..8)),
        }
    }

    fn copy(&mut self) -> Stmt {
        let (to, from) = (self.writable(), self.readable());
        let (to_at, from_at) = (self.rng.u8(..8), self.rng.u8(..8));
        match self.rng.u8(..6) {
            0..=1 => Stmt::MemMove(to, to_at, from, from_at, self.index()),
            // An overlapping one.
            2 => Stmt::MemMove(to, to_at, to, from_at, self.index()),
            3 => {
                let mut arrays = vec![Base::First, Base::Heap, Base::Frame];
                let to = self.pick(&arrays);
                arrays.push(Base::Second);
                Stmt::MemCopy(to, self.pick(&arrays), self.rng.u8(..4))
            }
            4 => Stmt::MemSet(to, to_at, self.rng.u8(..3)),
            _ => {
                let kind = self.pick(&[
                    Move::Integer,
                    Move::Double,
                    Move::SwappedDoubles,
                    Move::SwappedIntegers,
                    Move::Array,
                    Move::Wide,
                ]);
                Stmt::Move(kind, to, to_at, from, from_at)
            }
        }
    }

    fn record(&mut self) -> Stmt {
        let n = self.rng.u8(..4);
        match self.rng.u8(..6) {
            0..=1 => Stmt::StoreField(n, self.bounded()),
            2 => Stmt::StoreFieldInt(n, self.int(1)),
            3 => Stmt::StoreFieldPtr(n, self.writable()),
            4 => Stmt::MoveRecords(n, self.rng.u8(..4), self.rng.u8(..3)),
            _ => Stmt::CopyRecordValue(n, self.rng.u8(..4)),
        }
    }

    fn single(&mut self) -> Stmt {
        let pair = self.slot(Kind::Pair);
        let high = if self.features.records { 16 } else { 8 };
        match self.rng.u8(..5) {
            0 => Stmt::SetPair(pair, self.rng.u8(..2), self.bounded()),
            1 => Stmt::StorePair(pair, self.rng.u8(..4)),
            2 => Stmt::LoadPair(pair, self.rng.u8(..4)),
            3 => Stmt::StoreSingle(self.rng.u8(..high), self.bounded()),
            _ => {
                let op = self.pick(&["fadd", "fmul", "fsub"]);
                Stmt::SetSingle(self.slot(Kind::Single), op, self.bounded())
            }
        }
    }

    fn bits(&mut self) -> Stmt {
        let slot = self.slot(Kind::Bits);
        match self.rng.u8(..3) {
            0 => Stmt::SetBits(slot, self.bounded()),
            1 => Stmt::LoadBits(slot, self.place(false)),
            _ => Stmt::StoreBits(slot, self.place(true)),
        }
    }

    fn vector(&mut self) -> Stmt {
        let slot = self.slot(Kind::Vector);
        match self.rng.u8(..3) {
            0 => Stmt::SetLane(slot, self.index(), self.bounded()),
            _ => {
                let op = self.pick(&["fadd", "fmul", "shuffle", "store", "fsub"]);
                Stmt::VectorOp(slot, op, self.place(true))
            }
        }
    }
}
