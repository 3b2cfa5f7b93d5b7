//! Memory: objects of bytes, and the budget of steps and space.
//!
//! An object lives in a slot; slots are used again, and a generation tells a pointer to the old
//! object from one to the new. Addresses are never used again. An object of alignment `a` is
//! placed at an address that is no multiple of `2a`, so that a promise of more alignment than
//! there is does not hold by luck.

use super::trap::{Trap, TrapKind};
use super::value::{Pointer, Tag};

/// The bytes of every live object, and how much more the program may do.
#[derive(Debug)]
pub struct Memory {
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    next_address: u64,
    live_heap: usize,
    used: u64,
    /// The most bytes that may be live, bookkeeping included.
    pub(super) byte_limit: u64,
    pub(super) steps: u64,
    /// The most steps that may be done.
    pub(super) step_limit: u64,
}

/// The name of an object, dead or alive.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct ObjectId {
    slot: u32,
    generation: u32,
    kind: ObjectKind,
}

impl ObjectId {
    /// What the object is.
    pub fn kind(self) -> ObjectKind {
        self.kind
    }
}

/// What an object is.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum ObjectKind {
    /// Memory of a frame.
    Frame,
    /// Memory of the heap.
    Heap,
    /// A global variable.
    Global,
    /// A function, which has an address and no bytes.
    Function,
}

/// One byte and what it is besides its value.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Byte {
    pub value: u8,
    pub tag: Tag,
}

impl Byte {
    pub const POISON: Byte = Byte {
        value: 0,
        tag: Tag::Poison,
    };

    pub fn plain(value: u8) -> Byte {
        let tag = Tag::Plain;
        Byte { value, tag }
    }
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    object: Option<Object>,
}

#[derive(Debug)]
struct Object {
    base: u64,
    bytes: Vec<u8>,
    written: Vec<bool>,
    /// Empty until a byte with a tag is stored.
    tags: Vec<Tag>,
    constant: bool,
}

/// What an object costs besides its bytes.
const OVERHEAD: u64 = 128;
/// What a byte costs: itself and whether it was written.
const BYTE_COST: u64 = 2;

impl Memory {
    pub(super) fn new() -> Memory {
        Memory {
            slots: Vec::new(),
            free_slots: Vec::new(),
            next_address: 0x1_0000,
            live_heap: 0,
            used: 0,
            byte_limit: 1 << 30,
            steps: 0,
            step_limit: 100_000_000,
        }
    }

