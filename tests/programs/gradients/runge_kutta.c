// Steps of the classical Runge-Kutta method, for a pendulum and for the Lorenz system.
#include "check.h"

static void pendulum(const double *y, double *dy, double damping) {
  dy[0] = y[1];
  dy[1] = -sin(y[0]) - damping * y[1];
}

static void step(double *y, double h, double damping) {
  double k1[2], k2[2], k3[2], k4[2], t[2];
  pendulum(y, k1, damping);
  for (int i = 0; i < 2; i++) t[i] = y[i] + h / 2 * k1[i];
  pendulum(t, k2, damping);
  for (int i = 0; i < 2; i++) t[i] = y[i] + h / 2 * k2[i];
  pendulum(t, k3, damping);
  for (int i = 0; i < 2; i++) t[i] = y[i] + h * k3[i];
  pendulum(t, k4, damping);
  for (int i = 0; i < 2; i++) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
}

static double one_step(double *x, int n) {
  double y[2] = {x[0], x[1]};
  step(y, x[2], x[3]);
  return y[0] * y[0] + 3 * y[1];
}

static double many_steps(double *x, int n) {
  double y[2] = {x[0], x[1]};
  for (int i = 0; i < 20; i++) step(y, x[2], x[3]);
  return y[0] * y[1];
}

__attribute__((noinline)) static void lorenz(const double *y, double *dy) {
  dy[0] = 10 * (y[1] - y[0]);
  dy[1] = y[0] * (28 - y[2]) - y[1];
  dy[2] = y[0] * y[1] - 8.0 / 3 * y[2];
}

static void lorenz_steps(double *in, double *out) {
  double y[3], k[4][3], t[3], h = 0.01;
  memcpy(y, in, sizeof y);
  for (int s = 0; s < 10; s++) {
    for (int stage = 0; stage < 4; stage++) {
      double part = stage == 3 ? h : stage == 0 ? 0 : h / 2;
      for (int i = 0; i < 3; i++) t[i] = stage ? y[i] + part * k[stage - 1][i] : y[i];
      lorenz(t, k[stage]);
    }
    for (int i = 0; i < 3; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
  memcpy(out, y, sizeof y);
}

int main(void) {
  double x[4] = {0.7, -0.3, 0.1, 0.2}, y[3] = {1, 2, 20};
  CHECK_GRADIENT(one_step, x, 4);
  CHECK_GRADIENT(many_steps, x, 4);
  CHECK_MAP(lorenz_steps, y, 3, 3);
  return finish("runge_kutta");
}
