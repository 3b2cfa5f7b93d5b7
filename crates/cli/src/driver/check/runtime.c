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
  const char *unchecked;
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

// ---- cells ----

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

// ---- what a recording derivative tells, in a child ----

typedef struct {
  char *start, *end;
} range;

typedef struct {
  range *ranges;
  size_t count, room;
} range_set;

static struct {
  int on;
  int64_t lane;
  cell *table; // open addressing, as many as a power of two
  size_t count, room;
  range_set made, freed;
  const char *unseen;
} notes;

// The first range that ends after an address.
static size_t range_after(const range_set *set, const char *at) {
  size_t low = 0, high = set->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (set->ranges[middle].end > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

static int is_in(const range_set *set, const char *at) {
  size_t i = range_after(set, at);
  return i < set->count && set->ranges[i].start <= at;
}

static void add_range(range_set *set, char *start, char *end) {
  size_t first = range_after(set, start), last = first;
  while (last < set->count && set->ranges[last].start <= end) {
    if (set->ranges[last].start < start) start = set->ranges[last].start;
    if (set->ranges[last].end > end) end = set->ranges[last].end;
    last++;
  }
  if (set->count == set->room) {
    set->room = set->room ? 2 * set->room : 64;
    set->ranges = realloc(set->ranges, set->room * sizeof(range));
    if (!set->ranges) _exit(1);
  }
  memmove(set->ranges + first + 1, set->ranges + last, (set->count - last) * sizeof(range));
  set->ranges[first] = (range){start, end};
  set->count -= last - first;
  set->count++;
}

static cell *find_cell(char *primal, char *shadow) {
  uint64_t hash = ((uintptr_t)primal * 0x9E3779B97F4A7C15u) ^ ((uintptr_t)shadow * 0xD1B54A32D192ED03u);
  size_t i = (hash >> 20) & (notes.room - 1);
  while (notes.table[i].primal && (notes.table[i].primal != primal || notes.table[i].shadow != shadow))
    i = (i + 1) & (notes.room - 1);
  return &notes.table[i];
}

static void note_cell(char *primal, char *shadow, uint32_t kind, uint32_t flags, const char *place) {
  if (is_in(&notes.made, primal) || is_in(&notes.made, shadow)) return;
  if (2 * (notes.count + 1) > notes.room) {
    cell *old = notes.table;
    size_t room = notes.room;
    notes.room = room ? 2 * room : 1024;
    notes.table = get_memory(notes.room * sizeof(cell));
    for (size_t i = 0; i < room; i++)
      if (old[i].primal) *find_cell(old[i].primal, old[i].shadow) = old[i];
    free(old);
  }
  cell *found = find_cell(primal, shadow);
  if (!found->primal) {
    *found = (cell){primal, shadow, place, kind, flags};
    notes.count++;
  }
  // Used as different things: as nothing that can be compared.
  if (found->kind != kind) found->kind = POINTER;
  found->flags |= flags;
}

void __zymase_check_access(char *primal, char *shadow, int64_t bytes, int64_t period, int64_t what,
                           const char *place) {
  // A pointer that is its own shadow has no derivative.
  if (!notes.on || what >> 16 != notes.lane || primal == shadow) return;
  uint32_t kind = what & 255, flags = what & 256 ? WRITTEN : 0;
  int64_t size = (int64_t)bytes_of(kind);
  if (!size) {
    notes.unseen = "a float that is not single, double or extended";
    return;
  }
  for (int64_t at = 0; at + size <= bytes; at += period > 0 ? period : bytes)
    note_cell(primal + at, shadow + at, kind, flags, place);
}

void __zymase_check_made(char *memory, int64_t bytes) {
  if (notes.on && memory && bytes > 0) add_range(&notes.made, memory, memory + bytes);
}

void __zymase_check_freed(char *memory) {
  if (!notes.on || !memory || is_in(&notes.made, memory)) return;
  add_range(&notes.freed, memory, memory + malloc_usable_size(memory));
}

void __zymase_check_unseen(const char *name) {
  if (notes.on) notes.unseen = name;
}

// ---- children ----

// What a child does; it writes its reply to a file.
typedef struct task {
  void (*work)(const struct task *, int file);
  run *function;
  char *block;
  const cell *cells;
  size_t count;
  const double *numbers; // for each cell, what is put into its shadow, or how far it is moved
  double step;
  int64_t lane;
} task;

typedef struct {
  char *bytes;
  size_t length;
  int signal; // what it died of
} reply;

// Arguments may be constants, which lie in memory that cannot be written.
static void make_writable(int number, siginfo_t *info, void *context) {
  (void)context;
  uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
  if (mprotect((void *)page, 1, PROT_READ | PROT_WRITE)) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

static void watch_writes(int on) {
  struct sigaction action = {0};
  action.sa_sigaction = make_writable;
  action.sa_flags = SA_SIGINFO;
  if (!on) action.sa_handler = SIG_DFL, action.sa_flags = 0;
  sigaction(SIGSEGV, &action, 0);
}

static void write_all(int file, const void *bytes, size_t length) {
  for (const char *at = bytes; length > 0;) {
    ssize_t written = write(file, at, length);
    if (written <= 0) _exit(1);
    at += written;
    length -= (size_t)written;
  }
}

// How long a file may be that is written in a child.
enum { LONG_FILE = 64 << 20 };

// Puts a copy of its own in the place of a file that is open for writing.
static int copy_file(int file, off_t length) {
  int copy = memfd_create("copy", 0), source = open("/dev/null", O_RDONLY);
  char path[64], bytes[4096];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (length <= LONG_FILE) close(source), source = open(path, O_RDONLY);
  for (ssize_t got; copy >= 0 && (got = read(source, bytes, sizeof bytes)) > 0;) write_all(copy, bytes, (size_t)got);
  close(source);
  return copy;
}

// Lets open files be read and written without any trace: files that are read are opened anew, so that
// they have a position of their own, files that are written are copied, and for anything else there
// is nothing to read, and what is written is lost.
static void leave_files_alone(int reply) {
  DIR *folder = opendir("/proc/self/fd");
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    int file = atoi(entry->d_name), mode = fcntl(file, F_GETFL), other;
    struct stat about;
    if (*entry->d_name == '.' || file == reply || file == dirfd(folder) || fstat(file, &about)) continue;
    off_t position = lseek(file, 0, SEEK_CUR);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (!S_ISREG(about.st_mode)) other = open("/dev/null", O_RDWR);
    else if ((mode & O_ACCMODE) == O_RDONLY) other = open(path, O_RDONLY);
    else other = copy_file(file, about.st_size);
    if (S_ISDIR(about.st_mode) || other < 0) continue;
    lseek(other, position, SEEK_SET);
    dup2(other, file);
    close(other);
  }
  closedir(folder);
}

static reply in_a_child(const task *task) {
  reply reply = {0};
  int ends[2], status = 0;
  if (pipe(ends)) return reply;
  pid_t child = fork();
  if (child == 0) {
    in_child = 1;
    close(ends[0]);
    leave_files_alone(ends[1]);
    int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM, SIGTERM};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(600);
    task->work(task, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return reply;
  }
  size_t room = 0;
  for (;;) {
    if (reply.length == room) {
      room = room ? 2 * room : 4096;
      reply.bytes = realloc(reply.bytes, room);
      if (!reply.bytes) _exit(1);
    }
    ssize_t got = read(ends[0], reply.bytes + reply.length, room - reply.length);
    if (got <= 0) break;
    reply.length += (size_t)got;
  }
  close(ends[0]);
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) reply.signal = WTERMSIG(status);
  return reply;
}

// Runs the recording derivative; replies with the name of what was not seen, and the cells.
static void record(const task *task, int file) {
  notes.on = 1;
  notes.lane = task->lane;
  int missing = task->function(task->block);
  notes.on = 0;
  const char *unseen = missing ? "its forward derivative" : notes.unseen;
  write_all(file, &unseen, sizeof unseen);
  for (size_t i = 0; i < notes.room; i++) {
    cell *cell = &notes.table[i];
    if (!cell->primal) continue;
    if (is_in(&notes.freed, cell->primal)) cell->flags |= GONE;
    write_all(file, cell, sizeof *cell);
  }
}

static int reads_nothing_after(const cell *cell) { return cell->flags & (VALUE | GONE); }

// Runs a derivative with numbers in the shadows; replies with what is there afterwards. What is
// freed has no tangent afterwards, but its adjoint is in its shadow.
static void derive(const task *task, int file) {
  double *after = get_memory(task->count * sizeof(double));
  for (size_t i = 0; i < task->count; i++)
    put(task->cells[i].shadow, task->cells[i].kind, task->numbers[i]);
  if (task->function(task->block)) return;
  int reverse = task->step != 0;
  for (size_t i = 0; i < task->count; i++) {
    const cell *cell = &task->cells[i];
    int none = reverse ? cell->flags & RESULT : reads_nothing_after(cell);
    after[i] = none ? 0 : get(cell->shadow, cell->kind);
  }
  write_all(file, after, task->count * sizeof(double));
}

// Runs the function itself somewhere along a direction; replies with the cells afterwards.
static void move_and_run(const task *task, int file) {
  double *after = get_memory(task->count * sizeof(double));
  for (size_t i = 0; i < task->count; i++) after[i] = get(task->cells[i].primal, task->cells[i].kind);
  watch_writes(1);
  for (size_t i = 0; i < task->count; i++) {
    const cell *cell = &task->cells[i];
    double moved = after[i] + task->step * task->numbers[i];
    if (!(cell->flags & RESULT) && task->step * task->numbers[i] != 0)
      put(cell->primal, cell->kind, moved);
  }
  watch_writes(0);
  if (task->function(task->block)) return;
  for (size_t i = 0; i < task->count; i++) {
    const cell *cell = &task->cells[i];
    after[i] = reads_nothing_after(cell) ? 0 : get(cell->primal, cell->kind);
  }
  write_all(file, after, task->count * sizeof(double));
}

// ---- comparing ----

typedef struct {
  const request *request;
  history *history;
  char *block;
  run *primal, *forward, *reverse;
  int64_t lane;
  cell *cells;
  size_t count;
  cell *pointers;     // with shadows, by which names of cells are found
  size_t pointer_count;
  size_t *component;  // of each cell: cells with one primal or one shadow move together
  size_t *first;      // of each component, its first cell
  size_t components;
  double *given;      // W of a reverse call, v of a forward call
  double *derived;    // G of a reverse call, S'v of a forward call
  double *base;       // the cells after the call
  double *differences[2], *left, *right; // S'v of a forward call, with two steps and from each side
  double step;        // of these
  double coarse;      // the relative error of the format with the fewest digits
  int differ;         // whether there are finite differences
  const char *died;   // what killed a child
} comparison;

static double *run_child(comparison *c, const task *task) {
  reply reply = in_a_child(task);
  if (reply.signal) c->died = strsignal(reply.signal);
  if (reply.length == c->count * sizeof(double)) return (double *)(void *)reply.bytes;
  free(reply.bytes);
  return 0;
}

static double *run_derivative(comparison *c, run *function, const double *numbers) {
  task task = {derive, function, c->block, c->cells, c->count, numbers, function == c->reverse, c->lane};
  return run_child(c, &task);
}

static double *run_moved(comparison *c, const double *direction, double step) {
  task task = {move_and_run, c->primal, c->block, c->cells, c->count, direction, step, c->lane};
  return run_child(c, &task);
}

static double dot(const comparison *c, const double *x, const double *y, double *size) {
  double sum = 0;
  for (size_t i = 0; i < c->count; i++) {
    if (c->cells[i].flags & REPEATED || x[i] == 0 || y[i] == 0) continue;
    sum += x[i] * y[i];
    *size += magnitude(x[i] * y[i]);
  }
  return sum;
}

// The derivative of one number along one direction, in every way.
typedef struct {
  double reverse, forward, difference, coarser; // with half a step and with a whole one
  double left, right;                           // from each side
  double size, noise; // how large the terms of the sum are, and what rounding does to differences
  double tiny, unresolved; // what rounding may do to derivatives whose terms cancel each other
  int has_forward, has_reverse, has_difference;
} numbers;

static double *differences(const comparison *c, const double *plus, const double *minus, double step) {
  double *slopes = get_memory(c->count * sizeof(double));
  for (size_t i = 0; i < c->count; i++) slopes[i] = (plus[i] - minus[i]) / step;
  return slopes;
}

// Finite differences along a direction: with a whole step, half a step, and from each side.
static int differ(comparison *c, const double *direction, double step, double *slopes[4]) {
  double *plus[2] = {0}, *minus[2] = {0};
  int done = c->base != 0;
  for (int i = 0; i < 2; i++) {
    plus[i] = done ? run_moved(c, direction, step / (1 << i)) : 0;
    minus[i] = plus[i] ? run_moved(c, direction, -step / (1 << i)) : 0;
    done = done && plus[i] && minus[i];
  }
  if (done) {
    slopes[0] = differences(c, plus[0], minus[0], 2 * step);
    slopes[1] = differences(c, plus[1], minus[1], step);
    slopes[2] = differences(c, plus[1], c->base, step / 2);
    slopes[3] = differences(c, c->base, minus[1], step / 2);
  }
  for (int i = 0; i < 2; i++) free(plus[i]), free(minus[i]);
  return done;
}

// The relative step that makes the error of central differences small.
static double relative_step(const comparison *c) { return c->coarse > 1e-10 ? 0x1p-8 : 0x1p-17; }

// What rounding may do. Derivatives are wrong by as much as if the results had a relative error, and
// moved as the arguments do. On the way, numbers may be as large as the arguments: what is lost then
// is not resolved.
static void estimate_rounding(const comparison *c, const double *weights, const double *direction, double step,
                              numbers *n) {
  double results = 0, weighted = 0, moved = 0, arguments = 0;
  size_t count = 0;
  for (size_t i = 0; i < c->count && c->base; i++) {
    const cell *cell = &c->cells[i];
    if (weights[i] != 0) results += magnitude(weights[i] * c->base[i]), weighted += magnitude(weights[i]);
    if (cell->flags & RESULT || direction[i] == 0) continue;
    moved += magnitude(direction[i]);
    arguments += magnitude(get(cell->primal, cell->kind));
    count++;
  }
  double relative = arguments > 0 ? moved / arguments : 1, typical = count ? arguments / (double)count : 1;
  n->tiny = 16 * c->coarse * results * relative;
  n->unresolved = n->tiny + 16 * c->coarse * weighted * typical * relative;
  if (n->has_difference) {
    n->noise = c->coarse * results / step;
    n->unresolved += 10 * c->coarse * weighted * typical / step;
  }
}

// Compares along `probe`: for a reverse call a direction in which arguments move, for a forward
// call a weighting of what is there afterwards.
static numbers compare(comparison *c, const double *probe, int with_differences) {
  numbers n = {0};
  double *other, *slopes[4] = {0};
  with_differences = with_differences && c->differ;
  if (c->request->reverse) {
    n.has_reverse = 1;
    n.reverse = dot(c, c->derived, probe, &n.size);
    other = run_derivative(c, c->forward, probe);
    n.has_forward = other != 0;
    double size = 0;
    if (other) n.forward = dot(c, c->given, other, &size);
    if (with_differences && differ(c, probe, relative_step(c), slopes)) {
      n.has_difference = 1;
      n.coarser = dot(c, c->given, slopes[0], &size);
      n.difference = dot(c, c->given, slopes[1], &size);
      n.right = dot(c, c->given, slopes[2], &size);
      n.left = dot(c, c->given, slopes[3], &size);
      size /= 5;
    }
    n.size = larger(n.size, size);
    estimate_rounding(c, c->given, probe, relative_step(c), &n);
    for (int i = 0; i < 4; i++) free(slopes[i]);
  } else {
    n.has_forward = 1;
    n.forward = dot(c, c->derived, probe, &n.size);
    other = run_derivative(c, c->reverse, probe);
    n.has_reverse = other != 0;
    double size = 0;
    if (other) n.reverse = dot(c, other, c->given, &size);
    if (with_differences) {
      n.has_difference = 1;
      n.coarser = dot(c, c->differences[0], probe, &size);
      n.difference = dot(c, c->differences[1], probe, &size);
      n.right = dot(c, c->right, probe, &size);
      n.left = dot(c, c->left, probe, &size);
      size /= 5;
    }
    n.size = larger(n.size, size);
    estimate_rounding(c, probe, c->given, c->step, &n);
  }
  free(other);
  return n;
}

enum { SAME, OTHER, UNKNOWN };

// Whether two derivatives agree, given what rounding may do.
static int modes_agree(const comparison *c, const numbers *n) {
  if (!n->has_forward || !n->has_reverse) return SAME;
  if (!is_number(n->forward) && !is_number(n->reverse)) return UNKNOWN;
  double tolerance = c->coarse > 1e-10 ? 2e-3 : 1e-7, distance = magnitude(n->forward - n->reverse);
  if (distance <= tolerance * n->size + n->tiny) return SAME;
  return distance <= n->unresolved ? UNKNOWN : OTHER;
}

// Whether a derivative agrees with finite differences, or whether these say nothing: because their
// own error is large, or because the function has a kink here and the derivative is between its
// two slopes.
static int agrees_with_differences(const comparison *c, const numbers *n, double derivative) {
  double error = magnitude(n->difference - n->coarser);
  if (!is_number(n->difference) || !is_number(n->coarser)) return UNKNOWN;
  double base = c->coarse > 1e-10 ? 1e-2 : 1e-5;
  double tolerance = larger(base * n->size + n->tiny, larger(10 * error, 10 * n->noise));
  if (magnitude(derivative - n->difference) <= tolerance) return SAME;
  if (magnitude(derivative - n->difference) <= n->unresolved) return UNKNOWN;
  if (error > 0.01 * n->size || n->noise > 0.01 * n->size) return UNKNOWN;
  double low = n->left < n->right ? n->left : n->right, high = larger(n->left, n->right);
  int kink = high - low > 1e-3 * n->size;
  if (kink && derivative >= low - tolerance && derivative <= high + tolerance) return UNKNOWN;
  return OTHER;
}

static int differences_agree(const comparison *c, const numbers *n) {
  if (!n->has_difference) return SAME;
  int reverse = n->has_reverse ? agrees_with_differences(c, n, n->reverse) : SAME;
  int forward = n->has_forward ? agrees_with_differences(c, n, n->forward) : SAME;
  return reverse == OTHER || forward == OTHER ? OTHER : reverse == UNKNOWN ? reverse : forward;
}

// ---- reporting ----

// Whether a cell is behind a pointer: it and its shadow are equally far from the pointer and its
// shadow. The pointer that is closest counts.
static int is_behind(const cell *cell, char *start, char *shadow, char **closest) {
  if (cell->primal < start || cell->primal - start != cell->shadow - shadow || start < *closest) return 0;
  *closest = start;
  return 1;
}

// How often a name may lead on through a pointer.
enum { DEEP = 4 };

// Names a cell by the argument that it is behind, or by the pointer in memory that it is behind.
static void name_cell(const comparison *c, const cell *cell, int deep, char *name, size_t room) {
  char kind, word[128], *best = 0;
  unsigned format;
  unsigned long primal, shadow, lane;
  size_t size = cell->kind == POINTER ? 1 : bytes_of(cell->kind);
  snprintf(name, room, "memory");
  for (size_t i = 0; i < c->pointer_count && deep > 0; i++) {
    char *start, *other;
    memcpy(&start, c->pointers[i].primal, sizeof start);
    memcpy(&other, c->pointers[i].shadow, sizeof other);
    // What is far away from a pointer is behind another one that the call itself has put there.
    if (cell->primal - start > 1 << 30 || !is_behind(cell, start, other, &best)) continue;
    char holder[128];
    name_cell(c, &c->pointers[i], deep - 1, holder, sizeof holder);
    snprintf(name, room, "(*%s)[%zu]", holder, (size_t)(cell->primal - start) / size);
  }
  for (const char *line = c->request->fields; *line; line = strchr(line, '\n') + 1) {
    if (sscanf(line, "%c %u %lu %lu %lu %127s", &kind, &format, &primal, &shadow, &lane, word) != 6) break;
    shadow += (unsigned long)c->lane * lane;
    if (kind != 'p') {
      if (c->block + primal == cell->primal) snprintf(name, room, "%s", kind == 'r' ? "the result" : word);
      continue;
    }
    char *start = *(char **)(void *)(c->block + primal), *other = *(char **)(void *)(c->block + shadow);
    if (!is_behind(cell, start, other, &best)) continue;
    size_t offset = (size_t)(cell->primal - start);
    if (cell->kind == POINTER) snprintf(name, room, "(%s + %zu bytes)", word, offset);
    else if (offset % size == 0) snprintf(name, room, "%s[%zu]", word, offset / size);
    else snprintf(name, room, "%s + %zu bytes", word, offset);
  }
}

static int near(double x, double y, double size) { return magnitude(x - y) <= 1e-2 * size; }

static void print_difference(comparison *c, size_t component, const numbers *n) {
  const request *r = c->request;
  const cell *cell = &c->cells[c->first[component]];
  char name[256], lane[64] = "";
  name_cell(c, cell, DEEP, name, sizeof name);
  if (r->width > 1) snprintf(lane, sizeof lane, ", derivative %d of %d", (int)c->lane + 1, r->width);
  const char *mode = r->reverse ? "reverse" : "forward";
  fprintf(stderr, "zymase check: %s: the %s derivative of `%s` disagrees at call %llu%s\n", r->place, mode,
          r->target, (unsigned long long)c->history->calls, lane);
  fprintf(stderr, "  %s %s", r->reverse ? "with respect to" : "tangent of", name);
  if (cell->place && *cell->place) fprintf(stderr, ", used at %s", cell->place);
  fprintf(stderr, "\n");
  if (n->has_reverse) fprintf(stderr, "  reverse mode        % .9g\n", n->reverse);
  if (n->has_forward) fprintf(stderr, "  forward mode        % .9g\n", n->forward);
  if (n->has_difference)
    fprintf(stderr, "  finite differences  % .9g, with twice the step % .9g\n", n->difference, n->coarser);
  double size = n->size;
  int modes = n->has_reverse && n->has_forward;
  int reverse = n->has_reverse && n->has_difference && near(n->reverse, n->difference, size);
  int forward = n->has_forward && n->has_difference && near(n->forward, n->difference, size);
  if (modes && reverse && !forward) fprintf(stderr, "  forward mode is wrong\n");
  else if (modes && forward && !reverse) fprintf(stderr, "  reverse mode is wrong\n");
  else if (modes && near(n->reverse, n->forward, size))
    fprintf(stderr, "  both modes are wrong, or the function is not differentiable here\n");
  else if (!modes && n->has_difference) fprintf(stderr, "  the %s derivative is wrong\n", mode);
  else fprintf(stderr, "  no two agree\n");
  if (*r->rules) fprintf(stderr, "  derivatives of your own on the way: %s\n", r->rules);
}

static void print_summary(void) {
  uint64_t calls = 0, requests = 0, wrong = 0;
  for (history *h = histories; h; h = h->next) {
    calls += h->compared;
    requests += h->compared > 0;
    wrong += h->wrong;
  }
  fflush(stdout);
  for (history *h = histories; h; h = h->next)
    if (h->unchecked) {
      int length = (int)strcspn(h->description, "\n");
      fprintf(stderr, "zymase check: %.*s: not compared: %s\n", length, h->description, h->unchecked);
    }
  fprintf(stderr, "zymase check: %llu call%s of %llu request%s", (unsigned long long)calls, calls == 1 ? "" : "s",
          (unsigned long long)requests, requests == 1 ? "" : "s");
  if (wrong) {
    fprintf(stderr, ", %llu disagree%s (seed %llu)\n", (unsigned long long)wrong, wrong == 1 ? "s" : "",
            (unsigned long long)seed);
    fflush(0);
    _exit(1);
  }
  fprintf(stderr, calls == 1 ? " agrees" : " agree");
  fprintf(stderr, " (largest relative difference %.0e, %llu component%s badly conditioned)\n",
          largest_difference, (unsigned long long)badly_conditioned, badly_conditioned == 1 ? "" : "s");
}

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("ZYMASE_CHECK_SEED");
  if (text) seed = strtoull(text, 0, 10);
  text = getenv("ZYMASE_CHECK_CALLS");
  if (text) call_limit = strtoull(text, 0, 10);
  atexit(print_summary);
}

