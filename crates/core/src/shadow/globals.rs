//! Shadows of global variables.
//!
//! A variable that derivatives flow through has a shadow variable of the same size, zero when a
//! derivative is asked for: what was in the variable before does not depend on the arguments. A
//! constant holds no active float, but it may hold addresses of variables that do; its shadow is a
//! constant too and holds the addresses of their shadows. Where a pointer leads to a constant or to
//! active memory, reverse mode adds adjoints to the shadow of the constant that nobody reads; then it
//! is a variable of its own.
//!
//! Each of the derivatives that are made at once has shadows of its own, and so has a derivative of
//! a derivative: the inner one's shadow is a variable like any other to the outer one, beside the
//! variable's own.

use crate::ir::{Global, GlobalData, Initializer, Module, Symbol};
use std::collections::{BTreeSet, HashMap};

/// The derivative that a shadow belongs to: how many derivatives deep, and which of those that are
/// made at once.
pub type Instance = (u32, usize);

/// A variable, the derivative that wants its shadow, and whether that adds adjoints to it.
type Wanted = (Global, Instance, bool);

/// The shadows of global variables that have been made.
#[derive(Clone, Default, Debug)]
pub struct ShadowGlobals {
    made: HashMap<Wanted, Global>,
    /// For each shadow, how many derivatives deep it is used.
    nesting: HashMap<Global, u32>,
}

impl ShadowGlobals {
    /// The shadow of a variable, to which adjoints are added in reverse mode.
    pub fn shadow(
        &mut self,
        module: &mut Module,
        global: Global,
        instance: Instance,
        reverse: bool,
    ) -> Global {
        let data = &module.globals[global];
        // There are no numbers in tables of addresses, nor in tables of functions.
        let addresses = data.fixed_addresses();
        let is_table = 8 * addresses.len() as u64 >= data.size
            || addresses
                .iter()
                .any(|(_, symbol, _)| matches!(symbol, Symbol::Func(_)));
        let filled = data.constant && reverse && !is_table;
        let wanted = (global, instance, filled);
        if let Some(&shadow) = self.made.get(&wanted) {
            return shadow;
        }
        let addresses = data.fixed_addresses().to_vec();
        let shadow = GlobalData {
            name: format!(
                "{}.{}.{}.{}",
                data.name,
                if filled { "adjoint" } else { "shadow" },
                instance.0,
                instance.1
            ),
            constant: data.constant && !filled,
            init: Some(Initializer::default()),
            local: true,
            origin: None,
            ..data.clone()
        };
        let shadow = module.globals.push(shadow);
        self.made.insert(wanted, shadow);
        self.nesting.insert(shadow, instance.0);
        let relocations = addresses.into_iter().map(|(at, symbol, offset)| {
            let behind = match symbol {
                Symbol::Global(inner) if !module.globals[inner].inactive => {
                    Symbol::Global(self.shadow(module, inner, instance, reverse))
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

    /// The shadows among some variables that must be zero when a derivative is asked for: not those
    /// of constants.
    pub fn to_be_zeroed(&self, module: &Module, among: &BTreeSet<Global>) -> Vec<Global> {
        let made = self.made.iter();
        let of_variables = made.filter(|((global, ..), _)| !module.globals[*global].constant);
        let of_variables: BTreeSet<Global> = of_variables.map(|(_, &shadow)| shadow).collect();
        let (mut reached, mut open) = (among.clone(), Vec::from_iter(among.clone()));
        while let Some(global) = open.pop() {
            let init = module.globals[global].init.iter();
            for (_, symbol, _) in init.flat_map(|init| &init.relocations) {
                if let Symbol::Global(inner) = *symbol
                    && !of_variables.contains(&global)
                    && reached.insert(inner)
                {
                    open.push(inner);
                }
            }
        }
        reached.intersection(&of_variables).copied().collect()
    }

    /// How deep the derivative of code is that touches some variables.
    pub fn nesting_above(&self, touched: &BTreeSet<Global>) -> u32 {
        let inner = touched.iter().filter_map(|global| self.nesting.get(global));
        inner.max().map_or(0, |depth| depth + 1)
    }
}
