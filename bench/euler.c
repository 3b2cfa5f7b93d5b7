// Steps of Euler's method for the oscillator of van der Pol, many of them side by side.
#include "bench.h"

enum { COUNT = 64 };
static const double H = 1e-3;

UNDER_TEST void euler(double *ALIAS x, double *ALIAS v, double mu, int n, int steps) {
  for (int s = 0; s < steps; s++)
    for (int i = 0; i < n; i++) {
      double a = mu * (1 - x[i] * x[i]) * v[i] - x[i];
      x[i] += H * v[i];
      v[i] += H * a;
    }
}

static void by_hand(double *restrict x, double *restrict v, double *restrict x_adj,
                    double *restrict v_adj, double mu, int n, int steps) {
  double *restrict path = doubles((size_t)2 * n * steps);
  for (int s = 0; s < steps; s++)
    for (int i = 0; i < n; i++) {
      path[2 * (s * n + i)] = x[i];
      path[2 * (s * n + i) + 1] = v[i];
      double a = mu * (1 - x[i] * x[i]) * v[i] - x[i];
      x[i] += H * v[i];
      v[i] += H * a;
    }
  for (int s = steps - 1; s >= 0; s--)
    for (int i = 0; i < n; i++) {
      double p = path[2 * (s * n + i)], q = path[2 * (s * n + i) + 1], a_adj = H * v_adj[i];
      v_adj[i] += H * x_adj[i] + mu * (1 - p * p) * a_adj;
      x_adj[i] -= (1 + 2 * mu * p * q) * a_adj;
    }
  free(path);
}

int main(int count, char **words) {
  arguments(count, words);
  double *start = numbers(2 * COUNT), *x = zeros(COUNT), *v = zeros(COUNT);
  double *d_x = zeros(COUNT), *d_v = zeros(COUNT), *kept = zeros(COUNT);
#define RESTORE                                                                                  \
  (memcpy(x, start, COUNT * sizeof(double)), memcpy(v, start + COUNT, COUNT * sizeof(double)),   \
   set(d_x, COUNT, 1), set(d_v, COUNT, 0.5))
#define GRADIENT                                                                                 \
  __enzyme_autodiff((void *)euler, enzyme_dup, x, d_x, enzyme_dup, v, d_v, enzyme_const, 2.0,    \
                    enzyme_const, COUNT, enzyme_const, steps)
  const int sizes[] = {4000, 40000, 400000};
  for (int s = 0; s < (tiny ? 1 : 3); s++) {
    int steps = sizes[s];
    at("steps=%d", steps);
    RESTORE;
    GRADIENT;
    memcpy(kept, d_x, COUNT * sizeof(double));
    RESTORE;
    by_hand(x, v, d_x, d_v, 2, COUNT, steps);
    agree("euler", kept, d_x, COUNT);
    COMPARE("euler", RESTORE, euler(x, v, 2, COUNT, steps), GRADIENT,
            by_hand(x, v, d_x, d_v, 2, COUNT, steps));
  }
}