// ---- one call ----

static int by_primal(const void *x, const void *y) {
  const cell *a = x, *b = y;
  if (a->primal != b->primal) return a->primal < b->primal ? -1 : 1;
  return a->shadow < b->shadow ? -1 : a->shadow > b->shadow;
}

static const cell *sorted_cells;
static int by_shadow(const void *x, const void *y) {
  size_t i = *(const size_t *)x, j = *(const size_t *)y;
  const cell *a = &sorted_cells[i], *b = &sorted_cells[j];
  if (a->shadow != b->shadow) return a->shadow < b->shadow ? -1 : 1;
  return i < j ? -1 : i > j;
}

// Leaves out pointers, and numbers that overlap others.
static size_t keep_numbers(comparison *c, cell *cells, size_t count) {
  size_t kept = 0;
  char *end = 0;
  for (size_t i = 0; i < count; i++) {
    size_t next = i + 1;
    while (next < count && cells[next].primal == cells[i].primal && cells[next].kind == cells[i].kind) next++;
    char *own_end = cells[i].primal + bytes_of(cells[i].kind);
    int overlaps = cells[i].primal < end || (next < count && cells[next].primal < own_end);
    if (own_end > end) end = own_end;
    for (; i < next; i++)
      if (cells[i].kind == POINTER) c->pointers[c->pointer_count++] = cells[i];
      else if (!overlaps) cells[kept++] = cells[i];
    i--;
  }
  return kept;
}

