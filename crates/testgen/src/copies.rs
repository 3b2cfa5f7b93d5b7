//! C programs that copy memory in every way that C allows, and check their own derivatives.
//!
//! A program has one structure type with numbers, pointers, arrays and unions in it, and a function
//! that moves such structures about: by assignment, `memcpy`, loops over bytes and words, through
//! buffers, unions, `void *` and by value. Between copies it computes with a few of the fields,
//! and many are never looked at, so that only the copies know of them. The program compares
//! reverse mode with forward mode, and both with finite differences. It prints `ok`, or what
//! disagrees.

use fastrand::Rng;
use std::fmt::Write as _;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let record = Record::new(&mut rng);
    let mut body = Body {
        rng,
        record: &record,
        out: String::new(),
        temporaries: 0,
    };
    body.write();
    let mut text = String::from(PROLOGUE);
    let _ = writeln!(text, "\ntypedef struct S {{\n{}}} S;", record.declaration);
    text += HELPERS;
    text += &record.accessors();
    let _ = writeln!(
        text,
        "\nstatic double f(S *in, S *out, long n) {{\n{}}}",
        body.out
    );
    text + REFEREE
}

/// A field that is a number, as it is written after the structure's name.
#[derive(Clone)]
struct Leaf {
    path: String,
    /// Whether it is a `float`, not a `double`.
    single: bool,
}

/// The structure type of a program.
struct Record {
    declaration: String,
    leaves: Vec<Leaf>,
    integers: Vec<String>,
    pointers: Vec<String>,
}

impl Record {
    fn new(rng: &mut Rng) -> Record {
        let mut record = Record {
            declaration: String::new(),
            leaves: Vec::new(),
            integers: Vec::new(),
            pointers: Vec::new(),
        };
        for number in 0..rng.usize(3..7) {
            record.field(rng, number);
        }
        // At least one number, or there is nothing to differentiate.
        record.declaration += "  double last;\n";
        record.leaf("last", false);
        record
    }

    fn leaf(&mut self, path: &str, single: bool) {
        let path = path.to_string();
        self.leaves.push(Leaf { path, single });
    }

    fn field(&mut self, rng: &mut Rng, number: usize) {
        let name = format!("m{number}");
        let text = match rng.u32(0..14) {
            0 | 1 => {
                self.leaf(&name, false);
                format!("double {name};")
            }
            2 | 3 => {
                self.leaf(&name, true);
                format!("float {name};")
            }
            4 | 5 => {
                self.integers.push(name.clone());
                let kinds = ["int", "long", "short", "char", "unsigned", "unsigned long"];
                format!("{} {name};", kinds[rng.usize(0..kinds.len())])
            }
            6 => {
                self.pointers.push(name.clone());
                format!("double *{name};")
            }
            7 => {
                let length = rng.usize(2..5);
                (0..length).for_each(|i| self.leaf(&format!("{name}[{i}]"), false));
                format!("double {name}[{length}];")
            }
            8 => {
                let length = rng.usize(2..6);
                (0..length).for_each(|i| self.leaf(&format!("{name}[{i}]"), true));
                format!("float {name}[{length}];")
            }
            9 => {
                let length = rng.usize(2..4);
                (0..length).for_each(|i| self.integers.push(format!("{name}[{i}]")));
                format!("int {name}[{length}];")
            }
            10 => {
                self.integers.push(format!("{name}.t"));
                self.leaf(&format!("{name}.v"), false);
                self.leaf(&format!("{name}.w"), true);
                format!("struct {{ int t; double v; float w; }} {name};")
            }
            11 => {
                // A union that is used as one type.
                self.leaf(&format!("{name}.d"), false);
                let other = ["double e", "long l", "unsigned char bytes[8]", "float h[2]"];
                format!(
                    "union {{ double d; {}; }} {name};",
                    other[rng.usize(0..other.len())]
                )
            }
            12 => {
                for i in 0..2 {
                    self.integers.push(format!("{name}[{i}].k"));
                    self.leaf(&format!("{name}[{i}].x"), rng.bool());
                }
                let single = self.leaves.last().is_some_and(|leaf| leaf.single);
                let count = self.leaves.len();
                self.leaves[count - 2].single = single;
                let ty = if single { "float" } else { "double" };
                format!("struct {{ short k; {ty} x; }} {name}[2];")
            }
            _ => {
                self.integers.push(name.to_string());
                format!("unsigned {name} : 5; unsigned {name}rest : 9;")
            }
        };
        let _ = writeln!(self.declaration, "  {text}");
    }

