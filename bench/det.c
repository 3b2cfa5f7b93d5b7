// A determinant by expansion in minors.
#include "bench.h"
#include "evals/det.h"

static void check_example(void) {
  double a[] = {2, 1, 0.5, 0, 3, 1, 1.5, 0.25, 1}, d_a[9];
  double expected[] = {2.75, 1.5, -4.5, -0.875, 1.25, 1, -0.5, -2, 6};
  agree_number("example of det", det(a, 3), 4.75);
  det_gradient(a, d_a, 3);
  agree("gradient of the example of det", d_a, expected, 9);
}

int main(int count, char **words) {
  arguments(count, words);
  check_example();
  for (int ell = tiny ? 5 : 8; ell <= (tiny ? 5 : 11); ell++) {
    int size = ell * ell;
    double *a = uniforms(size), *d_a = zeros(size), *by_hand = zeros(size);
    at("ell=%d", ell);
    det_gradient(a, d_a, ell);
    det_by_hand(a, by_hand, ell);
    agree("det", d_a, by_hand, size);
    share_number("ell", ell), share("a", a, size), share("result", d_a, size);
    COMPARE("det", , keep(det(a, ell)), det_gradient(a, d_a, ell), det_by_hand(a, by_hand, ell));
  }
}
