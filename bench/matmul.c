// A matrix product, with the loops in three orders.
#include "bench.h"

UNDER_TEST void matmul_ijk(const double *ALIAS a, const double *ALIAS b, double *ALIAS c, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

UNDER_TEST void matmul_ikj(const double *ALIAS a, const double *ALIAS b, double *ALIAS c, int n) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// The second matrix is transposed.
UNDER_TEST void matmul_abt(const double *ALIAS a, const double *ALIAS b, double *ALIAS c, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[j * n + k];
      c[i * n + j] = sum;
    }
}

int main(void) {
  int n = 384, size = n * n;
  double *a = numbers(size), *b = numbers(size), *c = zeros(size);
  double *d_a = zeros(size), *d_b = zeros(size), *d_c = zeros(size);
#define ROW(name, f)                                   \
  MEASURE(name, set(d_c, size, 1), f(a, b, c, n),      \
          __enzyme_autodiff((void *)f, a, d_a, b, d_b, c, d_c, n))
  ROW("matmul i j k", matmul_ijk);
  ROW("matmul i k j", matmul_ikj);
  ROW("matmul a b^T", matmul_abt);
}
