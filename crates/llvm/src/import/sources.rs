//! Types of the source program from debug information.
//!
//! Records of variables tell where a variable lives (`#dbg_declare`) or which value it has
//! (`#dbg_value`); the types of variables tell what is there. Not everything that a type says is
//! believed. Programs carry memory of any kind in buffers of integers, so integers alone say
//! nothing, nor do bytes; a union says only what its members agree in.

use super::Importer;
use super::function::Body;
use crate::ll::{self, LLVMDbgRecordKind as Record, Md, Val};
use llvm_sys::debuginfo::{
    LLVMDIFlagBitField, LLVMDIFlagFwdDecl, LLVMDIFlagStaticMember, LLVMDIFlagVirtual,
    LLVMMetadataKind as Kind,
};
use std::collections::BTreeMap;
use zymase_core::ir::{Declared, FloatKind, SourcePart, SourceType, SourceTypeData, Value};

/// Arrays and structures are taken apart into at most this many scalars.
const MOST_PARTS: usize = 512;
/// Structures in structures are followed this deep, as a guard against broken metadata.
const DEEPEST: u32 = 32;

// Numbers of DWARF.
const ARRAY: u16 = 0x01;
const CLASS: u16 = 0x02;
const ENUMERATION: u16 = 0x04;
const MEMBER: u16 = 0x0d;
const POINTER: u16 = 0x0f;
const REFERENCE: u16 = 0x10;
const STRUCTURE: u16 = 0x13;
const TYPEDEF: u16 = 0x16;
const UNION: u16 = 0x17;
const INHERITANCE: u16 = 0x1c;
const CONST: u16 = 0x26;
const VARIANTS: u16 = 0x33;
const VOLATILE: u16 = 0x35;
const RESTRICT: u16 = 0x37;
const RVALUE_REFERENCE: u16 = 0x42;
const ATOMIC: u16 = 0x47;

// Where LLVM keeps things in nodes.
const SCOPE_OF_VARIABLE: usize = 0;
const NAME_OF_VARIABLE: usize = 1;
const TYPE_OF_VARIABLE: usize = 3;
pub(super) const BASE: usize = 5;
const ELEMENTS: usize = 6;

/// Scalars at byte offsets. What is nothing of all that is not believed.
pub(super) type Parts = BTreeMap<u64, Part>;

#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) enum Part {
    Int(u64),
    Float(FloatKind),
    Ptr(Md),
    /// So many bytes that may hold anything.
    Any(u64),
}

impl Part {
    pub(super) fn bytes(self) -> u64 {
        match self {
            Part::Int(bytes) | Part::Any(bytes) => bytes,
            Part::Float(kind) => u64::from(kind.bytes()),
            Part::Ptr(_) => 8,
        }
    }
}

impl Body<'_> {
    /// Reads the records of variables that stand before an instruction.
    pub(super) fn read_records(&mut self, inst: Val) {
        let mut record = ll::first_record(inst);
        while !record.is_null() {
            self.read_record(record);
            record = ll::next_record(record);
        }
    }

    fn read_record(&mut self, record: ll::Rec) -> Option<()> {
        let kind = ll::record_kind(record);
        if !matches!(
            kind,
            Record::LLVMDbgRecordDeclare | Record::LLVMDbgRecordValue
        ) {
            return None;
        }
        let value = self.known(ll::record_value(record, 0))?;
        let variable = ll::record_variable(record);
        self.name_parameter(value, variable);
        if ll::record_expression(record) != self.importer.empty_expression {
            return None;
        }
        let ty = self.importer.node_operand(variable, TYPE_OF_VARIABLE)?;
        let declared = match kind {
            Record::LLVMDbgRecordDeclare => Declared::Object(self.importer.source_type(ty)?),
            _ => self.importer.declared_behind(ty)?,
        };
        self.declare(value, declared);
        Some(())
    }

    /// Gives a parameter of a Rust function the name that the source program has for it: rustc passes
    /// a slice as two words, so a position would say nothing. The parameters of inlined functions,
    /// which may have the same value, come behind.
    fn name_parameter(&mut self, value: Value, variable: Md) -> Option<()> {
        let operand = |at| self.importer.node_operand(variable, at);
        let scope = operand(SCOPE_OF_VARIABLE)?;
        let is_parameter = ll::metadata_kind(scope) as u32
            == Kind::LLVMDISubprogramMetadataKind as u32
            && self.function.arguments().contains(&value);
        if !is_parameter || self.named.contains(&value) {
            return None;
        }
        if ll::file_name(ll::scope_file(scope)).ends_with(".rs") {
            let name = ll::metadata_as_value(self.importer.context, operand(NAME_OF_VARIABLE)?);
            let name = ll::metadata_string(name)?;
            self.function.set_value_name(value, name);
            self.named.insert(value);
        }
        Some(())
    }

    pub(super) fn declare(&mut self, value: Value, declared: Declared) {
        if self.function.ty(value).is_ptr() {
            let known = self.function.declared.entry(value).or_default();
            if !known.contains(&declared) {
                known.push(declared);
            }
        }
    }
}

