//! A module of LLVM: parse, print, verify, link, and walk over what is in it.

use crate::context::Context;
use crate::raw::{Buffer, c_string, take_message};
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMModule};
use std::ffi::CStr;
use std::path::Path;
use std::ptr::null_mut;
use std::rc::Rc;
use zymase_core::diagnostic::{Code, Diagnostic, Result};

/// A module of LLVM in a [`Context`].
pub struct Module(Rc<Inner>);

struct Inner {
    /// Null once the module was linked into another one.
    raw: *mut LLVMModule,
    context: Context,
}

/// Keeps a module alive for those who hold handles into it.
#[derive(Clone)]
pub(crate) struct KeepAlive(#[allow(dead_code)] Rc<Inner>);

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: this is the only owner; the context is still alive.
            unsafe { LLVMDisposeModule(self.raw) }
        }
    }
}

impl Module {
    /// An empty module.
    pub fn new(context: &Context, name: &str) -> Module {
        let name = c_string(name);
        // SAFETY: the name is copied.
        let raw = unsafe { LLVMModuleCreateWithNameInContext(name.as_ptr(), context.raw()) };
        Module::own(context, raw)
    }

    fn own(context: &Context, raw: LLVMModuleRef) -> Module {
        Module(Rc::new(Inner {
            raw,
            context: context.clone(),
        }))
    }

    /// Reads bitcode or the text form; `name` is what messages call it.
    pub fn parse(context: &Context, bytes: &[u8], name: &str) -> Result<Module> {
        let buffer = Buffer::copy_of(bytes, name);
        let (mut raw, mut message) = (null_mut(), null_mut());
        // SAFETY: the buffer is not consumed; out parameters are written on the paths they are
        // read on.
        let failed =
            unsafe { LLVMParseIRInContext2(context.raw(), buffer.0, &mut raw, &mut message) != 0 };
        if !failed {
            context.take_errors();
            return Ok(Module::own(context, raw));
        }
        // SAFETY: on failure the message is ours.
        let mut reason = unsafe { take_message(message) };
        if let Some(more) = context.take_errors() {
            reason = format!("{more}\n{reason}");
        }
        Err(Diagnostic::new(
            Code::InvalidInput,
            format!("cannot read {name}"),
            reason.trim().to_string(),
            "give bitcode (.bc) or text (.ll) of LLVM 22 or older",
        ))
    }

