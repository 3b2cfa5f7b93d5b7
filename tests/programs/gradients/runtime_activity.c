// Activity that is decided at run time: a shadow that is its primal has no derivative, and the
// memory behind it stays as it is.
#include "check.h"

extern int enzyme_runtime_activity;
#define NOINLINE __attribute__((noinline)) static

// Memory that is constant or not, which only the program knows when it runs.
static double choose(double *x, double *k, int n, int which) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double *p = (i + which) % 2 ? x : k;
    sum += p[i] * p[i];
  }
  return sum;
}

// Pointers in memory, some of which lead to constants.
struct layer {
  double *weights, *input;
};
static double layers(struct layer *l, int count, int n) {
  double sum = 0;
  for (int j = 0; j < count; j++)
    for (int i = 0; i < n; i++) sum += l[j].weights[i] * l[j].weights[i] * l[j].input[i];
  return sum;
}

// Writes, copies, sets and sums through such pointers, also of callees.
NOINLINE void scale(double *p, double by, int n) {
  for (int i = 0; i < n; i++) p[i] *= by;
}
static double work(double *x, double *buffer, double *k, int n) {
  double *p = n > 3 ? buffer : x;
  memcpy(p, k, n * sizeof(double));
  scale(p, x[0], n);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += p[i] * x[i];
  memcpy(p, x, n * sizeof(double));
  for (int i = 0; i < n; i++) sum += p[i] * k[i];
  memset(p, 0, n * sizeof(double));
  return sum + p[0];
}

// A table that nobody differentiates.
static double table[4] = {1, 2, 3, 4};
void *__enzyme_inactive_global_table = table;
static double from_table(double *x, int i) {
  double *p = i > 1 ? table : x;
  return p[i] * p[i] * x[0];
}

// A rule gets no shadow for such a pointer.
static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double dot3_augmented(const double *a, double *da, const double *b, double *db) { return dot3(a, b); }
static int shadows_seen;
static void dot3_gradient(const double *a, double *da, const double *b, double *db, double seed) {
  shadows_seen = (da != 0) + 2 * (db != 0);
  for (int i = 0; i < 3; i++) {
    if (da) da[i] += b[i] * seed;
    if (db) db[i] += a[i] * seed;
  }
}
void *__enzyme_register_gradient_dot3[] = {(void *)dot3, (void *)dot3_augmented, (void *)dot3_gradient};
static double ruled(double *a, double *b) { return dot3(a, b) * dot3(a, b); }

static void same(const char *what, const double *x, const double *before, int n) {
  for (int i = 0; i < n; i++) check_close(what, i, x[i], before[i], 0);
}

