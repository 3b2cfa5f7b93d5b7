//! Instantiates partial derivatives as instructions.
//!
//! Everything is appended at the builder's position in the type of the operation, with the
//! builder's float flags. Primal values are asked for only when an expression needs them and at
//! most once for each emission, so the caller may reload or recompute them on demand. Equal parts
//! of an expression are computed once.

use super::{Arith, Compare, Expr, Factor, NamedConstant, Partial, Primal, Rule};
use crate::ir::{
    BinaryOp, Builder, CastOp, Constant, FloatKind, FloatPred, IntPred, MathParam, Op, Type, Value,
};

/// Gives the primal values of the operation that is differentiated.
pub type Primals<'a> = dyn FnMut(&mut Builder<'_>, Primal) -> Value + 'a;

impl Partial {
    /// Multiplies each derivative that flows in (tangents of the operand, or adjoints of the
    /// result) by the partial derivative. `None` if the partial derivative is zero.
    ///
    /// A zero derivative contributes zero, see [`rules`](super); with `strong_zero` that holds for
    /// infinite operands as well. One derivative is multiplied into a quotient before the
    /// division, which rounds less; several share one partial derivative.
    pub fn contributions(
        &self,
        builder: &mut Builder<'_>,
        derivatives: &[Value],
        strong_zero: bool,
        primals: &mut Primals<'_>,
    ) -> Option<Vec<Value>> {
        let factor = match self {
            Partial::Zero => return None,
            Partial::One => return Some(derivatives.to_vec()),
            Partial::MinusOne => {
                return Some(derivatives.iter().map(|&d| builder.fneg(d)).collect());
            }
            Partial::Factor(factor) => factor,
        };
        let ty = builder.func.ty(*derivatives.first()?);
        let guard = strong_zero || !factor.finite;
        let mut emitter = Emitter::new(builder, working_type(ty, factor), primals);
        let products: Vec<Value> = match derivatives {
            [derivative] => {
                let wide = convert(emitter.builder, *derivative, emitter.ty);
                let product = emitter.times(wide, &factor.expr);
                vec![convert(builder, product, ty)]
            }
            _ => {
                let partial = emitter.float(&factor.expr);
                let partial = convert(builder, partial, ty);
                let product = |&d: &Value| builder.fmul(d, partial);
                derivatives.iter().map(product).collect()
            }
        };
        if !guard {
            return Some(products);
        }
        let zero = builder.func.zero(ty);
        let guarded = derivatives.iter().zip(products).map(|(&d, product)| {
            let is_zero = builder.fcmp(FloatPred::Oeq, d, zero);
            let is_nan = builder.fcmp(FloatPred::Uno, product, product);
            let spoiled = builder.binary(BinaryOp::And, is_zero, is_nan);
            builder.select(spoiled, zero, product)
        });
        Some(guarded.collect())
    }

    /// [`contributions`](Self::contributions) of one derivative.
    pub fn contribution(
        &self,
        builder: &mut Builder<'_>,
        derivative: Value,
        strong_zero: bool,
        primals: &mut Primals<'_>,
    ) -> Option<Value> {
        let all = self.contributions(builder, &[derivative], strong_zero, primals)?;
        all.into_iter().next()
    }

    /// The partial derivative itself, in the type of the operation's float operands.
    pub fn emit(&self, builder: &mut Builder<'_>, ty: Type, primals: &mut Primals<'_>) -> Value {
        match self {
            Partial::Zero => builder.func.zero(ty),
            Partial::One => builder.func.fconst(ty, 1.0),
            Partial::MinusOne => builder.func.fconst(ty, -1.0),
            Partial::Factor(factor) => {
                let mut emitter = Emitter::new(builder, working_type(ty, factor), primals);
                let partial = emitter.float(&factor.expr);
                convert(builder, partial, ty)
            }
        }
    }
}

/// The tangents of the result of an operation: the sum of what the tangents of its operands
/// contribute. None if that is nothing.
pub fn tangents(
    builder: &mut Builder<'_>,
    rule: &Rule,
    args: &[Value],
    result: Value,
    tangents: &[Option<Vec<Value>>],
    strong_zero: bool,
) -> Option<Vec<Value>> {
    let ty = builder.func.ty(result);
    let mut sums: Option<Vec<Value>> = None;
    for (i, tangents) in tangents.iter().enumerate() {
        let Some(tangents) = tangents else { continue };
        let terms =
            match rule {
                Rule::Cast => Some(tangents.iter().map(|&t| convert(builder, t, ty)).collect()),
                rule => {
                    let partial = rule.partial(i);
                    partial.contributions(builder, tangents, strong_zero, &mut |_, primal| {
                        match primal {
                            Primal::Operand(n) => args[n],
                            Primal::Result => result,
                            Primal::Computed(value) => value,
                        }
                    })
                }
            };
        sums = match (sums, terms) {
            (Some(sums), Some(terms)) => {
                let pairs = sums.into_iter().zip(terms);
                let add = |(s, t): (Value, Value)| builder.fadd(s, t);
                Some(pairs.map(add).collect())
            }
            (sums, terms) => sums.or(terms),
        };
    }
    sums
}

