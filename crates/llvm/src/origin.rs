//! What imported entities were in LLVM.

use crate::ll::{Md, Ty, Val};
use crate::module::KeepAlive;
use cranelift_entity::{EntityRef, PrimaryMap};
use std::collections::HashMap;
use zymase_core::ir::{Origin, Scope, Tbaa, Type};

/// An imported module: its form in core, and the way back.
pub struct Imported {
    /// The module in core's IR.
    pub module: zymase_core::ir::Module,
    /// What its entities were.
    pub origins: Origins,
}

/// What an entity of core was read from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Foreign {
    /// An instruction, constant, function or global variable.
    Value(Val),
    /// A piece of metadata, such as a location.
    Metadata(Md),
}

/// The way back from core to LLVM. Holds the module alive; passes that run on the module after the
/// import make the handles in here void.
pub struct Origins {
    table: PrimaryMap<Origin, Foreign>,
    /// For types that core does not model, and for structures that have a name in LLVM, the type
    /// that values of it have.
    pub(crate) types: HashMap<Type, Ty>,
    pub(crate) tbaa: HashMap<Tbaa, Md>,
    pub(crate) scopes: HashMap<Scope, Md>,
    /// Those of the domains that core has made.
    pub(crate) domains: HashMap<u32, Md>,
    pub(crate) llvm: crate::ll::Mdl,
    pub(crate) context: crate::ll::Ctx,
    /// Functions that export declared, by name.
    pub(crate) declared: HashMap<String, Val>,
    _alive: KeepAlive,
}

impl Origins {
    pub(crate) fn new(module: &crate::Module) -> Origins {
        Origins {
            table: PrimaryMap::new(),
            types: HashMap::new(),
            tbaa: HashMap::new(),
            scopes: HashMap::new(),
            domains: HashMap::new(),
            llvm: module.raw(),
            context: module.context().raw(),
            declared: HashMap::new(),
            _alive: module.keep_alive(),
        }
    }

    pub(crate) fn add_value(&mut self, value: Val) -> Origin {
        self.table.push(Foreign::Value(value))
    }

    pub(crate) fn add_metadata(&mut self, metadata: Md) -> Origin {
        self.table.push(Foreign::Metadata(metadata))
    }

    /// Says that an entity is now another value, because its instruction was emitted anew.
    pub(crate) fn set_value(&mut self, origin: Origin, value: Val) {
        self.table[origin] = Foreign::Value(value);
    }

    /// What an entity was read from.
    pub fn get(&self, origin: Origin) -> Option<Foreign> {
        (origin.index() < self.table.len()).then(|| self.table[origin])
    }

    /// The value that an entity was read from.
    pub fn value(&self, origin: Origin) -> Option<Val> {
        match self.get(origin)? {
            Foreign::Value(value) => Some(value),
            Foreign::Metadata(_) => None,
        }
    }

    /// The metadata that an entity was read from.
    pub fn metadata(&self, origin: Origin) -> Option<Md> {
        match self.get(origin)? {
            Foreign::Metadata(metadata) => Some(metadata),
            Foreign::Value(_) => None,
        }
    }
}
