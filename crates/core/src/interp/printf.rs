//! What `printf` prints.

use super::externals::read_string;
use super::memory::Memory;
use super::trap::{Trap, TrapKind};
use super::value::Val;

/// The text of a format with its arguments.
pub(super) fn format(memory: &mut Memory, format: &[u8], args: &[Val]) -> Result<String, Trap> {
    let mut out = String::new();
    let mut args = args.iter();
    let text = String::from_utf8_lossy(format).into_owned();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = chars.next_if(|c| "-+ #0".contains(*c)) {
            spec.flags.push(flag);
        }
        let mut number = |args: &mut std::slice::Iter<'_, Val>| -> Option<usize> {
            if chars.next_if_eq(&'*').is_some() {
                let given = args.next()?.as_int()?;
                return usize::try_from(given).ok();
            }
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits.parse().ok()
        };
        spec.width = number(&mut args).unwrap_or(0).min(1000);
        if chars.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            spec.precision = Some(digits.parse().unwrap_or(0).min(1000));
        }
        while chars.next_if(|c| "hlzjtL".contains(*c)).is_some() {}
        let Some(conversion) = chars.next() else {
            return Err(bad("a format that ends in the middle"));
        };
        if conversion == '%' {
            out.push('%');
            continue;
        }
        let Some(arg) = args.next() else {
            return Err(bad("a format with more conversions than arguments"));
        };
        let body = convert(memory, conversion, &spec, arg)?;
        out.push_str(&spec.pad(&body));
    }
    Ok(out)
}

#[derive(Default)]
struct Spec {
    flags: String,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn pad(&self, body: &str) -> String {
        let missing = self.width.saturating_sub(body.chars().count());
        if self.flags.contains('-') {
            return body.to_string() + &" ".repeat(missing);
        }
        if !self.flags.contains('0') {
            return " ".repeat(missing) + body;
        }
        let digits = body.trim_start_matches(['-', '+', ' ']);
        let sign = &body[..body.len() - digits.len()];
        format!("{sign}{}{digits}", "0".repeat(missing))
    }

    fn signed(&self, negative: bool, digits: String) -> String {
        let sign = match negative {
            true => "-",
            false if self.flags.contains('+') => "+",
            false if self.flags.contains(' ') => " ",
            false => "",
        };
        format!("{sign}{digits}")
    }
}

fn convert(memory: &mut Memory, conversion: char, spec: &Spec, arg: &Val) -> Result<String, Trap> {
    Ok(match (conversion, arg) {
        ('d' | 'i', Val::Int(n)) if !n.has_poison() => {
            spec.signed(n.signed() < 0, n.signed().unsigned_abs().to_string())
        }
        ('u', Val::Int(n)) if !n.has_poison() => n.unsigned().to_string(),
        ('x', Val::Int(n)) if !n.has_poison() => format!("{:x}", n.unsigned()),
        ('X', Val::Int(n)) if !n.has_poison() => format!("{:X}", n.unsigned()),
        ('c', Val::Int(n)) if !n.has_poison() => char::from(n.unsigned() as u8).to_string(),
        ('p', Val::Ptr(p)) => format!("{:#x}", p.address),
        ('s', Val::Ptr(p)) => {
            let text = read_string(memory, *p)?;
            let text = String::from_utf8_lossy(&text).into_owned();
            match spec.precision {
                Some(most) => text.chars().take(most).collect(),
                None => text,
            }
        }
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G', Val::Float(x)) => {
            let x = x.number();
            let digits = float(conversion.to_ascii_lowercase(), spec.precision, x.abs());
            spec.signed(x.is_sign_negative() && !x.is_nan(), digits)
        }
        (_, Val::Poison | Val::Int(_)) if "diuxXcfeEgGps".contains(conversion) => {
            return Err(Trap::poison("printing poison or the wrong type"));
        }
        _ => return Err(bad(&format!("the conversion %{conversion}"))),
    })
}

fn float(conversion: char, precision: Option<usize>, x: f64) -> String {
    if !x.is_finite() {
        return if x.is_nan() { "nan" } else { "inf" }.to_string();
    }
    let digits = precision.unwrap_or(6);
    match conversion {
        'f' => format!("{x:.digits$}"),
        'e' => scientific(x, digits),
        _ => {
            let significant = digits.max(1);
            let rounded = format!("{x:.*e}", significant - 1);
            let exponent = rounded.split('e').nth(1).and_then(|e| e.parse().ok());
            let exponent: i32 = exponent.unwrap_or(0);
            if exponent < -4 || exponent >= significant as i32 {
                let text = scientific(x, significant - 1);
                match text.split_once('e') {
                    Some((digits, power)) => format!("{}e{power}", strip_zeros(digits)),
                    None => text,
                }
            } else {
                let decimals = (significant as i32 - 1 - exponent).max(0) as usize;
                strip_zeros(&format!("{x:.decimals$}")).to_string()
            }
        }
    }
}

fn strip_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// Rust writes `1.5e-7` where C writes `1.5e-07`.
fn scientific(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$e}");
    match text.split_once('e') {
        Some((mantissa, power)) => {
            let (sign, power) = match power.strip_prefix('-') {
                Some(power) => ('-', power),
                None => ('+', power),
            };
            format!("{mantissa}e{sign}{power:0>2}")
        }
        None => text,
    }
}

fn bad(what: &str) -> Trap {
    Trap::new(TrapKind::Unsupported, format!("printf with {what}"))
}
