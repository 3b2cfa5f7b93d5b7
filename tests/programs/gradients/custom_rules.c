// Derivatives that the program gives itself: with and without a tape, for numbers and for memory,
// in loops and in recursion, several at once, and for functions without a body. Counters tell that
// the rules were called and the bodies were not differentiated.
#include "check.h"

static int augmented_calls, gradient_calls, tangent_calls, primal_calls;

static void reset(void) { augmented_calls = gradient_calls = tangent_calls = primal_calls = 0; }

static void check_calls(const char *what, int augmented, int gradient, int tangent) {
  check_close(what, 0, augmented_calls, augmented, 0);
  check_close(what, 1, gradient_calls, gradient, 0);
  check_close(what, 2, tangent_calls, tangent, 0);
  reset();
}

// One number, no tape. The body is constant on purpose: no optimizer may see that.
static double step(double x) {
  primal_calls++;
  return x > 0 ? 2.0 : 2.0;
}
static double step_augmented(double x) {
  augmented_calls++;
  return step(x);
}
static double step_gradient(double x, double seed) {
  gradient_calls++;
  return 7 * x * seed;
}
static double step_tangent(double x, double dx) {
  tangent_calls++;
  return 7 * x * dx;
}
void *__enzyme_register_gradient_step[] = {(void *)step, (void *)step_augmented, (void *)step_gradient};
void *__enzyme_register_derivative_step[] = {(void *)step, (void *)step_tangent};

static double straight(double x) { return 3 * step(x) + x; }

// Three numbers and a tape of a number; the derivatives are returned in memory.
typedef struct { double tape, result; } kept;
typedef struct { double x, y, z; } three;
static double blend(double x, double y, double z) { return x * y * y + exp(z); }
static kept blend_augmented(double x, double y, double z) {
  augmented_calls++;
  kept k = {exp(z), x * y * y + exp(z)};
  return k;
}
static three blend_gradient(double x, double y, double z, double seed, double tape) {
  gradient_calls++;
  three d = {y * y * seed, 2 * x * y * seed, tape * seed};
  return d;
}
typedef struct { double value, tangent; } dual;
static dual blend_tangent(double x, double dx, double y, double dy, double z, double dz) {
  tangent_calls++;
  dual d = {x * y * y + exp(z), y * y * dx + 2 * x * y * dy + exp(z) * dz};
  return d;
}
void *__enzyme_register_gradient_blend[] = {(void *)blend, (void *)blend_augmented, (void *)blend_gradient};
void *__enzyme_register_derivative_blend[] = {(void *)blend, (void *)blend_tangent};

static double blended(double *x, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; i++) sum = blend(x[i], sum, 0.1 * x[i + 1]);
  return sum;
}
// Some arguments are constant: their derivatives are dropped.
static double partly(double x) { return blend(2.0, x, 0.5); }

// Small numbers, packed into vectors and integers by the C compiler.
typedef struct { float tape, result; } kept_float;
typedef struct { float x, y; } two_floats;
static float ratio(float x, float y) { return x / y; }
static kept_float ratio_augmented(float x, float y) {
  augmented_calls++;
  kept_float k = {1 / y, x / y};
  return k;
}
static two_floats ratio_gradient(float x, float y, float seed, float tape) {
  gradient_calls++;
  two_floats d = {tape * seed, -x * tape * tape * seed};
  return d;
}
void *__enzyme_register_gradient_ratio[] = {(void *)ratio, (void *)ratio_augmented, (void *)ratio_gradient};
static double ratios(double x) { return ratio((float)x, (float)(x * x + 1)); }

