// Runge-Kutta 4 on a chain.
#include "bench.h"
#include "evals/ode.h"

static void check_example(void) {
  double x[] = {0.5, 0.25, 2}, y[3], seed[] = {0, 0, 1}, d_x[3];
  double expected[] = {1, 0.25, 1 / 3.0}, gradient[] = {2 / 3.0, 4 / 3.0, 1 / 6.0};
  ode(x, y, 3, 2);
  agree("example of ode", y, expected, 3);
  ode_gradient(x, d_x, y, seed, 3, 2);
  agree("gradient of the example of ode", d_x, gradient, 3);
}

int main(int count, char **words) {
  arguments(count, words);
  check_example();
  const int sizes[][2] = {{1000, 100}, {10000, 10}, {10000, 100}, {100000, 10}, {100000, 100}};
  for (int i = 0; i < (tiny ? 1 : 5); i++) {
    int n = tiny ? 20 : sizes[i][0], steps = tiny ? 3 : sizes[i][1];
    double *x = uniforms(n), *y = zeros(n), *seed = zeros(n), *d_x = zeros(n), *by_hand = zeros(n);
    at("n=%d s=%d", n, steps);
    // All entries of y: the last alone does not depend on x as long as n > 4s.
    set(seed, n, 1);
    ode_gradient(x, d_x, y, seed, n, steps);
    set(seed, n, 1);
    ode_by_hand(x, by_hand, y, seed, n, steps);
    agree("ode", d_x, by_hand, n);
    share_number("steps", steps), share("x", x, n), share("result", d_x, n);
    COMPARE("ode", set(seed, n, 1), ode(x, y, n, steps), ode_gradient(x, d_x, y, seed, n, steps),
            ode_by_hand(x, by_hand, y, seed, n, steps));
    free(x);
    free(y);
    free(seed);
    free(d_x);
    free(by_hand);
  }
}
