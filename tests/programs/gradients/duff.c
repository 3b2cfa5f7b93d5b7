// Jumps into the middle of a loop, by a switch.
#include "check.h"

static double unrolled(double *x, int n) {
  double y = 0, *at = x;
  int rounds = (n + 3) / 4;
  switch (n % 4) {
    case 0:
      do {
        y = y * 0.9 + *at * *at, at++;
        case 3: y = y * 0.8 + *at * *at, at++;
        case 2: y = y * 0.7 + *at * *at, at++;
        case 1: y = y * 0.6 + *at * *at, at++;
      } while (--rounds > 0);
  }
  return y;
}

int main(void) {
  double x[12];
  fill(x, 12, -1, 1);
  for (int n = 1; n <= 12; n++) CHECK_GRADIENT(unrolled, x, n);
  return finish("duff");
}
