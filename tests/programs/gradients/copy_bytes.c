// Eight bytes copied through void*: by one function for one double and for two floats.
#include "check.h"

__attribute__((noinline)) static void copy8(void *to, const void *from) { memcpy(to, from, 8); }

static double through_double(double x) {
  double y;
  copy8(&y, &x);
  return y * y * y;
}

static double through_floats(double x) {
  float pair[2] = {(float)x, (float)(2 * x)}, copy[2];
  copy8(copy, pair);
  return (double)copy[0] * copy[1];
}

static double both(double x) {
  double y;
  float pair[2] = {(float)x, (float)(x + 1)}, copy[2];
  copy8(&y, &x);
  copy8(copy, pair);
  return y * copy[0] * copy[1];
}

// The array itself is the argument: only the call of copy8 says what the bytes are.
static float pair_product(float *pair) {
  float copy[2];
  copy8(copy, pair);
  return copy[0] * copy[1] * copy[1];
}

int main(void) {
  CHECK_SCALAR_IS(through_double, 1.5, 6.75);
  CHECK_SCALAR_IS(through_floats, 1.5, 6.0);
  CHECK_SCALAR_IS(both, 2.0, 3 * 4 + 2 * 2.0);
  float pair[2] = {2, 3}, shadow[2] = {0, 0};
  __enzyme_autodiff((void *)pair_product, enzyme_dup, pair, shadow);
  check_close("reverse pair", 0, shadow[0], 9, 0);
  check_close("reverse pair", 1, shadow[1], 12, 0);
  return finish("copy_bytes");
}
