//! The names of operations: small enumerations, each with its words in the text form.

/// An enumeration whose variants have names in the text form.
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

pub(super) use named_enum;

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
