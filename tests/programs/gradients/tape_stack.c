// Recursion whose calls keep something: their tapes lie on a stack, as long as they are freed in the
// opposite order. Many chunks of it, arrays of records in it, one for each thread, under derivatives
// of derivatives, and beside halves that the program calls in any order.
#include "check.h"
#include <pthread.h>

extern void *__enzyme_augmentfwd(void *, ...);
extern void __enzyme_reverse(void *, ...);

// Each call needs x as it was, and what its loop read before it wrote.
static double fold(double *x, int n, int depth) {
  if (depth == 0) return x[0] * x[n - 1];
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double v = x[i];
    sum += v * sin(v);
    x[i] = 0.9 * v + 0.1 * v * v;
  }
  double left = fold(x, n, depth - 1);
  if (depth % 3 == 1) return left * cos(sum);
  return left + 0.5 * sum * fold(x, n, depth / 2);
}

static double shallow(double *x, int n) { return fold(x, n, 7); }

// A thousand calls deep, with a tape for each: several chunks.
static double steps(double *x, int n, int left) {
  if (left == 0) return x[0] + x[1] * x[2];
  for (int i = 0; i < n; i++) x[i] = x[i] + 1e-3 * sin(x[i] * x[(i + 1) % n]);
  return steps(x, n, left - 1);
}

static double deep(double *x, int n) { return steps(x, n, 2000) * steps(x, n, 500); }

static double odd(double *x, int n, int depth);
static double even(double *x, int n, int depth) {
  if (depth == 0) return x[0];
  x[0] *= 1 + 0.1 * x[1];
  double inner = odd(x, n, depth - 1);
  return inner * x[0] + (depth > 2 ? even(x, n, depth - 2) : 0);
}
static double odd(double *x, int n, int depth) {
  if (depth == 0) return x[1] * x[1];
  x[1] = sin(x[1]) + x[0];
  return even(x, n, depth - 1) * x[1];
}
static double mutual(double *x, int n) { return 0.01 * even(x, n, 6); }

// The derivative of a sum of squares of derivatives: the inner derivative is differentiated too.
static double slopes(double *x, int n) {
  double copy[4], d[4] = {0};
  for (int i = 0; i < n; i++) copy[i] = x[i];
  __enzyme_autodiff((void *)shallow, enzyme_dup, copy, d, enzyme_const, n);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += d[i] * d[i];
  return sum;
}

static void compare(const char *what, const double *got, check_reduction f, const double *x, int n) {
  for (int i = 0; i < n; i++) check_close(what, i, got[i], check_difference(f, x, n, i), 1e-5);
}

// Tapes that are freed in the order they were made, and a derivative in between.
static void halves(const double *x, int n) {
  double a[4], b[4], c[4], da[4] = {0}, db[4] = {0}, dc[4] = {0};
  memcpy(a, x, sizeof a), memcpy(b, x, sizeof b), memcpy(c, x, sizeof c);
  void *first = __enzyme_augmentfwd((void *)fold, enzyme_dup, a, da, n, 5);
  void *second = __enzyme_augmentfwd((void *)fold, enzyme_dup, b, db, n, 5);
  __enzyme_autodiff((void *)fold, enzyme_dup, c, dc, enzyme_const, n, enzyme_const, 5);
  __enzyme_reverse((void *)fold, enzyme_dup, a, da, n, 5, 1.0, first);
  __enzyme_reverse((void *)fold, enzyme_dup, b, db, n, 5, 1.0, second);
  for (int i = 0; i < n; i++) {
    check_close("first", i, da[i], dc[i], 1e-12);
    check_close("second", i, db[i], dc[i], 1e-12);
  }
}

struct work { double x[4], d[4]; };

static void *worker(void *given) {
  struct work *work = given;
  for (int i = 0; i < 5; i++) {
    double x[4];
    memcpy(x, work->x, sizeof x);
    memset(work->d, 0, sizeof work->d);
    __enzyme_autodiff((void *)deep, enzyme_dup, x, work->d, enzyme_const, 4);
  }
  return NULL;
}

static void threads(const double *x) {
  pthread_t thread[3];
  struct work work[3];
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < 4; i++) work[t].x[i] = x[i] + 0.1 * t;
    pthread_create(&thread[t], NULL, worker, &work[t]);
  }
  for (int t = 0; t < 3; t++) {
    pthread_join(thread[t], NULL);
    compare("thread", work[t].d, deep, work[t].x, 4);
  }
}

int main(void) {
  double x[4], copy[4], d[4] = {0};
  fill(x, 4, 0.3, 0.9);
  CHECK_GRADIENT(shallow, x, 4);
  CHECK_GRADIENT(deep, x, 4);
  CHECK_GRADIENT(mutual, x, 4);
  memcpy(copy, x, sizeof copy);
  __enzyme_autodiff((void *)slopes, enzyme_dup, copy, d, enzyme_const, 4);
  compare("slopes", d, slopes, x, 4);
  halves(x, 4);
  threads(x);
  return finish("tape_stack");
}
