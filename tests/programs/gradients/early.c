// Calls whose adjoint is known before them, and calls that only look like it.
#include "check.h"

#define APART __attribute__((noinline))

// A determinant: lists of integers change around each call and in it.
static APART double minor_of(double *x, int n, int size, int *rows, int *columns) {
  int row = rows[n];
  if (size == 1) return x[(row * n + columns[n]) % n];
  rows[n] = rows[row];
  double sum = 0, sign = 1;
  int before = n;
  for (int j = 0; j < size; j++) {
    int column = columns[before];
    columns[before] = columns[column];
    sum += sign * x[(row * n + column) % n] * minor_of(x, n, size - 1, rows, columns);
    columns[before] = column;
    before = column;
    sign = -sign;
  }
  rows[n] = row;
  return sum;
}

static double determinant(double *x, int n) {
  int rows[8], columns[8];
  for (int i = 0; i < n; i++) rows[i] = columns[i] = i + 1;
  rows[n] = columns[n] = 0;
  return minor_of(x, n, n, rows, columns);
}

// Numbers as arguments, differences, and a sum of more than one call.
static APART double integral(const double *x, int n, double a, double b, int depth) {
  double middle = 0.5 * (a + b), whole = sin(a * x[0]) * (b - a) + cos(b * x[n - 1]);
  if (depth == 0) return whole * x[1];
  return whole - integral(x, n, a, middle, depth - 1) + x[depth % n] * integral(x, n, middle, b, depth - 1);
}

static double integrated(double *x, int n) { return integral(x, n, x[2], 1 + x[3] * x[3], 4); }

static APART double square(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * x[(i + 1) % n];
  return sum;
}

static APART double bumped(double *x, int n) {
  double sum = square(x, n);
  x[0] += sum;
  return sum * x[1];
}

// What is read is overwritten after the call, by numbers.
static double overwritten(double *x, int n) {
  double t[8], sum = 0;
  for (int i = 0; i < n; i++) t[i] = x[i];
  for (int i = 0; i < n; i++) {
    sum += x[i] * square(t, n);
    t[i] = t[i] * x[0] + 0.5;
  }
  return sum;
}

// The call itself writes numbers that are read later.
static double writing(double *x, int n) {
  double t[8], sum = 0;
  for (int i = 0; i < n; i++) t[i] = x[i];
  for (int i = 0; i < n; i++) sum += 0.1 * bumped(t, 3);
  return sum + t[0];
}

// What the call has read is overwritten by a call of the function itself.
static APART double recursion(double *x, double *t, int n, int depth) {
  double u[1] = {0.5};
  t[0] = x[depth % n] * x[0] + 0.3;
  if (depth == 0) return t[0];
  double a = recursion(x, u, n, depth - 1), b = square(u, 1);
  double c = recursion(x, u, n, depth / 2), d = square(u, 1);
  return b + a * c - d;
}

static double recursive(double *x, int n) {
  double t[1];
  return recursion(x, t, n, 5) + t[0];
}

// The function itself is asked for, so that its seed is known.
static void check_recursion(double *x) {
  double d[9] = {0}, t, d_t = 0;
  __enzyme_autodiff((void *)recursion, enzyme_dup, x, d, enzyme_dup, &t, &d_t, enzyme_const, 5, enzyme_const, 4);
  for (int i = 0; i < 9; i++) {
    double h = 1e-5, up[9], down[9];
    memcpy(up, x, sizeof up);
    memcpy(down, x, sizeof down);
    up[i] += h;
    down[i] -= h;
    double change = recursion(up, &t, 5, 4) - recursion(down, &t, 5, 4);
    check_close("recursion", i, d[i], change / (2 * h), 1e-7);
  }
}

// What is overwritten is found behind another pointer.
static APART double product(double **p) { return p[0][0] * p[0][1]; }

static double behind(double *x, int n) {
  double t[2] = {x[0], x[1]}, *p[1] = {t}, sum = product(p);
  t[0] = x[2] * x[0];
  t[1] = 0.5 * x[n - 1];
  sum += product(p);
  t[0] = 0.25 * x[1];
  return sum - product(p);
}

// Before the call it is written, which does no harm.
static double written(double *x, int n) {
  double t[8], sum = 0;
  for (int i = 0; i < n; i++) t[i] = x[i] * x[0];
  for (int i = 0; i < n; i++) sum -= square(t + i, n - i) * x[i];
  return sum;
}