static size_t root(size_t *parents, size_t i) {
  while (parents[i] != i) i = parents[i] = parents[parents[i]];
  return i;
}

// Cells with one primal, or one shadow, are one component.
static void find_components(comparison *c) {
  size_t *order = get_memory(c->count * sizeof(size_t)), *parents = get_memory(c->count * sizeof(size_t));
  for (size_t i = 0; i < c->count; i++) order[i] = parents[i] = i;
  for (size_t i = 1; i < c->count; i++)
    if (c->cells[i].primal == c->cells[i - 1].primal) parents[root(parents, i)] = root(parents, i - 1);
  sorted_cells = c->cells;
  qsort(order, c->count, sizeof *order, by_shadow);
  for (size_t k = 1; k < c->count; k++)
    if (c->cells[order[k]].shadow == c->cells[order[k - 1]].shadow) {
      c->cells[order[k]].flags |= REPEATED;
      size_t x = root(parents, order[k]), y = root(parents, order[k - 1]);
      parents[x > y ? x : y] = x > y ? y : x;
    }
  c->component = get_memory(c->count * sizeof(size_t));
  c->first = get_memory(c->count * sizeof(size_t));
  for (size_t i = 0; i < c->count; i++) {
    size_t own = root(parents, i);
    if (own == i) c->first[c->components] = i, c->component[i] = c->components++;
    else c->component[i] = c->component[own];
  }
  free(order);
  free(parents);
}

