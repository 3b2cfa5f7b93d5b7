// Callees that read memory which the caller overwrites later, or does not: that depends on how far
// apart its arguments are, which nobody knows before the program runs.
#include <string.h>

#include "check.h"

#define N 6
#define ALL (4 * N * N)

__attribute__((noinline)) static double sum_of_squares(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

__attribute__((noinline)) static double magnitude(const double *x, int n) {
  return sqrt(1 + sum_of_squares(x, n));
}

__attribute__((noinline)) static double every_other(const double *x, int n) {
  double product = 1;
  for (int i = n; i > 0; i--) product *= 1 + 0.1 * x[2 * i - 2];
  return product;
}

// The callee reads all of `in` each time.
static void normalize(double *in, double *out, int n) {
  for (int i = 0; i < n; i++) out[i] = in[i] / magnitude(in, n);
}

// The callee reads a row of n numbers, and every other number behind its second.
static void rows(double *in, double *out, int n) {
  for (int i = 0; i < n; i++) out[i] = sin(magnitude(in + i * n, n)) * every_other(in + i + 2, n);
}

// The callee reads what was written before as well.
static void both(double *in, double *out, int n) {
  for (int i = 0; i < n; i++)
    out[i] = 0.1 * in[i] * every_other(out, n) + 0.1 * magnitude(in + 1, n - 1);
}

// A factor that is the same in all turns of the inner loop, unless that writes it: before it reads it
// in the first turn, or in a later one.
static void scaled(double *in, double *out, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[j] += 0.1 * in[i] * out[j + 1];
}
static void written_first(double *in, double *out, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      out[j] = 0.5 * out[j] + 0.25;
      out[n + i] += 0.2 * in[i] * out[j];
    }
}

// So many arrays that a table tells which must not overlap.
static void chain(double *in, double *out, int n) {
  double *a = in + n, *b = a + n, *c = b + n, *d = c + n, *e = d + n, *f = e + n, *g = out + n;
  for (int i = 0; i < n; i++) a[i] = in[i] * in[i];
  for (int i = 0; i < n; i++) b[i] = 0.5 * a[i] * in[i];
  for (int i = 0; i < n; i++) c[i] = 0.5 * b[i] * a[i] + 0.1 * in[i] * in[i];
  for (int i = 0; i < n; i++) d[i] = 0.5 * c[i] * b[i] + 0.1 * in[i] * a[i];
  for (int i = 0; i < n; i++) e[i] = 0.5 * d[i] * c[i] + 0.1 * a[i] * b[i];
  for (int i = 0; i < n; i++) f[i] = 0.5 * e[i] * d[i] + 0.1 * b[i] * c[i];
  for (int i = 0; i < n; i++) g[i] = 0.5 * f[i] * e[i] + 0.1 * d[i] * c[i];
  for (int i = 0; i < n; i++) out[i] = 0.5 * g[i] * f[i] + 0.1 * e[i] * d[i];
}

typedef void (*map)(double *, double *, int);

static double loss(map f, const double *start, int shift) {
  double x[ALL], sum = 0;
  memcpy(x, start, sizeof x);
  f(x + ALL / 2, x + ALL / 2 + shift, N);
  for (int i = 0; i < ALL; i++) sum += sin(i + 1.0) * x[i];
  return sum;
}

#define CHECK_SHIFT(f, shift)                                                                  \
  do {                                                                                         \
    double start[ALL], x[ALL], d_x[ALL];                                                       \
    fill(start, ALL, 0.5, 1.5);                                                                \
    memcpy(x, start, sizeof x);                                                                \
    for (int i = 0; i < ALL; i++) d_x[i] = sin(i + 1.0);                                       \
    double *in = x + ALL / 2, *d_in = d_x + ALL / 2;                                           \
    __enzyme_autodiff((void *)f, enzyme_dup, in, d_in, enzyme_dup, in + shift, d_in + shift, N); \
    for (int i = 0; i < ALL; i++) {                                                            \
      double kept = start[i], step = 1e-6;                                                     \
      start[i] = kept + step;                                                                  \
      double above = loss(f, start, shift);                                                    \
      start[i] = kept - step;                                                                  \
      double below = loss(f, start, shift);                                                    \
      start[i] = kept;                                                                         \
      check_close(#f, 1000 * shift + i, d_x[i], (above - below) / (2 * step), 1e-6);           \
    }                                                                                          \
  } while (0)

static void chain_gradient(double *x, double *d_x, double *y, double *d_y, int n) {
  __enzyme_autodiff((void *)chain, enzyme_dup, x, d_x, enzyme_dup, y, d_y, n);
}

// The derivative of the derivative along a direction.
static void check_chain_twice(int shift) {
  double start[ALL], direction[ALL], gradients[2][ALL], h = 1e-6;
  fill(start, ALL, 0.5, 1.5), fill(direction, ALL, -1, 1);
  for (int k = 0; k < 2; k++) {
    double x[ALL], *in = x + ALL / 2, *d_in = gradients[k] + ALL / 2;
    for (int i = 0; i < ALL; i++) {
      x[i] = start[i] + (k ? h : -h) * direction[i];
      gradients[k][i] = sin(i + 1.0);
    }
    chain_gradient(in, d_in, in + shift, d_in + shift, N);
  }
  double d_x[ALL], dd_x[ALL] = {0}, *in = start + ALL / 2, *along = direction + ALL / 2;
  double *d_in = d_x + ALL / 2, *dd_in = dd_x + ALL / 2;
  for (int i = 0; i < ALL; i++) d_x[i] = sin(i + 1.0);
  __enzyme_fwddiff((void *)chain_gradient, enzyme_dup, in, along, enzyme_dup, d_in, dd_in, enzyme_dup,
                   in + shift, along + shift, enzyme_dup, d_in + shift, dd_in + shift, N);
  for (int i = 0; i < ALL; i++)
    check_close("chain twice", i, dd_x[i], (gradients[1][i] - gradients[0][i]) / (2 * h), 1e-5);
}

int main(void) {
  static const int shifts[] = {0,  1,     -1,    2,         3,     N - 1, N,
                               -N, 1 - N, 2 * N, N * N - 1, N * N, -9,    50};
  for (unsigned i = 0; i < sizeof shifts / sizeof *shifts; i++) {
    volatile int shift = shifts[i];
    seed(i + 1);
    CHECK_SHIFT(normalize, shift);
    CHECK_SHIFT(rows, shift);
    CHECK_SHIFT(both, shift);
    CHECK_SHIFT(scaled, shift);
    CHECK_SHIFT(written_first, shift);
    CHECK_SHIFT(chain, shift);
    check_chain_twice(shift);
  }
  return finish("overlap");
}
