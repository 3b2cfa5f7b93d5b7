// Compares derivatives while a program runs: linked to programs that `zymase check` builds.
//
// At a request the compiler calls `__zymase_check` with four functions (see core's compare.rs): the
// function itself, its recording, forward and reverse derivative. Each of them is run in a child
// process, so that whatever it does to memory and to open files is gone afterwards.
//
// The recording derivative tells which numbers in memory have derivatives, and where their shadows
// are. These, the numbers among the arguments and the result are the *cells*. Let S be the map from
// the cells before a call to those after it, W the adjoints in the shadows before a reverse call,
// and G those after it. Then <W, S'v> = <G, v> for every direction v: S'v comes from forward mode
// with v in the shadows, and from finite differences, which need no derivative at all. For a forward
// call the tangents v are given, and <w, S'v> = <G(w), v> for every w. This holds for memory that is
// updated in place, shared by arguments, or not touched.
//
// A direction is random at first. If the three disagree along it, halves of it are tried until one
// component is left.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Formats of floats, as the compiler numbers them.
enum { POINTER = 0, SINGLE = 3, DOUBLE = 4, EXTENDED = 5 };

// What is known of a cell.
enum {
  WRITTEN = 1,  // the call writes it
  GONE = 2,     // the call frees it
  VALUE = 4,    // an argument: it exists before the call only
  RESULT = 8,   // the result: it exists after the call only
  REPEATED = 16 // another cell has the same shadow
};

typedef struct {
  char *primal, *shadow;
  const char *place; // where it is accessed first
  uint32_t kind, flags;
} cell;

typedef int run(void *block);

// A request, as the compiler describes it.
typedef struct {
  const char *place, *target, *rules;
  int reverse, width, coarsest; // reverse: 1, or 2 if the adjoints are not known yet
  const char *fields;
} request;

// What is known of one request over all its calls.
typedef struct history {
  struct history *next;
  const char *description;
  uint64_t calls, compared, wrong;
  uint64_t undiffered; // compared without finite differences
  const char *unchecked, *undiffered_why;
} history;

static history *histories;
static uint64_t seed = 1, call_limit, badly_conditioned;
static double largest_difference;
static int in_child;
static char lock;

static double magnitude(double x) { return x < 0 ? -x : x; }
static double larger(double x, double y) { return x > y ? x : y; }
static int is_number(double x) { return x - x == 0; }

static void *get_memory(size_t bytes) {
  void *memory = calloc(1, bytes ? bytes : 1);
  if (!memory) {
    fprintf(stderr, "zymase check: out of memory\n");
    _exit(1);
  }
  return memory;
}

// A number between 1/2 and 1 in magnitude that depends on the seed and where it is used.
static double random_weight(uint64_t stream, uint64_t position) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + stream * 0xD1B54A32D192ED03u + position;
  for (int i = 0; i < 3; i++) {
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 27;
  }
  double size = 0.5 + (double)(x >> 12) * 0x1p-53;
  return x & 1 ? size : -size;
}

static size_t bytes_of(uint32_t kind) {
  switch (kind) {
  case POINTER:
  case DOUBLE: return 8;
  case SINGLE: return 4;
  case EXTENDED: return 10;
  default: return 0;
  }
}

static double epsilon_of(uint32_t kind) { return kind <= SINGLE ? 0x1p-23 : 0x1p-52; }

static double get(const char *at, uint32_t kind) {
  float single;
  double number;
  long double extended;
  switch (kind) {
  case SINGLE: memcpy(&single, at, 4); return single;
  case EXTENDED: memcpy(&extended, at, 10); return (double)extended;
  default: memcpy(&number, at, 8); return number;
  }
}

static void put(char *at, uint32_t kind, double value) {
  float single = (float)value;
  long double extended = value;
  switch (kind) {
  case SINGLE: memcpy(at, &single, 4); break;
  case EXTENDED: memcpy(at, &extended, 10); break;
  default: memcpy(at, &value, 8); break;
  }
}
