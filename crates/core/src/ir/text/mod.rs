//! The text form of the IR.
//!
//! [`print_module`] and [`parse_module`] are each other's inverse: what is printed reads back as a
//! module that means the same and prints the same. Left out are only origins, the handles of an
//! importer, where nothing depends on them: those of opaque constants and opaque instructions are
//! printed, those of everything else are not. Names of constants are not kept either.
//!
//! ```
//! use zymase_core::ir::text::{parse_module, print_module};
//!
//! let text = "\
//! func @squares(%x: ptr noalias, %n: i64) -> f64 {
//! block0:
//!     jump block1(0, 0.0)
//! block1(v2: i64, v3: f64):
//!     v4 = address %x + 8*v2
//!     v5 = load f64 v4, align 8, tbaa 1
//!     v6 = fmul contract v5, v5 : f64
//!     v7 = fadd v3, v6 : f64
//!     v8 = add nsw v2, 1 : i64
//!     v9 = icmp slt v8, %n
//!     branch v9, block1(v8, v7), block2
//! block2:
//!     return v7
//! }
//!
//! tbaa 0 = \"root\"
//! tbaa 1 = \"double\" under 0
//! ";
//! let module = parse_module(text)?;
//! assert_eq!(print_module(&module), text);
//! # Ok::<(), zymase_core::ir::text::ParseError>(())
//! ```
//!
//! # Words
//!
//! Line breaks are spaces, `;` begins a comment. Texts in quotes have the escapes of Rust.
//! Values are `v0`, `v1`, … or `%name`; the latter is also the value's name for messages. A name
//! that several values have is given where each is defined: `v3 "x" = …`. Blocks are any words.
//! The printer numbers values in order of definition and blocks in layout order. Symbols are
//! `@name`; a name with unusual characters stands in quotes, `@"a name"`.
//!
//! # Modules
//!
//! ```text
//! layout pointer 8, int 16, vector 64                          ; the default is not printed
//! global local constant thread_local inactive @g size 16 align 8   ; defined elsewhere
//! global @h size 24 align 8 = {bytes "00ff", at 8 @f, at 16 (@g + 4), opaque}
//! global @i size 12 align 8 = {f64 1.5, i32 -1}                ; numbers instead of bytes
//! declare local address_taken @f(ptr noalias align(8), i64, ...) -> noundef f64 nounwind
//! func @k(%p: ptr byval({f64, f64}), v1: i64) noinline memory(none) { … }
//! global @j size 16 align 8 source 0                            ; declared as a type of the source
//! rule gradient of @f is @augmented, @reverse handles(dup, const)
//! tbaa 0 = "root"                                              ; tables, numbered in order
//! tbaa 1 = "double" under 0
//! source 0 = size 16 {0: int 8, 8: ptr to 1}                   ; a type of the source program
//! source 1 = size 8 {0: f64}
//! scope 0 = domain 3
//! loc 0 = "a.c":12:5 in "main"
//! loc 1 = "b.h":3:1 in "inlined" inlined at 0
//! ```
//!
//! Attributes of a parameter follow its type, those of the result precede it; words are the names
//! of [`ParamFlags`](crate::ir::ParamFlags) in lower case, and `dereferenceable(n)`, `align(n)`,
//! `byval(type)`, `sret(type)`. Attributes of functions and calls are the names of
//! [`FnFlags`](crate::ir::FnFlags), `memory(read)` or `memory(arguments: readwrite, other: read)`
//! (what is not listed is `none`), and `alloc(realloc, zeroed, family "malloc", size 0 * 1, ptr 0)`;
//! `freed "f" -1 * 0` says that the memory is freed by `f(memory, argument 0)`.
//!
//! Before its first block a body may say what the program declares of the memory behind pointers:
//! `declared %p element 0` for an element of a source type or an array of them, `declared %a object
//! 1` for a variable, `declared %k integers 2` for integers that may hold something else.
//!
//! Types are `void i64 f16 bf16 f32 f64 x86_fp80 f128 ptr ptr(3) <4 x f64> [8 x i32]
//! {i8, f64} <{i8, f64}> opaque "name"`.
//!
//! # Constants
//!
//! `12 -1 0xff` integers; `true false` of the type `i1`; `1.5 1e300 inf nan` floats, or their bits
//! as `0x7ff8000000000000`; `null` and `zero`; `undef`, `poison`; `{1, {2.0, @f}}` aggregates;
//! `@g (@g + 8)` addresses; `origin 3` opaque. A constant is followed by its type, `0:i64`, unless
//! the place gives it: the result or the other operand, a parameter of the callee or the block, a
//! pointer where an address must be. **No space stands before that colon**: with one, the type is
//! that of the result (`sitofp 3:i8 : f64`).
//!
//! # Instructions
//!
//! `result = word flags operands : type, clause, clause, loc 3`. Flags are the names of
//! [`Flags`](crate::ir::Flags) in lower case, or `fast`. The type is that of the result; it may be
//! left out where it follows from operands that are defined further up.
//!
//! ```text
//! v1 = fneg v0 : f64                        v1 = freeze v0 : ptr
//! v2 = add nsw v0, 1 : i64                  v2 = fmul fast v0, v1 : f64
//! v3 = icmp slt v0, 10                      v3 = fcmp olt v0, v1 : <2 x i1>
//! v4 = sext v0 : i64                        v4 = select v0, v1, 2.0 : f64
//! v5 = math sin v0 : f64                    v5 = math powi v0, 3:i32 : f64
//! v6 = extractelement v0, 1 : f64           v6 = insertelement v0, 3.0, 0 : <2 x f64>
//! v7 = shuffle v0, v1, [0, -1, 3] : <3 x f64>
//! v8 = extract v0, [1, 0] : i32             v8 = insert v0, 7, [1, 1] : {f64, [2 x i32]}
//! v9 = alloca f64, align 8                  v9 = alloca i8, v0, align 16
//! v10 = address inbounds v0 + 8*v1 - 4*v2 + v3 - 24
//! v11 = load f64 v0, align 8, volatile, tbaa 1, scopes(0, 1), noalias(2), region shadow
//! store v0, v1, align 8, atomic release singlethread
//! accumulate nsz contract reassoc v0, v1, align 8
//! v12 = atomicrmw fadd v0, v1 : f64, align 8, atomic seq_cst
//! v13 = cmpxchg weak v0, 0, v1 : {i64, i1}, atomic acq_rel, failure monotonic
//! fence seq_cst
//! memcopy v0, v1, v2, dst(align 8, tbaa 1), src(align 16)
//! memmove v0, v1, 16                        memset v0, 0, v2, align 4
//! nest [v20 < v0, v21 < v1 + 1*v20] with (v23: f64 = v2) {   ; see `Nest`; counters are the body's
//!     v22 = load f64 v3 + 8*v21, align 8        ; inputs; factors and bases are the function's
//!     v24 = fmul v22, v23 : f64
//!     sum reassoc v24, v4 + v5*v20, align 8     ; or store, product, max, min
//! }
//! v14 = call @f(v0 noalias, 1), cc 8, nounwind memory(none)
//! v15 = call @f(v0) : (ptr, ...) -> i32     ; a signature other than the declared one
//! v16 = call *v0(v1) : (f64) -> f64         ; indirect
//! v17 = request combined @f(const v0, dup v1 v2, out v3) -> active : f64, width 2,
//!     primal_return, strong_zero, runtime_activity, not_overwritten 1, caller_tape, tape_bytes 64,
//!     keep_tape
//! v18 = request gradient @f(out v0, with v1 v2) -> active : f64  ; operands of no parameter
//! v19 = opaque "landingpad" v0 : {ptr, i32}, memory(read), from origin 3
//! jump block1(v0, 0)
//! branch v0, block1(v1), block2
//! switch v0, 1: block1(v1), -2: block2, default: block3
//! return v0
//! unreachable
//! v20 = invoke @f(v0), to block1(v20), unwind block2, nounwind
//! opaque_terminator "callbr" v0, to block1, to block2(v1), memory(none), from origin 9
//! ```

mod constants;
mod context;
mod cursor;
mod lexer;
mod names;
mod parse_body;
mod parse_calls;
mod parse_inst;
mod parse_nest;
mod parse_parts;
mod parser;
mod print_clauses;
mod print_inst;
mod print_nest;
mod printer;

pub(crate) use names::Names;
pub(crate) use print_inst::InstPrinter;

pub use parser::{ParseError, parse_module};
pub(crate) use printer::function_text;
pub use printer::{print_function, print_module};

impl std::fmt::Display for super::Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print_module(self))
    }
}
