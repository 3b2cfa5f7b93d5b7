// The Brusselator: a reaction with diffusion on a square with periodic edges, by Euler's method.
#include "bench.h"

enum { SIDE = 32, CELLS = SIDE * SIDE };
static const double A = 3.4, B = 1, ALPHA = 10.0 / SIDE, H = 1e-3;

static inline int wrapped(int i) { return i < 0 ? i + SIDE : i >= SIDE ? i - SIDE : i; }

static void slope(const double *ALIAS u, const double *ALIAS v, double *ALIAS du,
                  double *ALIAS dv) {
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      int at = i * SIDE + j, north = wrapped(i - 1) * SIDE + j, south = wrapped(i + 1) * SIDE + j;
      int west = i * SIDE + wrapped(j - 1), east = i * SIDE + wrapped(j + 1);
      double reaction = u[at] * u[at] * v[at];
      du[at] = ALPHA * (u[north] + u[south] + u[west] + u[east] - 4 * u[at]) + B + reaction -
               (A + 1) * u[at];
      dv[at] = ALPHA * (v[north] + v[south] + v[west] + v[east] - 4 * v[at]) + A * u[at] - reaction;
    }
}

UNDER_TEST void brusselator(double *ALIAS u, double *ALIAS v, int steps) {
  double du[CELLS], dv[CELLS];
  for (int s = 0; s < steps; s++) {
    slope(u, v, du, dv);
    for (int i = 0; i < CELLS; i++) {
      u[i] += H * du[i];
      v[i] += H * dv[i];
    }
  }
}

// The adjoint of `slope`, added to u_adj and v_adj. What a cell spreads to its neighbours, it also gets
// from them, so that the adjoint can read around a cell as the function does, and write to it alone.
static void slope_adjoint(const double *restrict u, const double *restrict v,
                          const double *restrict du_adj, const double *restrict dv_adj,
                          double *restrict u_adj, double *restrict v_adj) {
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      int at = i * SIDE + j, north = wrapped(i - 1) * SIDE + j, south = wrapped(i + 1) * SIDE + j;
      int west = i * SIDE + wrapped(j - 1), east = i * SIDE + wrapped(j + 1);
      double p = du_adj[at], q = dv_adj[at], r = p - q;
      u_adj[at] += ALPHA * (du_adj[north] + du_adj[south] + du_adj[west] + du_adj[east] - 4 * p) +
                   A * q - (A + 1) * p + 2 * u[at] * v[at] * r;
      v_adj[at] += ALPHA * (dv_adj[north] + dv_adj[south] + dv_adj[west] + dv_adj[east] - 4 * q) +
                   u[at] * u[at] * r;
    }
}

static void by_hand(double *restrict u, double *restrict v, double *restrict u_adj,
                    double *restrict v_adj, int steps) {
  double *restrict path = doubles((size_t)2 * CELLS * steps);
  double p[CELLS], q[CELLS];
  for (int s = 0; s < steps; s++) {
    memcpy(path + 2 * CELLS * s, u, sizeof(double) * CELLS);
    memcpy(path + 2 * CELLS * s + CELLS, v, sizeof(double) * CELLS);
    slope(u, v, p, q);
    for (int i = 0; i < CELLS; i++) {
      u[i] += H * p[i];
      v[i] += H * q[i];
    }
  }
  for (int s = steps - 1; s >= 0; s--) {
    for (int i = 0; i < CELLS; i++) {
      p[i] = H * u_adj[i];
      q[i] = H * v_adj[i];
    }
    slope_adjoint(path + 2 * CELLS * s, path + 2 * CELLS * s + CELLS, p, q, u_adj, v_adj);
  }
  free(path);
}

int main(int count, char **words) {
  arguments(count, words);
  double *start = numbers(2 * CELLS), *u = zeros(CELLS), *v = zeros(CELLS);
  double *d_u = zeros(CELLS), *d_v = zeros(CELLS), *kept = zeros(CELLS);
  for (int i = 0; i < 2 * CELLS; i++) start[i] = 1.5 + 0.5 * start[i];
#define RESTORE                                                                                  \
  (memcpy(u, start, CELLS * sizeof(double)), memcpy(v, start + CELLS, CELLS * sizeof(double)),   \
   set(d_u, CELLS, 1), set(d_v, CELLS, 0.5))
#define GRADIENT                                                                                 \
  __enzyme_autodiff((void *)brusselator, enzyme_dup, u, d_u, enzyme_dup, v, d_v, enzyme_const, steps)
  const int sizes[] = {100, 500, 2500, 5000};
  for (int s = 0; s < (tiny ? 1 : 4); s++) {
    int steps = tiny ? 2 : sizes[s];
    at("steps=%d", steps);
    RESTORE;
    GRADIENT;
    memcpy(kept, d_u, CELLS * sizeof(double));
    RESTORE;
    by_hand(u, v, d_u, d_v, steps);
    agree("brusselator", kept, d_u, CELLS);
    COMPARE("brusselator", RESTORE, brusselator(u, v, steps), GRADIENT,
            by_hand(u, v, d_u, d_v, steps));
  }
}
