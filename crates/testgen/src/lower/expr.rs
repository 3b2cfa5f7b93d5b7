//! Values: floats, integers, conditions, addresses.

use super::{Lowering, Memory};
use crate::tree::{
    ARRAY, Base, Cond, Expr, Fun, Fun2, Index, Int, Kind, Near, OWNER, Place, SLOTS, Slot, Via,
};

/// A number as a constant of the text form.
pub(crate) fn number(x: f64) -> String {
    format!("{x:?}:f64")
}

impl Lowering<'_> {
    /// The address of a base.
    pub(crate) fn base(&mut self, base: Base) -> String {
        match base {
            Base::First => "%p".to_string(),
            Base::Second => "%q".to_string(),
            Base::Frame => {
                self.touch(Memory::Frame);
                "%frame".to_string()
            }
            Base::Heap => {
                self.touch(Memory::Heap);
                "%heap".to_string()
            }
            Base::Global => "@g:ptr".to_string(),
            Base::Slot(slot) => self.get(slot),
            Base::Table(n) => {
                self.touch(Memory::Table);
                let at = self.value(&format!("address %table + {}", 8 * (n % 4)));
                self.value(&format!("load ptr {at}, align 8"))
            }
            Base::TableAt(slot) => {
                self.touch(Memory::Table);
                let int = self.get(slot);
                let index = self.value(&format!("and {int}, 3:i64"));
                let at = self.value(&format!("address %table + 8*{index}"));
                self.value(&format!("load ptr {at}, align 8"))
            }
            Base::Owned => {
                self.touch(Memory::Owner);
                self.get(OWNER)
            }
            Base::Indirect(n) => {
                self.touch(Memory::Table);
                self.touch(Memory::Indirect);
                let table = self.value("load ptr %indirect, align 8");
                let at = self.value(&format!("address {table} + {}", 8 * (n % 4)));
                self.value(&format!("load ptr {at}, align 8"))
            }
            Base::Field(n) => {
                let at = self.record(n, 16);
                self.value(&format!("load ptr {at}, align 8"))
            }
            Base::Buffer => match self.buffers.last() {
                Some((buffer, _)) => buffer.clone(),
                None => self.base(Base::Frame),
            },
        }
    }

    /// A base whose address may be kept.
    pub(crate) fn lasting(&self, base: Base) -> Base {
        base.lasting(self.buffers.last().is_some_and(|(_, heap)| *heap))
    }

    /// The address of a part of a record in memory.
    pub(crate) fn record(&mut self, n: u8, offset: i64) -> String {
        self.touch(Memory::Records);
        let at = 32 * i64::from(n % 4) + offset;
        self.value(&format!("address %records + {at}"))
    }

    /// The address of a single: eight in a row, then those of the records.
    pub(crate) fn single(&mut self, n: u8) -> String {
        if n % 16 >= 8 {
            return self.record(n / 2, 24 + 4 * i64::from(n % 2));
        }
        self.touch(Memory::Singles);
        self.value(&format!("address %singles + {}", 4 * (n % 8)))
    }

    /// The address of the element of a base at a fixed offset, `count` elements before its end.
    pub(crate) fn element(&mut self, base: Base, at: u8, count: i64) -> String {
        let extent = base.extent(self.is_main());
        let at = i64::from(at) % (extent - count + 1).max(1);
        let base = self.base(base);
        self.value(&format!("address {base} + {}", 8 * at))
    }

    pub(crate) fn index(&mut self, index: &Index, modulo: i64) -> String {
        match index {
            Index::Const(n) => format!("{}:i64", i64::from(*n) % modulo),
            Index::Int(int) => {
                let int = self.int(int);
                self.value(&format!("and {int}, {}:i64", modulo - 1))
            }
        }
    }

    pub(crate) fn place(&mut self, place: &Place) -> String {
        let extent = place.base.extent(self.is_main());
        match &place.index {
            Index::Const(n) => self.element(place.base, *n, 1),
            index => {
                let base = self.base(place.base);
                let index = self.index(index, extent);
                self.value(&format!("address {base} + 8*{index}"))
            }
        }
    }

    pub(crate) fn int(&mut self, int: &Int) -> String {
        match int {
            Int::Const(n) => format!("{n}:i64"),
            Int::Slot(slot) => self.get(*slot),
            Int::Argument => "%n".to_string(),
            Int::Add(x, y) => {
                let (x, y) = (self.int(x), self.int(y));
                self.value(&format!("add {x}, {y} : i64"))
            }
            Int::Mul(x, y) => {
                let (x, y) = (self.int(x), self.int(y));
                self.value(&format!("mul {x}, {y} : i64"))
            }
            Int::Rounded(x) => {
                let x = self.expr(x);
                let x = self.value(&format!("math sin {x} : f64"));
                let x = self.value(&format!("fmul {x}, 3.3:f64 : f64"));
                self.value(&format!("fptosi {x} : i64"))
            }
            Int::Narrow(x, how) => {
                let x = self.int(x);
                let (ty, back) = match how % 3 {
                    0 => ("i8", "sext"),
                    1 => ("i16", "zext"),
                    _ => ("i32", "sext"),
                };
                let narrow = self.value(&format!("trunc {x} : {ty}"));
                self.value(&format!("{back} {narrow} : i64"))
            }
            Int::OfRecord(slot) => {
                let record = self.get(*slot);
                self.value(&format!("extract {record}, [1] : i64"))
            }
            Int::OfField(n) => {
                let at = self.record(*n, 8);
                self.value(&format!("load i64 {at}, align 8"))
            }
        }
    }

    pub(crate) fn cond(&mut self, cond: &Cond) -> String {
        match cond {
            Cond::Float(pred, x, against) => {
                let x = self.expr(x);
                self.value(&format!("fcmp {pred} {x}, {}", number(*against)))
            }
            Cond::Tie(pred, x) => {
                let (x, y) = (self.expr(x), self.expr(x));
                self.value(&format!("fcmp {pred} {x}, {y}"))
            }
            Cond::Int(pred, x, against) => {
                let x = self.int(x);
                self.value(&format!("icmp {pred} {x}, {against}:i64"))
            }
        }
    }

    pub(crate) fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Slot(slot) => self.get(*slot),
            Expr::Const(x) => number(*x),
            Expr::Load(place) => {
                let at = self.place(place);
                self.value(&format!("load f64 {at}, align 8"))
            }
            Expr::LoadConst(_) if !self.is_main() => number(0.6),
            Expr::LoadConst(index) => {
                let index = self.index(index, ARRAY);
                let at = self.value(&format!("address %c + 8*{index}"));
                self.value(&format!("load f64 {at}, align 8"))
            }
            Expr::Fun(fun, x) => {
                let x = self.expr(x);
                self.fun(*fun, &x)
            }
            Expr::Fun2(fun, x, y) => {
                let (x, y) = (self.expr(x), self.expr(y));
                self.fun2(*fun, &x, &y)
            }
            Expr::Select(cond, x, y) => {
                let cond = self.cond(cond);
                let (x, y) = (self.expr(x), self.expr(y));
                self.value(&format!("select {cond}, {x}, {y} : f64"))
            }
            Expr::OfInt(int) => {
                let int = self.int(int);
                let small = self.value(&format!("and {int}, 7:i64"));
                let float = self.value(&format!("sitofp {small} : f64"));
                self.value(&format!("fmul {float}, 0.25:f64 : f64"))
            }
            Expr::Via(via, x) => {
                let x = self.expr(x);
                self.via(*via, &x)
            }
            Expr::Lane(slot, index) => {
                let vector = self.get(*slot);
                let index = self.index(index, 2);
                self.value(&format!("extractelement {vector}, {index} : f64"))
            }
            Expr::RecordField(slot, n) => {
                let record = self.get(*slot);
                self.value(&format!("extract {record}, [{}] : f64", 2 * (n % 2)))
            }
            Expr::OfSingle(slot) => {
                let single = self.get(*slot);
                self.value(&format!("fpext {single} : f64"))
            }
            Expr::OfBits(slot) => {
                let bits = self.get(*slot);
                self.value(&format!("bitcast {bits} : f64"))
            }
            Expr::OfPair(slot, half) => self.half_of_pair(*slot, *half),
            Expr::LoadSingle(n) => {
                let at = self.single(*n);
                let single = self.value(&format!("load f32 {at}, align 4"));
                self.value(&format!("fpext {single} : f64"))
            }
            Expr::LoadField(n) => {
                let at = self.record(*n, 0);
                self.value(&format!("load f64 {at}, align 8"))
            }
        }
    }

    fn half_of_pair(&mut self, slot: Slot, half: u8) -> String {
        debug_assert_eq!(SLOTS[slot], Kind::Pair);
        let mut pair = self.get(slot);
        if half % 2 == 1 {
            pair = self.value(&format!("lshr {pair}, 32:i64"));
        }
        let bits = self.value(&format!("trunc {pair} : i32"));
        let single = self.value(&format!("bitcast {bits} : f32"));
        self.value(&format!("fpext {single} : f64"))
    }

    fn fun(&mut self, fun: Fun, x: &str) -> String {
        match fun {
            Fun::Smooth(name) => self.value(&format!("math {name} {x} : f64")),
            Fun::Within(name, near) => {
                let inside = self.near(near, x);
                self.value(&format!("math {name} {inside} : f64"))
            }
            Fun::Neg => self.value(&format!("fneg {x} : f64")),
            Fun::Abs => {
                let aside = self.value(&format!("fadd {x}, 0.0371:f64 : f64"));
                self.value(&format!("math fabs {aside} : f64"))
            }
            Fun::Powi(n) => {
                let sine = self.value(&format!("math sin {x} : f64"));
                let positive = self.value(&format!("fadd {sine}, 1.5:f64 : f64"));
                self.value(&format!("math powi {positive}, {n}:i32 : f64"))
            }
        }
    }

    fn near(&mut self, near: Near, x: &str) -> String {
        let (inner, op, by) = match near {
            Near::Sine(by) => (self.value(&format!("math sin {x} : f64")), "fmul", by),
            Near::Tanh(by) => (self.value(&format!("math tanh {x} : f64")), "fmul", by),
            Near::Square(by) => (self.value(&format!("fmul {x}, {x} : f64")), "fadd", by),
            Near::Times(by) => (x.to_string(), "fmul", by),
        };
        self.value(&format!("{op} {inner}, {} : f64", number(by)))
    }

    fn fun2(&mut self, fun: Fun2, x: &str, y: &str) -> String {
        match fun {
            Fun2::Op(op) => self.value(&format!("{op} {x}, {y} : f64")),
            Fun2::SafeDiv => {
                let square = self.value(&format!("fmul {y}, {y} : f64"));
                let positive = self.value(&format!("fadd {square}, 1.0:f64 : f64"));
                self.value(&format!("fdiv {x}, {positive} : f64"))
            }
            Fun2::GuardedDiv => {
                let above = self.value(&format!("math floor {y} : f64"));
                let safe = self.value(&format!("fcmp ogt {above}, 0.0371:f64"));
                let quotient = self.value(&format!("fdiv {x}, {y} : f64"));
                self.value(&format!("select {safe}, {quotient}, 0.5:f64 : f64"))
            }
            Fun2::Pow => {
                let sine = self.value(&format!("math sin {x} : f64"));
                let positive = self.value(&format!("fadd {sine}, 1.5:f64 : f64"));
                let exponent = self.value(&format!("math tanh {y} : f64"));
                self.value(&format!("math pow {positive}, {exponent} : f64"))
            }
            Fun2::Math(name) => {
                // Away from ties and from the origin.
                let square = self.value(&format!("fmul {y}, {y} : f64"));
                let aside = self.value(&format!("fadd {square}, 0.2371:f64 : f64"));
                self.value(&format!("math {name} {x}, {aside} : f64"))
            }
            Fun2::Fma => self.value(&format!("math fma {x}, {y}, 0.375:f64 : f64")),
            Fun2::Rem => {
                let square = self.value(&format!("fmul {y}, {y} : f64"));
                let aside = self.value(&format!("fadd {square}, 1.2371:f64 : f64"));
                self.value(&format!("frem {x}, {aside} : f64"))
            }
        }
    }

    fn via(&mut self, via: Via, x: &str) -> String {
        match via {
            Via::Single => {
                let single = self.value(&format!("fptrunc {x} : f32"));
                self.value(&format!("fpext {single} : f64"))
            }
            Via::Bits => {
                let bits = self.value(&format!("bitcast {x} : i64"));
                self.value(&format!("bitcast {bits} : f64"))
            }
            Via::Vector => {
                let index = self.value("and %n, 1:i64");
                let vector = self.value(&format!(
                    "insertelement {{1.5, 2.5}}:<2 x f64>, {x}, {index} : <2 x f64>"
                ));
                let swapped =
                    self.value(&format!("shuffle {vector}, {vector}, [1, 2] : <2 x f64>"));
                let other = self.value(&format!("xor {index}, 1:i64"));
                self.value(&format!("extractelement {swapped}, {other} : f64"))
            }
            Via::Structure => {
                let one = self.value(&format!(
                    "insert {{7, 1.5, 2.5}}:{{i32, f64, f64}}, {x}, [2] : {{i32, f64, f64}}"
                ));
                let two = self.value(&format!("insert {one}, {x}, [1] : {{i32, f64, f64}}"));
                let three = self.value(&format!("insert {two}, 0.5, [2] : {{i32, f64, f64}}"));
                self.value(&format!("extract {three}, [1] : f64"))
            }
            Via::Array => {
                let one = self.value(&format!("insert zero:[3 x f64], {x}, [1] : [3 x f64]"));
                let two = self.value(&format!("insert {one}, {x}, [2] : [3 x f64]"));
                self.value(&format!("extract {two}, [1] : f64"))
            }
            Via::Wide => {
                let bits = self.value(&format!("bitcast {x} : i64"));
                let wide = self.value(&format!("zext {bits} : i128"));
                let high = self.value(&format!("shl {wide}, 64:i128"));
                let both = self.value(&format!("or {high}, {wide} : i128"));
                let low = self.value(&format!("lshr {both}, 64:i128"));
                let bits = self.value(&format!("trunc {low} : i64"));
                self.value(&format!("bitcast {bits} : f64"))
            }
            Via::Freeze => self.value(&format!("freeze {x} : f64")),
            Via::Pair => {
                let single = self.value(&format!("fptrunc {x} : f32"));
                let bits = self.value(&format!("bitcast {single} : i32"));
                let wide = self.value(&format!("zext {bits} : i64"));
                let high = self.value(&format!("shl {wide}, 32:i64"));
                let both = self.value(&format!("or {wide}, {high} : i64"));
                let vector = self.value(&format!("bitcast {both} : <2 x f32>"));
                let high = self.value(&format!("extractelement {vector}, 1:i64 : f32"));
                self.value(&format!("fpext {high} : f64"))
            }
            Via::IntVector => {
                let bits = self.value(&format!("bitcast {x} : i64"));
                let vector = self.value(&format!(
                    "insertelement zero:<2 x i64>, {bits}, 1:i64 : <2 x i64>"
                ));
                let floats = self.value(&format!("bitcast {vector} : <2 x f64>"));
                self.value(&format!("extractelement {floats}, 1:i64 : f64"))
            }
        }
    }
}