impl Importer {
    /// The declared type of a global variable.
    pub(super) fn source_of_global(&mut self, global: Val) -> Option<SourceType> {
        let expression = ll::global_metadata(global, self.kinds.dbg)?;
        let variable = ll::variable_of_expression(expression);
        let ty = self.node_operand(variable, TYPE_OF_VARIABLE)?;
        self.source_type(ty)
    }

    /// What a pointer of this type leads to.
    fn declared_behind(&mut self, ty: Md) -> Option<Declared> {
        let to = self.pointee(ty)?;
        let to_one = self.is_reference_to_one(ty);
        Some(match self.source_type(to) {
            Some(source) if to_one => Declared::Object(source),
            Some(source) => Declared::Element(source),
            None if to_one => Declared::Integers(self.integers(to)?),
            None => return None,
        })
    }

    /// What core should know of a type; none if that is nothing.
    fn source_type(&mut self, ty: Md) -> Option<SourceType> {
        if let Some(&known) = self.sources.get(&ty) {
            return known;
        }
        let mut parts = Parts::new();
        let known = self.collect(ty, 0, DEEPEST, &mut parts).is_some();
        // Integers alone say nothing: programs copy memory of any kind in words.
        let tells = parts
            .values()
            .any(|part| matches!(part, Part::Float(_) | Part::Ptr(_)));
        if !known || !tells {
            self.sources.insert(ty, None);
            return None;
        }
        // The type is known before what its pointers lead to, because that may be itself.
        let source = self.module.sources.push(SourceTypeData::default());
        self.sources.insert(ty, Some(source));
        self.module.sources[source] = self.data_of(ty, parts);
        Some(source)
    }

    /// What core should know of the type of values that generic code moves. Its integers are
    /// integers, unlike those of code that carries other things in them; only bytes say nothing.
    pub(super) fn value_type(&mut self, ty: Md) -> Option<SourceType> {
        self.source_type(ty).or_else(|| self.integers(ty))
    }

    /// A type of integers alone, none of them a single byte.
    fn integers(&mut self, ty: Md) -> Option<SourceType> {
        if let Some(&known) = self.integers.get(&ty) {
            return known;
        }
        let mut parts = Parts::new();
        let known = self.collect(ty, 0, DEEPEST, &mut parts);
        let is_integer = |part: &Part| matches!(part, Part::Int(bytes) if *bytes > 1);
        let tells = known.is_some() && !parts.is_empty() && parts.values().all(is_integer);
        let source = tells.then(|| {
            let data = self.data_of(ty, parts);
            self.module.sources.push(data)
        });
        self.integers.insert(ty, source);
        source
    }

