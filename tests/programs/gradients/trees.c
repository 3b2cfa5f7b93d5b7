// Structures that own memory and borrow some: expression trees whose leaves point to the arguments,
// search trees, views. They are torn down by functions that cannot tell what was made where.
#include "check.h"

#define NOINLINE __attribute__((noinline)) static

// An expression tree of numbers, evaluated and freed recursively.
struct node {
  int op;
  double value;
  struct node *left, *right;
};

NOINLINE struct node *leaf(double value) {
  struct node *node = malloc(sizeof *node);
  *node = (struct node){0, value, NULL, NULL};
  return node;
}

NOINLINE struct node *make(int op, struct node *left, struct node *right) {
  struct node *node = malloc(sizeof *node);
  *node = (struct node){op, 0, left, right};
  return node;
}

NOINLINE double evaluate(const struct node *node) {
  switch (node->op) {
  case 0: return node->value;
  case '+': return evaluate(node->left) + evaluate(node->right);
  case '-': return evaluate(node->left) - evaluate(node->right);
  case '*': return evaluate(node->left) * evaluate(node->right);
  default: return sin(evaluate(node->left));
  }
}

NOINLINE void drop(struct node *node) {
  if (!node) return;
  drop(node->left);
  drop(node->right);
  free(node);
}

static double expression(double *x, int n) {
  struct node *tree = leaf(x[0]);
  for (int i = 1; i < n; i++) {
    struct node *other = leaf(x[i] * x[i]);
    tree = make("+*-"[i % 3], i % 2 ? make('s', tree, NULL) : tree, other);
  }
  double result = evaluate(tree);
  drop(tree);
  return result;
}

NOINLINE struct node *build(double *x, int from, int to) {
  if (to - from == 1) return leaf(x[from] * x[0]);
  int middle = (from + to) / 2;
  return make((to - from) % 2 ? '*' : '+', build(x, from, middle), build(x, middle, to));
}

static double balanced(double *x, int n) {
  struct node *tree = build(x, 0, n);
  double result = evaluate(tree) * evaluate(tree->left);
  drop(tree);
  return result;
}

// Leaves that point to the variables themselves, in a union, and functions in nodes.
struct term {
  enum { CONSTANT, VARIABLE, SUM, PRODUCT, CALL } kind;
  union {
    double constant;
    const double *variable;
    struct {
      struct term *left, *right;
    } both;
    struct {
      double (*function)(double);
      struct term *argument;
    } call;
  } as;
};

NOINLINE struct term *variable(const double *x) {
  struct term *term = malloc(sizeof *term);
  term->kind = VARIABLE;
  term->as.variable = x;
  return term;
}

NOINLINE struct term *both(int kind, struct term *left, struct term *right) {
  struct term *term = malloc(sizeof *term);
  term->kind = kind;
  term->as.both.left = left;
  term->as.both.right = right;
  return term;
}

static double twice_the_square(double x) { return 2 * x * x; }
static double cubed(double x) { return x * x * x; }

NOINLINE struct term *applied(double (*function)(double), struct term *argument) {
  struct term *term = malloc(sizeof *term);
  term->kind = CALL;
  term->as.call.function = function;
  term->as.call.argument = argument;
  return term;
}

NOINLINE double value(struct term *term) {
  switch (term->kind) {
  case CONSTANT: return term->as.constant;
  case VARIABLE: return *term->as.variable;
  case SUM: return value(term->as.both.left) + value(term->as.both.right);
  case PRODUCT: return value(term->as.both.left) * value(term->as.both.right);
  default: return term->as.call.function(value(term->as.call.argument));
  }
}

NOINLINE void discard(struct term *term) {
  switch (term->kind) {
  case SUM:
  case PRODUCT:
    discard(term->as.both.left);
    discard(term->as.both.right);
    break;
  case CALL: discard(term->as.call.argument); break;
  default: break;
  }
  free(term);
}

static double symbolic(double *x, int n) {
  struct term *term = malloc(sizeof *term);
  term->kind = CONSTANT;
  term->as.constant = 1.5;
  for (int i = 0; i < n; i++)
    term = both(i % 2 ? SUM : PRODUCT, term, both(PRODUCT, variable(x + i), variable(x + (i + 1) % n)));
  term = applied(n % 2 ? cubed : twice_the_square, term);
  double result = value(term);
  discard(term);
  return result;
}

// A search tree with active keys: insertion through pointers to pointers, removal one by one.
struct search {
  double key, weight;
  struct search *child[2];
};

NOINLINE void insert(struct search **tree, double key, double weight) {
  while (*tree) tree = &(*tree)->child[key > (*tree)->key];
  *tree = calloc(1, sizeof **tree);
  (*tree)->key = key;
  (*tree)->weight = weight;
}

