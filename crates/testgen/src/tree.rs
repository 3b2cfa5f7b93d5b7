//! The statement tree of a generated program.
//!
//! A program has variables of a few types, each in a numbered *slot* that always holds a value,
//! and memory with fixed names. Pointers in slots lead to at least [`REACH`] doubles, so every
//! index is reduced modulo that, or modulo [`ARRAY`] for a whole array. Leaving out any statement
//! leaves a program that is still defined.

use crate::contraction::Contraction;
use crate::reduction::{RowWise, Search};

/// How many doubles an array has.
pub const ARRAY: i64 = 8;
/// How many doubles are certainly behind a pointer in a slot.
pub const REACH: i64 = 4;

/// The type of a slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A double that may depend on active inputs.
    Float,
    /// A double that never does.
    Fixed,
    /// An integer.
    Int,
    /// A pointer to doubles with derivatives.
    Ptr,
    /// A single-precision float.
    Single,
    /// Two doubles in a vector.
    Vector,
    /// A structure of a double, an integer and a double.
    Record,
    /// The bits of a double as an integer.
    Bits,
    /// The bits of two single-precision floats as an integer.
    Pair,
    /// An array on the heap that is made anew and freed while others refer to it by this slot only.
    Owner,
}

/// The slots, by kind.
pub const SLOTS: &[Kind] = &[
    Kind::Float,
    Kind::Float,
    Kind::Float,
    Kind::Float,
    Kind::Fixed,
    Kind::Fixed,
    Kind::Int,
    Kind::Int,
    Kind::Ptr,
    Kind::Ptr,
    Kind::Single,
    Kind::Vector,
    Kind::Record,
    Kind::Bits,
    Kind::Pair,
    Kind::Owner,
];

/// The slot of the array that is made anew.
pub const OWNER: Slot = SLOTS.len() - 1;

/// A slot by number.
pub type Slot = usize;

/// Memory that holds doubles.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Base {
    /// The first pointer argument.
    First,
    /// The second pointer argument.
    Second,
    /// An array in the frame.
    Frame,
    /// An array on the heap that lives as long as the call.
    Heap,
    /// A global variable.
    Global,
    /// A pointer in a slot.
    Slot(Slot),
    /// A pointer loaded from the table of pointers.
    Table(u8),
    /// A pointer loaded from the table where an integer slot says.
    TableAt(Slot),
    /// A pointer loaded through a pointer to the table.
    Indirect(u8),
    /// A pointer in a record in memory.
    Field(u8),
    /// The buffer of the innermost [`Stmt::Buffer`] around; the frame array if there is none.
    Buffer,
    /// The array in the slot [`OWNER`].
    Owned,
}

impl Base {
    /// How many doubles are behind it, in the function that is differentiated or in another.
    pub fn extent(self, is_main: bool) -> i64 {
        match self {
            Base::First | Base::Second if is_main => ARRAY,
            Base::Frame | Base::Heap | Base::Buffer | Base::Global | Base::Owned => ARRAY,
            _ => REACH,
        }
    }

    /// Memory whose address may be kept: a heap buffer and an owned array end before others do.
    pub fn lasting(self, buffer_is_on_heap: bool) -> Base {
        match self {
            Base::Buffer if buffer_is_on_heap => Base::Frame,
            Base::Owned => Base::Frame,
            base => base,
        }
    }

    /// Whether it certainly has no byte in common with other memory.
    pub fn is_apart(self, other: Base, is_main: bool, has_buffer: bool) -> bool {
        let resolved = |base: Base| match base {
            Base::Buffer if !has_buffer => Base::Frame,
            base => base,
        };
        let own = |base: Base| matches!(base, Base::Frame | Base::Heap | Base::Buffer);
        let array = |base: Base| matches!(base, Base::First | Base::Second | Base::Global);
        let (x, y) = (resolved(self), resolved(other));
        let known = |base: Base| own(base) || array(base);
        x != y && known(x) && known(y) && (is_main || own(x) || own(y))
    }

