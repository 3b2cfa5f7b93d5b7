// A Fourier transform by recursion: each call splits its part in two, transforms both halves by
// calls of itself, and combines them. Tapes hang off tapes.
#include "check.h"

static void transform(double *data, int n, int stride, double *scratch, int sign) {
  if (n == 1) return;
  int half = n / 2;
  for (int k = 0; k < half; k++)
    for (int part = 0; part < 2; part++) {
      scratch[2 * k + part] = data[2 * (2 * k) + part];
      scratch[2 * (half + k) + part] = data[2 * (2 * k + 1) + part];
    }
  memcpy(data, scratch, 2 * n * sizeof(double));
  transform(data, half, 2 * stride, scratch, sign);
  transform(data + n, half, 2 * stride, scratch, sign);
  for (int k = 0; k < half; k++) {
    double angle = sign * 2 * M_PI * k / n, c = cos(angle), s = sin(angle);
    double re = data[2 * (half + k)] * c - data[2 * (half + k) + 1] * s;
    double im = data[2 * (half + k)] * s + data[2 * (half + k) + 1] * c;
    data[2 * (half + k)] = data[2 * k] - re;
    data[2 * (half + k) + 1] = data[2 * k + 1] - im;
    data[2 * k] += re;
    data[2 * k + 1] += im;
  }
}

// A nonlinear function of the spectrum, which needs it in the reverse sweep.
static double spectrum(double *x, int n) {
  double data[64], scratch[64], sum = 0;
  memcpy(data, x, n * sizeof(double));
  transform(data, n / 2, 1, scratch, -1);
  for (int i = 0; i < n / 2; i++)
    sum += (i + 1) * log(1 + data[2 * i] * data[2 * i] + data[2 * i + 1] * data[2 * i + 1]);
  return sum;
}

// There and back again: the gradient is that of the sum of cubes.
static double there_and_back(double *x, int n) {
  double scratch[64], sum = 0;
  transform(x, n / 2, 1, scratch, -1);
  transform(x, n / 2, 1, scratch, 1);
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * x[i];
  return sum;
}

int main(void) {
  double x[64];
  for (int trial = 1; trial <= 3; trial++) {
    seed(trial);
    fill(x, 64, -1, 1);
    CHECK_GRADIENT(spectrum, x, 64);
    CHECK_GRADIENT(there_and_back, x, 16);
    double in[32], shadow[32] = {0};
    memcpy(in, x, sizeof in);
    __enzyme_autodiff((void *)there_and_back, enzyme_dup, in, shadow, enzyme_const, 32);
    for (int i = 0; i < 32; i++) {
      double scaled = 16 * x[i];
      check_close("by hand", i, shadow[i], 16 * 3 * scaled * scaled, 1e-9);
    }
  }
  return finish("fft_recursive");
}