// Memory in place, with a tape from the heap.
static void squash(double *x, int n) {
  for (int i = 0; i < n; i++) x[i] = tanh(x[i]);
}
static void *squash_augmented(double *x, double *dx, int n) {
  augmented_calls++;
  double *tape = malloc(n * sizeof(double));
  squash(x, n);
  memcpy(tape, x, n * sizeof(double));
  return tape;
}
static void squash_gradient(double *x, double *dx, int n, void *tape) {
  gradient_calls++;
  double *y = tape;
  for (int i = 0; i < n; i++) dx[i] *= 1 - y[i] * y[i];
  free(tape);
}
static void squash_tangent(double *x, double *dx, int n) {
  tangent_calls++;
  squash(x, n);
  for (int i = 0; i < n; i++) dx[i] *= 1 - x[i] * x[i];
}
void *__enzyme_register_gradient_squash[] = {(void *)squash, (void *)squash_augmented, (void *)squash_gradient};
void *__enzyme_register_derivative_squash[] = {(void *)squash, (void *)squash_tangent};

static double squashed(double *x, int n) {
  double sum = 0;
  for (int round = 0; round < 3; round++) {
    squash(x, n);
    for (int i = 0; i < n; i++) sum += x[i] * x[(i + 1) % n];
  }
  return sum;
}
__attribute__((noinline)) static double deep(double *x, int n, int depth) {
  if (depth == 0) return x[0] * x[n - 1];
  squash(x, n);
  double below = deep(x, n, depth - 1);
  return below + x[depth % n];
}
static double recursive(double *x, int n) { return deep(x, n, 4); }

// A structure as tape.
typedef struct { double a, b; int k; } big;
static void rotate(const double *in, double *out, int k) {
  out[0] = in[0] * cos(k) - in[1] * in[0];
  out[1] = in[0] * sin(k) + in[1];
}
static big rotate_augmented(const double *in, double *din, double *out, double *dout, int k) {
  augmented_calls++;
  rotate(in, out, k);
  big tape = {in[0], in[1], k};
  return tape;
}
static void rotate_gradient(const double *in, double *din, double *out, double *dout, int k, big t) {
  gradient_calls++;
  if (din) {
    din[0] += (cos(t.k) - t.b) * dout[0] + sin(t.k) * dout[1];
    din[1] += -t.a * dout[0] + dout[1];
  }
  dout[0] = dout[1] = 0;
}
void *__enzyme_register_gradient_rotate[] = {(void *)rotate, (void *)rotate_augmented, (void *)rotate_gradient};
static void rotated(double *in, double *out) {
  rotate(in, out, 2);
  double again[2];
  rotate(out, again, 3);
  in[0] = 0;
  out[2] = again[0] * again[1];
}
// Constant memory comes with a null shadow.
static double over_constant(double x) {
  double in[2] = {0.5, 0.25}, out[2];
  rotate(in, out, 1);
  return x * out[0] * out[1];
}

// Which activities a rule handles.
static double power(double x, double n) { return pow(x, n); }
static double power_augmented(double x, double n) { return pow(x, n); }
static double power_by_base(double x, double n, double seed) {
  gradient_calls++;
  return n * pow(x, n - 1) * seed;
}
typedef struct { double x, y; } two;
static two power_by_both(double x, double n, double seed) {
  gradient_calls += 100;
  two d = {n * pow(x, n - 1) * seed, log(x) * pow(x, n) * seed};
  return d;
}
void *__enzyme_register_gradient_power1[] = {(void *)power, (void *)power_augmented, (void *)power_by_both, "out,out"};
void *__enzyme_register_gradient_power2[] = {(void *)power, (void *)power_augmented, (void *)power_by_base, "out,const"};
static double cubed(double x) { return power(x, 3.0); }
static double self_power(double x) { return power(x, x); }

// No body at all: a function of the library that Zymase has no rule for.
double j0(double);
double j1(double);
static double bessel_gradient(double x, double seed) { return -j1(x) * seed; }
void *__enzyme_register_gradient_bessel[] = {(void *)j0, (void *)j0, (void *)bessel_gradient};
static double bessel_tangent(double x, double dx) { return -j1(x) * dx; }
void *__enzyme_register_derivative_bessel[] = {(void *)j0, (void *)bessel_tangent};
static double waves(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += j0(x[i]) * j0(2 * x[i]);
  return sum;
}

