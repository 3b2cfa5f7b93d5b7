// out[i] = in[i] / mag(in), with the magnitude as a function that the optimizer may hoist out of
// the loop (pure), as one it must prove so itself, and as one it can look into.
#include "check.h"

#define N 7

__attribute__((noinline, pure)) static double magnitude_pure(const double *x) {
  double sum = 0;
  for (int i = 0; i < N; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

__attribute__((noinline)) static double magnitude_plain(const double *x) {
  double sum = 0;
  for (int i = 0; i < N; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static double magnitude(const double *x) {
  double sum = 0;
  for (int i = 0; i < N; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

__attribute__((noinline, const)) static double reciprocal(double x) { return 1 / x; }

static void normalize_pure(double *restrict in, double *restrict out) {
  for (int i = 0; i < N; i++) out[i] = in[i] / magnitude_pure(in);
}

static void normalize_plain(double *restrict in, double *restrict out) {
  for (int i = 0; i < N; i++) out[i] = in[i] / magnitude_plain(in);
}

static void normalize_inline(double *in, double *out) {
  for (int i = 0; i < N; i++) out[i] = in[i] / magnitude(in);
}

static void normalize_const(double *in, double *out) {
  double scale = magnitude(in);
  for (int i = 0; i < N; i++) out[i] = in[i] * reciprocal(scale);
}

int main(void) {
  double x[N];
  for (int trial = 1; trial <= 3; trial++) {
    seed(trial);
    fill(x, N, -2, 2);
    CHECK_MAP(normalize_pure, x, N, N);
    CHECK_MAP(normalize_plain, x, N, N);
    CHECK_MAP(normalize_inline, x, N, N);
    CHECK_MAP(normalize_const, x, N, N);
  }
  return finish("normalize");
}