    /// Whether it may be copied to or from other memory with `memcpy`.
    pub fn may_copy(self, other: Base, is_main: bool) -> bool {
        let own = |base: Base| matches!(base, Base::Frame | Base::Heap);
        self != other && (is_main || own(self) || own(other))
    }
}

/// A number that chooses an element.
#[derive(Clone, PartialEq, Debug)]
pub enum Index {
    /// Always the same.
    Const(u8),
    /// A variable one.
    Int(Int),
}

/// A place that holds a double.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// The memory.
    pub base: Base,
    /// The element.
    pub index: Index,
}

/// An integer.
#[derive(Clone, PartialEq, Debug)]
pub enum Int {
    /// A number.
    Const(i8),
    /// A slot.
    Slot(Slot),
    /// The integer argument.
    Argument,
    /// A sum.
    Add(Box<Int>, Box<Int>),
    /// A product.
    Mul(Box<Int>, Box<Int>),
    /// A float, rounded after it was brought into a small range.
    Rounded(Box<Expr>),
    /// An integer cut to 8, 16 or 32 bits and made wide again, the second without its sign.
    Narrow(Box<Int>, u8),
    /// The integer in the record slot.
    OfRecord(Slot),
    /// The integer in a record in memory.
    OfField(u8),
}

/// How the argument of a function is kept where the function is defined and smooth.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Near {
    /// Within these bounds: a number times the sine.
    Sine(f64),
    /// Not below this: the square and a number.
    Square(f64),
    /// Within these bounds, and often close to them: a number times the hyperbolic tangent.
    Tanh(f64),
    /// Larger or smaller.
    Times(f64),
}

/// Functions of one float; those with a bounded domain get an argument made safe.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Fun {
    /// A function that is defined and smooth everywhere.
    Smooth(&'static str),
    /// A function that is not, or that grows fast.
    Within(&'static str, Near),
    /// Negation.
    Neg,
    /// The absolute value, away from zero.
    Abs,
    /// The square by `powi`.
    Powi(i8),
}

/// Functions of two floats.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Fun2 {
    /// A binary operation.
    Op(&'static str),
    /// A quotient whose denominator is at least one.
    SafeDiv,
    /// `b > c ? a/b : 0`, the division outside of the select.
    GuardedDiv,
    /// The exponent is arbitrary, the base positive.
    Pow,
    /// A function of the library.
    Math(&'static str),
    /// Three operands, the third a constant.
    Fma,
    /// A remainder, away from its jumps only by chance; both sides take the same one.
    Rem,
}

/// Ways to move a double through another type.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Via {
    /// To single precision and back.
    Single,
    /// As the bits of an integer.
    Bits,
    /// Through a vector, by insertion, shuffle and extraction at a variable index.
    Vector,
    /// Through a structure value.
    Structure,
    /// Through an array value.
    Array,
    /// As one half of an i128.
    Wide,
    /// `freeze`.
    Freeze,
    /// Through two singles in one integer.
    Pair,
    /// Through a vector of two integers.
    IntVector,
}

/// A double.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A slot.
    Slot(Slot),
    /// A number.
    Const(f64),
    /// An element of memory.
    Load(Place),
    /// An element of the constant array.
    LoadConst(Index),
    /// A function of one.
    Fun(Fun, Box<Expr>),
    /// A function of two.
    Fun2(Fun2, Box<Expr>, Box<Expr>),
    /// One of two.
    Select(Box<Cond>, Box<Expr>, Box<Expr>),
    /// A small integer as a float.
    OfInt(Int),
    /// A double after a detour.
    Via(Via, Box<Expr>),
    /// A lane of the vector slot.
    Lane(Slot, Index),
    /// A field of the record slot.
    RecordField(Slot, u8),
    /// The single-precision slot.
    OfSingle(Slot),
    /// The bits in a slot, as a float.
    OfBits(Slot),
    /// Half of the pair slot.
    OfPair(Slot, u8),
    /// A single in memory.
    LoadSingle(u8),
    /// The double of a record in memory.
    LoadField(u8),
}

