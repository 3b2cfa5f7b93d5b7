//! The types of operands and results, operation by operation.

use super::rules::{
    Check, binary_operand, check_address, check_cast, check_math, check_rmw, float_like, is_atomic,
    is_int, is_ptr, is_vector, may_hold_floats, no_result, operands, ordering_not, part_of, same,
};
use super::{Verifier, check_align, counted, param_attrs};
use crate::ir::{
    Access, Activity, Call, Callee, Inst, InstData, Mode, Op, Ordering, Request, Type, UnaryOp,
    Value,
};
use std::collections::HashSet;

impl Verifier<'_> {
    /// Checks an instruction by itself.
    pub(super) fn instruction(&mut self, inst: Inst) -> Check {
        let func = self.func;
        let data = func.inst(inst);
        for &arg in &data.args {
            self.operand(arg)?;
        }
        if data.loc.is_some_and(|loc| !self.module.locs.is_valid(loc)) {
            return Err("its location is not there".to_string());
        }
        for access in data.op.accesses() {
            self.access(access)?;
        }
        let result = match func.result(inst) {
            Some(value) => {
                self.value_type(func.ty(value))?;
                func.ty(value)
            }
            None => Type::void(),
        };
        let types: Vec<Type> = data.args.iter().map(|&v: &Value| func.ty(v)).collect();
        self.operation(data, &types, result)
    }

    pub(super) fn operation(&mut self, data: &InstData, types: &[Type], result: Type) -> Check {
        let op = &data.op;
        match op {
            Op::Unary(unary) => {
                let [x] = operands(types)?;
                if *unary == UnaryOp::FNeg {
                    float_like("the operand", x)?;
                }
                same("the result", result, x)
            }
            Op::Binary(binary) => {
                let [x, y] = operands(types)?;
                binary_operand(*binary, x)?;
                same("the second operand", y, x)?;
                same("the result", result, x)
            }
            Op::ICmp(_) => {
                let [x, y] = operands(types)?;
                if !x.is_int_like() && !x.scalar().is_ptr() {
                    return Err(format!("icmp compares integers or pointers, not {x}"));
                }
                same("the second operand", y, x)?;
                same("the result", result, x.with_scalar(Type::i1()))
            }
            Op::FCmp(_) => {
                let [x, y] = operands(types)?;
                float_like("the first operand", x)?;
                same("the second operand", y, x)?;
                same("the result", result, x.with_scalar(Type::i1()))
            }
            Op::Cast(cast) => {
                let [x] = operands(types)?;
                check_cast(*cast, x, result)
            }
            Op::Select => {
                let [condition, x, y] = operands(types)?;
                let lanes = result.with_scalar(Type::i1());
                if condition != Type::i1() && condition != lanes {
                    return Err(format!(
                        "the condition has the type {condition}, i1 expected"
                    ));
                }
                same("the second operand", x, result)?;
                same("the third operand", y, result)
            }
            Op::Math(function) => check_math(*function, types, result),
            Op::ExtractElement => {
                let [vector, index] = operands(types)?;
                is_vector("the first operand", vector)?;
                is_int("the index", index)?;
                same("the result", result, vector.scalar())
            }
            Op::InsertElement => {
                let [vector, element, index] = operands(types)?;
                is_vector("the first operand", vector)?;
                same("the element", element, vector.scalar())?;
                is_int("the index", index)?;
                same("the result", result, vector)
            }
            Op::Shuffle(mask) => {
                let [x, y] = operands(types)?;
                is_vector("the first operand", x)?;
                same("the second operand", y, x)?;
                let lanes = 2 * i64::from(x.lanes().unwrap_or(0));
                let wrong = mask
                    .iter()
                    .find(|&&lane| !(-1..lanes).contains(&i64::from(lane)));
                if let Some(lane) = wrong {
                    return Err(format!("the mask names lane {lane} of {lanes}"));
                }
                let lanes = mask.len() as u32;
                same("the result", result, Type::vector(x.scalar(), lanes))
            }
            Op::Extract(path) => {
                let [whole] = operands(types)?;
                same("the result", result, part_of(whole, path)?)
            }
            Op::Insert(path) => {
                let [whole, part] = operands(types)?;
                same("the part", part, part_of(whole, path)?)?;
                same("the result", result, whole)
            }
            Op::Alloca { ty, align } => {
                let [count] = operands(types)?;
                is_int("the count", count)?;
                self.value_type(*ty)?;
                check_align(*align)?;
                is_ptr("the result", result)
            }
            Op::Address { scales, .. } => check_address(scales, types, result),
            Op::Load(access) => {
                let [ptr] = operands(types)?;
                is_ptr("the address", ptr)?;
                if result.is_void() {
                    return Err("a load without a result".to_string());
                }
                ordering_not(access, &[Ordering::Release, Ordering::AcqRel], "a load")
            }
            Op::Store(access) => {
                let [_, ptr] = operands(types)?;
                is_ptr("the address", ptr)?;
                no_result(result)?;
                ordering_not(access, &[Ordering::Acquire, Ordering::AcqRel], "a store")
            }
            Op::Accumulate(_) => {
                let [ptr, value] = operands(types)?;
                is_ptr("the address", ptr)?;
                float_like("the value", value)?;
                no_result(result)
            }
            Op::AtomicRmw(rmw, access) => {
                let [ptr, value] = operands(types)?;
                is_ptr("the address", ptr)?;
                check_rmw(*rmw, value)?;
                is_atomic(access)?;
                same("the result", result, value)
            }
            Op::CmpXchg {
                access, failure, ..
            } => {
                let [ptr, expected, new] = operands(types)?;
                is_ptr("the address", ptr)?;
                if !expected.is_int() && !expected.is_ptr() {
                    return Err(format!(
                        "cmpxchg takes integers or pointers, not {expected}"
                    ));
                }
                same("the new value", new, expected)?;
                is_atomic(access)?;
                if matches!(failure, Ordering::Release | Ordering::AcqRel) {
                    return Err(format!("the failure ordering is {}", failure.name()));
                }
                let pair = Type::structure(vec![expected, Type::i1()]);
                same("the result", result, pair)
            }
            Op::Fence(ordering, _) => {
                let [] = operands(types)?;
                if *ordering < Ordering::Acquire {
                    return Err(format!("a fence that is {}", ordering.name()));
                }
                no_result(result)
            }
            Op::MemCopy { .. } => {
                let [dst, src, count] = operands(types)?;
                is_ptr("the destination", dst)?;
                is_ptr("the source", src)?;
                is_int("the byte count", count)?;
                no_result(result)
            }
            Op::MemSet(_) => {
                let [dst, byte, count] = operands(types)?;
                is_ptr("the destination", dst)?;
                same("the byte", byte, Type::int(8))?;
                is_int("the byte count", count)?;
                no_result(result)
            }
            Op::Nest(nest) => self.nest(nest, data, types, result),
            Op::Call(call) | Op::Invoke { call, .. } => self.call(call, types, result),
            Op::Request(request) => self.request(request, types),
            Op::Opaque(_) | Op::OpaqueTerminator { .. } => Ok(()),
            Op::Jump(_) | Op::Unreachable => {
                let [] = operands(types)?;
                no_result(result)
            }
            Op::Branch { .. } => {
                let [condition] = operands(types)?;
                same("the condition", condition, Type::i1())?;
                no_result(result)
            }
            Op::Switch { cases, .. } => {
                let [value] = operands(types)?;
                is_int("the operand", value)?;
                let bits = value.int_bits().unwrap_or(0);
                let mut seen = HashSet::new();
                for (case, _) in cases {
                    if bits < 128 && case >> bits != 0 {
                        return Err(format!("the case {case} does not fit into {value}"));
                    }
                    if !seen.insert(case) {
                        return Err(format!("the case {case} stands twice"));
                    }
                }
                no_result(result)
            }
            Op::Return => {
                no_result(result)?;
                if self.func.sig.ret.is_void() {
                    let [] = operands(types)?;
                    return Ok(());
                }
                let [value] = operands(types)?;
                same("the operand", value, self.func.sig.ret)
            }
        }
    }

    fn access(&self, access: &Access) -> Check {
        check_align(access.align)?;
        if access.tbaa.is_some_and(|t| !self.module.tbaa.is_valid(t)) {
            return Err("its alias class is not there".to_string());
        }
        let mut scopes = access.scopes.iter().chain(&access.noalias);
        match scopes.all(|&scope| self.module.scopes.is_valid(scope)) {
            true => Ok(()),
            false => Err("one of its alias scopes is not there".to_string()),
        }
    }

    fn call(&self, call: &Call, types: &[Type], result: Type) -> Check {
        let args = match call.callee {
            Callee::Direct(func) if !self.module.funcs.is_valid(func) => {
                return Err("the callee is not there".to_string());
            }
            Callee::Direct(_) => types,
            Callee::Indirect => {
                let Some((callee, args)) = types.split_first() else {
                    return Err("an indirect call without a callee".to_string());
                };
                is_ptr("the callee", *callee)?;
                args
            }
        };
        let params = &call.sig.params;
        let enough = args.len() == params.len() || call.sig.variadic && args.len() > params.len();
        if !enough {
            let given = counted(args.len(), "argument");
            let wanted = counted(params.len(), "parameter");
            return Err(format!("{given} for {wanted}"));
        }
        for (i, (&arg, &param)) in args.iter().zip(params).enumerate() {
            same(&format!("argument {i}"), arg, param)?;
        }
        if call.args.len() != args.len() {
            let given = counted(args.len(), "argument");
            return Err(format!("{given}, but attributes for {}", call.args.len()));
        }
        call.args.iter().try_for_each(param_attrs)?;
        same("the result", result, call.sig.ret)
    }

    fn request(&self, request: &Request, types: &[Type]) -> Check {
        let Some(callee) = self.module.funcs.get(request.func) else {
            return Err("the function to differentiate is not there".to_string());
        };
        if request.width == 0 {
            return Err("a request of width 0".to_string());
        }
        let (given, wanted) = (request.args.len(), callee.sig.params.len());
        if given != wanted {
            let wanted = counted(wanted, "parameter");
            return Err(format!("activities for {given} of {wanted}"));
        }
        if request.mode == Mode::TapeSize && types.is_empty() {
            return Ok(());
        }
        let mut next = 0;
        for (i, (&activity, &ty)) in request.args.iter().zip(&callee.sig.params).enumerate() {
            if activity == Activity::Out && !may_hold_floats(ty) {
                return Err(format!("parameter {i} is out, but has the type {ty}"));
            }
            let count = 1 + activity.shadow_count(request.width);
            let Some(group) = types.get(next..next + count) else {
                let left = types.len() - next;
                let word = activity.name();
                return Err(format!(
                    "parameter {i} is {word} and asks for {count} operands, {left} are left"
                ));
            };
            for &operand in group {
                same(&format!("an operand for parameter {i}"), operand, ty)?;
            }
            next += count;
        }
        // A reverse sweep of its own also takes the seeds of the result and the tape.
        let extra = match request.mode {
            Mode::Gradient => request.width as usize + 1,
            Mode::Augmented => usize::from(request.tape.caller),
            _ => 0,
        };
        match types.len() - next > extra {
            true => Err(counted(types.len() - next, "operand") + " too many"),
            false => Ok(()),
        }
    }
}
