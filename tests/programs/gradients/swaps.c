// Swaps through a function, in a loop.
#include "check.h"

__attribute__((noinline)) static void swap(double *a, double *b) {
  double t = *a;
  *a = *b;
  *b = t;
}

static double reversed(double *x, int n) {
  double weighted = 0;
  for (int i = 0, j = n - 1; i < j; i++, j--) swap(x + i, x + j);
  swap(x, x);
  for (int i = 0; i < n; i++) weighted += x[i] * x[i] * (i + 1);
  return weighted;
}

int main(void) {
  double x[12];
  fill(x, 12, -1, 1);
  CHECK_GRADIENT(reversed, x, 12);
  return finish("swaps");
}
