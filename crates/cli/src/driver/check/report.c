// What the user is told.

// Whether a cell is behind a pointer: it and its shadow are equally far from the pointer and its
// shadow. The pointer that is closest counts.
static int is_behind(const cell *cell, char *start, char *shadow, char **closest) {
  if (cell->primal < start || cell->primal - start != cell->shadow - shadow || start < *closest) return 0;
  *closest = start;
  return 1;
}

// How often a name may lead on through a pointer, and how long it may be.
enum { DEEP = 4, NAME = 256 };

static void name_cell(const comparison *c, const cell *cell, int deep, char *name);

// Names the argument, or what the pointer in memory leads to, that a cell is behind, and tells how far.
static int find_holder(const comparison *c, const cell *cell, int deep, char *holder, size_t *offset) {
  char kind, word[128], *best = 0, *start, *other;
  unsigned format;
  unsigned long primal, shadow, lane;
  for (size_t i = 0; i < c->pointer_count && deep > 0; i++) {
    memcpy(&start, c->pointers[i].primal, sizeof start);
    memcpy(&other, c->pointers[i].shadow, sizeof other);
    // What is far away from a pointer is behind another one that the call itself has put there.
    if (cell->primal - start > 1 << 30 || !is_behind(cell, start, other, &best)) continue;
    char pointer[NAME];
    name_cell(c, &c->pointers[i], deep - 1, pointer);
    snprintf(holder, NAME, "*%.250s", pointer);
  }
  for (const char *line = c->request->fields; *line; line = strchr(line, '\n') + 1) {
    if (sscanf(line, "%c %u %lu %lu %lu %127s", &kind, &format, &primal, &shadow, &lane, word) != 6) break;
    shadow += (unsigned long)c->lane * lane;
    if (kind != 'p') continue;
    memcpy(&start, c->block + primal, sizeof start);
    memcpy(&other, c->block + shadow, sizeof other);
    if (is_behind(cell, start, other, &best)) snprintf(holder, NAME, "%s", word);
  }
  *offset = (size_t)(cell->primal - best);
  return best != 0;
}

// Names a cell as C would, but for pointers in memory, which are so many bytes from what leads to them.
static void name_cell(const comparison *c, const cell *cell, int deep, char *name) {
  char kind, word[128], holder[NAME];
  unsigned long primal;
  size_t size = cell->kind == POINTER ? 1 : bytes_of(cell->kind), offset;
  snprintf(name, NAME, "memory");
  for (const char *line = c->request->fields; *line; line = strchr(line, '\n') + 1) {
    if (sscanf(line, "%c %*u %lu %*u %*u %127s", &kind, &primal, word) != 3) break;
    if (kind == 'p' || c->block + primal != cell->primal) continue;
    snprintf(name, NAME, "%s", kind == 'r' ? "the result" : word);
    return;
  }
  if (!find_holder(c, cell, deep, holder, &offset)) return;
  int computed = *holder == '*';
  if (cell->kind == POINTER && offset == 0) snprintf(name, NAME, "%.200s", holder);
  else if (cell->kind == POINTER) snprintf(name, NAME, "(%.200s + %zu bytes)", holder, offset);
  else if (offset % size) snprintf(name, NAME, "%.200s + %zu bytes", holder, offset);
  else snprintf(name, NAME, computed ? "(%.200s)[%zu]" : "%.200s[%zu]", holder, offset / size);
}


// The sign of a NaN says nothing.
static double shown(double x) { return x == x ? x : __builtin_nan(""); }

