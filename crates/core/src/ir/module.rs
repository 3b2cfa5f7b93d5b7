//! A module: functions, global variables, and what their instructions refer to.

use super::{
    CustomRule, DataLayout, Func, Function, Functions, Global, Loc, Origin, Scope, SourceType,
    SourceTypeData, Symbol, Tbaa,
};
use cranelift_entity::PrimaryMap;

/// A whole program or a part of one.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The sizes of types on the target.
    pub layout: DataLayout,
    /// The functions.
    pub funcs: Functions,
    /// The global variables.
    pub globals: PrimaryMap<Global, GlobalData>,
    /// The derivatives that the program gives itself.
    pub rules: Vec<CustomRule>,
    /// The source locations.
    pub locs: PrimaryMap<Loc, LocData>,
    /// The tree of type-based alias classes.
    pub tbaa: PrimaryMap<Tbaa, TbaaData>,
    /// The alias scopes.
    pub scopes: PrimaryMap<Scope, ScopeData>,
    /// The types of the source program.
    pub sources: PrimaryMap<SourceType, SourceTypeData>,
}

impl Module {
    /// An empty module for the default layout.
    pub fn new() -> Module {
        Module::default()
    }

    /// The function of this name.
    pub fn func_by_name(&self, name: &str) -> Option<Func> {
        self.funcs.by_name(name)
    }

    /// The function of this name, declared now if there is none.
    pub fn declare(&mut self, function: Function) -> Func {
        match self.func_by_name(&function.name) {
            Some(func) => func,
            None => self.funcs.push(function),
        }
    }

    /// The rules that the program gives for a function.
    pub fn rules_of(&self, func: Func) -> impl Iterator<Item = &CustomRule> {
        self.rules.iter().filter(move |rule| rule.func == func)
    }

    /// The name of a symbol.
    pub fn symbol_name(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Func(func) => &self.funcs[func].name,
            Symbol::Global(global) => &self.globals[global].name,
        }
    }

    /// A name that no function has, made from `base`.
    pub fn fresh_name(&self, base: &str) -> String {
        if self.func_by_name(base).is_none() {
            return base.to_string();
        }
        (1..)
            .map(|n| format!("{base}.{n}"))
            .find(|name| self.func_by_name(name).is_none())
            .unwrap_or_default()
    }
}

/// A global variable.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalData {
    /// The symbol name.
    pub name: String,
    /// How many bytes it has.
    pub size: u64,
    /// Its alignment in bytes.
    pub align: u32,
    /// Its initial content; none if it is defined outside of the program.
    pub init: Option<Initializer>,
    /// Whether it is never written.
    pub constant: bool,
    /// Whether each thread has its own.
    pub thread_local: bool,
    /// Whether the symbol is local to the module.
    pub local: bool,
    /// Whether no derivative flows through it, so that it needs no shadow.
    pub inactive: bool,
    /// How the program declares it.
    pub source: Option<SourceType>,
    /// The foreign variable this one was read from.
    pub origin: Option<Origin>,
}

impl GlobalData {
    /// The addresses that a constant holds: where, of what, and how many bytes past it. What a
    /// variable holds when a function runs is not known, and neither is what is defined elsewhere.
    pub fn fixed_addresses(&self) -> &[(u64, Symbol, i64)] {
        match &self.init {
            Some(init) if self.has_fixed_content() => &init.relocations,
            _ => &[],
        }
    }

    /// Whether all that the variable ever holds is known.
    pub fn has_fixed_content(&self) -> bool {
        self.constant && self.init.as_ref().is_some_and(|init| !init.opaque)
    }
}

/// Whether a variable of this name is a virtual table or the type information of a class of C++. They
/// hold addresses of code and of each other, and no numbers.
pub fn is_class_table(name: &str) -> bool {
    let prefixes = ["_ZTI", "_ZTV", "_ZTT", "_ZTC"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// The initial content of a global variable.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Initializer {
    /// The bytes; those that a relocation covers are zero. Bytes past the end are zero.
    pub bytes: Vec<u8>,
    /// Addresses to be put in: byte offset, symbol, bytes to add.
    pub relocations: Vec<(u64, Symbol, i64)>,
    /// Whether part of the content is something core does not model.
    pub opaque: bool,
}

/// A place in the source program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocData {
    /// The path of the file as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 is unknown.
    pub column: u32,
    /// The function in the source program.
    pub function: String,
    /// If that function was inlined, the place of the call.
    pub inlined_at: Option<Loc>,
    /// The foreign location.
    pub origin: Option<Origin>,
}

/// A class in the tree of type-based alias classes. Two accesses may touch the same memory only
/// if the class of one is the class of the other or above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TbaaData {
    /// The name, such as `double` or `any pointer`.
    pub name: String,
    /// The class above it.
    pub parent: Option<Tbaa>,
}

/// An alias scope. An access outside of a scope's set that lists the scope as not aliasing it
/// touches nothing that accesses in the scope touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeData {
    /// The domain, by number: scopes of different domains say nothing about each other.
    pub domain: u32,
}
