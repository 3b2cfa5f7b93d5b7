//! What a program has around its functions: helpers, and the comparison with what the oracle says.

use super::functions;
use crate::referee::Arg;
use crate::referee::differences::Steps;
use crate::tree::{Program, Returns};
use std::fmt::Write as _;

/// What a run of a program must give at a point.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The arguments.
    pub args: Vec<Arg>,
    /// What all arrays and the global one hold afterwards.
    pub arrays: Vec<f64>,
    /// The derivative of the weighted sum of outputs by every input.
    pub gradient: Vec<f64>,
    /// The difference allowed.
    pub tolerance: f64,
}

/// The program, with what it must find at some points.
///
/// With `-DSECOND_ORDER` it also compares the forward mode of its reverse mode with finite
/// differences, taken in these steps.
pub fn program(program: &Program, points: &[Expected], steps: Steps) -> String {
    let mut text = format!("{PROLOGUE}{}\n", functions(program));
    let returns = match program.main.returns {
        Returns::Nothing => "#define RESULT(x) ((void)(x), 0.0)\n",
        _ => "#define RESULT(x) (x)\n",
    };
    text += returns;
    let Steps { step, relative } = steps;
    let _ = writeln!(text, "#define STEP {step:?}\n#define RELATIVE {relative:?}");
    text += HARNESS;
    text += "int main(void) {\n";
    for point in points {
        let list = |numbers: &[f64]| {
            let all: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
            format!("{{{}}}", all.join(", "))
        };
        let mut inputs = Vec::new();
        let mut n = 0;
        for arg in &point.args {
            match arg {
                Arg::Dup(numbers) | Arg::Const(numbers) => inputs.extend(numbers),
                Arg::Part(..) => {}
                Arg::Out(x) => inputs.push(*x),
                Arg::Int(value) => n = *value,
            }
        }
        let _ = writeln!(
            text,
            "  {{ static const double in[] = {}, arrays[] = {}, gradient[] = {};\n  \
               check(in, {n}, arrays, gradient, {:?}); }}",
            list(&inputs),
            list(&point.arrays),
            list(&point.gradient),
            point.tolerance,
        );
    }
    text + "  if (!failures) puts(\"ok\");\n  return failures != 0;\n}\n"
}

const PROLOGUE: &str = r#"#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double x; long n; double *p; float a, b; } Record;
typedef struct { double a; long n; double b; } Value;
typedef struct { double first, second; } Doubles;
typedef double Vector __attribute__((vector_size(16)));
typedef long Integers __attribute__((vector_size(16)));

double g[8] = {0.5, 1.5, -0.5, 0.25, 0.75, -1.0, 1.0, 0.125};

