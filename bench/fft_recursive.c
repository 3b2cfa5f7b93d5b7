// A Fourier transform in place by recursion: the halves by calls of itself, then butterflies.
#include "bench.h"

// Even numbers to the front, odd ones to the back; `data` has n complex numbers.
static void part(double *ALIAS data, double *ALIAS scratch, int n) {
  for (int k = 0; k < n / 2; k++) {
    scratch[2 * k] = data[4 * k];
    scratch[2 * k + 1] = data[4 * k + 1];
    scratch[n + 2 * k] = data[4 * k + 2];
    scratch[n + 2 * k + 1] = data[4 * k + 3];
  }
  memcpy(data, scratch, 2 * n * sizeof(double));
}

UNDER_TEST void fft(double *ALIAS data, const double *ALIAS roots, double *ALIAS scratch, int n,
                    int stride) {
  if (n == 1) return;
  part(data, scratch, n);
  fft(data, roots, scratch, n / 2, 2 * stride);
  fft(data + n, roots, scratch, n / 2, 2 * stride);
  for (int k = 0; k < n / 2; k++) {
    double c = roots[2 * k * stride], s = roots[2 * k * stride + 1];
    double re = data[n + 2 * k] * c - data[n + 2 * k + 1] * s;
    double im = data[n + 2 * k] * s + data[n + 2 * k + 1] * c;
    data[n + 2 * k] = data[2 * k] - re;
    data[n + 2 * k + 1] = data[2 * k + 1] - im;
    data[2 * k] += re;
    data[2 * k + 1] += im;
  }
}

// The transform is linear, so its adjoint needs nothing but the roots.
static void adjoint(double *restrict data, const double *restrict roots, double *restrict scratch,
                    int n, int stride) {
  if (n == 1) return;
  for (int k = 0; k < n / 2; k++) {
    double c = roots[2 * k * stride], s = roots[2 * k * stride + 1];
    double re = data[2 * k] - data[n + 2 * k], im = data[2 * k + 1] - data[n + 2 * k + 1];
    data[2 * k] += data[n + 2 * k];
    data[2 * k + 1] += data[n + 2 * k + 1];
    data[n + 2 * k] = re * c + im * s;
    data[n + 2 * k + 1] = im * c - re * s;
  }
  adjoint(data, roots, scratch, n / 2, 2 * stride);
  adjoint(data + n, roots, scratch, n / 2, 2 * stride);
  for (int k = 0; k < n / 2; k++) {
    scratch[4 * k] = data[2 * k];
    scratch[4 * k + 1] = data[2 * k + 1];
    scratch[4 * k + 2] = data[n + 2 * k];
    scratch[4 * k + 3] = data[n + 2 * k + 1];
  }
  memcpy(data, scratch, 2 * n * sizeof(double));
}

static void measure(int n) {
  double *start = numbers(2 * n), *roots = zeros(2 * n), *scratch = zeros(2 * n);
  double *data = zeros(2 * n), *d_data = zeros(2 * n), *d_scratch = zeros(2 * n);
  double *kept = zeros(2 * n);
  for (int k = 0; k < n; k++) {
    roots[2 * k] = cos(-2 * M_PI * k / n);
    roots[2 * k + 1] = sin(-2 * M_PI * k / n);
  }
#define RESTORE                                                                                  \
  (memcpy(data, start, 2 * n * sizeof(double)), memcpy(d_data, start, 2 * n * sizeof(double)),   \
   set(d_scratch, 2 * n, 0))
#define GRADIENT                                                                                 \
  __enzyme_autodiff((void *)fft, enzyme_dup, data, d_data, enzyme_const, roots, enzyme_dup,      \
                    scratch, d_scratch, enzyme_const, n, enzyme_const, 1)
#define BY_HAND (fft(data, roots, scratch, n, 1), adjoint(d_data, roots, scratch, n, 1))
  RESTORE;
  GRADIENT;
  memcpy(kept, d_data, 2 * n * sizeof(double));
  RESTORE;
  BY_HAND;
  agree("fft", kept, d_data, 2 * n);
  at("n=%d", n);
  COMPARE("fft recursive", RESTORE, fft(data, roots, scratch, n, 1), GRADIENT, BY_HAND);
  free(start), free(roots), free(scratch), free(data), free(d_data), free(d_scratch), free(kept);
}

int main(int count, char **words) {
  arguments(count, words);
  for (int bits = tiny ? 8 : 12; bits <= (tiny ? 8 : 20); bits += 4) measure(1 << bits);
}
