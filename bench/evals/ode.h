// Runge-Kutta 4 on a chain: y' = f(y) with f(y)[0] = x[0] and f(y)[i] = x[i] * y[i - 1], from y = 0
// to time 2.
#include "request.h"

static void ode_slope(const double *x, const double *y, double *k, int n) {
  k[0] = x[0];
  for (int i = 1; i < n; i++) k[i] = x[i] * y[i - 1];
}

UNDER_TEST void ode(const double *x, double *y, int n, int steps) {
  double *k1 = doubles(n), *k2 = doubles(n), *k3 = doubles(n), *k4 = doubles(n), *t = doubles(n);
  double h = 2.0 / steps;
  for (int i = 0; i < n; i++) y[i] = 0;
  for (int s = 0; s < steps; s++) {
    ode_slope(x, y, k1, n);
    for (int i = 0; i < n; i++) t[i] = y[i] + h * k1[i] / 2;
    ode_slope(x, t, k2, n);
    for (int i = 0; i < n; i++) t[i] = y[i] + h * k2[i] / 2;
    ode_slope(x, t, k3, n);
    for (int i = 0; i < n; i++) t[i] = y[i] + h * k3[i];
    ode_slope(x, t, k4, n);
    for (int i = 0; i < n; i++) y[i] += h * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) / 6;
  }
  free(k1);
  free(k2);
  free(k3);
  free(k4);
  free(t);
}

// `seed` is the adjoint of y; it is used up.
UNDER_TEST void ode_gradient(const double *x, double *d_x, double *y, double *seed, int n,
                             int steps) {
  set(d_x, n, 0);
  __enzyme_autodiff_void((void *)ode, enzyme_dup, x, d_x, enzyme_dup, y, seed, enzyme_const, n,
                         enzyme_const, steps);
}

// The arguments of the four slopes: y itself, and those of the second to fourth.
static void ode_stages(const double *restrict x, const double *restrict y, double *restrict y2,
                       double *restrict y3, double *restrict y4, double h, int n) {
  y2[0] = y3[0] = y[0] + h / 2 * x[0];
  y4[0] = y[0] + h * x[0];
  for (int i = 1; i < n; i++) y2[i] = y[i] + h / 2 * x[i] * y[i - 1];
  for (int i = 1; i < n; i++) y3[i] = y[i] + h / 2 * x[i] * y2[i - 1];
  for (int i = 1; i < n; i++) y4[i] = y[i] + h * x[i] * y3[i - 1];
}

// Keeps y of every step, and computes the stages again. What comes out of a stage only reaches the
// entry before it, so the adjoints of the slopes are loops without a chain.
UNDER_TEST void ode_by_hand(const double *restrict x, double *restrict d_x, double *restrict y,
                            double *restrict seed, int n, int steps) {
  double *restrict path = doubles((size_t)n * steps), h = 2.0 / steps;
  double *restrict y2 = doubles(n), *restrict y3 = doubles(n), *restrict y4 = doubles(n);
  double *restrict d1 = doubles(n), *restrict d2 = doubles(n), *restrict d3 = doubles(n);
  set(y, n, 0);
  set(d_x, n, 0);
  for (int s = 0; s < steps; s++) {
    double *restrict now = path + (size_t)n * s;
    memcpy(now, y, n * sizeof(double));
    ode_stages(x, now, y2, y3, y4, h, n);
    y[0] += h * x[0];
    for (int i = 1; i < n; i++)
      y[i] += h / 6 * x[i] * (now[i - 1] + 2 * y2[i - 1] + 2 * y3[i - 1] + y4[i - 1]);
  }
  for (int s = steps - 1; s >= 0; s--) {
    const double *restrict now = path + (size_t)n * s;
    ode_stages(x, now, y2, y3, y4, h, n);
    int last = n - 1;
    d3[last] = d2[last] = h / 3 * seed[last];
    d1[last] = h / 6 * seed[last];
    for (int i = 0; i < last; i++) d3[i] = h / 3 * seed[i] + h * x[i + 1] * (h / 6) * seed[i + 1];
    for (int i = 0; i < last; i++) d2[i] = h / 3 * seed[i] + h / 2 * x[i + 1] * d3[i + 1];
    for (int i = 0; i < last; i++) d1[i] = h / 6 * seed[i] + h / 2 * x[i + 1] * d2[i + 1];
    d_x[0] += d1[0] + d2[0] + d3[0] + h / 6 * seed[0];
    for (int i = 1; i < n; i++)
      d_x[i] += d1[i] * now[i - 1] + d2[i] * y2[i - 1] + d3[i] * y3[i - 1] +
                h / 6 * seed[i] * y4[i - 1];
    for (int i = 0; i < last; i++)
      seed[i] += x[i + 1] * (d1[i + 1] + d2[i + 1] + d3[i + 1] + h / 6 * seed[i + 1]);
  }
  set(seed, n, 0);
  free(path);
  free(y2);
  free(y3);
  free(y4);
  free(d1);
  free(d2);
  free(d3);
}
