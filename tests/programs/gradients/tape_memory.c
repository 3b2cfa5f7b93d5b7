// The memory of tapes stays for the next derivative, also where several threads take derivatives, and
// nobody notices.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

// Keeps a number for each step, some megabytes of them.
static double chain(double *x, int n) {
  double y = x[0];
  for (int i = 0; i < n; i++) y = sin(y) + x[i % 3];
  return y;
}

// More than a C library keeps.
static double squares(double *x, int n) {
  double y = x[0];
  for (int i = 0; i < n; i++) y = 0.5 * y * y + 0.3 * x[1];
  return y;
}

// The same, where nobody knows how many steps there will be.
static double search(double *x, int n) {
  double y = x[0];
  for (int i = 0; y < n; i++) y += 1 + 0.1 * sin(y * x[i % 3]);
  return y;
}

// A frame for each call.
static double descent(double *x, int n) {
  return n == 0 ? x[0] : sin(descent(x, n - 1) * x[n % 3]);
}

enum { STEPS = 1 << 20, MANY = 1 << 23, DEPTH = 1 << 13, PAGE = 4096 };

static void gradients(double *x, double *d) {
  for (int i = 0; i < 9; i++) d[i] = 0;
  __enzyme_autodiff((void *)chain, enzyme_dup, x, d, enzyme_const, STEPS);
  __enzyme_autodiff((void *)search, enzyme_dup, x, d + 3, enzyme_const, STEPS / 8);
  __enzyme_autodiff((void *)descent, enzyme_dup, x, d + 6, enzyme_const, DEPTH);
}

static void *in_thread(void *d) {
  double x[] = {0.3, 0.7, -0.2};
  for (int i = 0; i < 4; i++) gradients(x, d);
  return 0;
}

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

int main(void) {
  double x[3] = {0.3, 0.7, -0.2}, d[9], others[3][9];
  seed(11);
  CHECK_GRADIENT(chain, x, 3);
  CHECK_GRADIENT(search, x, 3);
  CHECK_GRADIENT(descent, x, 3);
  gradients(x, d);
  __enzyme_autodiff((void *)squares, enzyme_dup, x, d, enzyme_const, MANY);
  long before = faults();
  for (int i = 0; i < 4; i++) __enzyme_autodiff((void *)squares, enzyme_dup, x, d, enzyme_const, MANY);
  long more = faults() - before;
  // A new tape would cost 32 faults each time even in large pages.
  if (!__has_feature(address_sanitizer) && more > 20) {
    printf("%ld page faults in four derivatives\n", more);
    return 1;
  }
  errno = ENOTTY;
  gradients(x, d);
  if (errno != ENOTTY) {
    printf("errno has changed to %d\n", errno);
    return 1;
  }
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, in_thread, others[i]);
  for (int i = 0; i < 3; i++) {
    pthread_join(threads[i], 0);
    if (memcmp(d, others[i], sizeof d)) {
      printf("thread %d has other derivatives\n", i);
      return 1;
    }
  }
  return finish("tape_memory");
}
