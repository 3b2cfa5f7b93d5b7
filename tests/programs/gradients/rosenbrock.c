// The Rosenbrock function in two variables by value, and in many through a pointer.
#include "check.h"

static double two(double x, double y) { return (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x); }

static double many(double *x, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; i++) {
    double a = 1 - x[i], b = x[i + 1] - x[i] * x[i];
    sum += a * a + 100 * b * b;
  }
  return sum;
}

struct pair { double x, y; };
extern struct pair __enzyme_autodiff_pair(void *, ...);

int main(void) {
  double x[10];
  seed(7);
  fill(x, 10, -2, 2);
  CHECK_GRADIENT(many, x, 10);
  struct pair g = __enzyme_autodiff_pair((void *)two, enzyme_out, 0.5, enzyme_out, -1.0);
  check_close("two", 0, g.x, -2 * 0.5 - 400 * 0.5 * (-1.25), 1e-12);
  check_close("two", 1, g.y, 200 * (-1.25), 1e-12);
  double t = __enzyme_fwddiff((void *)two, enzyme_dup, 0.5, 1.0, enzyme_dup, -1.0, 2.0);
  check_close("two forward", 0, t, g.x + 2 * g.y, 1e-12);
  return finish("rosenbrock");
}
