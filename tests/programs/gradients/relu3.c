// A branch around a call of the math library.
#include "check.h"

static double relu3(double x) {
  if (x > 0) return pow(x, 3);
  return 0;
}

int main(void) {
  CHECK_SCALAR_IS(relu3, 2.0, 12.0);
  CHECK_SCALAR_IS(relu3, 0.5, 0.75);
  CHECK_SCALAR_IS(relu3, -1.0, 0.0);
  CHECK_SCALAR_IS(relu3, 0.0, 0.0);
  return finish("relu3");
}