static void print_difference(comparison *c, size_t component, const numbers *n) {
  const request *r = c->request;
  const cell *cell = &c->cells[c->first[component]];
  char name[NAME], lane[64] = "";
  name_cell(c, cell, DEEP, name);
  if (r->width > 1) snprintf(lane, sizeof lane, ", derivative %d of %d", (int)c->lane + 1, r->width);
  const char *mode = r->reverse ? "reverse" : "forward";
  fprintf(stderr, "zymase check: %s: the %s derivative of `%s` disagrees at call %llu%s\n", r->place, mode,
          r->target, (unsigned long long)c->history->calls, lane);
  fprintf(stderr, "  %s %s", r->reverse ? "with respect to" : "tangent of", name);
  if (cell->place && *cell->place) fprintf(stderr, ", used at %s", cell->place);
  fprintf(stderr, "\n");
  if (n->has_reverse) fprintf(stderr, "  reverse mode        % .9g\n", shown(n->reverse));
  if (n->has_forward) fprintf(stderr, "  forward mode        % .9g\n", shown(n->forward));
  if (n->has_difference)
    fprintf(stderr, "  finite differences  % .6g, with twice the step % .6g\n", shown(n->difference),
            shown(n->coarser));
  int modes = n->has_reverse && n->has_forward;
  int reverse_finite = !n->has_reverse || is_number(n->reverse);
  int forward_finite = !n->has_forward || is_number(n->forward);
  // Finite differences that were good enough to tell may be wrong by this much.
  double slack = larger(1e-2 * n->size, larger(3 * magnitude(n->difference - n->coarser), n->noise));
  int reverse = n->has_reverse && n->has_difference && magnitude(n->reverse - n->difference) <= slack;
  int forward = n->has_forward && n->has_difference && magnitude(n->forward - n->difference) <= slack;
  if (!reverse_finite || !forward_finite)
    fprintf(stderr, "  %s not finite, though the function is: --check-finite names the operation\n",
            reverse_finite   ? "forward mode is"
            : forward_finite ? "reverse mode is"
                             : "both modes are");
  else if (modes && reverse && !forward) fprintf(stderr, "  forward mode is wrong\n");
  else if (modes && forward && !reverse) fprintf(stderr, "  reverse mode is wrong\n");
  else if (modes && magnitude(n->reverse - n->forward) <= 1e-2 * n->size)
    fprintf(stderr, "  both modes are wrong, or the function is not differentiable here\n");
  else if (!modes && n->has_difference) fprintf(stderr, "  the %s derivative is wrong\n", mode);
  else fprintf(stderr, "  no two agree\n");
  if (*r->rules) fprintf(stderr, "  derivatives of your own on the way: %s\n", r->rules);
}

// Lets `zymase check` know, however the program ends.
static void note_result(const char *word) {
  int file = result_path ? open(result_path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
  if (file < 0) return;
  write_all(file, word, strlen(word));
  close(file);
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void print_omissions(const history *h, int length) {
  for (const omission *o = h->omissions; o; o = o->next) {
    fprintf(stderr, "zymase check: %.*s: not compared: %llu byte%s %s", length, h->description,
            (unsigned long long)o->bytes, plural(o->bytes), o->whose);
    if (o->used && *o->used) fprintf(stderr, ", used at %s", o->used);
    fprintf(stderr, ": %s\n", o->why);
  }
  if (h->unreached)
    fprintf(stderr, "zymase check: %.*s: not compared one by one: %llu component%s, because too many are badly "
            "conditioned\n", length, h->description, (unsigned long long)h->unreached, plural(h->unreached));
}

// When all else is over: other destructors may ask for derivatives.
__attribute__((destructor(101))) static void print_summary(void) {
  if (in_child) return;
  note_result("told\n");
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
              (unsigned long long)h->undiffered, plural(h->undiffered), h->undiffered_why);
    print_omissions(h, length);
  }
  if (calls == 0) {
    fprintf(stderr, "zymase check: no call of a request was compared\n");
    return;
  }
  fprintf(stderr, "zymase check: %llu call%s of %llu request%s", (unsigned long long)calls, plural(calls),
          (unsigned long long)requests, plural(requests));
  if (wrong) {
    fprintf(stderr, ", %llu disagree%s (seed %llu)\n", (unsigned long long)wrong, wrong == 1 ? "s" : "",
            (unsigned long long)seed);
    fflush(0);
    _exit(1);
  }
  fprintf(stderr, calls == 1 ? " agrees" : " agree");
  fprintf(stderr, " (largest relative difference %.0e, %llu component%s badly conditioned)\n",
          largest_difference, (unsigned long long)badly_conditioned, plural(badly_conditioned));
}

// Before all else: other constructors may ask for derivatives.
__attribute__((constructor(101))) static void start(void) {
  const char *text = getenv("ZYMASE_CHECK_SEED");
  if (text) seed = strtoull(text, 0, 10);
  text = getenv("ZYMASE_CHECK_CALLS");
  if (text) call_limit = strtoull(text, 0, 10);
  result_path = getenv("ZYMASE_CHECK_RESULT");
}
