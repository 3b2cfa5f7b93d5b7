// Variables of static storage in C++ through which derivatives flow: members, templates, inline
// variables, and locals that are initialized when control first comes to them.
extern "C" {
#include "check.h"
}
#include <cstdlib>

struct Filter {
  static double previous;
  static inline double gain = 0.5;
  static double step(double v) {
    previous = gain * previous + (1 - gain) * v * v;
    return previous;
  }
};
double Filter::previous;

static double through_members(double *x, int n) {
  Filter::previous = 0;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += Filter::step(x[i]) * x[0];
  return sum;
}

// The guard is looked at each time; the initial value is only computed once.
static double start() { return std::getenv("NO_SUCH_VARIABLE") ? 2 : 1; }

static double &total() {
  static double value = start();
  return value;
}

static double through_guarded(double *x, int n) {
  double keep = total();
  for (int i = 0; i < n; i++) total() *= 1 + x[i] * x[i];
  double result = total();
  total() = keep;
  return result;
}

template <int N>
struct Memory {
  static thread_local double cells[N];
  static void set(int i, double v) { cells[i % N] = v; }
  static double get(int i) { return cells[i % N]; }
};
template <int N>
thread_local double Memory<N>::cells[N];

static double through_template(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) Memory<3>::set(i, x[i] * x[i]);
  for (int i = 0; i < n; i++) sum += Memory<3>::get(i + 1) * x[i];
  return sum;
}

int main() {
  double x[4];
  fill(x, 4, -1, 1);
  for (int round = 0; round < 2; round++) {
    CHECK_GRADIENT(through_members, x, 4);
    CHECK_GRADIENT(through_guarded, x, 4);
    CHECK_GRADIENT(through_template, x, 4);
  }
  return finish("globals_cpp");
}
