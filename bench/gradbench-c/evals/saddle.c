#include "evals.h"
#include "../../evals/saddle.h"

struct problem {
  // Of the outer descent, and the slope of the last one, in the same mode.
  objective most;
  slope gradient, last;
  const double *start;
  double found[4];
};

static void run(void *data) {
  struct problem *p = data;
  argmin(p->most, p->gradient, p->start, p->start, p->found, 2);
  argmin(saddle_lost, p->last, p->found, p->start, p->found + 2, 2);
}

void saddle_evaluate(struct request *r) {
  struct problem p = {0};
  if (asks_for(r, "rr"))
    p.most = saddle_r, p.gradient = saddle_gradient_rr, p.last = saddle_slope_r;
  else if (asks_for(r, "ff"))
    p.most = saddle_f, p.gradient = saddle_gradient_ff, p.last = saddle_slope_f;
  else if (asks_for(r, "fr"))
    p.most = saddle_r, p.gradient = saddle_gradient_fr, p.last = saddle_slope_f;
  else if (asks_for(r, "rf"))
    p.most = saddle_f, p.gradient = saddle_gradient_rf, p.last = saddle_slope_r;
  else
    no_function(r);
  int two[] = {-1};
  p.start = numbers_of(r, r->input, "start", 1, two);
  if (two[0] != 2) fail(r, "cannot read input: `start` has not 2 numbers");
  if (repeat(r, run, &p)) write_numbers(r, p.found, 4);
}
