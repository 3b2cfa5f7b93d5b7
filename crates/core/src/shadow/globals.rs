//! Shadows of global variables.
//!
//! A variable that derivatives flow through has a shadow variable of the same size, zero when a
//! derivative is asked for: what was in the variable before does not depend on the arguments. A
//! constant holds no active float, but it may hold addresses of variables that do; its shadow is a
//! constant too and holds the addresses of their shadows.
//!
//! Each of the derivatives that are made at once has shadows of its own, and so has a derivative of
//! a derivative: the inner one's shadow is a variable like any other to the outer one, beside the
//! variable's own.

use crate::ir::{Global, GlobalData, Initializer, Module, Symbol};
use std::collections::{BTreeSet, HashMap};

/// The derivative that a shadow belongs to: how many derivatives deep, and which of those that are
/// made at once.
pub type Instance = (u32, usize);

/// The shadows of global variables that have been made.
#[derive(Clone, Default, Debug)]
pub struct ShadowGlobals {
    made: HashMap<(Global, Instance), Global>,
    /// For each shadow, how many derivatives deep it is used.
    nesting: HashMap<Global, u32>,
}

impl ShadowGlobals {
    /// The shadow of a variable.
    pub fn shadow(&mut self, module: &mut Module, global: Global, instance: Instance) -> Global {
        if let Some(&shadow) = self.made.get(&(global, instance)) {
            return shadow;
        }
        let data = &module.globals[global];
        let addresses = data.fixed_addresses().to_vec();
        let shadow = GlobalData {
            name: format!("{}.shadow.{}.{}", data.name, instance.0, instance.1),
            init: Some(Initializer::default()),
            local: true,
            origin: None,
            ..data.clone()
        };
        let shadow = module.globals.push(shadow);
        self.made.insert((global, instance), shadow);
        self.nesting.insert(shadow, instance.0);
        let relocations = addresses.into_iter().map(|(at, symbol, offset)| {
            let behind = match symbol {
                Symbol::Global(inner) if !module.globals[inner].inactive => {
                    Symbol::Global(self.shadow(module, inner, instance))
                }
                other => other,
            };
            (at, behind, offset)
        });
        let relocations = relocations.collect();
        if let Some(init) = &mut module.globals[shadow].init {
            init.relocations = relocations;
        }
        shadow
    }

    /// The shadows among some variables that must be zero when a derivative is asked for.
    pub fn to_be_zeroed(&self, module: &Module, among: &BTreeSet<Global>) -> Vec<Global> {
        let among = among.iter().copied();
        among
            .filter(|&g| self.nesting.contains_key(&g) && !module.globals[g].constant)
            .collect()
    }

    /// How deep the derivative of code is that touches some variables.
    pub fn nesting_above(&self, touched: &BTreeSet<Global>) -> u32 {
        let inner = touched.iter().filter_map(|global| self.nesting.get(global));
        inner.max().map_or(0, |depth| depth + 1)
    }
}
