//! Instructions: an operation, its operands, its flags and where it came from.

use super::{Block, Func, Loc, MathFn, Origin, Scope, Tbaa, Type, Value};
use bitflags::bitflags;

/// One instruction. The operands are all in `args`, except those passed along edges, which are in
/// the [`Edge`]s of the operation.
#[derive(Clone, PartialEq, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Its operands, in the order that the operation documents.
    pub args: Vec<Value>,
    /// Promises and permissions.
    pub flags: Flags,
    /// The place in the source program.
    pub loc: Option<Loc>,
    /// The foreign instruction this one was read from; cleared by whoever changes the meaning.
    pub origin: Option<Origin>,
}

impl InstData {
    /// An instruction with no flags, location or origin.
    pub fn new(op: Op, args: Vec<Value>) -> InstData {
        InstData {
            op,
            args,
            flags: Flags::empty(),
            loc: None,
            origin: None,
        }
    }

    /// Calls `f` on every operand, those on edges included.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        self.args.iter().copied().for_each(&mut f);
        self.op
            .edges()
            .iter()
            .for_each(|edge| edge.args.iter().copied().for_each(&mut f));
    }

    /// Replaces every operand, those on edges included, by what `f` gives for it.
    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        self.args.iter_mut().for_each(|v| *v = f(*v));
        for edge in self.op.edges_mut() {
            edge.args.iter_mut().for_each(|v| *v = f(*v));
        }
    }
}

/// An edge to a block, with one argument for each parameter of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it leads.
    pub block: Block,
    /// The values of the block's parameters.
    pub args: Vec<Value>,
}

/// The operations. `args` names the operands each one takes, in order.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// `args`: x. Negation of a float, or `freeze` of anything.
    Unary(UnaryOp),
    /// `args`: x, y, of the type of the result. Scalars or vectors.
    Binary(BinaryOp),
    /// `args`: x, y. Compares integers or pointers, or vectors of them.
    ICmp(IntPred),
    /// `args`: x, y. Compares floats or vectors of them.
    FCmp(FloatPred),
    /// `args`: x. To the type of the result.
    Cast(CastOp),
    /// `args`: condition (`i1` or a vector of them), value if true, value if false.
    Select,
    /// `args`: the function's arguments.
    Math(MathFn),
    /// `args`: vector, index.
    ExtractElement,
    /// `args`: vector, element, index.
    InsertElement,
    /// `args`: two vectors of one type. Lane `i` of the result is lane `mask[i]` of both vectors
    /// in a row; −1 is poison.
    Shuffle(Vec<i32>),
    /// `args`: aggregate. The part at this path.
    Extract(Vec<u32>),
    /// `args`: aggregate, part. The aggregate with the part at this path replaced.
    Insert(Vec<u32>),
    /// `args`: count. Memory of the frame for `count` values of type `ty`; it lives until the
    /// function returns.
    Alloca {
        /// The type of one element.
        ty: Type,
        /// The alignment in bytes.
        align: u32,
    },
    /// `args`: base, then one index per scale. The address `base + offset + Σ scaleᵢ·indexᵢ`,
    /// indices read as signed, arithmetic modulo 2⁶⁴. A vector result has vector operands where
    /// lanes differ.
    Address {
        /// The constant part in bytes.
        offset: i64,
        /// Bytes per unit of each index.
        scales: Vec<i64>,
    },
    /// `args`: pointer.
    Load(Access),
    /// `args`: value, pointer.
    Store(Access),
    /// `args`: pointer, value. Adds the float value into memory, in no particular order with other
    /// accumulations.
    Accumulate(Access),
    /// `args`: pointer, value. Result: what was there before.
    AtomicRmw(RmwOp, Access),
    /// `args`: pointer, expected, new. Result: `{old, i1}`.
    CmpXchg {
        /// The access, with the ordering on success.
        access: Access,
        /// The ordering on failure.
        failure: Ordering,
        /// Whether it may fail spuriously.
        weak: bool,
    },
    /// No operands.
    Fence(Ordering, SyncScope),
    /// `args`: destination, source, byte count.
    MemCopy {
        /// Whether the two ranges may overlap (memmove).
        overlapping: bool,
        /// The access on the destination side.
        dst: Access,
        /// The access on the source side.
        src: Access,
    },
    /// `args`: destination, byte, byte count.
    MemSet(Access),
    /// `args`: for a direct call the arguments, for an indirect one the callee and then the
    /// arguments.
    Call(Box<Call>),
    /// `args`: for each argument of the function its primal value, and after it the shadows its
    /// activity asks for (see [`Activity::shadow_count`]). A request for a derivative.
    Request(Box<Request>),
    /// `args`: the foreign operands. An instruction that core does not model.
    Opaque(Box<Opaque>),

    /// Goes on at a block.
    Jump(Edge),
    /// `args`: condition.
    Branch {
        /// Where to go if the condition is true.
        then: Edge,
        /// Where to go if it is false.
        other: Edge,
    },
    /// `args`: integer.
    Switch {
        /// Values and where to go for each.
        cases: Vec<(u128, Edge)>,
        /// Where to go for other values.
        default: Edge,
    },
    /// `args`: nothing, or the result.
    Return,
    /// Control never gets here.
    Unreachable,
    /// `args`: as for `Call`. The result is defined on the normal edge only and may be passed
    /// along it.
    Invoke {
        /// The call.
        call: Box<Call>,
        /// Where to go when it returns.
        normal: Edge,
        /// Where to go when it unwinds.
        unwind: Edge,
    },
    /// `args`: the foreign operands. A terminator that core does not model.
    OpaqueTerminator {
        /// What it is.
        opaque: Box<Opaque>,
        /// Its successors in the foreign order.
        edges: Vec<Edge>,
    },
}

