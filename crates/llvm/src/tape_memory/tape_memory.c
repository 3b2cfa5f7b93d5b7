// Memory of derivatives: that of tapes, which stays when a derivative returns, for the next one, and
// two stacks for memory that lasts until the reverse sweep has come back to where it was made.
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
enum { TAKE_BACK = 4, MAY_TAKE_BACK = 8, LARGE_PAGES = 14 };
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

// Gives the pages of some memory back, except for the large page that it begins in. They are zero when
// they are touched again. Gives where these pages begin, or null if they are what they were.
static char *forget(char *memory, char *end) {
  uintptr_t start = ((uintptr_t)memory + LARGE_PAGE - 1) & -LARGE_PAGE;
  if (start >= (uintptr_t)end) return 0;
  int before = *__errno_location();
  int failed = madvise((void *)start, (uintptr_t)end - start, TAKE_BACK);
  *__errno_location() = before;
  return failed ? 0 : (char *)start;
}

// Whether new memory from the system is zero, and is there only where it has been touched.
static const int comes_zeroed = 1;
#else
enum { MAY_TAKE_BACK, LARGE_PAGES };
static void advise(void *memory, size_t bytes, int advice) {}
static void *allocate(size_t whole) { return malloc(whole); }
static void release(struct block *block) { free(block); }
static char *forget(char *memory, char *end) { return 0; }
static const int comes_zeroed = 0;
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

// Shadows, and memory of the program that is kept, are made by the forward sweep and freed by the
// reverse sweep, in the opposite order. They are large, and a shadow is not touched before the reverse
// sweep comes to where its memory was used last. From the heap, it would be filled with zeros at once,
// and the shadows of all layers of a network would be there together; and the C library would give all
// of it back to the system in the end, only to get it again for the next derivative, page by page.
//
// So each thread has two stacks. Large chunks of that for shadows come full of zeros from the system and
// have no pages until these are touched; what is freed above is given back while the sweep goes on.
// Chunks of that for copies, which are touched at once, stay for the next derivative as tapes do. Small
// memory comes from the heap as ever.

// The state of a stack. A chunk begins with what it was before.
struct stack {
  char *next;
  // From `dirty` to `end`, all is zero; what was freed below is not.
  char *dirty;
  char *end;
  struct stack *chunk;
};

_Thread_local struct stack __zymase_shadows;
_Thread_local struct stack __zymase_copies;

enum { ALIGNMENT = 64 };
// Less than this is the heap's.
static const size_t SMALL = (size_t)1 << 12;
// The first chunk, how many times as large each is as the one before, and the largest, unless what it
// is made for is larger. Nothing of a chunk is there before it is touched.
static const size_t FIRST = (size_t)1 << 16;
enum { GROWTH = 4 };
static const size_t LARGEST = (size_t)1 << 28;
// Chunks of shadows up to this stay for the next derivative, too.
static const size_t LASTING = (size_t)1 << 22;
// So much that was freed keeps its pages, to be used again.
static const size_t SLACK = (size_t)1 << 22;

// Whether a chunk of so many bytes comes from the system, full of zeros, and goes back there.
static int is_fresh(const struct stack *stack, size_t whole) {
  return comes_zeroed && whole > LASTING && stack == &__zymase_shadows;
}

static struct stack *make_chunk(const struct stack *stack, size_t whole) {
  if (!is_fresh(stack, whole)) return __zymase_take(whole);
  if (whole > SIZE_MAX - sizeof(struct block)) return 0;
  struct block *block = allocate(whole + sizeof(struct block));
  if (!block) return 0;
  block->bytes = whole;
  __zymase_use_large_pages(block, whole + sizeof(struct block));
  return (struct stack *)(block + 1);
}

static char *first_of(struct stack *chunk) {
  return (char *)(((uintptr_t)(chunk + 1) + ALIGNMENT - 1) & -(uintptr_t)ALIGNMENT);
}

// Puts a new chunk on a stack, with room for so many bytes.
__attribute__((noinline)) static int grow(struct stack *stack, size_t bytes) {
  size_t header = sizeof(struct stack) + ALIGNMENT;
  size_t before = stack->chunk ? (size_t)(stack->end - (char *)stack->chunk) : 0;
  size_t whole = before ? before * GROWTH : FIRST;
  if (whole > LARGEST) whole = LARGEST;
  if (bytes > SIZE_MAX - header) return 0;
  if (whole < bytes + header) whole = bytes + header;
  struct stack *chunk = make_chunk(stack, whole);
  if (!chunk) {
    whole = bytes + header;
    chunk = make_chunk(stack, whole);
    if (!chunk) return 0;
  }
  *chunk = *stack;
  stack->chunk = chunk;
  stack->next = first_of(chunk);
  stack->end = (char *)chunk + whole;
  stack->dirty = is_fresh(stack, whole) ? stack->next : stack->end;
  return 1;
}

static void *push(struct stack *stack, size_t bytes, int zeroed) {
  if (bytes < SMALL) return zeroed ? calloc(1, bytes ? bytes : 1) : malloc(bytes ? bytes : 1);
  if (bytes > SIZE_MAX - ALIGNMENT) return 0;
  size_t room = (bytes + ALIGNMENT - 1) & -(size_t)ALIGNMENT;
  if ((size_t)(stack->end - stack->next) < room && !grow(stack, room)) return 0;
  char *memory = stack->next;
  stack->next += room;
  if (zeroed && stack->dirty > memory) {
    size_t used = (size_t)(stack->dirty - memory);
    memset(memory, 0, used < bytes ? used : bytes);
  }
  return memory;
}

static void pop(struct stack *stack, char *memory) {
  struct stack *chunk = stack->chunk;
  if (!chunk || memory < (char *)chunk || memory >= stack->end) {
    free(memory);
    return;
  }
  size_t whole = (size_t)(stack->end - (char *)chunk);
  int fresh = is_fresh(stack, whole);
  if (memory == first_of(chunk)) {
    *stack = *chunk;
    if (fresh)
      release((struct block *)chunk - 1);
    else
      __zymase_give(chunk);
    return;
  }
  if (stack->next > stack->dirty) stack->dirty = stack->next;
  stack->next = memory;
  if (fresh && (size_t)(stack->dirty - memory) > SLACK) {
    char *zero = forget(memory, stack->dirty);
    if (zero) stack->dirty = zero;
  }
}

// Memory full of zeros for a shadow, or null.
__attribute__((noinline)) void *__zymase_push_shadow(size_t bytes) {
  return push(&__zymase_shadows, bytes, 1);
}

// Frees the shadow that was made last.
__attribute__((noinline)) void __zymase_pop_shadow(void *memory) { pop(&__zymase_shadows, memory); }

// Memory that the program asked for and that is kept, or null.
__attribute__((noinline)) void *__zymase_push_copy(size_t bytes) {
  return push(&__zymase_copies, bytes, 0);
}

// The same, full of zeros.
__attribute__((noinline)) void *__zymase_push_zeroed_copy(size_t bytes) {
  return push(&__zymase_copies, bytes, 1);
}

// Frees the memory that was kept last.
__attribute__((noinline)) void __zymase_pop_copy(void *memory) { pop(&__zymase_copies, memory); }
