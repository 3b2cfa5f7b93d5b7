//! Loop nests as one instruction.

use super::Lowering;
use crate::tree::{Nest, NestForm};

impl Lowering<'_> {
    pub(super) fn nest(&mut self, nest: &Nest) {
        let [x, y] = nest.from;
        let (is_main, has_buffer) = (self.is_main(), !self.buffers.is_empty());
        if [x, y]
            .iter()
            .any(|&from| !nest.to.is_apart(from, is_main, has_buffer))
        {
            return;
        }
        let count = self.index(&nest.count, 4);
        let scalar = self.get(nest.scalar);
        // Four doubles are behind every base.
        let t = self.element(nest.to, 0, 4);
        let (x, y) = (self.element(x, 0, 4), self.element(y, 0, 4));
        let one = self.value(&format!("address {t} + 8"));
        let two = self.value(&format!("address {t} + 16"));
        let row = "8*%i";
        let (loops, x, y, outputs) = match nest.form {
            NestForm::Map => ("%i < COUNT", (&x, row), (&y, row), vec![("store", &t, row)]),
            NestForm::InPlace => ("%i < COUNT", (&t, row), (&x, row), vec![("store", &t, row)]),
            NestForm::Dot => ("%i < COUNT", (&x, row), (&y, row), vec![("sum", &one, "")]),
            NestForm::MatrixVector => (
                "%i < 2, %j < 2",
                (&x, "16*%i + 8*%j"),
                (&y, "8*%j"),
                vec![("sum", &t, row)],
            ),
            NestForm::Outer => (
                "%i < 2, %j < 2",
                (&x, row),
                (&y, "8*%j"),
                vec![("sum", &t, "16*%i + 8*%j")],
            ),
            NestForm::Product => (
                "%i < 2, %j < 2, %k < 2",
                (&x, "16*%i + 8*%k"),
                (&y, "16*%k + 8*%j"),
                vec![("sum", &t, "16*%i + 8*%j")],
            ),
            NestForm::Triangle => (
                "%i < COUNT, %j < 1 + 1*%i",
                (&x, "8*%j"),
                (&y, "8*%i + -8*%j"),
                vec![("sum reassoc", &t, row)],
            ),
            NestForm::Others => (
                "%i < COUNT",
                (&x, row),
                (&y, row),
                vec![("max", &t, ""), ("product", &one, "")],
            ),
            NestForm::Halves => ("%i < 2", (&t, row), (&x, row), vec![("store", &two, row)]),
        };
        let place = |(base, terms): (&String, &str)| match terms.is_empty() {
            true => base.clone(),
            false => format!("{base} + {terms}"),
        };
        let loops = loops.replace("COUNT", &count);
        self.line(&format!("nest [{loops}] with (%s: f64 = {scalar}) {{"));
        self.line(&format!("    %x = load f64 {}, align 8", place(x)));
        self.line(&format!("    %y = load f64 {}, align 8", place(y)));
        let computed = match nest.body % 6 {
            0 => vec!["%f = fmul %x, %y : f64"],
            1 => vec!["%c = math sin %x : f64", "%f = fmul %c, %s : f64"],
            2 => vec![
                "%c = fmul %x, %s : f64",
                "%d = fadd %c, %y : f64",
                "%f = math tanh %d : f64",
            ],
            3 => vec!["%c = fcmp ogt %x, 0.1:f64", "%f = select %c, %y, %s : f64"],
            4 => vec!["%c = sitofp %i : f64", "%f = fmul %c, %y : f64"],
            _ => vec!["%c = fsub %y, %x : f64", "%f = fmul %c, 0.5 : f64"],
        };
        for line in computed {
            self.line(&format!("    {line}"));
        }
        for (combiner, base, terms) in outputs {
            let place = place((base, terms));
            self.line(&format!("    {combiner} %f, {place}, align 8"));
        }
        self.line("}");
    }
}
