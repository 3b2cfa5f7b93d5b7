//! Values: floats, integers, conditions, addresses.

use super::Writer;
use crate::tree::{ARRAY, Base, Cond, Expr, Fun, Fun2, Index, Int, Near, Place, Via};

impl Writer<'_> {
    /// The address of a base.
    pub(super) fn base(&self, base: Base) -> String {
        match base {
            Base::First => "p".to_string(),
            Base::Second => "q".to_string(),
            Base::Frame => "frame".to_string(),
            Base::Heap => "heap".to_string(),
            Base::Global => "g".to_string(),
            Base::Slot(slot) => format!("s{slot}"),
            Base::Table(n) => format!("table[{}]", n % 4),
            Base::TableAt(slot) => format!("table[s{slot} & 3]"),
            Base::Owned => "owner".to_string(),
            Base::Indirect(n) => format!("indirect[{}]", n % 4),
            Base::Field(n) => format!("records[{}].p", n % 4),
            Base::Buffer => match self.buffers.last() {
                Some(buffer) => buffer.name.clone(),
                None => "frame".to_string(),
            },
        }
    }

    /// A base whose address may be kept.
    pub(super) fn lasting(&self, base: Base) -> Base {
        base.lasting(self.buffers.last().is_some_and(|buffer| buffer.heap))
    }

    /// A single: eight in a row, then those of the records.
    pub(super) fn single(&self, n: u8) -> String {
        match n % 16 >= 8 {
            true => format!("records[{}].{}", n / 2 % 4, field(n)),
            false => format!("singles[{}]", n % 8),
        }
    }

    /// The address of the element of a base at a fixed offset, `count` elements before its end.
    pub(super) fn element(&self, base: Base, at: u8, count: i64) -> String {
        let extent = base.extent(self.is_main());
        let at = i64::from(at) % (extent - count + 1).max(1);
        format!("({} + {at})", self.base(base))
    }

    pub(super) fn index(&self, index: &Index, modulo: i64) -> String {
        match index {
            Index::Const(n) => (i64::from(*n) % modulo).to_string(),
            Index::Int(int) => format!("({} & {})", self.int(int), modulo - 1),
        }
    }

    pub(super) fn place(&self, place: &Place) -> String {
        match &place.index {
            Index::Const(n) => format!("*{}", self.element(place.base, *n, 1)),
            index => {
                let extent = place.base.extent(self.is_main());
                format!("{}[{}]", self.base(place.base), self.index(index, extent))
            }
        }
    }

    pub(super) fn int(&self, int: &Int) -> String {
        let wrapping = |x: &Int, op: &str, y: &Int| {
            let (x, y) = (self.int(x), self.int(y));
            format!("(long)((unsigned long){x} {op} (unsigned long){y})")
        };
        match int {
            Int::Const(n) => format!("({n}l)"),
            Int::Slot(slot) => format!("s{slot}"),
            Int::Argument => "n".to_string(),
            Int::Add(x, y) => wrapping(x, "+", y),
            Int::Mul(x, y) => wrapping(x, "*", y),
            Int::Rounded(x) => format!("(long)(sin({}) * 3.3)", self.expr(x)),
            Int::Narrow(x, how) => {
                let ty = match how % 3 {
                    0 => "signed char",
                    1 => "unsigned short",
                    _ => "int",
                };
                format!("(long)({ty})({})", self.int(x))
            }
            Int::OfRecord(slot) => format!("s{slot}.n"),
            Int::OfField(n) => format!("records[{}].n", n % 4),
        }
    }

    pub(super) fn cond(&self, cond: &Cond) -> String {
        let (pred, x, y) = match cond {
            Cond::Tie(pred, x) => (*pred, self.expr(x), self.expr(x)),
            Cond::Float(pred, x, y) => (*pred, self.expr(x), format!("{y:?}")),
            Cond::Int(pred @ ("ult" | "uge"), x, y) => {
                let relation = if *pred == "ult" { "<" } else { ">=" };
                return format!("((unsigned long){} {relation} {y}ul)", self.int(x))
                    .replace(" -", " (unsigned long)-");
            }
            Cond::Int(pred, x, y) => (*pred, self.int(x), format!("({y})")),
        };
        match pred {
            "eq" | "oeq" => format!("({x} == {y})"),
            "ne" | "une" => format!("({x} != {y})"),
            "slt" | "olt" => format!("({x} < {y})"),
            "sle" | "ole" => format!("({x} <= {y})"),
            "sgt" | "ogt" => format!("({x} > {y})"),
            "oge" => format!("({x} >= {y})"),
            "ugt" => format!("(!({x} <= {y}))"),
            _ => format!("(!({x} >= {y}))"),
        }
    }

    pub(super) fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Slot(slot) => format!("s{slot}"),
            Expr::Const(x) => format!("({x:?})"),
            Expr::Load(place) => self.place(place),
            Expr::LoadConst(_) if !self.is_main() => "0.6".to_string(),
            Expr::LoadConst(index) => format!("c[{}]", self.index(index, ARRAY)),
            Expr::Fun(fun, x) => fun_of(*fun, &self.expr(x)),
            Expr::Fun2(fun, x, y) => fun2_of(*fun, &self.expr(x), &self.expr(y)),
            Expr::Select(cond, x, y) => {
                format!(
                    "({} ? {} : {})",
                    self.cond(cond),
                    self.expr(x),
                    self.expr(y)
                )
            }
            Expr::OfInt(int) => format!("((double)({} & 7) * 0.25)", self.int(int)),
            Expr::Via(via, x) => via_text(*via, &self.expr(x)),
            Expr::Lane(slot, index) => format!("s{slot}[{}]", self.index(index, 2)),
            Expr::RecordField(slot, n) => format!("s{slot}.{}", field(*n)),
            Expr::OfSingle(slot) => format!("(double)s{slot}"),
            Expr::OfBits(slot) => format!("float_of(s{slot})"),
            Expr::OfPair(slot, half) => format!("(double)half_of(s{slot}, {})", half % 2),
            Expr::LoadSingle(n) => format!("(double){}", self.single(*n)),
            Expr::LoadField(n) => format!("records[{}].x", n % 4),
        }
    }
}

