//! Prints modules and functions.

use super::constants::constant_text;
use super::names::{Names, quote_if_needed};
use super::print_inst::InstPrinter;
use crate::ir::{
    AllocInfo, CustomRule, DataLayout, Declared, FnAttrs, Func, Function, GlobalData, LocData,
    MemoryEffects, ModRef, Module, ParamAttrs, Signature, SourcePart, SourceTypeData, Symbol, Type,
    Value, ValueDef,
};
use std::fmt::Write as _;

/// The text of a module.
pub fn print_module(module: &Module) -> String {
    let mut sections = Vec::new();
    if module.layout != DataLayout::default() {
        let DataLayout {
            pointer_bytes,
            max_int_align,
            max_vector_align,
        } = module.layout;
        sections.push(format!(
            "layout pointer {pointer_bytes}, int {max_int_align}, vector {max_vector_align}\n"
        ));
    }
    let globals = module.globals.values();
    sections.push(globals.map(|g| global_text(module, g)).collect());
    let mut declarations = String::new();
    for func in module.funcs.keys() {
        // Declarations in a row stand together, definitions apart.
        let text = print_function(module, func);
        if module.funcs[func].is_declaration() {
            declarations.push_str(&text);
        } else {
            sections.push(std::mem::take(&mut declarations));
            sections.push(text);
        }
    }
    sections.push(declarations);
    let rules = module.rules.iter();
    sections.push(rules.map(|rule| rule_text(module, rule)).collect());
    let mut tables = String::new();
    for (tbaa, data) in &module.tbaa {
        let _ = write!(tables, "tbaa {} = {:?}", tbaa.as_u32(), data.name);
        if let Some(parent) = data.parent {
            let _ = write!(tables, " under {}", parent.as_u32());
        }
        tables.push('\n');
    }
    for (source, data) in &module.sources {
        let _ = writeln!(tables, "source {} = {}", source.as_u32(), source_text(data));
    }
    for (scope, data) in &module.scopes {
        let _ = writeln!(tables, "scope {} = domain {}", scope.as_u32(), data.domain);
    }
    for (loc, data) in &module.locs {
        let _ = writeln!(tables, "loc {} = {}", loc.as_u32(), loc_text(data));
    }
    sections.push(tables);
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

fn rule_text(module: &Module, rule: &CustomRule) -> String {
    let name = |func: &Func| format!("@{}", quote_if_needed(&module.funcs[*func].name));
    let parts: Vec<String> = rule.parts.iter().map(name).collect();
    let (kind, func, parts) = (rule.kind.name(), name(&rule.func), parts.join(", "));
    let handles = match &rule.handles {
        Some(words) => {
            let words: Vec<&str> = words.iter().map(|word| word.name()).collect();
            format!(" handles({})", words.join(", "))
        }
        None => String::new(),
    };
    format!("rule {kind} of {func} is {parts}{handles}\n")
}

/// The text of one function.
pub fn print_function(module: &Module, func: Func) -> String {
    function_text(module, &module.funcs[func])
}

/// The text of a function that need not stand in the module.
pub(crate) fn function_text(module: &Module, func: &Function) -> String {
    let names = Names::new(func);
    let named = func.arguments();
    let types = named.iter().map(|&v| func.ty(v));
    // The parameters of the entry block stand in the header, unless they are not those of the
    // signature; then the function is wrong, and shown as it is.
    let in_header = !func.is_declaration()
        && types.eq(func.sig.params.iter().copied())
        && func.params.len() == named.len();
    let mut out = String::from(if func.is_declaration() {
        "declare "
    } else {
        "func "
    });
    for (set, word) in [
        (func.local, "local "),
        (func.address_taken, "address_taken "),
    ] {
        if set {
            out.push_str(word);
        }
    }
    let none = ParamAttrs::default();
    let count = func.sig.params.len().max(func.params.len());
    let mut params: Vec<String> = (0..count)
        .map(|i| {
            let ty = func.sig.params.get(i).copied().unwrap_or(Type::void());
            let attrs = param_attrs_text(func.params.get(i).unwrap_or(&none));
            match in_header {
                true => format!("{}: {ty}{attrs}", names.definition(named[i])),
                false => format!("{ty}{attrs}"),
            }
        })
        .collect();
    if func.sig.variadic {
        params.push("...".to_string());
    }
    let _ = write!(
        out,
        "@{}({})",
        quote_if_needed(&func.name),
        params.join(", ")
    );
    let ret_attrs = param_attrs_text(&func.ret);
    if !func.sig.ret.is_void() || !ret_attrs.is_empty() {
        let _ = write!(out, " ->{ret_attrs} {}", func.sig.ret);
    }
    for word in fn_attrs_words(&func.attrs) {
        let _ = write!(out, " {word}");
    }
    if func.is_declaration() {
        out.push('\n');
        return out;
    }
    out.push_str(" {\n");
    let printer = InstPrinter {
        module,
        func,
        names: &names,
    };
    let is_there = |value: &Value| match func.def(*value) {
        ValueDef::Result(inst) => func
            .blocks()
            .iter()
            .any(|&b| func.block_insts(b).contains(inst)),
        ValueDef::Param(block, _) => func.blocks().contains(block),
        ValueDef::Const(_) => true,
    };
    for (value, declarations) in func.declared.iter().filter(|(v, _)| is_there(v)) {
        for declared in declarations {
            let (word, source) = match declared {
                Declared::Object(source) => ("object", source),
                Declared::Element(source) => ("element", source),
                Declared::Integers(source) => ("integers", source),
            };
            let operand = names.value(*value);
            let _ = writeln!(out, "    declared {operand} {word} {}", source.as_u32());
        }
    }
    for (index, &block) in func.blocks().iter().enumerate() {
        out.push_str(&names.block(block));
        let params = func.block_params(block);
        if !(params.is_empty() || index == 0 && in_header) {
            let params: Vec<String> = params
                .iter()
                .map(|&v| format!("{}: {}", names.definition(v), func.ty(v)))
                .collect();
            let _ = write!(out, "({})", params.join(", "));
        }
        out.push_str(":\n");
        for &inst in func.block_insts(block) {
            let _ = writeln!(out, "    {}", printer.text(inst));
        }
    }
    out.push_str("}\n");
    out
}

/// Attributes of a parameter, each after a space.
pub(super) fn param_attrs_text(attrs: &ParamAttrs) -> String {
    let mut out = String::new();
    for (name, _) in attrs.flags.iter_names() {
        let _ = write!(out, " {}", name.to_lowercase());
    }
    if attrs.dereferenceable != 0 {
        let _ = write!(out, " dereferenceable({})", attrs.dereferenceable);
    }
    if attrs.align != 0 {
        let _ = write!(out, " align({})", attrs.align);
    }
    if let Some(ty) = attrs.byval {
        let _ = write!(out, " byval({ty})");
    }
    if let Some(ty) = attrs.sret {
        let _ = write!(out, " sret({ty})");
    }
    out
}

/// Attributes of a function or call, one after the other.
pub(super) fn fn_attrs_words(attrs: &FnAttrs) -> Vec<String> {
    let names = attrs.flags.iter_names();
    let mut words: Vec<String> = names.map(|(name, _)| name.to_lowercase()).collect();
    words.extend(memory_text(attrs.memory));
    words.extend(attrs.alloc.as_ref().map(alloc_text));
    words
}

/// What a function may do with memory; nothing if it may do everything.
pub(super) fn memory_text(memory: MemoryEffects) -> Option<String> {
    let word = |effect: ModRef| match (
        effect.contains(ModRef::READ),
        effect.contains(ModRef::WRITE),
    ) {
        (false, false) => "none",
        (true, false) => "read",
        (false, true) => "write",
        (true, true) => "readwrite",
    };
    if memory == MemoryEffects::default() {
        return None;
    }
    let parts = [
        ("arguments", memory.arguments),
        ("inaccessible", memory.inaccessible),
        ("other", memory.other),
    ];
    if parts.iter().all(|(_, effect)| *effect == memory.other) {
        return Some(format!("memory({})", word(memory.other)));
    }
    let listed: Vec<String> = parts
        .iter()
        .filter(|(_, effect)| !effect.is_empty())
        .map(|(name, effect)| format!("{name}: {}", word(*effect)))
        .collect();
    Some(format!("memory({})", listed.join(", ")))
}

fn alloc_text(alloc: &AllocInfo) -> String {
    let mut out = format!("alloc({}", alloc.kind.name());
    if alloc.zeroed {
        out.push_str(", zeroed");
    }
    if !alloc.family.is_empty() {
        let _ = write!(out, ", family {:?}", alloc.family);
    }
    if !alloc.size_args.is_empty() {
        let factors: Vec<String> = alloc.size_args.iter().map(u32::to_string).collect();
        let _ = write!(out, ", size {}", factors.join(" * "));
    }
    if let Some(ptr) = alloc.ptr_arg {
        let _ = write!(out, ", ptr {ptr}");
    }
    if let Some(freed) = &alloc.freed {
        let args = freed.args.iter();
        let args = args.map(|arg| arg.map_or("-1".to_string(), |i| i.to_string()));
        let args: Vec<String> = args.collect();
        let _ = write!(out, ", freed {:?} {}", freed.by, args.join(" * "));
    }
    out.push(')');
    out
}

/// A signature, such as `(ptr, ...) -> f64`.
pub(super) fn signature_text(sig: &Signature) -> String {
    let mut params: Vec<String> = sig.params.iter().map(Type::to_string).collect();
    if sig.variadic {
        params.push("...".to_string());
    }
    format!("({}) -> {}", params.join(", "), sig.ret)
}

fn global_text(module: &Module, global: &GlobalData) -> String {
    let mut out = String::from("global ");
    for (set, word) in [
        (global.local, "local "),
        (global.constant, "constant "),
        (global.thread_local, "thread_local "),
        (global.inactive, "inactive "),
    ] {
        if set {
            out.push_str(word);
        }
    }
    let name = quote_if_needed(&global.name);
    let _ = write!(out, "@{name} size {} align {}", global.size, global.align);
    if let Some(source) = global.source {
        let _ = write!(out, " source {}", source.as_u32());
    }
    if let Some(init) = &global.init {
        let mut items = Vec::new();
        if !init.bytes.is_empty() {
            let digits: String = init.bytes.iter().map(|b| format!("{b:02x}")).collect();
            items.push(format!("bytes \"{digits}\""));
        }
        for &(at, symbol, offset) in &init.relocations {
            items.push(format!("at {at} {}", address_text(module, symbol, offset)));
        }
        if init.opaque {
            items.push("opaque".to_string());
        }
        let _ = write!(out, " = {{{}}}", items.join(", "));
    }
    out.push('\n');
    out
}

fn source_text(data: &SourceTypeData) -> String {
    let parts = data.parts.iter().map(|(at, part)| match part {
        SourcePart::Int(bytes) => format!("{at}: int {bytes}"),
        SourcePart::Float(kind) => format!("{at}: {}", kind.name()),
        SourcePart::Ptr(None) => format!("{at}: ptr"),
        SourcePart::Ptr(Some(to)) => format!("{at}: ptr to {}", to.as_u32()),
    });
    let parts: Vec<String> = parts.collect();
    format!("size {} {{{}}}", data.size, parts.join(", "))
}

fn address_text(module: &Module, symbol: Symbol, offset: i64) -> String {
    let constant = crate::ir::Constant::Address(symbol, offset);
    constant_text(module, Type::ptr(), &constant)
}

fn loc_text(data: &LocData) -> String {
    let mut out = format!(
        "{:?}:{}:{} in {:?}",
        data.file, data.line, data.column, data.function
    );
    if let Some(call) = data.inlined_at {
        let _ = write!(out, " inlined at {}", call.as_u32());
    }
    out
}
