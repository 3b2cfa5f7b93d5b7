// Memory of tapes that stays when a derivative returns, for the next one.
//
// A tape is written once and read once. To get its memory from the system takes longer than both,
// because each page comes with a fault and full of zeros, and the C library gives large blocks back
// when they are freed. So a few blocks are kept, for the whole process, and the system is told that
// it may take their pages when it needs some. Nobody waits: who finds the list in use does without it.
//
// `linux.ll` and `other.ll` are made from this file by `regenerate.sh` beside it.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// What is in front of the memory of a block; as large as the alignment of what `malloc` gives.
struct block {
  size_t bytes;
  size_t unused;
};

enum { BLOCKS = 16 };

// Blocks of fewer bytes the C library keeps itself. Others come from the system, not from the heap of
// the program: a block that stays at its end would keep the C library from giving anything back that
// the program has freed below.
static const size_t LEAST = (size_t)1 << 17;
// So many bytes are kept altogether.
static const size_t MOST = (size_t)1 << 30;
// Blocks of so many bytes are worth a word with the system.
static const size_t LARGE = (size_t)1 << 22;

struct kept {
  char in_use;
  unsigned oldest;
  size_t bytes;
  struct block *blocks[BLOCKS];
};

struct kept __zymase_kept;

#ifdef __linux__
extern int madvise(void *, size_t, int);
extern void *mmap(void *, size_t, int, int, int, long);
extern int munmap(void *, size_t);
extern int *__errno_location(void);
enum { MAY_TAKE_BACK = 8, LARGE_PAGES = 14 };
enum { READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22 };
static const size_t LARGE_PAGE = (size_t)1 << 21;

// Advice about the large pages that lie in some memory. Not to be able to follow it is no error.
static void advise(void *memory, size_t bytes, int advice) {
  uintptr_t start = ((uintptr_t)memory + LARGE_PAGE - 1) & -LARGE_PAGE;
  uintptr_t end = ((uintptr_t)memory + bytes) & -LARGE_PAGE;
  int before = *__errno_location();
  if (start < end) madvise((void *)start, end - start, advice);
  *__errno_location() = before;
}

static void *allocate(size_t whole) {
  if (whole < LEAST + sizeof(struct block)) return malloc(whole);
  void *memory = mmap(0, whole, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
  return (intptr_t)memory == -1 ? 0 : memory;
}

static void release(struct block *block) {
  if (block->bytes < LEAST)
    free(block);
  else
    munmap(block, block->bytes + sizeof(struct block));
}
#else
enum { MAY_TAKE_BACK, LARGE_PAGES };
static void advise(void *memory, size_t bytes, int advice) {}
static void *allocate(size_t whole) { return malloc(whole); }
static void release(struct block *block) { free(block); }
#endif

static int begin(void) { return !__atomic_exchange_n(&__zymase_kept.in_use, 1, __ATOMIC_ACQUIRE); }

static void end(void) { __atomic_store_n(&__zymase_kept.in_use, 0, __ATOMIC_RELEASE); }

static void drop(unsigned at) {
  struct block *block = __zymase_kept.blocks[at];
  if (!block) return;
  __zymase_kept.blocks[at] = 0;
  __zymase_kept.bytes -= block->bytes;
  release(block);
}

// Says of new memory that it will be filled from one end to the other.
__attribute__((noinline)) void __zymase_use_large_pages(void *memory, size_t bytes) {
  if (bytes >= LARGE) advise(memory, bytes, LARGE_PAGES);
}

// The kept block that fits best, if there is one that is not far too large.
static struct block *find(size_t bytes) {
  if (bytes < LEAST || !begin()) return 0;
  struct block *best = 0;
  unsigned place = 0;
  for (unsigned at = 0; at < BLOCKS; at++) {
    struct block *block = __zymase_kept.blocks[at];
    if (block && block->bytes >= bytes && block->bytes / 2 <= bytes &&
        (!best || block->bytes < best->bytes)) {
      best = block;
      place = at;
    }
  }
  if (best) {
    __zymase_kept.blocks[place] = 0;
    __zymase_kept.bytes -= best->bytes;
  }
  end();
  return best;
}

// Memory for a tape, or null.
__attribute__((noinline)) void *__zymase_take(size_t bytes) {
  struct block *block = find(bytes);
  if (block) return block + 1;
  if (bytes > SIZE_MAX - sizeof(struct block)) return 0;
  size_t whole = bytes + sizeof(struct block);
  block = allocate(whole);
  if (!block && begin()) {
    for (unsigned at = 0; at < BLOCKS; at++) drop(at);
    end();
    block = allocate(whole);
  }
  if (!block) return 0;
  block->bytes = bytes;
  __zymase_use_large_pages(block, whole);
  return block + 1;
}

// Takes memory of a tape back. The oldest blocks make room for it.
__attribute__((noinline)) void __zymase_give(void *memory) {
  if (!memory) return;
  struct block *block = (struct block *)memory - 1;
  size_t bytes = block->bytes;
  if (bytes < LEAST || bytes > MOST || !begin()) {
    release(block);
    return;
  }
  if (bytes >= LARGE) advise(block, bytes, MAY_TAKE_BACK);
  unsigned at = 0;
  while (at < BLOCKS && __zymase_kept.blocks[at]) at++;
  while (at == BLOCKS || __zymase_kept.bytes + bytes > MOST) {
    at = __zymase_kept.oldest;
    __zymase_kept.oldest = (at + 1) % BLOCKS;
    drop(at);
  }
  __zymase_kept.blocks[at] = block;
  __zymase_kept.bytes += bytes;
  end();
}
