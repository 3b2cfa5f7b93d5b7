// Steps of the classical Runge-Kutta method for the Lorenz system.
#include "bench.h"

static void lorenz(const double *y, double *dy) {
  dy[0] = 10 * (y[1] - y[0]);
  dy[1] = y[0] * (28 - y[2]) - y[1];
  dy[2] = y[0] * y[1] - 8.0 / 3 * y[2];
}

static inline void runge_kutta_step(double *y, double h) {
  double k1[3], k2[3], k3[3], k4[3], t[3];
  lorenz(y, k1);
  for (int i = 0; i < 3; i++) t[i] = y[i] + h / 2 * k1[i];
  lorenz(t, k2);
  for (int i = 0; i < 3; i++) t[i] = y[i] + h / 2 * k2[i];
  lorenz(t, k3);
  for (int i = 0; i < 3; i++) t[i] = y[i] + h * k3[i];
  lorenz(t, k4);
  for (int i = 0; i < 3; i++) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
}

UNDER_TEST void runge_kutta(double *y, double h, int steps) {
  for (int s = 0; s < steps; s++) runge_kutta_step(y, h);
}

static void lorenz_adjoint(const double *y, const double *dy_adj, double *y_adj) {
  y_adj[0] += -10 * dy_adj[0] + (28 - y[2]) * dy_adj[1] + y[1] * dy_adj[2];
  y_adj[1] += 10 * dy_adj[0] - dy_adj[1] + y[0] * dy_adj[2];
  y_adj[2] += -y[0] * dy_adj[1] - 8.0 / 3 * dy_adj[2];
}

static void by_hand(double *y, double *y_adj, double h, int steps) {
  double (*path)[3] = (double (*)[3])malloc(sizeof(double[3]) * steps), k[3], t2[3], t3[3], t4[3];
  for (int s = 0; s < steps; s++) {
    memcpy(path[s], y, sizeof(double[3]));
    runge_kutta_step(y, h);
  }
  for (int s = steps - 1; s >= 0; s--) {
    const double *p = path[s];
    lorenz(p, k);
    for (int i = 0; i < 3; i++) t2[i] = p[i] + h / 2 * k[i];
    lorenz(t2, k);
    for (int i = 0; i < 3; i++) t3[i] = p[i] + h / 2 * k[i];
    lorenz(t3, k);
    for (int i = 0; i < 3; i++) t4[i] = p[i] + h * k[i];
    double k_adj[3], t_adj[3] = {0}, sum[3], out[3];
    for (int i = 0; i < 3; i++) {
      out[i] = y_adj[i];
      k_adj[i] = h / 6 * out[i];
    }
    lorenz_adjoint(t4, k_adj, t_adj);
    for (int i = 0; i < 3; i++) {
      sum[i] = t_adj[i];
      k_adj[i] = h / 3 * out[i] + h * t_adj[i];
      t_adj[i] = 0;
    }
    lorenz_adjoint(t3, k_adj, t_adj);
    for (int i = 0; i < 3; i++) {
      sum[i] += t_adj[i];
      k_adj[i] = h / 3 * out[i] + h / 2 * t_adj[i];
      t_adj[i] = 0;
    }
    lorenz_adjoint(t2, k_adj, t_adj);
    for (int i = 0; i < 3; i++) {
      sum[i] += t_adj[i];
      k_adj[i] = h / 6 * out[i] + h / 2 * t_adj[i];
    }
    lorenz_adjoint(p, k_adj, sum);
    for (int i = 0; i < 3; i++) y_adj[i] = out[i] + sum[i];
  }
  free(path);
}

int main(int count, char **words) {
  arguments(count, words);
  double y[3], d_y[3], kept[3];
  watch(y);
  watch(d_y);
#define RESTORE (set(y, 3, 1), set(d_y, 3, 1))
#define GRADIENT(steps)                                                                          \
  __enzyme_autodiff((void *)runge_kutta, enzyme_dup, y, d_y, enzyme_const, 1e-4, enzyme_const, steps)
  const int sizes[] = {40000, 200000, 1000000};
  for (int s = 0; s < (tiny ? 1 : 3); s++) {
    int steps = sizes[s];
    at("steps=%d", steps);
    // Few steps to compare: the system is chaotic.
    RESTORE;
    GRADIENT(2000);
    memcpy(kept, d_y, sizeof kept);
    RESTORE;
    by_hand(y, d_y, 1e-4, 2000);
    agree("runge-kutta", kept, d_y, 3);
    COMPARE("runge-kutta", RESTORE, runge_kutta(y, 1e-4, steps), GRADIENT(steps),
            by_hand(y, d_y, 1e-4, steps));
  }
}