// Collects cells: numbers among arguments and the result, and what the recording derivative tells.
static int find_cells(comparison *c, run *recording) {
  task task = {record, recording, c->block, 0, 0, 0, 0, c->lane};
  reply reply = in_a_child(&task);
  const char *unseen = 0;
  if (reply.length >= sizeof unseen) memcpy(&unseen, reply.bytes, sizeof unseen);
  if (reply.signal) unseen = strsignal(reply.signal);
  size_t told = reply.length / sizeof(cell), scalars = 0, pointers = 0;
  for (const char *line = c->request->fields; *line; line = strchr(line, '\n') + 1) *line == 'p' ? pointers++ : scalars++;
  if (unseen && pointers) {
    static char text[256];
    snprintf(text, sizeof text, "the memory that `%s` touches is not known", unseen);
    c->history->unchecked = text;
    free(reply.bytes);
    return 0;
  }
  c->cells = get_memory((told + scalars) * sizeof(cell));
  for (const char *line = c->request->fields; *line; line = strchr(line, '\n') + 1) {
    char kind;
    unsigned format;
    unsigned long primal, shadow, lane;
    if (sscanf(line, "%c %u %lu %lu %lu", &kind, &format, &primal, &shadow, &lane) != 5 || kind == 'p') continue;
    if (!bytes_of(format)) continue;
    shadow += (unsigned long)c->lane * lane;
    c->cells[c->count++] = (cell){c->block + primal, c->block + shadow, "", format, kind == 'r' ? RESULT | WRITTEN : VALUE};
  }
  if (pointers && reply.length > sizeof unseen) {
    told = (reply.length - sizeof unseen) / sizeof(cell);
    cell *noted = c->cells + c->count;
    memcpy(noted, reply.bytes + sizeof unseen, told * sizeof(cell));
    qsort(noted, told, sizeof(cell), by_primal);
    c->pointers = get_memory(told * sizeof(cell));
    c->count += keep_numbers(c, noted, told);
  }
  free(reply.bytes);
  return 1;
}