/// A float, or a vector of them, in another format; the value itself if the format is the same.
pub fn convert(builder: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    let bits = |ty: Type| ty.scalar().float_kind().map_or(0, FloatKind::bits);
    let from = builder.func.ty(value);
    if from == ty {
        value
    } else if bits(from) < bits(ty) {
        builder.cast(CastOp::FpExt, value, ty)
    } else {
        builder.cast(CastOp::FpTrunc, value, ty)
    }
}

/// A constant with as many digits as the type holds.
pub fn named_constant(builder: &mut Builder<'_>, ty: Type, constant: NamedConstant) -> Value {
    let [high, middle, low] = constant.parts().map(|part| builder.func.fconst(ty, part));
    match ty.scalar().float_kind() {
        Some(FloatKind::X86Fp80 | FloatKind::F128) => {
            let tail = builder.fadd(middle, low);
            builder.fadd(high, tail)
        }
        _ => high,
    }
}

/// The type that an expression is computed in: formats of 16 bits have neither the digits nor the
/// range for intermediate values. A factor that is a primal value needs no computation.
fn working_type(ty: Type, factor: &Factor) -> Type {
    match ty.scalar().float_kind() {
        Some(FloatKind::F16 | FloatKind::Bf16) if !matches!(factor.expr, Expr::Float(_)) => {
            ty.with_scalar(Type::float(FloatKind::F32))
        }
        _ => ty,
    }
}

struct Emitter<'a, 'f, 'p, 'q> {
    builder: &'a mut Builder<'f>,
    /// The type that floats are computed in.
    ty: Type,
    primals: &'p mut Primals<'q>,
    /// Primal values as the caller gave them.
    known: Vec<(Primal, Value)>,
    /// Floats and conditions computed so far.
    done: Vec<(Expr, Value)>,
}

impl<'a, 'f, 'p, 'q> Emitter<'a, 'f, 'p, 'q> {
    fn new(builder: &'a mut Builder<'f>, ty: Type, primals: &'p mut Primals<'q>) -> Self {
        Emitter {
            builder,
            ty,
            primals,
            known: Vec::new(),
            done: Vec::new(),
        }
    }

    /// `factor · expr`, where the factor goes into the numerator if the expression is a quotient,
    /// or a product that begins with one, and between the two factors of a square, which might
    /// overflow alone.
    fn times(&mut self, factor: Value, expr: &Expr) -> Value {
        match expr {
            Expr::Number(1.0) => factor,
            Expr::Neg(x) if takes_factor(x) => {
                let product = self.times(factor, x);
                self.builder.fneg(product)
            }
            Expr::Arith(Arith::Div, x, y) => {
                let numerator = self.times(factor, x);
                let y = self.float(y);
                self.builder.fdiv(numerator, y)
            }
            Expr::Arith(Arith::Mul, x, y) if x == y || takes_factor(x) => {
                let x = self.times(factor, x);
                let y = self.float(y);
                self.builder.fmul(x, y)
            }
            Expr::Number(-1.0) => self.builder.fneg(factor),
            _ => {
                let value = self.float(expr);
                self.builder.fmul(factor, value)
            }
        }
    }

    fn primal(&mut self, primal: Primal) -> Value {
        if let Some((_, value)) = self.known.iter().find(|(known, _)| *known == primal) {
            return *value;
        }
        let value = (self.primals)(self.builder, primal);
        self.known.push((primal, value));
        value
    }

    /// The value of an expression that is a float or a condition.
    fn float(&mut self, expr: &Expr) -> Value {
        if let Some((_, value)) = self.done.iter().find(|(done, _)| done == expr) {
            return *value;
        }
        let value = self.compute(expr);
        self.done.push((expr.clone(), value));
        value
    }

