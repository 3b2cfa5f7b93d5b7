//! The names that values and blocks have in the text form.
//!
//! Values are numbered in order of definition: parameters and instructions of the blocks in layout
//! order. A value with a name that no other value of the function has is written `%name`, but it
//! takes a number all the same, so that naming a value changes nothing else.

use crate::ir::{Block, Function, Value};
use cranelift_entity::{EntityRef, SecondaryMap};
use std::collections::HashMap;

/// The names of a function's values and blocks.
pub(crate) struct Names<'f> {
    func: &'f Function,
    values: SecondaryMap<Value, Option<u32>>,
    blocks: SecondaryMap<Block, Option<u32>>,
    uses_of_name: HashMap<&'f str, u32>,
    /// The number that the next value would have.
    next: u32,
}

impl<'f> Names<'f> {
    pub(crate) fn new(func: &'f Function) -> Names<'f> {
        Names::from(func, 0)
    }

    /// The names in the body of a nest: numbers go on where those of the function around end.
    pub(crate) fn inside(body: &'f Function, around: &Names) -> Names<'f> {
        Names::from(body, around.next)
    }

    fn from(func: &'f Function, first: u32) -> Names<'f> {
        let mut names = Names {
            func,
            values: SecondaryMap::new(),
            blocks: SecondaryMap::new(),
            uses_of_name: HashMap::new(),
            next: first,
        };
        for (number, &block) in func.blocks().iter().enumerate() {
            names.blocks[block] = Some(number as u32);
            let results = func.block_insts(block).iter();
            let results = results.filter_map(|&inst| func.result(inst));
            for value in func.block_params(block).iter().copied().chain(results) {
                names.values[value] = Some(names.next);
                names.next += 1;
                if let Some(name) = &func.value(value).name {
                    *names.uses_of_name.entry(name).or_default() += 1;
                }
            }
        }
        names
    }

    /// A value that is no constant, where it is used.
    pub(crate) fn value(&self, value: Value) -> String {
        let Some(number) = self.values[value] else {
            // No text can define it, so none may parse: only broken functions have such operands.
            return format!("undefined{}", value.index());
        };
        match self.own_name(value) {
            Some(name) => format!("%{}", quote_if_needed(name)),
            None => format!("v{number}"),
        }
    }

    /// A value where it is defined: with its name even if others have the same.
    pub(crate) fn definition(&self, value: Value) -> String {
        match &self.func.value(value).name {
            Some(name) if self.own_name(value).is_none() => {
                format!("{} {name:?}", self.value(value))
            }
            _ => self.value(value),
        }
    }

    /// A block.
    pub(crate) fn block(&self, block: Block) -> String {
        match self.blocks[block] {
            Some(number) => format!("block{number}"),
            None => format!("removed{}", block.index()),
        }
    }

    /// The name of a value if no other value has it.
    fn own_name(&self, value: Value) -> Option<&'f str> {
        let name = self.func.value(value).name.as_deref()?;
        (self.uses_of_name.get(name) == Some(&1)).then_some(name)
    }
}

/// A name as it stands after `@` or `%`: in quotes unless all of its characters are plain.
pub(crate) fn quote_if_needed(name: &str) -> String {
    if !name.is_empty() && name.chars().all(is_name_char) {
        name.to_string()
    } else {
        format!("{name:?}")
    }
}

/// Whether a character may stand in a name without quotes.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}
