//! Statements at random.

use super::Grower;
use crate::tree::{Args, Base, Form, Kernel, Kind, Move, Nest, NestForm, Routine, Stmt, Trips};

impl Grower {
    pub(super) fn stmt(&mut self) -> Stmt {
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
        if self.features.points && self.inside.loops < 2 && self.rng.u8(..5) == 0 {
            return self.points();
        }
        if self.features.contractions && self.inside.loops < 2 && self.rng.u8(..4) == 0 {
            return self.contraction();
        }
        if self.features.searches && self.inside.loops < 2 && self.rng.u8(..4) == 0 {
            return self.search();
        }
        if self.features.rows && self.inside.loops < 2 && self.rng.u8(..5) == 0 {
            return self.row_wise();
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
            17 if self.features.table => match self.rng.u8(..6) {
                0..=1 => Stmt::StoreTable(self.rng.u8(..4), self.writable()),
                2..=3 => Stmt::StoreIndirect(self.rng.u8(..4), self.writable()),
                4 => Stmt::Update(self.int(1), self.int(1), self.bounded()),
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
