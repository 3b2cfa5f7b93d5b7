// Memory that is read again in the reverse sweep, and what may have overwritten it by then: calls that
// write ranges, sizes in structures that change, buffers that change hands between iterations, steps of
// any sign, loops that do not run. Each answer of the analysis is as good as the gradient here.
#include "check.h"

// A call stays one, so that what it touches is a range.
#define NI __attribute__((noinline))

// Addresses with a product of counters.
static double products(double *x, int n) {
  double total = 0;
  double *p = x;
  for (long i = 1; i < 4; i++)
    for (long j = 0; j < 3; j++) {
      double v = p[i * (j + 1)];
      total += v * v * v;
      p[i * (j + 1)] = v * v + 0.1 * (double)(i + j);
    }
  return total;
}

static double products_n(double *x, int n) {
  double total = 0;
  long m = n / 8;
  for (long i = 1; i < m + 2; i++)
    for (long j = 0; j < m; j++) {
      double v = x[i * (j + 1)];
      total += sin(v) * v;
      x[i * (j + 1)] = v * v + 0.1 * (double)(i + j);
    }
  return total;
}

// Calls whose written ranges depend on a product of counters.
NI static void square(double *x, long n) {
  for (long i = 0; i < n; i++) x[i] = 0.8 * x[i] * x[i] + 0.01;
}

NI static double sum(double *x, long n) {
  double t = 0;
  for (long i = 0; i < n; i++) t += x[i] * x[i] * x[i];
  return t;
}

static double calls_products(double *x, int n) {
  double t = 0;
  for (long i = 1; i < 4; i++)
    for (long j = 0; j < 3; j++) {
      t += sum(x + i * (j + 1), 1);
      square(x + i * (j + 1), 1);
    }
  return t;
}

static double overlapping_rows(double *x, int n) {
  double t = 0;
  for (long i = 0; i + 3 <= n; i++) { t += sum(x + i, 3); square(x + i, 1); }
  return t;
}

static double overlapping_rows2(double *x, int n) {
  double t = 0;
  for (long i = 0; i + 3 <= n; i++) { t += sum(x + i, 3); square(x + i + 1, 1); }
  return t;
}

static double negative(double *x, int n) {
  double t = 0;
  for (long i = n - 3; i >= 0; i--) { t += sum(x + i, 3); square(x + i, 2); }
  return t;
}

static double negative2(double *x, int n) {
  double t = 0;
  for (long i = n - 1; i >= 0; i -= 2) { t += sum(x + i, 1); square(x + i / 2, 1); }
  return t;
}

static double stepped(double *x, int n) {
  double t = 0;
  long m = n / 4;
  for (long i = 0; i < n - m; i += 3) {
    t += sum(x + i, m);
    square(x + i + m - 1, 1);
    square(x+i, 2);
  }
  return t;
}

static double strided(double *x, int n) {
  double t = 0; long s = n / 5;
  for (long i = 0; i < 4 * s; i += 2) { t += sum(x + i, s); square(x + i + s - 2, 2); }
  return t;
}

static double strided2(double *x, int n) {
  double t = 0; long s = n / 5;
  for (long i = 0; i < 4; i += 2) { t += sum(x + i * s, s + 1); square(x + i * s + 2*s, s); }
  return t;
}

typedef struct { long size; long off; double *data; } Box;

NI static void work(Box *b, double *x) {
  for (long i = 0; i < b->size; i++) x[b->off + i] *= x[b->off + i];
}

static double changing(double *x, int n) {
  Box b = {2, 0, x};
  double t = 0;
  for (int k = 0; k < 4; k++) {
    t += sum(x + b.off, b.size);
    work(&b, x);
    b.off += 1;
    b.size += (k & 1);
  }
  return t + sum(x, n);
}

NI static double stateful(Box *b) {
  double *x = b->data; long n = b->size; double t = 0;
  for (long i = 0; i < n; i++) {
    t += x[i] * x[i] * x[i];
    b->size = b->size - 1;
    x[n - 1 - i] *= x[i];
  }
  for (long i = 0; i < b->size; i++) t += x[i];
  return t;
}

static double sizes_in_memory(double *x, int n) { Box b = {n, 0, x}; return stateful(&b); }

NI static double sized(long *size, double *x, double *y) {
  long n = *size, h = n / 2; double t = 0;
  for (long i = 0; i < h; i++) { t += x[i] * x[i] * x[i]; y[i] = x[i] * x[i]; }
  for (long i = 0; i < h; i++) t += y[i] * x[i];
  return t;
}

