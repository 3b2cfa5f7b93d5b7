//! The entities of the IR: small typed indices into the arenas of a [`Module`](super::Module) or a
//! [`Function`](super::Function).

use cranelift_entity::entity_impl;

macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    )*};
}

entities! {
    /// An SSA value: the result of an instruction, a block parameter or a constant.
    Value, "v";
    /// An instruction of a function.
    Inst, "inst";
    /// A basic block of a function.
    Block, "block";
    /// A function of a module.
    Func, "fn";
    /// A global variable of a module.
    Global, "global";
    /// A source location of a module.
    Loc, "loc";
    /// A node of the type-based alias tree of a module.
    Tbaa, "tbaa";
    /// An alias scope of a module.
    Scope, "scope";
    /// A type of the source program.
    SourceType, "source";
    /// A handle to what an importer read: the instruction, constant or function of the foreign
    /// representation that an entity came from. Core never looks behind it.
    Origin, "origin";
}
