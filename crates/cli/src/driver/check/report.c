// What the user is told.

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
    fprintf(stderr, "  finite differences  % .6g, with twice the step % .6g\n", n->difference, n->coarser);
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
  for (history *h = histories; h; h = h->next) {
    int length = (int)strcspn(h->description, "\n");
    if (h->unchecked) fprintf(stderr, "zymase check: %.*s: not compared: %s\n", length, h->description, h->unchecked);
    if (h->undiffered)
      fprintf(stderr, "zymase check: %.*s: no finite differences, %llu time%s: %s\n", length, h->description,
              (unsigned long long)h->undiffered, h->undiffered == 1 ? "" : "s", h->undiffered_why);
  }
  if (calls == 0) {
    fprintf(stderr, "zymase check: no call of a request was compared\n");
    return;
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