static double sized_apart(double *x, int n) { long s = n; return sized(&s, x, x + n / 2); }

static double sized_over(double *x, int n) { long s = n; return sized(&s, x, x + n / 2 - 1); }

static double sized_over2(double *x, int n) { long s = n - 2; return sized(&s, x + 1, x); }

NI static double size_data(long *size, double *x, long *also) {
  // The size is found after a write to memory that may be the same.
  also[0] = 3;
  long n = *size; double t = 0;
  for (long i = 0; i < n; i++) { t += x[i] * x[i] * x[i]; x[n - 1 - i] *= 0.5 * x[i]; }
  return t;
}

static double size_as_data(double *x, int n) { long s = n; return size_data(&s, x, &s); }

static double pingpong(double *x, int n) {
  double *a = malloc(n * 8), *b = malloc(n * 8); double t = 0;
  for (int i = 0; i < n; i++) a[i] = x[i];
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < n; i++) b[i] = a[i] * a[(i + 1) % n];
    t += sum(b, n);
    double *c = a; a = b; b = c;
  }
  free(a); free(b);
  return t;
}

static double handed_on(double *x, int n) {
  double *old = malloc(n * 8), *older = malloc(n * 8); double t = 0;
  for (int i = 0; i < n; i++) { old[i] = x[i]; older[i] = x[i] * x[i]; }
  for (int k = 0; k < 5; k++) {
    double *new = malloc(n * 8);
    for (int i = 0; i < n; i++) new[i] = old[i] * older[(i + 1) % n];
    for (int i = 0; i < n; i++) older[i] *= new[i];
    t += sum(older, n) + sum(new, n);
    free(older); older = old; old = new;
  }
  free(old); free(older);
  return t;
}

static double reused(double *x, int n) {
  double t = 0; double *keep = malloc(n * 8);
  for (int i = 0; i < n; i++) keep[i] = x[i];
  for (int k = 0; k < 4; k++) {
    double *tmp = malloc(n * 8);
    for (int i = 0; i < n; i++) tmp[i] = keep[i] * keep[i];
    for (int i = 0; i < n; i++) { t += tmp[i] * keep[i]; tmp[i] *= keep[n-1-i]; }
    for (int i = 0; i < n; i++) t += tmp[i] * tmp[i];
    if (k % 2) { free(keep); keep = tmp; } else free(tmp);
  }
  free(keep);
  return t;
}

static double conditional(double *x, int n) {
  double t = 0; double *cur = x;
  for (int k = 0; k < 5; k++) {
    double *next = cur;
    if (k % 3 != 1) next = malloc(n * 8);
    for (int i = 0; i < n; i++) next[i] = cur[i] * cur[(i + 1) % n];
    t += sum(next, n);
    if (next != cur && cur != x) free(cur);
    cur = next;
  }
  if (cur != x) free(cur);
  return t;
}

static double conditional_fresh(double *x, int n) {
  double t = 0; double *cur = malloc(n * 8);
  for (int i = 0; i < n; i++) cur[i] = x[i];
  for (int k = 0; k < 5; k++) {
    double *next = cur;
    if (k % 3 != 1) next = malloc(n * 8);
    for (int i = 0; i < n; i++) next[i] = cur[i] * cur[(i + 1) % n];
    t += sum(next, n);
    if (next != cur) free(cur);
    cur = next;
  }
  free(cur);
  return t;
}

static double grown(double *x, int n) {
  double t = 0; double *v = NULL; long len = 0;
  for (int k = 0; k < n; k++) {
    v = realloc(v, (len + 1) * 8);
    v[len++] = x[k] * x[k];
    for (long i = 0; i < len; i++) v[i] *= 1.0 + 0.1 * v[len - 1];
    t += sum(v, len);
  }
  free(v);
  return t;
}

static double arena(double *x, int n) {
  double *a = malloc(n * 4 * 8); double t = 0; long top = 0;
  for (int i = 0; i < n; i++) a[i] = x[i];
  for (int k = 0; k < 6; k++) {
    double *in = a + top, *out = a + (top + n / 2) % (2 * n);
    for (int i = 0; i < n; i++) out[i] = 0.5 * in[i] * in[i] + 0.2;
    t += sum(out, n);
    top = (top + n / 2) % (2 * n);
  }
  free(a);
  return t;
}

NI static void step(double *out, double *in, long n) {
  for (long i = 0; i < n; i++) out[i] = in[i] * in[i] - 0.3 * in[n - 1 - i];
}

