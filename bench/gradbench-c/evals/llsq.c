#include "evals.h"
#include "../../evals/llsq.h"

struct problem {
  int m, n;
  double *x, *d_x, y;
};

static void run_primal(void *data) {
  struct problem *p = data;
  p->y = llsq(p->x, p->m, p->n);
}

static void run_gradient(void *data) {
  struct problem *p = data;
  llsq_gradient(p->x, p->d_x, p->m, p->n);
}

void llsq_evaluate(struct request *r) {
  struct problem p = {.m = -1};
  p.x = numbers_of(r, r->input, "x", 1, &p.m);
  p.n = count_of(r, r->input, "n");
  p.d_x = room(r, p.m, sizeof(double));
  if (asks_for(r, "primal")) {
    if (repeat(r, run_primal, &p)) write_number(r, p.y);
  } else if (asks_for(r, "gradient")) {
    if (repeat(r, run_gradient, &p)) write_numbers(r, p.d_x, p.m);
  } else {
    no_function(r);
  }
}
