#include "evals.h"
#include "../../evals/ode.h"

struct problem {
  int n, steps;
  double *x, *y, *d_x, *seed;
};

static void run_primal(void *data) {
  struct problem *p = data;
  ode(p->x, p->y, p->n, p->steps);
}

static void run_gradient(void *data) {
  struct problem *p = data;
  set(p->seed, p->n, 0);
  p->seed[p->n - 1] = 1;
  ode_gradient(p->x, p->d_x, p->y, p->seed, p->n, p->steps);
}

void ode_evaluate(struct request *r) {
  struct problem p = {.n = -1};
  p.x = numbers_of(r, r->input, "x", 1, &p.n);
  p.steps = count_of(r, r->input, "s");
  require(r, p.n > 0, "x is empty");
  p.y = room(r, p.n, sizeof(double));
  p.d_x = room(r, p.n, sizeof(double));
  p.seed = room(r, p.n, sizeof(double));
  if (asks_for(r, "primal")) {
    if (repeat(r, run_primal, &p)) write_numbers(r, p.y, p.n);
  } else if (asks_for(r, "gradient")) {
    if (repeat(r, run_gradient, &p)) write_numbers(r, p.d_x, p.n);
  } else {
    no_function(r);
  }
}
