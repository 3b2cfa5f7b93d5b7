// Times a function and its gradient side by side.
//
// Every program of this folder measures with MEASURE(name, restore, primal, gradient), or with
// COMPARE, which has a gradient written by hand as last argument: repetitions of all alternate in
// one process, so that whatever slows the machine down slows down all. `restore` runs before each of
// them, outside the measured time. A line of output has these parts, with tabs between them: the
// name; the size, as `at` has it, if there are several; the fastest primal, gradient and gradient by
// hand (in milliseconds, the last 0 if there is none); how far the medians of the first two lie above
// the fastest (in percent, the larger of the two); and the largest relative difference that `agree`
// found since the last line.
//
// Programs that call `arguments` take the word `tiny`: the smallest sizes and one repetition, to test
// that gradients agree; or the word `one`: nothing beyond the first size with a primal of more than a
// millisecond. Programs with two arrays use ALIAS, which is nothing or, with -DRESTRICTED,
// `restrict`, and are built both ways.
#include "evals/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#ifdef RESTRICTED
#define ALIAS restrict
#else
#define ALIAS
#endif

enum { MOST_REPETITIONS = 64 };
static int fewest_repetitions = 7, tiny = 0, one_size = 0, size_is_done = 0;
static double enough_seconds = 0.4, largest_difference = 0;
static char size_text[80];

// Reads the command line.
__attribute__((unused)) static void arguments(int count, char **words) {
  tiny = count > 1 && strcmp(words[1], "tiny") == 0;
  one_size = count > 1 && strcmp(words[1], "one") == 0;
  if (one_size) fewest_repetitions = 3;
  if (tiny) {
    fewest_repetitions = 1;
    enough_seconds = 0;
  }
}

// Says at which size the next measurements are.
__attribute__((unused, format(printf, 1, 2))) static void at(const char *format, ...) {
  if (one_size && size_is_done) exit(0);
  va_list values;
  va_start(values, format);
  vsnprintf(size_text, sizeof size_text, format, values);
  va_end(values);
}

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
  printf("%s\t%s\t%.6f\t%.6f\t%.6f\t%.1f\t%.1e\n", name, size_text, 1e3 * primal->seconds[0],
         1e3 * gradient->seconds[0], 1e3 * by_hand->seconds[0], p > g ? p : g, largest_difference);
  fflush(stdout);
  size_is_done |= primal->seconds[0] > 1e-3;
  largest_difference = 0;
}

// Ends the program if two vectors are not the same up to rounding. The difference of two entries is
// relative to their size and that of an ordinary entry, so that small entries count too.
__attribute__((unused)) static void agree(const char *name, const double *a, const double *b,
                                          size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += fabs(b[i]);
  for (size_t i = 0; i < n; i++) {
    if (a[i] == b[i]) continue;
    double difference = fabs(a[i] - b[i]) / (fabs(a[i]) + fabs(b[i]) + sum / n);
    if (difference > largest_difference) largest_difference = difference;
    if (!(difference <= 1e-7)) {
      fprintf(stderr, "%s[%zu]: %.12g by Zymase, expected %.12g\n", name, i, a[i], b[i]);
      exit(1);
    }
  }
}

// The same for a number.
__attribute__((unused)) static void agree_number(const char *name, double a, double b) {
  agree(name, &a, &b, 1);
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
    while (primals.count < fewest_repetitions ||                                              \
           (primals.count < MOST_REPETITIONS && now() - begin < enough_seconds)) {            \
      TIMED(primals, restore, primal);                                                        \
      TIMED(gradients, restore, gradient);                                                    \
    }                                                                                         \
    print_series(name, &primals, &gradients, &none);                                          \
  } while (0)

#define COMPARE(name, restore, primal, gradient, by_hand)                                     \
  do {                                                                                        \
    struct series primals = {0}, gradients = {0}, hands = {0};                                \
    double begin = now();                                                                     \
    while (primals.count < fewest_repetitions ||                                              \
           (primals.count < MOST_REPETITIONS && now() - begin < enough_seconds)) {            \
      TIMED(primals, restore, primal);                                                        \
      TIMED(gradients, restore, gradient);                                                    \
      TIMED(hands, restore, by_hand);                                                         \
    }                                                                                         \
    print_series(name, &primals, &gradients, &hands);                                         \
  } while (0)

__attribute__((unused)) static double *zeros(size_t n) {
  double *x = (double *)calloc(n, sizeof(double));
  watch(x);
  return x;
}

// Numbers between -1 and 1, always the same.
__attribute__((unused)) static double *numbers(size_t n) {
  double *x = (double *)malloc(n * sizeof(double));
  unsigned long state = 12345;
  for (size_t i = 0; i < n; i++) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    x[i] = (double)(state >> 11) / (1ul << 52) - 1;
  }
  watch(x);
  return x;
}

// Numbers between 0 and 1, and numbers with a normal distribution; others with each call.
__attribute__((unused)) static double uniform(void) {
  static unsigned long state = 31337;
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (double)(state >> 11) / (1ul << 53);
}

__attribute__((unused)) static double *uniforms(size_t n) {
  double *x = doubles(n);
  for (size_t i = 0; i < n; i++) x[i] = uniform();
  watch(x);
  return x;
}

__attribute__((unused)) static double *normals(size_t n) {
  double *x = doubles(n);
  for (size_t i = 0; i < n; i++)
    x[i] = sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
  watch(x);
  return x;
}
