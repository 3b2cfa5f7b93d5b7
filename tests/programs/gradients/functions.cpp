// Functions that are held as values, with the numbers that they captured: called through a
// reference, and assigned anew. The function that manages what is held is told by a number whether
// to copy it, to destroy it, or to say where it is.
#include "check.h"

#include <functional>

using Function = std::function<double(double)>;

__attribute__((noinline)) static double twice(const Function &f, double x) {
  return f(x) * f(x + 1);
}

static double captured(double *x, int n) {
  double a = x[0];
  Function f = [a](double t) { return a * t * t; };
  return twice(f, x[1]);
}

static double assigned(double *x, int n) {
  double a = x[0], b = x[1], c = x[2];
  Function f = [a](double t) { return a * t * t; };
  double sum = twice(f, x[1]);
  f = [b, c](double t) { return b * sin(t) + c; };
  return sum + twice(f, x[3]);
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(captured, x, 4);
  CHECK_GRADIENT(assigned, x, 4);
  return finish("functions");
}
