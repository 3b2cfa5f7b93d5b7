// A dot product. Its gradient reads two arrays and updates two: four times the primal's traffic.
#include "bench.h"

UNDER_TEST double dot(const double *ALIAS x, const double *ALIAS y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

UNDER_TEST void by_hand(const double *restrict x, double *restrict d_x, const double *restrict y,
                        double *restrict d_y, int n) {
  for (int i = 0; i < n; i++) {
    d_x[i] += y[i];
    d_y[i] += x[i];
  }
}

int main(int count, char **words) {
  arguments(count, words);
  for (int n = tiny ? 50 : 20000; n <= (tiny ? 50 : 20000000); n *= 10) {
    double *x = numbers(n), *y = uniforms(n), *d_x = zeros(n), *d_y = zeros(n);
    double *expected_x = zeros(n), *expected_y = zeros(n);
#define GRADIENT                                                                                  \
  __enzyme_autodiff((void *)dot, enzyme_dup, x, d_x, enzyme_dup, y, d_y, enzyme_const, n)
    GRADIENT;
    by_hand(x, expected_x, y, expected_y, n);
    agree("dot", d_x, expected_x, n);
    agree("dot", d_y, expected_y, n);
    share("x", x, n), share("y", y, n), share("result", d_x, n), share("result", d_y, n);
    at("n=%d", n);
    COMPARE("dot", , keep(dot(x, y, n)), GRADIENT, by_hand(x, d_x, y, d_y, n));
    free(x), free(y), free(d_x), free(d_y), free(expected_x), free(expected_y);
  }
}
