// The gradient descent that the evals with a derivative in a derivative share.
#ifndef EVALS_ARGMIN_H
#define EVALS_ARGMIN_H

#include "request.h"

// A function of a point, and its gradient; both may depend on another point.
typedef double (*objective)(const double *x, const double *other);
typedef void (*slope)(const double *x, const double *other, double *gradient);

enum { ARGMIN_MOST = 2 };

static inline double argmin_norm(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

// Where f is least, beginning at `start`.
static inline void argmin(objective f, slope gradient_of_f, const double *other, const double *start,
                          double *x, int n) {
  double g[ARGMIN_MOST], next[ARGMIN_MOST], step[ARGMIN_MOST], rate = 1e-5;
  for (int i = 0; i < n; i++) x[i] = start[i];
  double value = f(x, other);
  gradient_of_f(x, other, g);
  int rounds = 0;
  while (argmin_norm(g, n) > 1e-5) {
    if (rounds == 10) {
      rate *= 2;
      rounds = 0;
      continue;
    }
    for (int i = 0; i < n; i++) {
      next[i] = x[i] - rate * g[i];
      step[i] = x[i] - next[i];
    }
    if (argmin_norm(step, n) <= 1e-5) break;
    double next_value = f(next, other);
    if (next_value < value) {
      for (int i = 0; i < n; i++) x[i] = next[i];
      value = next_value;
      gradient_of_f(x, other, g);
      rounds++;
    } else {
      rate /= 2;
      rounds = 0;
    }
  }
}

#endif
