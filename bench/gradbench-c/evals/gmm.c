#include "evals.h"
#include "../../evals/gmm.h"

struct problem {
  struct gmm in;
  double *alpha, *mu, *q, *l, y;
};

static void run_objective(void *data) {
  struct problem *p = data;
  const struct gmm *in = &p->in;
  p->y = gmm(in->d, in->k, in->n, in->alpha, in->mu, in->q, in->l, in->x, in->gamma, in->m);
}

static void run_jacobian(void *data) {
  struct problem *p = data;
  gmm_gradient(&p->in, p->alpha, p->mu, p->q, p->l);
}

// A matrix with k rows.
static double *parameters(struct request *r, const char *name, int k, int width) {
  int sizes[] = {-1, width};
  double *found = numbers_of(r, r->input, name, 2, sizes);
  require(r, sizes[0] == k, "mu, q or l has not k rows");
  return found;
}

void gmm_evaluate(struct request *r) {
  struct problem p = {0};
  int d = count_of(r, r->input, "d"), k = count_of(r, r->input, "k"), n = count_of(r, r->input, "n");
  require(r, d > 0 && k > 0 && n > 0, "d, k and n are at least 1");
  // What the function computes with integers: d * (d - 1), and (d + m + 1) * d.
  int small = 1 << 15, m = count_of(r, r->input, "m");
  require(r, d < small && m < small, "d or m is too large");
  int lower = d < small ? d * (d - 1) / 2 : 0, rows[] = {-1, d}, count = -1;
  p.in = (struct gmm){d, k, n, m, number_of(r, r->input, "gamma"), NULL, NULL, NULL, NULL, NULL};
  p.in.x = numbers_of(r, r->input, "x", 2, rows);
  require(r, rows[0] == n, "x has not n rows");
  p.in.alpha = numbers_of(r, r->input, "alpha", 1, &count);
  require(r, count == k, "alpha has not k numbers");
  p.in.mu = parameters(r, "mu", k, d);
  p.in.q = parameters(r, "q", k, d);
  p.in.l = parameters(r, "l", k, lower);
  p.alpha = room(r, k, sizeof(double));
  p.mu = room(r, (size_t)k * d, sizeof(double));
  p.q = room(r, (size_t)k * d, sizeof(double));
  p.l = room(r, (size_t)k * lower, sizeof(double));
  if (asks_for(r, "objective")) {
    if (repeat(r, run_objective, &p)) write_number(r, p.y);
  } else if (asks_for(r, "jacobian")) {
    if (!repeat(r, run_jacobian, &p)) return;
    write_words(r, "{\"alpha\":");
    write_numbers(r, p.alpha, k);
    write_words(r, ",\"mu\":");
    write_rows(r, p.mu, k, d);
    write_words(r, ",\"q\":");
    write_rows(r, p.q, k, d);
    write_words(r, ",\"l\":");
    write_rows(r, p.l, k, lower);
    write_words(r, "}");
  } else {
    no_function(r);
  }
}
