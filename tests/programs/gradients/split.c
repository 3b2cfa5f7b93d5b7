// The two halves of reverse mode, asked for one by one: tapes on the heap and in memory of the
// program, several at once, read twice, and memory that changes in between.
#include "check.h"

extern int enzyme_tape, enzyme_allocated, enzyme_nofree, enzyme_not_overwritten, enzyme_dupv;
struct taped { void *tape; double value; };
struct taped_pointer { void *tape; double *value, *shadow; };
struct two { double a, b; };
extern void *__enzyme_augmentfwd(void *, ...);
extern struct taped __enzyme_augmentfwd_value(void *, ...);
extern struct taped_pointer __enzyme_augmentfwd_pointer(void *, ...);
extern double __enzyme_augmentfwd_primal(void *, ...);
extern void __enzyme_reverse(void *, ...);
extern double __enzyme_reverse_one(void *, ...);
extern struct two __enzyme_reverse_two(void *, ...);
extern size_t __enzyme_augmentsize(void *, ...);

// Overwrites what it reads, in a loop.
static double chain(double *x, int n) {
  double s = 1;
  for (int i = 0; i < n; i++) {
    s = sin(s * x[i]) + x[i] * x[i];
    x[i] = s;
  }
  return s * x[0];
}

static void scramble(double *x, int n) {
  for (int i = 0; i < n; i++) x[i] = -100 - i;
}

static void split_chain(const double *x, int n) {
  double in[8], d[8] = {0}, want[8];
  for (int i = 0; i < n; i++) want[i] = check_difference(chain, x, n, i);
  memcpy(in, x, n * sizeof *x);
  struct taped t = __enzyme_augmentfwd_value((void *)chain, enzyme_dup, in, d, enzyme_const, n);
  double again[8];
  memcpy(again, x, n * sizeof *x);
  check_close("primal", 0, t.value, chain(again, n), 1e-14);
  scramble(in, n);
  __enzyme_reverse((void *)chain, enzyme_dup, in, d, enzyme_const, n, 1.0, t.tape);
  for (int i = 0; i < n; i++) check_close("split", i, d[i], want[i], 1e-6);
  // Another seed.
  memset(d, 0, sizeof d);
  memcpy(in, x, n * sizeof *x);
  t = __enzyme_augmentfwd_value((void *)chain, enzyme_dup, in, d, enzyme_const, n);
  __enzyme_reverse((void *)chain, enzyme_dup, in, d, enzyme_const, n, -2.5, t.tape);
  for (int i = 0; i < n; i++) check_close("seed", i, d[i], -2.5 * want[i], 1e-6);
  // The same tape twice.
  memcpy(in, x, n * sizeof *x);
  memset(d, 0, sizeof d);
  t = __enzyme_augmentfwd_value((void *)chain, enzyme_dup, in, d, enzyme_const, n);
  __enzyme_reverse((void *)chain, enzyme_nofree, enzyme_dup, in, d, enzyme_const, n, 1.0, t.tape);
  for (int i = 0; i < n; i++) check_close("kept", i, d[i], want[i], 1e-6);
  memset(d, 0, sizeof d);
  __enzyme_reverse((void *)chain, enzyme_dup, in, d, enzyme_const, n, 3.0, t.tape);
  for (int i = 0; i < n; i++) check_close("again", i, d[i], 3 * want[i], 1e-6);
}

// Two tapes at once, read in both orders.
static void two_tapes(const double *x, int n, int forwards) {
  double a[8], b[8], da[8] = {0}, db[8] = {0}, y[8];
  for (int i = 0; i < n; i++) y[i] = x[i] * 0.7 + 0.1;
  memcpy(a, x, n * sizeof *x);
  memcpy(b, y, n * sizeof *x);
  struct taped s = __enzyme_augmentfwd_value((void *)chain, enzyme_dup, a, da, enzyme_const, n);
  struct taped t = __enzyme_augmentfwd_value((void *)chain, enzyme_dup, b, db, enzyme_const, n - 1);
  for (int step = 0; step < 2; step++) {
    if (step == forwards) __enzyme_reverse((void *)chain, enzyme_dup, b, db, enzyme_const, n - 1, 1.0, t.tape);
    else __enzyme_reverse((void *)chain, enzyme_dup, a, da, enzyme_const, n, 1.0, s.tape);
  }
  for (int i = 0; i < n; i++) check_close("first", i, da[i], check_difference(chain, x, n, i), 1e-6);
  for (int i = 0; i + 1 < n; i++) check_close("second", i, db[i], check_difference(chain, y, n - 1, i), 1e-6);
}

