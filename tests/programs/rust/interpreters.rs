// An expression in a tree of an enum: parsed, simplified, and evaluated with variables.
include!("check.rs");

enum Expression {
    Number(f64),
    Negated(Box<Expression>),
    Binary(char, Box<Expression>, Box<Expression>),
    Call(fn(f64) -> f64, Box<Expression>),
}

use Expression::*;

fn binary(operator: char, a: Expression, b: Expression) -> Expression {
    Binary(operator, Box::new(a), Box::new(b))
}

impl Expression {
    fn value(&self) -> f64 {
        match self {
            Number(a) => *a,
            Negated(a) => -a.value(),
            Binary(operator, a, b) => {
                let (a, b) = (a.value(), b.value());
                match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' => a / b,
                    _ => a.powf(b),
                }
            }
            Call(f, a) => f(a.value()),
        }
    }

    fn depth(&self) -> usize {
        1 + match self {
            Number(_) => 0,
            Negated(a) | Call(_, a) => a.depth(),
            Binary(_, a, b) => a.depth().max(b.depth()),
        }
    }
}

fn evaluated(x: &[f64]) -> f64 {
    let sum = binary('+', Number(x[0]), binary('*', Number(2.0), Number(x[1])));
    let call = Call(f64::sin, Box::new(binary('^', Number(x[3]), Number(3.0))));
    let quotient = binary('/', sum, Call(f64::exp, Box::new(Number(x[4]))));
    let all = binary(
        '-',
        binary('*', quotient, call),
        Negated(Box::new(Number(x[2]))),
    );
    all.value() * all.depth() as f64
}

/// Instructions of a machine with a few registers.
#[derive(Clone, Copy)]
enum Instruction {
    Load(usize, usize),
    Multiply(usize, usize),
    Add(usize, usize),
    JumpIfLess(usize, f64, usize),
    Halt,
}

fn machine(x: &[f64]) -> f64 {
    use Instruction::*;
    let program = [
        Load(0, 0),
        Load(1, 1),
        Load(2, 3),
        Multiply(0, 1),
        Add(0, 2),
        JumpIfLess(0, 20.0, 3),
        Halt,
    ];
    let (mut registers, mut at) = ([0.0; 3], 0);
    loop {
        at += 1;
        match program[at - 1] {
            Load(to, from) => registers[to] = x[from],
            Multiply(to, by) => registers[to] *= registers[by],
            Add(to, from) => registers[to] += registers[from],
            JumpIfLess(register, than, to) if registers[register] < than => at = to,
            JumpIfLess(..) => {}
            Halt => return registers[0],
        }
    }
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("interpreters: evaluated", evaluated, x);
    check!("interpreters: machine", machine, x);
}
