// The sum of x^i / i up to ten million terms: long enough that a cache per iteration would show.
#include "check.h"

static double series(double x, int terms) {
  double sum = 0;
  for (int i = 1; i <= terms; i++) sum += pow(x, i) / i;
  return sum;
}

// The derivative is the sum of x^(i-1), which is 1 / (1 - x) in the limit.
int main(void) {
  double x = 0.5;
  check_close("reverse", 0, __enzyme_autodiff((void *)series, enzyme_out, x, enzyme_const, 10000000), 2.0, 1e-12);
  check_close("forward", 0, __enzyme_fwddiff((void *)series, enzyme_dup, x, 1.0, enzyme_const, 10000000), 2.0, 1e-12);
  return finish("series");
}