int main(void) {
  double x[4], k[4], x0[4], k0[4];
  fill(x, 4, 0.5, 2), fill(k, 4, 0.5, 2);
  memcpy(x0, x, sizeof x), memcpy(k0, k, sizeof k);
  for (int which = 0; which < 2; which++) {
    double d[4] = {0}, t[4] = {1, 1, 1, 1}, want = 0;
    __enzyme_autodiff((void *)choose, enzyme_runtime_activity, enzyme_dup, x, d, enzyme_dup, k, k, 4, which);
    for (int i = 0; i < 4; i++) {
      double one = (i + which) % 2 ? 2 * x[i] : 0;
      check_close("choose", i, d[i], one, 1e-12);
      want += one;
    }
    check_close("choose", 4, __enzyme_fwddiff((void *)choose, enzyme_runtime_activity, enzyme_dup, x, t,
                                              enzyme_dup, k, k, enzyme_const, 4, enzyme_const, which), want, 1e-12);
    // As a const argument it is the same.
    double e[4] = {0};
    __enzyme_autodiff((void *)choose, enzyme_runtime_activity, enzyme_dup, x, e, enzyme_const, k, 4, which);
    same("choose const", e, d, 4);
    // And both may be active.
    double f[4] = {0}, g[4] = {0};
    __enzyme_autodiff((void *)choose, enzyme_runtime_activity, enzyme_dup, x, f, enzyme_dup, k, g, 4, which);
    for (int i = 0; i < 4; i++) check_close("choose both", i, g[i], 2 * k[i] - ((i + which) % 2 ? 2 * k[i] : 0), 1e-12);
  }
  same("x", x, x0, 4), same("k", k, k0, 4);
  {
    double dx[4] = {0}, t[4] = {1, 2, 3, 4}, want = 0;
    struct layer l[2] = {{x, k}, {k, x}}, dl[2] = {{dx, k}, {k, dx}}, tl[2] = {{t, k}, {k, t}};
    __enzyme_autodiff((void *)layers, enzyme_runtime_activity, enzyme_dup, l, dl, 2, 4);
    for (int i = 0; i < 4; i++) {
      double one = 2 * x[i] * k[i] + k[i] * k[i];
      check_close("layers", i, dx[i], one, 1e-12);
      want += one * t[i];
    }
    check_close("layers", 4, __enzyme_fwddiff((void *)layers, enzyme_runtime_activity, enzyme_dup, l, tl,
                                              enzyme_const, 2, enzyme_const, 4), want, 1e-12);
    same("x", x, x0, 4), same("k", k, k0, 4);
  }
  {
    // The buffer has no derivative: what goes through it is lost.
    double buffer[4], dx[4] = {0}, t[4] = {1, 2, 3, 4}, want = 0;
    __enzyme_autodiff((void *)work, enzyme_runtime_activity, enzyme_dup, x, dx, enzyme_dup, buffer, buffer,
                      enzyme_dup, k, k, 4);
    for (int i = 0; i < 4; i++) {
      check_close("work", i, dx[i], k[i] * x[0], 1e-12);
      want += k[i] * x[0] * t[i];
    }
    check_close("work", 4, __enzyme_fwddiff((void *)work, enzyme_runtime_activity, enzyme_dup, x, t, enzyme_dup,
                                            buffer, buffer, enzyme_dup, k, k, enzyme_const, 4), want, 1e-12);
    check_close("buffer", 0, buffer[1], 0, 0);
    // With a shadow of its own, nothing is lost; the constants have none.
    double shadow[4] = {0};
    memset(dx, 0, sizeof dx);
    __enzyme_autodiff((void *)work, enzyme_runtime_activity, enzyme_dup, x, dx, enzyme_dup, buffer, shadow,
                      enzyme_dup, k, k, 4);
    for (int i = 0; i < 4; i++) {
      double plus[4], minus[4], h = 1e-6;
      memcpy(plus, x, sizeof x), memcpy(minus, x, sizeof x);
      plus[i] += h, minus[i] -= h;
      double slope = (work(plus, buffer, k, 4) - work(minus, buffer, k, 4)) / (2 * h);
      check_close("work with shadow", i, dx[i], slope, 1e-6);
      double e[4] = {0}, b[4] = {0};
      e[i] = 1;
      check_close("work forward", i, __enzyme_fwddiff((void *)work, enzyme_runtime_activity, enzyme_dup, x, e,
                                                      enzyme_dup, buffer, b, enzyme_dup, k, k, enzyme_const, 4), slope, 1e-6);
    }
    same("x", x, x0, 4), same("k", k, k0, 4);
  }
  for (int i = 0; i < 4; i++) {
    double d[4] = {0};
    __enzyme_autodiff((void *)from_table, enzyme_runtime_activity, enzyme_dup, x, d, i);
    double p = i > 1 ? table[i] : x[i], want = p * p + (i == 0 ? 2 * x[0] * x[0] : 0);
    check_close("table", i, d[0], want, 1e-12);
    check_close("table is as it was", i, table[i], i + 1, 0);
  }
  {
    double d[4] = {0}, dot = dot3(x, k);
    __enzyme_autodiff((void *)ruled, enzyme_runtime_activity, enzyme_dup, x, d, enzyme_dup, k, k);
    for (int i = 0; i < 3; i++) check_close("ruled", i, d[i], 2 * dot * k[i], 1e-12);
    check_close("ruled shadows", 0, shadows_seen, 1, 0);
    same("x", x, x0, 4), same("k", k, k0, 4);
  }
  return finish("runtime_activity");
}
