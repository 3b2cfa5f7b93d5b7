//! Clones what requests reach into a private module, and moves derivatives back.
//!
//! The optimizer and the differentiator work on private clones, so that the program itself stays
//! what it was. In the private module every function is local and can be optimized freely;
//! variables that change are the program's own, so those that were local to it become visible for
//! the time of the work.
//!
//! Before: requests are pinned. After [`isolate`]: a module with the functions to differentiate and
//! all that they use. After [`Isolated::merge`]: the program with all its requests served.

mod addresses;
mod library;
mod opaque;
mod parts;
mod targets;

use crate::ll;
use crate::module::Module;
use crate::raw::{c_string, value_name};
use crate::requests::{Pins, Registered, Rule, is_registration, note_variable, only_declared};
use library::{reached, take_from_library};
use llvm_sys::LLVMLinkage::{self, *};
use llvm_sys::comdat::LLVMSetComdat;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
pub use parts::extract;
use std::collections::HashSet;
pub(crate) use targets::{ADDRESS_TAKEN, is_address_taken};
use zymase_core::analysis::known::UNIQUE;
use zymase_core::diagnostic::{Code, Diagnostic, Result};

/// Clones the functions to differentiate and all that they use. What the program does not define
/// is asked from the library, which gives modules made by [`detach`].
pub fn isolate(program: &Module, pins: &mut Pins, library: &mut Library<'_>) -> Result<Isolated> {
    name_everything(program);
    let private = program.duplicate();
    forget_notes(&private);
    targets::mark_address_taken(&private);
    share_variables(&private);
    for name in &pins.barriers {
        if let Some(barrier) = private.function(name) {
            declare_only(&private, barrier);
        }
    }
    let taken = take_from_library(&private, pins, library)?;
    refuse_declarations(&private, pins)?;
    opaque::hide(&private);
    hide_allocators(&private);
    for registered in &pins.registered {
        match registered.rule {
            Rule::Inactive | Rule::NoFree | Rule::Recompute => {
                keep_out_of_line(&private, &registered.about);
            }
            Rule::Derivative(..) | Rule::Like(_) => keep_out_of_line(&private, &registered.about),
            Rule::Allocator(_) => {
                let functions = registered.functions();
                functions.for_each(|name| keep_out_of_line(&private, name));
            }
            Rule::InactiveGlobal => keep_in_memory(&private, &registered.about),
            Rule::Borrows(_) | Rule::Fast | Rule::Unsupported => {}
        }
    }
    let targets = keep_targets(&private, pins, &taken);
    let (clones, shared) = addresses::definitions(&private);
    make_local(&private);
    let hidden = hide_bodies(&private, pins);
    keep_alive(&private, pins, targets);
    private.run_passes("globaldce", None, crate::PassOptions::STRUCTURE)?;
    refuse_registrations(&private, &pins.registered)?;
    let promoted = promote_shared_variables(program, &private);
    Ok(Isolated {
        private,
        promoted,
        hidden,
        clones,
        shared: shared.into_iter().collect(),
    })
}

/// Gives modules that a program lacks.
pub type Library<'a> = dyn FnMut(Wanted<'_>) -> Result<Vec<Module>> + 'a;