NOINLINE double fold(const struct search *tree, int depth) {
  if (!tree) return 0;
  return tree->weight * depth + fold(tree->child[0], depth + 1) * tree->key + fold(tree->child[1], depth + 1);
}

NOINLINE void clear(struct search **tree) {
  if (!*tree) return;
  clear(&(*tree)->child[0]);
  clear(&(*tree)->child[1]);
  free(*tree);
  *tree = NULL;
}

static double searched(double *x, int n) {
  struct search *tree = NULL;
  for (int i = 0; i < n; i++) insert(&tree, x[i], x[i] * x[(i + 1) % n]);
  double result = fold(tree, 1);
  clear(&tree);
  return result;
}

static double popped(double *x, int n) {
  struct search *tree = NULL;
  for (int i = 0; i < n; i++) insert(&tree, x[i], x[i]);
  double result = 0;
  for (int rank = 1; tree; rank++) {
    struct search **least = &tree;
    while ((*least)->child[0]) least = &(*least)->child[0];
    struct search *node = *least;
    result += rank * node->weight * node->key;
    *least = node->child[1];
    free(node);
  }
  return result;
}

// Memory of its own beside memory of somebody else, both of the same type.
struct view {
  double *own;
  const double *other;
  int n;
};

NOINLINE void look(struct view *view, const double *x, int n) {
  *view = (struct view){malloc(n * sizeof(double)), x, n};
  for (int i = 0; i < n; i++) view->own[i] = x[i] * x[i];
}

NOINLINE double together(struct view *view) {
  double sum = 0;
  for (int i = 0; i < view->n; i++) sum += view->own[i] * view->other[(i + 1) % view->n];
  return sum;
}

NOINLINE void look_away(struct view *view) { free(view->own); }

static double viewed(double *x, int n) {
  struct view view, *more = malloc(sizeof *more);
  look(&view, x, n);
  look(more, view.own, n);
  double result = together(&view) * together(more);
  look_away(more);
  look_away(&view);
  free(more);
  return result;
}

// Addresses that callees put where only their caller finds them: behind `restrict`, and in a
// structure that is returned.
struct wide {
  const double *numbers;
  long n, rest[3];
};

NOINLINE void set(struct wide *restrict wide, const double *x, long n) {
  wide->numbers = x;
  wide->n = n;
}

NOINLINE struct wide wrap(const double *x, long n) {
  struct wide wide;
  set(&wide, x, n);
  wide.rest[0] = n;
  return wide;
}

NOINLINE double squares(const struct wide *wide) {
  double sum = 0;
  for (long i = 0; i < wide->n; i++) sum += wide->numbers[i] * wide->numbers[i];
  return sum;
}

static double wrapped(double *x, int n) {
  struct wide first, second = wrap(x + 1, n - 1);
  set(&first, x, n);
  return squares(&first) * squares(&second);
}

// The function frees what the caller made: the shadow stays, and is the caller's to free.
static double consumed(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i] * x[0];
  free(x);
  return sum;
}

static void check_consumed(const double *x, int n) {
  double *given = malloc(n * sizeof *given), *shadow = calloc(n, sizeof *shadow);
  memcpy(given, x, n * sizeof *given);
  __enzyme_autodiff((void *)consumed, enzyme_dup, given, shadow, enzyme_const, n);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  for (int i = 0; i < n; i++) check_close("consumed", i, shadow[i], 2 * x[i] * x[0] + (i ? 0 : sum), 1e-12);
  free(shadow);
}

static void check_width(double *x, int n) {
  double first[6] = {0}, second[6] = {0};
  __enzyme_autodiff((void *)symbolic, enzyme_width, 2, enzyme_dup, x, first, second, enzyme_const, n);
  __enzyme_autodiff((void *)viewed, enzyme_width, 2, enzyme_dup, x, first, second, enzyme_const, n);
  for (int i = 0; i < n; i++) {
    double want = check_difference(symbolic, x, n, i) + check_difference(viewed, x, n, i);
    check_close("width", i, first[i], want, 1e-6);
    check_close("width", i, second[i], want, 1e-6);
  }
}

int main(void) {
  double x[6];
  fill(x, 6, 0.5, 1.5);
  for (int round = 0; round < 2; round++) {
    CHECK_GRADIENT(expression, x, 6);
    CHECK_GRADIENT(balanced, x, 6);
    CHECK_GRADIENT(symbolic, x, 6);
    CHECK_GRADIENT(searched, x, 6);
    CHECK_GRADIENT(popped, x, 6);
    CHECK_GRADIENT(viewed, x, 6);
    CHECK_GRADIENT(wrapped, x, 6);
    check_consumed(x, 6);
    check_width(x, 6);
  }
  return finish("trees");
}
