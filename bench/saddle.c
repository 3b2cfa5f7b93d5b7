// A saddle point: reverse and forward mode through a descent, over reverse and forward mode.
#include "bench.h"
#include "evals/saddle.h"

static const double START[] = {1, 1};

// Many points, so that there is something to measure.
static double many(objective f, int times) {
  double sum = 0;
  for (int i = 0; i < times; i++) {
    double x[] = {1 + 1e-5 * i, 0.5};
    sum += f(x, START);
  }
  return sum;
}

static void many_slopes(slope f, double *out, int times) {
  for (int i = 0; i < times; i++) {
    double x[] = {1 + 1e-5 * i, 0.5};
    f(x, START, out + 2 * i);
  }
}

int main(int count, char **words) {
  arguments(count, words);
  struct {
    const char *name;
    objective most;
    slope gradient, inner;
  } modes[] = {{"saddle rr", saddle_r, saddle_gradient_rr, saddle_slope_r},
               {"saddle rf", saddle_f, saddle_gradient_rf, saddle_slope_f},
               {"saddle fr", saddle_r, saddle_gradient_fr, saddle_slope_r},
               {"saddle ff", saddle_f, saddle_gradient_ff, saddle_slope_f}};
  int times = tiny ? 3 : 30000;
  double *slopes = zeros(2 * times), *by_hand = zeros(2 * times), found[4], expected[4];
  set(expected, 4, 8.246324826140356e-06);
  at("%d evaluations", times);
  many_slopes(saddle_by_hand, by_hand, times);
  for (int m = 0; m < 4; m++) {
    argmin(modes[m].most, modes[m].gradient, START, START, found, 2);
    argmin(saddle_lost, modes[m].inner, found, START, found + 2, 2);
    agree(modes[m].name, found, expected, 4);
    many_slopes(modes[m].gradient, slopes, times);
    agree(modes[m].name, slopes, by_hand, 2 * times);
    COMPARE(modes[m].name, , keep(many(modes[m].most, times)),
            many_slopes(modes[m].gradient, slopes, times),
            many_slopes(saddle_by_hand, by_hand, times));
  }
}
