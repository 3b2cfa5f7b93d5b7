// Instead of the evals: what was read is written again. With this, the reader and the writer need no
// derivatives, and can be built with the sanitizers of any compiler.
#include "../evals/evals.h"

struct nothing {
  int runs;
};

static void run(void *data) { ((struct nothing *)data)->runs++; }

// The function says how the field `x` is read.
static void echo(struct request *r) {
  struct nothing nothing = {0};
  int sizes[] = {-1, -1, -1};
  if (asks_for(r, "numbers")) {
    double *x = numbers_of(r, r->input, "x", 1, sizes);
    if (repeat(r, run, &nothing)) write_numbers(r, x, sizes[0]);
  } else if (asks_for(r, "rows")) {
    double *x = numbers_of(r, r->input, "x", 2, sizes);
    if (repeat(r, run, &nothing)) write_rows(r, x, sizes[0], sizes[1]);
  } else if (asks_for(r, "indices")) {
    int *x = indices_of(r, r->input, "x", 3, sizes);
    if (repeat(r, run, &nothing)) write_integers(r, x, (size_t)sizes[0] * sizes[1] * sizes[2]);
  } else if (asks_for(r, "fields")) {
    double all[] = {number_of(r, r->input, "number"), count_of(r, r->input, "count"),
                    truth_of(r, r->input, "truth"),
                    number_of(r, object_of(r, r->input, "object"), "number")};
    if (run_once(r, run, &nothing)) write_numbers(r, all, 4);
  } else {
    no_function(r);
  }
}

#define DEFINE(module) \
  void module##_evaluate(struct request *r) { echo(r); }
EVALS(DEFINE)
