// A radix-2 Fourier transform in place, without recursion: bit reversal, then butterflies.
#include "bench.h"

static void reorder(double *ALIAS re, double *ALIAS im, int n) {
  for (int i = 1, j = 0; i < n; i++) {
    int bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      double t = re[i];
      re[i] = re[j];
      re[j] = t;
      t = im[i];
      im[i] = im[j];
      im[j] = t;
    }
  }
}

UNDER_TEST void fft(double *ALIAS re, double *ALIAS im, const double *ALIAS roots, int n) {
  reorder(re, im, n);
  for (int length = 2; length <= n; length <<= 1)
    for (int i = 0; i < n; i += length)
      for (int k = 0; k < length / 2; k++) {
        double c = roots[2 * (n / length) * k], s = roots[2 * (n / length) * k + 1];
        int a = i + k, b = i + k + length / 2;
        double xr = re[b] * c - im[b] * s, xi = re[b] * s + im[b] * c;
        re[b] = re[a] - xr;
        im[b] = im[a] - xi;
        re[a] += xr;
        im[a] += xi;
      }
}

// The transform is linear, so its adjoint needs nothing but the roots.
static void adjoint(double *restrict re, double *restrict im, const double *restrict roots, int n) {
  for (int length = n; length >= 2; length >>= 1)
    for (int i = 0; i < n; i += length)
      for (int k = 0; k < length / 2; k++) {
        double c = roots[2 * (n / length) * k], s = roots[2 * (n / length) * k + 1];
        int a = i + k, b = i + k + length / 2;
        double xr = re[a] - re[b], xi = im[a] - im[b];
        re[a] += re[b];
        im[a] += im[b];
        re[b] = xr * c + xi * s;
        im[b] = xi * c - xr * s;
      }
  reorder(re, im, n);
}

int main(int count, char **words) {
  arguments(count, words);
  int n = 1 << 18;
  double *start = numbers(n), *roots = zeros(n);
  double *re = zeros(n), *im = zeros(n), *d_re = zeros(n), *d_im = zeros(n), *kept = zeros(n);
  for (int k = 0; k < n / 2; k++) {
    roots[2 * k] = cos(-2 * M_PI * k / n);
    roots[2 * k + 1] = sin(-2 * M_PI * k / n);
  }
#define RESTORE                                                                                  \
  (memcpy(re, start, n * sizeof(double)), memset(im, 0, n * sizeof(double)),                     \
   memcpy(d_re, start, n * sizeof(double)), set(d_im, n, 1))
#define GRADIENT                                                                                 \
  __enzyme_autodiff((void *)fft, enzyme_dup, re, d_re, enzyme_dup, im, d_im, enzyme_const,       \
                    roots, enzyme_const, n)
#define BY_HAND (fft(re, im, roots, n), adjoint(d_re, d_im, roots, n))
  RESTORE;
  GRADIENT;
  memcpy(kept, d_re, n * sizeof(double));
  RESTORE;
  BY_HAND;
  agree("fft", kept, d_re, n);
  COMPARE("fft", RESTORE, fft(re, im, roots, n), GRADIENT, BY_HAND);
}