/// What is asked from a library.
#[derive(Copy, Clone, Debug)]
pub enum Wanted<'n> {
    /// The module that defines the symbol of this name, if there is one that was not given yet.
    Symbol(&'n str),
    /// The same for a symbol that nothing is known to need: something refers to it, and a call
    /// through a pointer may get there.
    Mentioned(&'n str),
    /// All modules that are part of the program in any case and were not given yet: a call through
    /// a pointer may reach functions of any of them.
    Everything,
}

/// Makes a module ready to be taken into another program's private module: its variables are
/// declared only, and those that were local to it get a name that the whole program can know, as
/// do local functions whose address is taken.
/// Gives these names, old and new; the module's own code must be compiled with them (see
/// [`promote`]).
pub fn detach(module: &Module, tag: &str) -> Vec<(String, String)> {
    name_everything(module);
    let mut renamed = Vec::new();
    let variables = module.globals().filter(|&global| is_variable(global));
    let functions = module.functions().filter(|&f| targets::is_address_taken(f));
    for symbol in variables.chain(functions).filter(|&s| is_local(s)) {
        // SAFETY: the symbols of a live module are live.
        let old = unsafe { value_name(symbol) };
        let new = format!("{old}{UNIQUE}{tag}");
        set_name(symbol, &new);
        renamed.push((old, new));
    }
    targets::mark_address_taken(module);
    targets::hold_marked(module, tag);
    share_variables(module);
    renamed
}

/// Gives local symbols of a module the names under which others refer to them.
pub fn promote(module: &Module, renamed: &[(String, String)]) {
    name_everything(module);
    for (old, new) in renamed {
        // SAFETY: the name is read during the call only, and the symbol is live.
        unsafe {
            let global = LLVMGetNamedGlobal(module.raw(), c_string(old).as_ptr());
            let global = Some(global).filter(|global| !global.is_null());
            if let Some(symbol) = global.or(module.function(old)) {
                set_name(symbol, new);
                LLVMSetLinkage(symbol, LLVMExternalLinkage);
                LLVMSetVisibility(symbol, llvm_sys::LLVMVisibility::LLVMHiddenVisibility);
            }
        }
    }
}

/// A private module beside the program it was cloned from.
pub struct Isolated {
    /// The private module.
    pub private: Module,
    /// Symbols of the program that were local to it, and their linkage.
    promoted: Vec<(LLVMValueRef, LLVMLinkage)>,
    /// The names of functions that nobody may look into before import.
    hidden: Vec<String>,
    /// The names of the functions that were cloned.
    clones: Vec<String>,
    /// Those of them that every file may have its own copy of.
    shared: HashSet<String>,
}

impl Isolated {
    /// Lets the optimizer look into all functions again.
    pub fn reveal(&self) {
        for name in &self.hidden {
            if let Some(function) = self.private.function(name) {
                set_local(function);
            }
        }
    }

    /// Moves what is in the private module into the program. The functions that stand for requests
    /// are defined afterwards and local, as are the variables that were.
    pub fn merge(self, program: &Module, pins: &Pins) -> Result<()> {
        release(&self.private);
        // SAFETY: the variables belong to the program, which is alive; handles stay valid when
        // another module is linked into theirs, because the definitions are here.
        unsafe {
            program.link(self.private)?;
            for (variable, linkage) in self.promoted {
                LLVMSetLinkage(variable, linkage);
            }
            let symbols = pins.requests.iter().map(|request| &request.symbol);
            for symbol in symbols.chain(&pins.barriers).chain(&pins.ruled) {
                if let Some(function) = program.function(symbol)
                    && LLVMIsDeclaration(function) == 0
                {
                    LLVMSetLinkage(function, LLVMInternalLinkage);
                }
            }
        }
        Ok(())
    }
}

/// The name of the variable by which the private module keeps functions alive.
const KEEPER: &str = "llvm.compiler.used";

/// Gives unnamed symbols a name, because names tell which clone belongs to which original.
fn name_everything(program: &Module) {
    for (number, value) in program.globals().chain(program.functions()).enumerate() {
        // SAFETY: the symbols of a live module are live.
        unsafe {
            if value_name(value).is_empty() {
                let name = format!("__zymase_unnamed_{number}");
                set_name(value, &name);
            }
        }
    }
}

/// Removes the variables through which LLVM keeps symbols alive, annotations and registrations.
fn forget_notes(private: &Module) {
    let special: Vec<_> = private
        .globals()
        .filter(|&global| is_note(global))
        .collect();
    for global in special {
        // SAFETY: nothing refers to these variables.
        unsafe {
            if LLVMGetFirstUse(global).is_null() {
                LLVMDeleteGlobal(global);
            }
        }
    }
}

/// Makes a function a declaration of which nothing is known.
fn forget_body(private: &Module, name: &str) {
    let Some(function) = private.function(name) else {
        return;
    };
    // SAFETY: all uses go to the new function before the old one is removed.
    unsafe {
        let ty = LLVMGlobalGetValueType(function);
        let declaration = LLVMAddFunction(private.raw(), c"".as_ptr(), ty);
        LLVMReplaceAllUsesWith(function, declaration);
        LLVMDeleteFunction(function);
        set_name(declaration, name);
    }
}

/// Makes a function a declaration of which all is known that was known of it.
fn declare_only(module: &Module, function: LLVMValueRef) {
    // SAFETY: the caller has a live function of the module; all its uses go to the new one.
    unsafe {
        let (name, ty) = (value_name(function), LLVMGlobalGetValueType(function));
        let declaration = LLVMAddFunction(module.raw(), c"".as_ptr(), ty);
        LLVMSetFunctionCallConv(declaration, LLVMGetFunctionCallConv(function));
        for index in (0..=LLVMCountParams(function)).chain([ll::FUNCTION_INDEX]) {
            for attribute in ll::attributes(function, index) {
                ll::add_function_attribute(declaration, index, attribute);
            }
        }
        LLVMReplaceAllUsesWith(function, declaration);
        LLVMDeleteFunction(function);
        set_name(declaration, &name);
    }
}

/// Makes declarations of allocation functions that say what they are by their attributes, or the
/// optimizer would put bodies in the places of calls that nobody knows as allocations.
fn hide_allocators(private: &Module) {
    let defined = private.functions().filter(|&f| !ll::is_declaration(f));
    for function in defined.collect::<Vec<_>>() {
        if !is_local(function) && parts::is_allocator(function) {
            declare_only(private, function);
        }
    }
}

fn keep_out_of_line(private: &Module, name: &str) {
    let Some(function) = private.function(name) else {
        return;
    };
    // SAFETY: LLVM reads the length of the name that is given.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"noinline".as_ptr(), 8);
        let attribute = LLVMCreateEnumAttribute(private.context().raw(), kind, 0);
        // Without optimization every function is `optnone`; that goes, and takes `noinline` along.
        for word in ["alwaysinline", "optnone"] {
            let other = LLVMGetEnumAttributeKindForName(word.as_ptr().cast(), word.len());
            LLVMRemoveEnumAttributeAtIndex(function, llvm_sys::LLVMAttributeFunctionIndex, other);
        }
        LLVMAddAttributeAtIndex(function, llvm_sys::LLVMAttributeFunctionIndex, attribute);
    }
}

