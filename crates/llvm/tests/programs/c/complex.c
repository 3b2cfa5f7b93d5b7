// Complex numbers: products, quotients, a transform and its inverse.
#include <complex.h>
#include <stdio.h>
static void transform(double complex *a, int n, int sign) {
  if (n == 1) return;
  double complex even[32], odd[32];
  for (int i = 0; i < n / 2; i++) { even[i] = a[2 * i]; odd[i] = a[2 * i + 1]; }
  transform(even, n / 2, sign); transform(odd, n / 2, sign);
  for (int i = 0; i < n / 2; i++) { double complex w = cexp(sign * 2 * I * 3.14159265358979323846 * i / n) * odd[i]; a[i] = even[i] + w; a[i + n / 2] = even[i] - w; }
}
static float complex power(float complex z, int n) { float complex r = 1; while (n--) r *= z; return r; }
int main(void) {
  double complex a[16]; for (int i = 0; i < 16; i++) a[i] = i % 5 - 2 + I * (i % 3);
  transform(a, 16, 1); printf("%.6f %.6f\n", creal(a[3]), cimag(a[5]));
  transform(a, 16, -1); double e = 0; for (int i = 0; i < 16; i++) e += cabs(a[i] / 16 - (i % 5 - 2 + I * (i % 3))); printf("%d\n", e < 1e-12);
  float complex p = power(1 + 1 * I, 10); printf("%g %g\n", crealf(p), cimagf(p));
  double complex q = (1 + 2 * I) / (3 - 4 * I); printf("%g %g %g\n", creal(q), cimag(q), carg(conj(q)));
}
