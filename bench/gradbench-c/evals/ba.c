#include "evals.h"
#include "../../evals/ba.h"

#include <limits.h>

struct problem {
  struct ba in;
  double *errors;
  struct ba_jacobian jacobian;
};

static void run_objective(void *data) {
  struct problem *p = data;
  ba(&p->in, p->errors);
}

static void run_jacobian(void *data) {
  struct problem *p = data;
  ba_jacobian(&p->in, &p->jacobian);
}

// Copies of some numbers of the input; each is computed with as if it were another.
static double *copies(struct request *r, const double *numbers, int width, int count) {
  double *all = room(r, (size_t)width * count, sizeof(double));
  for (int i = 0; all && i < count; i++) memcpy(all + (size_t)width * i, numbers, width * sizeof(double));
  return all;
}

static double *copies_of(struct request *r, const char *name, int width, int count) {
  return copies(r, numbers_of(r, r->input, name, 1, &(int){width}), width, count);
}

// The first thirty and the last one.
enum { DIGEST = 30 };

static void write_digest(struct request *r, const char *name, const int *all, int count) {
  int few[DIGEST + 1], some = count < DIGEST ? count : DIGEST;
  memcpy(few, all, some * sizeof(int));
  few[some] = all[count - 1];
  write_words(r, name);
  write_integers(r, few, some + 1);
}

static void write_errors(struct request *r, const struct problem *p) {
  int count = p->in.p;
  write_words(r, "{\"reproj_error\":{\"elements\":");
  write_numbers(r, p->errors, 2);
  write_words(r, ",\"repeated\":");
  write_number(r, count);
  write_words(r, "},\"w_err\":{\"element\":");
  write_number(r, p->errors[2 * count]);
  write_words(r, ",\"repeated\":");
  write_number(r, count);
  write_words(r, "}}");
}

static void write_jacobian(struct request *r, const struct problem *p) {
  int entries = 31 * p->in.p;
  double few[DIGEST + 1];
  memcpy(few, p->jacobian.values, DIGEST * sizeof(double));
  few[DIGEST] = p->jacobian.values[entries - 1];
  write_digest(r, "{\"rows\":", p->jacobian.rows, 3 * p->in.p + 1);
  write_digest(r, ",\"cols\":", p->jacobian.columns, entries);
  write_words(r, ",\"vals\":");
  write_numbers(r, few, DIGEST + 1);
  write_words(r, "}");
}

void ba_evaluate(struct request *r) {
  struct problem p = {0};
  int n = count_of(r, r->input, "n"), m = count_of(r, r->input, "m"), count = count_of(r, r->input, "p");
  require(r, n > 0 && m > 0 && count > 0, "n, m and p are at least 1");
  // Columns and entries are integers.
  int most = INT_MAX / 64;
  require(r, n < most && m < most && count < most, "n, m or p is too large");
  double weight = number_of(r, r->input, "w");
  const double *cameras = copies_of(r, "cam", BA_CAMERA, n), *points = copies_of(r, "x", 3, m);
  const double *features = copies_of(r, "feat", 2, count), *weights = copies(r, &weight, 1, count);
  p.in = (struct ba){n, m, count, cameras, points, weights, features};
  if (asks_for(r, "objective")) {
    p.errors = room(r, 3 * (size_t)count, sizeof(double));
    if (repeat(r, run_objective, &p)) write_errors(r, &p);
  } else if (asks_for(r, "jacobian")) {
    size_t entries = 31 * (size_t)count;
    p.jacobian.rows = room(r, 3 * (size_t)count + 1, sizeof(int));
    p.jacobian.columns = room(r, entries, sizeof(int));
    p.jacobian.values = room(r, entries, sizeof(double));
    if (repeat(r, run_jacobian, &p)) write_jacobian(r, &p);
  } else {
    no_function(r);
  }
}
