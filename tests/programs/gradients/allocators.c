// Allocators of the program's own: shadows come from them too, and go back to them.
#include "check.h"

#define NOINLINE __attribute__((noinline)) static

// A pool of blocks of one size, behind a pointer that the functions take.
struct pool {
  void *free;
  long taken, made;
};

enum { BLOCK = 4 * sizeof(double) };

NOINLINE void *pool_take(struct pool *pool, size_t bytes) {
  if (bytes > BLOCK) abort();
  void **block = pool->free;
  if (block) pool->free = *block;
  else {
    block = malloc(BLOCK);
    pool->made++;
  }
  pool->taken++;
  // Nobody may rely on what is in new memory.
  memset(block, 0x7b, BLOCK);
  return block;
}

NOINLINE void pool_give(void *memory, struct pool *pool) {
  *(void **)memory = pool->free;
  pool->free = memory;
  pool->taken--;
}

void *__enzyme_allocation_like_pool[] = {pool_take, (void *)1, "-1,0", pool_give};

static struct pool pool;

static void empty(struct pool *pool) {
  while (pool->free) {
    void *next = *(void **)pool->free;
    free(pool->free);
    pool->free = next;
  }
}

// Memory that the function makes and gives back.
static double pooled(double *x, int n) {
  double sum = 0;
  for (int i = 0; i + 2 < n; i++) {
    double *t = pool_take(&pool, 3 * sizeof(double));
    for (int j = 0; j < 3; j++) t[j] = x[i + j] * x[i];
    t[0] *= t[1];
    sum += t[0] * t[2] + t[1];
    pool_give(t, &pool);
  }
  return sum;
}

// Nodes that one function makes and another gives back.
struct node {
  struct node *next;
  double value;
};

NOINLINE struct node *push(struct node *list, double value) {
  struct node *node = pool_take(&pool, sizeof *node);
  node->next = list;
  node->value = value;
  return node;
}

NOINLINE void drop(struct node *list) {
  while (list) {
    struct node *next = list->next;
    pool_give(list, &pool);
    list = next;
  }
}

static double listed(double *x, int n) {
  struct node *list = NULL;
  for (int i = 0; i < n; i++) list = push(list, x[i] * x[(i + 1) % n]);
  double product = 1;
  for (struct node *at = list; at; at = at->next) product *= 1 + at->value * at->value;
  drop(list);
  return product;
}

// An arena whose memory goes back in the opposite order, in variables of its own. Going back is to
// forget, so memory that is used after it would be overwritten.
static char arena[1 << 16];
static size_t arena_top;

NOINLINE void *arena_take(size_t bytes) {
  bytes = (bytes + 31) / 16 * 16;
  if (arena_top + bytes > sizeof arena) abort();
  char *memory = arena + arena_top + 16;
  *(size_t *)(memory - 16) = bytes;
  arena_top += bytes;
  return memory;
}

NOINLINE void arena_give(void *memory) { memset(memory, 0x7b, *(size_t *)((char *)memory - 16) - 16); }

void *__enzyme_allocation_like_arena[] = {(void *)arena_take, (void *)0, "-1", (void *)arena_give};

static double in_arena(double *x, int n) {
  double *squares = arena_take(n * sizeof(double));
  double sum = 0;
  for (int i = 0; i < n; i++) squares[i] = x[i] * x[i];
  for (int round = 0; round < 3; round++) {
    double *t = arena_take(n * sizeof(double));
    for (int i = 0; i < n; i++) t[i] = squares[i] * squares[(i + round) % n];
    for (int i = 0; i < n; i++) squares[i] = sin(t[i]) + x[i];
    arena_give(t);
  }
  for (int i = 0; i < n; i++) sum += squares[i];
  arena_give(squares);
  return sum;
}

// An allocator without a body, by annotation; what frees takes the tag first, and returns something.
int native_give(int tag, void *memory);
__attribute__((annotate("enzyme_allocation_like=1;0,-1;native_give"))) void *native_take(int tag, unsigned bytes);
extern long native_blocks;

static double native(double *x, int n) {
  double **rows = native_take(7, n * sizeof(double *));
  for (int i = 0; i < n; i++) {
    rows[i] = native_take(i, (i + 1) * sizeof(double));
    for (int j = 0; j <= i; j++) rows[i][j] = x[i] * x[j];
  }
  double sum = 0;
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++) sum += rows[i][j] * rows[i - 1][j] * rows[j][j];
  for (int i = 0; i < n; i++) native_give(i, rows[i]);
  native_give(7, rows);
  return sum;
}

// Memory that the function leaves to its caller, in memory that has a shadow.
struct result {
  double *values;
};

static void fill_result(double *x, int n, struct result *result) {
  result->values = pool_take(&pool, 4 * sizeof(double));
  for (int i = 0; i < 4; i++) result->values[i] = x[i] * x[i] * x[0];
}

static void left(double *x) {
  double d[4] = {0, 0, 1, 0}, g[4] = {0};
  struct result result, shadow;
  __enzyme_fwddiff((void *)fill_result, enzyme_dup, x, d, enzyme_const, 4, enzyme_dup, &result, &shadow);
  check_close("left", 0, shadow.values[2], 2 * x[2] * x[0], 1e-12);
  check_close("left", 1, shadow.values[1], 0, 1e-12);
  pool_give(result.values, &pool);
  pool_give(shadow.values, &pool);
}

// Two derivatives at once, and the derivative of a derivative.
static double slope(double *x, int n) {
  double d[4] = {0, 1, 0, 0};
  return __enzyme_fwddiff((void *)listed, enzyme_dup, x, d, enzyme_const, n);
}

static double reverse_slope(double *x, int n) {
  double g[4] = {0};
  __enzyme_autodiff((void *)pooled, enzyme_dup, x, g, enzyme_const, n);
  return g[1];
}

static void check_width(double *x) {
  double g1[4] = {0}, g2[4] = {0};
  __enzyme_autodiff((void *)native, enzyme_width, 2, enzyme_dup, x, g1, g2, enzyme_const, 4);
  __enzyme_autodiff((void *)listed, enzyme_width, 2, enzyme_dup, x, g1, g2, enzyme_const, 4);
  for (int i = 0; i < 4; i++) {
    double want = check_difference(native, x, 4, i) + check_difference(listed, x, 4, i);
    check_close("width", i, g1[i], want, 1e-6);
    check_close("width", i, g2[i], want, 1e-6);
  }
}

int main(void) {
  double x[4];
  fill(x, 4, 0.5, 1.5);
  for (int round = 0; round < 2; round++) {
    CHECK_GRADIENT(pooled, x, 4);
    CHECK_GRADIENT(listed, x, 4);
    CHECK_GRADIENT(native, x, 4);
    arena_top = 0;
    CHECK_GRADIENT(in_arena, x, 4);
    CHECK_GRADIENT(slope, x, 4);
    CHECK_GRADIENT(reverse_slope, x, 4);
    check_width(x);
    left(x);
  }
  // Whatever was taken went back to where it came from.
  check_close("taken", 0, pool.taken, 0, 0);
  check_close("native", 0, native_blocks, 0, 0);
  empty(&pool);
  return finish("allocators");
}