/// Makes the accesses to an inactive variable volatile: where an optimizer passes a stored value
/// on to a load, derivatives would flow past the variable.
fn keep_in_memory(private: &Module, name: &str) {
    // SAFETY: the name is read during the call only; users of live values are live.
    unsafe {
        let global = LLVMGetNamedGlobal(private.raw(), c_string(name).as_ptr());
        let mut pointers: Vec<LLVMValueRef> = Vec::new();
        if !global.is_null() {
            pointers.push(global);
        }
        while let Some(pointer) = pointers.pop() {
            let mut next = LLVMGetFirstUse(pointer);
            while !next.is_null() {
                let user = LLVMGetUser(next);
                next = LLVMGetNextUse(next);
                let loads = !LLVMIsALoadInst(user).is_null();
                let stores =
                    !LLVMIsAStoreInst(user).is_null() && LLVMGetOperand(user, 1) == pointer;
                if loads || stores {
                    LLVMSetVolatile(user, 1);
                } else if !LLVMIsAConstantExpr(user).is_null()
                    || !LLVMIsAGetElementPtrInst(user).is_null()
                {
                    pointers.push(user);
                }
            }
        }
    }
}

/// Makes every definition local.
fn make_local(private: &Module) {
    // SAFETY: the symbols of a live module are live.
    unsafe {
        for function in private.functions() {
            if LLVMIsDeclaration(function) == 0 {
                LLVMSetComdat(function, std::ptr::null_mut());
                set_local(function);
            }
        }
        for alias in private.aliases() {
            set_local(alias);
        }
        for global in private.globals() {
            if LLVMIsDeclaration(global) == 0 {
                LLVMSetComdat(global, std::ptr::null_mut());
                set_local(global);
            }
        }
    }
}