impl Op {
    /// The edges of a terminator.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Op::Jump(edge) => vec![edge],
            Op::Branch { then, other } => vec![then, other],
            Op::Switch { cases, default } => cases
                .iter()
                .map(|(_, edge)| edge)
                .chain([default])
                .collect(),
            Op::Invoke { normal, unwind, .. } => vec![normal, unwind],
            Op::OpaqueTerminator { edges, .. } => edges.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The edges of a terminator, to be changed.
    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Op::Jump(edge) => vec![edge],
            Op::Branch { then, other } => vec![then, other],
            Op::Switch { cases, default } => cases
                .iter_mut()
                .map(|(_, edge)| edge)
                .chain([default])
                .collect(),
            Op::Invoke { normal, unwind, .. } => vec![normal, unwind],
            Op::OpaqueTerminator { edges, .. } => edges.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether this ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            Op::Jump(_)
                | Op::Branch { .. }
                | Op::Switch { .. }
                | Op::Return
                | Op::Unreachable
                | Op::Invoke { .. }
                | Op::OpaqueTerminator { .. }
        )
    }

    /// The call that this makes, if it is a call or an invoke.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Op::Call(call) | Op::Invoke { call, .. } => Some(call),
            _ => None,
        }
    }

    /// The accesses to memory that this makes itself (not through a callee): for a copy the
    /// destination first.
    pub fn accesses(&self) -> Vec<&Access> {
        match self {
            Op::Load(a) | Op::Store(a) | Op::Accumulate(a) | Op::AtomicRmw(_, a) => vec![a],
            Op::CmpXchg { access, .. } => vec![access],
            Op::MemCopy { dst, src, .. } => vec![dst, src],
            Op::MemSet(a) => vec![a],
            _ => Vec::new(),
        }
    }
}

impl Op {
    /// The same as [`accesses`](Self::accesses), to be changed.
    pub fn accesses_mut(&mut self) -> Vec<&mut Access> {
        match self {
            Op::Load(a) | Op::Store(a) | Op::Accumulate(a) | Op::AtomicRmw(_, a) => vec![a],
            Op::CmpXchg { access, .. } => vec![access],
            Op::MemCopy { dst, src, .. } => vec![dst, src],
            Op::MemSet(a) => vec![a],
            _ => Vec::new(),
        }
    }
}

macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every variant.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The variant of this name in the text form.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

named_enum! {
    /// Operations with one operand of the type of the result.
    UnaryOp {
        /// The sign flipped.
        FNeg "fneg",
        /// Some fixed value where the operand is undef or poison.
        Freeze "freeze",
    }
}

named_enum! {
    /// Operations with two operands of the type of the result.
    BinaryOp {
        /// Integer sum.
        Add "add",
        /// Integer difference.
        Sub "sub",
        /// Integer product.
        Mul "mul",
        /// Unsigned quotient.
        UDiv "udiv",
        /// Signed quotient.
        SDiv "sdiv",
        /// Unsigned remainder.
        URem "urem",
        /// Signed remainder.
        SRem "srem",
        /// Bits shifted up.
        Shl "shl",
        /// Bits shifted down, zeros in.
        LShr "lshr",
        /// Bits shifted down, signs in.
        AShr "ashr",
        /// Bitwise and.
        And "and",
        /// Bitwise or.
        Or "or",
        /// Bitwise exclusive or.
        Xor "xor",
        /// Float sum.
        FAdd "fadd",
        /// Float difference.
        FSub "fsub",
        /// Float product.
        FMul "fmul",
        /// Float quotient.
        FDiv "fdiv",
        /// Float remainder, as C's fmod.
        FRem "frem",
    }
}

impl BinaryOp {
    /// Whether the operands are floats.
    pub fn is_float(self) -> bool {
        self >= BinaryOp::FAdd
    }
}

named_enum! {
    /// Comparisons of integers and pointers.
    IntPred {
        /// Equal.
        Eq "eq",
        /// Different.
        Ne "ne",
        /// Unsigned above.
        Ugt "ugt",
        /// Unsigned above or equal.
        Uge "uge",
        /// Unsigned below.
        Ult "ult",
        /// Unsigned below or equal.
        Ule "ule",
        /// Signed above.
        Sgt "sgt",
        /// Signed above or equal.
        Sge "sge",
        /// Signed below.
        Slt "slt",
        /// Signed below or equal.
        Sle "sle",
    }
}

named_enum! {
    /// Comparisons of floats; `o` ones are false and `u` ones true if an operand is NaN.
    FloatPred {
        /// Always false.
        False "false",
        /// Ordered and equal.
        Oeq "oeq",
        /// Ordered and above.
        Ogt "ogt",
        /// Ordered and above or equal.
        Oge "oge",
        /// Ordered and below.
        Olt "olt",
        /// Ordered and below or equal.
        Ole "ole",
        /// Ordered and different.
        One "one",
        /// Neither is NaN.
        Ord "ord",
        /// Unordered or equal.
        Ueq "ueq",
        /// Unordered or above.
        Ugt "ugt",
        /// Unordered or above or equal.
        Uge "uge",
        /// Unordered or below.
        Ult "ult",
        /// Unordered or below or equal.
        Ule "ule",
        /// Unordered or different.
        Une "une",
        /// Either is NaN.
        Uno "uno",
        /// Always true.
        True "true",
    }
}

named_enum! {
    /// Conversions to the type of the result.
    CastOp {
        /// An integer cut to fewer bits.
        Trunc "trunc",
        /// An integer extended by zeros.
        ZExt "zext",
        /// An integer extended by its sign.
        SExt "sext",
        /// A float to fewer bits.
        FpTrunc "fptrunc",
        /// A float to more bits.
        FpExt "fpext",
        /// A float to an unsigned integer, towards zero.
        FpToUi "fptoui",
        /// A float to a signed integer, towards zero.
        FpToSi "fptosi",
        /// An unsigned integer to a float.
        UiToFp "uitofp",
        /// A signed integer to a float.
        SiToFp "sitofp",
        /// A pointer to an integer.
        PtrToInt "ptrtoint",
        /// An integer to a pointer.
        IntToPtr "inttoptr",
        /// The same bits as another type.
        Bitcast "bitcast",
        /// A pointer in another address space.
        AddrSpaceCast "addrspacecast",
    }
}

