//! Memory: objects of bytes, and the budget of steps and space.
//!
//! An object lives in a slot; slots are used again, and a generation tells a pointer to the old
//! object from one to the new. Addresses are never used again. An object of alignment `a` is
//! placed at an address that is no multiple of `2a`, so that a promise of more alignment than
//! there is does not hold by luck.

use super::trap::{Trap, TrapKind};
use super::value::{Pointer, Tag};
use crate::support::STACKS;

/// The bytes of every live object, and how much more the program may do.
#[derive(Debug)]
pub struct Memory {
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    /// What is on each of the [`STACKS`], in the order it was made.
    stacks: [Vec<Pointer>; 2],
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
pub(super) struct Object {
    pub base: u64,
    pub bytes: Vec<u8>,
    pub written: Vec<bool>,
    /// Empty until a byte with a tag is stored.
    pub tags: Vec<Tag>,
    pub constant: bool,
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
            stacks: Default::default(),
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
            Some(_) if self.stacks.iter().flatten().any(|&made| made == pointer) => {
                let message = "a free of memory that is on a stack";
                Err(Trap::new(TrapKind::InvalidFree, message))
            }
            Some(_) => {
                self.release_object(id);
                Ok(())
            }
        }
    }

    /// Notes that memory was made by an allocator: some are stacks.
    pub(super) fn push(&mut self, family: &str, made: Pointer) {
        if let Some(stack) = STACKS.iter().position(|&name| name == family) {
            self.stacks[stack].push(made);
        }
    }

    /// Takes memory that is freed from the stack that it is on.
    pub(super) fn pop(&mut self, family: &str, freed: Pointer) -> Result<(), Trap> {
        let stack = STACKS.iter().position(|&name| name == family);
        let Some(stack) = stack.filter(|_| freed != Pointer::NULL) else {
            return Ok(());
        };
        match self.stacks[stack].pop() {
            Some(last) if last == freed => Ok(()),
            _ => {
                let message = "what was made last on a stack is not freed first";
                Err(Trap::new(TrapKind::InvalidFree, message))
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

    /// Makes an object read-only.
    pub(super) fn protect(&mut self, id: ObjectId) {
        if let Some(object) = self.object_mut(id) {
            object.constant = true;
        }
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

    /// A live object, to be changed.
    pub(super) fn object_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        slot.object.as_mut()
    }

    /// A live object.
    pub(super) fn object(&self, id: ObjectId) -> Option<&Object> {
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
