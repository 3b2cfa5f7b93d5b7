//! The first values of slots and the memory that a body touches.

use super::{Lowering, Memory};
use crate::tree::{Kind, OWNER, SLOTS};
use std::fmt::Write;

impl Lowering<'_> {
    /// What must come before a body.
    pub(super) fn prologue(&mut self, body: &str) -> String {
        let mut text = String::new();
        let copies = !self.touched.is_empty() || body.contains("mem") || body.contains("load i");
        if copies && self.is_main() {
            text.push_str(TYPES);
        }
        for &memory in &self.touched {
            text.push_str(match memory {
                Memory::Frame => FRAME,
                Memory::Heap => HEAP,
                Memory::Table => TABLE,
                Memory::Indirect => INDIRECT,
                Memory::Records => RECORDS,
                Memory::Singles => SINGLES,
                Memory::Owner => "",
                Memory::Chosen => "    %chosen = alloca ptr, align 8\n",
            });
        }
        for slot in 0..SLOTS.len() {
            let owned = slot == OWNER && self.touched.contains(&Memory::Owner);
            if owned || uses(body, &format!("%s{slot}")) {
                self.first_value(&mut text, slot);
            }
        }
        text
    }

    fn first_value(&self, text: &mut String, slot: usize) {
        let ordinal = SLOTS[..slot].iter().filter(|k| **k == SLOTS[slot]).count();
        let main = self.is_main();
        let lines = match (SLOTS[slot], ordinal) {
            (Kind::Float, 0) => "%s = fadd %u, 0.0:f64 : f64",
            (Kind::Float, 1) if main => "%s = fmul %w, %u : f64",
            (Kind::Float, 1) => "%s = fmul %u, 0.5:f64 : f64",
            (Kind::Float, 2) => "%s = load f64 %p, align 8",
            (Kind::Float, _) => "%s = fadd 0.25:f64, 0.5:f64 : f64",
            (Kind::Fixed, 0) if main => "%s = load f64 %c, align 8",
            (Kind::Fixed, _) => "%s = fadd 1.25:f64, 0.1:f64 : f64",
            (Kind::Int, 0) => "%s = add %n, 1:i64 : i64",
            (Kind::Int, _) => "%s = add 2:i64, 0:i64 : i64",
            (Kind::Ptr, 0) => "%s = address %p + 0",
            (Kind::Ptr, _) if main => "%s = address %p + 16",
            (Kind::Ptr, _) => "%s = address %p + 0",
            (Kind::Single, _) => "%s = fptrunc %u : f32",
            (Kind::Vector, _) => "%s = load <2 x f64> %p, align 8",
            (Kind::Record, _) => {
                "%s = insert {0.5, 3, 1.5}:{f64, i64, f64}, %u, [2] : {f64, i64, f64}"
            }
            (Kind::Bits, _) => "%s = bitcast %u : i64",
            (Kind::Owner, _) => {
                "%s = call @malloc(64)
    memset %s, 0:i8, 32:i64, align 8
    %sa = address %s + 32
    memmove %sa, %p, 32:i64
    %sb = and %n, 7:i64
    %sc = address %s + 8*%sb
    %sd = load f64 %sc, align 8"
            }
            (Kind::Pair, _) => {
                "%sa = fptrunc %u : f32
    %sb = bitcast %sa : i32
    %sc = zext %sb : i64
    %s = or %sc, 0x3f00000000000000:i64"
            }
        };
        let _ = writeln!(text, "    {}", lines.replace("%s", &format!("%s{slot}")));
    }
}

/// Whether a name occurs in a text, not only as the beginning of a longer one.
fn uses(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let after = text[at + name.len()..].chars().next();
        !after.is_some_and(|c| c.is_alphanumeric())
    })
}

/// Accesses that say what type copied memory has: nothing else might.
const TYPES: &str = "    %type_index = and %n, 7:i64
    %type_p = address %p + 8*%type_index
    %type_p0 = load f64 %type_p, align 8
    %type_q = address %q + 8*%type_index
    %type_q0 = load f64 %type_q, align 8
    %type_c = address %c + 8*%type_index
    %type_c0 = load f64 %type_c, align 8
";

const FRAME: &str = "    %frame = alloca [8 x f64], align 8
    memset %frame, 0:i8, 64:i64, align 8
    memmove %frame, %p, 32:i64
    %frame_index = and %n, 7:i64
    %frame_type = address %frame + 8*%frame_index
    %frame_type0 = load f64 %frame_type, align 8
";

const HEAP: &str = "    %heap = call @malloc(64)
    memmove %heap, %q, 32:i64
    %heap_high = address %heap + 32
    memmove %heap_high, %p, 32:i64
    %heap_index = and %n, 7:i64
    %heap_type = address %heap + 8*%heap_index
    %heap_type0 = load f64 %heap_type, align 8
";

const TABLE: &str = "    %table = alloca [4 x ptr], align 8
    %table1 = address %table + 8
    %table2 = address %table + 16
    %table3 = address %table + 24
    store %p, %table, align 8
    store %p, %table1, align 8
    store %p, %table2, align 8
    store %p, %table3, align 8
";

const INDIRECT: &str = "    %indirect = alloca ptr, align 8
    store %table, %indirect, align 8
";

const RECORDS: &str = "    %records = alloca [4 x {f64, i64, ptr, f32, f32}], align 8
    %records1 = address %records + 32
    %records2 = address %records + 64
    %record_u = insert {0.5, 3, null, 0.25, 0.75}:{f64, i64, ptr, f32, f32}, %u, [0] : {f64, i64, ptr, f32, f32}
    %record = insert %record_u, %p, [2] : {f64, i64, ptr, f32, f32}
    store %record, %records, align 8
    store %record, %records1, align 8
    memcopy %records2, %records, 64:i64
    %records_int = address %records + 8
    %record_int = load i64 %records_int, align 8
    %record_int3 = mul %record_int, 3:i64 : i64
    %records_int1 = address %records + 40
    %record_int1 = load i64 %records_int1, align 8
    %record_int4 = mul %record_int1, 3:i64 : i64
";

const SINGLES: &str = "    %singles = alloca [8 x f32], align 8
    memset %singles, 0:i8, 32:i64, align 8
    %single_u = fptrunc %u : f32
    store %single_u, %singles, align 4
";
