// A matrix product, with the loops in three orders. Gradients, also those by hand, compute the product
// as well.
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

// The derivatives of a b, whatever the order of its loops: by rows of b and of the product.
UNDER_TEST void by_hand(const double *restrict a, double *restrict d_a, const double *restrict b,
                        double *restrict d_b, const double *restrict d_c, int n) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double sum = 0, factor = a[i * n + k];
      for (int j = 0; j < n; j++) {
        sum += d_c[i * n + j] * b[k * n + j];
        d_b[k * n + j] += factor * d_c[i * n + j];
      }
      d_a[i * n + k] += sum;
    }
}

// Those of a b^T, by rows too.
UNDER_TEST void by_hand_abt(const double *restrict a, double *restrict d_a, const double *restrict b,
                            double *restrict d_b, const double *restrict d_c, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double factor = d_c[i * n + j];
      for (int k = 0; k < n; k++) {
        d_a[i * n + k] += factor * b[j * n + k];
        d_b[j * n + k] += factor * a[i * n + k];
      }
    }
}

int main(int count, char **words) {
  arguments(count, words);
  for (int n = tiny ? 6 : 96; n <= (tiny ? 6 : 768); n = n < 384 ? 384 : 2 * n) {
    int size = n * n;
    double *a = numbers(size), *b = uniforms(size), *c = zeros(size);
    double *d_a = zeros(size), *d_b = zeros(size), *d_c = zeros(size);
    double *expected_a = zeros(size), *expected_b = zeros(size);
    at("n=%d", n);
#define RESTORE (set(c, size, 0), set(d_c, size, 1))
#define GRADIENT(f)                                                                               \
  __enzyme_autodiff_void((void *)f, enzyme_dup, a, d_a, enzyme_dup, b, d_b, enzyme_dup, c, d_c,   \
                         enzyme_const, n)
#define ROW(name, f, hand)                                                                        \
  RESTORE, set(d_a, size, 0), set(d_b, size, 0), set(expected_a, size, 0), set(expected_b, size, 0); \
  GRADIENT(f);                                                                                    \
  RESTORE;                                                                                        \
  hand(a, expected_a, b, expected_b, d_c, n);                                                     \
  agree(name, d_a, expected_a, size);                                                             \
  agree(name, d_b, expected_b, size);                                                             \
  share_number("n", n), share("a", a, size), share("b", b, size);                                 \
  share("result", d_a, size), share("result", d_b, size);                                         \
  COMPARE(name, RESTORE, f(a, b, c, n), GRADIENT(f),                                              \
          (f(a, b, c, n), hand(a, expected_a, b, expected_b, d_c, n)))
    ROW("matmul i j k", matmul_ijk, by_hand);
    ROW("matmul i k j", matmul_ikj, by_hand);
    ROW("matmul a b^T", matmul_abt, by_hand_abt);
    free(a), free(b), free(c), free(d_a), free(d_b), free(d_c), free(expected_a), free(expected_b);
  }
}
