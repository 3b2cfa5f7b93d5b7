//! Constants as values, and the initial content of global variables.

use super::image;
use super::machine::Machine;
use super::memory::Byte;
use super::trap::Trap;
use super::value::{Float, Int, Pointer, Val};
use crate::ir::{Constant, Global, Type};

impl Machine<'_> {
    pub(super) fn constant(&self, ty: Type, constant: &Constant) -> Result<Val, Trap> {
        let layout = self.layout();
        image::check_type(layout, ty)?;
        Ok(match constant {
            Constant::Int(bits) => match ty.int_bits() {
                Some(width) => Val::Int(Int::new(width, *bits)),
                None => return Err(Trap::malformed(format!("an integer of type {ty}"))),
            },
            Constant::Float(bits) => match ty.float_kind() {
                Some(kind) => Val::Float(Float {
                    kind,
                    bits: *bits,
                    tangent: 0.0,
                }),
                None => return Err(Trap::malformed(format!("a float of type {ty}"))),
            },
            Constant::Zero => image::zero(layout, ty)?,
            Constant::Undef | Constant::Poison => Val::Poison,
            Constant::Aggregate(parts) => {
                let part = |(i, part): (usize, &Constant)| match ty.part(i as u64) {
                    Some(part_ty) => self.constant(part_ty, part),
                    None => Err(Trap::malformed(format!("too many parts for {ty}"))),
                };
                let parts = parts.iter().enumerate().map(part);
                Val::Aggregate(parts.collect::<Result<_, _>>()?)
            }
            Constant::Address(symbol, offset) => {
                let base = self.address(*symbol).as_ptr().unwrap_or(Pointer::NULL);
                let address = base.offset(*offset);
                match ty.int_bits() {
                    Some(width) => Val::Int(Int::from_pointer(width, address)),
                    None => Val::Ptr(address),
                }
            }
            Constant::Opaque(_) => {
                return Err(Trap::unsupported("a constant that is not modelled"));
            }
        })
    }

    pub(super) fn initialize(&mut self, global: Global) -> Result<(), Trap> {
        let data = &self.module.globals[global];
        let (Some(init), Some(address)) = (&data.init, self.globals[global]) else {
            return Ok(());
        };
        if !init.opaque {
            let bytes: Vec<Byte> = init.bytes.iter().map(|b| Byte::plain(*b)).collect();
            self.memory.write(address, &bytes, 1)?;
            for (offset, symbol, addend) in &init.relocations {
                let constant = Constant::Address(*symbol, *addend);
                let value = self.constant(Type::ptr(), &constant)?;
                let mut bytes = Vec::new();
                image::encode(self.layout(), Type::ptr(), &value, &mut bytes)?;
                self.memory
                    .write(address.offset(*offset as i64), &bytes, 1)?;
            }
        }
        if let (true, Some(id)) = (data.constant, address.object) {
            self.memory.protect(id);
        }
        Ok(())
    }
}
