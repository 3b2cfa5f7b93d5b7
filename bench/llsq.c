// Linear least squares with 128 coefficients.
#include "bench.h"
#include "evals/llsq.h"

static void check_example(void) {
  double x[] = {1, -0.5, 0.25}, d_x[3];
  double expected[] = {4.555555555555555, -3.7777777777777777, 2.728395061728395};
  agree_number("example of llsq", llsq(x, 3, 4), 6.229938271604937);
  llsq_gradient(x, d_x, 3, 4);
  agree("gradient of the example of llsq", d_x, expected, 3);
}

int main(int count, char **words) {
  arguments(count, words);
  check_example();
  const int sizes[] = {16, 256, 4096, 65536, 262144}, m = 128;
  double *x = uniforms(m), *d_x = zeros(m), *by_hand = zeros(m);
  for (int s = 0; s < (tiny ? 1 : 5); s++) {
    int n = sizes[s];
    at("n=%d m=%d", n, m);
    llsq_gradient(x, d_x, m, n);
    llsq_by_hand(x, by_hand, m, n);
    agree("llsq", d_x, by_hand, m);
    share_number("n", n), share("x", x, m), share("result", d_x, m);
    COMPARE("llsq", , keep(llsq(x, m, n)), llsq_gradient(x, d_x, m, n),
            llsq_by_hand(x, by_hand, m, n));
  }
}
