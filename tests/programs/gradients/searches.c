// Loops that search for the smallest or largest of numbers that they compute, and loops that almost
// do. Reverse mode agrees with finite differences and with forward mode; results are, bit for bit,
// those of the function.
#include <string.h>

#include "check.h"

enum { N = 7, D = 3, SIZE = N * D + D };

typedef double (*function)(const double *x, int n, int d);

#define SEARCH(name)                                                                               \
  __attribute__((noinline)) static double name(const double *x, int n, int d);                     \
  static void name##_reverse(const double *x, double *dx, int n, int d) {                          \
    __enzyme_autodiff((void *)name, enzyme_dup, x, dx, n, d);                                      \
  }                                                                                                \
  static double name##_forward(const double *x, const double *dx, int n, int d) {                  \
    return __enzyme_fwddiff((void *)name, enzyme_dup, x, dx, n, d);                                \
  }                                                                                                \
  static double name(const double *x, int n, int d)

static inline double distance(const double *x, const double *y, int d) {
  double sum = 0;
  for (int c = 0; c < d; c++) sum += (x[c] - y[c]) * (x[c] - y[c]) * (1 + 0.1 * x[c]);
  return sum;
}

SEARCH(nearest) {
  double least = n ? INFINITY : 0;
  for (int j = 0; j < n; j++) {
    double far = distance(x + j * d, x + n * d, d);
    if (far < least) least = far;
  }
  return least;
}

// The largest, the index as well, and what there is at the index.
SEARCH(farthest) {
  double most = -1;
  int at = -1;
  for (int j = n - 1; j >= 0; j--) {
    double far = distance(x + j * d, x + n * d, d);
    if (far >= most) {
      most = far;
      at = j;
    }
  }
  return at < 0 ? 0 : most * x[at * d];
}

// A minimum of maxima, added up.
SEARCH(least_of_most) {
  double sum = 0;
  for (int c = 0; c < d; c++) {
    double least = 100 * x[c];
    for (int j = 0; j < n; j++) {
      double most = x[c] - 3;
      for (int i = 0; i < n; i++) {
        double value = sin(x[i * d + c]) * exp(0.3 * x[j * d + c]) + 0.1 * x[n * d + c];
        most = value > most ? value : most;
      }
      least = most < least ? most : least;
    }
    sum += least * least;
  }
  return sum;
}

// It stops early, and the number of what it has seen counts.
SEARCH(until_small) {
  double least = 1000;
  int j = 0;
  for (; j < n; j++) {
    double far = distance(x + j * d, x + n * d, d);
    if (far < least) least = far;
    if (far < 0.2) break;
  }
  return least * (j + 1);
}

// The best so far is more than compared.
SEARCH(shrinking) {
  double least = 10;
  for (int j = 0; j < n; j++) {
    double far = distance(x + j * d, x + n * d, d) + 0.1 * least;
    if (far < least) least = far;
  }
  return least;
}

// Two numbers are carried.
SEARCH(two_best) {
  double least = n ? INFINITY : 0, second = 50;
  for (int j = 0; j < n; j++) {
    double far = distance(x + j * d, x + n * d, d);
    if (far < least) {
      second = least < 50 ? least : second;
      least = far;
    }
  }
  return least + 0.5 * second;
}

// Not the smallest, but the last of those that a condition holds for.
SEARCH(last_that) {
  double found = x[0] * x[1];
  for (int j = 0; j < n; j++) {
    double far = distance(x + j * d, x + n * d, d);
    found = far * found < 2 ? exp(-far) * x[j * d] : found;
  }
  return found;
}

// The larger one of two by the library, which takes one half of each where both are equal.
SEARCH(by_library) {
  double most = 0;
  for (int j = 0; j < n; j++) most = fmax(most, distance(x + j * d, x + n * d, d));
  return most;
}

#define ROW(name) {#name, name, name##_reverse, name##_forward}
static const struct {
  const char *name;
  function f;
  void (*reverse)(const double *, double *, int, int);
  double (*forward)(const double *, const double *, int, int);
} searches[] = {
    ROW(nearest),   ROW(farthest), ROW(least_of_most), ROW(until_small),
    ROW(shrinking), ROW(two_best), ROW(last_that),     ROW(by_library),
};

int main(void) {
  for (int s = 0; s < (int)(sizeof searches / sizeof *searches); s++)
    for (int n = 0; n <= N; n++)
      for (int d = 1; d <= D; d++)
        for (int round = 0; round < 4; round++) {
          seed(1000 * s + 100 * n + 10 * d + round);
          double x[SIZE], reverse[SIZE] = {0}, tangent[SIZE], along = 0;
          fill(x, SIZE, -1, 1), fill(tangent, SIZE, -1, 1);
          searches[s].reverse(x, reverse, n, d);
          for (int i = 0; i < SIZE; i++) {
            double kept = x[i], h = 1e-6;
            x[i] = kept + h;
            double above = searches[s].f(x, n, d);
            x[i] = kept - h;
            double below = searches[s].f(x, n, d);
            x[i] = kept;
            check_close(searches[s].name, i, reverse[i], (above - below) / (2 * h), 1e-6);
          }
          for (int i = 0; i < SIZE; i++) along += reverse[i] * tangent[i];
          double forward = searches[s].forward(x, tangent, n, d);
          check_close(searches[s].name, 10000 + n, along, forward, 1e-12);
        }
  return finish("searches");
}
