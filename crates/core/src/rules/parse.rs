//! Reads a line of the table.
//!
//! ```text
//! condition  = comparison { ("&" | "|") comparison }
//! comparison = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/" | "%") factor }
//! factor     = "-" factor | number | name | name "(" condition { "," condition } ")"
//!            | "(" condition ")"
//! ```
//!
//! A name is an operand (as the equation calls it), `r` for the result, a named constant, or,
//! before a parenthesis, `select` or a function of the IR. `-` binds tighter than `*`.

use super::table::{Kind, Line};
use super::{Arith, Compare, Expr, Factor, Formula, Key, NamedConstant, Partial, Primal, Rule};
use crate::ir::{BinaryOp, MathFn, MathParam};

/// The operation that a line of the table is about, and its rule.
pub(super) fn rule(line: &Line) -> Result<(Key, Rule), String> {
    let (key, operands) = equation(line.equation)?;
    if line.kind == Kind::Zero {
        return Ok((key, Rule::Zero));
    }
    if line.partials.len() != operands.len() {
        return Err(format!("{} operands", operands.len()));
    }
    let mut partials = Vec::new();
    for text in line.partials {
        partials.push(match *text {
            "0" => Partial::Zero,
            "1" => Partial::One,
            "-1" => Partial::MinusOne,
            text => Partial::Factor(Factor {
                expr: parse(text, &operands)?,
                finite: line.kind == Kind::Finite,
            }),
        });
    }
    let equation = line.equation;
    Ok((key, Rule::Partials(Formula { equation, partials })))
}

/// The name of an operand and what it is.
pub(super) type Operand<'a> = (&'a str, MathParam);

/// The operation of an equation and the names of its operands.
pub(super) fn equation(text: &str) -> Result<(Key, Vec<Operand<'_>>), String> {
    let words: Vec<&str> = Lexer { rest: text }.collect::<Result<_, _>>()?;
    let name_of = |word: &&'_ str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    fn float<'a>(name: &&'a str) -> Operand<'a> {
        (*name, MathParam::Float)
    }
    match words.as_slice() {
        ["-", x] => Ok((Key::Neg, vec![float(x)])),
        [x, op, y] => {
            let op = match *op {
                "+" => BinaryOp::FAdd,
                "-" => BinaryOp::FSub,
                "*" => BinaryOp::FMul,
                "/" => BinaryOp::FDiv,
                "%" => BinaryOp::FRem,
                op => return Err(format!("the operation {op}")),
            };
            Ok((Key::Binary(op), vec![float(x), float(y)]))
        }
        [function, "(", args @ .., ")"] => {
            let function =
                MathFn::from_name(function).ok_or_else(|| format!("the function {function}"))?;
            let names = args.iter().filter(|word| name_of(word)).copied();
            let operands: Vec<_> = names.zip(function.params().iter().copied()).collect();
            if operands.len() != function.params().len() || operands.len() * 2 != args.len() + 1 {
                return Err(format!("the operands of {}", function.name()));
            }
            Ok((Key::Math(function), operands))
        }
        _ => Err("the equation is not one operation".to_string()),
    }
}

/// The expression that a text stands for.
pub(super) fn parse(text: &str, operands: &[Operand<'_>]) -> Result<Expr, String> {
    let words = Lexer { rest: text }.collect::<Result<Vec<_>, _>>()?;
    let mut parser = Parser {
        words: &words,
        operands,
    };
    let expr = parser.condition()?;
    match parser.words {
        [] => Ok(expr),
        [word, ..] => Err(format!("unexpected {word} in {text}")),
    }
}

struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Result<&'a str, String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let len = match first {
            c if is_word(c) => self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len()),
            '=' | '!' | '<' | '>' if self.rest[1..].starts_with('=') => 2,
            '+' | '-' | '*' | '/' | '%' | '(' | ')' | ',' | '<' | '>' | '&' | '|' => 1,
            c => return Some(Err(format!("unexpected {c}"))),
        };
        let (word, rest) = self.rest.split_at(len);
        self.rest = rest;
        Some(Ok(word))
    }
}

struct Parser<'a> {
    words: &'a [&'a str],
    operands: &'a [Operand<'a>],
}