static double arena_calls(double *x, int n) {
  double *a = malloc(n * 8 * 8); double t = 0;
  for (int i = 0; i < n; i++) a[i] = x[i];
  long h = n / 2;
  for (long k = 0; k < 6; k++) {
    step(a + (k + 1) * h, a + k * h, h);
    if (k > 2) step(a + (k - 2) * h, a + (k + 1) * h, h);
  }
  t = sum(a, 7 * h);
  free(a);
  return t;
}

static double arena_back(double *x, int n) {
  double *a = malloc(n * 8 * 8); double t = 0; long h = n / 2;
  for (int i = 0; i < n; i++) a[6 * h + i] = x[i];
  for (long k = 6; k > 0; k--) {
    step(a + (k - 1) * h, a + k * h, h + 1);
    t += sum(a + k * h, 1);
  }
  t += sum(a, 6 * h);
  free(a);
  return t;
}

NI static void deep(Box *b) { for (long i = 0; i < b->size; i++) b->data[i] *= b->data[i]; }

NI static void wrap(double *x, long n) { Box b = {n, 0, x}; deep(&b); }

static double through_box(double *x, int n) {
  double y[64]; double t = 0;
  for (int i = 0; i < n; i++) y[i] = x[i] * 0.9;
  for (int k = 0; k < 3; k++) { t += sum(y, n); wrap(y, n); }
  return t;
}

NI static double *pick(double *x, long i) { return x + i; }

NI static void via(double *x, long n) {
  for (long i = 0; i < n; i++) {
    double *p = pick(x, i);
    *p *= *p;
  }
}

static double picked(double *x, int n) {
  double y[64]; double t = 0;
  for (int i = 0; i < n; i++) y[i] = x[i] * 0.9;
  for (int k = 0; k + 4 < n; k++) { t += sum(y + k, 2); via(y + k + 2, 1); via(y + k, 1); }
  return t;
}

static double zero_trips(double *x, int n) {
  double t = 0; long z = n > 1000 ? n : 0;
  for (long k = 0; k < z; k++) { t += sum(x + k * z, z); square(x + k * z + z, z); }
  for (long k = 0; k < 3; k++) { t += sum(x + k * z, n); square(x + k * z, n - 1); }
  return t;
}

static double copy_in_place(double *x, int n) {
  double t = 0;
  for (long k = 0; k < 3; k++) {
    t += sum(x + k, 4);
    memmove(x + k, x + k + 1, 4 * 8);
    x[k + 4] *= x[k];
  }
  return t + sum(x, n);
}

static double triangular(double *x, int n) {
  double t = 0; long m = 5;
  for (long i = 0; i < m; i++)
    for (long j = i; j < m; j++) {
      t += x[i] * x[j] * x[j];
      square(x + j, 1);
      square(x + m - 1 - i, m - i > 2 ? 2 : 1);
    }
  return t;
}

static double minus_n(double *x, int n) {
  double t = 0; long s = -(long)(n / 4); double *p = x + n - n / 4;
  for (long k = 0; k < 3; k++) {
    t += sum(p + k * s, n / 4);
    square(p + (k + 1) * s + 1, n / 4);
  }
  return t;
}

static double minus_n2(double *x, int n) {
  double t = 0; long s = -(long)(n / 4); double *p = x + n - n / 4;
  for (long k = 0; k < 3; k++) { t += sum(p + (k+1) * s, n / 4); square(p + k * s - 1, n / 4); }
  return t;
}
#define AT(f)                 \
  do {                        \
    double x[20];             \
    fill(x, 20, 0.3, 1.1);    \
    CHECK_GRADIENT(f, x, 20); \
  } while (0)

int main(void) {
  AT(products);
  AT(products_n);
  AT(calls_products);
  AT(overlapping_rows);
  AT(overlapping_rows2);
  AT(negative);
  AT(negative2);
  AT(stepped);
  AT(strided);
  AT(strided2);
  AT(changing);
  AT(sizes_in_memory);
  AT(sized_apart);
  AT(sized_over);
  AT(sized_over2);
  AT(size_as_data);
  AT(pingpong);
  AT(handed_on);
  AT(reused);
  AT(conditional);
  AT(conditional_fresh);
  AT(grown);
  AT(arena);
  AT(arena_calls);
  AT(arena_back);
  AT(through_box);
  AT(picked);
  AT(zero_trips);
  AT(copy_in_place);
  AT(triangular);
  AT(minus_n);
  AT(minus_n2);
  return finish("windows");
}