// The result is used twice, or not on every way, or scaled only later.
static double used_twice(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double y = square(x + i, n - i);
    sum += y * x[i];
    if (y > 0.3) sum += y;
  }
  return sum;
}

static double dropped(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double y = square(x + i, n - i);
    if (x[i] > 0) sum += y;
    if (sum > 3) return x[0];
  }
  return sum;
}

static double restarted(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += square(x + i, n - i);
    if (x[i] < 0) sum = x[i] * x[i];
  }
  return sum;
}

static double scaled_later(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += square(x + i, n - i);
  return sum * x[0] + sum;
}

static double scaled_in_turn(double *x, int n) {
  double sum = x[0];
  for (int i = 0; i < n; i++) sum = sum * 0.5 + square(x + i, n - i);
  return sum;
}

// The factor is known only after the call.
static double known_later(double *x, int n) {
  double sum = 0, t[8] = {0};
  for (int i = 0; i < n; i++) {
    double y = square(x, n);
    t[i] = y;
    sum += square(x + i, n - i) * (t[i] + x[i]);
  }
  return sum;
}

// It is computed after the call, of what was known before.
static double weighted(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double w = x[i], v = x[(i + 1) % n], y = square(x + i, n - i);
    sum -= (w * v + 0.5) * y;
  }
  return sum * 3;
}

// Of three ways, each with one use.
static double three_ways(double *x, int n) {
  double sum = x[1];
  for (int i = 0; i < n; i++) {
    double y = square(x + i, n - i);
    if (x[i] > 0.5)
      sum += y;
    else if (x[i] > 0)
      sum += y * x[0];
    else
      sum -= y;
  }
  return sum;
}

// The result goes to memory, which may be what the call has read.
static void total(double *x, double *out) { *out = 2 * square(x, 5) - square(x + 1, 3) * x[0]; }

static void check_stored(double *x) {
  double d[9] = {0}, seed = 1.5, out, same[9], d_same[9] = {0}, plain[9] = {0};
  __enzyme_autodiff((void *)total, enzyme_dup, x, d, enzyme_dup, &out, &seed);
  memcpy(same, x, sizeof same);
  d_same[2] = 1.5;
  __enzyme_autodiff((void *)total, enzyme_dup, same, d_same, enzyme_dup, same + 2, d_same + 2);
  check_close("out", 0, same[2], out, 1e-14);
  check_close("seed", 0, seed, 0, 0);
  for (int i = 0; i < 9; i++) {
    double h = 1e-5, up, down, moved[9];
    memcpy(moved, x, sizeof moved);
    moved[i] = x[i] + h;
    total(moved, &up);
    moved[i] = x[i] - h;
    total(moved, &down);
    plain[i] = 1.5 * (up - down) / (2 * h);
    check_close("stored", i, d[i], plain[i], 1e-7);
    check_close("stored where it was read", i, d_same[i], plain[i], 1e-7);
  }
}

// Derivatives of the derivative.
static double slope(double *x, int n) {
  double d[16] = {0}, sum = 0;
  __enzyme_autodiff((void *)written, enzyme_dup, x, d, enzyme_const, n);
  for (int i = 0; i < n; i++) sum += (i + 1) * d[i];
  return sum;
}

int main(void) {
  double x[9];
  for (int round = 0; round < 4; round++) {
    seed(700 + round);
    fill(x, 9, -1, 1);
    CHECK_GRADIENT(determinant, x, 5);
    CHECK_GRADIENT(integrated, x, 7);
    CHECK_GRADIENT(overwritten, x, 7);
    CHECK_GRADIENT(writing, x, 7);
    CHECK_GRADIENT(recursive, x, 7);
    CHECK_GRADIENT(behind, x, 7);
    CHECK_GRADIENT(written, x, 7);
    CHECK_GRADIENT(used_twice, x, 7);
    CHECK_GRADIENT(dropped, x, 7);
    CHECK_GRADIENT(restarted, x, 7);
    CHECK_GRADIENT(scaled_later, x, 7);
    CHECK_GRADIENT(scaled_in_turn, x, 7);
    CHECK_GRADIENT(known_later, x, 7);
    CHECK_GRADIENT(weighted, x, 7);
    CHECK_GRADIENT(three_ways, x, 7);
    CHECK_GRADIENT_TO(slope, x, 7, 1e-5);
    check_recursion(x);
    check_stored(x);
  }
  return finish("early");
}