// Memory that a rule makes: result and shadow.
typedef struct { void *tape; double *result, *shadow; } made;
static double *doubled(const double *x, int n) {
  double *y = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) y[i] = 2 * x[i];
  return y;
}
static made doubled_augmented(const double *x, double *dx, int n) {
  augmented_calls++;
  made m = {NULL, doubled(x, n), calloc(n, sizeof(double))};
  m.tape = m.shadow;
  return m;
}
static void doubled_gradient(const double *x, double *dx, int n, void *tape) {
  gradient_calls++;
  double *shadow = tape;
  for (int i = 0; i < n; i++) dx[i] += 2 * shadow[i];
}
void *__enzyme_register_gradient_doubled[] = {(void *)doubled, (void *)doubled_augmented, (void *)doubled_gradient};
static double over_doubled(double *x, int n) {
  double *y = doubled(x, n), sum = 0;
  for (int i = 0; i < n; i++) sum += y[i] * y[i];
  return sum;
}

// A tape in forward mode.
static double gauss(double x) { return exp(-x * x); }
static kept gauss_augmented(double x) {
  augmented_calls++;
  kept k = {exp(-x * x), exp(-x * x)};
  return k;
}
static double gauss_split(double x, double dx, double tape) {
  tangent_calls++;
  return -2 * x * tape * dx;
}
void *__enzyme_register_splitderivative_gauss[] = {(void *)gauss, (void *)gauss_augmented, (void *)gauss_split};
static double bell(double x) { return x * gauss(x); }

// By annotation.
static double annotated_augmented(double x) { return sin(x); }
static double annotated_gradient(double x, double seed) { return 11 * x * seed; }
static double annotated_tangent(double x, double dx) { return 11 * x * dx; }
void *keep[] = {(void *)annotated_augmented, (void *)annotated_gradient, (void *)annotated_tangent};
__attribute__((annotate("enzyme_register_gradient=annotated_augmented,annotated_gradient"),
               annotate("enzyme_register_derivative=annotated_tangent")))
static double annotated(double x) { return sin(x); }
static double over_annotated(double x) { return annotated(x) + x; }

// Like a function of the library.
__attribute__((noinline)) static double my_log1p(double x) {
  primal_calls++;
  return log(1 + (double)(float)x);
}
void *__enzyme_function_like[] = {(void *)my_log1p, "log1p"};
__attribute__((annotate("enzyme_function_like=powf"))) static float my_pow(float x, float y) {
  return powf(x, y);
}
static double over_like(double x) { return x * my_log1p(x * x); }
static double over_pow(double x) { return my_pow((float)x, 2.5f); }

// Called again rather than cached.
static double table(double i) {
  primal_calls++;
  return 1 / (1 + i);
}
void *__enzyme_shouldrecompute_table = (void *)table;
static double weighted(double *x, int n) {
  double product = 1;
  for (int i = 0; i < n; i++) product = product * 0.5 + x[i] * x[i] * table(i);
  return product;
}

typedef struct { double a, b; } pair;
extern pair __enzyme_fwddiff_pair(void *, ...);
extern pair __enzyme_autodiff_pair(void *, ...);
static double slope(double x) { return __enzyme_autodiff((void *)over_annotated, enzyme_out, x); }

