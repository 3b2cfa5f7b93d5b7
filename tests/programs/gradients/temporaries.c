// Memory that a function makes for itself and frees: the reverse sweep reads it where it is, so the
// free waits. Temporaries of a loop, of some ways only, of callees, of recursive calls, two that
// change places, some that are overwritten, some that hold indices; both halves one by one, and
// derivatives of derivatives.
#include "check.h"

extern int enzyme_nofree;
struct taped { void *tape; double value; };
extern struct taped __enzyme_augmentfwd_value(void *, ...);
extern void __enzyme_reverse(void *, ...);

#define NOINLINE __attribute__((noinline)) static

static double once(double *x, int n) {
  double *t = malloc(n * sizeof *t), sum = 0;
  for (int i = 0; i < n; i++) t[i] = exp(x[i] * 0.5);
  for (int i = 1; i < n; i++) sum += t[i] * t[i - 1] * x[i];
  free(t);
  return sum;
}

// New memory in each iteration: what one writes is not what the one before has read.
static double each_time(double *x, int n) {
  double total = 0;
  for (int i = 0; i < n; i++) {
    double *t = malloc((i + 2) * sizeof *t), s = 0;
    for (int j = 0; j < i + 2; j++) t[j] = x[i] * x[j % n] + j;
    for (int j = 0; j < i + 1; j++) s += t[j] * t[j + 1];
    total += sin(s * 0.1);
    free(t);
  }
  return total;
}

// The same, from two nested loops, with memory of both.
static double nested(double *x, int n) {
  double total = 0;
  for (int i = 0; i < n; i++) {
    double *row = malloc(n * sizeof *row);
    for (int j = 0; j < n; j++) {
      double *pair = malloc(2 * sizeof *pair);
      pair[0] = x[i] * x[j];
      pair[1] = x[i] - x[j];
      row[j] = pair[0] * pair[1] * pair[1] + pair[0];
      free(pair);
    }
    for (int j = 0; j < n; j++) total += row[j] * row[j] * x[j];
    free(row);
  }
  return total;
}

// Made on some ways, freed on all of them.
static double sometimes(double *x, int n) {
  double total = 0;
  for (int i = 0; i < n; i++) {
    double *t = NULL;
    if (x[i] > 0) {
      t = malloc(3 * sizeof *t);
      for (int j = 0; j < 3; j++) t[j] = x[i] * (j + 1) + x[(i + j) % n];
    }
    total += t ? t[0] * t[1] * t[2] : x[i];
    free(t);
  }
  return total;
}

// Freed early on one way.
static double early(double *x, int n) {
  double *t = malloc(n * sizeof *t), sum = 0;
  for (int i = 0; i < n; i++) t[i] = x[i] * x[i];
  for (int i = 0; i < n; i++) sum += t[i] * t[i];
  if (sum > 1) {
    sum = log(sum) * t[0];
    free(t);
    return sum;
  }
  sum *= t[n - 1];
  free(t);
  return sum;
}

// Overwritten before it is freed: of this, copies are needed.
static double overwritten(double *x, int n) {
  double *t = malloc(n * sizeof *t), sum = 0;
  for (int i = 0; i < n; i++) t[i] = x[i];
  for (int k = 0; k < 3; k++)
    for (int i = 1; i < n; i++) t[i] = sin(t[i] * t[i - 1]);
  for (int i = 0; i < n; i++) sum += t[i] * t[i];
  free(t);
  return sum;
}

// Two that change places: one free is of this or that.
static double two_by_turns(double *x, int n) {
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
  for (int i = 0; i < n; i++) a[i] = x[i];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n; i++) b[i] = a[i] * a[(i + 1) % n] + 0.5;
    double *swap = a;
    a = b;
    b = swap;
  }
  for (int i = 0; i < n; i++) sum += a[i] * a[i];
  free(a);
  free(b);
  return sum;
}

// Which numbers are used is decided by integers that are gone, too.
static double by_index(double *x, int n) {
  int *order = malloc(n * sizeof *order);
  double sum = 0;
  for (int i = 0; i < n; i++) order[i] = (i * i + 3) % n;
  for (int i = 0; i < n; i++) sum += x[order[i]] * x[order[order[i]]] * x[i];
  free(order);
  return sum;
}

