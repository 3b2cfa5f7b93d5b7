// The logarithm of a sum of exponentials.
#include "bench.h"
#include "evals/lse.h"

static void check_example(void) {
  double x[] = {0, 1, 2}, d_x[3];
  double expected[] = {0.09003057317038046, 0.24472847105479764, 0.6652409557748218};
  agree_number("example of lse", lse(x, 3), 2.4076059644443806);
  lse_gradient(x, d_x, 3);
  agree("gradient of the example of lse", d_x, expected, 3);
}

int main(int count, char **words) {
  arguments(count, words);
  check_example();
  const int sizes[] = {20000, 160000, 1280000, 2560000}, tiny_sizes[] = {50, 400};
  for (int s = 0; s < (tiny ? 2 : 4); s++) {
    int n = tiny ? tiny_sizes[s] : sizes[s];
    double *x = uniforms(n), *d_x = zeros(n), *by_hand = zeros(n);
    at("n=%d", n);
    lse_gradient(x, d_x, n);
    lse_by_hand(x, by_hand, n);
    agree("lse", d_x, by_hand, n);
    share("x", x, n), share("result", d_x, n);
    COMPARE("lse", , keep(lse(x, n)), lse_gradient(x, d_x, n), lse_by_hand(x, by_hand, n));
  }
}
