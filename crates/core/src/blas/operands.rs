//! The operands of a subprogram by name, where the function around it finds them.

use super::emit::Emit;
use super::{Role, Routine};
use crate::derivative::Key;
use crate::ir::{Access, Activity, Function, Region, Type, Value};

/// The operands of a subprogram in a derivative of it.
pub(super) struct Operands<'k> {
    pub routine: Routine,
    pub key: &'k Key,
    params: Vec<Value>,
    /// Where the numbers behind pointers are that the forward sweep has read, if this is the
    /// reverse sweep.
    frame: Option<Value>,
}

impl<'k> Operands<'k> {
    /// The operands among the parameters of a derivative.
    pub fn new(routine: Routine, key: &'k Key, func: &Function, frame: Option<Value>) -> Self {
        Operands {
            routine,
            key,
            params: func.arguments().to_vec(),
            frame,
        }
    }

    /// The bytes of the frame: eight for each operand, and as many for the result.
    pub fn frame_bytes(routine: Routine) -> u64 {
        8 * (routine.names().count() as u64 + 1)
    }

    fn index(&self, position: usize) -> usize {
        let before = self.key.args[..position].iter();
        let shadows = before.map(|activity| activity.shadow_count(self.key.width));
        position + shadows.sum::<usize>()
    }

    /// The parameter itself.
    pub fn param(&self, name: &str) -> Value {
        self.params[self.index(self.routine.position(name))]
    }

    /// The order of elements of matrices, where the interface has one.
    pub fn order(&self) -> Option<Value> {
        (self.routine.hidden() > 0).then(|| self.params[0])
    }

    /// Whether a derivative by an operand is asked for.
    pub fn is_active(&self, name: &str) -> bool {
        self.key.args[self.routine.position(name)] != Activity::Const
    }

    /// The shadow of an operand in derivative `k`.
    pub fn shadow(&self, name: &str, k: usize) -> Option<Value> {
        let position = self.routine.position(name);
        let has = self.key.args[position].shadow_count(self.key.width) > 0;
        has.then(|| self.params[self.index(position) + 1 + k])
    }

    /// The number, integer or flag that an operand is.
    pub fn number(&self, e: &mut Emit<'_, '_>, name: &str) -> Value {
        let param = self.param(name);
        if !self.routine.fortran {
            return param;
        }
        let ty = self.ty(e, name);
        match self.frame {
            Some(frame) => self.kept(e, frame, name, ty),
            None => {
                let access = Access::aligned(e.module.layout.align(ty));
                e.builder.load(ty, param, access)
            }
        }
    }

    fn ty(&self, e: &Emit<'_, '_>, name: &str) -> Type {
        let mut roles = self.routine.names().zip(self.routine.roles());
        match roles.find(|(known, _)| *known == name) {
            Some((_, Role::Scalar)) => self.routine.float(),
            Some((_, Role::Flag)) => Type::int(8),
            _ => e.int,
        }
    }

    /// Reads what the forward sweep left for an operand.
    pub fn kept(&self, e: &mut Emit<'_, '_>, frame: Value, name: &str, ty: Type) -> Value {
        let address = e.builder.offset(frame, self.slot(name));
        e.builder.load(ty, address, tape(e, ty))
    }

    /// Leaves something for an operand to the reverse sweep.
    pub fn keep(&self, e: &mut Emit<'_, '_>, frame: Value, name: &str, value: Value) {
        let ty = e.builder.func.ty(value);
        let address = e.builder.offset(frame, self.slot(name));
        let access = tape(e, ty);
        e.builder.store(value, address, access);
    }

    /// The offset of an operand in the frame; the result comes after all.
    fn slot(&self, name: &str) -> i64 {
        let mut names = self.routine.names();
        let count = self.routine.names().count();
        8 * names.position(|known| known == name).unwrap_or(count) as i64
    }

    /// Keeps all numbers that are behind pointers.
    pub fn keep_numbers(&self, e: &mut Emit<'_, '_>, frame: Value) {
        if !self.routine.fortran {
            return;
        }
        for (name, role) in self.routine.names().zip(self.routine.roles()) {
            if role != Role::Array {
                let value = self.number(e, name);
                self.keep(e, frame, name, value);
            }
        }
    }

