// Memory that holds numbers at one time and pointers at another. The shadow of a pointer must not
// be left where the adjoint of a number is expected, in whatever order they come.
#include "check.h"

union either {
  double number;
  float pair[2];
  double *pointer;
};

__attribute__((noinline)) static void put_number(either *e, double d) { e->number = d; }
__attribute__((noinline)) static void put_pair(either *e, double d, double f) {
  e->pair[0] = d;
  e->pair[1] = f;
}
__attribute__((noinline)) static void put_pointer(either *e, double *p) { e->pointer = p; }
__attribute__((noinline)) static double number(either *e) { return e->number * e->number; }
__attribute__((noinline)) static double pair(either *e) { return e->pair[0] * e->pair[1]; }
__attribute__((noinline)) static double pointed(either *e) { return e->pointer[0] * e->pointer[1]; }

static double doubles(double *x, int n) {
  either e;
  put_number(&e, x[0]);
  double a = number(&e);
  put_pointer(&e, x);
  double b = pointed(&e);
  put_number(&e, x[2]);
  return a * b + number(&e);
}

static double floats(double *x, int n) {
  either e;
  put_pair(&e, x[0], x[1]);
  double a = pair(&e);
  put_pointer(&e, x);
  double b = pointed(&e);
  put_pair(&e, x[2], x[1]);
  return a * b + pair(&e);
}

static double on_the_heap(double *x, int n) {
  either *e = (either *)malloc(2 * sizeof(either));
  double sum = 0;
  for (int i = 0; i < n; i++) {
    if (i % 2) {
      put_pointer(&e[i / 2 % 2], x + i % 3);
      sum += pointed(&e[i / 2 % 2]);
    } else {
      put_pair(&e[i / 2 % 2], x[i], x[0]);
      sum += pair(&e[i / 2 % 2]);
    }
  }
  free(e);
  return sum;
}

// With a tag that says which, and copied as a whole.
struct tagged {
  int tag;
  union {
    double number;
    double *pointer;
  };
};

__attribute__((noinline)) static double value(const tagged *t) {
  return t->tag ? *t->pointer * t->pointer[1] : t->number * t->number;
}

static double variants(double *x, int n) {
  tagged all[8], moved[8];
  for (int i = 0; i < n; i++) {
    all[i].tag = i % 2;
    if (i % 2) all[i].pointer = x + i - 1;
    else all[i].number = x[i] * x[0];
  }
  double sum = 0;
  for (int i = 0; i < n; i++) moved[i] = all[(i + 1) % n];
  for (int i = 0; i < n; i++) sum += value(&moved[i]) * value(&all[i]);
  return sum;
}

int main() {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(doubles, x, 4);
  CHECK_GRADIENT_TO(floats, x, 4, 5e-3);
  CHECK_GRADIENT_TO(on_the_heap, x, 6, 5e-3);
  CHECK_GRADIENT(variants, x, 6);
  return finish("reused");
}
