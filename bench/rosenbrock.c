// The Rosenbrock function of many variables.
#include "bench.h"

UNDER_TEST double rosenbrock(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; i++) {
    double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    sum += 100 * a * a + b * b;
  }
  return sum;
}

int main(int count, char **words) {
  arguments(count, words);
  int n = 1000000;
  double *x = numbers(n), *d_x = zeros(n);
  MEASURE("rosenbrock", , keep(rosenbrock(x, n)),
          __enzyme_autodiff((void *)rosenbrock, x, d_x, n));
}
