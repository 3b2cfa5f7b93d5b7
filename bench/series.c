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

int main(void) {
  MEASURE("series by pow", , keep(series_pow(0.5, 300000)),
          keep(__enzyme_autodiff((void *)series_pow, 0.5, 300000)));
  MEASURE("series by product", , keep(series_product(0.999999, 3000000)),
          keep(__enzyme_autodiff((void *)series_product, 0.999999, 3000000)));
}
