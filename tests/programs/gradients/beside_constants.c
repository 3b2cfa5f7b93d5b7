// Structures that hold addresses of constants beside addresses of active numbers, and functions that
// find both there.
#include "check.h"

#define NOINLINE __attribute__((noinline)) static

struct both {
  const double *weights, *x;
  int n;
};

NOINLINE double dot(const struct both *both) {
  double sum = 0;
  for (int i = 0; i < both->n; i++) sum += both->weights[i] * both->x[i];
  return sum;
}

// Constants that the function makes.
static double local(double *x, int n) {
  double *weights = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) weights[i] = 1 + i;
  struct both both = {weights, x, n};
  double result = dot(&both) * dot(&both) + weights[n - 1];
  free(weights);
  return result;
}

// A list in which active and constant numbers follow each other.
struct node {
  const double *value;
  const struct node *next;
};

NOINLINE double product(const struct node *node) {
  return node ? *node->value * product(node->next) : 1;
}

static double list(double *x, int n) {
  const double two = n - 1, three = n;
  struct node last = {&three, 0}, middle = {&x[1], &last}, second = {&two, &middle};
  struct node first = {&x[0], &second};
  return product(&first) * product(&last) + product(&middle);
}

// Constants that the caller passes.
static double passed(const double *weights, const double *x, int n) {
  struct both both = {weights, x, n};
  return sin(dot(&both)) * weights[0];
}

// A function that writes: constants that it changes have no derivatives.
NOINLINE void scale(double **rows, double by) {
  for (int i = 0; i < 3; i++) rows[0][i] = rows[1][i] * by;
}

static double written(double *constant, double *x, double by) {
  double made[3], *rows[] = {made, x}, *others[] = {made, constant};
  scale(rows, by);
  double sum = made[0] * made[1] + made[2];
  scale(others, by);
  return sum * (made[0] + made[1] * x[2]);
}

static void check_passed(void) {
  double weights[] = {0.5, -1.5, 2.5}, x[] = {0.3, 0.7, 1.1}, gradient[3] = {0};
  double slope = cos(0.5 * 0.3 - 1.5 * 0.7 + 2.5 * 1.1) * 0.5;
  __enzyme_autodiff((void *)passed, enzyme_const, weights, enzyme_dup, x, gradient, enzyme_const, 3);
  for (int i = 0; i < 3; i++) {
    double direction[3] = {0};
    direction[i] = 1;
    double tangent = __enzyme_fwddiff((void *)passed, enzyme_const, weights, enzyme_dup, x,
                                      direction, enzyme_const, 3);
    check_close("passed, reverse", i, gradient[i], slope * weights[i], 1e-12);
    check_close("passed, forward", i, tangent, slope * weights[i], 1e-12);
  }
  check_close("the weights", 0, weights[0], 0.5, 0);
  check_close("the weights", 1, weights[1], -1.5, 0);
  check_close("the weights", 2, weights[2], 2.5, 0);
}

static void check_written(void) {
  double c[] = {0.5, -1.5, 2.5}, x[] = {0.3, 0.7, 1.1}, gradient[3] = {0}, by = 1.25;
  double h = 1e-6;
  double slope = __enzyme_autodiff((void *)written, enzyme_const, c, enzyme_dup, x, gradient,
                                   enzyme_out, by);
  check_close("written, reverse by", 0, slope,
              (written(c, x, by + h) - written(c, x, by - h)) / (2 * h), 1e-7);
  for (int i = 0; i < 3; i++) {
    double direction[3] = {0}, plus[3], minus[3];
    direction[i] = 1;
    for (int k = 0; k < 3; k++) {
      plus[k] = x[k] + h * direction[k];
      minus[k] = x[k] - h * direction[k];
    }
    double want = (written(c, plus, by) - written(c, minus, by)) / (2 * h);
    double tangent = __enzyme_fwddiff((void *)written, enzyme_const, c, enzyme_dup, x, direction,
                                      enzyme_const, by);
    check_close("written, reverse", i, gradient[i], want, 1e-7);
    check_close("written, forward", i, tangent, want, 1e-7);
  }
  check_close("the constants", 1, c[1], -1.5, 0);
}

int main(void) {
  double x[4];
  fill(x, 4, 0.5, 1.5);
  CHECK_GRADIENT(local, x, 4);
  CHECK_GRADIENT(list, x, 4);
  check_passed();
  check_written();
  return finish("beside_constants");
}
