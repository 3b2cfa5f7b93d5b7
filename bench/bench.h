// Times a function and its gradient side by side.
//
// Every program of this folder measures with MEASURE(name, restore, primal, gradient), or with
// COMPARE, which has a gradient written by hand as last argument: repetitions of all alternate in
// one process, so that whatever slows the machine down slows down all. `restore` runs before each of
// them, outside the measured time. A line of output is the name, the fastest primal, gradient and
// gradient by hand (in milliseconds, the last 0 if there is none), and how far the medians of the
// first two lie above the fastest (in percent, the larger of the two).
//
// The functions under test are neither static nor inlined, so that the primal is compiled for any
// arguments, as the gradient is. Programs with two arrays use ALIAS, which is
// nothing or, with -DRESTRICTED, `restrict`, and are built both ways.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef RESTRICTED
#define ALIAS restrict
#else
#define ALIAS
#endif

#define UNDER_TEST __attribute__((noinline))

#ifdef __cplusplus
extern "C" {
#endif
extern int enzyme_dup, enzyme_const, enzyme_out;
double __enzyme_autodiff(void *, ...);
#ifdef __cplusplus
}
#endif

enum { MOST_REPETITIONS = 64, FEWEST_REPETITIONS = 7 };
static const double ENOUGH_SECONDS = 0.4;

struct series {
  int count;
  double seconds[MOST_REPETITIONS];
};

// Processor time, the system's for this process included: other processes do not count.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double spread(const struct series *s) {
  return 100 * (s->seconds[s->count / 2] / s->seconds[0] - 1);
}

static void print_series(const char *name, struct series *primal, struct series *gradient,
                         struct series *by_hand) {
  qsort(primal->seconds, primal->count, sizeof(double), by_value);
  qsort(gradient->seconds, gradient->count, sizeof(double), by_value);
  qsort(by_hand->seconds, by_hand->count, sizeof(double), by_value);
  double p = spread(primal), g = spread(gradient);
  printf("%s %.6f %.6f %.6f %.1f\n", name, 1e3 * primal->seconds[0], 1e3 * gradient->seconds[0],
         1e3 * by_hand->seconds[0], p > g ? p : g);
}

// Ends the program if two gradients are not the same up to rounding.
__attribute__((unused)) static void agree(const char *name, const double *a, const double *b,
                                          size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-8 * (1 + fabs(a[i]) + fabs(b[i])))) {
      fprintf(stderr, "%s[%zu]: the gradient is %.12g, by hand %.12g\n", name, i, a[i], b[i]);
      exit(1);
    }
}

// What a result was computed for; and memory is read and written behind the optimizer's back.
static void keep(double value) { __asm__ volatile("" : : "x"(value) : "memory"); }

// Memory that somebody else may look at: what is written to it has to be written. Without this, the
// optimizer inlines a gradient, sees that nobody reads its shadow, and leaves the gradient out.
static void watch(const double *memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

#define TIMED(series, restore, code)                    \
  do {                                                  \
    restore;                                            \
    keep(0);                                            \
    double start = now();                               \
    code;                                               \
    keep(0);                                            \
    (series).seconds[(series).count++] = now() - start; \
  } while (0)

#define MEASURE(name, restore, primal, gradient)                                              \
  do {                                                                                        \
    struct series primals = {0}, gradients = {0}, none = {0};                                 \
    double begin = now();                                                                     \
    while (primals.count < FEWEST_REPETITIONS ||                                              \
           (primals.count < MOST_REPETITIONS && now() - begin < ENOUGH_SECONDS)) {            \
      TIMED(primals, restore, primal);                                                        \
      TIMED(gradients, restore, gradient);                                                    \
    }                                                                                         \
    print_series(name, &primals, &gradients, &none);                                          \
  } while (0)

#define COMPARE(name, restore, primal, gradient, by_hand)                                     \
  do {                                                                                        \
    struct series primals = {0}, gradients = {0}, hands = {0};                                \
    double begin = now();                                                                     \
    while (primals.count < FEWEST_REPETITIONS ||                                              \
           (primals.count < MOST_REPETITIONS && now() - begin < ENOUGH_SECONDS)) {            \
      TIMED(primals, restore, primal);                                                        \
      TIMED(gradients, restore, gradient);                                                    \
      TIMED(hands, restore, by_hand);                                                         \
    }                                                                                         \
    print_series(name, &primals, &gradients, &hands);                                         \
  } while (0)

static double *zeros(size_t n) {
  double *x = (double *)calloc(n, sizeof(double));
  watch(x);
  return x;
}

// Numbers between -1 and 1, always the same.
static double *numbers(size_t n) {
  double *x = (double *)malloc(n * sizeof(double));
  unsigned long state = 12345;
  for (size_t i = 0; i < n; i++) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    x[i] = (double)(state >> 11) / (1ul << 52) - 1;
  }
  watch(x);
  return x;
}

static void set(double *x, size_t n, double value) {
  for (size_t i = 0; i < n; i++) x[i] = value;
}
