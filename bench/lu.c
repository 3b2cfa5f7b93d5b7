// LU decomposition in place, without pivoting.
#include "bench.h"

UNDER_TEST void lu(double *a, int n) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / a[k * n + k];
      a[i * n + k] = factor;
      for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
}

int main(int count, char **words) {
  arguments(count, words);
  int n = 400, size = n * n;
  double *start = numbers(size), *a = zeros(size), *d_a = zeros(size);
  for (int i = 0; i < n; i++) start[i * n + i] += n;
  MEASURE("lu", (memcpy(a, start, size * sizeof(double)), set(d_a, size, 1)), lu(a, n),
          __enzyme_autodiff((void *)lu, a, d_a, n));
}
