// Static variables through which derivatives flow: they need shadows.
//
// FIXME: refused at every level: "cannot tell whether memory has a derivative ... `state`, which is
// defined outside of the program". All uses of the variables can be seen, so a shadow could be made.
#include "../check.h"

static double state[4];
static double scale = 1;

static double through_state(double *x, int n) {
  for (int i = 0; i < 4; i++) state[i] = x[i] * x[i];
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += state[i] * state[3 - i] * x[0];
  return sum;
}

__attribute__((noinline)) static void set_scale(double s) { scale = s * s; }
__attribute__((noinline)) static double scaled(double x) { return x * scale; }

static double through_calls(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    set_scale(x[i]);
    sum += scaled(x[(i + 1) % n]);
  }
  return sum;
}

int main(void) {
  double x[4];
  fill(x, 4, -1, 1);
  CHECK_GRADIENT(through_state, x, 4);
  CHECK_GRADIENT(through_calls, x, 4);
  return finish("globals_active");
}
