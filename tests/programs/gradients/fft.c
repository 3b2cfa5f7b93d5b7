// A radix-2 Fourier transform in place, without recursion: bit reversal, then butterflies.
#include "check.h"

#define N 16

static void fft(double *re, double *im, int n) {
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
  for (int length = 2; length <= n; length <<= 1) {
    double angle = -2 * 3.14159265358979323846 / length;
    for (int i = 0; i < n; i += length)
      for (int k = 0; k < length / 2; k++) {
        double c = cos(angle * k), s = sin(angle * k);
        int a = i + k, b = i + k + length / 2;
        double xr = re[b] * c - im[b] * s, xi = re[b] * s + im[b] * c;
        re[b] = re[a] - xr;
        im[b] = im[a] - xi;
        re[a] += xr;
        im[a] += xi;
      }
  }
}

static void transform(double *in, double *out) {
  memcpy(out, in, 2 * N * sizeof(double));
  fft(out, out + N, N);
}

static double weighted_power(double *x, int n) {
  double sum = 0;
  fft(x, x + N, N);
  for (int i = 0; i < N; i++) sum += (x[i] * x[i] + x[N + i] * x[N + i]) / (i + 1);
  return sum;
}

int main(void) {
  double x[2 * N];
  fill(x, 2 * N, -1, 1);
  CHECK_MAP(transform, x, 2 * N, 2 * N);
  CHECK_GRADIENT(weighted_power, x, 2 * N);
  return finish("fft");
}
