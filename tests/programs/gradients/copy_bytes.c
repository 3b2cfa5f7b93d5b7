// Eight bytes copied through void*: by one function for one double and for two floats. And floats
// that are copied to memory of integers, and moved there as integers.
#include "check.h"
#include <stdint.h>

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

static double weighted(const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i] * x[i] * (i + 1);
  return s;
}

static double reversed_as_integers(double *x, int n) {
  uint64_t bits[8];
  memcpy(bits, x, n * sizeof *x);
  for (int i = 0; i < n / 2; i++) {
    uint64_t t = bits[i];
    bits[i] = bits[n - 1 - i];
    bits[n - 1 - i] = t;
  }
  memcpy(x, bits, n * sizeof *x);
  return weighted(x, n);
}

__attribute__((noinline)) static void swap_integers(uint64_t *x, int i, int j) {
  uint64_t t = x[i];
  x[i] = x[j];
  x[j] = t;
}

static double swapped_by_callee(double *x, int n) {
  uint64_t *bits = malloc(n * sizeof *bits);
  memcpy(bits, x, n * sizeof *x);
  for (int i = 0; i < n / 2; i++) swap_integers(bits, i, n - 1 - i);
  memcpy(x, bits, n * sizeof *x);
  free(bits);
  return weighted(x, n);
}

struct box { uint64_t bits; };

static double boxed(double *x, int n) {
  struct box *box = malloc(n * sizeof *box);
  for (int i = 0; i < n; i++) memcpy(&box[i], &x[(i + 2) % n], sizeof *box);
  for (int i = 0; i < n / 2; i++) {
    struct box t = box[i];
    box[i] = box[n - 1 - i];
    box[n - 1 - i] = t;
  }
  double y[8];
  for (int i = 0; i < n; i++) memcpy(&y[i], &box[i].bits, sizeof y[i]);
  free(box);
  return weighted(y, n);
}

int main(void) {
  double x[6];
  fill(x, 6, 0.5, 1.5);
  CHECK_GRADIENT(reversed_as_integers, x, 6);
  CHECK_GRADIENT(swapped_by_callee, x, 6);
  CHECK_GRADIENT(boxed, x, 6);
  CHECK_SCALAR_IS(through_double, 1.5, 6.75);
  CHECK_SCALAR_IS(through_floats, 1.5, 6.0);
  CHECK_SCALAR_IS(both, 2.0, 3 * 4 + 2 * 2.0);
  float pair[2] = {2, 3}, shadow[2] = {0, 0};
  __enzyme_autodiff((void *)pair_product, enzyme_dup, pair, shadow);
  check_close("reverse pair", 0, shadow[0], 9, 0);
  check_close("reverse pair", 1, shadow[1], 12, 0);
  return finish("copy_bytes");
}
