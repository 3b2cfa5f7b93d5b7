// Input and output, clocks, random numbers, assertions, locks and the environment inside of
// differentiated code: none of them has a derivative, and what is printed is printed once.
#include "check.h"
#include <assert.h>
#include <errno.h>
#include <time.h>
#include <sys/time.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;

static double printed(double *x, int n) {
  double sum = 0;
  char line[64];
  for (int i = 0; i < n; i++) {
    sum += x[i] * x[i];
    fprintf(out, "x[%d] = %g, sum %g\n", i, x[i], sum);
    snprintf(line, sizeof line, "%g", sum);
    fputs(line, out);
    fputc('\n', out);
    fwrite(line, 1, 1, out);
    if (sum < -1) perror("negative");
  }
  fflush(out);
  return sum;
}

static double timed(double *x, int n) {
  struct timespec t; struct timeval v;
  clock_gettime(CLOCK_MONOTONIC, &t);
  gettimeofday(&v, NULL);
  time_t now = time(NULL);
  clock_t c = clock();
  struct tm *lt = localtime(&now);
  char buf[64];
  strftime(buf, 64, "%H", lt);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * x[i];
  if (t.tv_sec < 0 || v.tv_sec < 0 || now < 0 || c < 0) return 0;
  return sum;
}

static double random_weights(double *x, int n) {
  srand(3); srandom(3); srand48(3);
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double w = rand() / (double)RAND_MAX + random() / (double)RAND_MAX + drand48();
    sum += w * x[i] * x[i];
  }
  return sum;
}

static double guarded(double *x, int n) {
  assert(n > 0);
  assert(x[0] > -100);
  double sum = 0;
  errno = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < n; i++) {
    if (x[i] > 1e9) { fprintf(stderr, "too large: %g\n", x[i]); abort(); }
    if (x[i] < -1e9) exit(3);
    sum += sqrt(x[i] * x[i] + 1);
  }
  pthread_mutex_unlock(&lock);
  if (errno || getenv("ZYMASE_NOT_SET_ANYWHERE")) return -1;
  char *s = getenv("HOME");
  if (s && strlen(s) > 10000) usleep(1);
  sched_yield();
  if (isnan(sum) || isinf(sum) || !isfinite(sum) || signbit(sum)) return 0;
  return sum;
}
// To the standard output, which the test does not look at.
static double spoken(double *x, int n) {
  double sum = exp(x[0]) * x[n - 1];
  printf("sum %.3f\n", sum);
  puts("done");
  putchar('\n');
  fflush(stdout);
  return sum;
}

int main(void) {
  double x[4] = {0.5, 1, 2, 3}, d[4] = {0};
  out = tmpfile();
  printed(x, 4);
  long once = ftell(out);
  __enzyme_autodiff((void *)printed, enzyme_dup, x, d, enzyme_const, 4);
  check_close("reverse mode prints once", 0, ftell(out), 2 * once, 0);
  __enzyme_fwddiff((void *)printed, enzyme_dup, x, d, enzyme_const, 4);
  check_close("forward mode prints once", 0, ftell(out), 3 * once, 0);
  CHECK_GRADIENT(spoken, x, 4);
  CHECK_GRADIENT(printed, x, 4);
  CHECK_GRADIENT(timed, x, 4);
  CHECK_GRADIENT(random_weights, x, 4);
  CHECK_GRADIENT(guarded, x, 4);
  return finish("logging");
}
