// Structures with padding, copied whole and changed in part.
#include "check.h"

struct row {
  int n;
  double *p;
};

static void copy_row(struct row *made, const struct row *from) { *made = *from; }

static double rows(double *x, int n) {
  struct row from = {n, x}, *made = malloc(sizeof *made);
  copy_row(made, &from);
  double sum = 0;
  for (int i = 0; i < made->n; i++) sum += made->p[i] * made->p[i] * (i + 1);
  free(made);
  return sum;
}

struct inner {
  char tag;
  float weight;
  double value;
  short code;
};

struct outer {
  struct inner parts[2];
  char last;
  double scale;
};

__attribute__((noinline)) static void assign(struct outer *to, const struct outer *from) { *to = *from; }

static double nested(double *x, int n) {
  struct outer a = {{{1, 2.0f, x[0], 3}, {4, 1.5f, x[1] * x[2], 5}}, 6, x[n - 1]}, b, c;
  assign(&b, &a);
  b.parts[0] = b.parts[1];
  c = b;
  c.scale *= x[0];
  return c.parts[0].value * c.parts[1].weight * c.scale + b.scale + c.parts[1].code;
}

__attribute__((noinline)) static void swap(struct inner *a, struct inner *b) {
  struct inner kept = *a;
  *a = *b;
  *b = kept;
}

static double sorted(double *x, int n) {
  struct inner *all = malloc(n * sizeof *all);
  for (int i = 0; i < n; i++) all[i] = (struct inner){(char)i, 1.0f, x[i] * x[i], (short)i};
  for (int i = 0; i < n; i++)
    for (int k = i; k > 0 && all[k].value < all[k - 1].value; k--) swap(&all[k], &all[k - 1]);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += all[i].value * (i + 1) + all[i].tag;
  free(all);
  return sum;
}

int main(void) {
  double x[5];
  fill(x, 5, 0.5, 2);
  CHECK_GRADIENT(rows, x, 5);
  CHECK_GRADIENT(nested, x, 5);
  CHECK_GRADIENT(sorted, x, 5);
  return finish("records");
}
