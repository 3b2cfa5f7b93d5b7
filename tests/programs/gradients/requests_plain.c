// Requests as people write them who never read a manual: no markers at all, prototypes that say
// what they return, names with a suffix, requests in loops, static inline targets.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;
static void expect(const char *what, double got, double want) {
  if (fabs(got - want) <= 1e-9 * fmax(1, fabs(want))) return;
  printf("%s: got %.12g, expected %.12g\n", what, got, want);
  failures++;
}

double __enzyme_autodiff(double (*)(double), double);
double __enzyme_fwddiff(double (*)(double), double, double);
void __enzyme_autodiff_dot(double (*)(const double *, const double *, int), const double *, double *,
                           const double *, double *, int);
double __enzyme_fwddiff_dot(void *, const double *, double *, const double *, double *, int);
typedef struct { double dx, dy; } gradient2;
gradient2 __enzyme_autodiff_two(double (*)(double, double), double, double);
double __enzyme_autodiff_foo(void *, ...);
float __enzyme_autodiff_float(float (*)(float), float);
float __enzyme_fwddiff_float(float (*)(float), float, float);
void __enzyme_autodiff_void(void *, ...);
void __enzyme_fwddiff_void(void *, ...);

double square(double x) { return x * x; }
static inline double cube(double x) { return x * x * x; }
static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i] * b[i];
  return sum;
}
static double two(double x, double y) { return x * x * y; }
static float single(float x) { return x * x * x + 1; }
static void squares(double *in, double *out, int n) {
  for (int i = 0; i < n; i++) out[i] = in[i] * in[i];
}
static double scaled(double x, int n) { return x * x * n; }
static void in_place(double *x) { *x = sin(*x); }

double dsquare(double x) { return __enzyme_autodiff(square, x); }

int main(void) {
  expect("square", dsquare(3), 6);
  expect("forward square", __enzyme_fwddiff(square, 3, 2), 12);
  expect("cube", __enzyme_autodiff(cube, 2), 12);
  for (int i = 0; i < 5; i++) {
    expect("in a loop", __enzyme_autodiff(cube, i), 3 * i * i);
    expect("in a loop, forward", __enzyme_fwddiff(cube, i, 1), 3 * i * i);
  }

  double a[3] = {1, 2, 3}, b[3] = {4, 5, 6}, da[3] = {0}, db[3] = {0};
  __enzyme_autodiff_dot(dot, a, da, b, db, 3);
  for (int i = 0; i < 3; i++) {
    expect("da", da[i], b[i] * b[i]);
    expect("db", db[i], 2 * a[i] * b[i]);
  }
  double ta[3] = {1, 0, 0}, tb[3] = {0, 1, 0};
  expect("tangent", __enzyme_fwddiff_dot((void *)dot, a, ta, b, tb, 3), 16 + 20);

  // Shadows are added to.
  __enzyme_autodiff_dot(dot, a, da, b, db, 3);
  for (int i = 0; i < 3; i++) expect("added", da[i], 2 * b[i] * b[i]);

  gradient2 g = __enzyme_autodiff_two(two, 3, 5);
  expect("dx", g.dx, 30);
  expect("dy", g.dy, 9);
  expect("suffix", __enzyme_autodiff_foo((void *)scaled, 3.0, 7), 42);
  expect("float", __enzyme_autodiff_float(single, 2), 12);
  expect("float forward", __enzyme_fwddiff_float(single, 2, 0.5f), 6);

  double in[3] = {1, 2, 3}, out[3], din[3] = {0}, dout[3] = {1, 10, 100};
  __enzyme_autodiff_void((void *)squares, in, din, out, dout, 3);
  for (int i = 0; i < 3; i++) {
    expect("out", out[i], in[i] * in[i]);
    expect("din", din[i], 2 * in[i] * pow(10, i));
    expect("dout is consumed", dout[i], 0);
  }
  double tin[3] = {1, 1, -1}, tout[3];
  __enzyme_fwddiff_void((void *)squares, in, tin, out, tout, 3);
  for (int i = 0; i < 3; i++) expect("tout", tout[i], 2 * in[i] * tin[i]);

  double x = 0.5, dx = 1;
  __enzyme_autodiff_void((void *)in_place, &x, &dx);
  expect("in place", x, sin(0.5));
  expect("in place", dx, cos(0.5));
  if (failures == 0) printf("ok requests_plain\n");
  return failures != 0;
}
