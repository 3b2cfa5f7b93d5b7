#include "evals.h"
#include "../../evals/particle.h"

struct problem {
  objective energy;
  slope gradient;
  double start, found;
};

static void run(void *data) {
  struct problem *p = data;
  argmin(p->energy, p->gradient, NULL, &p->start, &p->found, 1);
}

void particle_evaluate(struct request *r) {
  struct problem p = {0};
  if (asks_for(r, "rr"))
    p.energy = particle_r, p.gradient = particle_gradient_rr;
  else if (asks_for(r, "ff"))
    p.energy = particle_f, p.gradient = particle_gradient_ff;
  else if (asks_for(r, "fr"))
    p.energy = particle_r, p.gradient = particle_gradient_fr;
  else if (asks_for(r, "rf"))
    p.energy = particle_f, p.gradient = particle_gradient_rf;
  else
    no_function(r);
  p.start = number_of(r, r->input, "w");
  if (repeat(r, run, &p)) write_number(r, p.found);
}
