#include "evals.h"
#include "../../evals/lstm.h"

struct problem {
  struct lstm in;
  double *d_main, *d_extra, y;
};

static void run_objective(void *data) {
  struct problem *p = data;
  const struct lstm *in = &p->in;
  p->y = lstm(in->main, in->extra, in->state, in->sequence, in->layers, in->b, in->c);
}

static void run_jacobian(void *data) {
  struct problem *p = data;
  lstm_gradient(&p->in, p->d_main, p->d_extra);
}

void lstm_evaluate(struct request *r) {
  struct problem p = {0};
  int extra[] = {-1, -1};
  p.in.extra = numbers_of(r, r->input, "extra_params", 2, extra);
  int b = extra[1], main[] = {-1, 4 * b}, state[] = {-1, b}, sequence[] = {-1, b};
  require(r, extra[0] == 3, "extra_params has not 3 rows");
  require(r, b > 0, "a row of extra_params is empty");
  p.in.main = numbers_of(r, r->input, "main_params", 2, main);
  require(r, main[0] % 2 == 0, "main_params has an odd number of rows");
  p.in.state = numbers_of(r, r->input, "state", 2, state);
  require(r, state[0] == main[0], "state has not the rows of main_params");
  p.in.sequence = numbers_of(r, r->input, "sequence", 2, sequence);
  require(r, sequence[0] > 1, "sequence is too short");
  p.in.layers = main[0] / 2;
  p.in.b = b;
  p.in.c = sequence[0];
  size_t size = (size_t)main[0] * main[1], more = 3 * (size_t)b;
  p.d_main = room(r, size + more, sizeof(double));
  p.d_extra = p.d_main + size;
  if (asks_for(r, "objective")) {
    if (repeat(r, run_objective, &p)) write_number(r, p.y);
  } else if (asks_for(r, "jacobian")) {
    if (repeat(r, run_jacobian, &p)) write_numbers(r, p.d_main, size + more);
  } else {
    no_function(r);
  }
}
