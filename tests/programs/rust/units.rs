// Numbers in types of their own: newtypes with operators and sums, quantities with units in the
// type, conversions.
include!("check.rs");

use std::iter::Sum;
use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Neg, Sub, SubAssign};

#[derive(Debug)]
struct Metre;
#[derive(Debug)]
struct Second;
#[derive(Debug)]
struct Per<A, B>(PhantomData<(A, B)>);

#[derive(Debug)]
struct Quantity<U> {
    value: f64,
    unit: PhantomData<U>,
}

impl<U> Clone for Quantity<U> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<U> Copy for Quantity<U> {}

const fn quantity<U>(value: f64) -> Quantity<U> {
    Quantity {
        value,
        unit: PhantomData,
    }
}

impl<U> Add for Quantity<U> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        quantity(self.value + other.value)
    }
}

impl<U> SubAssign for Quantity<U> {
    fn sub_assign(&mut self, other: Self) {
        self.value -= other.value;
    }
}

impl<U> Sum for Quantity<U> {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(quantity(0.0), |sum, q| sum + q)
    }
}

impl<A, B> Div<Quantity<B>> for Quantity<A> {
    type Output = Quantity<Per<A, B>>;
    fn div(self, other: Quantity<B>) -> Quantity<Per<A, B>> {
        quantity(self.value / other.value)
    }
}

impl<A, B> Mul<Quantity<B>> for Quantity<Per<A, B>> {
    type Output = Quantity<A>;
    fn mul(self, other: Quantity<B>) -> Quantity<A> {
        quantity(self.value * other.value)
    }
}

fn motion(x: &[f64]) -> f64 {
    let places: Vec<Quantity<Metre>> = x.iter().map(|a| quantity(*a)).collect();
    let step: Quantity<Second> = quantity(0.1 + x[0] * x[0]);
    let mut way: Quantity<Metre> = places.iter().copied().sum();
    for pair in places.windows(2) {
        let speed = (pair[0] + pair[1]) / step;
        way -= speed * quantity(0.3);
    }
    (way / step).value
}

#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
struct Money(f64);

impl From<f64> for Money {
    fn from(value: f64) -> Money {
        Money(value)
    }
}

impl From<Money> for f64 {
    fn from(money: Money) -> f64 {
        money.0
    }
}

impl From<(i32, f64)> for Money {
    fn from((count, price): (i32, f64)) -> Money {
        Money(f64::from(count) * price)
    }
}

impl Neg for Money {
    type Output = Money;
    fn neg(self) -> Money {
        Money(-self.0)
    }
}

impl Sub for Money {
    type Output = Money;
    fn sub(self, other: Money) -> Money {
        Money(self.0 - other.0)
    }
}

impl<'a> Sum<&'a Money> for Money {
    fn sum<I: Iterator<Item = &'a Money>>(all: I) -> Money {
        Money(all.map(|money| money.0).sum())
    }
}

fn money(x: &[f64]) -> f64 {
    let account: Vec<Money> = x.iter().map(|&a| a.into()).collect();
    let bill = Money::from((3, x[1]));
    let left: Money = account.iter().sum::<Money>() - bill;
    let worst = if left < Money::default() { -left } else { left };
    f64::from(worst) * f64::from(bill)
}

/// A number in logarithms: products are sums.
#[derive(Clone, Copy)]
struct Log(f64);

impl Mul for Log {
    type Output = Log;
    fn mul(self, other: Log) -> Log {
        Log(self.0 + other.0)
    }
}

impl Add for Log {
    type Output = Log;
    fn add(self, other: Log) -> Log {
        let (low, high) = (self.0.min(other.0), self.0.max(other.0));
        Log(high + (low - high).exp().ln_1p())
    }
}

impl std::iter::Product for Log {
    fn product<I: Iterator<Item = Log>>(all: I) -> Log {
        all.fold(Log(0.0), Mul::mul)
    }
}

fn logarithms(x: &[f64]) -> f64 {
    let product: Log = x.iter().map(|a| Log(a.abs().ln())).product();
    let sum = x.iter().map(|a| Log(*a)).reduce(Add::add).unwrap();
    (product + sum * Log(0.5)).0
}

fn main() {
    let x = [0.52, 1.57, -0.33, 0.81, 2.04];
    check!("units: motion", motion, x);
    check!("units: money", money, x);
    check!("units: logarithms", logarithms, x);
}
