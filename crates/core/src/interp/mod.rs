//! The interpreter of the IR, on plain and on dual numbers: the oracle of every test.
//!
//! One code path serves both: every float carries a tangent, and a tangent of zero costs nothing
//! and contributes nothing. A run whose arguments and memory have no seeds is a plain run.
//!
//! The interpreter checks what the semantics in [`ir`](crate::ir) calls an error, and stops the
//! program with a [`Trap`]: accesses out of bounds, to dead objects or below their promised
//! alignment, branches on poison, divisions by zero. Steps, nested calls and memory are limited,
//! so hostile programs stop too. It never recurses on the Rust stack for a call of the program.
//!
//! ```
//! use zymase_core::interp::{Machine, Val};
//! use zymase_core::ir::{Builder, Function, Module, Signature, Type};
//!
//! let mut module = Module::new();
//! let sig = Signature::new(vec![Type::f64()], Type::f64());
//! let mut square = Function::with_entry("square", sig);
//! let (x, entry) = (square.arguments()[0], square.entry());
//! let mut b = Builder::new(&mut square, entry);
//! let product = b.fmul(x, x);
//! b.ret(Some(product));
//! let square = module.funcs.push(square);
//!
//! let mut machine = Machine::new(&module)?;
//! let result = machine.call(square, &[Val::dual(3.0, 1.0)])?;
//! assert_eq!(result, Some(Val::dual(9.0, 6.0)));
//! # Ok::<(), zymase_core::interp::Trap>(())
//! ```

mod access;
mod allocators;
mod calls;
mod cast;
mod cmath;
mod constants;
mod dual;
mod execute;
mod externals;
mod host;
mod image;
mod integers;
mod intrinsics;
mod lanes;
mod machine;
mod math;
mod memory;
mod nest;
mod pieces;
mod printf;
mod scalar;
mod trap;
mod value;

pub use machine::{HostFunction, Machine};
pub use memory::{Memory, ObjectId, ObjectKind};
pub use trap::{Trap, TrapKind};
pub use value::{Float, Int, Pointer, Tag, Val};
