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

#define FUNCTION(name)                                                     \
  static double part_of_##name(double *x, int n) {                         \
    double _Complex r = name(x[0] + x[1] * I) * (x[2] + x[3] * I);         \
    return creal(r) + 2 * cimag(r);                                        \
  }
FUNCTION(cexp) FUNCTION(clog) FUNCTION(csqrt) FUNCTION(csin) FUNCTION(ccos) FUNCTION(ctan)
FUNCTION(csinh) FUNCTION(ccosh) FUNCTION(ctanh)
static double power(double *x, int n) {
  double _Complex r = cpow(x[0] + x[1] * I, x[2] + x[3] * I);
  return creal(r) + 2 * cimag(r) + carg(r);
}
static double single_functions(double *x, int n) {
  float _Complex z = (float)x[0] + (float)x[1] * I, w = cexpf(csqrtf(z)) * cpowf(z, (float)x[2]);
  return crealf(w) * cimagf(w);
}
static double double_functions(double *x, int n) {
  double _Complex z = x[0] + x[1] * I, w = cexp(csqrt(z)) * cpow(z, x[2]);
  return creal(w) * cimag(w);
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
    for (int quadrant = 0; quadrant < 4; quadrant++) {
      x[0] = (quadrant & 1 ? -1 : 1) * uniform(0.25, 1), x[1] = (quadrant & 2 ? -1 : 1) * uniform(0.25, 1);
      CHECK_GRADIENT(part_of_cexp, x, 4);
      CHECK_GRADIENT(part_of_clog, x, 4);
      CHECK_GRADIENT(part_of_csqrt, x, 4);
      CHECK_GRADIENT(part_of_csin, x, 4);
      CHECK_GRADIENT(part_of_ccos, x, 4);
      CHECK_GRADIENT(part_of_ctan, x, 4);
      CHECK_GRADIENT(part_of_csinh, x, 4);
      CHECK_GRADIENT(part_of_ccosh, x, 4);
      CHECK_GRADIENT(part_of_ctanh, x, 4);
      CHECK_GRADIENT(power, x, 4);
      double d[3] = {0}, e[3] = {0};
      for (int i = 0; i < 3; i++) x[i] = (float)x[i];
      __enzyme_autodiff((void *)single_functions, enzyme_dup, x, d, enzyme_const, 3);
      __enzyme_autodiff((void *)double_functions, enzyme_dup, x, e, enzyme_const, 3);
      for (int i = 0; i < 3; i++) check_close("single_functions", i, d[i], e[i], 1e-4);
    }
  }
  float z[2] = {0.5f, -2}, dz[2] = {0, 0};
  __enzyme_autodiff((void *)single, enzyme_dup, z, dz);
  check_close("single", 0, dz[0], 2 * 0.5 + 4 * -2, 1e-6);
  check_close("single", 1, dz[1], 2 * 2 + 4 * 0.5, 1e-6);
  return finish("complex");
}
