// What a recording derivative tells, in a child: the numbers it touches, and the memory it makes
// and frees. See core's shadow/record.rs.

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
  range_set made, freed, cleared;
  const char *unseen;
} notes;

// Said in the place of a function that was not seen.
static const char wide_floats[] = "it uses floats of 128 bits";

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
  found->flags |= flags;
  if (found->kind == UNTYPED) found->kind = kind;
  if (found->kind == kind || kind == UNTYPED || found->kind == DISPUTED) return;
  // Used as different things: as nothing that can be compared.
  size_t size = bytes_of(kind) > bytes_of(found->kind) ? bytes_of(kind) : bytes_of(found->kind);
  found->kind = DISPUTED;
  for (size_t at = 1; at < size; at++) note_cell(primal + at, shadow + at, DISPUTED, flags, place);
}

void __zymase_check_access(char *primal, char *shadow, int64_t bytes, int64_t period, int64_t what,
                           const char *place) {
  // A pointer that is its own shadow has no derivative.
  if (!notes.on || what >> 16 != notes.lane || primal == shadow) return;
  uint32_t kind = what & 255, flags = what & 256 ? WRITTEN : 0;
  int64_t size = (int64_t)bytes_of(kind);
  if (kind == CLEARED) {
    if (bytes > 0) add_range(&notes.cleared, primal, primal + bytes);
    return;
  }
  if (!size) {
    notes.unseen = wide_floats;
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
