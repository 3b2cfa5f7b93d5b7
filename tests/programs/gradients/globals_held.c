// Pointers that a function puts into variables while a derivative runs, for others to find.
#include "check.h"

#define NOINLINE __attribute__((noinline)) static

static double *kept, gain;
static double *table[2];

NOINLINE void keep(double *at) { kept = at; }
NOINLINE void scale_kept(void) { kept[0] *= 2; }
NOINLINE void scale_gain(void) { gain *= 3; }
NOINLINE void square_kept(void) { kept[0] *= kept[0]; }

static double by_callees(double *x, int n) {
  double t = x[0] * x[1];
  keep(&t);
  scale_kept();
  square_kept();
  double result = t * x[2];
  keep(NULL);
  return result;
}

// Through a table of functions, which looks as if nothing were passed.
static void (*const actions[])(void) = {scale_kept, scale_gain, square_kept};
void (*chosen)(void);

NOINLINE void act(int i) { actions[i](); }

static double by_table(double *x, int n) {
  double t = x[0] * x[1];
  gain = x[2];
  keep(&t);
  for (int i = 0; i < 6; i++) act(i % 3);
  double result = t * gain;
  keep(NULL);
  return result;
}

static double by_pointer(double *x, int n) {
  double t = x[0] * x[3];
  gain = x[1] * x[1];
  keep(&t);
  chosen = x[0] > 0 ? square_kept : scale_kept;
  chosen();
  chosen = scale_gain;
  chosen();
  double result = t * gain;
  keep(NULL);
  return result;
}

// Callees that leave memory of their own in variables, for others to use and to free.
struct node {
  double value;
  struct node *next;
};
static struct node *list;

NOINLINE void push(double value) {
  struct node *node = malloc(sizeof *node);
  node->value = value;
  node->next = list;
  list = node;
}

NOINLINE double pop(void) {
  struct node *node = list;
  double value = node->value;
  list = node->next;
  free(node);
  return value;
}

NOINLINE void start(void) { list = NULL; }

static double stacked(double *x, int n) {
  start();
  double sum = 0;
  for (int i = 0; i < n; i++) {
    push(x[i] * x[0]);
    push(x[i]);
    double a = pop();
    sum += a * pop();
  }
  return sum;
}

// Several pointers in one variable.
NOINLINE void place(int i, double *at) { table[i] = at; }
NOINLINE double placed(void) { return table[0][0] * table[1][1]; }

static double tabled(double *x, int n) {
  double t[2] = {x[0] * x[0], x[1] * x[1]};
  place(0, t);
  place(1, x + 2);
  double result = placed();
  place(0, NULL);
  place(1, NULL);
  return result;
}

int main(void) {
  double x[4];
  fill(x, 4, 0.5, 1.5);
  for (int round = 0; round < 2; round++) {
    CHECK_GRADIENT(by_callees, x, 4);
    CHECK_GRADIENT(by_table, x, 4);
    CHECK_GRADIENT(by_pointer, x, 4);
    CHECK_GRADIENT(stacked, x, 4);
    CHECK_GRADIENT(tabled, x, 4);
  }
  return finish("globals_held");
}
