//! What one function or call may do with memory.

use crate::ir::{AllocInfo, AllocKind, FnFlags, MemoryEffects, ModRef, ParamAttrs, ParamFlags};
use bitflags::bitflags;

bitflags! {
    /// What a call may do through a pointer argument, or pointers computed from it (not through
    /// pointers that it finds in memory).
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ArgEffects: u8 {
        /// Reads what it points to.
        const READ = 1;
        /// Writes what it points to.
        const WRITE = 2;
        /// Frees what it points to.
        const FREE = 4;
        /// Keeps a copy of it where it can be found after the call.
        const CAPTURE = 8;
        /// Returns it, or a pointer computed from it.
        const RETURN = 16;
    }
}

/// What a function or a call may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Through each argument; those past the end do what `further` says.
    pub args: Vec<ArgEffects>,
    /// Through arguments that are not listed.
    pub further: ArgEffects,
    /// To memory that the program can reach otherwise: globals, and what pointers in memory
    /// point to.
    pub other: ModRef,
    /// Whether none of what it writes there is an address.
    pub plain: bool,
    /// Whether it may free memory that the program can reach otherwise.
    pub frees_other: bool,
    /// To memory that no IR of the program can reach.
    pub inaccessible: ModRef,
    /// Whether the result is new memory that no other pointer reaches.
    pub fresh: bool,
    /// Whether new memory that it returns holds no address yet.
    pub blank: bool,
    /// Whether memory that it made may be reached after it: from the result, or from what it wrote.
    pub leaves: bool,
    /// Whether the result may be an address that it found in memory.
    pub finds: bool,
    /// Whether it may write addresses that it found in memory to other memory.
    pub moves: bool,
    /// Whether it may find addresses in memory that neither its arguments lead to nor it made.
    pub outside: bool,
}

impl Summary {
    /// Nothing at all.
    pub fn none() -> Summary {
        Summary {
            args: Vec::new(),
            further: ArgEffects::empty(),
            other: ModRef::empty(),
            plain: true,
            frees_other: false,
            inaccessible: ModRef::empty(),
            fresh: false,
            blank: false,
            leaves: false,
            finds: false,
            moves: false,
            outside: false,
        }
    }

    /// Anything.
    pub fn anything() -> Summary {
        Summary {
            args: Vec::new(),
            further: ArgEffects::all(),
            other: ModRef::all(),
            plain: false,
            frees_other: true,
            inaccessible: ModRef::all(),
            fresh: false,
            blank: false,
            leaves: false,
            finds: true,
            moves: true,
            outside: true,
        }
    }

    /// What it may do through an argument.
    pub fn arg(&self, index: usize) -> ArgEffects {
        self.args.get(index).copied().unwrap_or(self.further)
    }

    /// Whether it may write addresses to memory that the program can reach otherwise.
    pub fn may_place_elsewhere(&self) -> bool {
        self.other.contains(ModRef::WRITE) && !self.plain
    }

    /// Whether it may write or free memory that the program can reach.
    pub fn may_write(&self) -> bool {
        let writes = ArgEffects::WRITE | ArgEffects::FREE;
        self.other.contains(ModRef::WRITE)
            || self.frees_other
            || self.further.intersects(writes)
            || self.args.iter().any(|arg| arg.intersects(writes))
    }

    /// Whether it may read memory that the program can reach.
    pub fn may_read(&self) -> bool {
        self.other.contains(ModRef::READ)
            || self.further.contains(ArgEffects::READ)
            || self.args.iter().any(|arg| arg.contains(ArgEffects::READ))
    }

    /// What a function of the program's own does that allocates or frees, given what is known of it
    /// otherwise. Memory that it hands out or takes back has nothing to do with what it keeps in
    /// between, so it finds and moves no addresses; but it may change its state, in variables and
    /// behind its arguments.
    pub(super) fn allocate(&mut self, info: &AllocInfo, params: usize) {
        let own = ArgEffects::READ | ArgEffects::WRITE;
        self.further &= own;
        for index in 0..params {
            self.set_arg(index, self.arg(index) & own);
        }
        if let Some(pointer) = info.ptr_arg {
            let mut effects = ArgEffects::FREE;
            effects.set(ArgEffects::READ, info.kind == AllocKind::Realloc);
            self.set_arg(pointer as usize, effects);
        }
        self.fresh = info.kind != AllocKind::Free;
        self.blank = info.kind == AllocKind::Alloc;
        self.moves = info.kind == AllocKind::Realloc;
        (self.frees_other, self.leaves, self.finds, self.outside) = (false, false, false, false);
    }

