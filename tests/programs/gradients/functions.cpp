// Functions that are held as values, with the numbers that they captured: called through a
// reference, assigned anew, copied, returned and kept in containers. The function that manages what
// is held is told by a number whether to copy it, to destroy it, or to say where it is. What is
// held may be a number in one function and a pointer in the other, in the same bytes.
#include "check.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// Numbers here, pointers there.
static double mixed(double *x, int n) {
  double a = x[0];
  Function f = [a](double t) { return a * t * t; };
  Function g = [x](double t) { return x[1] * t + x[2]; };
  double sum = twice(f, x[1]) + twice(g, x[3]);
  f = std::move(g);
  sum *= twice(f, x[2]);
  g = [a](double t) { return a - t; };
  return sum + twice(g, x[1]) + twice(f, x[0]);
}

static double copied(double *x, int n) {
  double a = x[0], b = x[2];
  Function f = [a, b](double t) { return a * t * b; };
  Function g = f;
  Function h = [g, a](double t) { return g(t) + a; };
  return twice(g, x[1]) + twice(h, x[3]);
}

static Function made(double a, const double *x) {
  if (a > 0) return [a](double t) { return a * sin(t); };
  return [x, a](double t) { return x[1] * t - a; };
}

static double returned(double *x, int n) {
  Function f = made(x[0] + 2, x), g = made(-x[0] * x[0] - 1, x);
  return twice(f, x[2]) * twice(g, x[3]);
}

static double several(double *x, int n) {
  std::vector<Function> fs;
  for (int i = 0; i < n; i++) {
    double a = x[i];
    if (i % 2) fs.push_back([a](double t) { return a * t; });
    else fs.push_back([a, i](double t) { return a - i * t * t; });
  }
  double v = 1;
  for (const Function &f : fs) v = f(v);
  return v;
}

static double several_pointers(double *x, int n) {
  std::vector<Function> fs;
  for (int i = 0; i < n; i++) {
    if (i % 2) fs.push_back([x, i](double t) { return x[i] + t; });
    else fs.push_back([&b = x[i]](double t) { return b - t * t; });
  }
  double v = 1;
  for (const Function &f : fs) v = f(v);
  return v;
}

// One object is filled anew in each iteration.
static double in_turn(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double a = x[i];
    Function f;
    if (i % 2) f = [a](double t) { return a * t; };
    else f = [x](double t) { return x[0] * t * t; };
    sum += twice(f, x[i]);
  }
  return sum;
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(captured, x, 4);
  CHECK_GRADIENT(assigned, x, 4);
  CHECK_GRADIENT(mixed, x, 4);
  CHECK_GRADIENT(copied, x, 4);
  CHECK_GRADIENT(returned, x, 4);
  CHECK_GRADIENT(several, x, 6);
  CHECK_GRADIENT(several_pointers, x, 6);
  CHECK_GRADIENT(in_turn, x, 6);
  return finish("functions");
}
