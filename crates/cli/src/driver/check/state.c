// The cells of a call, and which of them belong together.

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

static const char untyped_bytes[] = "their type is not known", disputed_bytes[] = "they are used as different types";

// Notes that bytes are not compared.
static void omit(comparison *c, const char *whose, const char *used, const char *why, size_t bytes) {
  omission **place = &c->history->omissions;
  while (*place && (strcmp((*place)->whose, whose) || (*place)->why != why)) place = &(*place)->next;
  if (!*place) {
    *place = get_memory(sizeof(omission));
    **place = (omission){0, strdup(whose), used, why, 0, 0};
  }
  (*place)->in_this_call += bytes;
  if ((*place)->in_this_call > (*place)->bytes) (*place)->bytes = (*place)->in_this_call;
}

// Notes that cells, which are sorted, are not compared. A byte that is in several counts once.
static void leave_out(comparison *c, const cell *cells, size_t count, const char *why) {
  const char *end = 0;
  for (size_t i = 0; i < count; i++) {
    char holder[NAME], whose[NAME] = "of memory";
    size_t offset;
    const char *from = cells[i].primal > end ? cells[i].primal : end;
    const char *own_end = cells[i].primal + bytes_of(cells[i].kind);
    if (own_end <= from) continue;
    end = own_end;
    if (find_holder(c, &cells[i], DEEP, holder, &offset)) snprintf(whose, NAME, "behind %.240s", holder);
    omit(c, whose, cells[i].place, why, (size_t)(end - from));
  }
}

// Takes out the bytes of unknown type; gives those that are not part of a number or pointer.
static size_t take_untyped(cell *cells, size_t *count, cell *untyped) {
  size_t kept = 0, found = 0, open = 0;
  for (size_t i = 0; i < *count; i++)
    if (cells[i].kind == UNTYPED) untyped[found++] = cells[i];
    else cells[kept++] = cells[i];
  *count = kept;
  char *end = 0;
  for (size_t i = 0, k = 0; i < found; i++) {
    for (; k < kept && cells[k].primal <= untyped[i].primal; k++)
      if (cells[k].primal + bytes_of(cells[k].kind) > end) end = cells[k].primal + bytes_of(cells[k].kind);
    if (untyped[i].primal >= end) untyped[open++] = untyped[i];
  }
  return open;
}

// Leaves out pointers, and numbers that overlap something else.
static size_t keep_numbers(comparison *c, cell *cells, size_t count, cell *disputed, size_t *disputes) {
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
      else if (overlaps || cells[i].kind == DISPUTED) disputed[(*disputes)++] = cells[i];
      else cells[kept++] = cells[i];
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

// Numbers in memory, among what the recording derivative told of.
static size_t sort_out(comparison *c, cell *noted, size_t count) {
  cell *untyped = get_memory(count * sizeof(cell)), *disputed = get_memory(count * sizeof(cell));
  qsort(noted, count, sizeof(cell), by_primal);
  c->pointers = get_memory(count * sizeof(cell));
  size_t open = take_untyped(noted, &count, untyped), disputes = 0;
  size_t kept = keep_numbers(c, noted, count, disputed, &disputes);
  leave_out(c, untyped, open, untyped_bytes);
  leave_out(c, disputed, disputes, disputed_bytes);
  free(untyped), free(disputed);
  return kept;
}

static void give_up(comparison *c, const char *format, const char *name) {
  char text[NAME];
  snprintf(text, sizeof text, format, name);
  if (!c->history->unchecked) c->history->unchecked = strdup(text);
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
    give_up(c, unseen == wide_floats ? "%s" : "the memory that `%s` touches is not known", unseen);
    free(reply.bytes);
    return 0;
  }
  for (omission *o = c->history->omissions; o; o = o->next) o->in_this_call = 0;
  c->cells = get_memory((told + scalars) * sizeof(cell));
  for (const char *line = c->request->fields; *line; line = strchr(line, '\n') + 1) {
    char kind, word[128];
    unsigned format;
    unsigned long primal, shadow, lane;
    if (sscanf(line, "%c %u %lu %lu %lu %127s", &kind, &format, &primal, &shadow, &lane, word) != 6 || kind == 'p')
      continue;
    if (format == UNTYPED) {
      char whose[NAME];
      snprintf(whose, NAME, "of %s", word);
      omit(c, whose, "", untyped_bytes, 1);
      continue;
    }
    if (!bytes_of(format)) {
      give_up(c, "%s", wide_floats);
      free(reply.bytes);
      return 0;
    }
    shadow += (unsigned long)c->lane * lane;
    c->cells[c->count++] = (cell){c->block + primal, c->block + shadow, "", format, kind == 'r' ? RESULT | WRITTEN : VALUE};
  }
  if (pointers && reply.length > sizeof unseen) {
    told = (reply.length - sizeof unseen) / sizeof(cell);
    cell *noted = c->cells + c->count;
    memcpy(noted, reply.bytes + sizeof unseen, told * sizeof(cell));
    c->count += sort_out(c, noted, told);
  }
  // What is put into memory is rounded to what is there, whatever the function computes with.
  for (size_t i = 0; i < c->count; i++) c->coarse = larger(c->coarse, epsilon_of(c->cells[i].kind));
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
