// The positive part of each element.
#include "bench.h"

UNDER_TEST void relu(const double *ALIAS x, double *ALIAS out, int n) {
  for (int i = 0; i < n; i++) out[i] = x[i] > 0 ? x[i] : 0;
}

int main(int count, char **words) {
  arguments(count, words);
  int n = 1000000;
  double *x = numbers(n), *out = zeros(n), *d_x = zeros(n), *d_out = zeros(n);
  MEASURE("relu", set(d_out, n, 1), relu(x, out, n),
          __enzyme_autodiff((void *)relu, x, d_x, out, d_out, n));
}