    /// Functions of the program that read and write the numbers of a structure by position, and
    /// fill the rest.
    fn accessors(&self) -> String {
        let mut text = format!("enum {{ LEAVES = {} }};\n", self.leaves.len());
        text += "static double get(const S *s, int i) {\n  switch (i) {\n";
        for (i, leaf) in self.leaves.iter().enumerate() {
            let _ = writeln!(text, "  case {i}: return s->{};", leaf.path);
        }
        text += "  }\n  return 0;\n}\nstatic void set(S *s, int i, double v) {\n  switch (i) {\n";
        for (i, leaf) in self.leaves.iter().enumerate() {
            let _ = writeln!(text, "  case {i}: s->{} = v; break;", leaf.path);
        }
        text += "  }\n}\nstatic int is_single(int i) {\n  switch (i) {\n";
        for (i, leaf) in self.leaves.iter().enumerate() {
            let _ = writeln!(text, "  case {i}: return {};", u8::from(leaf.single));
        }
        text += "  }\n  return 0;\n}\nstatic void fill_rest(S *s, int number, double *data) {\n";
        for integer in &self.integers {
            let _ = writeln!(text, "  s->{integer} = number;");
        }
        for pointer in &self.pointers {
            let _ = writeln!(text, "  s->{pointer} = data;");
        }
        text + "  (void)number; (void)data;\n}\n"
    }
}

/// The function that is differentiated.
struct Body<'a> {
    rng: Rng,
    record: &'a Record,
    out: String,
    temporaries: usize,
}

const PLACES: &[&str] = &[
    "in[0]", "in[1]", "in[2]", "a", "b", "arr[0]", "arr[1]", "arr[2]", "h[0]", "h[1]", "out[0]",
    "out[1]",
];

