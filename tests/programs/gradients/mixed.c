// Structures of several arrays and scalars, of which a function looks at some and copies all: what
// it looks at, at a variable index, says nothing of the rest.
#include "check.h"
#include <stddef.h>

struct keyed { int key[4]; float w[4]; };

// Only the integers are looked at.
static void keys_first(struct keyed *in, struct keyed *out, int i, int *number) {
  *number = in->key[i] * 3 + in->key[i + 1];
  *out = *in;
}

static void many_keyed(struct keyed *in, struct keyed *out, int i, int *number, long n) {
  *number = in[i].key[i] * 3 + in[i].key[i + 1];
  memcpy(out, in, n * sizeof *in);
}

struct weighed { double key[4]; float w[2]; };

static double doubles_first(struct weighed *in, struct weighed *out, int n) {
  double s = 0;
  for (int k = 0; k < n; k++) s += in->key[k] * (k + 1);
  out[0] = *in, out[1] = *in;
  return s;
}

struct point { double x; float y, z; };

static double one_field(struct point *p, struct point *q, long n) {
  double s = p->x * 3;
  memcpy(q, p, n * sizeof *p);
  memcpy(q + n, p, n * sizeof *p);
  return s;
}

struct ranked { float key[8]; int id[8]; };

static double reordered(struct ranked *in, int n, int *ids) {
  for (int i = 0; i < n / 2; i++) {
    int j = n - 1 - i, u = in->id[i];
    float t = in->key[i];
    in->key[i] = in->key[j], in->key[j] = t;
    in->id[i] = in->id[j], in->id[j] = u;
  }
  struct ranked c = *in;
  double s = 0;
  for (int i = 0; i < n; i++) s += (double)c.key[i] * c.key[i] * (i + 1), ids[i] = c.id[i];
  return s;
}

struct tagged { short k; float x; double y; };

// The first bytes that the pointers come to are those of an integer.
static void copy_running(void *to, const void *from, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  while (n-- > 0) *t++ = *f++;
}

static double ran_over(struct tagged *in, struct tagged *out) {
  copy_running(out, in, sizeof *in);
  return out->y * out->x;
}

int main(void) {
  struct keyed k[2] = {{{1, 2, 3, 4}, {1, 2, 3, 4}}, {{1, 2, 3, 4}, {1, 2, 3, 4}}}, l[2];
  struct keyed dk[2] = {0}, dl[2] = {{{0}, {5, 6, 7, 8}}, {{0}, {1, 2, 3, 4}}};
  int number, ids[8];
  __enzyme_autodiff((void *)keys_first, enzyme_dup, k, dk, enzyme_dup, l, dl, enzyme_const, 1, enzyme_const, &number);
  for (int i = 0; i < 4; i++) check_close("keys first", i, dk[0].w[i], 5 + i, 0);
  struct keyed em[2] = {{{0}, {5, 6, 7, 8}}, {{0}, {1, 2, 3, 4}}};
  memset(dk, 0, sizeof dk);
  __enzyme_autodiff((void *)many_keyed, enzyme_dup, k, dk, enzyme_dup, l, em, enzyme_const, 1, enzyme_const, &number, enzyme_const, 2l);
  for (int i = 0; i < 4; i++) check_close("many keyed", i, dk[1].w[i], 1 + i, 0);

  struct weighed a = {{1, 2, 3, 4}, {1, 2}}, b[2], da = {0}, db[2] = {{{0}, {5, 6}}, {{0}, {7, 8}}};
  __enzyme_autodiff((void *)doubles_first, enzyme_dup, &a, &da, enzyme_dup, b, db, enzyme_const, 3);
  check_close("doubles first", 0, da.w[0], 12, 0);
  check_close("doubles first", 1, da.w[1], 14, 0);
  check_close("doubles first", 2, da.key[2], 3, 0);

  struct point p[2] = {{1, 2, 3}, {1, 2, 3}}, q[4], dp[2] = {0}, dq[4] = {{0, 5, 6}, {0, 7, 8}, {0, 1, 1}, {0, 1, 1}};
  __enzyme_autodiff((void *)one_field, enzyme_dup, p, dp, enzyme_dup, q, dq, enzyme_const, 2l);
  check_close("one field", 0, dp[0].x, 3, 0);
  check_close("one field", 1, dp[0].y, 6, 0);
  check_close("one field", 2, dp[1].z, 9, 0);

  struct ranked r, dr = {0};
  for (int i = 0; i < 8; i++) r.key[i] = i + 1, r.id[i] = i;
  __enzyme_autodiff((void *)reordered, enzyme_dup, &r, &dr, enzyme_const, 8, enzyme_const, ids);
  for (int i = 0; i < 8; i++) check_close("reordered", i, dr.key[i], 2 * (i + 1) * (8 - i), 0);
  check_close("reordered", 8, ids[0], 7, 0);

  struct tagged t = {1, 2, 3}, u, dt = {0}, du = {0};
  __enzyme_autodiff((void *)ran_over, enzyme_dup, &t, &dt, enzyme_dup, &u, &du);
  check_close("ran over", 0, dt.x, 3, 0);
  check_close("ran over", 1, dt.y, 2, 0);
  return finish("mixed");
}