// What the caller gave: adjoints of what is written for a reverse call, tangents for a forward call.
static double *given_numbers(const comparison *c) {
  double *given = get_memory(c->count * sizeof(double));
  for (size_t i = 0; i < c->count; i++) {
    const cell *cell = &c->cells[i];
    if (c->request->reverse) {
      // An input that is not written keeps what is in its shadow; only what is added is compared.
      int none = !(cell->flags & WRITTEN) || reads_nothing_after(cell);
      double adjoint = c->request->reverse == 1 ? get(cell->shadow, cell->kind) : random_weight(0, i);
      given[i] = cell->flags & RESULT ? 1 : none ? 0 : adjoint;
    } else {
      given[i] = cell->flags & RESULT ? 0 : get(cell->shadow, cell->kind);
    }
  }
  return given;
}

// A random probe. In a reverse call each component is weighted so that all count about as much (a
// forward call: of what is written), or, for finite differences, by how large the argument is.
static double *random_probe(comparison *c, int for_differences, uint64_t stream) {
  double *probe = get_memory(c->count * sizeof(double)), *weights = get_memory(c->components * sizeof(double));
  double greatest = 0, typical = 0;
  size_t counted = 0;
  for (size_t i = 0; i < c->count; i++) {
    double x = magnitude(get(c->cells[i].primal, c->cells[i].kind));
    weights[c->component[i]] += for_differences ? x : magnitude(c->derived[i]);
    if (is_number(x) && x > 0) typical += x, counted++;
  }
  typical = counted ? typical / (double)counted : 1;
  for (size_t k = 0; k < c->components; k++)
    if (is_number(weights[k])) greatest = larger(greatest, weights[k]);
  for (size_t k = 0; k < c->components; k++) {
    double w = is_number(weights[k]) ? weights[k] : greatest;
    if (for_differences) w = w > 0 ? w : typical;
    else w = greatest > 0 ? greatest / larger(w, 1e-4 * greatest) : 1;
    weights[k] = w * random_weight(stream, k);
  }
  for (size_t i = 0; i < c->count; i++) {
    const cell *cell = &c->cells[i];
    probe[i] = weights[c->component[i]];
    if (c->request->reverse && cell->flags & RESULT) probe[i] = 0;
    if (!c->request->reverse && (!(cell->flags & WRITTEN) || reads_nothing_after(cell))) probe[i] = 0;
    // The seed of a result in reverse mode is 1.
    if (!c->request->reverse && cell->flags & RESULT) probe[i] = 1;
  }
  free(weights);
  return probe;
}

