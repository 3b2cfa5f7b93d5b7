// Blocks of memory that are counted by reference and go to a list of free ones in a context, as
// generated code for array languages does it. To the derivative this is code like any other: the
// shadow of a block goes where the block goes.
#include "check.h"

#define NOINLINE __attribute__((noinline)) static

struct free_block {
  size_t size;
  double *memory;
  struct free_block *next;
};

struct context {
  struct free_block *free_list;
  long in_use;
};

struct block {
  int *references;
  double *memory;
  size_t size;
};

// Gives a block from the list of free ones, or a new one.
NOINLINE void block_alloc(struct context *ctx, struct block *block, size_t size) {
  block->references = malloc(sizeof(int));
  *block->references = 1;
  block->size = size;
  ctx->in_use += size;
  for (struct free_block **at = &ctx->free_list; *at; at = &(*at)->next) {
    struct free_block *found = *at;
    if (found->size >= size) {
      block->memory = found->memory;
      block->size = found->size;
      *at = found->next;
      free(found);
      return;
    }
  }
  block->memory = malloc(size);
}

NOINLINE void block_unref(struct context *ctx, struct block *block) {
  if (!block->references) return;
  if (--*block->references == 0) {
    struct free_block *freed = malloc(sizeof *freed);
    freed->size = block->size;
    freed->memory = block->memory;
    freed->next = ctx->free_list;
    ctx->free_list = freed;
    ctx->in_use -= block->size;
    free(block->references);
  }
  block->references = NULL;
}

NOINLINE void block_set(struct context *ctx, struct block *to, const struct block *from) {
  block_unref(ctx, to);
  ++*from->references;
  *to = *from;
}

NOINLINE void context_free(struct context *ctx) {
  for (struct free_block *at = ctx->free_list, *next; at; at = next) {
    next = at->next;
    free(at->memory);
    free(at);
  }
}

static double iterated(double *x, int n) {
  struct context ctx = {NULL, 0};
  struct block current = {NULL, NULL, 0};
  block_alloc(&ctx, &current, n * sizeof(double));
  for (int i = 0; i < n; i++) current.memory[i] = x[i];
  for (int step = 0; step < 5; step++) {
    struct block next = {NULL, NULL, 0};
    block_alloc(&ctx, &next, n * sizeof(double));
    for (int i = 0; i < n; i++)
      next.memory[i] = sin(current.memory[i]) + 0.5 * current.memory[(i + 1) % n] * x[step % n];
    block_set(&ctx, &current, &next);
    block_unref(&ctx, &next);
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += current.memory[i] * current.memory[i];
  block_unref(&ctx, &current);
  context_free(&ctx);
  return sum;
}

int main(void) {
  double x[6];
  fill(x, 6, -1, 1);
  CHECK_GRADIENT(iterated, x, 6);
  return finish("free_list");
}
