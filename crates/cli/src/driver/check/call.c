// One call: random probes, and the search for the component that disagrees.

// A random probe. In a reverse call each component is weighted so that all count about as much (a
// forward call: of what is written), or, for finite differences, by how large the argument is.
static double *random_probe(comparison *c, int for_differences, uint64_t stream) {
  double *probe = get_memory(c->count * sizeof(double)), *weights = get_memory(c->components * sizeof(double));
  double greatest = 0, typical = 0;
  size_t counted = 0;
  for (size_t i = 0; i < c->count; i++) {
    // The result is not there yet.
    double x = c->cells[i].flags & RESULT ? 0 : magnitude(get(c->cells[i].primal, c->cells[i].kind));
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
  if (x == 0 || !is_number(x)) x = 1;
  for (size_t i = 0; i < c->count; i++)
    if (c->component[i] == component) probe[i] = x;
  numbers n = compare(c, probe, 1);
  n.reverse /= x, n.forward /= x, n.difference /= x, n.coarser /= x, n.size /= x, n.noise /= x;
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
  if (--*left < 0) {
    c->unreached += high - low;
    return c->components;
  }
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
  int verdict = all_agree(c, &n, with_differences);
  if (verdict == SAME || (single && verdict == UNKNOWN)) {
    c->unknown += verdict == UNKNOWN;
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

// Compares along one probe; says so if something disagrees. What cannot be told is counted the last
// time that something is compared.
static int compare_along(comparison *c, const double *probe, int with_differences, int last) {
  numbers n = compare(c, probe, with_differences);
  int modes = modes_agree(c, &n);
  if (modes == SAME && n.has_forward && n.has_reverse && n.size > 0 && is_number(n.forward))
    largest_difference = larger(largest_difference, magnitude(n.forward - n.reverse) / n.size);
  if (all_agree(c, &n, with_differences) == SAME) return 1;
  int left = SEARCH;
  numbers found = {0};
  c->unknown = c->unreached = 0;
  size_t component = search(c, probe, 0, c->components, modes != OTHER && with_differences, &left, &found);
  if (component < c->components) {
    if (c->history->wrong < 3) print_difference(c, component, &found);
    note_result("disagrees\n");
    return 0;
  }
  if (!last) return 1;
  badly_conditioned += c->unknown ? c->unknown : 1;
  if (c->unreached > c->history->unreached) c->history->unreached = c->unreached;
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
    if (c->given[i] != c->given[c->first[c->component[i]]]) {
      c->died = "a number has two shadows that differ";
      return 0;
    }
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
  if (!c->differ) note_undiffered(c);
  uint64_t stream = 2 * c->history->calls;
  double *probe = random_probe(c, 0, stream);
  int agree = compare_along(c, probe, !c->request->reverse, !c->request->reverse || !c->differ);
  free(probe);
  if (agree && c->request->reverse && c->differ) {
    probe = random_probe(c, 1, stream + 1);
    agree = compare_along(c, probe, 1, 1);
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
