//! The functions of a module, found by number and by name.

use super::{Func, Function};
use cranelift_entity::PrimaryMap;
use std::collections::HashMap;
use std::ops::{Deref, Index, IndexMut};

/// The functions of a module. Derivatives are named after what they are derivatives of, so names are
/// looked up for each function that is made, and a search through all of them would make the time
/// grow with the square of their number.
///
/// A function keeps the name that it came with: whoever replaces the body of one must leave it.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    table: PrimaryMap<Func, Function>,
    /// The first function of each name.
    names: HashMap<String, Func>,
}

impl Functions {
    /// Adds a function.
    pub fn push(&mut self, function: Function) -> Func {
        let name = function.name.clone();
        let func = self.table.push(function);
        self.names.entry(name).or_insert(func);
        func
    }

    /// The first function of this name.
    pub fn by_name(&self, name: &str) -> Option<Func> {
        let found = self.names.get(name).copied();
        // Who works on a function may have taken it out meanwhile; then its place has no name.
        debug_assert!(found.is_none_or(|func| {
            let now = &self.table[func].name;
            now == name || now.is_empty()
        }));
        found
    }

    /// The functions, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        self.table.values_mut()
    }
}

impl Deref for Functions {
    type Target = PrimaryMap<Func, Function>;

    fn deref(&self) -> &PrimaryMap<Func, Function> {
        &self.table
    }
}

impl Index<Func> for Functions {
    type Output = Function;

    fn index(&self, func: Func) -> &Function {
        &self.table[func]
    }
}

impl IndexMut<Func> for Functions {
    fn index_mut(&mut self, func: Func) -> &mut Function {
        &mut self.table[func]
    }
}

impl<'a> IntoIterator for &'a Functions {
    type Item = (Func, &'a Function);
    type IntoIter = cranelift_entity::Iter<'a, Func, Function>;

    fn into_iter(self) -> Self::IntoIter {
        self.table.iter()
    }
}