    /// A type with these parts, and with what its pointers lead to.
    fn data_of(&mut self, ty: Md, mut parts: Parts) -> SourceTypeData {
        let mut size = ll::type_size(self.resolve(ty)) / 8;
        fill_padding(&mut parts, size);
        // What ends in an array of any length is no element of an array itself, and its size says
        // nothing.
        if self.is_open(ty, DEEPEST) {
            size = 0;
        }
        let mut finished = Vec::new();
        for (at, part) in parts {
            finished.push((
                at,
                match part {
                    Part::Int(bytes) => SourcePart::Int(bytes),
                    Part::Float(kind) => SourcePart::Float(kind),
                    Part::Ptr(pointer) => {
                        let to = self.pointee(pointer);
                        SourcePart::Ptr(to.and_then(|to| self.source_type(to)))
                    }
                    Part::Any(_) => continue,
                },
            ));
        }
        SourceTypeData {
            size,
            parts: finished,
        }
    }

    /// Adds the scalars of a type at an offset; none if the type is not understood, or too large.
    pub(super) fn collect(&self, ty: Md, at: u64, depth: u32, parts: &mut Parts) -> Option<()> {
        let name = self.name(ty);
        if matches!(name.as_str(), "uintptr_t" | "intptr_t") {
            return self.put(parts, at, Part::Any(8));
        }
        let ty = self.resolve(ty);
        if depth == 0 || !is_type(ty) {
            return None;
        }
        let bytes = ll::type_size(ty) / 8;
        if is_basic(ty) {
            let part = match float_kind(&self.name(ty)) {
                Some(kind) => Part::Float(kind),
                None if is_complex(&self.name(ty)) => {
                    let half = match bytes {
                        8 => FloatKind::F32,
                        16 => FloatKind::F64,
                        _ => return None,
                    };
                    self.put(parts, at, Part::Float(half))?;
                    return self.put(parts, at + bytes / 2, Part::Float(half));
                }
                None if is_integer(&self.name(ty)) => Part::Int(bytes),
                None => Part::Any(bytes),
            };
            return self.put(parts, at, part);
        }
        match ll::tag(ty) {
            POINTER | REFERENCE | RVALUE_REFERENCE => self.put(parts, at, Part::Ptr(ty)),
            ENUMERATION => self.put(parts, at, Part::Int(bytes)),
            ARRAY => self.array(ty, at, bytes, depth, parts),
            STRUCTURE | CLASS => self.structure(ty, at, depth, parts),
            UNION => self.union(ty, at, bytes, depth, parts),
            _ => self.put(parts, at, Part::Any(bytes)),
        }
    }

    pub(super) fn put(&self, parts: &mut Parts, at: u64, part: Part) -> Option<()> {
        if part.bytes() > 0 {
            parts.insert(at, part);
        }
        (parts.len() <= MOST_PARTS).then_some(())
    }

    fn array(&self, ty: Md, at: u64, bytes: u64, depth: u32, parts: &mut Parts) -> Option<()> {
        let element = self.node_operand(ty, BASE)?;
        let mut of_element = Parts::new();
        self.collect(element, 0, depth - 1, &mut of_element)?;
        let size = ll::type_size(self.resolve(element)) / 8;
        // Bytes and words in a row are where programs keep what has no type yet. Rust has unions for
        // that, so words in a row are integers there.
        let words_are_storage = !self.is_of_rust_words(element, depth);
        let storage = of_element.values().all(|part| match part {
            Part::Int(bytes) => *bytes == 1 || *bytes == 8 && words_are_storage,
            Part::Any(_) => true,
            _ => false,
        });
        if storage || size == 0 {
            return self.put(parts, at, Part::Any(bytes));
        }
        for k in 0..bytes / size {
            for (&offset, &part) in &of_element {
                self.put(parts, at + k * size + offset, part)?;
            }
        }
        Some(())
    }

