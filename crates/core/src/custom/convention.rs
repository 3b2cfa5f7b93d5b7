//! How the functions of rules take and give values.
//!
//! A C compiler passes a structure as it likes: as several values, packed into vectors or
//! integers, or in memory. All of these have the layout of the structure, so the positions of
//! tape, results and derivatives are offsets in it.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::ir::{DataLayout, Func, Function, Module, ParamAttrs, Signature, Type};

/// A function of a rule as it is called.
#[derive(Clone)]
pub(super) struct Part {
    /// The function.
    pub func: Func,
    /// Its name, for messages.
    pub name: String,
    /// Its signature.
    pub sig: Signature,
    /// How it takes its arguments.
    pub attrs: Vec<ParamAttrs>,
    /// If it returns in memory, the type of what is there.
    pub sret: Option<Type>,
    /// Which parameters its body uses; all if it has none.
    pub used: Vec<bool>,
}

impl Part {
    /// A function of the module.
    pub fn new(module: &Module, func: Func) -> Part {
        let function = &module.funcs[func];
        Part {
            func,
            name: function.name.clone(),
            sig: function.sig.clone(),
            attrs: function.params.clone(),
            sret: function.params.first().and_then(|first| first.sret),
            used: used_parameters(function),
        }
    }

    /// The types of the parameters, without memory for the result.
    pub fn params(&self) -> &[Type] {
        &self.sig.params[self.hidden()..]
    }

    /// How many parameters there are for the result.
    pub fn hidden(&self) -> usize {
        usize::from(self.sret.is_some())
    }

    /// What it returns; none for nothing.
    pub fn returned(&self) -> Option<Type> {
        let ty = self.sret.unwrap_or(self.sig.ret);
        (!ty.is_void()).then_some(ty)
    }

    /// The refusal of a function whose types do not fit those of the function it is a rule for.
    pub fn misfit(&self, primal: &str, what: &str, expected: &str) -> Box<Diagnostic> {
        let params: Vec<String> = self.params().iter().map(ToString::to_string).collect();
        let found = match self.returned() {
            Some(ty) => format!("({}) -> {ty}", params.join(", ")),
            None => format!("({})", params.join(", ")),
        };
        Diagnostic::new(
            Code::RuleTypes,
            format!("`{}` is no {what} for `{primal}`", self.name),
            format!("its types are {found}, and should be {expected}"),
            "change the function, or register it for the one it belongs to",
        )
    }
}

fn used_parameters(function: &Function) -> Vec<bool> {
    if function.is_declaration() {
        return vec![true; function.sig.params.len()];
    }
    let uses = function.use_counts();
    let params = function.arguments().iter();
    params.map(|&param| uses[param] > 0).collect()
}

/// Types as a list, for messages.
pub(super) fn list(types: &[Type]) -> String {
    let texts: Vec<String> = types.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// Where the parts of what an augmented sweep returns are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Augmented {
    /// The scalars of the tape with their offsets.
    pub tape: Vec<(u64, Type)>,
    /// The offset of the primal result.
    pub result: Option<u64>,
    /// The offset of the shadow of a pointer result.
    pub shadow: Option<u64>,
}

impl Augmented {
    /// Reads what an augmented sweep returns: nothing, the tape, the result (unless that is a
    /// pointer), or a structure of tape, result and, for a pointer, shadow result.
    pub fn new(layout: &DataLayout, found: Option<Type>, result: Type) -> Option<Augmented> {
        let Some(found) = found else {
            return Some(Augmented::default());
        };
        let scalars = layout.scalars(found);
        if result.is_void() || (result != found && scalars.len() == 1 && !found.is_int_like()) {
            let tape = scalars;
            return Some(Augmented {
                tape,
                ..Augmented::default()
            });
        }
        if result.is_ptr() {
            let at = scalars.len().checked_sub(2)?;
            let [(first, x), (second, y)] = scalars[at..] else {
                return None;
            };
            return (at > 0 && x == result && y == result).then(|| Augmented {
                tape: scalars[..at].to_vec(),
                result: Some(first),
                shadow: Some(second),
            });
        }
        let at = ending(layout, &scalars, result)?;
        Some(Augmented {
            tape: before(&scalars, at, layout),
            result: Some(at),
            shadow: None,
        })
    }

