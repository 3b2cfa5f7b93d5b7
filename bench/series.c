// The sum of x^i / i.
#include "bench.h"

UNDER_TEST double series_pow(double x, int n) {
  double sum = 0;
  for (int i = 1; i <= n; i++) sum += pow(x, i) / i;
  return sum;
}

UNDER_TEST double series_product(double x, int n) {
  double sum = 0, power = 1;
  for (int i = 1; i <= n; i++) {
    power *= x;
    sum += power / i;
  }
  return sum;
}

int main(int count, char **words) {
  arguments(count, words);
  // The gradient may be inlined here and must not be compiled for this one number.
  volatile double half = 0.5, almost_one = 0.999999;
  MEASURE("series by pow", , keep(series_pow(half, 300000)),
          keep(__enzyme_autodiff((void *)series_pow, half, 300000)));
  MEASURE("series by product", , keep(series_product(almost_one, 3000000)),
          keep(__enzyme_autodiff((void *)series_product, almost_one, 3000000)));
}
