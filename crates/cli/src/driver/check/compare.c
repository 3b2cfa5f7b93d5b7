// Comparing numbers: one derivative along one direction, from both modes and by finite differences.

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
  size_t unknown, unreached; // in a search: components of which nothing can be told, and how many were left
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
static double relative_step(const comparison *c) {
  return c->coarse > 1e-4 ? 0x1p-4 : c->coarse > 1e-10 ? 0x1p-8 : 0x1p-17;
}

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

// The function did not return from where it was moved to.
static void note_undiffered(comparison *c) {
  c->history->undiffered++;
  c->history->undiffered_why = c->died ? c->died : "it did not return";
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
    int moved = with_differences && differ(c, probe, relative_step(c), slopes);
    if (with_differences && !moved) note_undiffered(c);
    if (moved) {
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
  // Finite differences tell whether there should be a number.
  if (!is_number(n->forward) || !is_number(n->reverse)) return UNKNOWN;
  double tolerance = c->coarse > 1e-10 ? larger(2e-3, 64 * c->coarse) : 1e-7;
  double distance = magnitude(n->forward - n->reverse);
  if (distance <= tolerance * n->size + n->tiny) return SAME;
  return distance <= n->unresolved ? UNKNOWN : OTHER;
}

// Whether a derivative agrees with finite differences, or whether these say nothing: because their
// own error is large, because the function does not get close to its tangent within a step, or
// because it has a kink here and the derivative is between its two slopes. A derivative that is not
// finite disagrees if it was asked for.
static int agrees_with_differences(const comparison *c, const numbers *n, double derivative, int asked) {
  double error = magnitude(n->difference - n->coarser), slope = larger(magnitude(n->difference), magnitude(n->coarser));
  if (!is_number(n->difference) || !is_number(n->coarser)) return UNKNOWN;
  if (!is_number(derivative)) return asked && error <= 0.01 * slope + n->noise ? OTHER : UNKNOWN;
  if (error > 0.1 * slope && n->noise > 0 && error > 1e-3 * n->noise / c->coarse) return UNKNOWN;
  double base = c->coarse > 1e-10 ? larger(1e-2, 64 * c->coarse) : 1e-5;
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
  int asked = c->request->reverse != 0;
  int reverse = n->has_reverse ? agrees_with_differences(c, n, n->reverse, asked) : SAME;
  int forward = n->has_forward ? agrees_with_differences(c, n, n->forward, !asked) : SAME;
  return reverse == OTHER || forward == OTHER ? OTHER : reverse == UNKNOWN ? reverse : forward;
}

// All of it: both modes, and finite differences where they are asked for.
static int all_agree(const comparison *c, const numbers *n, int with_differences) {
  int modes = modes_agree(c, n), differences = with_differences ? differences_agree(c, n) : SAME;
  if (modes == OTHER || differences == OTHER) return OTHER;
  return modes == UNKNOWN || differences == UNKNOWN ? UNKNOWN : SAME;
}