/// A condition.
#[derive(Clone, PartialEq, Debug)]
pub enum Cond {
    /// A float against a number that it will not hit.
    Float(&'static str, Expr, f64),
    /// An integer against a number.
    Int(&'static str, Int, i8),
    /// A float against the same float, computed once more: whoever computes either again, and rounds
    /// it otherwise, decides otherwise.
    Tie(&'static str, Expr),
}

/// Ways to copy doubles from memory to memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Move {
    /// Load and store as an integer.
    Integer,
    /// Load and store as a double.
    Double,
    /// Two at once, swapped, as a vector of doubles.
    SwappedDoubles,
    /// Two at once, swapped, as a vector of integers.
    SwappedIntegers,
    /// Two at once as an array value.
    Array,
    /// Two at once as one i128.
    Wide,
}

/// The number of iterations of a loop.
#[derive(Clone, PartialEq, Debug)]
pub enum Trips {
    /// Always the same.
    Const(u8),
    /// An integer, modulo four.
    Int(Int),
    /// As long as a condition holds, but at most this many.
    While(Cond, u8),
}

/// The form of a loop.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// The test comes first.
    While,
    /// The test comes last.
    DoWhile,
    /// A pointer runs over an array; the slot holds it.
    Pointer(Slot),
    /// The counter runs down and has 32 bits.
    Down,
}

/// The arguments of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Args {
    /// Everything active.
    Active(Base, Base, Expr),
    /// The second pointer is the constant array.
    MixedPointer(Base, Expr),
    /// The float is constant.
    FixedFloat(Base, Base),
    /// Nothing is active.
    Fixed,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// A float slot gets a value.
    Set(Slot, Expr),
    /// A fixed float slot gets a value of fixed ones.
    SetFixed(Slot, Expr),
    /// An integer slot gets a value.
    SetInt(Slot, Int),
    /// A pointer slot gets the address of an element.
    SetPtr(Slot, Base, u8),
    /// A pointer slot gets one of two.
    SelectPtr(Slot, Cond, Base, Base),
    /// A lane of a vector slot.
    SetLane(Slot, Index, Expr),
    /// An operation on whole vectors.
    VectorOp(Slot, &'static str, Place),
    /// A field of a record slot.
    SetRecord(Slot, u8, Expr),
    /// The integer of a record slot.
    SetRecordInt(Slot, Int),
    /// A single-precision slot, with single-precision arithmetic.
    SetSingle(Slot, &'static str, Expr),
    /// The bits of a double.
    SetBits(Slot, Expr),
    /// The bits of a double, loaded as an integer.
    LoadBits(Slot, Place),
    /// Stores bits.
    StoreBits(Slot, Place),
    /// Half of a pair, by shifts and masks.
    SetPair(Slot, u8, Expr),
    /// Stores a pair into the memory of singles.
    StorePair(Slot, u8),
    /// Loads a pair from there.
    LoadPair(Slot, u8),
    /// Stores a single.
    StoreSingle(u8, Expr),
    /// Stores a double.
    Store(Place, Expr),
    /// Adds a double.
    Accumulate(Place, Expr),
    /// Stores a fixed double into the constant array.
    StoreConst(Index, Slot),
    /// Copies doubles one way or another.
    Move(Move, Base, u8, Base, u8),
    /// Copies doubles with memmove, the number variable.
    MemMove(Base, u8, Base, u8, Index),
    /// Copies doubles between two different arrays with memcpy.
    MemCopy(Base, Base, u8),
    /// Copies from the constant array.
    CopyFixed(Base, u8),
    /// Sets doubles to zero.
    MemSet(Base, u8, u8),
    /// A pointer is put into the table.
    StoreTable(u8, Base),
    /// A function swaps two neighbours in the table.
    Rotate(Int),
    /// A function computes with the number that a pointer of the table leads to, and stores it
    /// through a pointer of the table. Nobody else knows the table while it runs.
    Update(Int, Int, Expr),
    /// A function stores one of two pointers where it is told to, and a pointer slot gets it.
    Choose(Slot, Base, Base, Int),
    /// The owned array is made anew, with a part of what it was, and the old one is freed.
    Renew,
    /// A pointer is put into the table through a pointer to it.
    StoreIndirect(u8, Base),
    /// The double of a record in memory.
    StoreField(u8, Expr),
    /// The integer of a record in memory.
    StoreFieldInt(u8, Int),
    /// The pointer of a record in memory.
    StoreFieldPtr(u8, Base),
    /// Records move within their array: to, from, number.
    MoveRecords(u8, u8, u8),
    /// A record slot is loaded from memory as a structure of double, integer, pointer, singles.
    CopyRecordValue(u8, u8),
    /// Branches.
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// Many branches.
    Switch(Int, Vec<Vec<Stmt>>),
    /// A loop.
    Loop(Form, Trips, Vec<Stmt>),
    /// Leaves the loop if a condition holds.
    Break(Cond),
    /// Goes on with the next iteration if a condition holds.
    Continue(Cond),
    /// Returns if a condition holds.
    Return(Cond, Expr),
    /// A call; the result goes to a slot.
    Call(usize, Args, Slot),
    /// A call of one of two functions, through a pointer.
    CallEither(Cond, [usize; 2], Args, Slot),
    /// A call of a function that is the same in all programs; the first slot gets the result, and
    /// both are arguments.
    Kernel(Kernel, [Base; 2], [Slot; 2]),
    /// Calls the function itself with less depth.
    Recurse(Base, Expr, Slot),
    /// Memory for the statements inside: on the heap or in the frame.
    Buffer(bool, Vec<Stmt>),
    /// A loop nest as one instruction.
    Nest(Nest),
    /// A loop whose iterations are independent of each other, or almost.
    Points(Points),
    /// Loops that multiply and add up.
    Contraction(Box<Contraction>),
    /// A loop that keeps the best of many numbers.
    Search(Box<Search>),
    /// Rows that are divided by what is computed of them.
    RowWise(Box<RowWise>),
}

/// A loop over points, with inner loops that compute a number for each. No iteration knows of another
/// unless [`Scratch`] or [`Goal`] lets it.
#[derive(Clone, PartialEq, Debug)]
pub struct Points {
    /// What is read: `x` at the point and around it, and `y`.
    pub from: [Base; 2],
    /// How many points there are: one more than this.
    pub count: Index,
    /// How often the inner loops run: two times more than this.
    pub inner: Index,
    /// The inner loops; each begins with the number that the one before has computed.
    pub parts: Vec<Part>,
    /// Memory that the iterations use one after the other.
    pub scratch: Option<Scratch>,
    /// Where the numbers go.
    pub goal: Goal,
    /// A float that is used everywhere.
    pub scalar: Slot,
}

/// An inner loop over elements of `y`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// A sum.
    Sum,
    /// A product.
    Product,
    /// The least distance, and the element where it is.
    Least,
    /// Goes on until a number is large enough.
    Until,
    /// A polynomial, by the powers of its variable.
    Powers,
}

/// Memory that is filled in each iteration, and then read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Scratch {
    /// Whether it is on the heap, or else in the frame.
    pub heap: bool,
    /// What comes from the iteration before.
    pub carries: Carries,
}

