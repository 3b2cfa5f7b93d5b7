//! The codes of messages: one row for each thing that a reader has to know and do about a program.
//!
//! Several messages share a code where the same page helps. A code is never given another meaning
//! and never used again after its message is gone, because people search for it. The first two
//! digits are the area; a page for each is in `docs/errors`.

use std::fmt;

macro_rules! codes {
    ($($number:literal $name:ident $title:literal)*) => {
        /// What a message is about.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = $title] $name = $number,)*
        }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// What it is about, in a few words.
            pub fn title(self) -> &'static str {
                match self {
                    $(Code::$name => $title,)*
                }
            }
        }
    };
}

codes! {
    // Defects.
    1 Defect "a defect of Zymase"
    2 Crashed "a crash inside LLVM"

    // Requests.
    101 UnknownWord "a marker or annotation that does not exist"
    102 UnsupportedWord "a marker, request or registration that is not supported yet"
    103 NoFunction "a request without a function that is known at compile time"
    104 RequestAsValue "a request that is not called directly"
    105 OnlyDeclared "a function to differentiate that has no body"
    106 FoldedMarker "a number where an argument belongs: a marker that an optimizer replaced"
    107 WrongArgument "an argument of another type than the function takes"
    108 ArgumentCount "too few or too many arguments"
    109 MissingShadow "an argument without its shadow"
    110 MarkerAlone "a marker without the value that belongs to it"
    111 WrongMarker "a marker that does not fit its argument"
    112 WrongReturnMarker "a marker that does not fit what the function returns"
    113 NoSeed "a result of several numbers in reverse mode"
    114 WrongResult "a request that is declared with another result than it has"
    115 TapeWords "seeds, tapes and their markers where they do not belong"
    116 AnnotatedValue "an annotation of a local variable, parameter or field"
    117 HintWithoutPointer "a type hint about something that is no memory"
    118 OwnDerivative "a function that asks for its own derivative"

    // Types.
    201 UnknownMemoryType "memory of which the program does not say what it holds"
    202 UnknownCopyType "a copy of memory of which the program does not say what it holds"
    203 UnknownValueType "a value that may be a float or not"
    204 NumbersAndPointers "memory that holds numbers and pointers by turns"
    205 FloatBits "arithmetic on the bits of a float"
    206 FloatsAsText "floats that are handled as characters"

    // Activity.
    301 GlobalWithoutShadow "a derivative through a global variable that is defined elsewhere"
    302 MaybeActive "memory that may have a derivative or not"
    303 MissingPointerShadow "a pointer whose shadow nobody knows"
    304 ConstIntoDup "a copy of memory without a derivative into memory with one"
    305 RuntimeActivity "activity that cannot be decided at run time"

    // Memory.
    401 FreesForeign "freeing memory that the function may not have made"
    402 FreesForeignTwice "a second derivative of a function that frees memory of others"
    403 AllocatorState "an allocator of your own whose bookkeeping is changed"
    404 AtomicFloat "an atomic operation on floats"
    405 TapeTooSmall "memory for a tape that is too small"

    // Calls.
    501 UnknownFunction "a call of a function without a body"
    502 UnknownCallee "a call through a pointer to functions that the program does not have"
    503 Variadic "a function with a variable number of arguments"
    504 MayTouchGlobal "a function without a body that may use a global variable"
    505 NoRule "an operation without a derivative, such as inline assembly"
    506 FormattingChanges "formatting that changes numbers"

    // Rules.
    601 MalformedRule "a registration of a derivative that cannot be read"
    602 RuleTypes "a function of other types than its rule needs"
    603 RuleSignature "a rule for a function whose arguments have no place in rules"
    604 NoFittingRule "no rule for the mode or the activities at hand"
    605 RuleOnce "a rule that cannot run as often as the request needs"
    606 TangentAlone "a tangent without the result of a function that writes to memory"
    607 WrongLike "a function that is said to be like one that it cannot be like"
    608 RuleAndGlobal "a rule for a function that uses a global variable with a derivative"
    609 MalformedAllocator "a registration of an allocator that cannot be followed"

    // Control flow.
    701 Irreducible "a loop with two entries"
    702 NeverReturns "a function that never returns"
    703 Throw "a `throw` of a value with a derivative"
    704 ReturnsTwice "a call that returns twice, such as setjmp"
    705 ComputedJump "a jump to a computed label"
    706 EndlessRecursion "recursion whose calls all need derivatives of their own"

    // Files, tools and links.
    801 CannotRead "a file that cannot be read"
    802 CannotWrite "a file that cannot be written"
    803 InvalidInput "a file that is no valid module or archive"
    804 Target "a machine or type that is not supported"
    805 MissingTool "a compiler or linker that is not there"
    806 NoBitcode "a request in native code"
    807 DefinedTwice "a function that is defined twice"
    808 CannotLink "modules that do not fit together"
    809 Terminal "binary output to a terminal"
    810 CannotGenerate "code that LLVM cannot generate"
    811 Installation "an installation of which a part is missing"

    // Warnings.
    901 ZeroDerivative "a derivative that is always zero"
    902 LargeTape "a derivative that keeps very much"
    903 LostDerivative "active values that are written to const memory"
}

impl Code {
    /// Whether its messages are warnings.
    pub fn is_warning(self) -> bool {
        self as u16 / 100 == 9
    }

    /// The code that text names, as `Z0123` or without the letter or the zeros.
    pub fn parse(text: &str) -> Option<Code> {
        let digits = text.trim_start_matches(['Z', 'z']);
        let number: u16 = digits.parse().ok()?;
        Code::ALL
            .iter()
            .copied()
            .find(|&code| code as u16 == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Z{:04}", *self as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn numbers_are_in_order_and_read_back() {
        assert!(Code::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        for &code in Code::ALL {
            assert_eq!(Code::parse(&code.to_string()), Some(code));
        }
        assert_eq!(Code::parse("z101"), Some(Code::UnknownWord));
        assert_eq!(Code::parse("Z9999"), None);
        assert_eq!(Code::parse("word"), None);
    }
}
