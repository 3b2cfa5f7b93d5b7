//! Derivatives of the basic linear algebra subprograms, which call such subprograms.
//!
//! Calls of `cblas_dgemm` and the like, and of `dgemm_` and the like with everything behind
//! pointers, in single and double precision, are differentiated by the equations of [`mod@forward`] and
//! [`adjoints`]. Each equation is written once; [`emit`] makes calls of the same interface and
//! precision of it. What the program links decides which library runs; Zymase needs none.
//!
//! The products of matrices that Rust programs compute by the crate matrixmultiply are among them:
//! they have one more interface ([`strided`]).
//!
//! Operands that the reverse sweep reads and that may be overwritten before are copied in the
//! forward sweep, and read where they are otherwise.

mod adjoints;
mod emit;
mod finite;
mod forward;
mod operands;
mod reverse;
mod strided;
mod symmetric;
mod triangular;

pub use finite::finite;
pub use forward::forward;
pub use reverse::reverse;

use crate::analysis::known::rust;
use crate::derivative::Key;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{FloatKind, FnFlags, Function, Type};

/// A subprogram: its name without prefix and precision, its parameters in the order that both
/// interfaces share, and what it does with the memory behind each.
type Row = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const ROUTINES: &[Row] = &[
    ("dot",  "n x incx y incy",                                     "- r - r -"),
    ("nrm2", "n x incx",                                            "- r -"),
    ("asum", "n x incx",                                            "- r -"),
    ("axpy", "n alpha x incx y incy",                               "- - r - rw -"),
    ("scal", "n alpha x incx",                                      "- - rw -"),
    ("copy", "n x incx y incy",                                     "- r - w -"),
    ("swap", "n x incx y incy",                                     "- rw - rw -"),
    ("gemv", "trans m n alpha a lda x incx beta y incy",            "- - - - r - r - - rw -"),
    ("ger",  "m n alpha x incx y incy a lda",                       "- - - r - r - rw -"),
    ("gemm", "transa transb m n k alpha a lda b ldb beta c ldc",    "- - - - - - r - r - - rw -"),
    ("syrk", "uplo trans n k alpha a lda beta c ldc",               "- - - - - r - - rw -"),
    ("syr2k", "uplo trans n k alpha a lda b ldb beta c ldc",        "- - - - - r - r - - rw -"),
    ("syr",  "uplo n alpha x incx a lda",                           "- - - r - rw -"),
    ("syr2", "uplo n alpha x incx y incy a lda",                    "- - - r - r - rw -"),
    ("trsv", "uplo trans diag n a lda x incx",                      "- - - - r - rw -"),
    ("trmv", "uplo trans diag n a lda x incx",                      "- - - - r - rw -"),
    ("trmm", "side uplo transa diag m n alpha a lda b ldb",         "- - - - - - - r - rw -"),
    ("symv", "uplo n alpha a lda x incx beta y incy",               "- - - r - r - - rw -"),
    ("symm", "side uplo m n alpha a lda b ldb beta c ldc",          "- - - - - r - r - - rw -"),
    ("trsm", "side uplo transa diag m n alpha a lda b ldb",         "- - - - - - - r - rw -"),
    (STRIDED, "m k n alpha a rsa csa b rsb csb beta c rsc csc",     "- - - - r - - r - - - rw - -"),
];

/// The product of matrices with any strides, which no interface has under a name of its own.
const STRIDED: &str = "(strided product)";

/// A subprogram in one of its interfaces and precisions.
#[derive(Copy, Clone, Debug)]
pub struct Routine {
    row: &'static Row,
    /// Whether everything is behind pointers.
    fortran: bool,
    /// The precision.
    kind: FloatKind,
}

/// What a parameter is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Role {
    Int,
    Flag,
    Scalar,
    Array,
}

