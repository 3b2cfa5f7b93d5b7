// A dot product. Its gradient reads two arrays and updates two: four times the primal's traffic.
#include "bench.h"

UNDER_TEST double dot(const double *ALIAS x, const double *ALIAS y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

int main(void) {
  int n = 1000000;
  double *x = numbers(n), *y = numbers(n), *d_x = zeros(n), *d_y = zeros(n);
  MEASURE("dot", , keep(dot(x, y, n)), __enzyme_autodiff((void *)dot, x, d_x, y, d_y, n));
}
