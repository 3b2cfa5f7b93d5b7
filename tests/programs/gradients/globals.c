// Global variables that are read or counted with, but carry no derivative.
#include "check.h"

static double weights[4] = {0.5, -1, 2, 0.25};
static int calls;
static double scale = 1;

static double constant_weights(double *x, int n) {
  double sum = 0;
  calls++;
  for (int i = 0; i < n; i++) sum += weights[i % 4] * x[i] * x[i];
  return sum;
}

static double table_of_pointers(double *x, int n) {
  static const double low[2] = {1, 2}, high[2] = {3, 4};
  static const double *const tables[2] = {low, high};
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * tables[i % 2][i / 2 % 2];
  return sum;
}

__attribute__((noinline)) static double scaled(double x) { return x * scale; }

static double read_by_callee(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += scaled(x[i]) * x[0];
  return sum;
}

// The buffer is global, but what it holds are integers.
static int order[4];

static double through_indices(double *x, int n) {
  for (int i = 0; i < n; i++) order[i] = (i * 3 + 1) % n;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[order[i]] * x[i] * (i + 1);
  return sum;
}

int main(void) {
  double x[4];
  weights[2] = 1.75;
  fill(x, 4, -1, 1);
  CHECK_GRADIENT(constant_weights, x, 4);
  scale = 2.5;
  CHECK_GRADIENT(table_of_pointers, x, 4);
  CHECK_GRADIENT(read_by_callee, x, 4);
  CHECK_GRADIENT(through_indices, x, 4);
  if (calls == 0) check_failures++;
  return finish("globals");
}
