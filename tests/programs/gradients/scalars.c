// float, double and long double, mixed; integers of every size beside them; casts both ways.
#include "check.h"
#include <stdbool.h>
#include <stdint.h>

static double mixed_precision(double x) {
  float y = (float)x;
  double z = y * 2.0;
  float w = y * y + (float)sin(z);
  return w * z;
}

static double mixed_slope(double x) {
  return (2 * x + 2 * cos(2 * x)) * 2 * x + (x * x + sin(2 * x)) * 2;
}

static double through_long_double(double x) {
  long double y = x, z = y * y;
  for (int i = 0; i < 5; i++) z = z / 3 + y * sinl(z);
  return (double)(z * y + sqrtl(1 + z * z));
}

static double with_integers(double *x, int n) {
  double sum = 0;
  uint8_t small = 250;
  short s = -3;
  unsigned long wide = 1ul << 40;
  bool flip = false;
  for (int i = 0; i < n; i++) {
    small += 3;
    s = (short)(s * 2 + i);
    wide = wide * 3 + small;
    flip = !flip;
    sum += x[i] * small * 0.01 + x[i] * x[i] * s + (flip ? x[i] : -x[i]) * (double)(wide % 7);
  }
  return sum;
}

static double by_cast(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    int whole = (int)(x[i] * 10);
    unsigned char byte = (unsigned char)(whole + 40);
    sum += x[i] * whole + (x[i] * 10 - whole) * byte + (float)whole * x[i];
    sum += x[(unsigned)(whole + 100) % n] * (char)('a' + i) * 0.01;
  }
  return sum;
}

static double truncated(double x) { return x * (double)(long)(x * 3) + floor(x) * x; }

static double sign_and_bits(double x) {
  double y = fabs(x) + copysign(2.0, x) * x;
  return signbit(x) ? -y * x : y;
}

static float single(float x, float y) { return x * x * y + sinf(x * y) + 1.5f * x; }

static double counters(double x, int n) {
  long steps = 0;
  double y = x;
  while (y < 10 && steps < n) {
    y *= 1.5;
    steps += 2;
  }
  return y * steps;
}

static long double extended(long double x) { return x * x * expl(x) / 7; }

extern long double __enzyme_autodiff_extended(void *, ...);
extern long double __enzyme_fwddiff_extended(void *, ...);
struct floats { float x, y; };
extern struct floats __enzyme_autodiff_floats(void *, ...);
extern float __enzyme_fwddiff_float(void *, ...);

int main(void) {
  for (double x = -1.8; x < 2; x += 0.5) {
    check_close("mixed", 0, __enzyme_autodiff((void *)mixed_precision, enzyme_out, x), mixed_slope(x), 1e-5);
    check_close("mixed", 1, __enzyme_fwddiff((void *)mixed_precision, enzyme_dup, x, 1.0), mixed_slope(x), 1e-5);
    CHECK_SCALAR(through_long_double, x);
    CHECK_SCALAR(truncated, x + 0.03);
    CHECK_SCALAR(sign_and_bits, x);
    long double e = (2 * x + x * x) * exp(x) / 7;
    check_close("extended", 0, __enzyme_autodiff_extended((void *)extended, enzyme_out, (long double)x), e, 1e-14);
    check_close("extended", 1, __enzyme_fwddiff_extended((void *)extended, enzyme_dup, (long double)x, 1.0L), e, 1e-14);
  }
  double x[9];
  fill(x, 9, -1, 1);
  CHECK_GRADIENT(with_integers, x, 9);
  CHECK_GRADIENT(by_cast, x, 9);
  check_close("counters", 0, __enzyme_autodiff((void *)counters, enzyme_out, 1.1, enzyme_const, 8), 4 * pow(1.5, 4) * 2, 1e-12);
  check_close("counters", 1, __enzyme_fwddiff((void *)counters, enzyme_dup, 1.1, 1.0, enzyme_const, 80), 12 * pow(1.5, 6), 1e-12);

  // A float passed through the dots arrives as a double.
  struct floats g = __enzyme_autodiff_floats((void *)single, enzyme_out, 0.5f, enzyme_out, 2.0f);
  double gx = 2 * 0.5 * 2 + 2 * cos(1) + 1.5, gy = 0.25 + 0.5 * cos(1);
  check_close("single", 0, g.x, gx, 1e-6);
  check_close("single", 1, g.y, gy, 1e-6);
  float t = __enzyme_fwddiff_float((void *)single, enzyme_dup, 0.5f, 1.0f, enzyme_dup, 2.0f, -1.0f);
  check_close("single", 2, t, gx - gy, 1e-6);
  return finish("scalars");
}
