// Checks that the programs of this folder make of themselves.
//
// A program calls the CHECK_ macros below on its functions, each of which asks Zymase for the
// reverse and the forward derivative and compares both with central finite differences, and ends
// with `return finish("name");`. Inputs come from a seeded generator, and the seed is printed with
// every disagreement.
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int enzyme_dup, enzyme_const, enzyme_out, enzyme_dupnoneed, enzyme_width;
extern int enzyme_primal_return;
extern double __enzyme_autodiff(void *, ...);
extern double __enzyme_fwddiff(void *, ...);

#define CHECK_MAX 256

static int check_failures;
static unsigned long long check_seed = 42, check_state = 42;

static inline void seed(unsigned long long value) { check_seed = check_state = value; }

// A number in [low, high), from the seed.
static inline double uniform(double low, double high) {
  check_state = check_state * 6364136223846793005ull + 1442695040888963407ull;
  return low + (high - low) * ((double)(check_state >> 11) * 0x1p-53);
}

static inline void fill(double *x, int n, double low, double high) {
  for (int i = 0; i < n; i++) x[i] = uniform(low, high);
}

// Relative to the larger of the two numbers and 1. A NaN is never equal to anything.
static inline void check_close(const char *what, int index, double got, double want, double tol) {
  double scale = fmax(1.0, fmax(fabs(got), fabs(want)));
  if (fabs(got - want) <= tol * scale) return;
  printf("%s[%d]: got %.12g, expected %.12g (seed %llu)\n", what, index, got, want, check_seed);
  check_failures++;
}

static inline int finish(const char *name) {
  if (check_failures) {
    printf("%s: %d disagreements\n", name, check_failures);
    return 1;
  }
  printf("ok %s\n", name);
  return 0;
}

// The shapes of function that the macros below check.
typedef double (*check_scalar)(double);
typedef double (*check_reduction)(double *, int);
typedef void (*check_map)(double *, double *);

static double check_difference(check_reduction f, const double *x, int n, int i) {
  double plus[CHECK_MAX], minus[CHECK_MAX], h = 1e-5 * fmax(1.0, fabs(x[i]));
  memcpy(plus, x, n * sizeof(double));
  memcpy(minus, x, n * sizeof(double));
  plus[i] += h;
  minus[i] -= h;
  double difference = f(plus, n);
  difference -= f(minus, n);
  return difference / (2 * h);
}

// `double f(double)` at a point.
#define CHECK_SCALAR(f, at)                                                                   \
  do {                                                                                        \
    double x_ = (at), h_ = 1e-5 * fmax(1.0, fabs(x_));                                        \
    double want_ = ((f)(x_ + h_) - (f)(x_ - h_)) / (2 * h_);                                  \
    check_close("reverse " #f, 0, __enzyme_autodiff((void *)f, enzyme_out, x_), want_, 1e-6); \
    check_close("forward " #f, 0, __enzyme_fwddiff((void *)f, enzyme_dup, x_, 1.0), want_,    \
                1e-6);                                                                        \
  } while (0)

// `double f(double)` at a point where the derivative is known.
#define CHECK_SCALAR_IS(f, at, want)                                                            \
  do {                                                                                          \
    double x_ = (at);                                                                           \
    check_close("reverse " #f, 0, __enzyme_autodiff((void *)f, enzyme_out, x_), (want), 1e-12); \
    check_close("forward " #f, 0, __enzyme_fwddiff((void *)f, enzyme_dup, x_, 1.0), (want),     \
                1e-12);                                                                         \
  } while (0)

// `double f(double *x, int n)`, which may also overwrite x. The gradient is added to what the
// shadow held, if f does not overwrite x; the macro starts from zero.
#define CHECK_GRADIENT(f, x, n) CHECK_GRADIENT_TO(f, x, n, 1e-6)
#define CHECK_GRADIENT_TO(f, x, n, tol)                                                       \
  do {                                                                                        \
    double in_[CHECK_MAX], shadow_[CHECK_MAX];                                                \
    memcpy(in_, (x), (n) * sizeof(double));                                                   \
    memset(shadow_, 0, sizeof shadow_);                                                       \
    __enzyme_autodiff((void *)f, enzyme_dup, in_, shadow_, enzyme_const, (int)(n));           \
    for (int i_ = 0; i_ < (n); i_++) {                                                        \
      double want_ = check_difference(f, (x), (n), i_), tangent_[CHECK_MAX];                  \
      check_close("reverse " #f, i_, shadow_[i_], want_, (tol));                              \
      memcpy(in_, (x), (n) * sizeof(double));                                                 \
      memset(tangent_, 0, sizeof tangent_);                                                   \
      tangent_[i_] = 1;                                                                       \
      check_close("forward " #f, i_,                                                          \
                  __enzyme_fwddiff((void *)f, enzyme_dup, in_, tangent_, enzyme_const, (int)(n)), \
                  want_, (tol));                                                              \
    }                                                                                         \
  } while (0)

// `void f(double *in, double *out)` from n to m numbers: one random weighting of the outputs in
// reverse mode, every direction in forward mode.
#define CHECK_MAP(f, x, n, m)                                                                 \
  do {                                                                                        \
    double in_[CHECK_MAX], out_[CHECK_MAX], din_[CHECK_MAX], dout_[CHECK_MAX];                \
    double weight_[CHECK_MAX], plus_[CHECK_MAX], minus_[CHECK_MAX];                           \
    memcpy(in_, (x), (n) * sizeof(double));                                                   \
    memset(din_, 0, sizeof din_);                                                             \
    memset(out_, 0, sizeof out_);                                                             \
    fill(weight_, (m), -1, 1);                                                                \
    memcpy(dout_, weight_, (m) * sizeof(double));                                             \
    __enzyme_autodiff((void *)f, enzyme_dup, in_, din_, enzyme_dup, out_, dout_);             \
    for (int i_ = 0; i_ < (n); i_++) {                                                        \
      double h_ = 1e-5 * fmax(1.0, fabs((x)[i_])), want_ = 0, tangent_[CHECK_MAX];            \
      memcpy(in_, (x), (n) * sizeof(double));                                                 \
      memset(plus_, 0, sizeof plus_);                                                         \
      memset(minus_, 0, sizeof minus_);                                                       \
      in_[i_] = (x)[i_] + h_;                                                                 \
      (f)(in_, plus_);                                                                        \
      memcpy(in_, (x), (n) * sizeof(double));                                                 \
      in_[i_] = (x)[i_] - h_;                                                                 \
      (f)(in_, minus_);                                                                       \
      memcpy(in_, (x), (n) * sizeof(double));                                                 \
      memset(tangent_, 0, sizeof tangent_);                                                   \
      memset(out_, 0, sizeof out_);                                                           \
      memset(dout_, 0, sizeof dout_);                                                         \
      tangent_[i_] = 1;                                                                       \
      __enzyme_fwddiff((void *)f, enzyme_dup, in_, tangent_, enzyme_dup, out_, dout_);        \
      for (int j_ = 0; j_ < (m); j_++) {                                                      \
        double slope_ = (plus_[j_] - minus_[j_]) / (2 * h_);                                  \
        check_close("forward " #f, i_ * (m) + j_, dout_[j_], slope_, 1e-6);                   \
        want_ += weight_[j_] * slope_;                                                        \
      }                                                                                       \
      check_close("reverse " #f, i_, din_[i_], want_, 1e-6);                                  \
    }                                                                                         \
  } while (0)

#endif
