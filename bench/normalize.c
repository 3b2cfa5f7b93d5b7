// out[i] = in[i] / mag(in). The optimizer hoists the call, and the gradient is linear in n.
#include "bench.h"

__attribute__((noinline, pure)) static double mag(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

UNDER_TEST void normalize(const double *ALIAS in, double *ALIAS out, int n) {
  for (int i = 0; i < n; i++) out[i] = in[i] / mag(in, n);
}

// Without `restrict` the call cannot be hoisted, and the primal itself is quadratic.
#ifdef RESTRICTED
#define N 1000000
#else
#define N 2000
#endif

int main(int count, char **words) {
  arguments(count, words);
  int n = N;
  double *in = numbers(n), *out = zeros(n), *d_in = zeros(n), *d_out = zeros(n);
  MEASURE("normalize", set(d_out, n, 1), normalize(in, out, n),
          __enzyme_autodiff((void *)normalize, in, d_in, out, d_out, n));
}
