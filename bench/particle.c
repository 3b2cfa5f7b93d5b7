// A particle in a field: reverse and forward mode, over reverse and forward mode.
#include "bench.h"
#include "evals/particle.h"

// Many positions of the charge, so that there is something to measure.
static double many(objective f, int times) {
  double sum = 0;
  for (int i = 0; i < times; i++) {
    double w = 1e-4 * i;
    sum += f(&w, NULL);
  }
  return sum;
}

static void many_slopes(slope f, double *out, int times) {
  for (int i = 0; i < times; i++) {
    double w = 1e-4 * i;
    f(&w, NULL, out + i);
  }
}

int main(int count, char **words) {
  arguments(count, words);
  struct {
    const char *name;
    objective energy;
    slope gradient;
  } modes[] = {{"particle rr", particle_r, particle_gradient_rr},
               {"particle rf", particle_f, particle_gradient_rf},
               {"particle fr", particle_r, particle_gradient_fr},
               {"particle ff", particle_f, particle_gradient_ff}};
  int times = tiny ? 3 : 2500;
  double *slopes = zeros(times), *by_hand = zeros(times), start = 0, found;
  at("%d evaluations", times);
  many_slopes(particle_by_hand, by_hand, times);
  for (int m = 0; m < 4; m++) {
    argmin(modes[m].energy, modes[m].gradient, NULL, &start, &found, 1);
    agree_number(modes[m].name, found, 0.2071918746486116);
    many_slopes(modes[m].gradient, slopes, times);
    agree(modes[m].name, slopes, by_hand, times);
    COMPARE(modes[m].name, , keep(many(modes[m].energy, times)),
            many_slopes(modes[m].gradient, slopes, times),
            many_slopes(particle_by_hand, by_hand, times));
  }
}