int main(void) {
  double x[8];
  reset();
  CHECK_SCALAR_IS(straight, 1.5, 21 * 1.5 + 1);
  check_calls("step", 1, 1, 1);
  CHECK_SCALAR(partly, 1.25);
  check_calls("partly", 1, 1, 1);
  fill(x, 8, 0.1, 0.9);
  CHECK_GRADIENT(blended, x, 8);
  check_calls("blended", 7, 7, 56);
  check_close("ratio", 0, __enzyme_autodiff((void *)ratios, enzyme_out, 2.0), (1 - 4.0) / 25, 1e-6);
  check_calls("ratio", 1, 1, 0);
  CHECK_GRADIENT(squashed, x, 6);
  check_calls("squashed", 3, 3, 18);
  CHECK_GRADIENT(recursive, x, 5);
  check_calls("recursive", 4, 4, 20);
  {
    double in[2] = {0.3, 0.7}, din[2] = {0, 0}, out[3], dout[3] = {0.5, -0.25, 2};
    __enzyme_autodiff((void *)rotated, enzyme_dup, in, din, enzyme_dup, out, dout);
    check_calls("rotated", 2, 2, 0);
    for (int i = 0; i < 2; i++) {
      double plus[2] = {0.3, 0.7}, minus[2] = {0.3, 0.7}, p[3], m[3], h = 1e-6;
      plus[i] += h, minus[i] -= h;
      rotated(plus, p), rotated(minus, m);
      double want = 0.5 * (p[0] - m[0]) - 0.25 * (p[1] - m[1]) + 2 * (p[2] - m[2]);
      check_close("rotated", i, din[i], want / (2 * h), 1e-6);
    }
    double o[2], c[2] = {0.5, 0.25};
    rotate(c, o, 1);
    check_close("constant", 0, __enzyme_autodiff((void *)over_constant, enzyme_out, 3.0), o[0] * o[1], 1e-12);
  }
  reset();
  check_close("cubed", 0, __enzyme_autodiff((void *)cubed, enzyme_out, 2.0), 12, 1e-12);
  check_calls("cubed", 0, 1, 0);
  check_close("self", 0, __enzyme_autodiff((void *)self_power, enzyme_out, 2.0), 4 * (1 + log(2)), 1e-12);
  check_calls("self", 0, 100, 0);
  fill(x, 8, 0.5, 3);
  CHECK_GRADIENT(waves, x, 8);
  reset();
  {
    double d[4] = {0, 0, 0, 0};
    __enzyme_autodiff((void *)over_doubled, enzyme_dup, x, d, enzyme_const, 4);
    for (int i = 0; i < 4; i++) check_close("doubled", i, d[i], 8 * x[i], 1e-12);
    check_calls("doubled", 1, 1, 0);
  }
  check_close("bell", 0, __enzyme_fwddiff((void *)bell, enzyme_dup, 0.5, 1.0), exp(-0.25) * 0.5, 1e-12);
  check_calls("bell", 1, 0, 1);
  CHECK_SCALAR_IS(over_annotated, 2.0, 23.0);
  // Second order differentiates the functions of the rule.
  check_close("second", 0, __enzyme_fwddiff((void *)slope, enzyme_dup, 2.0, 1.0), 11, 1e-12);
  check_close("second", 1, __enzyme_autodiff((void *)slope, enzyme_out, 2.0), 11, 1e-12);
  reset();
  double want = log(1 + 4.0) + 2 * 2 * 2 / (1 + 4.0);
  CHECK_SCALAR_IS(over_like, 2.0, want);
  check_close("like calls", 0, primal_calls, 2, 0);
  CHECK_SCALAR_IS(over_pow, 1.0, 2.5);
  // The function itself is asked for.
  CHECK_SCALAR_IS(annotated, 2.0, 22.0);
  CHECK_SCALAR_IS(my_log1p, 0.5, 1 / 1.5);
  reset();
  CHECK_GRADIENT(weighted, x, 6);
  // Two derivatives at once: two calls of the rule.
  pair tangents = __enzyme_fwddiff_pair((void *)blend, enzyme_width, 2, enzyme_dup, 2.0, 1.0, 0.0,
                                        enzyme_dup, 3.0, 0.0, 1.0, enzyme_const, 0.5);
  check_close("width", 0, tangents.a, 9, 1e-12);
  check_close("width", 1, tangents.b, 12, 1e-12);
  {
    double in[2] = {0.3, 0.7}, d1[2] = {0, 0}, d2[2] = {0, 0}, out[2], s1[2] = {1, 0}, s2[2] = {0, 1};
    __enzyme_autodiff((void *)rotate, enzyme_width, 2, enzyme_dup, in, d1, d2, enzyme_dup, out, s1,
                      s2, enzyme_const, 2);
    check_close("width", 2, d1[0], cos(2) - 0.7, 1e-12);
    check_close("width", 3, d1[1], -0.3, 1e-12);
    check_close("width", 4, d2[0], sin(2), 1e-12);
    check_close("width", 5, d2[1], 1, 1e-12);
  }
  return finish("custom_rules");
}
