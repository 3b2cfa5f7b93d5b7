// Steps of the classical Runge-Kutta method for the Lorenz system.
#include "bench.h"

static void lorenz(const double *y, double *dy) {
  dy[0] = 10 * (y[1] - y[0]);
  dy[1] = y[0] * (28 - y[2]) - y[1];
  dy[2] = y[0] * y[1] - 8.0 / 3 * y[2];
}

UNDER_TEST void runge_kutta(double *y, double h, int steps) {
  double k1[3], k2[3], k3[3], k4[3], t[3];
  for (int s = 0; s < steps; s++) {
    lorenz(y, k1);
    for (int i = 0; i < 3; i++) t[i] = y[i] + h / 2 * k1[i];
    lorenz(t, k2);
    for (int i = 0; i < 3; i++) t[i] = y[i] + h / 2 * k2[i];
    lorenz(t, k3);
    for (int i = 0; i < 3; i++) t[i] = y[i] + h * k3[i];
    lorenz(t, k4);
    for (int i = 0; i < 3; i++) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
}

int main(void) {
  double y[3], d_y[3];
  watch(y);
  watch(d_y);
  MEASURE("runge-kutta", (set(y, 3, 1), set(d_y, 3, 1)), runge_kutta(y, 1e-4, 200000),
          __enzyme_autodiff((void *)runge_kutta, enzyme_dup, y, d_y, enzyme_const, 1e-4, 200000));
}
