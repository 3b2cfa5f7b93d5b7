// An allocator that Zymase cannot look into: it puts its own header before each block, so `free`
// on one of its blocks would crash.
#include <stdlib.h>

long native_blocks;

void *native_take(int tag, unsigned bytes) {
  long *block = malloc(bytes + 16);
  block[0] = tag;
  native_blocks++;
  return block + 2;
}

// The tag must be that of the block.
int native_give(int tag, void *memory) {
  long *block = (long *)memory - 2;
  if (block[0] != tag) abort();
  free(block);
  native_blocks--;
  return tag;
}