    /// How many bytes the tape has.
    pub fn tape_bytes(&self, layout: &DataLayout) -> u64 {
        let end = |&(at, ty): &(u64, Type)| at + layout.store_size(ty);
        self.tape.iter().map(end).max().unwrap_or(0)
    }
}

/// Where a value lies that is the last in a structure.
fn ending(layout: &DataLayout, scalars: &[(u64, Type)], value: Type) -> Option<u64> {
    let wanted = layout.scalars(value);
    if let Some(from) = scalars.len().checked_sub(wanted.len()) {
        let (at, _) = *scalars.get(from)?;
        let same = |((x, a), (y, b)): (&(u64, Type), &(u64, Type))| *x == at + y && a == b;
        if scalars[from..].iter().zip(&wanted).all(same) {
            return Some(at);
        }
    }
    // Two small numbers may have been packed into one integer.
    let &(at, last) = scalars.last()?;
    let (whole, part) = (layout.store_size(last), layout.store_size(value));
    let packed = last.is_int_like() && wanted.len() == 1 && part < whole;
    packed.then(|| at + whole - part)
}

/// The scalars before an offset; one that reaches over it ends there.
fn before(scalars: &[(u64, Type)], end: u64, layout: &DataLayout) -> Vec<(u64, Type)> {
    let scalars = scalars.iter().filter(|(at, _)| *at < end);
    let cut = |&(at, ty): &(u64, Type)| match at + layout.store_size(ty) > end {
        true => (at, Type::int((end - at) as u32 * 8)),
        false => (at, ty),
    };
    scalars.map(cut).collect()
}

/// What the tangent of a rule returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tangent {
    /// The offset of the primal result.
    pub result: Option<u64>,
    /// The offset of its tangent.
    pub tangent: Option<u64>,
}

impl Tangent {
    /// Reads what a tangent function returns: the tangent, or the primal result and the tangent.
    /// A result that is no float or pointer has no tangent.
    pub fn new(layout: &DataLayout, found: Option<Type>, result: Type) -> Option<Tangent> {
        let Some(found) = found else {
            return Some(Tangent::default());
        };
        let (found, one) = (layout.scalars(found), layout.scalars(result));
        let differentiable = |(_, ty): &(u64, Type)| ty.float_kind().is_some() || ty.is_ptr();
        if found == one {
            return Some(match one.iter().all(differentiable) {
                true => Tangent {
                    result: None,
                    tangent: Some(0),
                },
                false => Tangent {
                    result: Some(0),
                    tangent: None,
                },
            });
        }
        let (first, second) = found.split_at_checked(one.len())?;
        let start = second.first()?.0;
        let moved: Vec<(u64, Type)> = second.iter().map(|(at, ty)| (at - start, *ty)).collect();
        (first == one && moved == one).then_some(Tangent {
            result: Some(0),
            tangent: Some(start),
        })
    }
}

/// Where the derivatives are in what a gradient function returns.
pub(super) fn derivatives(
    layout: &DataLayout,
    found: Option<Type>,
    derivatives: &[Type],
) -> Option<Vec<u64>> {
    let whole = match derivatives {
        [] => return found.is_none().then(Vec::new),
        [one] => *one,
        several => Type::structure(several.to_vec()),
    };
    let found = found?;
    let floats = layout.scalars(whole);
    let fits = layout.scalars(found) == floats
        // Small floats may have been packed into integers.
        || floats.len() > 1
            && found.float_kind().is_none()
            && layout.size(found) == layout.size(whole).next_multiple_of(4);
    let offset = |i: usize| match derivatives.len() {
        1 => 0,
        _ => layout.part_offset(whole, i as u64),
    };
    fits.then(|| (0..derivatives.len()).map(offset).collect())
}