    /// Reads a file of bitcode or of the text form.
    pub fn parse_file(context: &Context, path: &Path) -> Result<Module> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Module::parse(context, &bytes, &name),
            Err(error) => Err(Diagnostic::new(
                Code::CannotRead,
                format!("cannot read {name}"),
                error.to_string(),
                "give the path of a file that can be read",
            )),
        }
    }

    /// The handle of LLVM's C API.
    pub fn raw(&self) -> LLVMModuleRef {
        self.0.raw
    }

    /// The context that the module is in.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    pub(crate) fn keep_alive(&self) -> KeepAlive {
        KeepAlive(self.0.clone())
    }

    /// A copy of the whole module in the same context.
    pub fn duplicate(&self) -> Module {
        // SAFETY: the module is alive.
        let raw = unsafe { LLVMCloneModule(self.raw()) };
        Module::own(self.context(), raw)
    }

    /// The text form.
    pub fn print(&self) -> String {
        // SAFETY: the module is alive and the message becomes ours.
        unsafe { take_message(LLVMPrintModuleToString(self.raw())) }
    }

    /// Adds bytes in a section that linkers leave out of programs.
    pub fn add_excluded_section(&self, name: &str, bytes: &[u8]) {
        let context = self.context().raw();
        // SAFETY: LLVM copies bytes and names; the node belongs to the context.
        unsafe {
            let start = bytes.as_ptr().cast();
            let content = LLVMConstStringInContext2(context, start, bytes.len(), 1);
            let global = LLVMAddGlobal(self.raw(), LLVMTypeOf(content), c"".as_ptr());
            LLVMSetInitializer(global, content);
            LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetSection(global, c_string(name).as_ptr());
            LLVMSetAlignment(global, 1);
            let kind = LLVMGetMDKindIDInContext(context, c"exclude".as_ptr(), 7);
            let node = LLVMMDNodeInContext2(context, null_mut(), 0);
            LLVMGlobalSetMetadata(global, kind, node);
        }
    }

    /// The bitcode.
    pub fn to_bitcode(&self) -> Vec<u8> {
        // SAFETY: the module is alive and the buffer becomes ours.
        Buffer(unsafe { LLVMWriteBitcodeToMemoryBuffer(self.raw()) }).to_vec()
    }

    /// Checks the module against LLVM's rules.
    pub fn verify(&self) -> Result<()> {
        let mut message = null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: the message is always allocated and becomes ours.
        let (broken, message) = unsafe {
            let broken = LLVMVerifyModule(self.raw(), action, &mut message) != 0;
            (broken, take_message(message))
        };
        if !broken {
            return Ok(());
        }
        Err(Diagnostic::new(
            Code::Defect,
            "LLVM does not accept the module",
            message.trim().to_string(),
            "this is a defect of Zymase or of the compiler that wrote the module; please report it",
        ))
    }

    /// Moves everything of another module of the same context into this one.
    pub fn link(&self, other: Module) -> Result<()> {
        if !self.context().same_as(other.context()) {
            return Err(Diagnostic::defect(
                "cannot link modules of two contexts",
                "both modules must be read in one context",
            ));
        }
        let Ok(mut inner) = Rc::try_unwrap(other.0) else {
            return Err(Diagnostic::defect(
                "cannot link a module that is still in use",
                "something imported from it is alive",
            ));
        };
        let raw = std::mem::replace(&mut inner.raw, null_mut());
        // SAFETY: linking consumes the other module, also when it fails.
        let failed = unsafe { LLVMLinkModules2(self.raw(), raw) != 0 };
        let errors = self.context().take_errors();
        if failed {
            return Err(Diagnostic::new(
                Code::CannotLink,
                "cannot link two modules",
                errors.unwrap_or_default(),
                "compile the files with the same compiler and for the same machine",
            ));
        }
        Ok(())
    }

    /// The operands of the metadata of this name.
    pub(crate) fn named_metadata(&self, name: &str) -> Vec<LLVMValueRef> {
        let name = crate::raw::c_string(name);
        // SAFETY: LLVM fills in as many operands as it counts.
        unsafe {
            let count = LLVMGetNamedMetadataNumOperands(self.raw(), name.as_ptr());
            let mut nodes = vec![std::ptr::null_mut(); count as usize];
            LLVMGetNamedMetadataOperands(self.raw(), name.as_ptr(), nodes.as_mut_ptr());
            nodes
        }
    }

    /// The functions, declarations included.
    pub fn functions(&self) -> impl Iterator<Item = LLVMValueRef> + use<> {
        // SAFETY: the first and each next one are live while the module is.
        let first = unsafe { LLVMGetFirstFunction(self.raw()) };
        chain(first, |f| unsafe { LLVMGetNextFunction(f) })
    }

    /// The global variables.
    pub fn globals(&self) -> impl Iterator<Item = LLVMValueRef> + use<> {
        // SAFETY: as for functions.
        let first = unsafe { LLVMGetFirstGlobal(self.raw()) };
        chain(first, |g| unsafe { LLVMGetNextGlobal(g) })
    }

    /// The aliases.
    pub fn aliases(&self) -> impl Iterator<Item = LLVMValueRef> + use<> {
        // SAFETY: as for functions.
        let first = unsafe { LLVMGetFirstGlobalAlias(self.raw()) };
        chain(first, |g| unsafe { LLVMGetNextGlobalAlias(g) })
    }

    /// The functions chosen when the program starts.
    pub fn ifuncs(&self) -> impl Iterator<Item = LLVMValueRef> + use<> {
        // SAFETY: as for functions.
        let first = unsafe { LLVMGetFirstGlobalIFunc(self.raw()) };
        chain(first, |g| unsafe { LLVMGetNextGlobalIFunc(g) })
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<LLVMValueRef> {
        // SAFETY: LLVM reads `len` bytes of the name.
        let found =
            unsafe { LLVMGetNamedFunctionWithLength(self.raw(), name.as_ptr().cast(), name.len()) };
        (!found.is_null()).then_some(found)
    }

    /// The target triple; empty if the module has none.
    pub fn triple(&self) -> String {
        // SAFETY: the string lives as long as the module.
        unsafe {
            CStr::from_ptr(LLVMGetTarget(self.raw()))
                .to_string_lossy()
                .into_owned()
        }
    }
}

/// The blocks of a function in order.
///
/// # Safety
/// `function` is a live function, and its blocks are not removed during the walk.
pub unsafe fn blocks_of(function: LLVMValueRef) -> impl Iterator<Item = LLVMBasicBlockRef> {
    // SAFETY: as the caller promises.
    let first = unsafe { LLVMGetFirstBasicBlock(function) };
    chain(first, |b| unsafe { LLVMGetNextBasicBlock(b) })
}

/// The instructions of a block in order.
///
/// # Safety
/// `block` is a live block, and its instructions are not removed during the walk.
pub unsafe fn instructions_of(block: LLVMBasicBlockRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: as the caller promises.
    let first = unsafe { LLVMGetFirstInstruction(block) };
    chain(first, |i| unsafe { LLVMGetNextInstruction(i) })
}

fn chain<T>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> impl Iterator<Item = *mut T> {
    std::iter::successors((!first.is_null()).then_some(first), move |&item| {
        let following = next(item);
        (!following.is_null()).then_some(following)
    })
}