static double square(double x) { return x * x; }
static double aside(double x) { return x * x + 0.2371; }
static double tame(double x) { return x / (x * x + 1); }
static double safe_quotient(double x, double y) { return x / (y * y + 1.0); }
static double guarded_quotient(double x, double y) {
  double quotient = x / y;
  return floor(y) > 0.0371 ? quotient : 0.5;
}
static double difference(Doubles d) { return d.first - d.second; }
static unsigned long bits(double x) { unsigned long b; memcpy(&b, &x, 8); return b; }
static double float_of(unsigned long b) { double x; memcpy(&x, &b, 8); return x; }
static unsigned single_bits(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
static float single_of(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
static unsigned long set_half(unsigned long pair, int half, float x) {
  unsigned long wide = single_bits(x);
  return half ? (pair & 0xfffffffful) | wide << 32 : (pair & 0xffffffff00000000ul) | wide;
}
static float half_of(unsigned long pair, int half) { return single_of((unsigned)(half ? pair >> 32 : pair)); }
static Vector load_vector(const double *p) { Vector v; memcpy(&v, p, 16); return v; }
static void store_vector(double *p, Vector v) { memcpy(p, &v, 16); }
static double through_vector(double x, long i) {
  Vector v = {1.5, 2.5};
  v[i] = x;
  v = __builtin_shufflevector(v, v, 1, 2);
  return v[i ^ 1];
}
static double through_structure(double x) {
  struct { int i; double a, b; } one = {7, 1.5, x}, two = one;
  two.a = x, two.b = 0.5;
  return two.a;
}
static double through_array(double x) { double a[3] = {0, x, x}; return a[1]; }
static double through_wide(double x) {
  unsigned __int128 wide = bits(x);
  return float_of((unsigned long)((wide << 64 | wide) >> 64));
}
static double through_integers(double x) {
  Integers i = {0, 0};
  i[1] = (long)bits(x);
  return ((Vector)i)[1];
}
static void move_bits(double *to, const double *from) { unsigned long b; memcpy(&b, from, 8), memcpy(to, &b, 8); }
static void move_double(double *to, const double *from) { *to = *from; }
static void swap_doubles(double *to, const double *from) {
  Vector v = load_vector(from);
  store_vector(to, __builtin_shufflevector(v, v, 1, 0));
}
static void swap_integers(double *to, const double *from) {
  unsigned long b[2];
  memcpy(b, from, 16);
  unsigned long first = b[0];
  b[0] = b[1], b[1] = first;
  memcpy(to, b, 16);
}
static void move_array(double *to, const double *from) { double a = from[0], b = from[1]; to[0] = a, to[1] = b; }
static void move_wide(double *to, const double *from) { unsigned __int128 w; memcpy(&w, from, 16), memcpy(to, &w, 16); }
__attribute__((noinline)) static void rotate(double **table, long n) {
  double **first = &table[n & 3], **second = &table[((unsigned long)n + 1) & 3], *x = *first;
  *first = *second, *second = x;
}
__attribute__((noinline)) static void update(double *const *restrict table, long n, long m, double x) { double *to = table[m & 3]; *to = sin(x * *table[n & 3]); }
__attribute__((noinline)) static void choose(double **out, double *x, double *y, long n) { *out = n & 1 ? y : x; }
__attribute__((noinline)) static double walk(double *p, double *q, double u, double w, long n) {
  double s = u;
  for (long i = 0; i <= (n & 3); i++, p++) { s = tanh(s * w + *p * *p); *p = sin(s); }
  return s;
}
static double sweep(double *p, double *q, double u, double w, long n) {
  long count = (n & 3) + 1;
  for (long i = 0; i < count; i++)
    for (long j = 0; j < count - i; j++) p[j] = tanh(p[j] * w) + sin(p[count - i - 1] * u);
  return sin(q[0]);
}
static double eliminate(double *p, double *q, double u, double w, long n) {
  long count = (n & 3) + 1;
  for (long i = 0; i < count; i++)
    for (long j = i + 1; j < count; j++) p[j] = tanh(p[j] * w) + sin(p[i] * u);
  return sin(q[0]);
}
static double blend(double *p, double *q, double u, double w, long n) {
  double s = u;
  for (long i = 0; i <= (n & 3); i++) q[i] = s = s * 0.5 + sin(p[i]) * w;
  return s;
}
typedef struct { double a; float b, c; long n; } Mixed;
__attribute__((noinline)) static double exchange(double *p, double *q, double u, double w, long n) {
  Mixed old = {u * w, (float)u, (float)w, n}, new;
  memcpy(&new, &old, sizeof(Mixed));
  old.b = 0.5f;
  double result = tanh(new.a + (double)(new.b * new.c));
  p[new.n & 3] = result;
  return result * (double)old.b;
}
__attribute__((noinline)) static double mix(double *p, double *q, double u, double w, long n) {
  double x = p[0], y = p[1];
  q[0] = tanh(x * u + y * w + x * y);
  q[1] = sin(q[0] * q[1]);
  return q[1];
}
static double *renewed(double *old, const double *p) {
  double *new = malloc(64);
  memmove(new, old, 32), memmove(new + 4, p, 32), free(old);
  return new;
}
static Record scaled(Record r) { r.x *= 0.75; return r; }
"#;

const HARNESS: &str = r#"
extern int enzyme_dup, enzyme_const, enzyme_out;
extern Doubles __enzyme_autodiff(void *, ...);
extern double __enzyme_fwddiff(void *, ...);

static int failures;
static void compare(const char *what, int i, double found, double expected, double tolerance) {
  if (fabs(found - expected) <= tolerance || (isnan(found) && isnan(expected))) return;
  printf("%s %d: %.17g, expected %.17g\n", what, i, found, expected);
  failures++;
}

// Three arrays with numbers around each that nobody may touch.
typedef struct { double before[2], p[8], between[2], q[8], among[2], c[8], after[2]; } Memory;
static void reset(Memory *m, const double *in) {
  static const double first[8] = {0.5, 1.5, -0.5, 0.25, 0.75, -1.0, 1.0, 0.125};
  double *all = (double *)m;
  for (int i = 0; i < (int)(sizeof *m / sizeof *all); i++) all[i] = 1234.5;
  memcpy(g, first, sizeof g);
  if (in) memcpy(m->p, in, 64), memcpy(m->q, in + 8, 64), memcpy(m->c, in + 16, 64);
}
static void around(const char *what, const Memory *m) {
  for (int i = 0; i < 2; i++)
    compare(what, i, m->before[i] + m->between[i] + m->among[i] + m->after[i], 4 * 1234.5, 0);
}
static void unchanged(const char *what, const Memory *m, const double *arrays) {
  around(what, m);
  for (int i = 0; i < 8; i++) {
    compare(what, i, m->p[i], arrays[i], 1e-9 * (1 + fabs(arrays[i])));
    compare(what, 8 + i, m->q[i], arrays[8 + i], 1e-9 * (1 + fabs(arrays[8 + i])));
    compare(what, 16 + i, m->c[i], arrays[16 + i], 1e-9 * (1 + fabs(arrays[16 + i])));
    compare(what, 24 + i, g[i], arrays[24 + i], 1e-9 * (1 + fabs(arrays[24 + i])));
  }
}
static double weight(int i) { return 0.5 + 0.25 * (i * 7 % 5); }

#ifdef SECOND_ORDER
static double first_order(double *p, double *dp, double *q, double *dq, double *c, double u, double w, long n) {
  Doubles by = __enzyme_autodiff((void *)f, enzyme_dup, p, dp, enzyme_dup, q, dq, enzyme_const, c,
                                 enzyme_out, u, enzyme_out, w, enzyme_const, n);
  return by.first + by.second;
}
static double along(int i) { return 0.25 * (i * 5 % 7) - 0.7; }

// The gradient, and the sum of what belongs to the scalars, at some distance from a point.
static void gradient_at(const double *in, long n, double by, double *out) {
  Memory m, d;
  double near[26];
  for (int i = 0; i < 26; i++) near[i] = in[i] + (i < 16 || i > 23 ? by * along(i) : 0);
  reset(&d, 0), reset(&m, near);
  for (int i = 0; i < 8; i++) d.p[i] = weight(i), d.q[i] = weight(8 + i);
  out[16] = first_order(m.p, d.p, m.q, d.q, m.c, near[24], near[25], n);
  memcpy(out, d.p, 64), memcpy(out + 8, d.q, 64);
}

// The forward mode of the reverse mode is the slope of the gradient, where finite differences with two
// steps agree on one.
static void check_second(const double *in, long n) {
  Memory m, d, tm, td;
  reset(&d, 0), reset(&tm, 0), reset(&td, 0), reset(&m, in);
  for (int i = 0; i < 8; i++) {
    d.p[i] = weight(i), d.q[i] = weight(8 + i), td.p[i] = td.q[i] = 0;
    tm.p[i] = along(i), tm.q[i] = along(8 + i);
  }
  double found[17], slope[2][17], largest = 1;
  found[16] = __enzyme_fwddiff((void *)first_order, enzyme_dup, m.p, tm.p, enzyme_dup, d.p, td.p, enzyme_dup, m.q, tm.q,
                               enzyme_dup, d.q, td.q, enzyme_const, m.c, enzyme_dup, in[24], along(24),
                               enzyme_dup, in[25], along(25), enzyme_const, n);
  memcpy(found, td.p, 64), memcpy(found + 8, td.q, 64);
  around("second order", &m), around("second order", &d), around("second order", &tm), around("second order", &td);
  for (int k = 0; k < 2; k++) {
    double above[17], below[17], step = k ? STEP / 2 : STEP;
    gradient_at(in, n, step, above), gradient_at(in, n, -step, below);
    for (int i = 0; i < 17; i++) slope[k][i] = (above[i] - below[i]) / (2 * step);
  }
  for (int i = 0; i < 17; i++) largest = fmax(largest, fmax(fabs(found[i]), fabs(slope[1][i])));
  for (int i = 0; i < 17; i++)
    if (fabs(slope[0][i] - slope[1][i]) <= RELATIVE * largest)
      compare("second order", i, found[i], slope[1][i], 10 * RELATIVE * largest);
}
#endif

__attribute__((noinline)) static void check(const double *in, long n, const double *arrays,
                                            const double *gradient, double tolerance) {
  Memory m, d;
  reset(&m, in);
  f(m.p, m.q, m.c, in[24], in[25], n);
  Memory plain = m;
  unchanged("primal", &m, arrays);

  reset(&d, 0), reset(&m, in);
  for (int i = 0; i < 8; i++) d.p[i] = weight(i), d.q[i] = weight(8 + i);
  Doubles by = __enzyme_autodiff((void *)f, enzyme_dup, m.p, d.p, enzyme_dup, m.q, d.q, enzyme_const, m.c,
                                 enzyme_out, in[24], enzyme_out, in[25], enzyme_const, n);
  unchanged("primal of reverse", &m, arrays), around("shadow", &d);
  for (int i = 0; i < 8; i++)
    compare("reverse", i, d.p[i], gradient[i], tolerance), compare("reverse", 8 + i, d.q[i], gradient[8 + i], tolerance);
  compare("reverse", 16, by.first, gradient[16], tolerance);
  compare("reverse", 17, by.second, gradient[17], tolerance);

  for (int k = 0; k < 18; k++) {
    double du = k == 16, dw = k == 17;
    reset(&d, 0), reset(&m, in);
    for (int i = 0; i < 8; i++) d.p[i] = i == k, d.q[i] = 8 + i == k;
    double sum = RESULT(__enzyme_fwddiff((void *)f, enzyme_dup, m.p, d.p, enzyme_dup, m.q, d.q, enzyme_const,
                                         m.c, enzyme_dup, in[24], du, enzyme_dup, in[25], dw, enzyme_const, n));
    unchanged("primal of forward", &m, arrays), around("tangent", &d);
    for (int i = 0; i < 8; i++) sum += weight(i) * d.p[i] + weight(8 + i) * d.q[i];
    compare("forward", k, sum, gradient[k], tolerance);
  }
#ifdef SECOND_ORDER
  check_second(in, n);
#endif
}
"#;