    /// Leaves what is read alone: what a function writes or keeps that never returns, no caller gets
    /// to see.
    pub(super) fn only_read(&mut self) {
        let memory = MemoryEffects {
            arguments: ModRef::READ,
            inaccessible: ModRef::READ,
            other: ModRef::READ,
        };
        self.limit(FnFlags::NOFREE, memory, &[]);
        self.plain = true;
        (self.leaves, self.finds, self.moves, self.outside) = (false, false, false, false);
    }

    /// What one of several functions may do.
    pub(super) fn any_of<'s>(mut all: impl Iterator<Item = &'s Summary>) -> Option<Summary> {
        let mut any = all.next()?.clone();
        for other in all {
            for index in 0..any.args.len().max(other.args.len()) {
                any.add_arg(index, other.arg(index));
            }
            any.leaves |= other.leaves || any.fresh != other.fresh;
            any.fresh &= other.fresh;
            any.blank &= other.blank;
            any.further |= other.further;
            any.other |= other.other;
            any.plain &= other.plain;
            any.inaccessible |= other.inaccessible;
            any.frees_other |= other.frees_other;
            any.finds |= other.finds;
            any.moves |= other.moves;
            any.outside |= other.outside;
        }
        Some(any)
    }

    pub(super) fn set_arg(&mut self, index: usize, effects: ArgEffects) {
        while self.args.len() <= index {
            self.args.push(self.further);
        }
        self.args[index] = effects;
    }

    pub(super) fn add_arg(&mut self, index: usize, effects: ArgEffects) {
        let old = self.arg(index);
        self.set_arg(index, old | effects);
    }

    /// Removes what attributes exclude.
    pub(super) fn limit(&mut self, flags: FnFlags, memory: MemoryEffects, params: &[ParamAttrs]) {
        self.other &= memory.other;
        self.inaccessible &= memory.inaccessible;
        let no_free = flags.contains(FnFlags::NOFREE);
        if no_free || !memory.other.contains(ModRef::WRITE) {
            self.frees_other = false;
        }
        let mut excluded = ArgEffects::empty();
        if !memory.arguments.contains(ModRef::READ) {
            excluded |= ArgEffects::READ;
        }
        if !memory.arguments.contains(ModRef::WRITE) {
            excluded |= ArgEffects::WRITE | ArgEffects::FREE;
        }
        if no_free {
            excluded |= ArgEffects::FREE;
        }
        // A function that writes nothing can keep a copy of nothing, except in its result.
        let writes = memory.arguments | memory.inaccessible | memory.other;
        if !writes.contains(ModRef::WRITE) {
            excluded |= ArgEffects::CAPTURE;
        }
        self.further -= excluded;
        for arg in &mut self.args {
            *arg -= excluded;
        }
        for (index, attrs) in params.iter().enumerate() {
            let mut excluded = ArgEffects::empty();
            let has = |flag| attrs.flags.contains(flag);
            if has(ParamFlags::READONLY) || has(ParamFlags::READNONE) {
                excluded |= ArgEffects::WRITE;
            }
            if has(ParamFlags::WRITEONLY) || has(ParamFlags::READNONE) {
                excluded |= ArgEffects::READ;
            }
            if has(ParamFlags::NOFREE) {
                excluded |= ArgEffects::FREE;
            }
            if has(ParamFlags::NOCAPTURE) {
                excluded |= ArgEffects::CAPTURE | ArgEffects::RETURN;
            }
            let mut effects = self.arg(index) - excluded;
            if has(ParamFlags::RETURNED) {
                effects |= ArgEffects::RETURN;
            }
            if attrs.byval.is_some() {
                // The callee works on a copy.
                effects = ArgEffects::READ;
            }
            if effects != self.arg(index) {
                self.set_arg(index, effects);
            }
        }
    }
}
