#include "evals.h"
#include "../../evals/lse.h"

struct problem {
  int n;
  double *x, *d_x, y;
};

static void run_primal(void *data) {
  struct problem *p = data;
  p->y = lse(p->x, p->n);
}

static void run_gradient(void *data) {
  struct problem *p = data;
  lse_gradient(p->x, p->d_x, p->n);
}

void lse_evaluate(struct request *r) {
  struct problem p = {.n = -1};
  p.x = numbers_of(r, r->input, "x", 1, &p.n);
  require(r, p.n > 0, "x is empty");
  p.d_x = room(r, p.n, sizeof(double));
  if (asks_for(r, "primal")) {
    if (repeat(r, run_primal, &p)) write_number(r, p.y);
  } else if (asks_for(r, "gradient")) {
    if (repeat(r, run_gradient, &p)) write_numbers(r, p.d_x, p.n);
  } else {
    no_function(r);
  }
}
