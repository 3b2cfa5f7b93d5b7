//! Checks that a module is well formed.
//!
//! A function is checked in three phases: its structure (header, blocks, terminators, edges), the
//! types of every instruction by itself, and, if the structure is sound, that every use comes
//! after its definition on every path. Each phase is linear but for dominators, which take two
//! sweeps on reducible graphs; the text of an instruction is made only for errors.

mod instruction;
mod nest;
mod rules;
mod tables;
mod usage;

use super::text::{InstPrinter, Names};
use super::{
    Block, Constant, Function, Inst, Module, ParamAttrs, Symbol, Type, TypeKind, Value, ValueDef,
};
use cranelift_entity::{EntityRef, SecondaryMap};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt;

/// Checks a module and all its functions.
pub fn verify_module(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    tables::verify_tables(module, &mut errors);
    for func in module.funcs.values() {
        if let Err(found) = verify_function(module, func) {
            errors.extend(found);
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Checks one function, which need not stand in the module yet.
pub fn verify_function(module: &Module, func: &Function) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier::new(module, func);
    verifier.header();
    if !func.is_declaration() && verifier.structure() {
        verifier.uses();
    }
    match verifier.errors.is_empty() {
        true => Ok(()),
        false => Err(verifier.errors),
    }
}

/// Something that is wrong with a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The name of the function, if it is in one.
    pub function: Option<String>,
    /// The block, as the text form names it.
    pub block: Option<String>,
    /// The text of the instruction.
    pub inst: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = &self.function {
            write!(f, "@{function}")?;
            if let Some(block) = &self.block {
                write!(f, ", {block}")?;
            }
            if let Some(inst) = &self.inst {
                write!(f, ", `{inst}`")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for VerifyError {}

struct Verifier<'m> {
    module: &'m Module,
    func: &'m Function,
    names: OnceCell<Names<'m>>,
    errors: Vec<VerifyError>,
    checked_types: HashSet<Type>,
    checked_constants: SecondaryMap<Value, bool>,
}

impl<'m> Verifier<'m> {
    fn new(module: &'m Module, func: &'m Function) -> Verifier<'m> {
        Verifier {
            module,
            func,
            names: OnceCell::new(),
            errors: Vec::new(),
            checked_types: HashSet::new(),
            checked_constants: SecondaryMap::new(),
        }
    }

    fn error(&mut self, block: Option<Block>, inst: Option<Inst>, message: impl Into<String>) {
        let names = self.names.get_or_init(|| Names::new(self.func));
        let printer = InstPrinter {
            module: self.module,
            func: self.func,
            names,
        };
        self.errors.push(VerifyError {
            function: Some(self.func.name.clone()),
            block: block.map(|block| names.block(block)),
            inst: inst.map(|inst| printer.text(inst)),
            message: message.into(),
        });
    }

    /// What is known before the body.
    fn header(&mut self) {
        let func = self.func;
        for &ty in &func.sig.params {
            if let Err(message) = self.value_type(ty) {
                self.error(None, None, format!("a parameter: {message}"));
            }
        }
        if !func.sig.ret.is_void()
            && let Err(message) = self.value_type(func.sig.ret)
        {
            self.error(None, None, format!("the result: {message}"));
        }
        let (types, attrs) = (func.sig.params.len(), func.params.len());
        if types != attrs {
            let given = counted(types, "parameter");
            let message = format!("{given}, but attributes for {attrs}");
            self.error(None, None, message);
        }
        for attrs in func.params.iter().chain([&func.ret]) {
            if let Err(message) = param_attrs(attrs) {
                self.error(None, None, message);
            }
        }
        if let Some(alloc) = &func.attrs.alloc {
            let indices = alloc.size_args.iter().chain(&alloc.ptr_arg);
            for index in indices.filter(|&&i| i as usize >= types) {
                let message = format!("the allocation names parameter {index} of {types}");
                self.error(None, None, message);
            }
        }
    }

    /// Blocks, terminators, edges, and each instruction by itself. Says whether the graph is sound.
    fn structure(&mut self) -> bool {
        let func = self.func;
        let mut in_layout: SecondaryMap<Block, bool> = SecondaryMap::new();
        let mut placed: SecondaryMap<Inst, bool> = SecondaryMap::new();
        let mut sound = true;
        for &block in func.blocks() {
            if std::mem::replace(&mut in_layout[block], true) {
                self.error(Some(block), None, "the block stands twice in the layout");
                return false;
            }
        }
        self.entry();
        for &block in func.blocks() {
            for &param in func.block_params(block) {
                if let Err(message) = self.value_type(func.ty(param)) {
                    self.error(Some(block), None, format!("a parameter: {message}"));
                }
            }
            let insts = func.block_insts(block);
            if insts.is_empty() {
                self.error(Some(block), None, "the block is empty");
                sound = false;
            }
            for (position, &inst) in insts.iter().enumerate() {
                if std::mem::replace(&mut placed[inst], true) {
                    self.error(Some(block), Some(inst), "the instruction stands twice");
                    sound = false;
                }
                let op = &func.inst(inst).op;
                let last = position + 1 == insts.len();
                if last && !op.is_terminator() {
                    self.error(
                        Some(block),
                        Some(inst),
                        "the block does not end in a terminator",
                    );
                    sound = false;
                } else if !last && op.is_terminator() {
                    self.error(
                        Some(block),
                        Some(inst),
                        "a terminator before the end of its block",
                    );
                    sound = false;
                }
                for edge in op.edges() {
                    if !in_layout[edge.block] {
                        let message = "an edge to a block that is not part of the function";
                        self.error(Some(block), Some(inst), message);
                        sound = false;
                    } else if edge.block == func.entry() {
                        self.error(Some(block), Some(inst), "an edge to the entry block");
                        sound = false;
                    } else if let Err(message) = self.edge(edge) {
                        self.error(Some(block), Some(inst), message);
                    }
                }
                if let Err(message) = self.instruction(inst) {
                    self.error(Some(block), Some(inst), message);
                }
            }
        }
        sound
    }

    fn entry(&mut self) {
        let func = self.func;
        let params = func.arguments().iter().map(|&v| func.ty(v));
        if !params.clone().eq(func.sig.params.iter().copied()) {
            let list = |types: Vec<String>| types.join(", ");
            let message = format!(
                "the parameters of the entry block are ({}), those of the signature ({})",
                list(params.map(|ty| ty.to_string()).collect()),
                list(func.sig.params.iter().map(Type::to_string).collect()),
            );
            self.error(Some(func.entry()), None, message);
        }
    }

    fn edge(&mut self, edge: &super::Edge) -> Result<(), String> {
        let func = self.func;
        let params = func.block_params(edge.block);
        let (given, wanted) = (edge.args.len(), params.len());
        if given != wanted {
            let (given, wanted) = (counted(given, "argument"), counted(wanted, "parameter"));
            return Err(format!("an edge passes {given} to a block with {wanted}"));
        }
        for (i, (&arg, &param)) in edge.args.iter().zip(params).enumerate() {
            self.operand(arg)?;
            let (given, wanted) = (func.ty(arg), func.ty(param));
            if given != wanted {
                return Err(format!(
                    "argument {i} of an edge has the type {given}, the parameter {wanted}"
                ));
            }
        }
        Ok(())
    }

    /// An operand must be a value of the function, a constant one of its type.
    fn operand(&mut self, value: Value) -> Result<(), String> {
        if value.index() >= self.func.value_count() {
            return Err("an operand that is no value of the function".to_string());
        }
        let data = self.func.value(value);
        let ValueDef::Const(constant) = &data.def else {
            return Ok(());
        };
        if std::mem::replace(&mut self.checked_constants[value], true) {
            return Ok(());
        }
        self.value_type(data.ty)?;
        check_constant(self.module, data.ty, constant)
    }

    /// The type of a value: not void, and vectors are of scalars.
    fn value_type(&mut self, ty: Type) -> Result<(), String> {
        if self.checked_types.contains(&ty) {
            return Ok(());
        }
        match ty.kind() {
            TypeKind::Void => return Err("void is no type of a value".to_string()),
            TypeKind::Int(0) => return Err("an integer has at least one bit".to_string()),
            TypeKind::Vector(element, lanes) => {
                let scalar = element.is_int() || element.is_ptr() || element.float_kind().is_some();
                if *lanes == 0 || !scalar {
                    return Err(format!("{ty} is no vector of scalars"));
                }
                self.value_type(*element)?;
            }
            TypeKind::Array(element, _) => self.value_type(*element)?,
            TypeKind::Struct { fields, .. } => {
                for &field in fields {
                    self.value_type(field)?;
                }
            }
            TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Ptr(_) | TypeKind::Opaque(_) => {}
        }
        self.checked_types.insert(ty);
        Ok(())
    }
}

fn check_constant(module: &Module, ty: Type, constant: &Constant) -> Result<(), String> {
    let fits = match (constant, ty.kind()) {
        (Constant::Int(_), TypeKind::Int(_)) => true,
        (Constant::Float(_), TypeKind::Float(_)) => true,
        (Constant::Zero | Constant::Undef | Constant::Poison | Constant::Opaque(_), _) => true,
        (Constant::Address(symbol, _), TypeKind::Ptr(_)) => return check_symbol(module, *symbol),
        (Constant::Aggregate(parts), _) if ty.is_aggregate() => {
            if parts.len() as u64 != ty.part_count() {
                return Err(format!(
                    "a constant with {} parts of the type {ty}",
                    parts.len()
                ));
            }
            for (i, part) in parts.iter().enumerate() {
                if let Some(part_type) = ty.part(i as u64) {
                    check_constant(module, part_type, part)?;
                }
            }
            true
        }
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => Err(format!("a constant that is not of its type {ty}")),
    }
}

fn check_symbol(module: &Module, symbol: Symbol) -> Result<(), String> {
    let known = match symbol {
        Symbol::Func(func) => module.funcs.is_valid(func),
        Symbol::Global(global) => module.globals.is_valid(global),
    };
    match known {
        true => Ok(()),
        false => Err("the address of a symbol that is not there".to_string()),
    }
}

/// A number of things.
fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

fn param_attrs(attrs: &ParamAttrs) -> Result<(), String> {
    check_align(attrs.align)
}

fn check_align(align: u32) -> Result<(), String> {
    match align == 0 || align.is_power_of_two() {
        true => Ok(()),
        false => Err(format!("the alignment {align} is no power of two")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::parse_module;
    use crate::ir::{Callee, Func, Op};

    /// Breaks a function in a way that no text can, and gives what the verifier says.
    fn broken(break_it: impl FnOnce(&mut Function)) -> Vec<String> {
        let text = "func @f(%x: f64) -> f64 {
            a:
                %y = call @f(%x)
                %z = fneg %y
                jump b(%z)
            b(%w: f64):
                return %w
            }";
        let mut module = parse_module(text).expect("the text is right");
        assert_eq!(verify_module(&module), Ok(()));
        break_it(&mut module.funcs[Func::new(0)]);
        let errors = verify_module(&module).expect_err("the function is broken");
        errors.iter().map(VerifyError::to_string).collect()
    }

    fn check(break_it: impl FnOnce(&mut Function), expected: &[&str]) {
        assert_eq!(broken(break_it), expected);
    }

    #[test]
    fn an_operand_of_no_function() {
        check(
            |f| {
                let inst = f.block_insts(f.entry())[1];
                f.inst_mut(inst).args[0] = Value::new(99);
            },
            &[
                "@f, block0, `%z = fneg undefined99 : f64`: an operand that is no value of the function",
            ],
        );
    }

    #[test]
    fn a_value_whose_instruction_is_gone() {
        check(
            |f| {
                let mut insts = f.block_insts(f.entry()).to_vec();
                insts.remove(1);
                f.set_block_insts(f.entry(), insts);
            },
            &[
                "@f, block0, `jump block1(undefined2)`: undefined2 is defined nowhere in the function",
            ],
        );
    }

    #[test]
    fn a_callee_that_is_not_there() {
        check(
            |f| {
                let inst = f.block_insts(f.entry())[0];
                if let Op::Call(call) = &mut f.inst_mut(inst).op {
                    call.callee = Callee::Direct(Func::new(7));
                }
            },
            &["@f, block0, `%y = call missing7(%x) : (f64) -> f64`: the callee is not there"],
        );
    }

    #[test]
    fn an_edge_to_a_block_that_is_gone() {
        check(
            |f| f.set_layout(vec![f.entry()]),
            &[
                "@f, block0, `jump removed1(%z)`: an edge to a block that is not part of the function",
            ],
        );
    }

    #[test]
    fn a_block_that_stands_twice() {
        check(
            |f| f.set_layout([f.blocks(), &f.blocks()[1..]].concat()),
            &["@f, block2: the block stands twice in the layout"],
        );
    }

    #[test]
    fn an_instruction_that_stands_twice() {
        check(
            |f| {
                let mut insts = f.block_insts(f.entry()).to_vec();
                insts.insert(0, insts[1]);
                f.set_block_insts(f.entry(), insts);
            },
            &["@f, block0, `v3 \"z\" = fneg %y : f64`: the instruction stands twice"],
        );
    }
}
