//! Global variables and their initial content as bytes.

use super::{Importer, constants::int_bits, is_local, is_replaceable};
use crate::ll::{self, Kind, LLVMTypeKind as K, Opcode, Val};
use zymase_core::analysis::known::rust;
use zymase_core::ir::{Global, GlobalData, Initializer, Symbol, is_class_table};

impl Importer {
    /// Gives a variable its entity; the content follows when all symbols are known.
    pub(super) fn declare_global(&mut self, value: Val) {
        let ty = ll::value_type(value);
        let is_variable = !ll::is_global_alias(value);
        let sized = ll::is_sized(ty);
        // The content is only known if no other module can bring another one.
        let defined = is_variable
            && !ll::is_declaration(value)
            && !is_replaceable(value)
            && !ll::is_externally_initialized(value);
        // What the program's own variables hold is the program's affair, but they are not foreign.
        let init = match self.variables.contains(&ll::name(value)) {
            true => Some(Initializer {
                opaque: true,
                ..Initializer::default()
            }),
            false => defined.then(Initializer::default),
        };
        let align = match is_variable {
            true => match ll::alignment(value) {
                0 if sized => ll::global_align(self.layout, value),
                align => align.max(1),
            },
            false => 1,
        };
        let origin = self.origins.add_value(value);
        let source = match is_variable {
            true => self.source_of_global(value),
            false => None,
        };
        let name = ll::name(value);
        // What the standard library keeps for functions without derivatives, such as the keys of
        // hashes.
        let of_library = rust::inactive(&name).is_some();
        let global = self.module.globals.push(GlobalData {
            inactive: is_class_table(&name) || of_library,
            name,
            size: match sized {
                true => ll::abi_size(self.layout, ty),
                false => 0,
            },
            align,
            init,
            constant: is_variable && ll::is_constant_global(value),
            thread_local: is_variable && ll::is_thread_local(value),
            local: is_local(value),
            source,
            origin: Some(origin),
        });
        self.symbols.insert(value, (Symbol::Global(global), 0));
    }

    /// Reads the content of every defined variable.
    pub(super) fn read_globals(&mut self) {
        let defined: Vec<Global> = self
            .module
            .globals
            .iter()
            .filter(|(_, data)| data.init.as_ref().is_some_and(|init| !init.opaque))
            .map(|(global, _)| global)
            .collect();
        for global in defined {
            let Some(origin) = self.module.globals[global].origin else {
                continue;
            };
            let Some(value) = self.origins.value(origin) else {
                continue;
            };
            let mut init = Initializer::default();
            self.write(ll::initializer(value), 0, &mut init);
            self.module.globals[global].init = Some(init);
        }
    }

    fn write(&mut self, value: Val, at: u64, init: &mut Initializer) {
        let ty = ll::type_of(value);
        match ll::value_kind(value) {
            Kind::LLVMUndefValueValueKind
            | Kind::LLVMPoisonValueKind
            | Kind::LLVMConstantPointerNullValueKind
            | Kind::LLVMConstantAggregateZeroValueKind => {}
            Kind::LLVMConstantDataArrayValueKind | Kind::LLVMConstantDataVectorValueKind => {
                put(init, at, ll::raw_data(value));
            }
            Kind::LLVMConstantIntValueKind | Kind::LLVMConstantFPValueKind => {
                let bits = match int_bits(value) {
                    Some(bits) => Some(bits),
                    None => self.float_bits(value),
                };
                match bits {
                    Some(bits) => {
                        let len = ll::store_size(self.layout, ty) as usize;
                        put(init, at, &bits.to_le_bytes()[..len]);
                    }
                    None => init.opaque = true,
                }
            }
            Kind::LLVMConstantStructValueKind => {
                for i in 0..ll::operand_count(value) {
                    let offset = ll::field_offset(self.layout, ty, i);
                    self.write(ll::operand(value, i), at + offset, init);
                }
            }
            Kind::LLVMConstantArrayValueKind => {
                let size = ll::abi_size(self.layout, ll::element_type(ty));
                for i in 0..ll::operand_count(value) {
                    self.write(ll::operand(value, i), at + u64::from(i) * size, init);
                }
            }
            Kind::LLVMConstantVectorValueKind => {
                let element = ll::element_type(ty);
                let size = ll::store_size(self.layout, element);
                let whole = ll::store_size(self.layout, ty);
                if size * u64::from(ll::vector_size(ty)) != whole {
                    init.opaque = true;
                    return;
                }
                for i in 0..ll::operand_count(value) {
                    self.write(ll::operand(value, i), at + u64::from(i) * size, init);
                }
            }
            _ => match self.address_of(pointer_behind(value)) {
                Some((symbol, offset)) if ll::store_size(self.layout, ty) == 8 => {
                    put(init, at, &[0; 8]);
                    init.relocations.push((at, symbol, offset));
                }
                _ => init.opaque = true,
            },
        }
    }
}

/// The pointer whose address an integer constant is, or the value itself.
fn pointer_behind(value: Val) -> Val {
    let is_integer = ll::type_kind(ll::type_of(value)) == K::LLVMIntegerTypeKind;
    if is_integer
        && ll::is_constant_expression(value)
        && ll::constant_opcode(value) == Opcode::LLVMPtrToInt
    {
        return ll::operand(value, 0);
    }
    value
}

fn put(init: &mut Initializer, at: u64, bytes: &[u8]) {
    let end = at as usize + bytes.len();
    if init.bytes.len() < end {
        init.bytes.resize(end, 0);
    }
    init.bytes[at as usize..end].copy_from_slice(bytes);
}
