//! Loops over points.

use super::Lowering;
use crate::tree::{Carries, Goal, Part, Points, Scratch};

/// What an inner loop works on.
struct Inner<'a> {
    x: &'a str,
    y: &'a str,
    /// How often it runs.
    count: &'a str,
    /// The number of the point.
    i: &'a str,
}

impl Lowering<'_> {
    pub(super) fn points(&mut self, points: &Points) {
        if self.dead {
            return;
        }
        let [x, y] = points.from;
        let (x, y) = (self.element(x, 0, 4), self.element(y, 0, 4));
        let count = self.index(&points.count, 4);
        let count = self.value(&format!("add nsw {count}, 1:i64"));
        let inner = self.index(&points.inner, 2);
        let inner = self.value(&format!("add nsw {inner}, 2:i64"));
        let scratch = points
            .scratch
            .map(|scratch| (scratch, self.scratch(scratch)));
        let scalar = self.get(points.scalar);
        let first = match points.goal {
            Goal::Sum(slot) => self.get(slot),
            Goal::Element(_) => "0.0:f64".to_string(),
        };
        let to = match points.goal {
            Goal::Sum(_) => None,
            Goal::Element(base) => Some(self.element(base, 0, 4)),
        };
        let last = self.repeated("0:i64", &count, &[("f64", first)], |s, i, sums| {
            let on = Inner {
                x: &x,
                y: &y,
                count: &inner,
                i,
            };
            let at = s.around(&x, i, "0:i64");
            let v = s.value(&format!("fmul {at}, {scalar} : f64"));
            let mut v = s.tame(&v);
            if let Some((scratch, t)) = &scratch {
                v = s.fill(*scratch, t, &on, v);
            }
            for part in &points.parts {
                v = s.part(*part, &on, v);
            }
            if let Some((scratch, t)) = &scratch {
                v = s.use_up(*scratch, t, &on, v);
            }
            let v = s.tame(&v);
            if let Some(to) = &to {
                let index = s.value(&format!("and {i}, 3:i64"));
                let at = s.value(&format!("address {to} + 8*{index}"));
                s.line(&format!("store {v}, {at}, align 8"));
                return (vec!["0.0:f64".to_string()], None);
            }
            let sum = s.value(&format!("fadd {}, {v} : f64", sums[0]));
            (vec![sum], None)
        });
        if let Goal::Sum(slot) = points.goal {
            self.set(slot, last[0].clone());
        }
        if let Some((Scratch { heap: true, .. }, t)) = scratch {
            self.line(&format!("call @free({t})"));
        }
    }

    /// Memory for all iterations. It is zero at first, so that whatever an iteration finds is defined.
    fn scratch(&mut self, scratch: Scratch) -> String {
        let t = match scratch.heap {
            true => self.value("call @malloc(64)"),
            false => self.value("alloca [8 x f64], align 8"),
        };
        self.line(&format!("memset {t}, 0:i8, 64:i64, align 8"));
        t
    }

    /// Fills the memory of an iteration.
    fn fill(&mut self, scratch: Scratch, t: &str, on: &Inner<'_>, v: String) -> String {
        let v = match scratch.carries {
            Carries::Last => {
                let at = self.value(&format!("address {t} + 56"));
                let left = self.value(&format!("load f64 {at}, align 8"));
                self.value(&format!("fadd {v}, {left} : f64"))
            }
            _ => v,
        };
        let start = match scratch.carries {
            Carries::First => "1:i64",
            _ => "0:i64",
        };
        self.repeated(start, on.count, &[], |s, j, _| {
            let (a, b) = (s.around(on.x, on.i, j), s.around(on.y, "0:i64", j));
            let b = s.value(&format!("fmul {b}, {v} : f64"));
            let sum = s.value(&format!("fadd {a}, {b} : f64"));
            let sine = s.value(&format!("math sin {sum} : f64"));
            let at = s.value(&format!("address {t} + 8*{j}"));
            s.line(&format!("store {sine}, {at}, align 8"));
            (Vec::new(), None)
        });
        v
    }

    /// Reads the memory of an iteration.
    fn use_up(&mut self, scratch: Scratch, t: &str, on: &Inner<'_>, v: String) -> String {
        let count = match scratch.carries {
            Carries::Beyond => self.value(&format!("add nsw {}, 1:i64", on.count)),
            _ => on.count.to_string(),
        };
        let zero = "0.0:f64".to_string();
        let last = self.repeated("0:i64", &count, &[("f64", zero)], |s, j, sums| {
            let at = s.value(&format!("address {t} + 8*{j}"));
            let a = s.value(&format!("load f64 {at}, align 8"));
            let a = s.value(&format!("fmul {a}, {v} : f64"));
            let sum = s.value(&format!("fadd {}, {a} : f64", sums[0]));
            (vec![sum], None)
        });
        let left = match scratch.carries {
            Carries::Nothing => None,
            Carries::Last => Some("56".to_string()),
            Carries::First => Some("0".to_string()),
            Carries::Beyond => Some(format!("8*{}", on.count)),
        };
        if let Some(left) = left {
            let sine = self.value(&format!("math sin {} : f64", last[0]));
            let at = self.value(&format!("address {t} + {left}"));
            self.line(&format!("store {sine}, {at}, align 8"));
        }
        last[0].clone()
    }

    fn part(&mut self, part: Part, on: &Inner<'_>, v: String) -> String {
        let float = |x: &str| format!("{x}:f64");
        let first = match part {
            Part::Sum => vec![("f64", float("0.0"))],
            Part::Product | Part::Until => vec![("f64", v.clone())],
            Part::Least => vec![("f64", float("100.0")), ("i64", "0:i64".to_string())],
            Part::Powers => vec![("f64", float("0.5")), ("f64", float("1.0"))],
        };
        let last = self.repeated("0:i64", on.count, &first, |s, j, now| {
            let b = s.around(on.y, "0:i64", j);
            match part {
                Part::Sum => {
                    let a = s.around(on.x, on.i, j);
                    let product = s.value(&format!("fmul {a}, {b} : f64"));
                    let product = s.value(&format!("fmul {product}, {v} : f64"));
                    let sum = s.value(&format!("fadd {}, {product} : f64", now[0]));
                    (vec![sum], None)
                }
                Part::Product => {
                    let factor = s.value(&format!("math cos {b} : f64"));
                    let product = s.value(&format!("fmul {}, {factor} : f64", now[0]));
                    (vec![product], None)
                }
                Part::Least => {
                    // Two of them are hardly the same.
                    let place = s.value(&format!("sitofp {j} : f64"));
                    let place = s.value(&format!("fmul {place}, 0.3713:f64 : f64"));
                    let d = s.value(&format!("fsub {b}, {v} : f64"));
                    let d = s.value(&format!("fadd {d}, {place} : f64"));
                    let d = s.value(&format!("fmul {d}, {d} : f64"));
                    let less = s.value(&format!("fcmp olt {d}, {}", now[0]));
                    let least = s.value(&format!("select {less}, {d}, {} : f64", now[0]));
                    let at = s.value(&format!("select {less}, {j}, {} : i64", now[1]));
                    (vec![least, at], None)
                }
                Part::Until => {
                    let sum = s.value(&format!("fadd {}, {b} : f64", now[0]));
                    let tame = s.tame(&sum);
                    let enough = s.value(&format!("fcmp ogt {tame}, 0.300137:f64"));
                    (vec![tame], Some(enough))
                }
                Part::Powers => {
                    let term = s.value(&format!("fmul {b}, {} : f64", now[1]));
                    let rest = s.value(&format!("fsub {}, {term} : f64", now[0]));
                    let power = s.value(&format!("fmul {}, {v} : f64", now[1]));
                    (vec![rest, power], None)
                }
            }
        });
        match part {
            Part::Least => {
                let b = self.around(on.y, "0:i64", &last[1]);
                self.value(&format!("fmul {b}, {} : f64", last[0]))
            }
            _ => last[0].clone(),
        }
    }

    /// Something of the same sign that is at most ½, in arithmetic that is rounded in one way only: what
    /// follows from it can be decided again.
    fn tame(&mut self, v: &str) -> String {
        let square = self.value(&format!("fmul {v}, {v} : f64"));
        let more = self.value(&format!("fadd {square}, 1.0:f64 : f64"));
        self.value(&format!("fdiv {v}, {more} : f64"))
    }

    /// The element of an array at a sum of two numbers, modulo four.
    fn around(&mut self, array: &str, i: &str, j: &str) -> String {
        let sum = self.value(&format!("add {i}, {j}"));
        let index = self.value(&format!("and {sum}, 3:i64"));
        let at = self.value(&format!("address {array} + 8*{index}"));
        self.value(&format!("load f64 {at}, align 8"))
    }

    /// A loop that runs at least once. The body gets the counter and the values that are handed on,
    /// and gives the next ones and, if there is one, a condition to leave the loop with them; what
    /// they were last is the result.
    fn repeated(
        &mut self,
        start: &str,
        limit: &str,
        first: &[(&str, String)],
        body: impl FnOnce(&mut Self, &str, &[String]) -> (Vec<String>, Option<String>),
    ) -> Vec<String> {
        let (head, out) = (self.block_name(), self.block_name());
        let counter = self.fresh();
        let with = |block: &str, values: &[String]| match values.is_empty() {
            true => block.to_string(),
            false => format!("{block}({})", values.join(", ")),
        };
        let mut entry = vec![start.to_string()];
        entry.extend(first.iter().map(|(_, value)| value.clone()));
        self.line(&format!("jump {}", with(&head, &entry)));
        let now: Vec<String> = first.iter().map(|_| self.fresh()).collect();
        let params = |names: &[String]| {
            let typed = names.iter().zip(first);
            typed
                .map(|(name, (ty, _))| format!("{name}: {ty}"))
                .collect::<Vec<_>>()
        };
        let mut head_params = vec![format!("{counter}: i64")];
        head_params.extend(params(&now));
        self.start(&with(&head, &head_params));
        let (next, leaves) = body(self, &counter, &now);
        // A block with parameters only if there are two ways to it.
        let (last, out_params) = match leaves {
            Some(_) => {
                let last: Vec<String> = first.iter().map(|_| self.fresh()).collect();
                let params = params(&last);
                (last, params)
            }
            None => (next.clone(), Vec::new()),
        };
        let to_out = match &leaves {
            Some(_) => with(&out, &next),
            None => out.clone(),
        };
        if let Some(leaves) = leaves {
            let on = self.block_name();
            self.line(&format!("branch {leaves}, {to_out}, {on}"));
            self.start(&on);
        }
        let following = self.value(&format!("add nsw {counter}, 1:i64"));
        let more = self.value(&format!("icmp slt {following}, {limit}"));
        let mut back = vec![following];
        back.extend(next);
        self.line(&format!("branch {more}, {}, {to_out}", with(&head, &back)));
        self.start(&with(&out, &out_params));
        last
    }
}