named_enum! {
    /// What an atomic read-modify-write does with the old and the given value.
    RmwOp {
        /// Stores the given value.
        Xchg "xchg",
        /// Integer sum.
        Add "add",
        /// Integer difference.
        Sub "sub",
        /// Bitwise and.
        And "and",
        /// Complement of bitwise and.
        Nand "nand",
        /// Bitwise or.
        Or "or",
        /// Bitwise exclusive or.
        Xor "xor",
        /// Signed maximum.
        Max "max",
        /// Signed minimum.
        Min "min",
        /// Unsigned maximum.
        UMax "umax",
        /// Unsigned minimum.
        UMin "umin",
        /// Float sum.
        FAdd "fadd",
        /// Float difference.
        FSub "fsub",
        /// Float maximum.
        FMax "fmax",
        /// Float minimum.
        FMin "fmin",
    }
}

named_enum! {
    /// Atomic orderings.
    Ordering {
        /// Atomic, ordered with nothing.
        Unordered "unordered",
        /// C's relaxed.
        Monotonic "monotonic",
        /// C's acquire.
        Acquire "acquire",
        /// C's release.
        Release "release",
        /// C's acq_rel.
        AcqRel "acq_rel",
        /// C's seq_cst.
        SeqCst "seq_cst",
    }
}

named_enum! {
    /// Who an atomic access synchronizes with.
    SyncScope {
        /// Every thread.
        System "system",
        /// Signal handlers of this thread.
        SingleThread "singlethread",
    }
}

bitflags! {
    /// Promises about operands and permissions for rounding.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Flags: u32 {
        /// No signed wrap.
        const NSW = 1;
        /// No unsigned wrap.
        const NUW = 1 << 1;
        /// A division or shift without remainder.
        const EXACT = 1 << 2;
        /// The operands of an `or` have no bit in common.
        const DISJOINT = 1 << 3;
        /// The operand of a `zext` or `uitofp` is not negative.
        const NNEG = 1 << 4;
        /// The operands of a comparison have the same sign.
        const SAMESIGN = 1 << 5;
        /// An address stays in its object.
        const INBOUNDS = 1 << 6;
        /// Address arithmetic does not wrap, scaled offsets read as signed.
        const NUSW = 1 << 7;
        /// No operand or result is NaN.
        const NNAN = 1 << 8;
        /// No operand or result is infinite.
        const NINF = 1 << 9;
        /// The sign of a zero does not matter.
        const NSZ = 1 << 10;
        /// A division may become a multiplication by the reciprocal.
        const ARCP = 1 << 11;
        /// Operations may be fused.
        const CONTRACT = 1 << 12;
        /// Functions may be approximated.
        const AFN = 1 << 13;
        /// Operations may be reordered.
        const REASSOC = 1 << 14;
    }
}

impl Flags {
    /// All permissions that fast-math gives.
    pub const FAST: Flags = Flags::NNAN
        .union(Flags::NINF)
        .union(Flags::NSZ)
        .union(Flags::ARCP)
        .union(Flags::CONTRACT)
        .union(Flags::AFN)
        .union(Flags::REASSOC);
    /// The order of an adjoint sum is not defined by the source program.
    pub const ADJOINT_SUM: Flags = Flags::REASSOC.union(Flags::NSZ).union(Flags::CONTRACT);
}

/// How memory is accessed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// The alignment in bytes that the address is known to have; 0 means 1.
    pub align: u32,
    /// Whether the access itself is observable.
    pub volatile: bool,
    /// For an atomic access, its ordering and scope.
    pub atomic: Option<(Ordering, SyncScope)>,
    /// The type-based alias class.
    pub tbaa: Option<Tbaa>,
    /// The alias scopes the access belongs to.
    pub scopes: Vec<Scope>,
    /// The alias scopes the access does not touch.
    pub noalias: Vec<Scope>,
    /// Whose memory it is.
    pub region: Region,
}