/// The doubles of a value in a record slot.
pub(super) fn field(n: u8) -> char {
    match n % 2 {
        0 => 'a',
        _ => 'b',
    }
}

fn fun_of(fun: Fun, x: &str) -> String {
    match fun {
        Fun::Smooth(name) => format!("{name}({x})"),
        Fun::Within(name, Near::Sine(by)) => format!("{name}(sin({x}) * {by:?})"),
        Fun::Within(name, Near::Tanh(by)) => format!("{name}(tanh({x}) * {by:?})"),
        Fun::Within(name, Near::Square(by)) => format!("{name}(square({x}) + {by:?})"),
        Fun::Within(name, Near::Times(by)) => format!("{name}(({x}) * {by:?})"),
        Fun::Neg => format!("(-({x}))"),
        Fun::Abs => format!("fabs({x} + 0.0371)"),
        Fun::Powi(n) => format!("__builtin_powi(sin({x}) + 1.5, {n})"),
    }
}

fn fun2_of(fun: Fun2, x: &str, y: &str) -> String {
    match fun {
        Fun2::Op("fadd") => format!("({x} + {y})"),
        Fun2::Op("fsub") => format!("({x} - {y})"),
        Fun2::Op(_) => format!("({x} * {y})"),
        Fun2::SafeDiv => format!("safe_quotient({x}, {y})"),
        Fun2::GuardedDiv => format!("guarded_quotient({x}, {y})"),
        Fun2::Pow => format!("pow(sin({x}) + 1.5, tanh({y}))"),
        Fun2::Math(name) => format!("{name}({x}, aside({y}))"),
        Fun2::Fma => format!("fma({x}, {y}, 0.375)"),
        Fun2::Rem => format!("fmod({x}, aside({y}) + 1.0)"),
    }
}

fn via_text(via: Via, x: &str) -> String {
    match via {
        Via::Single => format!("(double)(float)({x})"),
        Via::Bits => format!("float_of(bits({x}))"),
        Via::Vector => format!("through_vector({x}, n & 1)"),
        Via::Structure => format!("through_structure({x})"),
        Via::Array => format!("through_array({x})"),
        Via::Wide => format!("through_wide({x})"),
        Via::Freeze => format!("({x})"),
        Via::Pair => {
            format!("(double)half_of(set_half(set_half(0, 0, (float)({x})), 1, (float)({x})), 1)")
        }
        Via::IntVector => format!("through_integers({x})"),
    }
}
