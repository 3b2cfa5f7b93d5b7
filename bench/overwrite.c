// Loops that overwrite their input: the old values are needed for the gradient.
#include "bench.h"

UNDER_TEST void square(double *x, int n) {
  for (int i = 0; i < n; i++) x[i] = x[i] * x[i];
}

UNDER_TEST void exponential(double *x, int n) {
  for (int i = 0; i < n; i++) x[i] = exp(x[i]);
}

UNDER_TEST double recurrence(double *x, int n) {
  for (int i = 1; i < n; i++) x[i] = x[i] * x[i - 1] + 0.5;
  return x[n - 1];
}

int main(int count, char **words) {
  arguments(count, words);
  int n = 1000000;
  double *start = numbers(n), *x = zeros(n), *d_x = zeros(n);
#define RESTORE (memcpy(x, start, n * sizeof(double)), set(d_x, n, 1))
  MEASURE("overwrite by square", RESTORE, square(x, n), __enzyme_autodiff((void *)square, x, d_x, n));
  MEASURE("overwrite by exp", RESTORE, exponential(x, n),
          __enzyme_autodiff((void *)exponential, x, d_x, n));
  MEASURE("overwrite recurrence", RESTORE, keep(recurrence(x, n)),
          __enzyme_autodiff((void *)recurrence, x, d_x, n));
}