    /// Whether the first scalar of a type is a word that Rust calls an integer.
    fn is_of_rust_words(&self, ty: Md, depth: u32) -> bool {
        let ty = self.resolve(ty);
        if is_basic(ty) {
            return ["i64", "isize", "u64", "usize"].contains(&self.name(ty).as_str());
        }
        let first = match is_composite(ty).then(|| ll::tag(ty)) {
            Some(ARRAY) => self.node_operand(ty, BASE),
            Some(STRUCTURE) => self
                .members(ty)
                .into_iter()
                .find(|&member| is_derived(member) && ll::tag(member) == MEMBER)
                .and_then(|member| self.node_operand(member, BASE)),
            _ => None,
        };
        depth > 0 && first.is_some_and(|first| self.is_of_rust_words(first, depth - 1))
    }

    fn structure(&self, ty: Md, at: u64, depth: u32, parts: &mut Parts) -> Option<()> {
        let bytes = ll::type_size(ty) / 8;
        if ll::type_flags(ty) & LLVMDIFlagFwdDecl != 0 {
            return None;
        }
        for member in self.members(ty) {
            if is_composite(member) && ll::tag(member) == VARIANTS {
                return self.variants(member, at, bytes, depth, parts);
            }
            // Methods and types inside of the type are no members.
            if !is_derived(member) || !matches!(ll::tag(member), MEMBER | INHERITANCE) {
                continue;
            }
            let flags = ll::type_flags(member);
            if flags & LLVMDIFlagStaticMember != 0 {
                continue;
            }
            if flags & LLVMDIFlagVirtual != 0 {
                return None;
            }
            let (bits, offset) = (ll::type_size(member), ll::type_offset(member));
            if flags & LLVMDIFlagBitField != 0 {
                for byte in offset / 8..(offset + bits).div_ceil(8) {
                    self.put(parts, at + byte, Part::Int(1))?;
                }
                continue;
            }
            let base = self.node_operand(member, BASE)?;
            // Clang only declares classes that another file has the debug information of.
            let declared = self.resolve(base);
            if is_composite(declared) && ll::type_flags(declared) & LLVMDIFlagFwdDecl != 0 {
                self.put(parts, at + offset / 8, Part::Any(bits / 8))?;
                continue;
            }
            self.collect(base, at + offset / 8, depth - 1, parts)?;
        }
        Some(())
    }

    /// Whether a structure ends in an array that may be longer than it says: `x[]`, and `x[1]` in
    /// older programs.
    fn is_open(&self, ty: Md, depth: u32) -> bool {
        let ty = self.resolve(ty);
        if depth == 0 || !is_composite(ty) || !matches!(ll::tag(ty), STRUCTURE | CLASS) {
            return false;
        }
        let members = self.members(ty).into_iter();
        let mut members = members.filter(|&member| {
            is_derived(member)
                && ll::tag(member) == MEMBER
                && ll::type_flags(member) & LLVMDIFlagStaticMember == 0
        });
        let Some(base) = members.next_back().and_then(|m| self.node_operand(m, BASE)) else {
            return false;
        };
        let last = self.resolve(base);
        if !is_composite(last) || ll::tag(last) != ARRAY {
            return self.is_open(last, depth - 1);
        }
        let element = self.node_operand(last, BASE);
        let element = element.map_or(0, |element| ll::type_size(self.resolve(element)));
        ll::type_size(last) <= element
    }

    /// What all members of a union agree in.
    fn union(&self, ty: Md, at: u64, bytes: u64, depth: u32, parts: &mut Parts) -> Option<()> {
        let mut all: Option<Parts> = None;
        for member in self.members(ty) {
            if !is_derived(member)
                || ll::tag(member) != MEMBER
                || ll::type_flags(member) & LLVMDIFlagStaticMember != 0
            {
                continue;
            }
            let mut own = Parts::new();
            let base = self.node_operand(member, BASE)?;
            // A member without bytes, such as that for what is not there yet, contradicts nothing.
            if ll::type_size(self.resolve(base)) == 0 {
                continue;
            }
            self.collect(base, 0, depth - 1, &mut own)?;
            all = Some(match all {
                None => own,
                Some(before) if before == own => before,
                Some(_) => Parts::from([(0, Part::Any(bytes))]),
            });
        }
        for (offset, part) in all.unwrap_or_default() {
            self.put(parts, at + offset, part)?;
        }
        Some(())
    }