impl Parser<'_> {
    /// The next word if it is one of `words`.
    fn accept(&mut self, words: &[&str]) -> Option<String> {
        let first = self.words.first().filter(|word| words.contains(word))?;
        self.words = &self.words[1..];
        Some(first.to_string())
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        match self.accept(&[word]) {
            Some(_) => Ok(()),
            None => Err(format!("{word} is missing before {:?}", self.words.first())),
        }
    }

    fn condition(&mut self) -> Result<Expr, String> {
        let mut left = self.comparison()?;
        while let Some(op) = self.accept(&["&", "|"]) {
            let right = Box::new(self.comparison()?);
            left = match op.as_str() {
                "&" => Expr::And(Box::new(left), right),
                _ => Expr::Or(Box::new(left), right),
            };
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expr, String> {
        let left = self.sum()?;
        let Some(op) = self.accept(&["==", "!=", "<", "<=", ">", ">="]) else {
            return Ok(left);
        };
        let compare = match op.as_str() {
            "==" => Compare::Eq,
            "!=" => Compare::Ne,
            "<" => Compare::Lt,
            "<=" => Compare::Le,
            ">" => Compare::Gt,
            _ => Compare::Ge,
        };
        let right = self.sum()?;
        Ok(Expr::Compare(compare, Box::new(left), Box::new(right)))
    }

    fn sum(&mut self) -> Result<Expr, String> {
        let mut left = self.product()?;
        while let Some(op) = self.accept(&["+", "-"]) {
            let arith = if op == "+" { Arith::Add } else { Arith::Sub };
            left = Expr::Arith(arith, Box::new(left), Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expr, String> {
        let mut left = self.factor()?;
        while let Some(op) = self.accept(&["*", "/", "%"]) {
            let arith = match op.as_str() {
                "*" => Arith::Mul,
                "/" => Arith::Div,
                _ => Arith::Rem,
            };
            left = Expr::Arith(arith, Box::new(left), Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr, String> {
        if self.accept(&["-"]).is_some() {
            return Ok(match self.factor()? {
                Expr::Number(x) => Expr::Number(-x),
                expr => Expr::Neg(Box::new(expr)),
            });
        }
        if self.accept(&["("]).is_some() {
            let inner = self.condition()?;
            self.expect(")")?;
            return Ok(inner);
        }
        let Some((&word, rest)) = self.words.split_first() else {
            return Err("the expression ends too early".to_string());
        };
        self.words = rest;
        if let Ok(number) = word.parse::<f64>() {
            return Ok(Expr::Number(number));
        }
        if self.accept(&["("]).is_some() {
            let mut args = vec![self.condition()?];
            while self.accept(&[","]).is_some() {
                args.push(self.condition()?);
            }
            self.expect(")")?;
            return call(word, args);
        }
        self.name(word)
    }

    fn name(&self, word: &str) -> Result<Expr, String> {
        let position = self.operands.iter().position(|(name, _)| *name == word);
        match position.map(|index| (index, self.operands[index].1)) {
            Some((index, MathParam::Float)) => Ok(Expr::Float(Primal::Operand(index))),
            Some((index, MathParam::Int)) => Ok(Expr::Int(index)),
            None if word == "r" => Ok(Expr::Float(Primal::Result)),
            None => {
                let mut named = NamedConstant::ALL.into_iter();
                let found = named.find(|constant| constant.name() == word);
                found
                    .map(Expr::Named)
                    .ok_or_else(|| format!("the name {word}"))
            }
        }
    }
}

fn call(name: &str, args: Vec<Expr>) -> Result<Expr, String> {
    if name == "select" {
        let count = args.len();
        let Ok([c, x, y]) = <[Expr; 3]>::try_from(args) else {
            return Err(format!("select of {count}"));
        };
        return Ok(Expr::Select(Box::new(c), Box::new(x), Box::new(y)));
    }
    let function = MathFn::from_name(name).ok_or_else(|| format!("the function {name}"))?;
    if function.params().len() != args.len() {
        return Err(format!("{name} of {}", args.len()));
    }
    Ok(Expr::Call(function, args))
}
