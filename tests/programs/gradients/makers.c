// Memory that callees make and leave: in their result or in one of several, behind their arguments,
// or found there again.
#include "check.h"

#define NOINLINE __attribute__((noinline)) static

struct node {
  double value;
  struct node *next;
};

// Returns its argument or memory that it made.
NOINLINE struct node *append(struct node *list, double value) {
  if (!list) {
    list = malloc(sizeof *list);
    list->value = value;
    list->next = NULL;
    return list;
  }
  list->next = append(list->next, value);
  return list;
}

NOINLINE double product(const struct node *list) {
  return list ? list->value * product(list->next) : 1;
}

static double appended(double *x, int n) {
  struct node *list = NULL;
  for (int i = 0; i < n; i++) list = append(list, x[i]);
  return product(list);
}

// Leaves what it made behind its argument.
NOINLINE void push(struct node **list, double value) {
  struct node *made = malloc(sizeof *made);
  made->value = value;
  made->next = *list;
  *list = made;
}

static double pushed(double *x, int n) {
  struct node *list = NULL;
  double all = 1;
  for (int i = 0; i < n; i++) push(&list, x[i]);
  for (struct node *at = list; at; at = at->next) all *= at->value;
  return all;
}

// Make memory into which no active number goes before they return.
NOINLINE int allocate(double **made, int n) {
  *made = malloc(n * sizeof(double));
  return *made != NULL;
}

NOINLINE double *numbers(int n) { return malloc(n * sizeof(double)); }

NOINLINE void squares(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i] * from[i];
}

static double allocated(double *x, int n) {
  double *a, *b = numbers(n), sum = 0;
  if (!allocate(&a, n)) return 0;
  squares(a, x, n);
  squares(b, a, n);
  for (int i = 0; i < n; i++) sum += a[i] * (i + 1) + b[i];
  free(a);
  free(b);
  return sum;
}

// The same, with the address of one in the other: the caller finds both.
struct row {
  double *numbers;
  int length;
};

NOINLINE void allocate_row(struct row **made, int n) {
  *made = malloc(sizeof **made);
  (*made)->length = n;
  (*made)->numbers = malloc(n * sizeof(double));
}

NOINLINE struct row *row_of(int n) {
  struct row *made = malloc(sizeof *made);
  made->length = n;
  made->numbers = malloc(n * sizeof(double));
  return made;
}

static double rows(double *x, int n) {
  struct row *a, *b = row_of(n);
  double sum = 0;
  allocate_row(&a, n);
  squares(a->numbers, x, a->length);
  squares(b->numbers, a->numbers, b->length);
  for (int i = 0; i < n; i++) sum += a->numbers[i] * (i + 1) + b->numbers[i];
  free(a->numbers);
  free(b->numbers);
  free(a);
  free(b);
  return sum;
}

// Returns its argument or what it finds behind it.
NOINLINE struct node *last(struct node *list) {
  while (list->next) list = list->next;
  return list;
}

NOINLINE double sum_of_squares(const struct node *list) {
  double sum = 0;
  for (; list; list = list->next) sum = sum * 1.1 + list->value * list->value;
  return sum;
}

static double found(double *x, int n) {
  struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b);
  *b = (struct node){2, NULL};
  *a = (struct node){1, b};
  last(a)->value = x[0] * n;
  double sum = sum_of_squares(a) * x[1];
  free(a);
  free(b);
  return sum;
}

// A counted owner of memory, dropped by a callee that alone knows where the owner is. What it finds
// there, others know.
struct box {
  long strong, weak, room;
  double *numbers;
};

NOINLINE void drop(struct box *const *restrict owner) {
  struct box *box = *owner;
  if (box->room) free(box->numbers);
  if (--box->weak == 0) free(box);
}

static double counted(double *x, int n) {
  struct box *box = malloc(sizeof *box);
  *box = (struct box){2, 1, n, malloc(n * sizeof *x)};
  double *numbers = box->numbers, sum = 0;
  for (int i = 0; i < n; i++) numbers[i] = x[i];
  for (int i = 0; i < n; i++) sum += numbers[i] * numbers[n - 1 - i] * numbers[n - 1 - i];
  box->strong = 0;
  drop(&box);
  return sum;
}

int main(void) {
  double x[4];
  fill(x, 4, -1, 1);
  CHECK_GRADIENT(appended, x, 4);
  CHECK_GRADIENT(pushed, x, 4);
  CHECK_GRADIENT(allocated, x, 4);
  CHECK_GRADIENT(rows, x, 4);
  CHECK_GRADIENT(found, x, 2);
  CHECK_GRADIENT(counted, x, 4);
  return finish("makers");
}
