#include "evals.h"
#include "../../evals/ht.h"

struct problem {
  struct ht in;
  const double *theta, *us;
  double *errors, *columns;
};

static void run_objective(void *data) {
  struct problem *p = data;
  ht(p->theta, p->us, &p->in, p->errors);
}

static void run_jacobian(void *data) {
  struct problem *p = data;
  ht_jacobian(p->theta, p->us, &p->in, p->errors, p->columns);
}

// The parent of each bone, -1 for none.
static int *parents_of(struct request *r, const struct json *model, int *count) {
  double *numbers = numbers_of(r, model, "parents", 1, count);
  int *parents = room(r, *count, sizeof(int));
  for (int i = 0; parents && i < *count; i++) {
    int good = numbers[i] >= -1 && numbers[i] < i && numbers[i] == (int)numbers[i];
    require(r, good, "a parent does not come before its child");
    parents[i] = good ? (int)numbers[i] : -1;
  }
  return parents;
}

static int all_below(const int *indices, size_t count, int end) {
  for (size_t i = 0; indices && i < count; i++)
    if (indices[i] >= end) return 0;
  return 1;
}

static struct ht_model model_of(struct request *r, const struct json *json, int *triangle_count) {
  int bones = -1, relatives[] = {-1, 4, 4}, inverses[] = {-1, 4, 4};
  int positions[] = {-1, 4}, weights[] = {-1, HT_BONES}, triangles[] = {-1, 3};
  struct ht_model m = {.parents = parents_of(r, json, &bones)};
  m.relatives = numbers_of(r, json, "base_relatives", 3, relatives);
  m.inverses = numbers_of(r, json, "inverse_base_absolutes", 3, inverses);
  require(r, bones == HT_BONES && relatives[0] == HT_BONES && inverses[0] == HT_BONES,
          "the model has not 22 bones");
  m.positions = numbers_of(r, json, "base_positions", 2, positions);
  m.weights = numbers_of(r, json, "weights", 2, weights);
  require(r, weights[0] == positions[0], "there are not weights for each vertex");
  m.triangles = indices_of(r, json, "triangles", 2, triangles);
  require(r, all_below(m.triangles, 3 * (size_t)triangles[0], positions[0]),
          "a triangle has a vertex that is none");
  m.mirrored = truth_of(r, json, "is_mirrored");
  m.bones = bones;
  m.vertices = positions[0];
  *triangle_count = triangles[0];
  return m;
}

static struct problem problem_of(struct request *r) {
  const struct json *data = object_of(r, r->input, "data"), *model = object_of(r, data, "model");
  struct problem p = {0};
  int theta = -1, us[] = {-1, 2}, points[] = {-1, 3}, count = -1, triangles = 0;
  p.theta = numbers_of(r, r->input, "theta", 1, &theta);
  require(r, theta == HT_THETA, "theta has not 26 numbers");
  p.us = numbers_of(r, r->input, "us", 2, us);
  p.in.model = model_of(r, model, &triangles);
  p.in.points = numbers_of(r, data, "points", 2, points);
  p.in.correspondences = indices_of(r, data, "correspondences", 1, &count);
  require(r, count == points[0], "there is not a correspondence for each point");
  require(r, us[0] == 0 || us[0] == count, "there is not a pair in us for each point");
  p.in.count = count;
  p.in.with_triangles = us[0] > 0;
  require(r, all_below(p.in.correspondences, count, us[0] > 0 ? triangles : p.in.model.vertices),
          "a correspondence is with nothing");
  return p;
}

// Row after row; the columns of places in triangles only if there are any.
static void write_jacobian(struct request *r, const struct problem *p) {
  size_t rows = 3 * (size_t)p->in.count;
  int first = p->in.with_triangles ? 0 : HT_COLUMNS - HT_THETA;
  double row[HT_COLUMNS];
  write_words(r, "[");
  for (size_t i = 0; i < rows; i++) {
    for (int column = first; column < HT_COLUMNS; column++) row[column] = p->columns[column * rows + i];
    if (i > 0) write_words(r, ",");
    write_numbers(r, row + first, HT_COLUMNS - first);
  }
  write_words(r, "]");
}

void ht_evaluate(struct request *r) {
  struct problem p = problem_of(r);
  size_t rows = 3 * (size_t)p.in.count;
  p.errors = room(r, rows, sizeof(double));
  if (asks_for(r, "objective")) {
    if (repeat(r, run_objective, &p)) write_numbers(r, p.errors, rows);
  } else if (asks_for(r, "jacobian")) {
    p.columns = room(r, rows * HT_COLUMNS, sizeof(double));
    if (repeat(r, run_jacobian, &p)) write_jacobian(r, &p);
  } else {
    no_function(r);
  }
}
