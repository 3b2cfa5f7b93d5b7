//! What the program declares: debug information as a source of types.

use super::solver::Solver;
use super::{Cell, Piece, Shape, Shared};
use crate::ir::{
    Constant, Declared, Module, Op, SourcePart, SourceType, Symbol, TypeKind, Value, ValueDef,
};

/// Declared pointers are followed this deep.
const DEPTH: u32 = 2;

impl Solver<'_> {
    /// Takes note of the declarations of variables and of what their pointers lead to.
    pub(super) fn learn_declared(&mut self) {
        let function = self.function;
        for (&value, declarations) in &function.declared {
            for declared in declarations {
                let shape = match *declared {
                    Declared::Object(source) => object(self.module, source, DEPTH),
                    Declared::Element(source) => element(self.module, source, DEPTH),
                    Declared::Integers(_) => continue,
                };
                self.learn(value, &shape);
            }
        }
        for value in function.values() {
            if let Some(shape) = self.frame_memory(value) {
                self.learn(value, &shape);
            }
            if let ValueDef::Const(Constant::Address(Symbol::Global(global), offset)) =
                function.def(value)
                && let Some(source) = self.module.globals[*global].source
            {
                let shape = object(self.module, source, DEPTH);
                self.learn(value, &shape.shifted(*offset));
            }
        }
    }

    /// Takes bytes for integers that the program calls so, where nothing else is known of them.
    pub(super) fn learn_integers(&mut self) {
        let function = self.function;
        for (&value, declarations) in &function.declared {
            for declared in declarations {
                let Declared::Integers(source) = *declared else {
                    continue;
                };
                let mut shape = Shape::default();
                for (at, part) in &self.module.sources[source].parts {
                    let SourcePart::Int(bytes) = *part else {
                        continue;
                    };
                    let pieces = self.shapes[value].pieces(*at as i64, bytes as i64);
                    let unknown = pieces.iter().filter(|(_, piece)| *piece == Piece::Unknown);
                    for (inside, _) in unknown {
                        shape.insert(*at as i64 + inside, Cell::Int);
                    }
                }
                self.learn(value, &shape);
            }
        }
    }

    /// Frame memory that is an array of floats and nothing else holds floats, whatever is copied
    /// into it. Structures say less: those of unions have the fields of one of their members.
    fn frame_memory(&self, value: Value) -> Option<Shape> {
        let inst = self.function.def_inst(value)?;
        let Op::Alloca { mut ty, .. } = self.function.inst(inst).op else {
            return None;
        };
        while let TypeKind::Array(element, _) = ty.kind() {
            ty = *element;
        }
        let kind = ty.float_kind()?;
        let mut shape = Shape::default();
        shape.declare(0, Cell::Float(kind));
        shape.declare_element(self.module.layout.size(ty) as i64);
        Some(shape)
    }
}

fn object(module: &Module, source: SourceType, depth: u32) -> Shape {
    let mut shape = Shape::default();
    let data = &module.sources[source];
    let cells = data.parts.iter().map(|(_, part)| match part {
        SourcePart::Int(bytes) => *bytes,
        _ => 1,
    });
    if cells.sum::<u64>() > super::shape::MAX_DECLARED as u64 {
        return shape;
    }
    for (at, part) in &data.parts {
        let at = *at as i64;
        match part {
            SourcePart::Int(bytes) => {
                (at..at + *bytes as i64).for_each(|byte| shape.declare(byte, Cell::Int));
            }
            SourcePart::Float(kind) => shape.declare(at, Cell::Float(*kind)),
            SourcePart::Ptr(to) => {
                let inner = match to {
                    Some(to) if depth > 0 => element(module, *to, depth - 1),
                    _ => Shape::default(),
                };
                shape.declare(at, Cell::Ptr(Shared::new(inner)));
            }
        }
    }
    shape
}

fn element(module: &Module, source: SourceType, depth: u32) -> Shape {
    let mut shape = object(module, source, depth);
    let size = module.sources[source].size as i64;
    if !shape.is_empty() && size > 0 {
        shape.declare_element(size);
    }
    shape
}
