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
