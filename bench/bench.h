// Times a function and its gradient side by side.
//
// Every program of this folder measures with MEASURE(name, restore, primal, gradient), or with
// COMPARE, which has a gradient written by hand as last argument: repetitions of all alternate in
// one process, so that whatever slows the machine down slows down all. `restore` runs before each of
// them, outside the measured time. A line of output has these parts, with tabs between them: the
// name; the size, as `at` has it, if there are several; the fastest primal, gradient and gradient by
// hand (in milliseconds, the last 0 if there is none); how far the medians of these lie above the
// fastest (in percent, the largest of them); and the largest relative difference that `agree` found
// since the last line.
//
// Words of the command line:
//
// - `tiny`: the smallest sizes and one repetition, to test that gradients agree;
// - `one`: nothing beyond the first size with a primal of more than a millisecond;
// - `turns` and a file: the program measures when it is told to, so that other programs can take
//   turns with it. It writes what it shares (inputs, and the gradient as `result`) to the file,
//   prints name, size, largest difference and how many functions there are to measure, and waits for
//   lines: `primal`, `gradient` and `by hand` each run once, and the time is printed; `next` ends the
//   measurement.
//
// Programs with two arrays use ALIAS, which is nothing or, with -DRESTRICTED, `restrict`, and are
// built both ways.
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
enum { PRIMAL, GRADIENT_OF_ZYMASE, GRADIENT_BY_HAND, NO_TURN };
static int fewest_repetitions = 7, tiny = 0, one_size = 0, size_is_done = 0;
static double enough_seconds = 0.4, largest_difference = 0, measured_since;
static char size_text[80];
static const char *turns_file = NULL;
static FILE *shared = NULL;

// Reads the command line.
static void arguments(int count, char **words) {
  for (int i = 1; i < count; i++) {
    tiny |= strcmp(words[i], "tiny") == 0;
    one_size |= strcmp(words[i], "one") == 0;
    if (strcmp(words[i], "turns") == 0 && i + 1 < count) turns_file = words[++i];
  }
  if (one_size) fewest_repetitions = 3;
  if (tiny) {
    fewest_repetitions = 1;
    enough_seconds = 0;
  }
}

// Numbers that another program needs to compute the same, or the gradient, which is called `result`:
// a line with name and count, then the numbers in binary.
__attribute__((unused)) static void share(const char *name, const double *x, size_t n) {
  if (!turns_file) return;
  if (!shared) shared = fopen(turns_file, "wb");
  if (!shared) {
    perror(turns_file);
    exit(1);
  }
  fprintf(shared, "%s %zu\n", name, n);
  fwrite(x, sizeof(double), n, shared);
}

__attribute__((unused)) static void share_number(const char *name, double number) {
  share(name, &number, 1);
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

static void print_series(const char *name, struct series *times, int kinds) {
  double fastest[3] = {0, 0, 0}, widest = 0;
  for (int kind = 0; kind < kinds; kind++) {
    struct series *s = &times[kind];
    qsort(s->seconds, s->count, sizeof(double), by_value);
    fastest[kind] = s->seconds[0];
    if (spread(s) > widest) widest = spread(s);
  }
  printf("%s\t%s\t%.6f\t%.6f\t%.6f\t%.1f\t%.1e\n", name, size_text, 1e3 * fastest[0],
         1e3 * fastest[1], 1e3 * fastest[2], widest, largest_difference);
  fflush(stdout);
  size_is_done |= fastest[0] > 1e-3;
  largest_difference = 0;
}

// The turn that another program asks for.
static int told_turn(const char *name, int kinds, int is_first) {
  char line[80];
  if (is_first) {
    if (shared) fclose(shared);
    shared = NULL;
    printf("%s\t%s\t%.1e\t%d\n", name, size_text, largest_difference, kinds);
    fflush(stdout);
    largest_difference = 0;
  }
  if (!fgets(line, sizeof line, stdin)) exit(0);
  if (strcmp(line, "primal\n") == 0) return PRIMAL;
  if (strcmp(line, "gradient\n") == 0) return GRADIENT_OF_ZYMASE;
  if (strcmp(line, "by hand\n") == 0) return GRADIENT_BY_HAND;
  return NO_TURN;
}

// What is measured next, of the first `kinds` in turn.
static int next_turn(const char *name, struct series *times, int kinds) {
  int count = times[0].count, is_first = count == 0;
  if (turns_file)
    return told_turn(name, kinds, is_first && times[1].count == 0 && times[2].count == 0);
  for (int kind = 1; kind < kinds; kind++)
    if (times[kind].count < count) return kind;
  if (is_first) measured_since = now();
  if (count < fewest_repetitions ||
      (count < MOST_REPETITIONS && now() - measured_since < enough_seconds))
    return PRIMAL;
  print_series(name, times, kinds);
  return NO_TURN;
}

static void took(struct series *times, double seconds) {
  if (!turns_file) {
    times->seconds[times->count++] = seconds;
    return;
  }
  times->count = 1;
  printf("%.6f\n", 1e3 * seconds);
  fflush(stdout);
}

// Ends the program if two vectors are not the same up to rounding; in turns with others, they see
// how large the difference is. That of two entries is relative to their size and that of an ordinary
// entry, so that small entries count too.
__attribute__((unused)) static void agree(const char *name, const double *a, const double *b,
                                          size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += fabs(b[i]);
  for (size_t i = 0; i < n; i++) {
    if (a[i] == b[i]) continue;
    double difference = fabs(a[i] - b[i]) / (fabs(a[i]) + fabs(b[i]) + sum / n);
    if (isnan(difference)) difference = INFINITY;
    if (difference > largest_difference) largest_difference = difference;
    if (!(difference <= 1e-7) && !turns_file) {
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

#define MEASURE_KINDS(kinds, name, restore, primal, gradient, by_hand)      \
  do {                                                                      \
    struct series measured[3] = {{0}, {0}, {0}};                            \
    for (int turn; (turn = next_turn(name, measured, kinds)) != NO_TURN;) { \
      restore;                                                              \
      keep(0);                                                              \
      double start = now();                                                 \
      if (turn == PRIMAL) {                                                 \
        primal;                                                             \
      } else if (turn == GRADIENT_OF_ZYMASE) {                              \
        gradient;                                                           \
      } else {                                                              \
        by_hand;                                                            \
      }                                                                     \
      keep(0);                                                              \
      took(&measured[turn], now() - start);                                 \
    }                                                                       \
  } while (0)

#define MEASURE(name, restore, primal, gradient) \
  MEASURE_KINDS(2, name, restore, primal, gradient, )
#define COMPARE(name, restore, primal, gradient, by_hand) \
  MEASURE_KINDS(3, name, restore, primal, gradient, by_hand)

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
