// Memory from the heap: every function of the C library that makes some, growing arrays, memory
// that others free than those who made it.
#define _GNU_SOURCE
#include "check.h"

#include <malloc.h>

#define NOINLINE __attribute__((noinline)) static

static double doubled(double *x, int n) {
  double *v = NULL;
  int room = 0, size = 0;
  for (int i = 0; i < n; i++) {
    if (size == room) {
      room = room ? 2 * room : 1;
      v = realloc(v, room * sizeof(double));
    }
    v[size++] = x[i] * x[i];
  }
  double sum = 0;
  for (int i = 0; i < size; i++) sum += v[i] * v[i] * (i + 1);
  free(v);
  return sum;
}

// Grows by one, overwrites what it has, and shrinks.
static double one_by_one(double *x, int n) {
  double *v = malloc(sizeof(double));
  v[0] = 1;
  for (int i = 0; i < n; i++) {
    v = realloc(v, (i + 2) * sizeof(double));
    v[i + 1] = v[i] * x[i];
    v[i] *= v[i];
  }
  v = realloc(v, n * sizeof(double));
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i];
  free(v);
  return sum;
}

struct array {
  double *items;
  int size, room;
};

NOINLINE void append(struct array *a, double item) {
  if (a->size == a->room) {
    a->room = a->room ? 2 * a->room : 2;
    a->items = realloc(a->items, a->room * sizeof(double));
  }
  a->items[a->size++] = item;
}

NOINLINE void release(struct array *a) {
  free(a->items);
  a->items = NULL;
}

static double arrays(double *x, int n) {
  struct array a = {NULL, 0, 0}, b = {NULL, 0, 0};
  for (int i = 0; i < n; i++) {
    append(&a, x[i] * x[i]);
    append(&b, a.items[i] * x[0]);
    append(&b, sin(x[i]));
  }
  double sum = 0;
  for (int i = 0; i < b.size; i++) sum += b.items[i] * a.items[i / 2];
  release(&a);
  release(&b);
  return sum;
}

static double makers(double *x, int n) {
  void *fourth;
  double *a = calloc(n, sizeof(double)), *b = aligned_alloc(64, 64 * n),
         *c = memalign(32, n * sizeof(double));
  if (posix_memalign(&fourth, 64, n * sizeof(double))) return 0;
  double *d = fourth, sum = 0;
  for (int i = 0; i < n; i++) {
    a[i / 2] += x[i] * x[i];
    b[i] = a[i / 2] * 2;
    c[i] = b[i] * a[0];
    d[i] = c[i] * x[n - 1 - i];
  }
  for (int i = 0; i < n; i++) sum += d[i] * c[i] + b[i];
  free(a);
  free(b);
  free(c);
  free(fourth);
  return sum;
}

// A list whose nodes are freed by another function than the one that made them.
struct node {
  double value;
  char *name;
  struct node *next;
};

NOINLINE struct node *push(struct node *list, double value, const char *name) {
  struct node *made = malloc(sizeof *made);
  made->value = value;
  made->name = strdup(name);
  made->next = list;
  return made;
}

NOINLINE void drop(struct node *list) {
  while (list) {
    struct node *next = list->next;
    free(list->name);
    free(list);
    list = next;
  }
}

static double listed(double *x, int n) {
  struct node *list = NULL;
  double product = 1;
  for (int i = 0; i < n; i++) list = push(list, x[i] * x[i] + 1, i % 2 ? "odd" : "even");
  for (struct node *at = list; at; at = at->next) product *= at->value * strlen(at->name);
  drop(list);
  return product;
}

// A tree of search that is built, folded and freed recursively.
struct tree {
  int key;
  double value;
  struct tree *left, *right;
};

NOINLINE struct tree *insert(struct tree *t, int key, double value) {
  if (!t) {
    t = calloc(1, sizeof *t);
    t->key = key;
    t->value = value;
  } else if (key < t->key)
    t->left = insert(t->left, key, value);
  else if (key > t->key)
    t->right = insert(t->right, key, value);
  else
    t->value *= value;
  return t;
}

NOINLINE double fold(const struct tree *t) {
  return t ? fold(t->left) * t->value + sin(fold(t->right)) : 0.5;
}

