// Loops that copy and exchange structures in bytes and words, as generic code in C does.
#include "check.h"
#include <stdint.h>

typedef struct { double x; float w[3]; int id; double *to; short tag; float last; } item;
typedef uint32_t __attribute__((may_alias)) half;
typedef uint64_t __attribute__((may_alias)) word;

__attribute__((noinline)) static void swap_bytes(void *a, void *b, size_t n) {
  char *p = a, *q = b;
  for (size_t i = 0; i < n; i++) {
    char t = p[i];
    p[i] = q[i];
    q[i] = t;
  }
}

// With pointers that run, as sorting functions do it.
static inline void swap_running(char *a, char *b, size_t n) {
  do {
    char t = *a;
    *a++ = *b;
    *b++ = t;
  } while (--n > 0);
}

static inline void swap_halves(void *a, void *b, size_t n) {
  half *p = a, *q = b;
  for (size_t i = 0; i < n / 4; i++) {
    half t = p[i];
    p[i] = q[i];
    q[i] = t;
  }
}

static inline void swap_words(void *a, void *b, size_t n) {
  word *p = a, *q = b;
  for (size_t i = 0; i < n; i += 8, p++, q++) {
    word t = *p;
    *p = *q;
    *q = t;
  }
}

// Nothing promises that the two are apart, so the optimizer leaves the loop alone.
__attribute__((noinline)) static void copy_bytes(unsigned char *to, const unsigned char *from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = from[i];
}

static void fill_item(item *it, double *x, int i) {
  it->x = x[0];
  for (int k = 0; k < 3; k++) it->w[k] = (float)x[1 + k];
  it->id = i;
  it->to = &x[4];
  it->tag = (short)(i + 1);
  it->last = (float)x[5];
}

static double weigh(const item *it) {
  double s = it->x * it->x * it->id + *it->to * it->tag * 0.5;
  for (int k = 0; k < 3; k++) s += (double)it->w[k] * it->w[k] * (k + it->id);
  return s + (double)it->last * it->x;
}

static double exchanged(double *x, int n) {
  item a[4];
  double s = 0;
  for (int i = 0; i < 4; i++) fill_item(&a[i], x + 6 * i, i + 1);
  swap_bytes(&a[0], &a[1], sizeof *a);
  swap_running((char *)&a[1], (char *)&a[2], sizeof *a);
  swap_halves(&a[2], &a[3], sizeof *a);
  swap_words(&a[3], &a[0], sizeof *a);
  swap_bytes(&a[2], &a[2], sizeof *a);
  for (int i = 0; i < 4; i++) s += weigh(&a[i]) * (i + 1) * n;
  return s;
}

static double copied(double *x, int n) {
  item a[2], b[2];
  fill_item(&a[0], x, 1);
  fill_item(&a[1], x + 6, 2);
  copy_bytes((unsigned char *)&b[0], (unsigned char *)&a[1], sizeof *a);
  copy_bytes((unsigned char *)&b[1], (unsigned char *)&b[0], sizeof *a);
  return weigh(&a[0]) * n + 2 * weigh(&b[0]) * weigh(&b[1]);
}

// A sort that knows nothing of what it sorts.
static int by_x(const void *a, const void *b) {
  double x = ((const item *)a)->x, y = ((const item *)b)->x;
  return (x > y) - (x < y);
}

static void sort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *)) {
  char *p = base;
  for (size_t i = 1; i < n; i++)
    for (size_t j = i; j > 0 && compare(p + (j - 1) * size, p + j * size) > 0; j--)
      swap_running(p + (j - 1) * size, p + j * size, size);
}

static double sorted(double *x, int n) {
  item a[4];
  double s = 0;
  for (int i = 0; i < 4; i++) fill_item(&a[i], x + 6 * i, i + 1);
  sort(a, 4, sizeof *a, by_x);
  for (int i = 0; i < 4; i++) s += weigh(&a[i]) * (i + 1) * n;
  return s;
}

int main(void) {
  double x[24];
  fill(x, 24, 0.5, 1.5);
  // Floats are singles in between, so differences of the function are coarse.
  CHECK_GRADIENT_TO(exchanged, x, 24, 2e-2);
  CHECK_GRADIENT_TO(copied, x, 12, 2e-2);
  CHECK_GRADIENT_TO(sorted, x, 24, 2e-2);
  return finish("moves");
}