// How many comparisons the search for a component may take.
enum { SEARCH = 200 };

// The derivative of one component, in every way, to be shown.
static numbers numbers_of(comparison *c, size_t component) {
  double *probe = get_memory(c->count * sizeof(double)), x = 1;
  const cell *first = &c->cells[c->first[component]];
  // An argument moves by a step that fits it.
  if (c->request->reverse) x = magnitude(get(first->primal, first->kind));
  if (x == 0) x = 1;
  for (size_t i = 0; i < c->count; i++)
    if (c->component[i] == component) probe[i] = x;
  numbers n = compare(c, probe, 1);
  n.reverse /= x, n.forward /= x, n.difference /= x, n.coarser /= x, n.size /= x;
  // The result has the seed 1 in reverse mode, whatever else is asked for.
  if (!c->request->reverse && !(first->flags & RESULT)) {
    memset(probe, 0, c->count * sizeof(double));
    numbers seed = compare(c, probe, 0);
    n.reverse -= seed.reverse;
  }
  free(probe);
  return n;
}

// Looks for the first component in a part of a probe that disagrees; gives the number of components
// if there is none.
static size_t search(comparison *c, const double *probe, size_t low, size_t high, int with_differences,
                     int *left, numbers *found) {
  if (--*left < 0) return c->components;
  double *part = get_memory(c->count * sizeof(double));
  int empty = 1;
  for (size_t i = 0; i < c->count; i++) {
    int inside = c->component[i] >= low && c->component[i] < high;
    int seed = !c->request->reverse && c->cells[i].flags & RESULT;
    if (inside || seed) part[i] = probe[i];
    empty = empty && !(inside && probe[i] != 0);
  }
  if (empty) {
    free(part);
    return c->components;
  }
  int single = high - low == 1;
  numbers n = compare(c, part, with_differences);
  int verdict = modes_agree(c, &n);
  if (verdict == SAME && with_differences) verdict = differences_agree(c, &n);
  if (verdict == SAME || (single && verdict == UNKNOWN)) {
    if (verdict == UNKNOWN) badly_conditioned++;
    free(part);
    return c->components;
  }
  if (single) {
    *found = numbers_of(c, low);
    free(part);
    return low;
  }
  free(part);
  size_t middle = low + (high - low) / 2;
  size_t first = search(c, probe, low, middle, with_differences, left, found);
  return first < c->components ? first : search(c, probe, middle, high, with_differences, left, found);
}

