//! Access to the bytes of memory, with everything that is an error.

use super::memory::{Byte, Memory, ObjectId, ObjectKind};
use super::trap::{Trap, TrapKind};
use super::value::{Pointer, Tag, Val};

impl Memory {
    /// Appends bytes of memory to `out`.
    pub(super) fn read(
        &mut self,
        pointer: Pointer,
        len: u64,
        align: u32,
        out: &mut Vec<Byte>,
    ) -> Result<(), Trap> {
        let Some((id, start)) = self.locate(pointer, len, align, "read")? else {
            return Ok(());
        };
        let Some(object) = self.object(id) else {
            return Ok(());
        };
        let range = start..start + len as usize;
        out.extend(range.map(|i| {
            let tag = match (object.written[i], object.tags.get(i)) {
                (false, _) => Tag::Poison,
                (true, tag) => tag.copied().unwrap_or_default(),
            };
            let value = object.bytes[i];
            Byte { value, tag }
        }));
        Ok(())
    }

    /// Writes bytes to memory.
    pub(super) fn write(
        &mut self,
        pointer: Pointer,
        bytes: &[Byte],
        align: u32,
    ) -> Result<(), Trap> {
        let len = bytes.len() as u64;
        let Some((id, start)) = self.locate(pointer, len, align, "write")? else {
            return Ok(());
        };
        let tagged = bytes
            .iter()
            .any(|byte| !matches!(byte.tag, Tag::Plain | Tag::Poison));
        let (size, untagged, constant) = match self.object(id) {
            Some(o) => (o.bytes.len(), o.tags.is_empty(), o.constant),
            None => return Ok(()),
        };
        if constant {
            let message = "a write to constant memory";
            return Err(Trap::new(TrapKind::ReadOnly, message));
        }
        if tagged && untagged {
            self.reserve((size * size_of::<Tag>()) as u64)?;
        }
        let Some(object) = self.object_mut(id) else {
            return Ok(());
        };
        if tagged && untagged {
            object.tags = vec![Tag::Plain; size];
        }
        for (i, byte) in (start..).zip(bytes) {
            object.bytes[i] = byte.value;
            object.written[i] = byte.tag != Tag::Poison;
            if let Some(tag) = object.tags.get_mut(i) {
                *tag = byte.tag;
            }
        }
        Ok(())
    }

    /// Checks an access and gives the object and the offset in it; none if no byte is touched.
    pub(super) fn locate(
        &self,
        pointer: Pointer,
        len: u64,
        align: u32,
        verb: &str,
    ) -> Result<Option<(ObjectId, usize)>, Trap> {
        if len == 0 {
            return Ok(None);
        }
        let Pointer { object, address } = pointer;
        let Some(id) = object else {
            return Err(if address == 0 {
                let message = format!("a {verb} through the null pointer");
                Trap::new(TrapKind::NullDereference, message)
            } else {
                let message = format!("a {verb} at address {address:#x}, which is in no object");
                Trap::new(TrapKind::NoProvenance, message)
            });
        };
        let Some(object) = self.object(id) else {
            return Err(match id.kind() {
                ObjectKind::Heap => {
                    let message = format!("a {verb} of memory that was freed");
                    Trap::new(TrapKind::UseAfterFree, message)
                }
                _ => {
                    let message =
                        format!("a {verb} of frame memory of a function that has returned");
                    Trap::new(TrapKind::DeadFrame, message)
                }
            });
        };
        let size = object.bytes.len() as u64;
        let start = address.wrapping_sub(object.base);
        if start > size || len > size - start {
            let message = format!(
                "a {verb} of {len} bytes at offset {} of an object of {size} bytes",
                start as i64
            );
            return Err(Trap::new(TrapKind::OutOfBounds, message));
        }
        if !address.is_multiple_of(u64::from(align.max(1))) {
            let message = format!(
                "a {verb} at offset {start} of an object promises alignment {align}, \
                 and the address {address:#x} does not have it"
            );
            return Err(Trap::new(TrapKind::Misaligned, message));
        }
        Ok(Some((id, start as usize)))
    }

    /// Makes the content of a live object uninitialized again.
    pub(super) fn forget(&mut self, pointer: Pointer) {
        if let Some(object) = pointer.object.and_then(|id| self.object_mut(id)) {
            object.written.fill(false);
        }
    }

    /// Copies bytes with everything they carry.
    pub(super) fn copy(
        &mut self,
        to: Pointer,
        from: Pointer,
        len: u128,
        overlapping: bool,
        to_align: u32,
        from_align: u32,
    ) -> Result<(), Trap> {
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        self.locate(from, len, from_align, "read")?;
        self.locate(to, len, to_align, "write")?;
        self.count_steps(len / 8)?;
        let distance = to.address.abs_diff(from.address);
        if !overlapping && distance != 0 && distance < len {
            let message = "a copy between ranges that overlap and should not";
            return Err(Trap::new(TrapKind::Overlap, message));
        }
        let mut bytes = Vec::new();
        self.read(from, len, from_align, &mut bytes)?;
        self.write(to, &bytes, to_align)
    }

    /// Sets bytes to a value.
    pub(super) fn fill(
        &mut self,
        to: Pointer,
        byte: &Val,
        len: u128,
        align: u32,
    ) -> Result<(), Trap> {
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        self.locate(to, len, align, "write")?;
        self.count_steps(len / 8)?;
        let byte = match byte {
            Val::Int(int) if !int.has_poison() => Byte::plain(int.unsigned() as u8),
            _ => Byte::POISON,
        };
        self.write(to, &vec![byte; len as usize], align)
    }
}
