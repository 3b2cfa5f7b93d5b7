// The logarithm of a sum of exponentials, by way of the maximum.
#include "request.h"

UNDER_TEST double lse(const double *x, int n) {
  double most = x[0], sum = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > most) most = x[i];
  for (int i = 0; i < n; i++) sum += exp(x[i] - most);
  return most + log(sum);
}

UNDER_TEST void lse_gradient(const double *x, double *d_x, int n) {
  set(d_x, n, 0);
  __enzyme_autodiff((void *)lse, enzyme_dup, x, d_x, enzyme_const, n);
}

UNDER_TEST void lse_by_hand(const double *restrict x, double *restrict d_x, int n) {
  double most = x[0], sum = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > most) most = x[i];
  for (int i = 0; i < n; i++) sum += d_x[i] = exp(x[i] - most);
  double scale = 1 / sum;
  for (int i = 0; i < n; i++) d_x[i] *= scale;
}