    /// A new object.
    pub(super) fn allocate(
        &mut self,
        kind: ObjectKind,
        size: u64,
        align: u64,
        zeroed: bool,
    ) -> Result<Pointer, Trap> {
        let cost = size.saturating_mul(BYTE_COST).saturating_add(OVERHEAD);
        self.reserve(cost)?;
        self.count_steps(size / 64)?;
        let align = align.max(1);
        if !align.is_power_of_two() || align > 1 << 32 {
            return Err(Trap::malformed(format!("an alignment of {align} bytes")));
        }
        let base = self
            .next_address
            .checked_next_multiple_of(2 * align)
            .and_then(|base| base.checked_add(align));
        let next = base.and_then(|base| base.checked_add(size.max(1)));
        let (Some(base), Some(next)) = (base, next) else {
            return Err(out_of_memory());
        };
        self.next_address = next;
        let object = Object {
            base,
            bytes: vec![0; size as usize],
            written: vec![zeroed; size as usize],
            tags: Vec::new(),
            constant: kind == ObjectKind::Function,
        };
        let slot = match self.free_slots.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(Slot {
                    generation: 0,
                    object: None,
                });
                (self.slots.len() - 1) as u32
            }
        };
        let place = &mut self.slots[slot as usize];
        place.object = Some(object);
        let generation = place.generation;
        self.live_heap += usize::from(kind == ObjectKind::Heap);
        Ok(Pointer {
            object: Some(ObjectId {
                slot,
                generation,
                kind,
            }),
            address: base,
        })
    }

    /// Memory of the heap, as `malloc` returns it.
    pub fn allocate_heap(&mut self, size: u64, align: u64) -> Result<Pointer, Trap> {
        self.allocate(ObjectKind::Heap, size, align, false)
    }

    /// Frees memory of the heap; null is allowed.
    pub fn free(&mut self, pointer: Pointer) -> Result<(), Trap> {
        if pointer == Pointer::NULL {
            return Ok(());
        }
        let Some(id) = pointer.object.filter(|id| id.kind == ObjectKind::Heap) else {
            let message = "a free of memory that is not of the heap";
            return Err(Trap::new(TrapKind::InvalidFree, message));
        };
        match self.object(id) {
            None => {
                let message = "memory was freed a second time";
                Err(Trap::new(TrapKind::DoubleFree, message))
            }
            Some(object) if object.base != pointer.address => {
                let inside = pointer.address.wrapping_sub(object.base) as i64;
                let message = format!("a free at {inside} bytes from the start of the object");
                Err(Trap::new(TrapKind::InvalidFree, message))
            }
            Some(_) => {
                self.release_object(id);
                Ok(())
            }
        }
    }

    /// Ends the life of an object.
    pub(super) fn release_object(&mut self, id: ObjectId) {
        let slot = &mut self.slots[id.slot as usize];
        if slot.generation != id.generation {
            return;
        }
        if let Some(object) = slot.object.take() {
            self.used = self.used.saturating_sub(object.cost());
            slot.generation = slot.generation.wrapping_add(1);
            self.free_slots.push(id.slot);
            self.live_heap -= usize::from(id.kind == ObjectKind::Heap);
        }
    }

    /// How many heap objects have not been freed.
    pub fn live_heap_objects(&self) -> usize {
        self.live_heap
    }

    /// The size of the live object that a pointer points into.
    pub fn object_size(&self, pointer: Pointer) -> Option<u64> {
        Some(self.object(pointer.object?)?.bytes.len() as u64)
    }

    /// The distance in bytes of a pointer from the start of its live object.
    pub fn object_offset(&self, pointer: Pointer) -> Option<i64> {
        let object = self.object(pointer.object?)?;
        Some(pointer.address.wrapping_sub(object.base) as i64)
    }

    /// Makes the content of a live object uninitialized again.
    pub(super) fn forget(&mut self, pointer: Pointer) {
        let Some(id) = pointer.object.filter(|id| self.object(*id).is_some()) else {
            return;
        };
        if let Some(object) = self.slots[id.slot as usize].object.as_mut() {
            object.written.fill(false);
        }
    }

    /// Makes an object read-only.
    pub(super) fn protect(&mut self, id: ObjectId) {
        if let Some(object) = self.slots[id.slot as usize].object.as_mut() {
            object.constant = true;
        }
    }

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
        let Some(object) = self.slots[id.slot as usize].object.as_ref() else {
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
        let Some(object) = self.slots[id.slot as usize].object.as_mut() else {
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
            return Err(match id.kind {
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

    /// Counts work done.
    pub(super) fn count_steps(&mut self, steps: u64) -> Result<(), Trap> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.step_limit {
            let message = format!("more than {} steps", self.step_limit);
            return Err(Trap::new(TrapKind::StepLimit, message));
        }
        Ok(())
    }

    /// Takes space from the budget.
    pub(super) fn reserve(&mut self, cost: u64) -> Result<(), Trap> {
        let used = self.used.saturating_add(cost);
        if used > self.byte_limit {
            return Err(out_of_memory());
        }
        self.used = used;
        Ok(())
    }

    /// Gives space back to the budget.
    pub(super) fn give_back(&mut self, cost: u64) {
        self.used = self.used.saturating_sub(cost);
    }

    fn object(&self, id: ObjectId) -> Option<&Object> {
        let slot = self.slots.get(id.slot as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        slot.object.as_ref()
    }
}

impl Object {
    fn cost(&self) -> u64 {
        let bytes = self.bytes.len() as u64 * BYTE_COST;
        OVERHEAD + bytes + (self.tags.len() * size_of::<Tag>()) as u64
    }
}

fn out_of_memory() -> Trap {
    Trap::new(TrapKind::MemoryLimit, "more memory than the limit allows")
}
