//! Memory that a function makes and frees, and that could as well stay until the reverse sweep.
//!
//! What is freed cannot be read again, so the reverse sweep would have to keep copies of all that it
//! needs of such memory. If instead the free waits until the reverse sweep comes back to the
//! allocation, the memory is its own copy. That is possible where nobody else knows the memory when
//! the function has returned, and nobody else frees it: the same condition under which the reverse
//! of the allocation ends its shadow ([`lifetimes`](super::lifetimes)).
//!
//! A free that may be of this or that memory waits for both or for none, so allocations come in
//! groups. Which groups wait is for the plan to decide.

use super::lifetimes::{deallocator, released};
use super::objects::{Object, Objects};
use super::{CallKind, call_kind};
use crate::analysis::cfg::Cfg;
use crate::analysis::effects::Effects;
use crate::analysis::points_to::{self, PointsTo};
use crate::ir::{AllocInfo, AllocKind, Freed, Function, Inst, Module, Op, Value};
use crate::simplify::lasting_memory;
use std::collections::{BTreeMap, BTreeSet};

/// The number of a group of allocations whose frees wait together.
pub type Group = usize;

/// The allocations whose frees could wait for the reverse sweep.
#[derive(Clone, Default, Debug)]
pub struct Keepable {
    allocations: BTreeMap<Inst, Group>,
    frees: BTreeMap<Inst, Group>,
    /// What may be freed on the way to an abort.
    freed_before_aborts: BTreeSet<Inst>,
}

impl Keepable {
    pub(super) fn new(
        module: &Module,
        function: &Function,
        effects: &Effects,
        objects: &Objects,
        has_shadow: impl Fn(Value) -> bool,
    ) -> Keepable {
        let cfg = Cfg::new(function);
        // What happens on the way to an abort, no reverse sweep comes after.
        let blocks = cfg.reverse_postorder().iter().copied();
        let blocks = blocks.filter(|&block| cfg.reaches_return(block));
        let calls: Vec<(Inst, AllocInfo)> = blocks
            .flat_map(|block| function.block_insts(block))
            .filter_map(|&inst| match call_kind(module, function.inst(inst)) {
                CallKind::Allocation(info) if function.inst(inst).op.call().is_some() => {
                    Some((inst, info))
                }
                _ => None,
            })
            .collect();
        if !calls.iter().any(|(_, info)| info.kind == AllocKind::Free) {
            return Keepable::default();
        }
        let mut able = released(module, function, effects, objects);
        let freed = |inst: Inst, info: &AllocInfo| {
            let pointer = function.inst(inst).args[info.ptr_arg.unwrap_or(0) as usize];
            let freed = objects.of(pointer).iter();
            let freed = freed.filter_map(|object| match object {
                Object::Local(made) => Some(*made),
                _ => None,
            });
            freed.collect::<BTreeSet<Inst>>()
        };
        let mut followed = None;
        let mut is_private = |inst: Inst| {
            let Some(result) = function.result(inst) else {
                return false;
            };
            // Where there is no shadow, less is known of addresses in integers.
            has_shadow(result) || {
                let points_to = followed.get_or_insert_with(|| PointsTo::new(function, effects));
                !is_known_outside(function, points_to, inst)
            }
        };
        let kinds: BTreeMap<Inst, AllocKind> = calls
            .iter()
            .map(|(inst, info)| (*inst, info.kind))
            .collect();
        able.retain(|inst| kinds.get(inst) == Some(&AllocKind::Alloc) && is_private(*inst));
        // A reallocation ends memory in its own way; and who frees this or that must be able to
        // leave both.
        loop {
            let before = able.len();
            for (inst, info) in &calls {
                let made = freed(*inst, info);
                let waits = info.kind == AllocKind::Free && made.iter().all(|m| able.contains(m));
                if info.kind != AllocKind::Alloc && !waits {
                    able.retain(|inst| !made.contains(inst));
                }
            }
            if able.len() == before {
                break;
            }
        }
        let aborting = cfg.reverse_postorder().iter().copied();
        let aborting = aborting.filter(|&block| !cfg.reaches_return(block));
        let aborting = aborting.flat_map(|block| function.block_insts(block));
        let freed_before_aborts =
            aborting.filter_map(|&inst| match call_kind(module, function.inst(inst)) {
                CallKind::Allocation(info) if info.kind != AllocKind::Alloc => {
                    Some(freed(inst, &info))
                }
                _ => None,
            });
        let mut keepable = Keepable {
            freed_before_aborts: freed_before_aborts.flatten().collect(),
            ..Keepable::default()
        };
        for (inst, info) in calls
            .iter()
            .filter(|(_, info)| info.kind == AllocKind::Free)
        {
            let made = freed(*inst, info);
            if let Some(&first) = made.first()
                && made.iter().all(|made| able.contains(made))
            {
                let group = first.as_u32() as Group;
                let old: Vec<Group> = made.iter().filter_map(|m| keepable.group(*m)).collect();
                for known in keepable
                    .allocations
                    .values_mut()
                    .chain(keepable.frees.values_mut())
                {
                    if old.contains(known) {
                        *known = group;
                    }
                }
                keepable
                    .allocations
                    .extend(made.iter().map(|&made| (made, group)));
                keepable.frees.insert(*inst, group);
            }
        }
        keepable
    }

    /// The group of an allocation.
    pub fn group(&self, allocation: Inst) -> Option<Group> {
        self.allocations.get(&allocation).copied()
    }

    /// The group of what a call frees.
    pub fn freed(&self, free: Inst) -> Option<Group> {
        self.frees.get(&free).copied()
    }

    /// Whether an allocation that stays may be made on a stack: nobody but the reverse sweep frees it.
    pub fn may_be_on_stack(&self, module: &Module, function: &Function, inst: Inst) -> bool {
        let data = function.inst(inst);
        !self.freed_before_aborts.contains(&inst)
            && matches!(call_kind(module, data), CallKind::Allocation(info)
                if lasting_memory::is_able(function, data, &info))
    }

    /// The allocations of a group.
    pub fn allocations(&self, group: Group) -> impl Iterator<Item = Inst> + '_ {
        let members = self.allocations.iter().filter(move |(_, g)| **g == group);
        members.map(|(&inst, _)| inst)
    }

    /// The calls that free memory of a group.
    pub fn frees(&self, group: Group) -> impl Iterator<Item = Inst> + '_ {
        let members = self.frees.iter().filter(move |(_, g)| **g == group);
        members.map(|(&inst, _)| inst)
    }

    /// How the reverse of an allocation frees what it made: as its function says, with the arguments
    /// of this call that it says.
    pub fn deallocation(module: &Module, function: &Function, inst: Inst) -> Option<Freed> {
        match call_kind(module, function.inst(inst)) {
            CallKind::Allocation(info) => deallocator(&info),
            _ => None,
        }
    }
}

/// Whether memory that a call made may be known elsewhere, now or when the function has returned.
fn is_known_outside(function: &Function, points_to: &PointsTo, inst: Inst) -> bool {
    let object = points_to::Object::Allocation(inst);
    let terminators = function
        .blocks()
        .iter()
        .filter_map(|&b| function.terminator(b));
    let returns = terminators.map(|inst| function.inst(inst));
    let returned = returns.filter(|data| data.op == Op::Return);
    let mut outlets = returned
        .flat_map(|data| &data.args)
        .chain(function.arguments());
    points_to.is_reachable_from_outside(object)
        || outlets.any(|&value| points_to.reachable(value).contains(&object))
}
