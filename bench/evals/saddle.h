// A saddle point: the derivative of an optimiser with derivatives in it. Names end in two letters:
// r or f, reverse or forward mode, of the outer derivative and of the inner one.
#include "argmin.h"

// f(x, y) = |x|^2 - |y|^2, negative, as a function of y.
static double saddle_lost(const double *y, const double *x) {
  return y[0] * y[0] + y[1] * y[1] - (x[0] * x[0] + x[1] * x[1]);
}

static void saddle_slope_r(const double *y, const double *x, double *gradient) {
  gradient[0] = gradient[1] = 0;
  __enzyme_autodiff((void *)saddle_lost, enzyme_dup, y, gradient, enzyme_const, x);
}

static void saddle_slope_f(const double *y, const double *x, double *gradient) {
  const double first[] = {1, 0}, second[] = {0, 1};
  gradient[0] = __enzyme_fwddiff((void *)saddle_lost, enzyme_dup, y, first, enzyme_const, x);
  gradient[1] = __enzyme_fwddiff((void *)saddle_lost, enzyme_dup, y, second, enzyme_const, x);
}

// The largest value over y.
#define SADDLE(name, slope)                                                        \
  UNDER_TEST double name(const double *x, const double *start) {                   \
    double y[2];                                                                   \
    argmin(saddle_lost, slope, x, start, y, 2);                                    \
    return -saddle_lost(y, x);                                                     \
  }
SADDLE(saddle_r, saddle_slope_r)
SADDLE(saddle_f, saddle_slope_f)

#define SADDLE_REVERSE(name, most)                                                 \
  UNDER_TEST void name(const double *x, const double *start, double *d_x) {        \
    d_x[0] = d_x[1] = 0;                                                           \
    __enzyme_autodiff((void *)most, enzyme_dup, x, d_x, enzyme_const, start);      \
  }
#define SADDLE_FORWARD(name, most)                                                 \
  UNDER_TEST void name(const double *x, const double *start, double *d_x) {        \
    double first[] = {1, 0}, second[] = {0, 1};                                    \
    d_x[0] = __enzyme_fwddiff((void *)most, enzyme_dup, x, first, enzyme_const, start);  \
    d_x[1] = __enzyme_fwddiff((void *)most, enzyme_dup, x, second, enzyme_const, start); \
  }
SADDLE_REVERSE(saddle_gradient_rr, saddle_r)
SADDLE_REVERSE(saddle_gradient_rf, saddle_f)
SADDLE_FORWARD(saddle_gradient_fr, saddle_r)
SADDLE_FORWARD(saddle_gradient_ff, saddle_f)

// The descent with two tangents, those by the entries of x, for which the slope is 2 y: its own
// derivative by x is zero, but that of y need not be as far as this code knows.
UNDER_TEST void saddle_by_hand(const double *x, const double *start, double *d_x) {
  double y[] = {start[0], start[1]}, dy[2][2] = {{0, 0}, {0, 0}}, rate = 1e-5;
  double value = saddle_lost(y, x), g[] = {2 * y[0], 2 * y[1]};
  int rounds = 0;
  while (argmin_norm(g, 2) > 1e-5) {
    if (rounds == 10) {
      rate *= 2;
      rounds = 0;
      continue;
    }
    double next[] = {y[0] - rate * g[0], y[1] - rate * g[1]};
    double step[] = {y[0] - next[0], y[1] - next[1]};
    if (argmin_norm(step, 2) <= 1e-5) break;
    double next_value = saddle_lost(next, x);
    if (next_value < value) {
      for (int i = 0; i < 2; i++) {
        y[i] = next[i];
        g[i] = 2 * y[i];
        for (int k = 0; k < 2; k++) dy[k][i] -= rate * 2 * dy[k][i];
      }
      value = next_value;
      rounds++;
    } else {
      rate /= 2;
      rounds = 0;
    }
  }
  for (int k = 0; k < 2; k++) d_x[k] = 2 * x[k] - 2 * (y[0] * dy[k][0] + y[1] * dy[k][1]);
}
