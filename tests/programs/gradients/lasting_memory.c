// Memory that lasts until the reverse sweep is back where it was made comes from stacks: of every size,
// in loops and calls, in several threads; and shadows are not all there at once.
#include "check.h"

#include <pthread.h>
#include <sys/resource.h>

// Each layer in new memory, of a size of its own.
static double layers(double *x, int n) {
  double *old = malloc(n * sizeof *old), s = 0;
  for (int i = 0; i < n; i++) old[i] = x[i];
  for (int l = 1; l < 7; l++) {
    size_t length = (size_t)n << (2 * l);
    double *new = l % 2 ? calloc(length, sizeof *new) : malloc(length * sizeof *new);
    for (size_t i = 0; i < length; i++) new[i] = sin(old[i % n]) + 0.1 * old[(i + 1) % n];
    for (size_t i = 0; i < length; i += n) s += new[i] * new[i] / (double)length;
    free(old);
    old = new;
  }
  free(old);
  return s;
}

// Calls make memory while that of their callers lasts.
static double tree(double *x, int depth) {
  size_t n = 100 << depth;
  double *t = malloc(n * sizeof *t);
  for (size_t i = 0; i < n; i++) t[i] = x[i % 3] * x[(i + 1) % 3];
  // This end of the program frees what otherwise lasts.
  if (t[0] > 1e30) {
    free(t);
    abort();
  }
  double s = depth == 0 ? 0 : tree(x, depth - 1) * tree(x, depth - 1);
  for (size_t i = 0; i < n; i++) s += t[i] * t[i] / (double)n;
  free(t);
  return s;
}

// Made and freed in every iteration, in turns above and below what a stack takes.
static double turns(double *x, int n) {
  double s = 0;
  for (int k = 0; k < 8; k++) {
    int length = k % 2 ? 10 : 3000 * k + 1;
    double *t = calloc(length, sizeof *t);
    for (int i = 0; i < length; i += 7) t[i] = x[i % n] * x[(i + k) % n];
    for (int i = 0; i < length; i++) s += cos(t[i]) / length;
    free(t);
  }
  return s;
}

enum { WIDTH = 1 << 19, DEPTH = 40 };

// As much memory as a network has: 160 MB.
static double network(double *x) {
  double *old = calloc(WIDTH, sizeof *old);
  for (int i = 0; i < WIDTH; i++) old[i] = x[i % 3];
  for (int l = 0; l < DEPTH; l++) {
    double *new = calloc(WIDTH, sizeof *new);
    for (int i = 0; i < WIDTH; i++) new[i] = old[i] * old[i] * 0.5 + 0.5 * old[i];
    free(old);
    old = new;
  }
  double s = 0;
  for (int i = 0; i < WIDTH; i++) s += old[i];
  free(old);
  return s / WIDTH;
}

static double of_network(double x) {
  double y = x, slope = 1;
  for (int l = 0; l < DEPTH; l++) slope *= y + 0.5, y = y * y * 0.5 + 0.5 * y;
  return slope;
}

static void *in_thread(void *d) {
  double x[] = {0.3, 0.7, -0.2};
  for (int i = 0; i < 20; i++) {
    memset(d, 0, 3 * sizeof(double));
    __enzyme_autodiff((void *)tree, enzyme_dup, x, d, enzyme_const, 5);
  }
  return 0;
}

static long peak_in_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

int main(void) {
  double x[5] = {0.3, 0.7, -0.2, 0.4, 0.9}, d[3] = {0}, others[3][3];
  seed(12);
  CHECK_GRADIENT(layers, x, 5);
  CHECK_GRADIENT(tree, x, 3);
  CHECK_GRADIENT(turns, x, 5);
  in_thread(d);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, in_thread, others[i]);
  for (int i = 0; i < 3; i++) {
    pthread_join(threads[i], 0);
    for (int k = 0; k < 3; k++) check_close("thread", k, others[i][k], d[k], 0);
  }

  double y[3] = {0.9, 1.0, 0.95};
  for (int i = 0; i < 2; i++) {
    double got[3] = {0};
    __enzyme_autodiff((void *)network, enzyme_dup, y, got);
    for (int k = 0; k < 3; k++)
      check_close("network", k, got[k], of_network(y[k]) * ((WIDTH + 2 - k) / 3) / WIDTH, 1e-9);
  }
  // What is kept of the layers, and shadows of a few of them; all would be twice that.
  long megabytes = peak_in_megabytes();
  if (!__has_feature(address_sanitizer) && megabytes > 230) {
    printf("%ld MB at the peak\n", megabytes);
    return 1;
  }
  return finish("lasting_memory");
}
