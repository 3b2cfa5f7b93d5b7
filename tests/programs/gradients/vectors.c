// Vector code: the extensions of the C compilers, and loops that -O3 makes vectors of.
#include "check.h"

typedef double v4 __attribute__((vector_size(32)));
typedef float f8 __attribute__((vector_size(32)));
typedef double e4 __attribute__((ext_vector_type(4)));
typedef double v2 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));

// Doubles in two lanes of integers each, as vector code loads what it shuffles.
static double in_integer_lanes(double *x, int n) {
  v2 sum = {0, 0};
  for (int i = 0; i + 1 < n; i += 2) {
    i4 bits;
    memcpy(&bits, x + i, sizeof bits);
    v2 a = (v2)bits, b = (v2)__builtin_shufflevector(bits, bits, 2, 3, 0, 1);
    v2 c = (v2)__builtin_shufflevector(bits, bits, 0, 1, 0, 1);
    sum += a * b + a * a * a * c;
  }
  return sum[0] + 2 * sum[1];
}

static double by_lanes(double *x, int n) {
  v4 a = {x[0], x[1], x[2], x[3]}, b = {x[4], x[5], x[6], x[7]};
  v4 c = a * b + a / (2 + b * b) - 3;
  c[1] *= a[0];
  v4 d = __builtin_shufflevector(c, a, 3, 4, 1, 0);
  d += __builtin_elementwise_max(a, c) * __builtin_elementwise_abs(b);
  return d[0] * d[1] + d[2] * d[3];
}

static double selected(double *x, int n) {
  e4 a = {x[0], x[1], x[2], x[3]}, b = {x[4], x[5], x[6], x[7]};
  e4 c = a > b ? a * b : a - b;
  c.xy = c.zw * c.yx;
  return c.x * c.y + c.z * c.w;
}

static double loaded(double *x, int n) {
  v4 sum = {0, 0, 0, 0};
  for (int i = 0; i + 4 <= n; i += 4) {
    v4 t;
    memcpy(&t, x + i, sizeof t);
    sum += t * t * (double)(i + 1);
  }
  return sum[0] * sum[3] + sum[1] * sum[2];
}

static double floats(double x) {
  f8 a;
  for (int i = 0; i < 8; i++) a[i] = (float)(x * (i + 1));
  a = a * a;
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += a[i];
  return sum;
}

static double dot(const double *restrict a, const double *restrict b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double dots(double *x, int n) { return dot(x, x + n / 2, n / 2) * dot(x, x, n); }

static double maybe_overlapping(double *x, int n) {
  double y[64], sum = 0;
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] + 2 * x[i];
  for (int i = 0; i < n - 1; i++) x[i] = y[i + 1] * x[i];
  for (int i = 0; i < n; i++) sum += x[i] * y[n - 1 - i];
  return sum;
}

static double largest(double *x, int n) {
  double best = x[0];
  for (int i = 1; i < n; i++) best = x[i] > best ? x[i] : best;
  return best * best;
}

static double masked(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] > 0 ? x[i] * x[i] : 0.5 * x[i];
  return sum;
}

static double strided(double *x, int n) {
  double re = 0, im = 0;
  for (int i = 0; i < n / 2; i++) {
    re += x[2 * i] * x[2 * i] - x[2 * i + 1] * x[2 * i + 1];
    im += 2 * x[2 * i] * x[2 * i + 1];
  }
  return re * im;
}

static void saxpy(const float *restrict x, float *restrict y, float a, int n) {
  for (int i = 0; i < n; i++) y[i] += a * x[i] * x[i];
}

static void axpy_map(double *in, double *out) {
  for (int i = 0; i < 40; i++) out[i] = out[i] * 0 + in[i] * in[(i + 8) % 40] + sqrt(1 + in[i] * in[i]);
}

static double counted(double *x, int n) {
  int positive = 0;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    positive += x[i] > 0;
    sum += x[i] * i;
  }
  return sum * sum * positive;
}

extern float __enzyme_autodiff_slope(void *, ...);

int main(void) {
  double x[40];
  seed(3);
  fill(x, 40, -1, 1);
  CHECK_GRADIENT(by_lanes, x, 8);
  CHECK_GRADIENT(selected, x, 8);
  CHECK_GRADIENT(loaded, x, 40);
  CHECK_GRADIENT(dots, x, 40);
  CHECK_GRADIENT(maybe_overlapping, x, 37);
  CHECK_GRADIENT(largest, x, 40);
  CHECK_GRADIENT(masked, x, 39);
  CHECK_GRADIENT(strided, x, 40);
  CHECK_GRADIENT(in_integer_lanes, x, 40);
  CHECK_GRADIENT(counted, x, 40);
  CHECK_MAP(axpy_map, x, 40, 40);
  CHECK_SCALAR_IS(floats, 0.5, 204);

  float a[33], b[33], da[33], db[33];
  for (int i = 0; i < 33; i++) a[i] = 0.1f * i, b[i] = 1, da[i] = 0, db[i] = i;
  float slope = __enzyme_autodiff_slope((void *)saxpy, enzyme_dup, a, da, enzyme_dup, b, db, enzyme_out, 3.0f, enzyme_const, 33);
  check_close("saxpy slope", 0, slope, 2787.84, 1e-5);
  for (int i = 0; i < 33; i++) {
    check_close("saxpy", i, da[i], 2 * 3 * 0.1 * i * i, 1e-6);
    check_close("saxpy seed", i, db[i], i, 0);
    check_close("saxpy result", i, b[i], 1 + 3 * 0.01 * i * i, 1e-6);
  }
  return finish("vectors");
}
