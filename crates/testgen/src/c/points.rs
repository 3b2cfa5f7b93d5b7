//! Loops over points.

use super::Writer;
use crate::tree::{Carries, Goal, Part, Points};

impl Writer<'_> {
    pub(super) fn points(&mut self, points: &Points) {
        let [x, y] = points.from;
        let (x, y) = (self.base(x), self.base(y));
        let (count, inner) = (self.index(&points.count, 4), self.index(&points.inner, 2));
        let scalar = format!("s{}", points.scalar);
        self.line(&format!(
            "{{ double *x = {x}, *y = {y}, scalar = {scalar}; long points = {count} + 1, m = {inner} + 2;"
        ));
        match points.goal {
            Goal::Sum(slot) => self.line(&format!("double sum = s{slot};")),
            Goal::Element(base) => {
                let to = self.base(base);
                self.line(&format!("double *to = {to};"));
            }
        }
        if let Some(scratch) = points.scratch {
            let make = match scratch.heap {
                true => "malloc(64)",
                false => "__builtin_alloca(64)",
            };
            self.line(&format!("double *t = {make}; memset(t, 0, 64);"));
        }
        self.line("for (long i = 0; i < points; i++) {");
        self.line("double v = tame(x[i & 3] * scalar);");
        let carries = points.scratch.map(|scratch| scratch.carries);
        if let Some(carries) = carries {
            if carries == Carries::Last {
                self.line("v += t[7];");
            }
            let start = u8::from(carries == Carries::First);
            self.line(&format!(
                "for (long j = {start}; j < m; j++) t[j] = sin(x[(i + j) & 3] + y[j & 3] * v);"
            ));
        }
        for part in &points.parts {
            self.line(part_text(*part));
        }
        if let Some(carries) = carries {
            let more = if carries == Carries::Beyond {
                " + 1"
            } else {
                ""
            };
            self.line(&format!(
                "{{ double a = 0; for (long j = 0; j < m{more}; j++) a += t[j] * v; v = a; }}"
            ));
            match carries {
                Carries::Nothing => {}
                Carries::Last => self.line("t[7] = sin(v);"),
                Carries::First => self.line("t[0] = sin(v);"),
                Carries::Beyond => self.line("t[m] = sin(v);"),
            }
        }
        match points.goal {
            Goal::Sum(slot) => self.line(&format!("sum += tame(v); }} s{slot} = sum;")),
            Goal::Element(_) => self.line("to[i & 3] = tame(v); }"),
        }
        if points.scratch.is_some_and(|scratch| scratch.heap) {
            self.line("free(t);");
        }
        self.line("}");
    }
}

fn part_text(part: Part) -> &'static str {
    match part {
        Part::Sum => {
            "{ double a = 0; for (long j = 0; j < m; j++) a += x[(i + j) & 3] * y[j & 3] * v; v = a; }"
        }
        Part::Product => "for (long j = 0; j < m; j++) v *= cos(y[j & 3]);",
        Part::Least => {
            "{ double least = 100; long at = 0; for (long j = 0; j < m; j++) { \
             double d = y[j & 3] - v + (double)j * 0.3713; d *= d; \
             if (d < least) least = d, at = j; } v = y[at & 3] * least; }"
        }
        Part::Until => {
            "{ double a = v; for (long j = 0; j < m; j++) { a = tame(a + y[j & 3]); \
             if (a > 0.300137) break; } v = a; }"
        }
        Part::Powers => {
            "{ double a = 0.5, power = 1; for (long j = 0; j < m; j++) a -= y[j & 3] * power, power *= v; \
             v = a; }"
        }
    }
}