    pub(super) fn members(&self, ty: Md) -> Vec<Md> {
        let Some(list) = self.node_operand(ty, ELEMENTS) else {
            return Vec::new();
        };
        let operands = ll::node_operands(ll::metadata_as_value(self.context, list));
        let members = operands.into_iter().filter(|member| !member.is_null());
        members.map(ll::as_metadata).collect()
    }

    /// A type without names and qualifiers; null for `void`.
    fn resolve(&self, mut ty: Md) -> Md {
        while is_derived(ty)
            && matches!(ll::tag(ty), TYPEDEF | CONST | VOLATILE | RESTRICT | ATOMIC)
        {
            ty = self.node_operand(ty, BASE).unwrap_or(std::ptr::null_mut());
        }
        ty
    }

    /// What a pointer or reference leads to.
    fn pointee(&self, ty: Md) -> Option<Md> {
        let ty = self.resolve(ty);
        let is_pointer =
            is_derived(ty) && matches!(ll::tag(ty), POINTER | REFERENCE | RVALUE_REFERENCE);
        match is_pointer {
            true => self.node_operand(ty, BASE),
            false => None,
        }
    }

    /// Whether a pointer leads to one value and not into an array. Rust's references and boxes do,
    /// as when the field of a tuple is lent; its raw pointers say nothing. Pointers of other
    /// languages have no names.
    fn is_reference_to_one(&self, ty: Md) -> bool {
        let name = self.name(self.resolve(ty));
        !name.is_empty() && !name.starts_with('*')
    }

    fn name(&self, ty: Md) -> String {
        match is_type(ty) {
            true => ll::type_name(ty),
            false => String::new(),
        }
    }

    pub(super) fn node_operand(&self, node: Md, index: usize) -> Option<Md> {
        if node.is_null() {
            return None;
        }
        let operands = ll::node_operands(ll::metadata_as_value(self.context, node));
        let operand = operands.get(index).filter(|operand| !operand.is_null())?;
        Some(ll::as_metadata(*operand))
    }
}

fn is_basic(node: Md) -> bool {
    !node.is_null() && matches!(ll::metadata_kind(node), Kind::LLVMDIBasicTypeMetadataKind)
}

pub(super) fn is_derived(node: Md) -> bool {
    !node.is_null() && matches!(ll::metadata_kind(node), Kind::LLVMDIDerivedTypeMetadataKind)
}

fn is_composite(node: Md) -> bool {
    !node.is_null()
        && matches!(
            ll::metadata_kind(node),
            Kind::LLVMDICompositeTypeMetadataKind
        )
}

fn is_type(node: Md) -> bool {
    is_basic(node) || is_derived(node) || is_composite(node)
}

/// Bytes of a structure that no member covers hold nothing.
fn fill_padding(parts: &mut Parts, size: u64) {
    let mut gaps = Vec::new();
    let mut end = 0;
    for (&at, part) in parts.iter() {
        if at > end {
            gaps.push((end, Part::Int(at - end)));
        }
        end = end.max(at + part.bytes());
    }
    if size > end {
        gaps.push((end, Part::Int(size - end)));
    }
    parts.extend(gaps);
}

fn float_kind(name: &str) -> Option<FloatKind> {
    Some(match name {
        "float" | "f32" => FloatKind::F32,
        "double" | "f64" => FloatKind::F64,
        "long double" => FloatKind::X86Fp80,
        "_Float16" | "f16" => FloatKind::F16,
        "__bf16" => FloatKind::Bf16,
        "__float128" | "_Float128" | "f128" => FloatKind::F128,
        _ => return None,
    })
}

fn is_complex(name: &str) -> bool {
    name.contains("omplex")
}

fn is_integer(name: &str) -> bool {
    let words = [
        "char", "short", "int", "long", "bool", "_Bool", "unsigned", "signed",
    ];
    let rust = [
        "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
    ];
    rust.contains(&name)
        || name
            .split(' ')
            .all(|word| words.contains(&word) || word == "__int128")
}
