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

// Formats of floats, and what else there may be, as the compiler numbers it.
enum {
  POINTER = 0,
  HALF = 1,
  BRAIN = 2, // bfloat
  SINGLE = 3,
  DOUBLE = 4,
  EXTENDED = 5,
  DISPUTED = 253, // a byte that is used as different things
  UNTYPED = 254,  // a byte of which nothing is known
  CLEARED = 255   // bytes that are set to the same whatever the arguments are
};

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

// What was not compared: how many bytes of what, in the call with the most of them.
typedef struct omission {
  struct omission *next;
  const char *whose, *used, *why;
  uint64_t bytes, in_this_call;
} omission;

// What is known of one request over all its calls.
typedef struct history {
  struct history *next;
  const char *description;
  uint64_t calls, compared, wrong;
  uint64_t undiffered; // compared without finite differences
  uint64_t unreached;  // components that a search did not get to
  omission *omissions;
  const char *unchecked, *undiffered_why;
} history;

static history *histories;
static uint64_t seed = 1, call_limit, badly_conditioned;
static double largest_difference;
static const char *result_path;
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
  case HALF:
  case BRAIN: return 2;
  case DISPUTED:
  case UNTYPED: return 1;
  default: return 0;
  }
}

static double epsilon_of(uint32_t kind) {
  switch (kind) {
  case HALF: return 0x1p-10;
  case BRAIN: return 0x1p-7;
  case SINGLE: return 0x1p-23;
  default: return 0x1p-52;
  }
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

static float with_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

// Numbers of 16 bits. Not every compiler knows them, so it is done by hand.
static float from_half(uint32_t bits) {
  uint32_t sign = bits >> 15 << 31, exponent = bits >> 10 & 31, digits = bits & 1023;
  if (exponent == 0) return (sign ? -0x1p-24f : 0x1p-24f) * (float)digits;
  return with_bits(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | digits << 13);
}

static uint16_t to_half(float value) {
  uint32_t bits = bits_of(value), sign = bits >> 31 << 15, size = bits & 0x7fffffff;
  if (size > bits_of(1 / 0.0f)) return (uint16_t)(sign | 0x7e00);
  if (size >= bits_of(65520)) return (uint16_t)(sign | 0x7c00);
  // The digits of a half that is not normal are the last ones of a float between 1/2 and 1.
  if (size < bits_of(0x1p-14f)) return (uint16_t)(sign | (bits_of(with_bits(size) + 0.5f) - bits_of(0.5f)));
  return (uint16_t)(sign | (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13);
}

static uint16_t to_brain(float value) {
  uint32_t bits = bits_of(value);
  return (uint16_t)(value != value ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static double get(const char *at, uint32_t kind) {
  float single;
  double number;
  long double extended;
  uint16_t bits;
  switch (kind) {
  case HALF: memcpy(&bits, at, 2); return from_half(bits);
  case BRAIN: memcpy(&bits, at, 2); return with_bits((uint32_t)bits << 16);
  case SINGLE: memcpy(&single, at, 4); return single;
  case EXTENDED: memcpy(&extended, at, 10); return (double)extended;
  default: memcpy(&number, at, 8); return number;
  }
}

static void put(char *at, uint32_t kind, double value) {
  float single = (float)value;
  long double extended = value;
  uint16_t bits = kind == HALF ? to_half(single) : to_brain(single);
  switch (kind) {
  case HALF:
  case BRAIN: memcpy(at, &bits, 2); break;
  case SINGLE: memcpy(at, &single, 4); break;
  case EXTENDED: memcpy(at, &extended, 10); break;
  default: memcpy(at, &value, 8); break;
  }
}
