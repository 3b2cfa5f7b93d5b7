//! Facts about loop nests.

use super::collect::Collector;
use super::{Fact, Lines, Reason, Report, What};
use crate::diagnostic::Place;
use crate::ir::{Loc, Module, Op};
use crate::primal::{Expanded, Loss};
use crate::raise::describe::describe;
use crate::raise::look::Seen;
use crate::raise::{Extent, Raised};
use crate::reverse::nest;
use crate::simplify::lower_products::has_kernels;
use std::fmt;

/// A loop nest that was seen as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestFact {
    /// The lines of its loops.
    pub lines: Option<Lines>,
    /// What it computes.
    pub shape: String,
    /// How many loops it has.
    pub loops: usize,
    /// Whether a kernel may run it where the derivative does what the function does.
    pub kernel: bool,
    /// Why it reads copies of its operands, if it does.
    pub copies: Option<Reason>,
    /// What its derivative is.
    pub derivative: OfNest,
}

/// What the derivative of a nest is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfNest {
    /// In forward mode, a nest.
    Tangent,
    /// In reverse mode, nests.
    Adjoint {
        /// How many of them are products of matrices that kernels may run.
        products: usize,
        /// How many of them are something else.
        others: usize,
    },
    /// Loops, and why.
    Loops(Reason),
}

/// What was found out about the loops of the program before their functions were differentiated.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfLoops {
    /// The places of what nests write, and the lines that the nests come from.
    nests: Vec<(Vec<Place>, Option<Lines>)>,
    /// What there is to say of a function with a name.
    facts: Vec<(String, Fact)>,
}

impl OfLoops {
    /// Notes what has become of the loops of a function.
    pub fn add(&mut self, module: &Module, function: &str, searches: &[Extent], raised: &Raised) {
        let lines = |extent: &Extent| Lines::new(module, &extent.all);
        let places = |loc: Option<Loc>| Place::chain(module, loc);
        let nests = raised.nests.iter();
        (self.nests).extend(nests.map(|nest| (places(nest.at), lines(nest))));
        let mut searched = Vec::new();
        for search in searches {
            searched.extend(lines(search));
            let fact = Fact {
                places: places(search.at),
                what: What::Search(lines(search)),
            };
            self.facts.push((function.to_string(), fact));
        }
        for refused in &raised.refused {
            let lines = lines(&refused.extent);
            // What there is to say of loops with a search in them is that.
            let has_search = |lines: &Lines| searched.iter().any(|other| lines.contain(other));
            if !lines.as_ref().is_some_and(has_search) {
                let fact = Fact {
                    places: places(refused.extent.at),
                    what: What::Unraised(lines, refused.reason),
                };
                self.facts.push((function.to_string(), fact));
            }
        }
    }

    /// Notes what the loops of a function compute that have stayed loops, each loop in one sentence.
    pub fn add_seen(&mut self, module: &Module, function: &str, seen: &[Seen], raised: &Raised) {
        let mut shapes: Vec<(Option<Lines>, Vec<&str>, Vec<Place>)> = Vec::new();
        for Seen { extent, shape } in seen {
            if raised.nests.iter().any(|nest| nest.at == extent.at) {
                continue;
            }
            let lines = Lines::new(module, &extent.all);
            match shapes.iter_mut().find(|(known, ..)| *known == lines) {
                Some((_, shapes, _)) if shapes.contains(&shape.as_str()) => {}
                Some((_, shapes, _)) => shapes.push(shape),
                None => shapes.push((lines, vec![shape], Place::chain(module, extent.at))),
            }
        }
        for (lines, shapes, places) in shapes {
            let what = What::Seen(lines, shapes.join(", "));
            self.facts
                .push((function.to_string(), Fact { places, what }));
        }
    }

    /// Completes a report.
    pub fn complete(&self, report: &mut Report) {
        for fact in &mut report.facts {
            let Fact { places, what } = fact;
            if let What::Nest(nest) = what {
                let is_here = |(known, _): &&(Vec<Place>, _)| known == places && !known.is_empty();
                let known = self.nests.iter().rfind(is_here);
                nest.lines = known.and_then(|(_, lines)| lines.clone());
            }
        }
        let own = self.facts.iter();
        let own = own.filter(|(function, _)| *function == report.function);
        report.facts.extend(own.map(|(_, fact)| fact.clone()));
    }
}

impl Collector<'_> {
    pub(super) fn nests(&self) -> Vec<Fact> {
        let primal = self.primal;
        let function = &primal.function;
        let expanded = primal.expanded.iter().map(|nest| self.expanded(nest));
        let nests = self.insts().filter_map(|(_, inst)| {
            let data = function.inst(inst);
            let Op::Nest(body) = &data.op else {
                return None;
            };
            let derivative = match primal.key.reverse {
                true => {
                    let all = nest::reverse_count(primal, data, body);
                    let products = nest::reverse_products(primal, data, body);
                    OfNest::Adjoint {
                        products,
                        others: all - products,
                    }
                }
                false => OfNest::Tangent,
            };
            let what = What::Nest(NestFact {
                lines: None,
                shape: describe(function, body, data),
                loops: body.depth,
                kernel: has_kernels(function, data),
                copies: primal.copied.get(&inst).map(|loss| self.loss(loss)),
                derivative,
            });
            Some(self.fact(data.loc, what))
        });
        expanded.chain(nests).collect()
    }

    /// A nest that has become loops.
    fn expanded(&self, nest: &Expanded) -> Fact {
        let what = What::Nest(NestFact {
            lines: None,
            shape: nest.shape.clone(),
            loops: nest.loops,
            kernel: false,
            copies: None,
            derivative: OfNest::Loops(self.loss(&nest.loss)),
        });
        self.fact(nest.loc, what)
    }

    fn loss(&self, Loss { obstacle, by }: &Loss) -> Reason {
        Reason {
            before: obstacle.before,
            by: Place::chain(self.module, *by).into_iter().next(),
            after: obstacle.after,
        }
    }
}

impl fmt::Display for NestFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.loops == 1 { "" } else { "s" };
        write!(f, "{}, a nest of {} loop{plural}", self.shape, self.loops)?;
        if self.kernel {
            f.write_str(", by a kernel where it is large enough")?;
        }
        write!(f, ", {}", self.derivative)?;
        match &self.copies {
            Some(why) => write!(f, ", from copies, because {why}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for OfNest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nests = |count: usize| counted(count, "nest");
        match self {
            OfNest::Tangent => f.write_str("stays a nest"),
            OfNest::Adjoint {
                products: 0,
                others,
            } => write!(f, "adjoint as {}", nests(*others)),
            OfNest::Adjoint { products, others } => {
                let they_are = if *products == 1 { "it is" } else { "they are" };
                let products = counted(*products, "product");
                let kernels = format!("by kernels where {they_are} large enough");
                write!(f, "adjoint as {products}, {kernels}")?;
                match others {
                    0 => Ok(()),
                    others => write!(f, ", and {}", nests(*others)),
                }
            }
            OfNest::Loops(why) => write!(f, "adjoint as loops, because {why}"),
        }
    }
}

/// So many things, in words where they are few.
fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("one {what}"),
        2 => format!("two {what}s"),
        3 => format!("three {what}s"),
        count => format!("{count} {what}s"),
    }
}
