//! Loops that multiply and add up.

use super::Writer;
use crate::contraction::Written;
use crate::contraction::write::{Sink, Step, Ty};
use crate::tree::{Base, Cond, Index, Slot};

fn text(ty: Ty) -> &'static str {
    match ty {
        Ty::Double => "double",
        Ty::Single => "float",
        Ty::Whole => "long",
    }
}

impl Writer<'_> {
    /// A variable with a value.
    fn variable(&mut self, ty: &str, value: &str) -> String {
        let name = format!("v{}", self.fresh());
        self.line(&format!("{ty} {name} = {value};"));
        name
    }
}

impl Sink for Writer<'_> {
    fn whole(&self, n: i64) -> String {
        n.to_string()
    }

    fn float(&self, ty: Ty, x: f64) -> String {
        match ty {
            Ty::Double => format!("({x:?})"),
            Ty::Single => format!("({:?}f)", x as f32),
            Ty::Whole => self.whole(x as i64),
        }
    }

    fn int_op(&mut self, op: &str, x: &str, y: &str) -> String {
        let op = match op {
            "add" => "+",
            "mul" => "*",
            "and" => "&",
            _ => ">>",
        };
        self.variable("long", &format!("{x} {op} {y}"))
    }

    fn float_op(&mut self, op: &str, ty: Ty, x: &str, y: &str) -> String {
        let op = match op {
            "fadd" => "+",
            "fsub" => "-",
            "fmul" => "*",
            _ => "/",
        };
        self.variable(text(ty), &format!("{x} {op} {y}"))
    }

    fn fused(&mut self, ty: Ty, x: &str, y: &str, z: &str) -> String {
        self.variable(text(ty), &format!("{z} + {x} * {y}"))
    }

    fn math(&mut self, name: &str, ty: Ty, args: &[&str]) -> String {
        let suffix = match ty {
            Ty::Single => "f",
            _ => "",
        };
        self.variable(text(ty), &format!("{name}{suffix}({})", args.join(", ")))
    }

    fn convert(&mut self, x: &str, from: Ty, to: Ty) -> String {
        match from == to {
            true => x.to_string(),
            false => self.variable(text(to), &format!("({}){x}", text(to))),
        }
    }

    fn of_int(&mut self, ty: Ty, x: &str) -> String {
        self.variable(text(ty), &format!("({}){x}", text(ty)))
    }

    fn rounded(&mut self, x: &str) -> String {
        self.variable("long", &format!("(long)(sin({x}) * 3.3)"))
    }

    fn greater(&mut self, _: Ty, x: &str, y: &str) -> String {
        self.variable("int", &format!("{x} > {y}"))
    }

    fn either(&mut self, ty: Ty, cond: &str, x: &str, y: &str) -> String {
        self.variable(text(ty), &format!("{cond} ? {x} : {y}"))
    }

    fn either_pointer(&mut self, ty: Ty, cond: &str, x: &str, y: &str) -> String {
        self.variable(&format!("{} *", text(ty)), &format!("{cond} ? {x} : {y}"))
    }

    fn at(&mut self, ty: Ty, base: &str, index: &str) -> String {
        self.variable(&format!("{} *", text(ty)), &format!("{base} + {index}"))
    }

    fn read(&mut self, ty: Ty, at: &str) -> String {
        self.variable(text(ty), &format!("*{at}"))
    }

    fn write(&mut self, _: Ty, x: &str, at: &str) {
        self.line(&format!("*{at} = {x};"));
    }

    fn make(&mut self, ty: Ty, heap: bool, count: i64) -> String {
        let ty = text(ty);
        let make = match heap {
            true => "malloc",
            false => "__builtin_alloca",
        };
        let size = format!("{count} * sizeof({ty})");
        let made = self.variable(&format!("{ty} *"), &format!("{make}({size})"));
        self.line(&format!("memset({made}, 0, {size});"));
        made
    }

    fn end(&mut self, memory: &str) {
        self.line(&format!("free({memory});"));
    }

    fn given(&mut self, base: Base, at: u8, count: i64) -> String {
        let element = self.element(base, at, count);
        self.variable("double *", &element)
    }

    fn count(&mut self, index: &Index, modulo: i64) -> String {
        let index = self.index(index, modulo);
        self.variable("long", &index)
    }

    fn decide(&mut self, cond: &Cond) -> String {
        let cond = self.cond(cond);
        self.variable("int", &cond)
    }

    fn slot(&mut self, slot: Slot) -> String {
        self.variable("double", &format!("s{slot}"))
    }

    fn set_slot(&mut self, slot: Slot, value: String) {
        self.line(&format!("s{slot} = {value};"));
    }

    fn counted(
        &mut self,
        written: Written,
        [from, to]: [&str; 2],
        first: &[(Ty, String)],
        body: impl FnOnce(&mut Self, &str, &[String]) -> Step,
    ) -> Vec<String> {
        let carried: Vec<String> = first
            .iter()
            .map(|(ty, value)| self.variable(text(*ty), value))
            .collect();
        let i = format!("i{}", self.fresh());
        let ty = if written.narrow { "int" } else { "long" };
        self.line(&format!("for ({ty} {i} = {from}; {i} < {to}; {i}++) {{"));
        let (next, leaves) = body(self, &i, &carried);
        // All of them at once.
        let next: Vec<String> = next
            .iter()
            .zip(first)
            .map(|(value, (ty, _))| match next.len() {
                1 => value.clone(),
                _ => self.variable(text(*ty), value),
            })
            .collect();
        for (name, value) in carried.iter().zip(&next) {
            self.line(&format!("{name} = {value};"));
        }
        if let Some(leaves) = leaves {
            self.line(&format!("if ({leaves}) break;"));
        }
        self.line("}");
        carried
    }

    fn when(
        &mut self,
        ty: Ty,
        cond: &str,
        old: &str,
        body: impl FnOnce(&mut Self) -> String,
    ) -> String {
        let result = self.variable(text(ty), old);
        self.line(&format!("if ({cond}) {{"));
        let new = body(self);
        self.line(&format!("{result} = {new}; }}"));
        result
    }
}
