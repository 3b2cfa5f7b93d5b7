//! Runs functions whose values are `f64`s, small integers and pairs or vectors of those, which is
//! all that rules and library bodies consist of.

use super::apply;
use super::evaluate::math;
use crate::ir::{
    BinaryOp, CastOp, Constant, Edge, FloatKind, FloatPred, Function, IntPred, Op, TypeKind,
    UnaryOp, Value, ValueDef, soft,
};
use std::collections::HashMap;

/// The state of a run. Aggregates are their parts in a row.
#[derive(Default)]
pub(crate) struct Machine {
    pub(crate) values: HashMap<Value, Vec<f64>>,
    /// What was stored, in order.
    pub(crate) stored: Vec<f64>,
}

impl Machine {
    /// Runs a function on scalar arguments and gives the parts of its result.
    pub(crate) fn run(&mut self, function: &Function, arguments: &[f64]) -> Vec<f64> {
        let arguments = arguments.iter().map(|&x| vec![x]).collect();
        self.run_parts(function, arguments)
    }

    /// Runs a function on any arguments.
    pub(crate) fn run_parts(&mut self, function: &Function, arguments: Vec<Vec<f64>>) -> Vec<f64> {
        let params = function.arguments().iter().copied();
        self.values.extend(params.zip(arguments));
        let mut block = function.entry();
        loop {
            let mut next = None;
            for &inst in function.block_insts(block) {
                let data = function.inst(inst);
                let args: Vec<_> = data.args.iter().map(|&v| self.get(function, v)).collect();
                match &data.op {
                    Op::Return => return args.into_iter().next().unwrap_or_default(),
                    Op::Jump(edge) => next = Some(edge),
                    Op::Branch { then, .. } if args[0][0] != 0.0 => next = Some(then),
                    Op::Branch { other, .. } => next = Some(other),
                    Op::Store(_) => self.stored.extend(&args[0]),
                    op => {
                        let result = compute(op, &args);
                        let value = function.result(inst);
                        self.values.extend(value.map(|value| (value, result)));
                    }
                }
            }
            let Some(Edge { block: to, args }) = next else {
                panic!("a block without an end");
            };
            let args: Vec<_> = args.iter().map(|&v| self.get(function, v)).collect();
            let params = function.block_params(*to).iter().copied();
            self.values.extend(params.zip(args));
            block = *to;
        }
    }

    fn get(&self, function: &Function, value: Value) -> Vec<f64> {
        let ty = function.ty(value);
        match function.def(value) {
            ValueDef::Const(constant) => match (constant, ty.kind()) {
                (Constant::Float(bits), _) => vec![soft::to_f64(FloatKind::F64, *bits)],
                (Constant::Int(_), TypeKind::Int(_)) => {
                    vec![function.as_int(value).map_or(f64::NAN, |n| n as f64)]
                }
                (Constant::Zero, _) => vec![0.0; ty.part_count().max(1) as usize],
                _ => vec![f64::NAN; ty.part_count().max(1) as usize],
            },
            _ => self.values[&value].clone(),
        }
    }
}

fn compute(op: &Op, args: &[Vec<f64>]) -> Vec<f64> {
    match op {
        Op::Select => return args[if args[0][0] != 0.0 { 1 } else { 2 }].clone(),
        Op::Insert(path) => return with_part(&args[0], path[0] as usize, &args[1]),
        Op::InsertElement => return with_part(&args[0], args[2][0] as usize, &args[1]),
        Op::Extract(path) => return vec![args[0][path[0] as usize]],
        Op::ExtractElement => return vec![args[0][args[1][0] as usize]],
        _ => {}
    }
    let lanes = args.iter().map(Vec::len).max().unwrap_or(1);
    let lane = |lane: usize| -> Vec<f64> {
        let value = |arg: &Vec<f64>| arg[if arg.len() == 1 { 0 } else { lane }];
        args.iter().map(value).collect()
    };
    (0..lanes).map(|i| compute_lane(op, &lane(i))).collect()
}

fn with_part(whole: &[f64], index: usize, part: &[f64]) -> Vec<f64> {
    let mut whole = whole.to_vec();
    whole[index] = part[0];
    whole
}

fn compute_lane(op: &Op, args: &[f64]) -> f64 {
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(f64::NAN);
    match op {
        Op::Math(f) => math(*f, args),
        Op::Binary(BinaryOp::And) => f64::from(x as i64 as i32 & y as i64 as i32),
        Op::Binary(BinaryOp::Or) => f64::from(x as i64 as i32 | y as i64 as i32),
        Op::Binary(BinaryOp::Add) => x + y,
        Op::Binary(BinaryOp::Sub) => x - y,
        Op::Binary(_) | Op::Unary(UnaryOp::FNeg) => apply(op, args),
        Op::Cast(CastOp::SiToFp) => x,
        Op::Cast(CastOp::FpToSi) => x.trunc(),
        Op::ICmp(IntPred::Eq) | Op::FCmp(FloatPred::Oeq) => f64::from(x == y),
        Op::ICmp(IntPred::Slt) | Op::FCmp(FloatPred::Olt) => f64::from(x < y),
        Op::FCmp(FloatPred::Une) => f64::from(x != y),
        Op::FCmp(FloatPred::Ogt) => f64::from(x > y),
        Op::FCmp(FloatPred::Oge) => f64::from(x >= y),
        Op::FCmp(FloatPred::Uno) => f64::from(x.is_nan() || y.is_nan()),
        Op::FCmp(FloatPred::Ord) => f64::from(!x.is_nan() && !y.is_nan()),
        op => panic!("{op:?} is not used by rules"),
    }
}