/// What an iteration finds in memory that the one before has left there.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Carries {
    /// Nothing: it writes all that it reads, before.
    Nothing,
    /// One element that is read first and written last.
    Last,
    /// The first element, which is not written again except for the sake of the next.
    First,
    /// The element after the last that it has written.
    Beyond,
}

/// Where the numbers of points go.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// They are added up.
    Sum(Slot),
    /// Each has an element of its own, which may be one that is read.
    Element(Base),
}

/// Functions with what programs at random have too rarely. All take two pointers to [`REACH`]
/// doubles, which may be the same, two doubles and an integer, and return a double.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// A pointer walks over an array and changes it.
    Walk,
    /// From the last element on, each changes those before it, and then itself.
    Sweep,
    /// Each element changes those behind it.
    Eliminate,
    /// Reads through one pointer, writes through the other, and uses what it read.
    Mix,
    /// Reads one array and writes the other, element by element.
    Blend,
    /// Copies a structure of floats of two formats and an integer, changes the old one, and uses both.
    Exchange,
}

impl Kernel {
    /// The name of the function.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Walk => "walk",
            Kernel::Sweep => "sweep",
            Kernel::Eliminate => "eliminate",
            Kernel::Mix => "mix",
            Kernel::Blend => "blend",
            Kernel::Exchange => "exchange",
        }
    }
}

