//! Statement trees at random.
//!
//! Each seed first chooses which features its program may use, so that some programs are all
//! about one feature and others mix many: rare combinations are then not drowned by common ones.

mod contraction;
mod points;
mod reduction;
mod statements;
mod values;

use crate::tree::{Base, Kind, Program, Returns, Routine, SLOTS, Slot, Stmt};
use fastrand::Rng;

/// The program of a seed.
pub fn grow(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let mut features = Features::new(&mut rng);
    // By a number of its own, so that most programs stay what they were without it.
    features.points = Rng::with_seed(!seed).u8(..4) == 0;
    features.contractions = Rng::with_seed(seed.rotate_left(32)).u8(..3) == 0;
    features.searches = Rng::with_seed(seed.rotate_left(16)).u8(..4) == 0;
    features.rows = Rng::with_seed(seed.rotate_left(48)).u8(..4) == 0;
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
    let mut main = grower.routine(returns, size, false, false);
    if grower.features.points && grower.rng.bool() {
        grower.end_with_points(&mut main);
    }
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
    points: bool,
    contractions: bool,
    searches: bool,
    rows: bool,
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
            points: false,
            contractions: false,
            searches: false,
            rows: false,
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
}