// Callees that read it, and one that only adds up.
NOINLINE double squares(const double *t, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += t[i] * t[i] * t[i];
  return sum;
}
NOINLINE double total_of(const double *t, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += t[i];
  return sum;
}
NOINLINE void fill_in(double *t, const double *x, int n) {
  for (int i = 0; i < n; i++) t[i] = x[i] * x[n - 1 - i];
}
static double passed_on(double *x, int n) {
  double sum = 0;
  for (int k = 1; k < n; k++) {
    double *t = malloc(k * sizeof *t);
    fill_in(t, x, k);
    sum += squares(t, k) * total_of(t, k);
    free(t);
  }
  return sum;
}

// A callee that has its own, in a loop.
NOINLINE double own(const double *x, int n, double scale) {
  double *t = malloc(n * sizeof *t), product = 1;
  for (int i = 0; i < n; i++) t[i] = scale * x[i] + 1;
  for (int i = 0; i < n; i++) product *= 1 + 0.1 * t[i] * t[n - 1 - i];
  free(t);
  return product;
}
static double of_callees(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += own(x, n, x[i]);
  return sum;
}

// Each call of a recursion has some.
NOINLINE double halves(const double *x, int n) {
  if (n < 2) return n ? x[0] * x[0] : 0;
  int half = n / 2;
  double *t = malloc(half * sizeof *t), sum = 0;
  for (int i = 0; i < half; i++) t[i] = x[i] * x[i + half];
  sum = halves(t, half) + halves(x + half, n - half);
  for (int i = 0; i < half; i++) sum += t[i] * t[i];
  free(t);
  return sum;
}
static double recursive(double *x, int n) { return halves(x, n); }

// What it holds is memory, too.
static double rows(double *x, int n) {
  double **row = malloc(n * sizeof *row), sum = 0;
  for (int i = 0; i < n; i++) {
    row[i] = malloc((i + 1) * sizeof **row);
    for (int j = 0; j <= i; j++) row[i][j] = x[i] * x[j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) sum += row[i][j] * row[i][j] * x[j];
  for (int i = 0; i < n; i++) free(row[i]);
  free(row);
  return sum;
}

// Grows; each time the old memory is freed.
static double grown(double *x, int n) {
  double *t = NULL, sum = 0;
  int room = 0;
  for (int i = 0; i < n; i++) {
    if (i == room) t = realloc(t, (room = 2 * room + 1) * sizeof *t);
    t[i] = x[i] * x[i];
    sum += t[i / 2] * t[i];
  }
  free(t);
  return sum;
}

// The two sweeps one by one, the second twice: nothing is freed before the last time.
static void apart(const double *x, int n) {
  double in[16], d[16] = {0};
  memcpy(in, x, n * sizeof *x);
  struct taped t = __enzyme_augmentfwd_value((void *)each_time, enzyme_dup, in, d, enzyme_const, n);
  __enzyme_reverse((void *)each_time, enzyme_nofree, enzyme_dup, in, d, enzyme_const, n, 0.5,
                   t.tape);
  __enzyme_reverse((void *)each_time, enzyme_dup, in, d, enzyme_const, n, 0.5, t.tape);
  for (int i = 0; i < n; i++)
    check_close("apart", i, d[i], check_difference(each_time, x, n, i), 1e-6);
}

// The sum of a gradient, to be differentiated.
static double slope(double *x, int n) {
  double d[16] = {0}, sum = 0;
  __enzyme_autodiff((void *)each_time, enzyme_dup, x, d, enzyme_const, n);
  for (int i = 0; i < n; i++) sum += (i + 1) * d[i];
  return sum;
}

int main(void) {
  double x[9];
  for (int round = 0; round < 3; round++) {
    seed(1000 + round);
    fill(x, 9, -1.2, 1.2);
    CHECK_GRADIENT(once, x, 9);
    CHECK_GRADIENT(each_time, x, 9);
    CHECK_GRADIENT(nested, x, 5);
    CHECK_GRADIENT(sometimes, x, 9);
    CHECK_GRADIENT(early, x, 9);
    CHECK_GRADIENT(early, x, 1);
    CHECK_GRADIENT(overwritten, x, 9);
    CHECK_GRADIENT(two_by_turns, x, 9);
    CHECK_GRADIENT(by_index, x, 9);
    CHECK_GRADIENT(passed_on, x, 9);
    CHECK_GRADIENT(of_callees, x, 9);
    CHECK_GRADIENT(recursive, x, 9);
    CHECK_GRADIENT(rows, x, 6);
    CHECK_GRADIENT(grown, x, 9);
    CHECK_GRADIENT_TO(slope, x, 4, 1e-5);
    apart(x, 7);
  }
  return finish("temporaries");
}
