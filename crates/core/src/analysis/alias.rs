//! Whether two accesses may touch the same byte.
//!
//! The question is asked for two moments: the accesses happen in the same iteration of every loop
//! that is around both ([`Moment::Same`]), or at any two moments of one call of the function
//! ([`Moment::Any`]). Affine offsets from the same base and alias scopes answer the first only (a
//! scope ends with the inlined call that it came from, which a later iteration makes again); objects
//! and type-based classes answer both. For affine accesses in different iterations see
//! [`overwrite`](super::overwrite).

use super::affine::{Affine, AffineValues, Base, Factor};
use super::cfg::Cfg;
use super::loops::Loops;
use super::points_to::PointsTo;
use crate::ir::{Access, Block, Function, Module, Region, Scope, Tbaa, Value};

/// An access to memory.
#[derive(Clone, Debug)]
pub struct Location<'a> {
    /// The address.
    pub pointer: Value,
    /// How many bytes from there on, if that is known.
    pub size: Option<u64>,
    /// How it is accessed, if it is one access.
    pub access: Option<&'a Access>,
    /// The block it happens in.
    pub block: Block,
}

/// An answer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Alias {
    /// They never touch the same byte.
    No,
    /// They may.
    May,
    /// The second starts exactly so many bytes after the first.
    Must {
        /// The distance.
        offset: i64,
    },
}

/// How the moments of two accesses relate.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Moment {
    /// The same iteration of every loop that is around both.
    Same,
    /// Any two moments of one call of the function.
    Any,
}

/// Answers alias questions about one function.
pub struct Aliases<'a> {
    module: &'a Module,
    points_to: &'a PointsTo,
    loops: &'a Loops,
    values: AffineValues<'a>,
}

impl<'a> Aliases<'a> {
    /// Ready to answer questions about a function.
    pub fn new(
        module: &'a Module,
        func: &'a Function,
        cfg: &'a Cfg,
        loops: &'a Loops,
        points_to: &'a PointsTo,
    ) -> Aliases<'a> {
        Aliases {
            module,
            points_to,
            loops,
            values: AffineValues::new(func, cfg, loops),
        }
    }

    /// The affine forms behind the answers.
    pub fn values(&self) -> &AffineValues<'a> {
        &self.values
    }

    /// Whether two accesses may touch the same byte.
    pub fn query(&self, a: &Location, b: &Location, moment: Moment) -> Alias {
        if !self.objects_overlap(a.pointer, b.pointer) || !self.access_overlap(a, b, moment) {
            return Alias::No;
        }
        if moment == Moment::Any {
            return Alias::May;
        }
        let from = self.values.address(a.pointer, a.block);
        let to = self.values.address(b.pointer, b.block);
        let distance = match to.minus(&from) {
            Some(distance) if self.is_shared(&from, a, b) && self.is_shared(&to, a, b) => distance,
            _ => return Alias::May,
        };
        let Some(offset) = distance.as_number().and_then(|n| i64::try_from(n).ok()) else {
            return Alias::May;
        };
        let reaches =
            |size: Option<u64>, distance: i128| size.is_none_or(|size| i128::from(size) > distance);
        let apart = match offset >= 0 {
            true => !reaches(a.size, i128::from(offset)),
            false => !reaches(b.size, -i128::from(offset)),
        };
        match apart {
            true => Alias::No,
            false => Alias::Must { offset },
        }
    }

    /// Whether the objects behind two pointers may overlap.
    pub fn objects_overlap(&self, a: Value, b: Value) -> bool {
        self.points_to.objects(a).any(|x| {
            self.points_to
                .objects(b)
                .any(|y| self.points_to.may_overlap(x, y))
        })
    }

    /// Whether the alias classes, scopes and regions of two accesses allow that they overlap.
    pub fn access_overlap(&self, a: &Location, b: &Location, moment: Moment) -> bool {
        match (a.access, b.access) {
            (Some(a), Some(b)) => self.accesses_overlap(a, b, moment),
            _ => true,
        }
    }

    /// The same for accesses wherever they are.
    pub fn accesses_overlap(&self, a: &Access, b: &Access, moment: Moment) -> bool {
        let own = |region: Region| region != Region::User;
        if own(a.region) && own(b.region) && a.region != b.region {
            return false;
        }
        if let (Some(x), Some(y)) = (a.tbaa, b.tbaa)
            && self.root(x) == self.root(y)
            && !self.is_above(x, y)
            && !self.is_above(y, x)
        {
            return false;
        }
        moment == Moment::Any || !(self.excludes(a, b) || self.excludes(b, a))
    }

    /// Whether a form has one value in one iteration of the loops around both accesses.
    fn is_shared(&self, form: &Affine, a: &Location, b: &Location) -> bool {
        let fixed = |value: Value| match self.values.def_block(value) {
            None => true,
            Some(def) => match self.loops.innermost(def) {
                None => true,
                Some(l) => self.loops.contains(l, a.block) && self.loops.contains(l, b.block),
            },
        };
        let base = match form.base {
            Some(Base::Value(value)) => fixed(value),
            _ => true,
        };
        base && form.factors().all(|factor| match factor {
            Factor::Counter(l) => {
                self.loops.contains(l, a.block) && self.loops.contains(l, b.block)
            }
            Factor::Signed(value) | Factor::Unsigned(value) => fixed(value),
        })
    }

    fn is_above(&self, above: Tbaa, below: Tbaa) -> bool {
        self.upwards(below).any(|t| t == above)
    }

    /// The root of the tree of an alias class. Each language has a tree of its own, and classes of
    /// two languages say nothing about each other.
    fn root(&self, class: Tbaa) -> Option<Tbaa> {
        self.upwards(class).last()
    }

    fn upwards(&self, class: Tbaa) -> impl Iterator<Item = Tbaa> {
        let parents = std::iter::successors(Some(class), |&t| self.module.tbaa[t].parent);
        // A chain longer than the tree has a cycle and says nothing.
        parents.take(self.module.tbaa.len() + 1)
    }

    /// Whether `a` promises not to touch what `b` touches: for some domain, `b` is in scopes of it
    /// and `a` lists all of them.
    fn excludes(&self, a: &Access, b: &Access) -> bool {
        let domain = |scope: Scope| self.module.scopes[scope].domain;
        b.scopes.iter().any(|&scope| {
            b.scopes
                .iter()
                .filter(|&&other| domain(other) == domain(scope))
                .all(|other| a.noalias.contains(other))
        })
    }
}