static double product(double x, double y) { return sin(x * y) * exp(y); }

// The tape lies where the program wants it.
static void own_memory(double x, double y) {
  size_t size = __enzyme_augmentsize((void *)product, enzyme_out, enzyme_out);
  void *memory = malloc(size);
  double value = __enzyme_augmentfwd_primal((void *)product, enzyme_allocated, size, enzyme_tape, memory, x, y);
  check_close("value", 0, value, product(x, y), 1e-14);
  for (int i = 0; i < 2; i++) {
    struct two g = __enzyme_reverse_two((void *)product, enzyme_allocated, size, enzyme_tape, memory, x, y, 1.0);
    check_close("own x", i, g.a, y * cos(x * y) * exp(y), 1e-12);
    check_close("own y", i, g.b, (x * cos(x * y) + sin(x * y)) * exp(y), 1e-12);
  }
  free(memory);
  _Alignas(16) char large[4096];
  __enzyme_augmentfwd((void *)product, enzyme_allocated, 4096, enzyme_tape, large, x, y);
  struct two g = __enzyme_reverse_two((void *)product, enzyme_tape, large, x, y, 2.0);
  check_close("large x", 0, g.a, 2 * y * cos(x * y) * exp(y), 1e-12);
}

// Recursion and mutual recursion: tapes hang off tapes.
static double odd(double x, int n);
__attribute__((noinline)) static double even(double x, int n) { return n <= 0 ? x : odd(x * 0.9 + 0.1, n - 1) * x; }
__attribute__((noinline)) static double odd(double x, int n) { return n <= 0 ? -x : even(sin(x) * x, n - 1); }

static void recursion(double x) {
  double h = 1e-6, want = (even(x + h, 7) - even(x - h, 7)) / (2 * h);
  struct taped t = __enzyme_augmentfwd_value((void *)even, enzyme_out, x, enzyme_const, 7);
  check_close("even", 0, t.value, even(x, 7), 1e-14);
  for (int i = 0; i < 3; i++)
    check_close("kept even", i, __enzyme_reverse_one((void *)even, enzyme_nofree, enzyme_out, x, enzyme_const, 7, 1.0, t.tape), want, 1e-6);
  check_close("even", 0, __enzyme_reverse_one((void *)even, enzyme_out, x, enzyme_const, 7, 1.0, t.tape), want, 1e-6);
}

// No result, and a result that is a pointer with a shadow.
static void square(const double *x, double *y, int n) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[n - 1 - i];
}

static double *larger(double *x, double *y) {
  if (x[0] > y[0]) {
    x[1] *= x[0];
    return x;
  }
  y[1] *= y[0];
  return y;
}

static void pointers(void) {
  double x[3] = {1.5, 2, 3}, dx[3] = {0}, y[3], dy[3] = {1, 10, 100};
  void *tape = __enzyme_augmentfwd((void *)square, enzyme_dup, x, dx, enzyme_dup, y, dy, enzyme_const, 3);
  check_close("y", 0, y[0], 6.75, 1e-14);
  __enzyme_reverse((void *)square, enzyme_dup, x, dx, enzyme_dup, y, dy, enzyme_const, 3, tape);
  check_close("square", 0, dx[0], 2 * 1.5 * 3 + 100 * 9, 1e-12);
  check_close("square", 1, dx[1], 10 * 12, 1e-12);
  check_close("square", 2, dx[2], 1.5 * 1.5 + 100 * 2 * 3 * 1.5, 1e-12);

  double a[2] = {2, 3}, da[2] = {0}, b[2] = {1, 5}, db[2] = {0};
  struct taped_pointer t = __enzyme_augmentfwd_pointer((void *)larger, enzyme_dup, a, da, enzyme_dup, b, db);
  check_close("larger", 0, t.value == a && t.shadow == da, 1, 0);
  t.shadow[1] = 1;
  a[0] = 1000;
  __enzyme_reverse((void *)larger, enzyme_dup, a, da, enzyme_dup, b, db, t.tape);
  check_close("larger", 0, da[0], 3, 1e-12);
  check_close("larger", 1, da[1], 2, 1e-12);
}

// Memory that stays as it is need not be copied to the tape.
static double sum_of_squares(const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i] * x[i] * x[i];
  return s;
}

