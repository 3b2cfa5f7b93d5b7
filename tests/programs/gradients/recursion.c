// Functions that call themselves and each other: sorting, sums over trees, mutual recursion with
// values that the reverse sweep needs.
#include "check.h"

static void quicksort(double *v, int low, int high) {
  if (low >= high) return;
  double pivot = v[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (v[i] < pivot) i++;
    while (v[j] > pivot) j--;
    if (i <= j) {
      double t = v[i];
      v[i++] = v[j];
      v[j--] = t;
    }
  }
  quicksort(v, low, j);
  quicksort(v, i, high);
}

static double sorted_sum(double *x, int n) {
  double sum = 0;
  quicksort(x, 0, n - 1);
  for (int i = 0; i < n; i++) sum += (i + 1) * x[i] * x[i];
  return sum;
}

struct node { double value; struct node *left, *right; };

static struct node *build(const double *x, int n) {
  if (n == 0) return NULL;
  struct node *node = malloc(sizeof *node);
  node->value = x[n / 2];
  node->left = build(x, n / 2);
  node->right = build(x + n / 2 + 1, n - n / 2 - 1);
  return node;
}

static double reduce(const struct node *node) {
  if (!node) return 1;
  double left = reduce(node->left), right = reduce(node->right);
  return sin(node->value) * left + cos(node->value) * right + left * right;
}

static void release(struct node *node) {
  if (!node) return;
  release(node->left);
  release(node->right);
  free(node);
}

static double binary_tree(double *x, int n) {
  struct node *root = build(x, n);
  double result = reduce(root);
  release(root);
  return result;
}

// Halves of an array, without memory of its own.
static double halves(double *x, int n) {
  if (n == 1) return x[0];
  double a = halves(x, n / 2), b = halves(x + n / 2, n - n / 2);
  return a * b + sin(a - b);
}

static double odd(double *x, int n);

static double even(double *x, int n) {
  if (n == 0) return 1;
  double rest = odd(x + 1, n - 1);
  x[0] *= rest;
  return x[0] + rest * rest;
}

static double odd(double *x, int n) {
  if (n == 0) return 2;
  double rest = even(x + 1, n - 1), y = exp(-x[0]) * rest;
  for (int i = 0; i < n; i++) y += 0.1 * x[i] * rest;
  return y;
}

// Recursion in a loop, of a depth that the numbers decide.
static double descend(double x, double y, int depth) {
  if (depth == 0 || x > 4) return x * y;
  return descend(x * y + 0.5, y, depth - 1) + y;
}

static double depths(double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += descend(x[i] * x[i], 1 + x[(i + 1) % n], i);
  return sum;
}

int main(void) {
  double x[16];
  for (int trial = 1; trial <= 3; trial++) {
    seed(trial);
    fill(x, 16, -1, 1);
    CHECK_GRADIENT(sorted_sum, x, 16);
    CHECK_GRADIENT(binary_tree, x, 15);
    CHECK_GRADIENT(halves, x, 13);
    CHECK_GRADIENT(even, x, 7);
    CHECK_GRADIENT(odd, x, 6);
    CHECK_GRADIENT(depths, x, 9);
  }
  return finish("recursion");
}
