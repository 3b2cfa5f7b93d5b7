#include "evals.h"
#include "../../evals/kmeans.h"

struct problem {
  int k, n, d;
  double *centroids, *points, *direction, y;
};

static void run_cost(void *data) {
  struct problem *p = data;
  p->y = kmeans(p->centroids, p->points, p->k, p->n, p->d);
}

static void run_direction(void *data) {
  struct problem *p = data;
  kmeans_direction(p->centroids, p->direction, p->points, p->k, p->n, p->d);
}

void kmeans_evaluate(struct request *r) {
  struct problem p = {0};
  int centroids[] = {-1, -1};
  p.centroids = numbers_of(r, r->input, "centroids", 2, centroids);
  require(r, centroids[1] > 0, "there are no centroids, or they have no coordinates");
  int points[] = {-1, centroids[1]};
  p.points = numbers_of(r, r->input, "points", 2, points);
  p.k = centroids[0];
  p.d = centroids[1];
  p.n = points[0];
  p.direction = room(r, (size_t)p.k * p.d, sizeof(double));
  if (asks_for(r, "cost")) {
    if (repeat(r, run_cost, &p)) write_number(r, p.y);
  } else if (asks_for(r, "dir")) {
    if (repeat(r, run_direction, &p)) write_rows(r, p.direction, p.k, p.d);
  } else {
    no_function(r);
  }
}