// Compares along one probe; says so if something disagrees.
static int compare_along(comparison *c, const double *probe, int with_differences) {
  numbers n = compare(c, probe, with_differences);
  int modes = modes_agree(c, &n), verdict = with_differences ? differences_agree(c, &n) : SAME;
  if (modes == SAME && n.has_forward && n.has_reverse && n.size > 0 && is_number(n.forward))
    largest_difference = larger(largest_difference, magnitude(n.forward - n.reverse) / n.size);
  if (modes == SAME && verdict == SAME) return 1;
  int left = SEARCH;
  numbers found = {0};
  uint64_t before = badly_conditioned;
  size_t component = search(c, probe, 0, c->components, modes == SAME && with_differences, &left, &found);
  if (component < c->components) {
    if (c->history->wrong < 3) print_difference(c, component, &found);
    return 0;
  }
  if (badly_conditioned == before) badly_conditioned++;
  return 1;
}

static int prepare_differences(comparison *c) {
  double *nowhere = get_memory(c->count * sizeof(double)), *slopes[4];
  c->base = run_moved(c, nowhere, 0);
  free(nowhere);
  if (!c->base || c->request->reverse) return c->base != 0;
  // Along the tangents of the caller, by steps that fit the arguments.
  double sizes = 0, tangents = 0;
  for (size_t i = 0; i < c->count; i++) {
    const cell *cell = &c->cells[i];
    if (c->given[i] != c->given[c->first[c->component[i]]]) return 0; // two shadows of one number
    if (c->given[i] == 0) continue;
    sizes += magnitude(get(cell->primal, cell->kind));
    tangents += magnitude(c->given[i]);
  }
  c->step = relative_step(c) * (tangents > 0 ? (sizes > 0 ? sizes : 1) / tangents : 1);
  if (!differ(c, c->given, c->step, slopes)) return 0;
  c->differences[0] = slopes[0], c->differences[1] = slopes[1];
  c->right = slopes[2], c->left = slopes[3];
  return 1;
}