static void promised(const double *x, int n) {
  double d[8] = {0};
  void *tape = __enzyme_augmentfwd((void *)sum_of_squares, enzyme_not_overwritten, enzyme_dup, x, d, enzyme_const, n);
  __enzyme_reverse((void *)sum_of_squares, enzyme_not_overwritten, enzyme_dup, x, d, enzyme_const, n, 1.0, tape);
  for (int i = 0; i < n; i++) check_close("promised", i, d[i], 3 * x[i] * x[i], 1e-12);
  double y[8];
  memcpy(y, x, n * sizeof *x);
  memset(d, 0, sizeof d);
  tape = __enzyme_augmentfwd((void *)sum_of_squares, enzyme_dup, y, d, enzyme_const, n);
  scramble(y, n);
  __enzyme_reverse((void *)sum_of_squares, enzyme_dup, y, d, enzyme_const, n, 1.0, tape);
  for (int i = 0; i < n; i++) check_close("not promised", i, d[i], 3 * x[i] * x[i], 1e-12);
}

// Memory that the function makes and frees.
static double scratch(double *x, int n) {
  double *y = malloc(n * sizeof(double)), s = 0;
  for (int i = 0; i < n; i++) y[i] = exp(x[i]) * x[n - 1 - i];
  for (int i = 0; i < n; i++) s += y[i] * y[i];
  free(y);
  return s;
}

static void heap(double *x, int n) {
  double d[8] = {0};
  void *tape = __enzyme_augmentfwd((void *)scratch, enzyme_dup, x, d, enzyme_const, n);
  __enzyme_reverse((void *)scratch, enzyme_nofree, enzyme_dup, x, d, enzyme_const, n, 1.0, tape);
  __enzyme_reverse((void *)scratch, enzyme_dup, x, d, enzyme_const, n, 1.0, tape);
  for (int i = 0; i < n; i++) check_close("heap", i, d[i], 2 * check_difference(scratch, x, n, i), 1e-6);
}

// Several derivatives at once, and a function that is passed and called.
static double applied(double (*f)(double), double x) { return f(x) * sin(x); }
static double cube(double x) { return x * x * x; }

static void several(const double *at, int n) {
  double x[8], d[2][8] = {{0}}, want[8];
  for (int i = 0; i < n; i++) want[i] = check_difference(chain, at, n, i);
  memcpy(x, at, n * sizeof *x);
  void *tape = __enzyme_augmentfwd((void *)chain, enzyme_width, 2, enzyme_dup, x, d[0], d[1], enzyme_const, n);
  __enzyme_reverse((void *)chain, enzyme_width, 2, enzyme_dup, x, d[0], d[1], enzyme_const, n, 1.0, -3.0, tape);
  for (int i = 0; i < n; i++) {
    check_close("several", i, d[0][i], want[i], 1e-6);
    check_close("several", n + i, d[1][i], -3 * want[i], 1e-6);
  }
  memset(d, 0, sizeof d);
  size_t size = __enzyme_augmentsize((void *)chain, enzyme_width, 2, enzyme_dup, enzyme_const);
  tape = malloc(size);
  memcpy(x, at, n * sizeof *x);
  __enzyme_augmentfwd((void *)chain, enzyme_allocated, size, enzyme_tape, tape, enzyme_width, 2, enzyme_dupv, sizeof d[0], x, d, enzyme_const, n);
  __enzyme_reverse((void *)chain, enzyme_tape, tape, enzyme_width, 2, enzyme_dupv, sizeof d[0], x, d, enzyme_const, n, 2.0, 1.0);
  free(tape);
  for (int i = 0; i < n; i++) {
    check_close("strided", i, d[0][i], 2 * want[i], 1e-6);
    check_close("strided", n + i, d[1][i], want[i], 1e-6);
  }
  size = __enzyme_augmentsize((void *)applied, enzyme_const, cube, enzyme_out);
  tape = malloc(size);
  __enzyme_augmentfwd((void *)applied, enzyme_allocated, size, enzyme_tape, tape, enzyme_const, cube, enzyme_out, 0.5);
  double slope = __enzyme_reverse_one((void *)applied, enzyme_tape, tape, enzyme_const, cube, enzyme_out, 0.5, 1.0);
  check_close("applied", 0, slope, 0.75 * sin(0.5) + 0.125 * cos(0.5), 1e-12);
  free(tape);
}

int main(void) {
  double x[6];
  fill(x, 6, 0.2, 1.2);
  split_chain(x, 6);
  two_tapes(x, 5, 0);
  two_tapes(x, 5, 1);
  own_memory(0.7, 1.1);
  recursion(0.8);
  pointers();
  promised(x, 6);
  heap(x, 6);
  several(x, 5);
  return finish("split");
}