/// Keeps the optimizer from seeing what functions with derivatives of their own do, and allocators,
/// because that is not what their derivatives do: such a definition might be replaced by another one. Gives the
/// names of these functions.
fn hide_bodies(private: &Module, pins: &Pins) -> Vec<String> {
    let rules = pins.registered.iter().filter(|r| r.hides_body());
    let names = rules.flat_map(|registered| match registered.rule {
        Rule::Allocator(_) => registered.functions().collect(),
        _ => vec![registered.about.as_str()],
    });
    let mut hidden = Vec::new();
    for name in names {
        let function = private.function(name);
        // SAFETY: the functions of a live module are live.
        unsafe {
            if let Some(function) = function.filter(|&f| LLVMIsDeclaration(f) == 0) {
                LLVMSetLinkage(function, LLVMLinkOnceAnyLinkage);
                hidden.push(name.to_string());
            }
        }
    }
    hidden
}

/// Declares variables that change: their memory is the program's. Those that nobody can write and
/// whose address nobody asks for are constants, whatever the program calls them.
fn share_variables(private: &Module) {
    for global in private.globals() {
        if !is_variable(global) {
            continue;
        }
        if is_local(global) && is_only_loaded(global) {
            // SAFETY: the variables of a live module are live.
            unsafe { LLVMSetGlobalConstant(global, 1) };
            continue;
        }
        // SAFETY: the variables of a live module are live.
        unsafe {
            note_variable(private, &value_name(global));
            LLVMSetComdat(global, std::ptr::null_mut());
            LLVMSetInitializer(global, std::ptr::null_mut());
            LLVMSetVisibility(global, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
            LLVMSetLinkage(global, LLVMExternalLinkage);
        }
    }
}

/// Whether this is a variable with a definition that may change.
fn is_variable(global: LLVMValueRef) -> bool {
    // SAFETY: the caller has a live global variable.
    let changes = unsafe { LLVMIsDeclaration(global) == 0 && LLVMIsGlobalConstant(global) == 0 };
    changes && !is_note(global)
}

/// Whether a module only loads from a variable, at whatever places in it.
fn is_only_loaded(global: LLVMValueRef) -> bool {
    let mut pointers = vec![global];
    while let Some(pointer) = pointers.pop() {
        // SAFETY: users of live values are live.
        unsafe {
            let mut next = LLVMGetFirstUse(pointer);
            while !next.is_null() {
                let user = LLVMGetUser(next);
                next = LLVMGetNextUse(next);
                let moves = !LLVMIsAGetElementPtrInst(user).is_null()
                    || (!LLVMIsAConstantExpr(user).is_null()
                        && LLVMGetConstOpcode(user) == llvm_sys::LLVMOpcode::LLVMGetElementPtr);
                if moves {
                    pointers.push(user);
                } else if LLVMIsALoadInst(user).is_null() || LLVMGetVolatile(user) != 0 {
                    return false;
                }
            }
        }
    }
    true
}

/// Whether a variable is there for the compiler to read, and not for the program.
fn is_note(global: LLVMValueRef) -> bool {
    // SAFETY: the caller has a live global variable.
    let name = unsafe { value_name(global) };
    name.starts_with("llvm.") || is_registration(&name)
}

fn is_local(value: LLVMValueRef) -> bool {
    // SAFETY: the caller has a live symbol.
    let linkage = unsafe { LLVMGetLinkage(value) };
    matches!(linkage, LLVMInternalLinkage | LLVMPrivateLinkage)
}

fn set_name(value: LLVMValueRef, name: &str) {
    // SAFETY: the name is copied.
    unsafe { LLVMSetValueName2(value, name.as_ptr().cast(), name.len()) }
}

fn set_local(value: LLVMValueRef) {
    // SAFETY: a local symbol must have default visibility and storage.
    unsafe {
        LLVMSetVisibility(value, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
        LLVMSetDLLStorageClass(
            value,
            llvm_sys::LLVMDLLStorageClass::LLVMDefaultStorageClass,
        );
        LLVMSetLinkage(value, LLVMInternalLinkage);
    }
}

/// Finds and marks the functions that calls through pointers may reach.
fn keep_targets(private: &Module, pins: &Pins, taken: &HashSet<String>) -> Vec<LLVMValueRef> {
    let reached = reached(private, pins, pins.requests.len(), taken);
    let mut found = reached.targets;
    let context = private.context().raw();
    targets::unmark(private);
    for target in &mut found {
        if ll::is_declaration(*target)
            && let Some(wrapper) = targets::wrap(private, *target)
        {
            *target = wrapper;
        }
        ll::set_string_attribute(context, *target, ADDRESS_TAKEN, "");
    }
    found.extend(reached.with_rules);
    found
}

/// Keeps the functions to differentiate alive and their signatures as they are, and those that
/// calls through pointers may reach.
fn keep_alive(private: &Module, pins: &Pins, targets: Vec<LLVMValueRef>) {
    let mut functions: Vec<LLVMValueRef> = targets;
    for request in &pins.requests {
        functions.extend(private.function(&request.target));
    }
    functions.sort();
    functions.dedup();
    if functions.is_empty() {
        return;
    }
    // SAFETY: LLVM knows a variable of this name, section and type.
    unsafe {
        let pointer = LLVMPointerTypeInContext(private.context().raw(), 0);
        let count = functions.len() as u64;
        let list = LLVMConstArray2(pointer, functions.as_mut_ptr(), count);
        let keeper = LLVMAddGlobal(private.raw(), LLVMTypeOf(list), c_string(KEEPER).as_ptr());
        LLVMSetInitializer(keeper, list);
        LLVMSetLinkage(keeper, LLVMAppendingLinkage);
        LLVMSetSection(keeper, c"llvm.metadata".as_ptr());
    }
}

/// Lets the functions go that [`keep_alive`] held.
fn release(private: &Module) {
    // SAFETY: nothing refers to the variable.
    unsafe {
        let keeper = LLVMGetNamedGlobal(private.raw(), c_string(KEEPER).as_ptr());
        if !keeper.is_null() {
            LLVMDeleteGlobal(keeper);
        }
    }
}

/// Refuses to differentiate a function whose body nobody has.
fn refuse_declarations(private: &Module, pins: &Pins) -> Result<()> {
    for request in &pins.requests {
        let target = private.function(&request.target);
        // SAFETY: the functions of a live module are live.
        if target.is_some_and(|function| unsafe { LLVMIsDeclaration(function) == 0 }) {
            continue;
        }
        let mut rules = pins.registered.iter().filter(|r| r.is_derivative());
        if target.is_some() && rules.any(|rule| rule.about == request.target) {
            continue;
        }
        return Err(request.complain(only_declared(&request.target)));
    }
    Ok(())
}

/// Refuses a registration that would matter and cannot be followed.
fn refuse_registrations(private: &Module, registered: &[Registered]) -> Result<()> {
    let reached = |name: &str| {
        // SAFETY: the name is read during the call only.
        private.function(name).is_some()
            || unsafe { !LLVMGetNamedGlobal(private.raw(), c_string(name).as_ptr()).is_null() }
    };
    let followed = |r: &&Registered| r.rule == Rule::Unsupported && reached(&r.about);
    match registered.iter().find(followed) {
        None => Ok(()),
        Some(note @ Registered { by, about, .. }) => {
            let kind = match note.place {
                Some(_) => "annotation",
                None => "registration",
            };
            Err(note.complain(Diagnostic::new(Code::UnsupportedWord,
                format!("the {kind} `{by}` is not supported yet"),
                format!(
                    "it is about `{about}`, which a derivative needs, and leaving it out would change the result"
                ),
                format!(
                    "remove the {kind}, so that Zymase differentiates `{about}` itself, or mark it with __enzyme_inactivefn"
                ),
            )))
        }
    }
}

/// Makes local variables of the program visible that the private module refers to.
fn promote_shared_variables(
    program: &Module,
    private: &Module,
) -> Vec<(LLVMValueRef, LLVMLinkage)> {
    let mut promoted = Vec::new();
    for clone in private.globals() {
        // SAFETY: the symbols of live modules are live.
        unsafe {
            if LLVMIsDeclaration(clone) == 0 {
                continue;
            }
            let name = c_string(&value_name(clone));
            let original = LLVMGetNamedGlobal(program.raw(), name.as_ptr());
            let linkage = match original.is_null() {
                true => continue,
                false => LLVMGetLinkage(original),
            };
            if matches!(linkage, LLVMInternalLinkage | LLVMPrivateLinkage) {
                LLVMSetLinkage(original, LLVMExternalLinkage);
                promoted.push((original, linkage));
            }
        }
    }
    promoted
}
