//! What the host does with memory: arrays in, arrays out, seeds and tangents.

use super::image;
use super::memory::{Byte, Memory, ObjectKind};
use super::trap::Trap;
use super::value::{Float, Pointer, Val};
use crate::ir::{DataLayout, FloatKind, Type};

impl Memory {
    /// A new heap array of doubles.
    pub fn new_f64s(&mut self, numbers: &[f64]) -> Result<Pointer, Trap> {
        self.new_array(Type::f64(), numbers.iter().map(|x| Val::f64(*x)))
    }

    /// A new heap array of single-precision floats.
    pub fn new_f32s(&mut self, numbers: &[f32]) -> Result<Pointer, Trap> {
        let ty = Type::float(FloatKind::F32);
        self.new_array(ty, numbers.iter().map(|x| Val::f32(*x)))
    }

    /// A new heap array of 64-bit integers.
    pub fn new_i64s(&mut self, numbers: &[i64]) -> Result<Pointer, Trap> {
        self.new_array(Type::i64(), numbers.iter().map(|n| Val::i64(*n)))
    }

    /// A new heap array of 32-bit integers.
    pub fn new_i32s(&mut self, numbers: &[i32]) -> Result<Pointer, Trap> {
        self.new_array(Type::int(32), numbers.iter().map(|n| Val::i32(*n)))
    }

    /// A new heap array of pointers.
    pub fn new_pointers(&mut self, pointers: &[Pointer]) -> Result<Pointer, Trap> {
        self.new_array(Type::ptr(), pointers.iter().map(|p| Val::Ptr(*p)))
    }

    /// A new heap array of values of one type.
    pub fn new_array(
        &mut self,
        ty: Type,
        values: impl ExactSizeIterator<Item = Val>,
    ) -> Result<Pointer, Trap> {
        let layout = DataLayout::default();
        let stride = layout.size(ty);
        let size = stride.saturating_mul(values.len() as u64);
        let align = u64::from(layout.align(ty)).max(16);
        let start = self.allocate(ObjectKind::Heap, size, align, false)?;
        for (i, value) in values.enumerate() {
            self.store(ty, start.offset((stride * i as u64) as i64), &value)?;
        }
        Ok(start)
    }

    /// The value of a type at an address.
    pub fn load(&mut self, ty: Type, at: Pointer) -> Result<Val, Trap> {
        let layout = DataLayout::default();
        image::check_type(&layout, ty)?;
        let mut bytes = Vec::new();
        self.read(at, layout.store_size(ty), 1, &mut bytes)?;
        image::decode(&layout, ty, &bytes)
    }

    /// Writes a value of a type to an address.
    pub fn store(&mut self, ty: Type, at: Pointer, value: &Val) -> Result<(), Trap> {
        let mut bytes: Vec<Byte> = Vec::new();
        image::encode(&DataLayout::default(), ty, value, &mut bytes)?;
        self.write(at, &bytes, 1)
    }

    /// `count` doubles; poison is an error.
    pub fn f64s(&mut self, at: Pointer, count: usize) -> Result<Vec<f64>, Trap> {
        let floats = self.floats(FloatKind::F64, at, count)?;
        Ok(floats.iter().map(Float::number).collect())
    }

    /// `count` single-precision floats; poison is an error.
    pub fn f32s(&mut self, at: Pointer, count: usize) -> Result<Vec<f32>, Trap> {
        let floats = self.floats(FloatKind::F32, at, count)?;
        Ok(floats.iter().map(|x| x.number() as f32).collect())
    }

    /// `count` floats of a format with their tangents; poison is an error.
    pub fn floats(
        &mut self,
        kind: FloatKind,
        at: Pointer,
        count: usize,
    ) -> Result<Vec<Float>, Trap> {
        let ty = Type::float(kind);
        let stride = DataLayout::default().size(ty) as i64;
        let mut floats = Vec::new();
        for i in 0..count as i64 {
            match self.load(ty, at.offset(i.saturating_mul(stride)))? {
                Val::Float(float) => floats.push(float),
                _ => return Err(Trap::poison(format!("the float number {i} is poison"))),
            }
        }
        Ok(floats)
    }

    /// `count` integers of `width` bits, sign-extended; poison is an error.
    pub fn ints(&mut self, width: u32, at: Pointer, count: usize) -> Result<Vec<i128>, Trap> {
        let ty = Type::int(width);
        let stride = DataLayout::default().size(ty) as i64;
        let mut ints = Vec::new();
        for i in 0..count as i64 {
            match self.load(ty, at.offset(i.saturating_mul(stride)))?.as_int() {
                Some(int) => ints.push(int),
                None => return Err(Trap::poison(format!("the integer number {i} is poison"))),
            }
        }
        Ok(ints)
    }

    /// Seeds the float of a format `offset` bytes after an address.
    pub fn set_tangent(
        &mut self,
        at: Pointer,
        offset: i64,
        kind: FloatKind,
        tangent: f64,
    ) -> Result<(), Trap> {
        let at = at.offset(offset);
        match self.load(Type::float(kind), at)? {
            Val::Float(float) => {
                let seeded = Val::Float(Float { tangent, ..float });
                self.store(Type::float(kind), at, &seeded)
            }
            _ => Err(Trap::poison("a tangent for a float that was never written")),
        }
    }

    /// The tangent of the float of a format `offset` bytes after an address.
    pub fn tangent(&mut self, at: Pointer, offset: i64, kind: FloatKind) -> Result<f64, Trap> {
        let floats = self.floats(kind, at.offset(offset), 1)?;
        Ok(floats.first().map_or(0.0, |float| float.tangent))
    }

    /// Seeds an array of doubles.
    pub fn set_f64_tangents(&mut self, at: Pointer, tangents: &[f64]) -> Result<(), Trap> {
        for (i, tangent) in (0..).zip(tangents) {
            self.set_tangent(at, 8 * i, FloatKind::F64, *tangent)?;
        }
        Ok(())
    }

    /// The tangents of `count` doubles.
    pub fn f64_tangents(&mut self, at: Pointer, count: usize) -> Result<Vec<f64>, Trap> {
        let floats = self.floats(FloatKind::F64, at, count)?;
        Ok(floats.iter().map(|float| float.tangent).collect())
    }
}

impl From<Pointer> for Val {
    fn from(pointer: Pointer) -> Val {
        Val::Ptr(pointer)
    }
}
