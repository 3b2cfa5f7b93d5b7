// Linear least squares: a polynomial through the signs of n points in [-1, 1].
#include "request.h"

static inline double sign_of(double t) { return (t > 0) - (t < 0); }

UNDER_TEST double llsq(const double *x, int m, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double t = -1 + 2.0 * i / (n - 1), residual = sign_of(t), power = 1;
    for (int j = 0; j < m; j++) {
      residual -= x[j] * power;
      power *= t;
    }
    sum += residual * residual;
  }
  return sum / 2;
}

UNDER_TEST void llsq_gradient(const double *x, double *d_x, int m, int n) {
  set(d_x, m, 0);
  __enzyme_autodiff((void *)llsq, enzyme_dup, x, d_x, enzyme_const, m, enzyme_const, n);
}

// The powers of one point are kept for the second loop, which then has no chain of products.
UNDER_TEST void llsq_by_hand(const double *restrict x, double *restrict d_x, int m, int n) {
  double *restrict powers = doubles(m);
  set(d_x, m, 0);
  for (int i = 0; i < n; i++) {
    double t = -1 + 2.0 * i / (n - 1), residual = sign_of(t), power = 1;
    for (int j = 0; j < m; j++) {
      powers[j] = power;
      residual -= x[j] * power;
      power *= t;
    }
    for (int j = 0; j < m; j++) d_x[j] -= residual * powers[j];
  }
  free(powers);
}