impl Body<'_> {
    fn write(&mut self) {
        self.line("S a, b, arr[3], *h = malloc(2 * sizeof(S));");
        for place in &PLACES[3..] {
            let from = format!("in[{}]", self.rng.usize(0..3));
            self.copy(place, &from);
        }
        for _ in 0..self.rng.usize(4..12) {
            self.step();
        }
        self.line("double sum = 0;");
        for _ in 0..self.rng.usize(2..6) {
            let weight = self.rng.usize(1..9);
            let leaf = self.any_leaf();
            let line = match self.pointer() {
                Some(pointer) if self.rng.u32(0..4) == 0 => {
                    format!("sum += 0.{weight} * *{pointer};")
                }
                _ => format!("sum += 0.{weight} * {leaf};"),
            };
            self.line(&line);
        }
        self.line("free(h);");
        self.line("return sum;");
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn place(&mut self) -> &'static str {
        PLACES[self.rng.usize(0..PLACES.len())]
    }

    fn leaf(&mut self) -> Leaf {
        let leaves = &self.record.leaves;
        let leaf = leaves[self.rng.usize(0..leaves.len())].clone();
        let place = self.place();
        Leaf {
            path: format!("{place}.{}", leaf.path),
            ..leaf
        }
    }

    fn any_leaf(&mut self) -> String {
        self.leaf().path
    }

    fn pointer(&mut self) -> Option<String> {
        let pointers = &self.record.pointers;
        if pointers.is_empty() {
            return None;
        }
        let pointer = pointers[self.rng.usize(0..pointers.len())].clone();
        Some(format!("{}.{pointer}", self.place()))
    }

    fn step(&mut self) {
        match self.rng.u32(0..12) {
            0..4 => {
                let (to, from) = (self.place(), self.place());
                if to != from {
                    self.copy(to, from);
                }
            }
            4 => {
                let (p, q) = (self.place(), self.place());
                if p != q {
                    let helpers = ["swap_bytes", "swap_words", "swap_halves", "swap_running"];
                    let helper = match self.rng.usize(0..8) {
                        number @ 0..4 => helpers[number],
                        _ => "swap_buffer",
                    };
                    self.line(&format!("{helper}(&{p}, &{q}, sizeof(S));"));
                }
            }
            5..8 => self.compute(),
            8 => {
                if let (Some(to), Some(from)) = (self.pointer(), self.pointer()) {
                    let leaf = self.any_leaf();
                    self.line(&format!("*{to} = 0.7 * *{from} + 0.1 * {leaf};"));
                }
            }
            9 => {
                let integers = &self.record.integers;
                if !integers.is_empty() {
                    let integer = integers[self.rng.usize(0..integers.len())].clone();
                    let place = self.place();
                    let number = self.rng.u32(1..4);
                    self.line(&format!("if ({place}.{integer} == {number}) {{"));
                    self.compute();
                    self.line("}");
                }
            }
            10 => self.block(),
            _ => self.number_as_integer(),
        }
    }

    fn compute(&mut self) {
        let to = self.any_leaf();
        let (x, y) = (self.any_leaf(), self.any_leaf());
        let value = match self.rng.u32(0..3) {
            0 => format!("0.5 * {x} + 0.3 * {y}"),
            1 => format!("0.4 * {x} * {y}"),
            _ => format!("sin({x}) + 0.2 * {y}"),
        };
        self.line(&format!("{to} = {value};"));
    }

    /// Several structures at once, a length that is known or not.
    fn block(&mut self) {
        let (to, from) =
            [("arr", "in"), ("in", "arr"), ("h", "in"), ("out", "arr")][self.rng.usize(0..4)];
        let length = ["2 * sizeof(S)", "n * sizeof(S)"][self.rng.usize(0..2)];
        let how = ["memcpy", "memmove", "copy_bytes"][self.rng.usize(0..3)];
        self.line(&format!("{how}({to}, {from}, {length});"));
    }

    /// A number travels as an integer or as bytes.
    fn number_as_integer(&mut self) {
        let from = self.leaf();
        let to = loop {
            let to = self.leaf();
            if to.single == from.single {
                break to;
            }
        };
        let (bytes, word) = if from.single {
            (4, "unsigned")
        } else {
            (8, "unsigned long")
        };
        let holder = match self.rng.bool() {
            true => format!("{word} t"),
            false => format!("unsigned char t[{bytes}]"),
        };
        self.line(&format!(
            "{{ {holder}; memcpy(&t, &{}, {bytes}); memcpy(&{}, &t, {bytes}); }}",
            from.path, to.path
        ));
    }

    fn copy(&mut self, to: &str, from: &str) {
        self.temporaries += 1;
        let t = self.temporaries;
        let line = match self.rng.u32(0..18) {
            0 => format!("{to} = {from};"),
            1 => format!("memcpy(&{to}, &{from}, sizeof(S));"),
            2 => format!("memmove(&{to}, &{from}, sizeof {to});"),
            3 => format!("copy_void(&{to}, &{from}, sizeof(S));"),
            4 => format!("copy_bytes(&{to}, &{from}, sizeof(S));"),
            5 => format!(
                "unsigned long w{t}[(sizeof(S) + 7) / 8]; memcpy(w{t}, &{from}, sizeof(S)); \
                 memcpy(&{to}, w{t}, sizeof(S));"
            ),
            6 => format!("copy_words(&{to}, &{from}, sizeof(S));"),
            7 => format!("{to} = same({from});"),
            8 => format!(
                "union {{ S s; unsigned char b[sizeof(S)]; }} u{t}, v{t}; u{t}.s = {from}; \
                 for (unsigned long i = 0; i < sizeof(S); i++) v{t}.b[i] = u{t}.b[i]; \
                 {to} = v{t}.s;"
            ),
            9 => format!(
                "void *p{t} = malloc(sizeof(S)); memcpy(p{t}, &{from}, sizeof(S)); \
                 {to} = *(S *)p{t}; free(p{t});"
            ),
            10 => format!(
                "memcpy(&{to}, &{from}, offsetof(S, last)); \
                 memcpy((char *)&{to} + offsetof(S, last), (char *)&{from} + offsetof(S, last), \
                 sizeof(S) - offsetof(S, last));"
            ),
            11 => format!("copy_halves(&{to}, &{from}, sizeof(S));"),
            12 => format!(
                "char c{t}[sizeof(S)]; memcpy(c{t}, &{from}, sizeof(S)); \
                 copy_void(&{to}, c{t}, sizeof(S));"
            ),
            13 => format!("copy_forward(&{to}, &{from}, sizeof(S));"),
            14 => format!(
                "struct {{ long count; S s[1]; }} *b{t} = malloc(sizeof *b{t}); b{t}->count = 1; \
                 b{t}->s[0] = {from}; {to} = b{t}->s[n - 2]; free(b{t});"
            ),
            15 => format!("copy_length(&{to}, &{from}, (n - 1) * sizeof(S));"),
            16 => format!("S *q{t} = pick(&{from}, &{to}, n); {to} = *q{t};"),
            _ => format!("given(&{to}, {from});"),
        };
        self.line(&line);
    }
}