/// The subprogram that a function is.
pub fn routine(function: &Function) -> Option<Routine> {
    let flags = function.attrs.flags;
    if !function.is_declaration() || flags.contains(FnFlags::NOBUILTIN) {
        return None;
    }
    let routine = by_name(&function.name)?;
    let params = &function.sig.params;
    // Compilers of Fortran pass the lengths of texts after everything else.
    let count = routine.hidden() + routine.names().count();
    let fits = match routine.fortran {
        true => params.len() >= count && params[..count].iter().all(|ty| ty.is_ptr()),
        false => {
            params.len() == count
                && routine
                    .roles()
                    .zip(&params[routine.hidden()..])
                    .all(|(role, &ty)| match role {
                        Role::Int | Role::Flag => ty.is_int(),
                        Role::Scalar => ty == routine.float(),
                        Role::Array => ty.is_ptr(),
                    })
        }
    };
    let returns = matches!(routine.row.0, "dot" | "nrm2" | "asum");
    let result = match returns {
        true => function.sig.ret == routine.float(),
        false => true,
    };
    (fits && result && !function.sig.variadic).then_some(routine)
}

/// Refuses what subprograms cannot do.
pub fn check(function: &Function, key: &Key) -> Result<()> {
    if !key.runtime_activity {
        return Ok(());
    }
    Err(Diagnostic::new(
        Code::RuntimeActivity,
        format!(
            "cannot decide at run time what has a derivative in `{}`",
            function.name
        ),
        "its derivatives are computed by subprograms, which take whole arrays",
        "ask for the derivative without enzyme_runtime_activity",
    ))
}

/// The subprogram of this name.
pub fn by_name(name: &str) -> Option<Routine> {
    if let Some(kind) = rust::matrix_product(name) {
        let row = ROUTINES.iter().find(|row| row.0 == STRIDED)?;
        return Some(Routine {
            row,
            fortran: false,
            kind,
        });
    }
    let (stem, fortran) = match (name.strip_prefix("cblas_"), name.strip_suffix('_')) {
        (Some(stem), _) => (stem, false),
        (None, Some(stem)) => (stem, true),
        (None, None) => return None,
    };
    let kind = match stem.as_bytes().first()? {
        b'd' => FloatKind::F64,
        b's' => FloatKind::F32,
        _ => return None,
    };
    let row = ROUTINES.iter().find(|row| row.0 == &stem[1..])?;
    Some(Routine { row, fortran, kind })
}

impl Routine {
    /// What it does with the memory behind an argument, in the letters of
    /// [`known`](crate::analysis::known).
    pub fn effect(self, argument: usize) -> &'static str {
        let Some(position) = argument.checked_sub(self.hidden()) else {
            return "-";
        };
        match self.row.2.split(' ').nth(position) {
            Some("-") if self.fortran => "r",
            Some(letters) => letters,
            None => "-",
        }
    }

    fn is_strided(self) -> bool {
        self.row.0 == STRIDED
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        self.row.1.split(' ')
    }

    fn roles(self) -> impl Iterator<Item = Role> {
        self.names().map(|name| match name {
            "alpha" | "beta" => Role::Scalar,
            "x" | "y" | "a" | "b" | "c" => Role::Array,
            "trans" | "transa" | "transb" | "uplo" | "diag" | "side" => Role::Flag,
            _ => Role::Int,
        })
    }

    /// The parameters before the first: the order of elements, for matrices in C.
    fn hidden(self) -> usize {
        let matrix = self.names().any(|name| name.starts_with("ld"));
        usize::from(matrix && !self.fortran)
    }

    /// The position of a parameter.
    fn position(self, name: &str) -> usize {
        let found = self.names().position(|known| known == name);
        match found {
            Some(position) => self.hidden() + position,
            None => panic!("{} has no parameter {name}", self.row.0),
        }
    }

    fn float(self) -> Type {
        Type::float(self.kind)
    }

    /// The name of another subprogram of this interface and precision.
    fn sibling(self, name: &str) -> String {
        let precision = match self.kind {
            FloatKind::F64 => 'd',
            _ => 's',
        };
        match self.fortran {
            true => format!("{precision}{name}_"),
            false => format!("cblas_{precision}{name}"),
        }
    }
}
