// Products of matrices whose operands are overwritten before the reverse sweep runs: in a loop, in
// place, by the caller, at the end of a function. Along random directions, forward mode agrees with
// finite differences, and reverse mode with forward mode; what the derivatives leave in memory is, bit
// for bit, what the function leaves there.
#include "check.h"

enum { MOST = 48, SIZE = 3 * MOST * MOST };

// All of them work on three matrices of n × n, one after the other.
typedef void (*function)(double *restrict x, int n);

#define FUNCTION(name)                                                                             \
  __attribute__((noinline)) static void name(double *restrict x, int n);                           \
  static void name##_forward(double *x, double *dx, int n) {                                       \
    __enzyme_fwddiff((void *)name, enzyme_dup, x, dx, n);                                          \
  }                                                                                                \
  static void name##_reverse(double *x, double *dx, int n) {                                       \
    __enzyme_autodiff((void *)name, enzyme_dup, x, dx, n);                                         \
  }                                                                                                \
  static void name(double *restrict x, int n)

static inline void multiply(double *restrict c, const double *a, const double *b, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

FUNCTION(state_of_a_loop) {
  double *w = x, *h = x + n * n, *t = x + 2 * n * n;
  for (int step = 0; step < 4; step++) {
    multiply(t, w, h, n);
    for (int i = 0; i < n * n; i++) h[i] = tanh(t[i]);
  }
}

FUNCTION(one_operand) {
  multiply(x + 2 * n * n, x, x + n * n, n);
  for (int i = 0; i < n * n; i++) x[i] = x[2 * n * n + i] * x[2 * n * n + i];
}

FUNCTION(both_operands) {
  multiply(x + 2 * n * n, x, x + n * n, n);
  for (int i = 0; i < 2 * n * n; i++) x[i] = 0.5 * x[i] * x[i];
}

FUNCTION(a_square) {
  multiply(x + 2 * n * n, x, x, n);
  for (int i = 0; i < n * n; i++) x[i] = x[2 * n * n + i] + x[i] * x[i];
}

FUNCTION(backwards) {
  double *a = x, *b = x + n * n, *c = x + 2 * n * n;
  for (int j = n - 1; j >= 0; j--)
    for (int i = n - 1; i >= 0; i--)
      for (int k = 0; k < n; k++) c[i * n + j] -= a[k * n + i] * b[j * n + k];
  for (int i = 0; i < n * n; i++) a[i] = b[i] = c[i] * a[i];
}

__attribute__((noinline)) static void product(double *restrict c, const double *a, const double *b, int n) {
  multiply(c, a, b, n);
}

// What is intact in the callee is overwritten by the caller, the first time.
FUNCTION(in_a_callee) {
  product(x + 2 * n * n, x, x + n * n, n);
  for (int i = 0; i < n * n; i++) x[i] = sin(x[2 * n * n + i]);
  product(x + 2 * n * n, x, x + n * n, n);
}

// Each call has memory of its own, which ends with it, and the deeper one overwrites what was given.
__attribute__((noinline)) static void descend(double *x, double *given, int n, int depth) {
  double *own = malloc((size_t)n * n * sizeof(double) + 8);
  for (int i = 0; i < n * n; i++) own[i] = x[i] + 0.1 * given[i];
  multiply(x + 2 * n * n, own, given, n);
  for (int i = 0; i < n * n; i++) given[i] = 0.1 * x[2 * n * n + i];
  if (depth > 0) descend(x, own, n, depth - 1);
  for (int i = 0; i < n * n; i++) x[n * n + i] += own[i];
  free(own);
}

FUNCTION(in_a_recursion) { descend(x, x + n * n, n, 2); }

// How much is overwritten depends on numbers.
FUNCTION(on_some_ways) {
  for (int step = 0; step < 3; step++) {
    if (x[step] > 0) multiply(x + 2 * n * n, x, x + n * n, n);
    for (int i = 0; i < n; i++)
      if (x[2 * n * n + i] < 0.2) x[n * n + i] = 0.3 * x[2 * n * n + i];
  }
}

#define ROW(name) {#name, name, name##_forward, name##_reverse}
static const struct {
  const char *name;
  function f;
  void (*forward)(double *, double *, int);
  void (*reverse)(double *, double *, int);
} functions[] = {
    ROW(state_of_a_loop), ROW(one_operand), ROW(both_operands),  ROW(a_square),
    ROW(backwards),       ROW(in_a_callee), ROW(in_a_recursion), ROW(on_some_ways),
};

static double before[SIZE], plain[SIZE], memory[SIZE], tangent[SIZE], adjoint[SIZE], seeds[SIZE];
static double direction[SIZE], plus[SIZE];

static void check_function(int which, int n) {
  int size = 3 * n * n;
  char what[80];
  snprintf(what, sizeof what, "%s, %d", functions[which].name, n);
  fill(before, size, -0.3, 0.3), fill(seeds, size, -1, 1), fill(direction, size, -1, 1);
  memcpy(plain, before, sizeof plain);
  functions[which].f(plain, n);
  memcpy(memory, before, sizeof memory), memcpy(tangent, direction, sizeof tangent);
  functions[which].forward(memory, tangent, n);
  if (memcmp(memory, plain, size * sizeof *plain)) check_close(what, -1, 0, 1, 0);
  double h = 1e-6, forward = 0, differences = 0, reverse = 0;
  for (int sign = 1; sign >= -1; sign -= 2) {
    for (int i = 0; i < size; i++) memory[i] = before[i] + sign * h * direction[i];
    functions[which].f(memory, n);
    if (sign > 0) memcpy(plus, memory, sizeof plus);
  }
  for (int i = 0; i < size; i++) {
    forward += seeds[i] * tangent[i];
    differences += seeds[i] * (plus[i] - memory[i]) / (2 * h);
  }
  check_close(what, 1, forward, differences, 1e-6);
  memcpy(memory, before, sizeof memory), memcpy(adjoint, seeds, sizeof adjoint);
  functions[which].reverse(memory, adjoint, n);
  if (memcmp(memory, plain, size * sizeof *plain)) check_close(what, -2, 0, 1, 0);
  for (int i = 0; i < size; i++) reverse += adjoint[i] * direction[i];
  check_close(what, 2, reverse, forward, 1e-9);
}

int main(void) {
  // From 32 on there are kernels.
  static const int sizes[] = {0, 1, 3, 8, 31, 33, MOST};
  for (int which = 0; which < (int)(sizeof functions / sizeof *functions); which++)
    for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
      seed(100 * which + s);
      if (sizes[s] > 1 || which != 7) check_function(which, sizes[s]);
    }
  return finish("overwritten");
}