const PROLOGUE: &str = r#"#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int enzyme_dup, enzyme_const;
extern double __enzyme_autodiff(void *, ...);
extern double __enzyme_fwddiff(void *, ...);
typedef unsigned long __attribute__((may_alias)) word;
typedef unsigned __attribute__((may_alias)) half;
"#;

const HELPERS: &str = r#"
__attribute__((noinline)) static void copy_void(void *to, const void *from, size_t n) {
  memcpy(to, from, n);
}
static void copy_bytes(void *restrict to, const void *restrict from, size_t n) {
  unsigned char *restrict t = to;
  const unsigned char *restrict f = from;
  for (size_t i = 0; i < n; i++) t[i] = f[i];
}
static void copy_words(void *restrict to, const void *restrict from, size_t n) {
  word *restrict t = to;
  const word *restrict f = from;
  size_t i = 0;
  for (; i < n / 8; i++) t[i] = f[i];
  copy_bytes(t + i, f + i, n % 8);
}
static void copy_halves(void *restrict to, const void *restrict from, size_t n) {
  half *restrict t = to;
  const half *restrict f = from;
  for (size_t i = 0; i < n / 4; i++) t[i] = f[i];
  copy_bytes(t + n / 4, f + n / 4, n % 4);
}
__attribute__((noinline)) static void swap_bytes(void *a, void *b, size_t n) {
  char *p = a, *q = b;
  for (size_t i = 0; i < n; i++) {
    char t = p[i];
    p[i] = q[i];
    q[i] = t;
  }
}
static void swap_words(void *a, void *b, size_t n) {
  word *p = a, *q = b;
  size_t i = 0;
  for (; i < n / 8; i++) {
    word t = p[i];
    p[i] = q[i];
    q[i] = t;
  }
  swap_bytes(p + i, q + i, n % 8);
}
static void swap_halves(void *a, void *b, size_t n) {
  half *p = a, *q = b;
  for (size_t i = 0; i < n / 4; i++) {
    half t = p[i];
    p[i] = q[i];
    q[i] = t;
  }
  swap_bytes(p + n / 4, q + n / 4, n % 4);
}
static void swap_running(void *a, void *b, size_t n) {
  char *p = a, *q = b;
  do {
    char t = *p;
    *p++ = *q;
    *q++ = t;
  } while (--n > 0);
}
static void copy_forward(void *to, const void *from, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  while (n-- > 0) *t++ = *f++;
}
__attribute__((noinline)) static void copy_length(void *to, const void *from, size_t n) {
  memmove(to, from, n);
}
__attribute__((noinline)) static S *pick(S *a, S *b, long n) { return n > 1 ? a : b; }
static void swap_buffer(void *a, void *b, size_t n) {
  char t[1024];
  memcpy(t, a, n);
  memcpy(a, b, n);
  memcpy(b, t, n);
}
__attribute__((noinline)) static S same(S s) { return s; }
__attribute__((noinline)) static void given(S *to, S s) { *to = s; }
"#;

