// Global variables: constants that are read, counters that are not differentiated, and static
// variables through which derivatives flow.
#include "check.h"

static double weights[4] = {0.5, -1, 2, 0.25};
static int calls;
static double state[4];
static double scale = 1;

static double constant_weights(double *x, int n) {
  double sum = 0;
  calls++;
  for (int i = 0; i < n; i++) sum += weights[i % 4] * x[i] * x[i];
  return sum;
}

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
  weights[2] = 1.75;
  fill(x, 4, -1, 1);
  CHECK_GRADIENT(constant_weights, x, 4);
  CHECK_GRADIENT(through_state, x, 4);
  CHECK_GRADIENT(through_calls, x, 4);
  if (calls == 0) check_failures++;
  return finish("globals");
}
