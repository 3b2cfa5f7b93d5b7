//! What the names of alias classes say.
//!
//! A class named after a float says that a float is accessed, though the instruction moves an
//! integer. A class named after an integer says less: floats may have been copied into an array
//! of integers, and be moved there by integer accesses.

use super::solver::Solver;
use super::{Cell, Piece, Shape, Types};
use crate::ir::{FloatKind, Function, Module, Op, Tbaa, Type, Value};

impl Solver<'_> {
    /// What the name of an alias class says about an access of this type.
    pub(super) fn tagged(&mut self, tbaa: Option<Tbaa>, pointer: Value, ty: Type) {
        let size = self.size(ty);
        if !ty.is_int_like() || !self.function.ty(pointer).is_ptr() {
            return;
        }
        let mut shape = Shape::default();
        match tbaa.and_then(|tbaa| named(self.module, tbaa)) {
            Some(Cell::Int) if self.tagged_integers => {
                for (offset, piece) in self.shapes[pointer].pieces(0, size) {
                    if piece == Piece::Unknown {
                        shape.insert(offset, Cell::Int);
                    }
                }
            }
            None | Some(Cell::Int) => return,
            Some(cell) => {
                for offset in (0..size).step_by(cell.bytes() as usize) {
                    if offset + cell.bytes() <= size {
                        shape.insert(offset, cell.clone());
                    }
                }
            }
        }
        self.learn(pointer, &shape);
    }
}

impl Types {
    /// Takes the alias class away from integer accesses that move floats. Accesses of the same
    /// memory as floats have another class, if the program does not obey the rules of its
    /// language, and the derivative must not rely on the two being apart.
    pub fn distrust_tags(&self, module: &Module, function: &mut Function) {
        let insts: Vec<_> = function
            .blocks()
            .iter()
            .flat_map(|&block| function.block_insts(block).to_vec())
            .collect();
        for inst in insts {
            let data = function.inst(inst);
            let (value, tbaa) = match &data.op {
                Op::Load(access) => (function.result(inst), access.tbaa),
                Op::Store(access) => (data.args.first().copied(), access.tbaa),
                _ => continue,
            };
            let (Some(value), Some(tbaa)) = (value, tbaa) else {
                continue;
            };
            let pieces = self.pieces(module, function, value);
            let float = |(_, piece): &(i64, Piece)| matches!(piece, Piece::Float(_));
            if named(module, tbaa) == Some(Cell::Int)
                && pieces.iter().any(float)
                && let Op::Load(access) | Op::Store(access) = &mut function.inst_mut(inst).op
            {
                access.tbaa = None;
            }
        }
    }
}

/// What an alias class is named after.
fn named(module: &Module, tbaa: Tbaa) -> Option<Cell> {
    match module.tbaa[tbaa].name.as_str() {
        "float" => Some(Cell::Float(FloatKind::F32)),
        "double" => Some(Cell::Float(FloatKind::F64)),
        "bool" | "_Bool" | "short" | "int" | "long" | "long long" | "__int128" => Some(Cell::Int),
        _ => None,
    }
}
