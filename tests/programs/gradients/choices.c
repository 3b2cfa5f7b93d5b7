// Choices between memory that has derivatives and memory that has none. Optimizers load once, from
// an address that they choose.
#include "check.h"

static double alternating(const double *x, const double *given, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double v = i & 1 ? x[i] : given[i];
    sum += v * v * x[0];
  }
  return sum;
}

static double nested(const double *x, const double *given, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double v = x[i] > 0.5 ? x[i] : given[i] > 0 ? given[n - 1 - i] : x[n - 1 - i];
    sum += sin(v) * x[i];
  }
  return sum;
}

struct point { double at; int kind; };

static double fields(const double *x, const double *given, int n) {
  struct point points[2] = {{x[0] * x[1], 0}, {given[0], 1}};
  double first = x[2] > given[2] ? points[0].at : given[1];
  double second = n > 2 ? x[3] : points[1].at;
  return first * second + exp(first);
}

typedef double (*choice)(const double *, const double *, int);

static void check(const char *name, choice f, void (*reverse)(double *, double *, double *, int),
                  double (*forward)(double *, double *, double *, int)) {
  double x[8], given[8], d[8] = {0};
  fill(x, 8, -1, 2);
  fill(given, 8, -1, 2);
  reverse(x, d, given, 8);
  for (int i = 0; i < 8; i++) {
    double tangent[8] = {0}, h = 1e-6, at = x[i];
    tangent[i] = 1;
    double got = forward(x, tangent, given, 8);
    x[i] = at + h;
    double want = f(x, given, 8);
    x[i] = at - h;
    want = (want - f(x, given, 8)) / (2 * h);
    x[i] = at;
    check_close(name, i, got, want, 1e-6);
    check_close(name, i, d[i], want, 1e-6);
  }
}

#define REQUESTS(f)                                                                \
  static void f##_reverse(double *x, double *d, double *given, int n) {            \
    __enzyme_autodiff((void *)f, enzyme_dup, x, d, enzyme_const, given, n);        \
  }                                                                                \
  static double f##_forward(double *x, double *d, double *given, int n) {          \
    return __enzyme_fwddiff((void *)f, enzyme_dup, x, d, enzyme_const, given, n);  \
  }
REQUESTS(alternating)
REQUESTS(nested)
REQUESTS(fields)

int main(void) {
  check("alternating", alternating, alternating_reverse, alternating_forward);
  check("nested", nested, nested_reverse, nested_forward);
  check("fields", fields, fields_reverse, fields_forward);
  return finish("choices");
}