/// The parameters that a value of `bytes` bytes takes, each with its offset, or one that takes it
/// in memory; none if it does not fit.
pub(super) fn spread(
    layout: &DataLayout,
    params: &[Type],
    attrs: &[ParamAttrs],
    scalars: &[(u64, Type)],
) -> Option<Passed> {
    let Some(&(at, last)) = scalars.last() else {
        return Some(Passed::Values(Vec::new()));
    };
    let bytes = at + layout.store_size(last);
    if let Some(by_value) = attrs.first().and_then(|first| first.byval) {
        return (layout.size(by_value) >= bytes).then_some(Passed::Memory);
    }
    if let ([(0, one)], Some(first)) = (scalars, params.first()) {
        return (one == first).then(|| Passed::Values(vec![(0, *first)]));
    }
    let mut values = Vec::new();
    let mut end = 0;
    for &ty in params {
        if end >= bytes {
            break;
        }
        let at = u64::next_multiple_of(end, u64::from(layout.align(ty)));
        values.push((at, ty));
        end = at + layout.store_size(ty);
    }
    (end >= bytes && end <= bytes.next_multiple_of(8)).then_some(Passed::Values(values))
}

/// How a structure is passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Passed {
    /// As values, from these offsets.
    Values(Vec<(u64, Type)>),
    /// As a copy in memory.
    Memory,
}

/// The parameters that stand for arguments, without those that come after them.
pub(super) fn arguments(primal: &Signature, shadowed: impl Fn(Type) -> bool) -> Vec<Type> {
    let params = primal.params.iter();
    params
        .flat_map(|&ty| std::iter::repeat_n(ty, 1 + usize::from(shadowed(ty))))
        .collect()
}

/// Refuses functions whose values have no place in a rule.
pub(super) fn check_function(function: &Function) -> Result<()> {
    let in_memory = function
        .params
        .iter()
        .any(|p| p.byval.is_some() || p.sret.is_some());
    let what = match (function.sig.variadic, in_memory) {
        (true, _) => "is variadic, so that its arguments have no fixed places",
        (_, true) => "takes or returns a structure in memory that the C compiler adds",
        _ => return Ok(()),
    };
    Err(Diagnostic::new(
        Code::RuleSignature,
        format!("a custom rule for `{}` cannot be used", function.name),
        format!("the function {what}"),
        "pass numbers and pointers as arguments of their own",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{FloatKind, Type};

    fn f32() -> Type {
        Type::float(FloatKind::F32)
    }

    #[test]
    fn results_are_found_behind_tapes() {
        let layout = DataLayout::default();
        let (double, ptr) = (Type::f64(), Type::ptr());
        let check = |found: Option<Type>, result: Type, tape: &[(u64, Type)], at: Option<u64>| {
            let parts = Augmented::new(&layout, found, result).unwrap();
            assert_eq!(
                (parts.tape.as_slice(), parts.result),
                (tape, at),
                "{found:?}"
            );
        };
        check(None, Type::void(), &[], None);
        check(Some(ptr), Type::void(), &[(0, ptr)], None);
        check(Some(double), double, &[], Some(0));
        check(Some(ptr), double, &[(0, ptr)], None);
        let both = Type::structure(vec![ptr, f32()]);
        check(Some(both), f32(), &[(0, ptr)], Some(8));
        check(Some(Type::vector(f32(), 2)), f32(), &[(0, f32())], Some(4));
        check(Some(Type::i64()), f32(), &[(0, Type::int(32))], Some(4));
        let three = Type::structure(vec![double, ptr, ptr]);
        check(Some(three), ptr, &[(0, double)], Some(8));
        assert_eq!(Augmented::new(&layout, Some(both), ptr), None);
    }

    #[test]
    fn tapes_are_passed_as_the_compiler_likes() {
        let layout = DataLayout::default();
        let double = Type::f64();
        let check = |scalars: &[(u64, Type)], params: &[Type], expected: Option<&[u64]>| {
            let attrs = vec![ParamAttrs::default(); params.len()];
            let offsets = spread(&layout, params, &attrs, scalars).map(|passed| match passed {
                Passed::Values(values) => values.iter().map(|(at, _)| *at).collect(),
                Passed::Memory => vec![],
            });
            assert_eq!(offsets.as_deref(), expected, "{params:?}");
        };
        check(&[(0, double)], &[double], Some(&[0]));
        check(&[(0, double)], &[Type::ptr()], None);
        check(
            &[(0, double), (8, double)],
            &[double, double],
            Some(&[0, 8]),
        );
        check(&[(0, double), (8, double)], &[double], None);
        let floats = [(0, f32()), (4, f32()), (8, f32())];
        check(&floats, &[Type::vector(f32(), 2), f32()], Some(&[0, 8]));
    }
}
