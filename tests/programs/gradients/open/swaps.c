// Swaps through a function, in a loop.
//
// FIXME: the compiler panics at -O1 and above (reverse/tape.rs, `Layout::array`: "no entry found for
// key"): the callee's frame is empty and nothing else is kept in the loop, so that the loop has no
// records, but the address of the frame in them is asked for.
#include "../check.h"

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
