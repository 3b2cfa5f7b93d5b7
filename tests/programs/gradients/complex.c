// Complex arithmetic as the compiler emits it by default.
#include "check.h"
#include <complex.h>

static double product(double *x, int n) {
  double _Complex a = x[0] + x[1] * I, b = x[2] + x[3] * I, c = a * b * a;
  return creal(c) * 2 + cimag(c) * creal(a);
}

static double quotient(double *x, int n) {
  double _Complex a = x[0] + x[1] * I, b = x[2] + x[3] * I, c = a / b;
  return creal(c) * 2 + cimag(c);
}

static double horner(double *x, int n) {
  double _Complex z = 0.3 + 0.7 * I, sum = 0;
  for (int i = 0; i < n; i++) sum = sum * z + x[i];
  return creal(sum * conj(sum));
}

static double mandelbrot(double *x, int n) {
  double _Complex c = x[0] + x[1] * I, z = 0;
  for (int i = 0; i < 6; i++) z = z * z + c;
  return creal(z) - cimag(z);
}

static double magnitude(double *x, int n) {
  double _Complex a = x[0] + x[1] * I;
  return cabs(a) + creal(a) * cimag(a);
}

static float single(float *x) {
  float _Complex a = x[0] + x[1] * I;
  a = a * a;
  return crealf(a) + 2 * cimagf(a);
}

__attribute__((noinline)) static double _Complex square(double _Complex z) { return z * z; }
static double through_call(double *x, int n) {
  double _Complex r = square(x[0] + x[1] * I) * square(x[2]);
  return creal(r) + 3 * cimag(r);
}

int main(void) {
  double x[6];
  for (int trial = 1; trial <= 2; trial++) {
    seed(trial);
    fill(x, 6, -1, 1);
    CHECK_GRADIENT(product, x, 4);
    CHECK_GRADIENT(quotient, x, 4);
    CHECK_GRADIENT(horner, x, 6);
    CHECK_GRADIENT(mandelbrot, x, 2);
    CHECK_GRADIENT(magnitude, x, 2);
    CHECK_GRADIENT(through_call, x, 4);
  }
  float z[2] = {0.5f, -2}, dz[2] = {0, 0};
  __enzyme_autodiff((void *)single, enzyme_dup, z, dz);
  check_close("single", 0, dz[0], 2 * 0.5 + 4 * -2, 1e-6);
  check_close("single", 1, dz[1], 2 * 2 + 4 * 0.5, 1e-6);
  return finish("complex");
}
