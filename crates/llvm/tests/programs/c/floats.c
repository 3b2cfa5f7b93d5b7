// Floats of every precision: arithmetic, conversions, comparisons with NaN, formatted output.
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
static void compare(double x, double y) { printf("%d%d%d%d%d%d%d ", x < y, x <= y, x > y, x >= y, x == y, x != y, isunordered(x, y)); }
int main(void) {
  double values[] = {0.0, -0.0, 1.5, -2.25, INFINITY, NAN}; for (int i = 0; i < 6; i++) for (int j = 0; j < 6; j++) compare(values[i], values[j]); puts("");
  float f = 16777216.0f; printf("%.1f %.1f %a\n", f + 1.0f, f + 2.0f, 0.1f); printf("%.17g %g %g %e\n", 0.1 + 0.2, DBL_MIN / 4, FLT_MAX * 2.0, 1e300 * 1e10);
  volatile double big = 3e9, neg = -7.9; printf("%u %d %lld %llu %d\n", (unsigned)big, (int)neg, (long long)(big * 1e6), (unsigned long long)(big * 4e9), (signed char)neg);
  volatile uint64_t u = UINT64_MAX; volatile int64_t s = INT64_MIN + 1; printf("%.1f %.1f %.1f\n", (double)u, (double)s, (double)(float)u);
  _Float16 h = 1.0f16 / 3; printf("%.6f %.6f\n", (double)h, (double)(_Float16)(h * 2048 + 1)); printf("%g %g %g %g\n", fmod(-7.5, 2), remainder(-7.5, 2), copysign(3, -0.0), fdim(4, 1));
  __float128 q = 1; for (int i = 1; i < 20; i++) q = q / i + 1; printf("%.15f\n", (double)q);
}