static int compare_call(comparison *c, run *recording) {
  if (!find_cells(c, recording)) return 1;
  find_components(c);
  c->given = given_numbers(c);
  c->derived = run_derivative(c, c->request->reverse ? c->reverse : c->forward, c->given);
  if (!c->derived) {
    c->history->unchecked = c->died ? c->died : "its derivative did not return";
    return 1;
  }
  c->history->compared++;
  c->differ = prepare_differences(c);
  uint64_t stream = 2 * c->history->calls;
  double *probe = random_probe(c, 0, stream);
  int agree = compare_along(c, probe, !c->request->reverse);
  free(probe);
  if (agree && c->request->reverse && c->differ) {
    probe = random_probe(c, 1, stream + 1);
    agree = compare_along(c, probe, 1);
    free(probe);
  }
  return agree;
}

static const char *line_of(const char **text) {
  const char *end = strchr(*text, '\n');
  char *line = get_memory((size_t)(end - *text) + 1);
  memcpy(line, *text, (size_t)(end - *text));
  *text = end + 1;
  return line;
}

static history *history_of(const char *description) {
  history **place = &histories;
  while (*place && (*place)->description != description) place = &(*place)->next;
  if (!*place) {
    *place = get_memory(sizeof(history));
    (*place)->description = description;
  }
  return *place;
}

void __zymase_check(const char *description, char *block, run *primal, run *recording, run *forward, run *reverse) {
  if (in_child) return;
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) sched_yield();
  history *history = history_of(description);
  history->calls++;
  if (!call_limit || history->calls <= call_limit) {
    request request = {0};
    const char *text = description;
    request.place = line_of(&text);
    request.target = line_of(&text);
    request.rules = line_of(&text);
    const char *words = line_of(&text);
    sscanf(words, "%d %d %d", &request.reverse, &request.width, &request.coarsest);
    request.fields = text;
    int agree = 1;
    for (int lane = 0; lane < request.width && agree; lane++) {
      comparison c = {0};
      c.request = &request;
      c.history = history;
      c.block = block;
      c.primal = primal, c.forward = forward, c.reverse = reverse;
      c.lane = lane;
      c.coarse = epsilon_of((uint32_t)request.coarsest);
      agree = compare_call(&c, recording);
      free(c.cells), free(c.pointers), free(c.component), free(c.first), free(c.given), free(c.derived), free(c.base);
      free(c.differences[0]), free(c.differences[1]), free(c.left), free(c.right);
    }
    history->wrong += !agree;
    free((void *)request.place), free((void *)request.target), free((void *)request.rules), free((void *)words);
  }
  __atomic_clear(&lock, __ATOMIC_RELEASE);
}