const REFEREE: &str = r#"
typedef struct Inputs { S in[3], out[2]; double data[2]; } Inputs;
static void start(Inputs *x, const double *numbers, int shadow) {
  memset(x, 0, sizeof *x);
  for (int k = 0; k < 5; k++) {
    S *s = k < 3 ? &x->in[k] : &x->out[k - 3];
    fill_rest(s, shadow ? 7 : 1 + k % 3, &x->data[k % 2]);
    for (int i = 0; i < LEAVES; i++) set(s, i, numbers ? numbers[k * LEAVES + i] : 0);
  }
  for (int i = 0; i < 2; i++) x->data[i] = numbers ? numbers[5 * LEAVES + i] : 0;
}
static double read_back(Inputs *x, int i) {
  if (i >= 5 * LEAVES) return x->data[i - 5 * LEAVES];
  int k = i / LEAVES;
  return get(k < 3 ? &x->in[k] : &x->out[k - 3], i % LEAVES);
}
enum { COUNT = 5 * LEAVES + 2 };
static double numbers[COUNT], way[COUNT], moved[COUNT];
static double value(const double *at) {
  static Inputs x;
  start(&x, at, 0);
  return f(x.in, x.out, 2);
}
int main(void) {
  unsigned long state = 12345;
  for (int i = 0; i < COUNT; i++) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    numbers[i] = 0.5 + (state >> 40) * 0x1p-24;
    way[i] = 0.25 + (state >> 30 & 1023) * 0x1p-10;
  }
  static Inputs x, dx;
  start(&x, numbers, 0);
  start(&dx, 0, 1);
  __enzyme_autodiff((void *)f, enzyme_dup, x.in, dx.in, enzyme_dup, x.out, dx.out, enzyme_const, 2l);
  double along = 0;
  for (int i = 0; i < COUNT; i++) along += read_back(&dx, i) * way[i];
  static Inputs y, dy;
  start(&y, numbers, 0);
  start(&dy, way, 1);
  double forward = __enzyme_fwddiff((void *)f, enzyme_dup, y.in, dy.in, enzyme_dup, y.out, dy.out, enzyme_const, 2l);
  int bad = 0;
  double scale = fmax(1, fabs(forward));
  if (!(fabs(along - forward) <= 1e-4 * scale)) bad++, printf("reverse %.9g, forward %.9g\n", along, forward);
  for (int i = 0; i < COUNT; i++) {
    double h = i < 5 * LEAVES && is_single(i % LEAVES) ? 0x1p-6 : 0x1p-8;
    memcpy(moved, numbers, sizeof moved);
    moved[i] += h;
    double difference = value(moved);
    moved[i] -= 2 * h;
    difference = (difference - value(moved)) / (2 * h);
    double got = read_back(&dx, i);
    if (!(fabs(got - difference) <= 2e-3 * fmax(1, fabs(difference))))
      bad++, printf("reverse [%d] %.9g, difference %.9g\n", i, got, difference);
  }
  if (!bad) printf("ok\n");
  return bad != 0;
}
"#;