    fn compute(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Number(x) => self.builder.func.fconst(self.ty, *x),
            Expr::Named(constant) => named_constant(self.builder, self.ty, *constant),
            Expr::Float(primal) => {
                let value = self.primal(*primal);
                convert(self.builder, value, self.ty)
            }
            _ if expr.is_integer() => {
                let value = self.int(expr);
                self.int_to_float(value)
            }
            Expr::Int(_) => unreachable!("an operand is an integer expression"),
            Expr::Neg(x) => {
                let x = self.float(x);
                self.builder.fneg(x)
            }
            Expr::Arith(arith, x, y) => {
                let (x, y) = (self.float(x), self.float(y));
                let op = match arith {
                    Arith::Add => BinaryOp::FAdd,
                    Arith::Sub => BinaryOp::FSub,
                    Arith::Mul => BinaryOp::FMul,
                    Arith::Div => BinaryOp::FDiv,
                    Arith::Rem => BinaryOp::FRem,
                };
                self.builder.binary(op, x, y)
            }
            Expr::Compare(compare, x, y) => self.compare(*compare, x, y),
            Expr::And(x, y) => {
                let (x, y) = (self.float(x), self.float(y));
                self.builder.binary(BinaryOp::And, x, y)
            }
            Expr::Or(x, y) => {
                let (x, y) = (self.float(x), self.float(y));
                self.builder.binary(BinaryOp::Or, x, y)
            }
            Expr::Select(condition, x, y) => {
                let condition = self.float(condition);
                let (x, y) = (self.float(x), self.float(y));
                self.builder.select(condition, x, y)
            }
            Expr::Call(function, args) => {
                let params = function.params().iter().zip(args);
                let args = params.map(|(param, arg)| match param {
                    MathParam::Float => self.float(arg),
                    MathParam::Int => self.int(arg),
                });
                let args = args.collect();
                self.builder.value(Op::Math(*function), args, self.ty)
            }
        }
    }

    fn compare(&mut self, compare: Compare, x: &Expr, y: &Expr) -> Value {
        if x.is_integer() {
            let x = self.int(x);
            let y = self.int_of_type(y, self.builder.func.ty(x));
            let pred = match compare {
                Compare::Eq => IntPred::Eq,
                Compare::Ne => IntPred::Ne,
                Compare::Lt => IntPred::Slt,
                Compare::Le => IntPred::Sle,
                Compare::Gt => IntPred::Sgt,
                Compare::Ge => IntPred::Sge,
            };
            return self.builder.icmp(pred, x, y);
        }
        let (x, y) = (self.float(x), self.float(y));
        let pred = match compare {
            Compare::Eq => FloatPred::Oeq,
            Compare::Ne => FloatPred::Une,
            Compare::Lt => FloatPred::Olt,
            Compare::Le => FloatPred::Ole,
            Compare::Gt => FloatPred::Ogt,
            Compare::Ge => FloatPred::Oge,
        };
        self.builder.fcmp(pred, x, y)
    }

    /// The value of an integer expression; a number alone is a C `int`.
    fn int(&mut self, expr: &Expr) -> Value {
        let operand = expr.needs().operands().next();
        let ty = match operand {
            Some(index) => {
                let value = self.primal(Primal::Operand(index));
                self.builder.func.ty(value)
            }
            None => Type::int(32),
        };
        self.int_of_type(expr, ty)
    }

    fn int_of_type(&mut self, expr: &Expr, ty: Type) -> Value {
        match expr {
            Expr::Int(index) => self.primal(Primal::Operand(*index)),
            Expr::Number(x) => int_constant(self.builder, ty, *x as i128),
            Expr::Arith(arith, x, y) => {
                let (x, y) = (self.int_of_type(x, ty), self.int_of_type(y, ty));
                match arith {
                    Arith::Add => self.builder.add(x, y),
                    _ => self.builder.sub(x, y),
                }
            }
            _ => unreachable!("{expr:?} is no integer expression"),
        }
    }

    /// An integer as a float; one integer for all lanes of a vector becomes a vector.
    fn int_to_float(&mut self, value: Value) -> Value {
        let int = self.builder.func.ty(value);
        let (Some(lanes), None) = (self.ty.lanes(), int.lanes()) else {
            return self.builder.cast(CastOp::SiToFp, value, self.ty);
        };
        let lane = self.builder.cast(CastOp::SiToFp, value, self.ty.scalar());
        let empty = self.builder.func.constant(self.ty, Constant::Poison);
        let first = self.builder.func.iconst(Type::i64(), 0);
        let args = vec![empty, lane, first];
        let one = self.builder.value(Op::InsertElement, args, self.ty);
        let mask = vec![0; lanes as usize];
        let args = vec![one, empty];
        self.builder.value(Op::Shuffle(mask), args, self.ty)
    }
}

/// Whether an expression is a quotient, a square, or a product that begins with one.
fn takes_factor(expr: &Expr) -> bool {
    match expr {
        Expr::Arith(Arith::Div, _, _) => true,
        Expr::Arith(Arith::Mul, x, y) => x == y || takes_factor(x),
        Expr::Neg(x) => takes_factor(x),
        _ => false,
    }
}

fn int_constant(builder: &mut Builder<'_>, ty: Type, n: i128) -> Value {
    match ty.lanes() {
        Some(lanes) => {
            let bits = ty.scalar().int_bits().unwrap_or(128);
            let lane = Constant::Int((n as u128) & (u128::MAX >> (128 - bits.min(128))));
            builder
                .func
                .constant(ty, Constant::Aggregate(vec![lane; lanes as usize]))
        }
        None => builder.func.iconst(ty, n),
    }
}