    /// The bytes that an array covers.
    pub fn bytes(&self, e: &mut Emit<'_, '_>, name: &str) -> Value {
        let mut n = |name: &str| self.number(e, name);
        match (self.routine.row.0, name) {
            ("gemv", "x" | "y") => {
                let (m, n) = (n("m"), n("n"));
                let inc = self.number(e, if name == "x" { "incx" } else { "incy" });
                let trans = self.number(e, "trans");
                let is_plain = e.is_plain(trans);
                let (long, short) = if name == "x" { (n, m) } else { (m, n) };
                let length = e.builder.select(is_plain, long, short);
                e.vector_bytes(length, inc)
            }
            ("ger", "x") => {
                let (length, inc) = (n("m"), n("incx"));
                e.vector_bytes(length, inc)
            }
            (_, "x") => {
                let (length, inc) = (n("n"), n("incx"));
                e.vector_bytes(length, inc)
            }
            (_, "y") => {
                let (length, inc) = (n("n"), n("incy"));
                e.vector_bytes(length, inc)
            }
            _ => {
                let ((rows, columns), ld) = self.matrix(e, name);
                e.matrix_bytes(rows, columns, ld)
            }
        }
    }

    /// Whether an operand is behind a pointer.
    pub fn param_is_memory(&self, name: &str) -> bool {
        let mut roles = self.routine.names().zip(self.routine.roles());
        self.routine.fortran || roles.any(|(n, role)| n == name && role == Role::Array)
    }

    /// The distance of the elements of an array in bytes; what is between the lines of a matrix
    /// counts as part of it.
    pub fn period(&self, e: &mut Emit<'_, '_>, name: &str) -> Value {
        let size = e
            .builder
            .func
            .iconst(Type::i64(), i128::from(self.routine.kind.bytes()));
        let increment = match name {
            "x" => "incx",
            "y" => "incy",
            _ => return size,
        };
        let increment = self.number(e, increment);
        let stride = e.distance(increment);
        e.builder.mul(stride, size)
    }

    /// The size of a matrix in memory, and the distance of its lines.
    pub fn matrix(&self, e: &mut Emit<'_, '_>, name: &str) -> ((Value, Value), Value) {
        let (rows, columns, ld, trans) = match (self.routine.row.0, name) {
            ("gemm", "a") => ("m", "k", "lda", Some("transa")),
            ("gemm", "b") => ("k", "n", "ldb", Some("transb")),
            ("gemm", _) => ("m", "n", "ldc", None),
            ("syrk" | "syr2k", "a") => ("n", "k", "lda", Some("trans")),
            ("syr2k", "b") => ("n", "k", "ldb", Some("trans")),
            ("syrk" | "syr2k", _) => ("n", "n", "ldc", None),
            ("trsv" | "trmv" | "symv" | "syr" | "syr2", _) => ("n", "n", "lda", None),
            ("symm", "c") => ("m", "n", "ldc", None),
            ("trsm" | "trmm" | "symm", "b") => ("m", "n", "ldb", None),
            ("trsm" | "trmm" | "symm", _) => {
                let side = self.number(e, "side");
                let left = e.is_flag(side, b'l', 141);
                let (m, n) = (self.number(e, "m"), self.number(e, "n"));
                let size = e.builder.select(left, m, n);
                return ((size, size), self.number(e, "lda"));
            }
            _ => ("m", "n", "lda", None),
        };
        let (rows, columns) = (self.number(e, rows), self.number(e, columns));
        let ld = self.number(e, ld);
        let Some(trans) = trans else {
            return ((rows, columns), ld);
        };
        let trans = self.number(e, trans);
        let is_plain = e.is_plain(trans);
        let first = e.builder.select(is_plain, rows, columns);
        let second = e.builder.select(is_plain, columns, rows);
        ((first, second), ld)
    }
}

fn tape(e: &Emit<'_, '_>, ty: Type) -> Access {
    Access {
        align: e.module.layout.align(ty).min(8),
        region: Region::Tape,
        ..Access::default()
    }
}