NOINLINE void fell(struct tree *t) {
  if (!t) return;
  fell(t->left);
  fell(t->right);
  free(t);
}

static double searched(double *x, int n) {
  struct tree *t = NULL;
  for (int i = 0; i < n; i++) t = insert(t, i * 5 % 7, x[i]);
  double result = fold(t);
  fell(t);
  return result;
}

// A hash table with chains that grows.
struct entry {
  unsigned key;
  double value;
  struct entry *next;
};

struct table {
  struct entry **buckets;
  unsigned count, size;
};

NOINLINE void grow(struct table *t) {
  unsigned count = t->count * 2;
  struct entry **buckets = calloc(count, sizeof *buckets);
  for (unsigned i = 0; i < t->count; i++)
    for (struct entry *e = t->buckets[i], *next; e; e = next) {
      next = e->next;
      e->next = buckets[e->key % count];
      buckets[e->key % count] = e;
    }
  free(t->buckets);
  t->buckets = buckets;
  t->count = count;
}

NOINLINE double *slot(struct table *t, unsigned key) {
  for (struct entry *e = t->buckets[key % t->count]; e; e = e->next)
    if (e->key == key) return &e->value;
  if (t->size++ >= t->count) grow(t);
  struct entry *e = malloc(sizeof *e);
  e->key = key;
  e->value = 0;
  e->next = t->buckets[key % t->count];
  t->buckets[key % t->count] = e;
  return &e->value;
}

static double hashed(double *x, int n) {
  struct table t = {calloc(2, sizeof(struct entry *)), 2, 0};
  for (int i = 0; i < n; i++) *slot(&t, i * 37 % 11) += x[i] * x[i];
  for (int i = 0; i < n; i++) *slot(&t, i % 5) *= x[i];
  double sum = 0;
  for (unsigned i = 0; i < 11; i++) sum += *slot(&t, i) * (i + 1);
  for (unsigned i = 0; i < t.count; i++)
    for (struct entry *e = t.buckets[i], *next; e; e = next) {
      next = e->next;
      free(e);
    }
  free(t.buckets);
  return sum;
}

// Memory that only sometimes is made, and only sometimes freed here.
NOINLINE double *maybe(const double *x, int n, int wanted) {
  if (!wanted) return NULL;
  double *made = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) made[i] = x[i] * x[i];
  return made;
}

static double sometimes(double *x, int n) {
  double sum = 0;
  double *kept = NULL;
  for (int i = 0; i < n; i++) {
    double *a = maybe(x, n, i % 3);
    sum += a ? a[i] * x[0] : x[i];
    if (i == 4)
      kept = a;
    else
      free(a);
  }
  if (kept) sum *= kept[1];
  free(kept);
  return sum;
}

struct buffer { double *p; long n; };

__attribute__((noinline)) static void resize(struct buffer *m, long n) {
  if (m->n == n) return;
  free(m->p);
  m->p = malloc(n * sizeof(double));
  m->n = n;
}

// Nothing is freed where the pointer was set to null byte by byte, whatever its shadow held.
static double cleared(double *x, int n) {
  double sum = 0;
  struct buffer m;
  for (int k = 0; k < 3; k++) {
    memset(&m, 0, sizeof m);
    resize(&m, n);
    for (int i = 0; i < n; i++) m.p[i] = x[i] * x[(i + k) % n];
    for (int i = 0; i < n; i++) sum += m.p[i] * m.p[n - 1 - i];
    resize(&m, n + k);
    for (int i = 0; i < n + k; i++) m.p[i] = x[i % n];
    for (int i = 0; i < n; i++) sum += m.p[i] * m.p[n + k - 1 - i];
    free(m.p);
  }
  return sum;
}

int main(void) {
  double x[8];
  fill(x, 8, -1, 1);
  CHECK_GRADIENT(cleared, x, 8);
  CHECK_GRADIENT(doubled, x, 8);
  CHECK_GRADIENT(one_by_one, x, 8);
  CHECK_GRADIENT(arrays, x, 8);
  CHECK_GRADIENT(makers, x, 8);
  CHECK_GRADIENT(listed, x, 5);
  CHECK_GRADIENT(searched, x, 8);
  CHECK_GRADIENT(hashed, x, 8);
  CHECK_GRADIENT(sometimes, x, 8);
  return finish("heap");
}