impl Access {
    /// A plain access of this alignment.
    pub fn aligned(align: u32) -> Access {
        Access {
            align,
            ..Access::default()
        }
    }
}

named_enum! {
    /// Whose memory an access touches, as far as the one who made the instruction knows. Memory
    /// of different regions is never the same memory, except that `user` may be any.
    Region {
        /// Nothing is known.
        User "user",
        /// Memory of the differentiated program.
        Primal "primal",
        /// A tape: memory that Zymase allocates to carry values to the reverse sweep.
        Tape "tape",
        /// Floats in shadow memory.
        Shadow "shadow",
        /// A slot of the derivative's own frame.
        Frame "frame",
    }
}

#[allow(clippy::derivable_impls)] // The variants come from a macro.
impl Default for Region {
    fn default() -> Region {
        Region::User
    }
}

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// The types that the call passes and expects; it may differ from the callee's declaration.
    pub sig: Signature,
    /// Attributes of the call site, on top of those of the function.
    pub attrs: FnAttrs,
    /// Attributes of the arguments at the call site, one for each.
    pub args: Vec<ParamAttrs>,
    /// The foreign calling convention, by number; 0 is C's.
    pub convention: u32,
}

/// What a call calls.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function of the module.
    Direct(Func),
    /// The function whose address is the first operand.
    Indirect,
}

/// The types of a function's parameters and result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// The types of the fixed parameters.
    pub params: Vec<Type>,
    /// The type of the result, or void.
    pub ret: Type,
    /// Whether more arguments may follow.
    pub variadic: bool,
}

impl Signature {
    /// A signature with a fixed number of parameters.
    pub fn new(params: Vec<Type>, ret: Type) -> Signature {
        Signature {
            params,
            ret,
            variadic: false,
        }
    }
}

bitflags! {
    /// What is known of a parameter, an argument or a result.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ParamFlags: u32 {
        /// No other pointer touches what this one touches while the function runs.
        const NOALIAS = 1;
        /// The memory is not written through it.
        const READONLY = 1 << 1;
        /// The memory is not read through it.
        const WRITEONLY = 1 << 2;
        /// The memory is neither read nor written through it.
        const READNONE = 1 << 3;
        /// The callee keeps no copy of the pointer.
        const NOCAPTURE = 1 << 4;
        /// Not null.
        const NONNULL = 1 << 5;
        /// Not undef or poison.
        const NOUNDEF = 1 << 6;
        /// The memory is not freed through it.
        const NOFREE = 1 << 7;
        /// The function returns it.
        const RETURNED = 1 << 8;
        /// An integer extended by its sign in its register.
        const SIGNEXT = 1 << 9;
        /// An integer extended by zeros in its register.
        const ZEROEXT = 1 << 10;
        /// Passed in a register.
        const INREG = 1 << 11;
    }
}

/// Attributes of a parameter, an argument or a result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParamAttrs {
    /// What is known.
    pub flags: ParamFlags,
    /// How many bytes may be read through the pointer.
    pub dereferenceable: u64,
    /// The alignment of the pointer in bytes; 0 is unknown.
    pub align: u32,
    /// For an argument passed as a hidden copy in memory, its type.
    pub byval: Option<Type>,
    /// For a pointer to the memory of the result, its type.
    pub sret: Option<Type>,
}

bitflags! {
    /// What a function may do with some part of memory.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub struct ModRef: u8 {
        /// May read it.
        const READ = 1;
        /// May write it.
        const WRITE = 2;
    }
}

/// What a function may do with memory.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct MemoryEffects {
    /// Memory reached through its pointer arguments.
    pub arguments: ModRef,
    /// Memory that no IR of the program can reach.
    pub inaccessible: ModRef,
    /// All other memory.
    pub other: ModRef,
}

impl Default for MemoryEffects {
    fn default() -> MemoryEffects {
        MemoryEffects {
            arguments: ModRef::all(),
            inaccessible: ModRef::all(),
            other: ModRef::all(),
        }
    }
}

