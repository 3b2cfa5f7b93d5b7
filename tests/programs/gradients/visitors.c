// Nodes that know by pointers to functions what to do with other nodes, in memory that is const: the
// functions call each other without end as far as a compiler can see.
#include "check.h"

struct node {
  double (*value)(const struct node *, const double *);
  const struct node *left, *right;
  double weight;
  int place;
};

static double of(const struct node *node, const double *x) { return node->value(node, x); }

static double variable(const struct node *node, const double *x) { return x[node->place]; }
static double constant(const struct node *node, const double *x) { return node->weight; }
static double sum(const struct node *node, const double *x) {
  return of(node->left, x) + of(node->right, x);
}
static double product(const struct node *node, const double *x) {
  return of(node->left, x) * of(node->right, x);
}
static double wave(const struct node *node, const double *x) {
  return sin(node->weight * of(node->left, x));
}
// Goes on at another node than its own.
static double repeated(const struct node *node, const double *x) {
  double value = 0;
  for (int i = 0; i < node->place; i++)
    value = 0.5 * value + of(i % 2 ? node->left : node->right, x) * (value + x[i]);
  return value;
}

static const struct node *make(double (*value)(const struct node *, const double *),
                               const struct node *left, const struct node *right, double weight,
                               int place) {
  struct node *node = malloc(sizeof *node);
  *node = (struct node){value, left, right, weight, place};
  return node;
}

// A tree by chance.
static const struct node *grow(int depth, int n) {
  int kind = depth ? (int)uniform(0, 4) : 4 + (int)uniform(0, 2);
  double weight = uniform(-1, 1);
  int place = (int)uniform(0, n);
  switch (kind) {
    case 0: return make(sum, grow(depth - 1, n), grow(depth - 1, n), weight, place);
    case 1: return make(product, grow(depth - 1, n), grow(depth - 1, n), weight, place);
    case 2: return make(wave, grow(depth - 1, n), 0, weight, place);
    case 3: return make(repeated, grow(depth - 1, n), grow(depth - 1, n), weight, place);
    case 4: return make(variable, 0, 0, weight, place);
    default: return make(constant, 0, 0, weight, place);
  }
}

static void drop(const struct node *node) {
  if (!node) return;
  drop(node->left);
  drop(node->right);
  free((void *)node);
}

int main(void) {
  enum { N = 5 };
  double x[N], dx[N], direction[N];
  for (int round = 0; round < 6; round++) {
    fill(x, N, -1, 1);
    fill(direction, N, -1, 1);
    memset(dx, 0, sizeof dx);
    const struct node *tree = grow(3, N);
    __enzyme_autodiff((void *)of, enzyme_const, tree, enzyme_dup, x, dx);
    double along = 0;
    for (int i = 0; i < N; i++) {
      double h = 1e-5, at = x[i];
      x[i] = at + h;
      double difference = of(tree, x);
      x[i] = at - h;
      difference -= of(tree, x);
      x[i] = at;
      check_close("reverse", i, dx[i], difference / (2 * h), 1e-6);
      along += dx[i] * direction[i];
    }
    double forward = __enzyme_fwddiff((void *)of, enzyme_const, tree, enzyme_dup, x, direction);
    check_close("forward", round, forward, along, 1e-12);
    drop(tree);
  }
  return finish("visitors");
}
