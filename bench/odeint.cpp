// Integrators of Boost.Odeint as they are, beside adjoints written by hand for the same steps:
// Euler for damped pendulums in a row, Runge-Kutta 4 for the Lorenz system.
#include "bench.h"

#include <array>
#include <boost/numeric/odeint.hpp>
using namespace boost::numeric::odeint;

enum { PENDULUMS = 16 };
static const double H = 1e-4, SIXTH = 1.0 / 6;

typedef std::array<double, 2 * PENDULUMS> row;
typedef std::array<double, 3> point;

// Angles, then speeds.
static inline void swing(const row &x, row &dxdt, double damping) {
  for (int i = 0; i < PENDULUMS; i++) {
    dxdt[i] = x[PENDULUMS + i];
    dxdt[PENDULUMS + i] = x[i] * (x[i] * x[i] * SIXTH - 1) - damping * x[PENDULUMS + i];
  }
}

UNDER_TEST void pendulums(double *state, double damping, int steps) {
  row x;
  for (int i = 0; i < 2 * PENDULUMS; i++) x[i] = state[i];
  auto system = [damping](const row &x, row &dxdt, double) { swing(x, dxdt, damping); };
  integrate_n_steps(euler<row>(), system, x, 0.0, H, steps);
  for (int i = 0; i < 2 * PENDULUMS; i++) state[i] = x[i];
}

static void pendulums_by_hand(double *state, double *state_adj, double damping, int steps) {
  row *path = (row *)malloc(sizeof(row) * steps), x, d;
  for (int i = 0; i < 2 * PENDULUMS; i++) x[i] = state[i];
  for (int s = 0; s < steps; s++) {
    path[s] = x;
    swing(x, d, damping);
    for (int i = 0; i < 2 * PENDULUMS; i++) x[i] += H * d[i];
  }
  for (int i = 0; i < 2 * PENDULUMS; i++) state[i] = x[i];
  for (int s = steps - 1; s >= 0; s--)
    for (int i = 0; i < PENDULUMS; i++) {
      double angle = path[s][i], d_adj = H * state_adj[PENDULUMS + i];
      state_adj[PENDULUMS + i] += H * state_adj[i] - damping * d_adj;
      state_adj[i] -= (1 - angle * angle / 2) * d_adj;
    }
  free(path);
}

static inline void flow(const point &x, point &dxdt) {
  dxdt[0] = 10 * (x[1] - x[0]);
  dxdt[1] = x[0] * (28 - x[2]) - x[1];
  dxdt[2] = x[0] * x[1] - 8.0 / 3 * x[2];
}

UNDER_TEST void lorenz(double *state, int steps) {
  point x = {state[0], state[1], state[2]};
  auto system = [](const point &x, point &dxdt, double) { flow(x, dxdt); };
  integrate_n_steps(runge_kutta4<point>(), system, x, 0.0, H, steps);
  for (int i = 0; i < 3; i++) state[i] = x[i];
}

static inline point shifted(const point &x, double h, const point &k) {
  return {x[0] + h * k[0], x[1] + h * k[1], x[2] + h * k[2]};
}

static inline void flow_adjoint(const point &x, const point &d_adj, point &x_adj) {
  x_adj[0] += -10 * d_adj[0] + (28 - x[2]) * d_adj[1] + x[1] * d_adj[2];
  x_adj[1] += 10 * d_adj[0] - d_adj[1] + x[0] * d_adj[2];
  x_adj[2] += -x[0] * d_adj[1] - 8.0 / 3 * d_adj[2];
}

static void lorenz_by_hand(double *state, double *state_adj, int steps) {
  point *path = (point *)malloc(sizeof(point) * steps), k1, k2, k3, k4;
  point x = {state[0], state[1], state[2]};
  for (int s = 0; s < steps; s++) {
    path[s] = x;
    flow(x, k1);
    flow(shifted(x, H / 2, k1), k2);
    flow(shifted(x, H / 2, k2), k3);
    flow(shifted(x, H, k3), k4);
    for (int i = 0; i < 3; i++) x[i] += H / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  for (int i = 0; i < 3; i++) state[i] = x[i];
  point out = {state_adj[0], state_adj[1], state_adj[2]};
  for (int s = steps - 1; s >= 0; s--) {
    const point &p = path[s];
    flow(p, k1);
    point t2 = shifted(p, H / 2, k1);
    flow(t2, k2);
    point t3 = shifted(p, H / 2, k2);
    flow(t3, k3);
    point t4 = shifted(p, H, k3), sum = out, t_adj, k_adj;
    k_adj = {H / 6 * out[0], H / 6 * out[1], H / 6 * out[2]};
    t_adj = {0, 0, 0};
    flow_adjoint(t4, k_adj, t_adj);
    for (int i = 0; i < 3; i++) {
      sum[i] += t_adj[i];
      k_adj[i] = H / 3 * out[i] + H * t_adj[i];
    }
    t_adj = {0, 0, 0};
    flow_adjoint(t3, k_adj, t_adj);
    for (int i = 0; i < 3; i++) {
      sum[i] += t_adj[i];
      k_adj[i] = H / 3 * out[i] + H / 2 * t_adj[i];
    }
    t_adj = {0, 0, 0};
    flow_adjoint(t2, k_adj, t_adj);
    for (int i = 0; i < 3; i++) {
      sum[i] += t_adj[i];
      k_adj[i] = H / 6 * out[i] + H / 2 * t_adj[i];
    }
    flow_adjoint(p, k_adj, sum);
    out = sum;
  }
  for (int i = 0; i < 3; i++) state_adj[i] = out[i];
  free(path);
}

int main(int count, char **words) {
  arguments(count, words);
  const int n = 2 * PENDULUMS;
  double *start = numbers(n), *x = zeros(n), *d_x = zeros(n), *kept = zeros(n);
#define RESTORE(count) (memcpy(x, start, (count) * sizeof(double)), set(d_x, count, 1))
#define PENDULUMS_GRADIENT(steps)                                                                \
  __enzyme_autodiff((void *)pendulums, enzyme_dup, x, d_x, enzyme_const, 0.1, enzyme_const, steps)
#define LORENZ_GRADIENT(steps)                                                                   \
  __enzyme_autodiff((void *)lorenz, enzyme_dup, x, d_x, enzyme_const, steps)
  const int sizes[] = {3000, 30000, 300000, 1500000};
  for (int s = 0; s < (tiny ? 1 : 4); s++) {
    int steps = tiny ? 10 : sizes[s];
    at("steps=%d", steps);
    RESTORE(n);
    PENDULUMS_GRADIENT(steps);
    memcpy(kept, d_x, n * sizeof(double));
    RESTORE(n);
    pendulums_by_hand(x, d_x, 0.1, steps);
    agree("euler of odeint", kept, d_x, n);
    COMPARE("euler of odeint", RESTORE(n), pendulums(x, 0.1, steps), PENDULUMS_GRADIENT(steps),
            pendulums_by_hand(x, d_x, 0.1, steps));
    // Few steps to compare: the system is chaotic.
    int compared = steps < 2000 ? steps : 2000;
    RESTORE(3);
    LORENZ_GRADIENT(compared);
    memcpy(kept, d_x, 3 * sizeof(double));
    RESTORE(3);
    lorenz_by_hand(x, d_x, compared);
    agree("runge-kutta of odeint", kept, d_x, 3);
    COMPARE("runge-kutta of odeint", RESTORE(3), lorenz(x, steps), LORENZ_GRADIENT(steps),
            lorenz_by_hand(x, d_x, steps));
  }
}
