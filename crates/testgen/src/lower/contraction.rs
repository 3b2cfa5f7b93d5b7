//! Loops that multiply and add up, as an optimizer leaves them.

use super::Lowering;
use crate::contraction::Written;
use crate::contraction::write::{Sink, Step, Ty};
use crate::tree::{Base, Cond, Index, Slot};

fn text(ty: Ty) -> &'static str {
    match ty {
        Ty::Double => "f64",
        Ty::Single => "f32",
        Ty::Whole => "i64",
    }
}

fn bytes(ty: Ty) -> i64 {
    match ty {
        Ty::Double | Ty::Whole => 8,
        Ty::Single => 4,
    }
}

/// A block with parameters, or with arguments for them.
fn with(block: &str, values: &[String]) -> String {
    match values.is_empty() {
        true => block.to_string(),
        false => format!("{block}({})", values.join(", ")),
    }
}

impl Sink for Lowering<'_> {
    fn whole(&self, n: i64) -> String {
        format!("{n}:i64")
    }

    fn float(&self, ty: Ty, x: f64) -> String {
        match ty {
            Ty::Double => format!("{x:?}:f64"),
            Ty::Single => format!("{:?}:f32", x as f32),
            Ty::Whole => self.whole(x as i64),
        }
    }

    fn int_op(&mut self, op: &str, x: &str, y: &str) -> String {
        let flags = match op {
            "add" | "mul" => " nsw",
            _ => "",
        };
        self.value(&format!("{op}{flags} {x}, {y} : i64"))
    }

    fn float_op(&mut self, op: &str, ty: Ty, x: &str, y: &str) -> String {
        self.value(&format!("{op} {x}, {y} : {}", text(ty)))
    }

    fn fused(&mut self, ty: Ty, x: &str, y: &str, z: &str) -> String {
        self.value(&format!("math fmuladd {x}, {y}, {z} : {}", text(ty)))
    }

    fn math(&mut self, name: &str, ty: Ty, args: &[&str]) -> String {
        let args = args.join(", ");
        self.value(&format!("math {name} {args} : {}", text(ty)))
    }

    fn convert(&mut self, x: &str, from: Ty, to: Ty) -> String {
        match (from, to) {
            (Ty::Double, Ty::Single) => self.value(&format!("fptrunc {x} : f32")),
            (Ty::Single, Ty::Double) => self.value(&format!("fpext {x} : f64")),
            _ => x.to_string(),
        }
    }

    fn of_int(&mut self, ty: Ty, x: &str) -> String {
        self.value(&format!("sitofp {x} : {}", text(ty)))
    }

    fn rounded(&mut self, x: &str) -> String {
        let sine = self.value(&format!("math sin {x} : f64"));
        let wide = self.value(&format!("fmul {sine}, 3.3:f64 : f64"));
        self.value(&format!("fptosi {wide} : i64"))
    }

    fn greater(&mut self, _: Ty, x: &str, y: &str) -> String {
        self.value(&format!("fcmp ogt {x}, {y}"))
    }

    fn either(&mut self, ty: Ty, cond: &str, x: &str, y: &str) -> String {
        self.value(&format!("select {cond}, {x}, {y} : {}", text(ty)))
    }

    fn either_pointer(&mut self, _: Ty, cond: &str, x: &str, y: &str) -> String {
        self.value(&format!("select {cond}, {x}, {y} : ptr"))
    }

    fn at(&mut self, ty: Ty, base: &str, index: &str) -> String {
        let bytes = bytes(ty);
        let known = index.strip_suffix(":i64").and_then(|n| n.parse().ok());
        match known {
            Some(0) => base.to_string(),
            Some(n) => self.value(&format!("address {base} + {}", bytes * n)),
            None => self.value(&format!("address {base} + {bytes}*{index}")),
        }
    }

    fn read(&mut self, ty: Ty, at: &str) -> String {
        self.value(&format!("load {} {at}, align {}", text(ty), bytes(ty)))
    }

    fn write(&mut self, ty: Ty, x: &str, at: &str) {
        self.line(&format!("store {x}, {at}, align {}", bytes(ty)));
    }

    fn make(&mut self, ty: Ty, heap: bool, count: i64) -> String {
        let size = bytes(ty) * count;
        let made = match heap {
            true => self.value(&format!("call @malloc({size})")),
            false => self.value(&format!("alloca [{count} x {}], align 8", text(ty))),
        };
        self.line(&format!("memset {made}, 0:i8, {size}:i64, align 8"));
        made
    }

    fn end(&mut self, memory: &str) {
        self.line(&format!("call @free({memory})"));
    }

    fn given(&mut self, base: Base, at: u8, count: i64) -> String {
        self.element(base, at, count)
    }

    fn count(&mut self, index: &Index, modulo: i64) -> String {
        self.index(index, modulo)
    }

    fn decide(&mut self, cond: &Cond) -> String {
        self.cond(cond)
    }

    fn slot(&mut self, slot: Slot) -> String {
        self.get(slot)
    }

    fn set_slot(&mut self, slot: Slot, value: String) {
        self.set(slot, value);
    }

    fn counted(
        &mut self,
        written: Written,
        [from, to]: [&str; 2],
        first: &[(Ty, String)],
        body: impl FnOnce(&mut Self, &str, &[String]) -> Step,
    ) -> Vec<String> {
        let ty = if written.narrow { "i32" } else { "i64" };
        let bounds = [from, to].map(|bound| match written.narrow {
            false => bound.to_string(),
            true => match bound.strip_suffix(":i64") {
                Some(n) => format!("{n}:i32"),
                None => self.value(&format!("trunc {bound} : i32")),
            },
        });
        let [from, to] = bounds;
        let (head, out) = (self.block_name(), self.block_name());
        let fresh = |s: &mut Self| -> Vec<String> { first.iter().map(|_| s.fresh()).collect() };
        let params = |names: &[String]| -> Vec<String> {
            let typed = names.iter().zip(first);
            typed
                .map(|(n, (ty, _))| format!("{n}: {}", text(*ty)))
                .collect()
        };
        let initial: Vec<String> = first.iter().map(|(_, value)| value.clone()).collect();
        let (now, last, counter) = (fresh(self), fresh(self), self.fresh());
        let mut entry = vec![from.clone()];
        entry.extend(initial.clone());
        let to_head = with(&head, &entry);
        match written.rotated {
            true => {
                // An optimizer knows when a loop is entered.
                let known =
                    |bound: &str| bound.split(':').next().and_then(|n| n.parse::<i64>().ok());
                match (known(&from), known(&to)) {
                    (Some(from), Some(to)) if from < to => self.line(&format!("jump {to_head}")),
                    _ => {
                        let any = self.value(&format!("icmp slt {from}, {to}"));
                        let to_out = with(&out, &initial);
                        self.line(&format!("branch {any}, {to_head}, {to_out}"));
                    }
                }
            }
            false => self.line(&format!("jump {to_head}")),
        }
        let mut head_params = vec![format!("{counter}: {ty}")];
        head_params.extend(params(&now));
        self.start(&with(&head, &head_params));
        if !written.rotated {
            let on = self.block_name();
            let more = self.value(&format!("icmp slt {counter}, {to}"));
            let to_out = with(&out, &now);
            self.line(&format!("branch {more}, {on}, {to_out}"));
            self.start(&on);
        }
        let wide = match written.narrow {
            true => self.value(&format!("sext {counter} : i64")),
            false => counter.clone(),
        };
        let (next, leaves) = body(self, &wide, &now);
        let to_out = with(&out, &next);
        if let Some(leaves) = leaves {
            let on = self.block_name();
            self.line(&format!("branch {leaves}, {to_out}, {on}"));
            self.start(&on);
        }
        let following = self.value(&format!("add nsw {counter}, 1:{ty} : {ty}"));
        let mut back = vec![following.clone()];
        back.extend(next);
        let to_head = with(&head, &back);
        match written.rotated {
            true => {
                let done = self.value(&format!("icmp eq {following}, {to}"));
                self.line(&format!("branch {done}, {to_out}, {to_head}"));
            }
            false => self.line(&format!("jump {to_head}")),
        }
        self.start(&with(&out, &params(&last)));
        last
    }

    fn when(
        &mut self,
        ty: Ty,
        cond: &str,
        old: &str,
        body: impl FnOnce(&mut Self) -> String,
    ) -> String {
        let (yes, out, result) = (self.block_name(), self.block_name(), self.fresh());
        self.line(&format!("branch {cond}, {yes}, {out}({old})"));
        self.start(&yes);
        let new = body(self);
        self.line(&format!("jump {out}({new})"));
        self.start(&format!("{out}({result}: {})", text(ty)));
        result
    }
}
