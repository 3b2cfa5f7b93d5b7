#include "evals.h"
#include "../../evals/hello.h"

struct problem {
  double x, y;
};

static void run_square(void *data) {
  struct problem *p = data;
  p->y = hello_square(p->x);
}

static void run_double(void *data) {
  struct problem *p = data;
  p->y = hello_double(p->x);
}

// The input is a number alone, so there is one run.
void hello_evaluate(struct request *r) {
  struct problem p = {0};
  int square = asks_for(r, "square");
  if (!square && !asks_for(r, "double")) {
    no_function(r);
    return;
  }
  if (r->input->kind == JSON_NUMBER)
    p.x = r->input->number;
  else
    fail(r, "cannot read input: it is not a number");
  if (run_once(r, square ? run_square : run_double, &p)) write_number(r, p.y);
}