/// A loop nest: what it writes must be apart from what it reads, or else it is left out.
#[derive(Clone, PartialEq, Debug)]
pub struct Nest {
    /// Its loops and views.
    pub form: NestForm,
    /// What it writes.
    pub to: Base,
    /// What it reads.
    pub from: [Base; 2],
    /// How many times the loops run, where that may vary.
    pub count: Index,
    /// What it computes, by number.
    pub body: u8,
    /// A float that it uses everywhere.
    pub scalar: Slot,
}

/// The loops and views of a nest; `x` and `y` are what is read, `t` is what is written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum NestForm {
    /// `t[i] = f(x[i], y[i])`
    Map,
    /// `t[i] = f(t[i], x[i])`
    InPlace,
    /// `t[1] += f(x[i], y[i])`
    Dot,
    /// `t[i] += f(x[i, j], y[j])`
    MatrixVector,
    /// `t[i, j] += f(x[i], y[j])`
    Outer,
    /// `t[i, j] += f(x[i, k], y[k, j])`
    Product,
    /// `t[i] += f(x[j], y[i - j])` for `j ≤ i`
    Triangle,
    /// `t[0] = max(t[0], f(x[i], y[i]))`, and the product in `t[1]`
    Others,
    /// `t[2 + i] = f(t[i], x[i])`
    Halves,
}

/// What a function returns.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Returns {
    /// Nothing.
    Nothing,
    /// A double.
    Double,
    /// One of its pointer arguments.
    Pointer,
    /// Two doubles.
    Doubles,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Routine {
    /// What it does.
    pub body: Vec<Stmt>,
    /// What it returns.
    pub returns: Returns,
    /// The result, where it is a float.
    pub result: Expr,
    /// Whether it calls itself.
    pub recursive: bool,
    /// Whether it only reads behind its second pointer.
    pub reads_second: bool,
}

/// A program: the helpers, each of which calls only those before it, and the function `@f`.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The functions that others call.
    pub helpers: Vec<Routine>,
    /// The function that is differentiated.
    pub main: Routine,
}

/// A second function that a call may go to: when it does not, its number, and the function.
pub type Alternative<'a> = (&'a Cond, usize, &'a Routine);

impl Program {
    /// The function that a call in another goes to, and the alternative if there is one that fits.
    /// A helper calls only those before it, so that there is no hidden recursion.
    pub fn callee<'a>(
        &'a self,
        caller: Option<usize>,
        callee: usize,
        other: Option<(&'a Cond, usize)>,
    ) -> Option<(&'a Routine, Option<Alternative<'a>>)> {
        let find = |number: usize| {
            let allowed = caller.is_none_or(|caller| number < caller);
            self.helpers.get(number).filter(|_| allowed)
        };
        let first = find(callee)?;
        let other = other.and_then(|(cond, number)| {
            let second = find(number)?;
            let alike =
                second.returns == first.returns && second.reads_second == first.reads_second;
            alike.then_some((cond, number, second))
        });
        Some((first, other))
    }
}