impl MemoryEffects {
    /// No effects at all.
    pub const NONE: MemoryEffects = MemoryEffects {
        arguments: ModRef::empty(),
        inaccessible: ModRef::empty(),
        other: ModRef::empty(),
    };
}

bitflags! {
    /// What is known of a function or a call.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct FnFlags: u32 {
        /// Never returns.
        const NORETURN = 1;
        /// Never unwinds.
        const NOUNWIND = 1 << 1;
        /// Always returns (or unwinds).
        const WILLRETURN = 1 << 2;
        /// Frees no memory.
        const NOFREE = 1 << 3;
        /// Is not to be inlined.
        const NOINLINE = 1 << 4;
        /// No derivative flows through it.
        const INACTIVE = 1 << 5;
        /// Is not the library function its name suggests.
        const NOBUILTIN = 1 << 6;
    }
}

/// Attributes of a function or a call site.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FnAttrs {
    /// What is known.
    pub flags: FnFlags,
    /// What it may do with memory.
    pub memory: MemoryEffects,
    /// For allocation functions, what they do.
    pub alloc: Option<AllocInfo>,
}

/// What an allocation function does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocInfo {
    /// Which kind.
    pub kind: AllocKind,
    /// Whether new memory is zero.
    pub zeroed: bool,
    /// Allocation and deallocation functions fit together if their families are equal.
    pub family: String,
    /// The arguments whose product is the size in bytes.
    pub size_args: Vec<u32>,
    /// The pointer argument of a reallocation or deallocation.
    pub ptr_arg: Option<u32>,
}

named_enum! {
    /// The kinds of allocation functions.
    AllocKind {
        /// Returns new memory.
        Alloc "alloc",
        /// Returns new memory with the old content and frees the old memory.
        Realloc "realloc",
        /// Frees memory.
        Free "free",
    }
}

/// An instruction or terminator that core does not model.
#[derive(Clone, PartialEq, Debug)]
pub struct Opaque {
    /// What the foreign representation calls it, for messages.
    pub name: String,
    /// What it may do with memory.
    pub memory: MemoryEffects,
}

/// A request for a derivative of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The function to differentiate.
    pub func: Func,
    /// Forward or reverse, and which part of it.
    pub mode: Mode,
    /// How many derivatives at once.
    pub width: u32,
    /// The activity of each argument of the function.
    pub args: Vec<Activity>,
    /// The activity of its result.
    pub ret: ReturnActivity,
    /// Whether the primal result is returned before the derivatives.
    pub primal_return: bool,
    /// Whether 0·∞ is 0 everywhere.
    pub strong_zero: bool,
    /// Whether a shadow that equals its primal means inactive.
    pub runtime_activity: bool,
}

named_enum! {
    /// The modes of differentiation.
    Mode {
        /// Tangents along with primal values.
        Forward "forward",
        /// Forward and reverse sweep in one function.
        Combined "combined",
        /// The forward sweep that leaves a tape.
        Augmented "augmented",
        /// The reverse sweep that reads the tape.
        Gradient "gradient",
    }
}

named_enum! {
    /// What the derivative does about an argument.
    Activity {
        /// No derivative.
        Const "const",
        /// A shadow follows the primal.
        Dup "dup",
        /// A shadow follows the primal, and the primal output behind it is not needed.
        DupNoNeed "dupnoneed",
        /// A scalar whose derivative is returned.
        Out "out",
    }
}

impl Activity {
    /// How many shadow operands follow the primal one.
    pub fn shadow_count(self, width: u32) -> usize {
        match self {
            Activity::Const | Activity::Out => 0,
            Activity::Dup | Activity::DupNoNeed => width as usize,
        }
    }
}

named_enum! {
    /// What the derivative does about the result.
    ReturnActivity {
        /// No derivative flows out of the result.
        Const "const",
        /// Reverse: the adjoint of the result is seeded. Forward: its tangent is returned.
        Active "active",
        /// The result is a pointer with a shadow.
        Dup "dup",
    }
}
