// Which way control came follows from conditions: nested branches that meet in one place, a switch,
// loops on the way, ways out of a loop, conditions that are only valid where they are reached, and
// some that change afterwards.
#include "check.h"

// Three ways to one place, decided by two integers.
static double three(double x, double y, int n, int m) {
  double r;
  if (n == 1)
    r = x * y;
  else if (n > m)
    r = sin(x) * y;
  else
    r = x * x + y;
  return r * r;
}

static double nested(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= n; j++) sum += three(x[i], x[(i + j) % n], i, j) * (j + 1);
  return sum;
}

// The second condition must not be asked where the first one says no: the list has ended.
struct item { int kind; double factor; struct item *next; };

static double list(double *x, int n) {
  struct item last = {2, 0.5, NULL}, first = {1, 1.5, &last};
  struct item *item = &first;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double v = x[i];
    if (item == NULL)
      v = v * v;
    else if (item->kind == 1)
      v = v * item->factor;
    else if (n / item->kind > 2)
      v = sin(v) * item->factor;
    else
      v = cos(v);
    sum += v * v;
    if (item && i % 2) item = item->next;
  }
  return sum;
}

// Recursion that decides by its arguments, with a loop on one of the ways.
static double halve(double *x, int n, int level) {
  if (n == 1) return x[0] * x[0];
  if (level > 3) return 0;
  double sum = 0;
  if (n > 2)
    for (int i = 0; i < n; i++) {
      if (x[i] > 5) break;
      sum += x[i] * x[(i + 1) % n];
    }
  switch (n % 4) {
    case 0: sum *= 2; break;
    case 1: sum += x[0] * x[1]; break;
    case 3: sum -= x[0]; break;
    default: break;
  }
  return sum + halve(x, n / 2, level + 1) * halve(x + n / 2, n - n / 2, level + 1);
}

static double halves(double *x, int n) { return halve(x, n, 0); }

// What was decided on is gone when the reverse sweep comes.
static double overwritten(double *x, int n) {
  int state[3] = {0, 1, 2};
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double v = x[i];
    int s = state[i % 3];
    if (s == 0)
      v = v * v * v;
    else if (state[(i + 1) % 3] > 1)
      v = sin(v);
    else
      v = 3 * v;
    state[i % 3] = (s + 1 + i) % 3;
    x[i] = v * v;
    sum += v * x[i];
  }
  return sum;
}

// Decisions on floats, in a loop that is left in several ways.
static double leaves(double *x, int n) {
  double sum = 1;
  for (int k = 0; k < 2; k++) {
    int way = 0;
    for (int i = 0; i < n; i++) {
      if (x[i] * sum > 3) { way = 1; break; }
      if (sum < -2) { way = 2; break; }
      sum += x[i] * x[i] * (x[i] > 0.6 ? 1 : -0.5);
    }
    if (way == 1) sum *= x[0];
    else if (way == 2) sum += x[1];
  }
  return sum;
}

int main(void) {
  double x[9];
  for (int round = 0; round < 5; round++) {
    seed(round);
    fill(x, 9, 0.2, 1.4);
    CHECK_GRADIENT(nested, x, 5);
    CHECK_GRADIENT(list, x, 9);
    CHECK_GRADIENT(halves, x, 9);
    CHECK_GRADIENT(halves, x, 7);
    CHECK_GRADIENT(overwritten, x, 9);
    CHECK_GRADIENT(leaves, x, 9);
  }
  return finish("decisions");
}
