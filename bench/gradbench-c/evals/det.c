#include "evals.h"
#include "../../evals/det.h"

struct problem {
  int ell;
  double *a, *d_a, y;
};

static void run_primal(void *data) {
  struct problem *p = data;
  p->y = det(p->a, p->ell);
}

static void run_gradient(void *data) {
  struct problem *p = data;
  det_gradient(p->a, p->d_a, p->ell);
}

void det_evaluate(struct request *r) {
  struct problem p = {0};
  int count = -1;
  p.a = numbers_of(r, r->input, "A", 1, &count);
  p.ell = count_of(r, r->input, "ell");
  require(r, p.ell > 0, "the matrix is empty");
  require(r, p.ell <= DET_MOST, "the matrix is too large");
  require(r, p.ell <= DET_MOST && count == p.ell * p.ell, "A has not ell * ell numbers");
  p.d_a = room(r, count, sizeof(double));
  if (asks_for(r, "primal")) {
    if (repeat(r, run_primal, &p)) write_number(r, p.y);
  } else if (asks_for(r, "gradient")) {
    if (repeat(r, run_gradient, &p)) write_numbers(r, p.d_a, count);
  } else {
    no_function(r);
  }
}
