// C calls Rust calls C: the gradient goes through all of them.
#include "../gradients/check.h"

double layer(const double *values, int len);

double activate(double x) { return tanh(x) * x; }

static double loss(double *x, int n) { return layer(x, n) * x[0]; }

int main(void) {
  double x[5];
  fill(x, 5, -1, 1);
  CHECK_GRADIENT(loss, x, 5);
  return finish("rust");
}
