// Memory behind several pointers: matrices of rows, structs of arrays filled by callees, lists and
// trees on the heap, buffers that callees make and callers free.
#include "check.h"

static double rows(double *x, int n) {
  double **m = malloc(3 * sizeof(double *)), sum = 0;
  for (int i = 0; i < 3; i++) {
    m[i] = malloc(4 * sizeof(double));
    for (int j = 0; j < 4; j++) m[i][j] = x[(i * 4 + j) % n] * x[j];
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) sum += m[i][j] * m[(i + 1) % 3][3 - j];
  for (int i = 0; i < 3; i++) free(m[i]);
  free(m);
  return sum;
}

struct arrays { int n; double *a, *b; };

__attribute__((noinline)) static void fill_arrays(struct arrays *s, const double *x) {
  for (int i = 0; i < s->n; i++) {
    s->a[i] = x[i] * x[i];
    s->b[i] = sin(x[i]);
  }
}

static double struct_of_arrays(double *x, int n) {
  double a[8], b[8], sum = 0;
  struct arrays s = {n, a, b};
  fill_arrays(&s, x);
  for (int i = 0; i < n; i++) sum += a[i] * b[n - 1 - i];
  return sum;
}

struct cell { double value; struct cell *next; };

__attribute__((noinline)) static struct cell *push(struct cell *head, double value) {
  struct cell *c = malloc(sizeof *c);
  c->value = value;
  c->next = head;
  return c;
}

static double list(double *x, int n) {
  struct cell *head = 0;
  for (int i = 0; i < n; i++) head = push(head, x[i] * (i + 1));
  double y = 1;
  for (struct cell *c = head; c; c = c->next) y = y * 0.5 + c->value * y;
  while (head) {
    struct cell *next = head->next;
    free(head);
    head = next;
  }
  return y;
}

struct tree { double key; struct tree *left, *right; };

__attribute__((noinline)) static struct tree *insert(struct tree *t, struct tree *leaf) {
  if (!t) return leaf;
  if (leaf->key < t->key) t->left = insert(t->left, leaf);
  else t->right = insert(t->right, leaf);
  return t;
}

__attribute__((noinline)) static double walk(const struct tree *t, double depth) {
  return t ? t->key * depth + walk(t->left, depth + 1) * walk(t->right, depth + 1) : 1;
}

static double tree(double *x, int n) {
  struct tree nodes[8], *root = 0;
  for (int i = 0; i < n; i++) {
    nodes[i] = (struct tree){x[i], 0, 0};
    root = insert(root, &nodes[i]);
  }
  return walk(root, 1);
}

__attribute__((noinline)) static double *smoothed(const double *x, int n) {
  double *y = calloc(n, sizeof *y);
  for (int i = 0; i < n; i++) y[i] = 0.5 * x[i] + 0.5 * x[(i + 1) % n] * x[i];
  return y;
}

static double chained(double *x, int n) {
  double *a = smoothed(x, n), *b = smoothed(a, n), sum = 0;
  free(a);
  for (int i = 0; i < n; i++) sum += b[i] * x[i];
  free(b);
  return sum;
}

static double growing(double *x, int n) {
  int capacity = 2, count = 0;
  double *v = malloc(capacity * sizeof *v), sum = 0;
  for (int i = 0; i < n; i++) {
    if (count == capacity) {
      double *w = malloc(2 * capacity * sizeof *w);
      memcpy(w, v, count * sizeof *w);
      free(v);
      v = w;
      capacity *= 2;
    }
    v[count++] = x[i] * x[i];
  }
  for (int i = 0; i < count; i++) sum += v[i] * v[count - 1 - i];
  free(v);
  return sum;
}

__attribute__((noinline)) static void axpy(double a, const double *x, double *y, int n) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}

// The two pointers are the same.
static double aliased(double *x, int n) {
  axpy(x[0], x, x, n);
  axpy(2, x, x + 1, n - 1);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

static double chosen(double *x, int n) {
  double a[4] = {1, 2, 3, 4}, b[4] = {0}, *p = x[0] > 0 ? a : b, *q = x[1] > 0 ? x : p;
  for (int i = 0; i < 4; i++) p[i] = x[i] * p[i] + x[i];
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += q[i] * a[i] + b[i];
  return sum;
}

static double strided_walk(double *x, int n) {
  double sum = 0;
  for (double *p = x, *end = x + n; p < end; p += 2) {
    *p *= p[1];
    sum += *p * *p;
  }
  for (char *p = (char *)x; p < (char *)(x + n); p += sizeof(double)) sum += *(double *)p;
  return sum;
}

struct part { int n; double *p; };
struct whole { struct part *a, *b; };

__attribute__((noinline)) static void pack(struct part *t, double **a, int *n) {
  t->n = *n;
  t->p = *a;
}

__attribute__((noinline)) static double **unpack(struct part *t) { return &t->p; }

// A callee moves an address that it finds behind one argument to memory behind another.
static double moved(double *x, int n) {
  struct part t;
  double *a = x + 1;
  pack(&t, &a, &n);
  double **p = unpack(&t);
  return **p * (*p)[1] * t.n;
}

__attribute__((noinline)) static void exchange(struct whole *w) {
  double *p = w->a->p;
  w->a->p = w->b->p;
  w->b->p = p;
}

// Two levels of pointers down.
static double exchanged(double *x, int n) {
  double y[2] = {x[2], 4};
  struct part a = {n, x}, b = {2, y};
  struct whole w = {&a, &b};
  exchange(&w);
  return b.p[0] * b.p[1] * a.p[0] + b.p[n - 1];
}

__attribute__((noinline)) static struct part *wrapped(struct part *from) {
  struct part *made = malloc(sizeof *made);
  made->n = from->n;
  made->p = from->p;
  return made;
}

// Into memory that the callee makes.
static double copied_part(double *x, int n) {
  struct part t = {n, x}, *u = wrapped(&t);
  double sum = 0;
  for (int i = 0; i < u->n; i++) sum += u->p[i] * u->p[i];
  free(u);
  return sum;
}

// A place that a function of the library finds in memory.
static double after_mark(double *x, int n) {
  unsigned char *block = malloc(16 + n * sizeof(double));
  memset(block, 1, 16);
  block[8] = 7;
  memcpy(block + 16, x, n * sizeof(double));
  double *values = (double *)((unsigned char *)memchr(block, 7, 16) + 8), sum = 0;
  for (int i = 0; i < n; i++) sum += values[i] * values[i] * (i + 1);
  free(block);
  return sum;
}

int main(void) {
  double x[8];
  for (int trial = 1; trial <= 3; trial++) {
    seed(trial);
    fill(x, 8, -1, 1);
    CHECK_GRADIENT(rows, x, 8);
    CHECK_GRADIENT(struct_of_arrays, x, 8);
    CHECK_GRADIENT(list, x, 8);
    CHECK_GRADIENT(tree, x, 8);
    CHECK_GRADIENT(chained, x, 8);
    CHECK_GRADIENT(growing, x, 8);
    CHECK_GRADIENT(aliased, x, 8);
    CHECK_GRADIENT(chosen, x, 4);
    CHECK_GRADIENT(strided_walk, x, 8);
    CHECK_GRADIENT(moved, x, 8);
    CHECK_GRADIENT(exchanged, x, 8);
    CHECK_GRADIENT(copied_part, x, 8);
  }
  CHECK_GRADIENT(after_mark, x, 4);
  return finish("pointers");
}
